"""Updates from a file. Needs administration. The requirements on a file are in `docs/updates.md`."""

from __future__ import annotations

from flask import Blueprint, Response, current_app

from web.answers import asked_act, asked_piece, json_answer, needed
from web.machine_protocol import Updates
from web.rights import Right, needs

updating = Blueprint("updating", __name__)


def _updates() -> Updates:
    found: Updates | None = current_app.extensions["updates"]
    return needed(found, "no_updates", "this table is not updated on the page")


@updating.post("/api/update")
@needs(Right.ADMIN)
def update() -> Response:
    """Get the state, check the uploaded release, install it, go back to the previous version, or delete the upload.
    """
    found = _updates()
    return asked_act({"look": found.state, "check": found.look, "install": found.install, "back": found.back,
                      "forget": found.forget})


@updating.put("/api/update")
@needs(Right.ADMIN)
def update_piece() -> Response:
    """The next piece of a release."""
    return json_answer(_updates().piece(*asked_piece()))
