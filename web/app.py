"""The page and its JSON API: one game, shown to everybody and corrected by anybody at the table."""

from __future__ import annotations

from http import HTTPStatus

from flask import Blueprint, Flask, Response, current_app, render_template, request

from web.access import Access, access
from web.answers import asked_object, error_answer, json_answer, picture_answer, stream_answer, wants_gzip
from web.assets import Assets
from web.backups import keeping_backups
from web.book import keeping
from web.camera_setup import camera_setup
from web.certificate import Https, certificates
from web.common import furnish, kinds_answer
from web.doctor import Doctor, Pulse, doctors
from web.firstview import first_view
from web.guide import guiding
from web.join import joining
from web.looking import looking
from web.machine import machinery
from web.machine_protocol import Cameras, Guide, Lens, Settings, Teaching, Updates
from web.openapi import describing
from web.overlay import MAX_OVERLAYS, overlays, shown
from web.protocol import Backups, CommandError, LiveSession, Tuning
from web.reveal import revealed
from web.rights import Right, needs
from web.scheduling import RequestScheduler, routes
from web.stream import Streams
from web.updating import updating

_SHEETS = ("fonts", "tokens", "layout", "players", "parts", "sheets", "board", "more", "screens",
           "reveal")  # in this order

pages = Blueprint("pages", __name__)


def create_app(session: LiveSession, *, streams: Streams | None = None, access: Access | None = None,
               doctor: Doctor | None = None, tuning: Tuning | None = None, backups: Backups | None = None,
               settings: Settings | None = None, cameras: Cameras | None = None, guide: Guide | None = None,
               pulse: Pulse | None = None, updates: Updates | None = None,
               teaching: Teaching | None = None, https: Https | None = None, lens: Lens | None = None) -> Flask:
    """The application around one live session. ``app.extensions["streams"]`` are its event streams.

    Without ``access`` the game can be changed on this machine only. ``doctor`` makes the report of ``/doctor``,
    ``tuning`` aims and calibrates the camera, ``backups`` makes and restores backups, ``settings`` are the table's
    options, ``cameras`` those available, ``guide`` leads to a first scored road, ``pulse`` reports current faults of
    the machine, ``updates`` installs releases, ``teaching`` makes the owner's tile set, ``https`` describes HTTPS to
    devices, ``lens`` calibrates the lens and has all earlier calibrations.
    """
    app = Flask("web", static_folder=None)
    app.extensions["session"] = session
    app.extensions.update(doctor=doctor, tuning=tuning, backups=backups, settings=settings, cameras=cameras,
                          guide=guide, pulse=pulse, updates=updates, teaching=teaching, https=https,
                          lens=lens)
    app.extensions["streams"] = Streams(session) if streams is None else streams
    app.extensions["overlay_streams"] = Streams(session, most=MAX_OVERLAYS, shape=lambda view: shown(revealed(view)))
    door = Access() if access is None else access
    furnish(app, door, inlined=[f"css/{name}.css" for name in _SHEETS])
    app.register_blueprint(pages)
    for part in (looking, keeping, overlays, joining, doctors, camera_setup, keeping_backups, machinery, guiding,
                 updating, certificates, describing):
        app.register_blueprint(part)
    app.extensions["scheduler"] = app.wsgi_app = RequestScheduler(  # type: ignore[method-assign]
        app.wsgi_app, known=door.known, routes=routes(app.url_map.iter_rules()))
    return app


def _session() -> LiveSession:
    session: LiveSession = current_app.extensions["session"]
    return session


# -- pages ----------------------------------------------------------------------------------------------------------


@pages.get("/")
def page() -> str:
    """The page at the table."""
    return _page("table")


@pages.get("/tv")
def tv() -> str:
    """The same page for a screen across the room: scores and the last event, without controls."""
    return _page("tv")


def _page(mode: str) -> str:
    """The page has its style inlined, so that scores are readable as soon as it is loaded, and preloads its modules, so
    that a browser fetches them in parallel. Dialogs (``sheets.js``) are loaded after the board, rarely used modules
    (``lazy/``) on demand."""
    first = first_view(_session().view())
    modules = [*_assets().imported("js/app.js"), f"js/lang/{first['language']}.js"]
    return render_template("page.html", mode=mode, modules=modules, style=current_app.extensions["inlined"],
                           pin=access().state()["pin"], guided=_guided(), **first)


def _guided() -> bool:
    """Whether the guide to a first road is open."""
    guide: Guide | None = current_app.extensions["guide"]
    return guide is not None and not guide.finished


def _assets() -> Assets:
    assets: Assets = current_app.extensions["assets"]
    return assets


# -- reading --------------------------------------------------------------------------------------------------------


@pages.get("/api/state")
def state() -> Response:
    """The whole view."""
    streams: Streams = current_app.extensions["streams"]
    view = streams.shown(_session().view())
    if not wants_gzip():
        return Response(streams.text(view), mimetype="application/json")
    return Response(streams.packed(view), mimetype="application/json",
                    headers={"Content-Encoding": "gzip", "Vary": "Accept-Encoding"})


@pages.get("/api/events")
def events() -> Response:
    """The view and its changes as server-sent events."""
    return stream_answer(current_app.extensions["streams"])


@pages.get("/api/tiles")
def tile_kinds() -> Response:
    """Shapes of every tile kind; those of the running game, or of ``?expansions=a,b``."""
    wanted = request.args.get("expansions")
    return kinds_answer(tuple(wanted.split(",") if wanted else _session().view()["expansions"]))


@pages.get("/api/candidates/<int(max=2147483647):seq>")
def candidates(seq: int) -> Response:
    """Candidate readings of an entry's tile, best first."""
    return json_answer({"seq": seq, "candidates": _session().candidates(seq)})


@pages.get("/api/crops/<int(max=2147483647):seq>.jpg")
def crop(seq: int) -> Response:
    """The camera's picture behind an entry."""
    picture = _session().crop_png(seq)
    if picture is None:
        return error_answer("no_picture", "there is no picture of this move", HTTPStatus.NOT_FOUND)
    kind = "image/png" if picture.startswith(b"\x89PNG") else "image/jpeg"
    return Response(picture, mimetype=kind)


@pages.get("/api/notices/<name>.jpg")
def notice(name: str) -> Response:
    """The picture of a square that people are asked to put right, as it was or as it is."""
    return picture_answer(_session().notice_picture(name))


# -- changing -------------------------------------------------------------------------------------------------------


@pages.post("/api/commands")
@needs(Right.PLAY)
def commands() -> Response:
    """Carry out one command; returns the new view."""
    data = asked_object()
    if not isinstance(data.get("do"), str):
        raise CommandError("malformed", "a command is an object that says what to do")
    based_on = data.get("based_on")
    if based_on is not None and type(based_on) is not int:
        raise CommandError("malformed", "based_on: must be the version of a view")
    _session().command({**data, "who": access().signs(data.get("who"))})
    return state()
