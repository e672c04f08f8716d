"""Updates from a file: everything here takes administration. What a file must be to be taken is `docs/updates.md`'s."""

from __future__ import annotations

from flask import Blueprint, Response, current_app, request

from web.answers import asked_object, json_answer
from web.backups import PIECE_BYTES
from web.machine_protocol import Updates
from web.protocol import CommandError
from web.rights import Right, needs

updating = Blueprint("updating", __name__)


def _updates() -> Updates:
    found: Updates | None = current_app.extensions["updates"]
    if found is None:
        raise CommandError("no_updates", "this table is not updated on the page")
    return found


@updating.post("/api/update")
@needs(Right.ADMIN)
def update() -> Response:
    """See how it stands, check what came in, have it installed, go back to the version before, or forget what came in.
    """
    do, found = asked_object().get("do"), _updates()
    acts = {"look": found.state, "check": found.look, "install": found.install, "back": found.back,
            "forget": found.forget}
    if not isinstance(do, str) or do not in acts:
        raise CommandError("malformed", f"do: must be one of {', '.join(acts)}")
    return json_answer(acts[do]())


@updating.put("/api/update")
@needs(Right.ADMIN)
def update_piece() -> Response:
    """The next piece of a release."""
    request.max_content_length = PIECE_BYTES
    at = request.args.get("at", type=int)
    if at is None or at < 0 or request.mimetype != "application/octet-stream":
        raise CommandError("malformed", "a piece is sent as application/octet-stream with its place in ?at")
    return json_answer(_updates().piece(at, request.get_data()))
