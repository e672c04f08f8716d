"""Backup and restore: everything here takes administration, but for fetching a backup by the secret address that its
maker was told."""

from __future__ import annotations

from http import HTTPStatus

from flask import Blueprint, Response, current_app, request, send_file

from web.answers import asked_object, error_answer, json_answer
from web.protocol import Backups, CommandError
from web.rights import Right, needs

PIECE_BYTES = 49_152  # of a file that comes in, at once
keeping_backups = Blueprint("backups", __name__)


def _backups() -> Backups:
    found: Backups | None = current_app.extensions["backups"]
    if found is None:
        raise CommandError("no_backup", "this table keeps nothing that could be backed up")
    return found


@keeping_backups.post("/api/backup")
@needs(Right.ADMIN)
def backup() -> Response:
    """Make a backup or a support file, check or restore one that was uploaded, forget both, or only look."""
    do = asked_object().get("do")
    backups = _backups()
    acts = {"look": backups.state, "make": backups.make, "support": backups.support,
            "check": backups.check, "restore": backups.restore, "forget": backups.forget}
    if not isinstance(do, str) or do not in acts:
        raise CommandError("malformed", f"do: must be one of {', '.join(acts)}")
    return json_answer(acts[do]())


@keeping_backups.put("/api/backup")
@needs(Right.ADMIN)
def piece() -> Response:
    """The next piece of a backup to restore."""
    request.max_content_length = PIECE_BYTES
    at = request.args.get("at", type=int)
    if at is None or at < 0 or request.mimetype != "application/octet-stream":
        raise CommandError("malformed", "a piece is sent as application/octet-stream with its place in ?at")
    return json_answer(_backups().piece(at, request.get_data()))


@keeping_backups.get("/api/backup/<ticket>.zip")
def fetch(ticket: str) -> Response:
    """A backup that was made a moment ago."""
    backups: Backups | None = current_app.extensions["backups"]
    found = None if backups is None else backups.file(ticket)
    if found is None or not found.is_file():
        return error_answer("not_found", "this backup is not there any more; make another", HTTPStatus.NOT_FOUND)
    return send_file(found.resolve(), "application/zip", as_attachment=True, download_name="bastide-backup.zip")
