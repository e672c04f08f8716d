"""Administering the machine without a shell: its settings and cameras. Needs administration, except for fetching a
camera's picture by its secret URL."""

from __future__ import annotations

from flask import Blueprint, Response, current_app

from web.answers import asked_object, json_answer, needed, picture_answer
from web.machine_protocol import Cameras, Settings
from web.protocol import CommandError
from web.rights import Right, needs

machinery = Blueprint("machinery", __name__)


def _settings() -> Settings:
    found: Settings | None = current_app.extensions["settings"]
    return needed(found, "no_settings", "this table has no settings that could be changed here")


def _cameras() -> Cameras:
    found: Cameras | None = current_app.extensions["cameras"]
    return needed(found, "no_cameras", "this table cannot choose a camera")


@machinery.post("/api/settings")
@needs(Right.ADMIN)
def settings() -> Response:
    """Get all options, set or reset one, or restart the server with the new settings."""
    data, found = asked_object(), _settings()
    do, name = data.get("do"), data.get("name")
    if do == "look":
        return json_answer(found.state())
    if do == "restart":
        return json_answer(found.restart())
    if do not in ("set", "reset") or not isinstance(name, str):
        raise CommandError("malformed", "do: must be look, restart, or set or reset with the name of an option")
    return json_answer(found.put(name, data.get("value")) if do == "set" else found.reset(name))


@machinery.post("/api/cameras")
@needs(Right.ADMIN)  # it opens cameras while it is polled
def cameras() -> Response:
    """Preview all cameras, choose one, or add or remove the address of a network camera."""
    data, found = asked_object(), _cameras()
    do = data.get("do")
    if do == "look":
        return json_answer(found.state())
    acts = {"choose": ("camera", found.choose), "forget": ("camera", found.forget), "offer": ("address", found.offer)}
    key, act = acts.get(do, ("", None)) if isinstance(do, str) else ("", None)
    value = data.get(key)
    if act is None or not isinstance(value, str):
        raise CommandError("malformed", "do: must be look, choose or forget a camera, or offer an address")
    return json_answer(act(value))


@machinery.get("/api/cameras/<ticket>.jpg")
def camera_picture(ticket: str) -> Response:
    """A recent picture of a camera."""
    found: Cameras | None = current_app.extensions["cameras"]
    return picture_answer(None if found is None else found.picture(ticket))
