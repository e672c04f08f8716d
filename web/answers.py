"""The shape of every answer: JSON without spaces, and one form for every error."""

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
PIECE_BYTES = 49_152  # of a file that comes in, at once
RETRY_AFTER_S = 5


def wants_gzip() -> bool:
    """Whether the client of the present request takes gzip."""
    return request.accept_encodings.best_match(["gzip"]) is not None


def json_answer(data: object, status: int = HTTPStatus.OK) -> Response:
    """Any JSON value as an answer."""
    return Response(compact(data), status, mimetype="application/json")


def error_answer(code: str, text: str, status: int, **more: object) -> Response:
    """The one shape of every error: ``code`` is for programs, ``text`` one sentence for people."""
    return json_answer({"error": {"code": code, "text": text}, **more}, status)


def picture_answer(picture: bytes | None, mimetype: str = "image/jpeg") -> Response:
    """A picture that is kept for a while, or the error that it is kept no more."""
    if picture is None:
        return error_answer("no_picture", "this picture is not there any more", HTTPStatus.NOT_FOUND)
    return Response(picture, mimetype=mimetype)


def table_picture_answer(picture: bytes | None) -> Response:
    """The table's picture in a turn, or the error that there is none."""
    if picture is None:
        return error_answer("no_picture", "there is no picture of the table in this turn", HTTPStatus.NOT_FOUND)
    return Response(picture, mimetype="image/jpeg")


def stream_answer(streams: Streams) -> Response:
    """A new event stream of a view for whoever asks; it goes on after ``Last-Event-ID`` or ``?after``."""
    device = current_app.extensions["access"].device()
    who = device.id if device else network(request.remote_addr or "")
    return events_answer(lambda gone: streams.open(gone, who=who, after=asked_after(), signed=device is not None),
                         "/api/state")


def asked_after() -> str:
    """The last event that the client of a stream says it has; empty when it has none."""
    return request.headers.get("Last-Event-ID") or request.args.get("after", "")


def events_answer(begin: Callable[[Callable[[], bool]], Iterator[str]], instead: str) -> Response:
    """Server-sent events. ``begin`` is given what tells whether the client has left, and raises TooManyStreams;
    ``instead`` is the address that can be asked again and again then."""
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
        json.dumps(data, ensure_ascii=False).encode()  # half a character in it could not be shown to anybody again
    except (ValueError, RecursionError) as e:
        raise CommandError("malformed", "the request is not JSON") from e
    if not isinstance(data, dict):
        raise CommandError("malformed", "the request must be a JSON object")
    return data


def asked_act(acts: Mapping[str, Callable[[], Mapping[str, object]]]) -> Response:
    """What came of the one of these acts that the request asks to ``do``. Raises CommandError."""
    do = asked_object().get("do")
    if not isinstance(do, str) or do not in acts:
        raise CommandError("malformed", f"do: must be one of {', '.join(acts)}")
    return json_answer(acts[do]())


def asked_squares() -> tuple[int, int, int, int] | None:
    """The squares that the request's address names by x, y, width and height; None without all four."""
    x, y, width, height = (request.args.get(key, type=int) for key in ("x", "y", "width", "height"))
    return None if x is None or y is None or width is None or height is None else (x, y, width, height)


def asked_piece() -> tuple[int, bytes]:
    """The piece of a file that the request brings, and before it its place in the file. Raises CommandError."""
    request.max_content_length = PIECE_BYTES
    at = request.args.get("at", type=int)
    if at is None or at < 0 or request.mimetype != "application/octet-stream":
        raise CommandError("malformed", "a piece is sent as application/octet-stream with its place in ?at")
    return at, request.get_data()


def needed(found: T | None, code: str, text: str) -> T:
    """A part that the application was given. Raises CommandError with ``code`` and ``text`` where it was given none."""
    if found is None:
        raise CommandError(code, text)
    return found


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
