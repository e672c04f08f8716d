"""The overlay for video streams: scores and the last event, on a read-only page of its own.

On the local network ``/overlay`` is open like everything read-only. Through a tunnel or a proxy it is the only page
available, and only with the table's read-only key: ``/overlay?key=...`` (``bastide pin --overlay``).
"""

from __future__ import annotations

from collections.abc import Mapping

from flask import Blueprint, Response, current_app, render_template, request

from web.access import access, with_key
from web.answers import json_answer, stream_answer
from web.protocol import LiveSession, View
from web.rights import Right

overlays = Blueprint("overlays", __name__)
MAX_OVERLAYS = 8
_PARTS = ("game", "version", "update", "phase", "turn")
_PLAYER = ("index", "name", "colour", "score", "projected", "active", "uncertain")


def shown(view: View) -> Mapping[str, object]:
    """The part of a view that the overlay shows."""
    players = [{k: v for k, v in p.items() if k in _PLAYER} for p in view["players"]]
    return {**{k: v for k, v in view.items() if k in _PARTS}, "feed": view["feed"][-1:], "players": players,
            "status": {"chip": view["status"]["chip"] if "status" in view else "manual"}}


@overlays.get("/overlay")
@with_key
def overlay() -> str:
    """The page for streaming software."""
    return render_template("overlay.html", key=request.args.get("key", ""))


@overlays.get("/api/overlay")
@with_key
def overlay_state() -> Response:
    """What the overlay shows."""
    session: LiveSession = current_app.extensions["session"]
    return json_answer(current_app.extensions["overlay_streams"].shown(session.view()))


@overlays.get("/api/overlay/events")
@with_key
def overlay_events() -> Response:
    """The same and its changes as server-sent events."""
    return stream_answer(current_app.extensions["overlay_streams"])


@overlays.get("/api/overlay/key")
def overlay_key() -> Response:
    """The read-only key, for those who may change the game."""
    held, _ = access().held()
    return json_answer({"key": access().rights.keys.get().overlay if held >= Right.PLAY else None})
