"""The doctor's report as a page: the machine's checks, and what to do about failures. The report is provided by the
application's owner; the page only shows it."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from http import HTTPStatus

from flask import Blueprint, Response, current_app, render_template

from web.answers import error_answer, json_answer
from web.machine_states import PulseState, ReportState

Doctor = Callable[[], ReportState]
Pulse = Callable[[], PulseState]
doctors = Blueprint("doctors", __name__)


def _report() -> ReportState | None:
    doctor: Doctor | None = current_app.extensions["doctor"]
    return None if doctor is None else doctor()


@doctors.get("/doctor")
def doctor() -> str:
    """The report for people, as a plain page: it is needed when something does not work."""
    found = _report()
    at_s = None if found is None else found["at_s"]
    when = "" if at_s is None else datetime.fromtimestamp(at_s, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    return render_template("doctor.html", report=found, when=when)


@doctors.get("/api/doctor")
def doctor_report() -> Response:
    """The report for programs."""
    found = _report()
    if found is None:
        return error_answer("no_doctor", "this table does not check itself", HTTPStatus.NOT_FOUND)
    return json_answer(found)
