"""The page and its JSON interface: one game, shown to everybody and corrected by anybody at the table."""

from __future__ import annotations

import gzip
from functools import lru_cache
from http import HTTPStatus
from pathlib import Path
from secrets import token_hex

from flask import Blueprint, Flask, Response, current_app, render_template, request
from werkzeug.exceptions import HTTPException

from scoring.errors import InvalidNotation
from web.access import Access, access, refusal, with_key
from web.answers import MAX_BODY_BYTES, asked_object, error_answer, json_answer, stream_answer
from web.assets import Assets
from web.book import keeping
from web.catalogue import tiles
from web.doctor import Doctor, doctors
from web.gate import Gate, routes
from web.join import joining
from web.looking import looking
from web.openapi import describing
from web.overlay import MAX_OVERLAYS, overlays, shown
from web.protocol import CommandError, LiveSession, Safe, StaleView, Tuning, Unavailable
from web.rights import Refused, Right, needs
from web.safekeeping import safekeeping
from web.stream import Streams, compact
from web.tinker import tinkering

_CONTENT_SECURITY = "; ".join((
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'",
    "media-src 'self'",
    "manifest-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
))
_COMPRESSED = ("text/", "application/json", "image/svg+xml")
_HEADERS = {
    "Content-Security-Policy": _CONTENT_SECURITY, "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin", "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_STATUS = {"unknown_question": HTTPStatus.CONFLICT, "no_camera": HTTPStatus.CONFLICT, "busy": HTTPStatus.CONFLICT,
           "game_runs": HTTPStatus.CONFLICT, "not_checked": HTTPStatus.CONFLICT, "nothing_came": HTTPStatus.CONFLICT,
           "wrong_place": HTTPStatus.CONFLICT, "no_backup": HTTPStatus.CONFLICT,
           "too_large": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
           "unknown_entry": HTTPStatus.NOT_FOUND, "unknown_game": HTTPStatus.NOT_FOUND,
           "unknown_player": HTTPStatus.NOT_FOUND, "no_session": HTTPStatus.NOT_FOUND,
           "nothing_to_show": HTTPStatus.CONFLICT, "no_jcz": HTTPStatus.CONFLICT,
           "not_saved": HTTPStatus.INSUFFICIENT_STORAGE}

pages = Blueprint("pages", __name__)


def create_app(session: LiveSession, *, streams: Streams | None = None, access: Access | None = None,
               doctor: Doctor | None = None, tuning: Tuning | None = None, safe: Safe | None = None) -> Flask:
    """The application around one live session. ``app.extensions["streams"]`` are its event streams.

    Without ``access`` the game is changed on this machine only. ``doctor`` makes the report of ``/doctor``, ``tuning``
    aims and calibrates the camera, ``safe`` makes backups and restores them.
    """
    app = Flask("web", static_folder=None)
    app.config["MAX_CONTENT_LENGTH"] = MAX_BODY_BYTES
    app.extensions["session"] = session
    app.extensions.update(doctor=doctor, tuning=tuning, safe=safe)
    app.extensions["streams"] = Streams(session) if streams is None else streams
    app.extensions["overlay_streams"] = Streams(session, most=MAX_OVERLAYS, shape=shown)
    app.extensions["assets"] = Assets(Path(__file__).parent / "static")
    door = Access() if access is None else access
    door.guard(app)
    app.register_blueprint(pages)
    for part in (looking, keeping, overlays, joining, doctors, tinkering, safekeeping, describing):
        app.register_blueprint(part)
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(Exception, _unexpected)
    app.after_request(_finish)
    app.extensions["gate"] = app.wsgi_app = Gate(  # type: ignore[method-assign]
        app.wsgi_app, known=door.known, routes=routes(app.url_map.iter_rules()))
    return app


def _session() -> LiveSession:
    return current_app.extensions["session"]


# -- pages ----------------------------------------------------------------------------------------------------------


@pages.get("/")
def page() -> str:
    """The page at the table."""
    return _page("table")


@pages.get("/tv")
def tv() -> str:
    """The same page for a screen across the room: scores and the last event, nothing to touch."""
    return _page("tv")


def _page(mode: str) -> str:
    """The page names its modules, so that a browser fetches them at once instead of one after the other. Languages but
    one, and what is seldom needed (``later/``), are fetched when they are."""
    modules = [n.removeprefix("js/").removesuffix(".js") for n in _assets().names("js")]
    return render_template("page.html", mode=mode, modules=modules, pin=access().state()["pin"])


@pages.get("/favicon.ico")
def favicon() -> Response:
    return asset("icon.svg")


@pages.get("/static/<path:name>")
@with_key
def asset(name: str) -> Response:
    """One of the page's own files."""
    found = _assets().answer(name)
    return error_answer("not_found", "there is no such file", HTTPStatus.NOT_FOUND) if found is None else found


def _assets() -> Assets:
    return current_app.extensions["assets"]


# -- what there is to see -------------------------------------------------------------------------------------------


@pages.get("/api/state")
def state() -> Response:
    """The whole view."""
    streams: Streams = current_app.extensions["streams"]
    if "gzip" not in request.accept_encodings:
        return Response(streams.text(_session().view()), mimetype="application/json")
    return Response(streams.packed(_session().view()), mimetype="application/json",
                    headers={"Content-Encoding": "gzip", "Vary": "Accept-Encoding"})


@pages.get("/api/events")
def events() -> Response:
    """The view and its changes as server-sent events."""
    return stream_answer(current_app.extensions["streams"])


@pages.get("/api/tiles")
def tile_kinds() -> Response:
    """Shapes of every tile kind; those of the running game, or of ``?expansions=a,b``."""
    wanted = request.args.get("expansions")
    return _kinds(tuple(wanted.split(",") if wanted else _session().view()["expansions"]))


def _kinds(expansions: tuple[str, ...]) -> Response:
    """The same boxes are asked for again and again, and are much to write."""
    text, small = _packed(tuple(sorted({*expansions})))
    if "gzip" not in request.accept_encodings:
        return Response(text, mimetype="application/json")
    return Response(small, mimetype="application/json",
                    headers={"Content-Encoding": "gzip", "Vary": "Accept-Encoding"})


@lru_cache(16)
def _packed(expansions: tuple[str, ...]) -> tuple[str, bytes]:
    text = compact(tiles(expansions))
    return text, gzip.compress(text.encode(), 6, mtime=0)


@pages.get("/api/candidates/<int(max=2147483647):seq>")
def candidates(seq: int) -> Response:
    """What the tile of an entry may be, best first."""
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
    """A square that people are asked to put right, as it was or as it is."""
    picture = _session().notice_picture(name)
    if picture is None:
        return error_answer("no_picture", "this picture is not there any more", HTTPStatus.NOT_FOUND)
    return Response(picture, mimetype="image/jpeg")


# -- what people may do ---------------------------------------------------------------------------------------------


@pages.post("/api/commands")
@needs(Right.PLAY)
def commands() -> Response:
    """Carry out one command; the new view."""
    data = asked_object()
    if not isinstance(data.get("do"), str):
        raise CommandError("malformed", "a command is an object that says what to do")
    based_on = data.get("based_on")
    if based_on is not None and type(based_on) is not int:
        raise CommandError("malformed", "based_on: must be the version of a view")
    _session().command({**data, "who": access().signs(data.get("who"))})
    return state()


# -- answers --------------------------------------------------------------------------------------------------------


def _http_error(e: Exception) -> Response:
    assert isinstance(e, HTTPException)
    status = HTTPStatus(e.code or HTTPStatus.INTERNAL_SERVER_ERROR)
    return error_answer(status.name.lower(), f"{status.phrase.lower()}: {request.path}", status)


def _unexpected(e: Exception) -> Response:
    match e:
        case StaleView():
            return error_answer("stale", str(e), HTTPStatus.CONFLICT, view=e.view)
        case Refused():
            return refusal(e)
        case CommandError():
            return error_answer(e.code, e.text, _STATUS.get(e.code, HTTPStatus.BAD_REQUEST))
        case Unavailable():
            return error_answer("not_saved", str(e), _STATUS["not_saved"])
        case InvalidNotation():
            return error_answer("malformed", str(e), HTTPStatus.BAD_REQUEST)
    number = token_hex(4)
    current_app.logger.exception("%s %s failed", request.method, request.path, extra={"request": number})
    return error_answer("failed", f"this did not work; the program's log says why under {number}",
                        HTTPStatus.INTERNAL_SERVER_ERROR)


def _finish(answer: Response) -> Response:
    """Security headers on everything, caching that always asks, and compression of what shrinks."""
    answer.headers.update(_HEADERS)
    stream = answer.mimetype == "text/event-stream"
    answer.headers["Cache-Control"] = "no-store" if stream or request.path.startswith("/api/") else "no-cache"
    done = stream or answer.status_code != HTTPStatus.OK or "Content-Encoding" in answer.headers or \
        request.endpoint in ("pages.asset", "pages.favicon")
    if done or not (answer.mimetype or "").startswith(_COMPRESSED):
        return answer
    answer.vary.add("Accept-Encoding")
    if "gzip" not in request.accept_encodings:
        return answer
    answer.direct_passthrough = False
    data = answer.get_data()
    if len(data) > 500:
        answer.set_data(gzip.compress(data, 6, mtime=0))
        answer.headers["Content-Encoding"] = "gzip"
    return answer


