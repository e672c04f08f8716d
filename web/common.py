"""What all our web applications share: access control, the page's own files, headers, and one form for every error."""

from __future__ import annotations

import gzip
import hashlib
from base64 import b64encode
from collections.abc import Sequence
from functools import lru_cache
from http import HTTPStatus
from pathlib import Path
from secrets import token_hex

from flask import Blueprint, Flask, Response, current_app, request
from markupsafe import Markup
from werkzeug.exceptions import HTTPException

from scoring.errors import InvalidNotation
from web.access import Access, refusal, with_key
from web.answers import MAX_BODY_BYTES, error_answer, wants_gzip
from web.assets import Assets
from web.boxes import page_modules
from web.catalogue import tiles
from web.protocol import CommandError, StaleView, Unavailable
from web.reveal import revealed
from web.rights import Refused
from web.stream import compact

_CONTENT_SECURITY = "; ".join((
    "default-src 'none'", "script-src 'self'", "style-src 'self'{styles}", "img-src 'self' data:", "connect-src 'self'",
    "media-src 'self'", "font-src 'self'",
    "manifest-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
))
_COMPRESSED = ("text/", "application/json", "image/svg+xml")
_HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer", "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin", "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}
_STATUS = {"unknown_question": HTTPStatus.CONFLICT, "no_camera": HTTPStatus.CONFLICT, "busy": HTTPStatus.CONFLICT,
           "restoring": HTTPStatus.CONFLICT, "nothing_seen": HTTPStatus.CONFLICT,
           "game_runs": HTTPStatus.CONFLICT, "not_checked": HTTPStatus.CONFLICT, "nothing_came": HTTPStatus.CONFLICT,
           "no_round": HTTPStatus.CONFLICT, "locked": HTTPStatus.CONFLICT, "not_over": HTTPStatus.CONFLICT,
           "still_played": HTTPStatus.CONFLICT, "over_already": HTTPStatus.CONFLICT,
           "no_clock": HTTPStatus.CONFLICT, "unknown_round": HTTPStatus.CONFLICT,
           "wrong_place": HTTPStatus.CONFLICT, "no_backup": HTTPStatus.CONFLICT,
           "too_large": HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
           "unknown_game": HTTPStatus.NOT_FOUND, "unknown_player": HTTPStatus.NOT_FOUND,
           "nothing_to_show": HTTPStatus.CONFLICT, "no_jcz": HTTPStatus.CONFLICT,
           "unknown_entry": HTTPStatus.NOT_FOUND, "no_session": HTTPStatus.NOT_FOUND,
           "no_settings": HTTPStatus.CONFLICT, "no_cameras": HTTPStatus.CONFLICT, "command_line": HTTPStatus.CONFLICT,
           "no_guide": HTTPStatus.NOT_FOUND, "no_tile": HTTPStatus.NOT_FOUND,
           **dict.fromkeys(("no_view", "unknown_calibration"), HTTPStatus.NOT_FOUND),
           **dict.fromkeys(("few_views", "nothing_computed", "other_camera"), HTTPStatus.CONFLICT),
           **dict.fromkeys(("no_updates", "not_possible", "not_looked_at", "nothing_before"), HTTPStatus.CONFLICT),
           "not_saved": HTTPStatus.INSUFFICIENT_STORAGE}

files = Blueprint("files", __name__)


def furnish(app: Flask, door: Access, *, inlined: Sequence[str] = ()) -> None:
    """Give an application access control, the files of ``web/static``, headers and errors.

    ``inlined`` are styles that a page embeds: ``app.extensions["inlined"]`` is their text, exactly as it must stand
    between the tags, because browsers accept it only by its hash.
    """
    app.config["MAX_CONTENT_LENGTH"] = MAX_BODY_BYTES
    static = Path(__file__).parent / "static"
    assets = app.extensions["assets"] = Assets(static, page_modules(static))
    style = app.extensions["inlined"] = Markup(assets.joined(inlined))
    digest = b64encode(hashlib.sha256(style.encode()).digest()).decode()
    policy = _CONTENT_SECURITY.format(styles=f" 'sha256-{digest}'" if style else "")
    app.extensions["headers"] = {**_HEADERS, "Content-Security-Policy": policy}
    door.guard(app)
    app.register_blueprint(files)
    app.register_error_handler(HTTPException, _http_error)
    app.register_error_handler(Exception, _unexpected)
    app.after_request(_finish)


@files.get("/favicon.ico")
def favicon() -> Response:
    icon: Response = asset("icon.svg")
    return icon


@files.get("/sw.js")
def worker() -> Response:
    """The service worker, at the URL where browsers look for it: it may cache what is below its own URL."""
    script: Response = asset("js/worker.js")
    return script


@files.get("/static/<path:name>")
@with_key
def asset(name: str) -> Response:
    """One of the page's own files."""
    assets: Assets = current_app.extensions["assets"]
    found = assets.answer(name)
    return error_answer("not_found", "there is no such file", HTTPStatus.NOT_FOUND) if found is None else found


def kinds_answer(expansions: tuple[str, ...]) -> Response:
    """Cached: the same boxes are requested again and again, and serialising them is slow."""
    text, small = _packed(tuple(sorted({*expansions})))
    if not wants_gzip():
        return Response(text, mimetype="application/json")
    return Response(small, mimetype="application/json",
                    headers={"Content-Encoding": "gzip", "Vary": "Accept-Encoding"})


@lru_cache(16)
def _packed(expansions: tuple[str, ...]) -> tuple[str, bytes]:
    text = compact(tiles(expansions))
    return text, gzip.compress(text.encode(), 6, mtime=0)


def _http_error(e: Exception) -> Response:
    assert isinstance(e, HTTPException)
    status = HTTPStatus(e.code or HTTPStatus.INTERNAL_SERVER_ERROR)
    return error_answer(status.name.lower(), f"{status.phrase.lower()}: {request.path}", status)


def _unexpected(e: Exception) -> Response:
    match e:
        case StaleView():
            return error_answer("stale", str(e), HTTPStatus.CONFLICT, view=revealed(e.view))
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


@lru_cache(8)
def _small(page: bytes) -> bytes:
    """A page is the same for all devices with the same language until a score changes."""
    return gzip.compress(page, 6, mtime=0)


def _finish(answer: Response) -> Response:
    """Security headers for every response, caching with revalidation, and compression where it helps."""
    answer.headers.update(current_app.extensions["headers"])
    stream = answer.mimetype == "text/event-stream"
    answer.headers["Cache-Control"] = "no-store" if stream or request.path.startswith("/api/") else "no-cache"
    done = stream or answer.status_code != HTTPStatus.OK or "Content-Encoding" in answer.headers or \
        request.endpoint in ("files.asset", "files.favicon", "files.worker")
    if done or not (answer.mimetype or "").startswith(_COMPRESSED):
        return answer
    answer.vary.add("Accept-Encoding")
    if not wants_gzip():
        return answer
    answer.direct_passthrough = False
    data = answer.get_data()
    if len(data) > 500:
        answer.set_data(_small(data) if answer.mimetype == "text/html" else gzip.compress(data, 6, mtime=0))
        answer.headers["Content-Encoding"] = "gzip"
    return answer
