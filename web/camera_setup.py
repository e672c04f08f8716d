"""Camera set-up on the page: live aim, calibration, removing a calibration, teaching tiles, the lens. Needs the right
of administration, except for getting the calibrations in use."""

from __future__ import annotations

from flask import Blueprint, Response, current_app

from web.answers import asked_object, asked_piece, json_answer, needed, picture_answer
from web.machine_protocol import Lens, Teaching
from web.protocol import CommandError, Tuning
from web.rights import Right, needs

camera_setup = Blueprint("camera_setup", __name__)
_NOTHING: dict[str, object] = {"camera": False, "running": None, "done": {}, "cameras": [], "methods": [], "limits": {},
                               "used": [], "trial": {"tiles": [], "figures": []}}


def _tuning() -> Tuning:
    found: Tuning | None = current_app.extensions["tuning"]
    return needed(found, "no_camera", "no camera watches this table")


@camera_setup.post("/api/aim")
@needs(Right.ADMIN)  # it costs processor time while it is polled
def aim() -> Response:
    """View, tilt, focus, glare and light of the camera's newest picture."""
    return json_answer(_tuning().aim())


@camera_setup.get("/api/calibration")
def calibration() -> Response:
    """The calibrations, how well they fit, and the running one."""
    found: Tuning | None = current_app.extensions["tuning"]
    return json_answer(_NOTHING if found is None else found.state())


@camera_setup.post("/api/calibration")
@needs(Right.ADMIN)
def calibrate() -> Response:
    """Start a calibration; poll with GET until it is done."""
    data = asked_object()
    what, by, camera = (data.get(key, "") for key in ("what", "by", "camera"))
    if not isinstance(what, str) or not isinstance(by, str) or not isinstance(camera, str):
        raise CommandError("malformed", "what, by and camera: must be texts")
    return json_answer(_tuning().calibrate(what, by, camera))


@camera_setup.delete("/api/calibration/<kind>")
@needs(Right.ADMIN)
def forget(kind: str) -> Response:
    """Stop using a calibration that was made on the page."""
    return json_answer(_tuning().forget(kind))


@camera_setup.post("/api/teaching")
@needs(Right.ADMIN)  # it uses the camera while it is polled
def teaching() -> Response:
    """Read the teaching sheet, label a cell or leave it out, store the set, or start over."""
    there: Teaching | None = current_app.extensions["teaching"]
    found = needed(there, "no_camera", "no camera watches this table")
    data = asked_object()
    do, cell = data.get("do"), data.get("cell", "")
    acts = {"look": found.state, "keep": found.keep, "forget": found.forget}
    if isinstance(do, str) and do in acts:
        return json_answer(acts[do]())
    if do == "leave_out" and isinstance(cell, str):
        return json_answer(found.leave_out(cell))
    tile, turns = data.get("tile"), data.get("turns")
    if do != "say" or not isinstance(cell, str) or not isinstance(tile, str) or type(turns) is not int:
        raise CommandError("malformed", "do: must be look, keep, forget, leave_out a cell, or say its tile and turns")
    return json_answer(found.say(cell, tile, turns))


@camera_setup.get("/api/teaching/<int:number>.jpg")
def teaching_picture(number: int) -> Response:
    """A picture of the teaching sheet, or of a tile on it."""
    found: Teaching | None = current_app.extensions["teaching"]
    return picture_answer(None if found is None else found.picture(number))


def _lens() -> Lens:
    found: Lens | None = current_app.extensions["lens"]
    return needed(found, "no_camera", "no camera watches this table")


@camera_setup.post("/api/lens")
@needs(Right.ADMIN)  # it uses the camera while it is polled
def lens() -> Response:
    """Get the lens and its views, change which are used, store it; go back to an earlier calibration, export one as a
    file, import an uploaded one."""
    found, data = _lens(), asked_object()
    do, view, name = data.get("do"), data.get("view"), data.get("name", "")
    acts = {"look": found.state, "drop_worst": found.drop_worst, "clear": found.clear, "keep": found.keep,
            "import": found.take_in}
    if isinstance(do, str) and do in acts:
        return json_answer(acts[do]())
    if do in ("leave_out", "take_back") and type(view) is int:
        return json_answer(found.leave_out(view, do == "leave_out"))
    named = {"back": found.back, "export": found.export, "compare": found.compare_with}
    if not isinstance(do, str) or do not in named or not isinstance(name, str):
        raise CommandError("malformed", "do: must be look, drop_worst, clear, keep, import, leave_out or take_back "
                           "with a view, or back, export or compare with a name")
    return json_answer(named[do](name))


@camera_setup.put("/api/lens")
@needs(Right.ADMIN)
def lens_piece() -> Response:
    """The next piece of an uploaded calibration."""
    return json_answer(_lens().piece(*asked_piece()))


@camera_setup.get("/api/lens/<int:number>.jpg")
def lens_picture(number: int) -> Response:
    """A recent picture of the camera, not undistorted."""
    found: Lens | None = current_app.extensions["lens"]
    return picture_answer(None if found is None else found.picture(number))
