"""Backup and restore. Needs the right of administration, except for downloading a backup by its secret URL."""

from __future__ import annotations

from http import HTTPStatus

from flask import Blueprint, Response, current_app, send_file

from web.access import access
from web.answers import asked_act, asked_object, asked_piece, error_answer, json_answer, needed
from web.protocol import Backups
from web.rights import Right, needs

keeping_backups = Blueprint("backups", __name__)


def _backups() -> Backups:
    found: Backups | None = current_app.extensions["backups"]
    return needed(found, "no_backup", "this table keeps nothing that could be backed up")


@keeping_backups.post("/api/backup")
@needs(Right.ADMIN)
def backup() -> Response:
    """Make a backup or a support file, check or restore an uploaded one, delete both, or only get the state."""
    if asked_object().get("do") == "restore" and (refused := access().refusal(Right.OWNER)) is not None:
        return refused
    found = _backups()
    return asked_act({"look": found.state, "make": found.make, "support": found.support, "check": found.check,
                      "restore": found.restore, "forget": found.forget})


@keeping_backups.put("/api/backup")
@needs(Right.ADMIN)
def piece() -> Response:
    """The next piece of a backup to restore."""
    return json_answer(_backups().piece(*asked_piece()))


@keeping_backups.get("/api/backup/<ticket>.zip")
def fetch(ticket: str) -> Response:
    """A backup that was just made."""
    backups: Backups | None = current_app.extensions["backups"]
    found = None if backups is None else backups.file(ticket)
    if found is None or not found.is_file():
        return error_answer("not_found", "this backup is no longer there; make another", HTTPStatus.NOT_FOUND)
    return send_file(found.resolve(), "application/zip", as_attachment=True, download_name="bastide-backup.zip")
