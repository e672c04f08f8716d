"""The guide from a machine that was just switched on to a first scored road. Reading is open; changing the step needs
administration. Also the sheets to print."""

from __future__ import annotations

from http import HTTPStatus

from flask import Blueprint, Response, current_app

from web.answers import asked_object, error_answer, json_answer, needed
from web.machine_protocol import Guide
from web.protocol import CommandError
from web.rights import Right, needs

guiding = Blueprint("guiding", __name__)


def _guide() -> Guide | None:
    found: Guide | None = current_app.extensions["guide"]
    return found


@guiding.get("/api/guide")
def guide_state() -> Response:
    """The current step, and which steps are proved."""
    found = _guide()
    if found is None:
        return error_answer("no_guide", "this table has no guide", HTTPStatus.NOT_FOUND)
    return json_answer(found.state())


@guiding.post("/api/guide")
@needs(Right.ADMIN)
def guide() -> Response:
    """Go to a step, skip or answer it, or close the guide."""
    there: Guide | None = current_app.extensions["guide"]
    found = needed(there, "no_guide", "this table has no guide")
    data = asked_object()
    do, step, value = data.get("do"), data.get("step", ""), data.get("value", "")
    if not isinstance(step, str) or not isinstance(value, str):
        raise CommandError("malformed", "step and value: must be texts")
    if do == "finish":
        return json_answer(found.finish())
    if do == "answer":
        return json_answer(found.answer(step, value))
    if do not in ("go", "skip"):
        raise CommandError("malformed", "do: must be go, skip, answer or finish")
    return json_answer(found.go(step) if do == "go" else found.skip(step))


@guiding.get("/api/sheets/<name>.pdf")
def sheet(name: str) -> Response:
    """A sheet to print, for calibrating the camera or teaching tiles."""
    found = _guide()
    pdf = None if found is None else found.sheet(name)
    if pdf is None:
        return error_answer("not_found", "there is no such sheet", HTTPStatus.NOT_FOUND)
    return Response(pdf, mimetype="application/pdf",
                    headers={"Content-Disposition": f'attachment; filename="bastide-{name}.pdf"'})


@guiding.get("/api/health")
def health() -> Response:
    """Current faults of the machine, and the guide's progress: shown at the top of every page."""
    pulse, found = current_app.extensions["pulse"], _guide()
    steps = [] if found is None or found.finished else found.state()["steps"]
    told = {"lines": []} if pulse is None else pulse()
    return json_answer({**told, "guide": {"all": len(steps) - 1, "proved": sum(
        s["state"] in ("done", "answered") for s in steps)} if steps else None})
