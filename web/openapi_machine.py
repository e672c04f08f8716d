"""The part of the OpenAPI document about the machine: settings, cameras."""

from __future__ import annotations

from web.openapi_parts import TEXT, Schema, answers, get, in_path, list_of, object_of, query, ref, sends

_NAME: Schema = {"name": "ticket", "in": "path", "required": True, "schema": TEXT}
_THING: Schema = {"type": "object"}


def machine_paths() -> Schema:
    """The paths under ``/api/`` for administering a table without a shell."""
    options, cameras, guide, update = map(ref, ("SettingsState", "CamerasState", "GuideState", "UpdateState"))
    return {
        "/api/update": {
            "post": sends("See how updates stand, check the release that came in, have it installed, go back to the "
                          "version before, or forget what came in (administration).",
                          object_of({"do": {"enum": ["look", "check", "install", "back", "forget"]}}), update, 401, 409,
                          507, signed=True),
            "put": {"summary": "The next piece of a release, up to 48 kB (administration).",
                    "parameters": [{**query("at", {"type": "integer", "minimum": 0}, "how much came before"),
                                    "required": True}],
                    "requestBody": {"required": True, "content": {"application/octet-stream": {"schema": {
                        "type": "string"}}}},
                    "security": [{"session": [], "token": []}],
                    "responses": answers(update, 400, 401, 409, 413, 507)}},
        "/api/settings": {"post": sends(
            "Look at the table's options, set or reset one, or restart the server with them (administration).",
            object_of({"do": {"enum": ["look", "set", "reset", "restart"]}}, name=TEXT,
                      value={"type": ["string", "integer", "boolean", "array"]}), options, 401, 409, 507, signed=True)},
        "/api/cameras": {"post": sends(
            "Look through every camera, choose one, offer the address of one in the network, or forget it "
            "(administration).",
            object_of({"do": {"enum": ["look", "choose", "offer", "forget"]}}, camera=TEXT, address=TEXT), cameras, 401,
            409, 507, signed=True)},
        "/api/guide": {
            **get("Where people are in the guide, and which of its steps are proved.", guide, 404),
            "post": sends("Go to a step of the guide, skip or answer it, or close the guide (administration).",
                          object_of({"do": {"enum": ["go", "skip", "answer", "finish"]}}, step=TEXT, value=TEXT), guide,
                          401, 404, signed=True)},
        "/api/teaching": {"post": sends(
            "Look at the teaching sheet under the camera, say what the tile in a cell is or leave it out, make the "
            "owner's set of them, or start over (administration).",
            object_of({"do": {"enum": ["look", "say", "leave_out", "keep", "forget"]}}, cell=TEXT, tile=TEXT,
                      turns={"type": "integer", "minimum": 0, "maximum": 3}), ref("TeachingState"), 401, 404, 409, 507,
            signed=True)},
        "/api/teaching/{number}.jpg": get("A picture of the teaching sheet, or of a tile on it.", {"type": "string"},
                                          404, mimetype="image/jpeg", parameters=[in_path("number", 2**31 - 1)]),
        "/api/lens": {
            "post": sends("Look at the lens and its views, leave one out or take it back, drop the worst, start over, "
                          "keep it; go back to an earlier calibration, take one away as a file, use one that came in "
                          "(administration).", object_of({"do": {"enum": [
                              "look", "leave_out", "take_back", "drop_worst", "clear", "keep", "back", "export",
                              "import", "compare"]}}, view={"type": "integer"}, name=TEXT),
                          {"anyOf": [ref("LensState"), object_of({"name": TEXT, "text": TEXT})]}, 401, 404, 409, 507,
                          signed=True),
            "put": {"summary": "The next piece of a calibration, up to 48 kB (administration).",
                    "parameters": [{**query("at", {"type": "integer", "minimum": 0}, "how much came before"),
                                    "required": True}],
                    "requestBody": {"required": True, "content": {"application/octet-stream": {"schema": {
                        "type": "string"}}}},
                    "security": [{"session": [], "token": []}],
                    "responses": answers(ref("LensState"), 400, 401, 409, 413, 507)}},
        "/api/lens/{number}.jpg": get("A recent picture of the camera, not undistorted.",
                                      {"type": "string"}, 404, mimetype="image/jpeg",
                                      parameters=[in_path("number", 2**31 - 1)]),
        "/api/health": get("Current faults of the machine, and the guide's progress.", object_of(
            {"lines": list_of(_THING), "guide": {"type": ["object", "null"]}})),
        "/api/sheets/{name}.pdf": get("A sheet to print.", {"type": "string"}, 404, mimetype="application/pdf",
                                      parameters=[{**_NAME, "name": "name"}]),
        "/api/cameras/{ticket}.jpg": get("A recent picture of a camera, by its secret name.",
                                         {"type": "string"}, 404, mimetype="image/jpeg", parameters=[_NAME]),
    }
