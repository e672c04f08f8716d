"""Helpers for responses: compact JSON, and one form for every error."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from http import HTTPStatus
from typing import TypeVar

from flask import Response, current_app, request

from web.protocol import CommandError
from web.rights import network
from web.stream import Streams, TooManyStreams, compact

T = TypeVar("T")
MAX_BODY_BYTES = 16_384
PIECE_BYTES = 49_152  # of an uploaded file, per request
RETRY_AFTER_S = 5


def wants_gzip() -> bool:
    """Whether the client of the current request accepts gzip."""
    return request.accept_encodings.best_match(["gzip"]) is not None


def json_answer(data: object, status: int = HTTPStatus.OK) -> Response:
    """A JSON response."""
    return Response(compact(data), status, mimetype="application/json")


def error_answer(code: str, text: str, status: int, **more: object) -> Response:
    """The common form of every error: ``code`` is for programs, ``text`` one sentence for people."""
    return json_answer({"error": {"code": code, "text": text}, **more}, status)


def picture_answer(picture: bytes | None, mimetype: str = "image/jpeg") -> Response:
    """A picture, or the error that it is no longer kept."""
    if picture is None:
        return error_answer("no_picture", "this picture is no longer there", HTTPStatus.NOT_FOUND)
    return Response(picture, mimetype=mimetype)


def table_picture_answer(picture: bytes | None) -> Response:
    """The picture of the table in a turn, or the error that there is none."""
    if picture is None:
        return error_answer("no_picture", "there is no picture of the table in this turn", HTTPStatus.NOT_FOUND)
    return Response(picture, mimetype="image/jpeg")


def stream_answer(streams: Streams) -> Response:
    """A new event stream of a view; it resumes after ``Last-Event-ID`` or ``?after``."""
    device = current_app.extensions["access"].device()
    who = device.id if device else network(request.remote_addr or "")
    return events_answer(lambda gone: streams.open(gone, who=who, after=asked_after(), signed=device is not None),
                         "/api/state")


def asked_after() -> str:
    """The id of the last event that a stream's client has received; empty if none."""
    return request.headers.get("Last-Event-ID") or request.args.get("after", "")


def events_answer(begin: Callable[[Callable[[], bool]], Iterator[str]], instead: str) -> Response:
    """Server-sent events. ``begin`` gets a predicate that tells whether the client has disconnected, and may raise
    TooManyStreams; ``instead`` is the address to poll then."""
    try:
        stream = begin(request.environ.get("waitress.client_disconnected", lambda: False))
    except TooManyStreams:
        answer = error_answer("too_many_streams", f"all live connections are taken; ask {instead} instead",
                              HTTPStatus.SERVICE_UNAVAILABLE)
        answer.headers["Retry-After"] = str(RETRY_AFTER_S)
        return answer
    return Response(stream, mimetype="text/event-stream", headers={"X-Accel-Buffering": "no"})


def asked_object() -> dict[str, object]:
    """The request's body, which must be a JSON object. Raises CommandError."""
    if request.mimetype != "application/json":
        raise CommandError("malformed", "the request must be sent as application/json")
    try:
        data = json.loads(request.get_data(), parse_constant=_no_constant)
        json.dumps(data, ensure_ascii=False).encode()  # a lone surrogate could not be encoded in a response
    except (ValueError, RecursionError) as e:
        raise CommandError("malformed", "the request is not JSON") from e
    if not isinstance(data, dict):
        raise CommandError("malformed", "the request must be a JSON object")
    return data


def asked_act(acts: Mapping[str, Callable[[], Mapping[str, object]]]) -> Response:
    """The result of the action that the request asks to ``do``. Raises CommandError."""
    do = asked_object().get("do")
    if not isinstance(do, str) or do not in acts:
        raise CommandError("malformed", f"do: must be one of {', '.join(acts)}")
    return json_answer(acts[do]())


def asked_squares() -> tuple[int, int, int, int] | None:
    """The rectangle of squares in the query parameters x, y, width and height; None without all four."""
    x, y, width, height = (request.args.get(key, type=int) for key in ("x", "y", "width", "height"))
    return None if x is None or y is None or width is None or height is None else (x, y, width, height)


def asked_piece() -> tuple[int, bytes]:
    """The offset in the file and the bytes of an uploaded piece. Raises CommandError."""
    request.max_content_length = PIECE_BYTES
    at = request.args.get("at", type=int)
    if at is None or at < 0 or request.mimetype != "application/octet-stream":
        raise CommandError("malformed", "a piece is sent as application/octet-stream with its place in ?at")
    return at, request.get_data()


def needed(found: T | None, code: str, text: str) -> T:
    """An optional part of the application. Raises CommandError with ``code`` and ``text`` if it is missing."""
    if found is None:
        raise CommandError(code, text)
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
