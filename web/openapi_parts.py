"""Building blocks of the OpenAPI document: JSON schemas, responses, requests."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Schema = Mapping[str, object]  # JSON Schema, or a part of an OpenAPI document

TEXT: Schema = {"type": "string"}
NUMBER: Schema = {"type": "integer"}
COUNT: Schema = {"type": "integer", "minimum": 0}
FLAG: Schema = {"type": "boolean"}


def object_of(required: dict[str, Schema], **optional: Schema) -> Schema:
    return {"type": "object", "properties": {**required, **optional}, "required": list(required)}


def list_of(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


_WHY = {400: "malformed, or not possible in this game", 401: "the PIN is needed: sign in first",
        403: "not with this right, or not from this page, host or network", 404: "there is no such thing",
        409: "the game has changed in the meantime, or it cannot be done now", 413: "the body is too long",
        421: "not a name of this machine", 429: "too many wrong PINs, or too many ask at once; see Retry-After",
        503: "all live connections are taken", 507: "the disk did not take it; nothing has changed"}


def answers(schema: Schema, *errors: int, mimetype: str = "application/json", text: str = "done",
            others: Mapping[str, Schema] | None = None) -> Schema:
    """``others`` are further media types of the response, with their schemas."""
    content = {mimetype: schema, **(others or {})}
    out: dict[str, Any] = {"200": {"description": text, "content": {m: {"schema": s} for m, s in content.items()}}}
    for status in (403, 421, 429, *errors):
        out[str(status)] = {"description": _WHY[status],
                            "content": {"application/json": {"schema": ref("Error")}}}
    return dict(sorted(out.items()))


def get(about: str, schema: Schema, *errors: int, parameters: list[Schema] | None = None,
        mimetype: str = "application/json", others: Mapping[str, Schema] | None = None) -> Schema:
    return {"get": {"summary": about, "parameters": parameters or [],
                    "responses": answers(schema, *errors, mimetype=mimetype, others=others)}}


def sends(about: str, body: Schema, schema: Schema, *errors: int, signed: bool = False) -> Schema:
    return {"summary": about, "responses": answers(schema, 400, 413, *errors),
            "requestBody": {"required": True, "content": {"application/json": {"schema": body}}},
            "security": [{"session": [], "token": []}] if signed else []}


def in_path(name: str, most: int) -> Schema:
    return {"name": name, "in": "path", "required": True,
            "schema": {"type": "integer", "minimum": 0, "maximum": most}}


def query(name: str, schema: Schema, about: str = "") -> Schema:
    return {"name": name, "in": "query", "schema": schema, "description": about}
