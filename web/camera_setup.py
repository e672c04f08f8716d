"""Camera set-up on the page: live aim, calibration, and removing a calibration. Needs the right of administration,
except for looking at what is in use."""

from __future__ import annotations

from flask import Blueprint, Response, current_app

from web.answers import asked_object, json_answer, needed
from web.protocol import CommandError, Tuning
from web.rights import Right, needs

camera_setup = Blueprint("camera_setup", __name__)
_NOTHING: dict[str, object] = {"camera": False, "running": None, "done": {}, "cameras": [], "methods": [], "limits": {},
                               "used": [], "trial": {"tiles": [], "figures": []}}


def _tuning() -> Tuning:
    found: Tuning = needed("tuning", "no_camera", "no camera watches this table")
    return found


@camera_setup.post("/api/aim")
@needs(Right.ADMIN)  # it costs the machine work for as long as somebody asks
def aim() -> Response:
    """What the camera's newest picture says of view, tilt, focus, glare and light."""
    return json_answer(_tuning().aim())


@camera_setup.get("/api/calibration")
def calibration() -> Response:
    """What is calibrated, how well, and what is being calibrated now."""
    found: Tuning | None = current_app.extensions["tuning"]
    return json_answer(_NOTHING if found is None else found.state())


@camera_setup.post("/api/calibration")
@needs(Right.ADMIN)
def calibrate() -> Response:
    """Begin to calibrate; the answer of a GET tells when it is done."""
    data = asked_object()
    words = [data.get(key, "") for key in ("what", "by", "camera")]
    if not all(isinstance(w, str) for w in words):
        raise CommandError("malformed", "what, by and camera: must be texts")
    return json_answer(_tuning().calibrate(*words))


@camera_setup.delete("/api/calibration/<kind>")
@needs(Right.ADMIN)
def forget(kind: str) -> Response:
    """Use a calibration no more that was made on the page."""
    return json_answer(_tuning().forget(kind))
