"""The page and its JSON interface: one game, shown to everybody and corrected by anybody at the table."""

from __future__ import annotations

import gzip
import json
from http import HTTPStatus
from pathlib import Path
from typing import Any

from flask import Blueprint, Flask, Request, Response, current_app, render_template, request
from werkzeug.exceptions import HTTPException

from scoring.errors import InvalidNotation
from web.catalogue import tiles
from web.looking import looking
from web.protocol import CommandError, LiveSession, StaleView
from web.stream import Streams, TooManyStreams

MAX_COMMAND_BYTES = 16_384
RETRY_AFTER_S = 5
_CONTENT_SECURITY = "; ".join((
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'",
    "manifest-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'self'",
))
_COMPRESSED = ("text/", "application/json", "application/manifest+json", "image/svg+xml")
_STATUS = {"unknown_question": HTTPStatus.CONFLICT, "unknown_entry": HTTPStatus.NOT_FOUND,
           "not_saved": HTTPStatus.INSUFFICIENT_STORAGE}

pages = Blueprint("pages", __name__)


def create_app(session: LiveSession, *, streams: Streams | None = None) -> Flask:
    """The application around one live session. ``app.extensions["streams"]`` are its event streams."""
    app = Flask("web")
    app.config["MAX_CONTENT_LENGTH"] = MAX_COMMAND_BYTES
    app.extensions["session"] = session
    app.extensions["streams"] = Streams(session) if streams is None else streams
    app.register_blueprint(pages)
    app.register_blueprint(looking)
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(Exception, _unexpected)
    app.after_request(_finish)
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
    folder = Path(current_app.static_folder or "") / "js"
    modules = sorted(f.stem for f in folder.glob("*.js"))
    return render_template("page.html", mode=mode, modules=modules)


@pages.get("/favicon.ico")
def favicon() -> Response:
    return current_app.send_static_file("icon.svg")


# -- what there is to see -------------------------------------------------------------------------------------------


@pages.get("/api/state")
def state() -> Response:
    """The whole view."""
    return _json(_session().view())


@pages.get("/api/events")
def events() -> Response:
    """The view and its changes as server-sent events."""
    try:
        stream = current_app.extensions["streams"].open(request.environ.get("waitress.client_disconnected",
                                                                            lambda: False))
    except TooManyStreams:
        answer = _error("too_many_streams", "all live connections are taken; ask /api/state instead",
                        HTTPStatus.SERVICE_UNAVAILABLE)
        answer.headers["Retry-After"] = str(RETRY_AFTER_S)
        return answer
    return Response(stream, mimetype="text/event-stream", headers={"X-Accel-Buffering": "no"})


@pages.get("/api/tiles")
def tile_kinds() -> Response:
    """Shapes of every tile kind; those of the running game, or of ``?expansions=a,b``."""
    wanted = request.args.get("expansions")
    return _json(tiles(wanted.split(",") if wanted else _session().view()["expansions"]))


@pages.get("/api/candidates/<int(max=2147483647):seq>")
def candidates(seq: int) -> Response:
    """What the tile of an entry may be, best first."""
    return _json({"seq": seq, "candidates": _session().candidates(seq)})


@pages.get("/api/crops/<int(max=2147483647):seq>.jpg")
def crop(seq: int) -> Response:
    """The camera's picture behind an entry."""
    picture = _session().crop_png(seq)
    if picture is None:
        return _error("no_picture", "there is no picture of this move", HTTPStatus.NOT_FOUND)
    kind = "image/png" if picture.startswith(b"\x89PNG") else "image/jpeg"
    return Response(picture, mimetype=kind)


# -- what people may do ---------------------------------------------------------------------------------------------


@pages.post("/api/commands")
def commands() -> Response:
    """Carry out one command; the new view."""
    if request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
        return _error("other_site", "commands are taken from the table's own page only", HTTPStatus.FORBIDDEN)
    return _json(_session().command(_command(request)))


def _command(asked: Request) -> dict[str, Any]:
    if asked.mimetype != "application/json":
        raise CommandError("malformed", "a command must be sent as application/json")
    try:
        data = json.loads(asked.get_data())
    except (ValueError, RecursionError) as e:
        raise CommandError("malformed", "the command is not JSON") from e
    if not isinstance(data, dict) or not isinstance(data.get("do"), str):
        raise CommandError("malformed", "a command is an object that says what to do")
    based_on = data.get("based_on")
    if based_on is not None and type(based_on) is not int:
        raise CommandError("malformed", "based_on: must be the version of a view")
    return data


# -- answers --------------------------------------------------------------------------------------------------------


def _json(data: Any, status: int = HTTPStatus.OK) -> Response:
    return Response(json.dumps(data, ensure_ascii=False, separators=(",", ":")), status, mimetype="application/json")


def _error(code: str, text: str, status: int, **more: Any) -> Response:
    """The one shape of every error."""
    return _json({"error": {"code": code, "text": text}, **more}, status)


def _http_error(e: Exception) -> Response:
    assert isinstance(e, HTTPException)
    status = HTTPStatus(e.code or HTTPStatus.INTERNAL_SERVER_ERROR)
    return _error(status.name.lower(), f"{status.phrase.lower()}: {request.path}", status)


def _unexpected(e: Exception) -> Response:
    match e:
        case StaleView():
            return _error("stale", str(e), HTTPStatus.CONFLICT, view=e.view)
        case CommandError():
            return _error(e.code, e.text, _STATUS.get(e.code, HTTPStatus.BAD_REQUEST))
        case InvalidNotation():
            return _error("malformed", str(e), HTTPStatus.BAD_REQUEST)
    current_app.logger.exception("%s %s failed", request.method, request.path)
    return _error("failed", "this did not work; the program's log says why", HTTPStatus.INTERNAL_SERVER_ERROR)


def _finish(answer: Response) -> Response:
    """Security headers on everything, caching that always asks, and compression of what shrinks."""
    answer.headers["Content-Security-Policy"] = _CONTENT_SECURITY
    answer.headers["X-Content-Type-Options"] = "nosniff"
    answer.headers["Referrer-Policy"] = "no-referrer"
    answer.headers["Cross-Origin-Opener-Policy"] = "same-origin"
    stream = answer.mimetype == "text/event-stream"
    answer.headers["Cache-Control"] = "no-store" if stream or request.path.startswith("/api/") else "no-cache"
    if stream or answer.status_code != HTTPStatus.OK or not (answer.mimetype or "").startswith(_COMPRESSED):
        return answer
    answer.vary.add("Accept-Encoding")
    if "gzip" not in request.accept_encodings:
        return answer
    answer.direct_passthrough = False
    data = answer.get_data()
    if len(data) > 500:
        answer.set_data(gzip.compress(data, 6, mtime=0))
        answer.headers["Content-Encoding"] = "gzip"
        tag, _ = answer.get_etag()
        if tag:
            answer.set_etag(tag, weak=True)
    return answer


