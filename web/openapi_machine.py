"""The part of the interface's description that is about the machine: settings, cameras."""

from __future__ import annotations

from typing import Any

from web.openapi_parts import FLAG, TEXT, Schema, get, list_of, object_of, sends

_NAME: Schema = {"name": "ticket", "in": "path", "required": True, "schema": TEXT}
_THING: Schema = {"type": "object"}


def machine_paths() -> dict[str, Any]:
    """Every path under ``/api/`` that a table without a shell needs."""
    options = object_of({"options": list_of(_THING), "waiting": list_of(TEXT), "note": {"type": ["string", "null"]},
                         "restarting": FLAG}, port={"type": "integer"})
    cameras = object_of({"cameras": list_of(_THING), "chosen": FLAG, "fixed": FLAG}, restarting=FLAG)
    return {
        "/api/settings": {"post": sends(
            "Look at the table's options, set or reset one, or have the table served anew with them (administration).",
            object_of({"do": {"enum": ["look", "set", "reset", "restart"]}}, name=TEXT,
                      value={"type": ["string", "integer", "boolean", "array"]}), options, 401, 409, 507, signed=True)},
        "/api/cameras": {"post": sends(
            "Look through every camera, choose one, offer the address of one in the network, or forget it "
            "(administration).",
            object_of({"do": {"enum": ["look", "choose", "offer", "forget"]}}, camera=TEXT, address=TEXT), cameras, 401,
            409, 507, signed=True)},
        "/api/cameras/{ticket}.jpg": get("What a camera saw a moment ago, by the secret name its viewer was told.",
                                         {"type": "string"}, 404, mimetype="image/jpeg", parameters=[_NAME]),
    }
