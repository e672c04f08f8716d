"""The shape of every answer: JSON without spaces, and one form for every error."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

from flask import Response, request

from web.protocol import CommandError

MAX_BODY_BYTES = 16_384


def json_answer(data: Any, status: int = HTTPStatus.OK) -> Response:
    """Any JSON value as an answer."""
    return Response(compact(data), status, mimetype="application/json")


def error_answer(code: str, text: str, status: int, **more: Any) -> Response:
    """The one shape of every error: ``code`` is for programs, ``text`` one sentence for people."""
    return json_answer({"error": {"code": code, "text": text}, **more}, status)


def compact(data: Any) -> str:
    """JSON as it is sent."""
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"))


def asked_object() -> dict[str, Any]:
    """The request's body, which must be a JSON object. Raises CommandError."""
    if request.mimetype != "application/json":
        raise CommandError("malformed", "the request must be sent as application/json")
    try:
        data = json.loads(request.get_data(), parse_constant=_no_constant)
    except (ValueError, RecursionError) as e:
        raise CommandError("malformed", "the request is not JSON") from e
    if not isinstance(data, dict):
        raise CommandError("malformed", "the request must be a JSON object")
    return data


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")
