"""The API as an OpenAPI 3.1 document, at ``/api/openapi.json``.

Moves are taken from the engine's own list of events, so that a new expansion is included automatically. A test compares
the document with the application's routes, and sends random requests generated from it to the running server.
"""

from __future__ import annotations

from functools import cache
from typing import get_args

from flask import Blueprint, Response

from scoring.events import event_fields
from web.described import ANSWERS, schemas
from web.openapi_machine import machine_paths
from web.openapi_parts import COUNT as _COUNT
from web.openapi_parts import FLAG as _FLAG
from web.openapi_parts import NUMBER as _NUMBER
from web.openapi_parts import TEXT as _TEXT
from web.openapi_parts import Schema
from web.openapi_parts import answers as _answers
from web.openapi_parts import get as _get
from web.openapi_parts import in_path as _in_path
from web.openapi_parts import list_of as _list
from web.openapi_parts import object_of as _object
from web.openapi_parts import query as _query
from web.openapi_parts import ref as _ref
from web.openapi_parts import sends as _sends
from web.states import Fits
from web.stream import compact

describing = Blueprint("describing", __name__)
_SQUARE: Schema = {"type": "array", "items": _NUMBER, "minItems": 2, "maxItems": 2,
                   "description": "column and row, the start tile at 0, 0; rows grow to the south"}
_FIELDS: dict[str, Schema] = {  # by kind of value
    "player": _COUNT, "tile": _TEXT, "square": _SQUARE, "part": _COUNT, "small": _COUNT,
    "rot": {"type": "integer", "minimum": 0, "maximum": 3, "description": "quarter turns clockwise"},
    "figure": _TEXT, "feature": _TEXT, "where": _TEXT, "flag": _FLAG, "word": _TEXT,
    "path": {"type": "array", "items": _SQUARE}, "ref": {}, "refs": {},
}


def _moves() -> list[Schema]:
    """The schemas of all events of a table."""
    return [_object({"do": {"const": do}}, **{name: _FIELDS[kind] for name, kind in fields.items()})
            for do, fields in event_fields().items()]


def _commands() -> list[Schema]:
    more: dict[str, Schema] = {
        "based_on": {"type": ["integer", "null"], "description": "the version this was decided on; when the game has "
                     "another one by now, the answer is 409 with the fresh view"},
        "who": {"type": "string", "description": "whose device; the first 40 characters are kept"}}
    seq: dict[str, Schema] = {"seq": _NUMBER}
    body: dict[str, Schema] = {"body": _ref("Move")}
    return [
        _object({"do": {"const": "undo"}}, **more),
        _object({"do": {"const": "retract"}, **seq}, **more),
        _object({"do": {"const": "amend"}, **seq, **body}, **more),
        _object({"do": {"const": "insert"}, **body}, after={**_NUMBER, "description": "the entry it came right after"},
                turn={**_COUNT, "description": "or the turn it was missed in: there it stands where the rules put it"},
                **more),
        _object({"do": {"const": "shift"}, **seq, "turn": {**_COUNT, "description": "moved to that turn, where the "
                 "rules put it, as what its player did then"}}, **more),
        _object({"do": {"const": "answer"}, "question": {"type": ["integer", "string"], "description":
                 "the id of a question or of an open question; what answers one is put where it belongs in the game;"
                 " that nothing happened is told by the choice `nothing`, where the question has it"},
                 "choice": {"type": ["integer", "string"]}}, **body, **more),
        _object({"do": {"const": "new_game"}, "setup": _ref("Setup")}, **more),
        _object({"do": {"const": "open_game"}, "game": _NUMBER}, **more),
        _object({"do": {"const": "reveal"}, "step": {"anyOf": [{"type": "integer", "minimum": -1}, {"const": "end"}],
                 "description": "the event of the final scoring that all screens show, from 0; as many as there are: "
                 "the winner; -1: nothing yet; end: everything"}},
                lead={"type": "string", "maxLength": 40, "description": "a name of the device that leads"}, **more),
        _object({"do": {"const": "confirm"}, "player": {**_COUNT, "description": "agrees with a tournament's result"}},
                **more),
        _object({"do": {"const": "clock"}, "act": {"enum": ["press", "stop"], "description": "the chess clock: press "
                                                   "ends the turn of whose time runs"}}, **more),
        {"allOf": [_ref("Move"), {"type": "object", "properties": more}]},
    ]


def _schemas() -> dict[str, Schema]:
    player = _object({"index": _COUNT, "name": _TEXT, "colour": _TEXT, "score": _NUMBER, "projected": _NUMBER})
    return {
        **schemas(*ANSWERS),
        "Error": _object({"error": _object({"code": {**_TEXT, "description": "for programs"},
                                            "text": {**_TEXT, "description": "one sentence for people"}})},
                         view={**_ref("View"), "description": "the fresh view, when the code is stale"}),
        "Overlay": _object({"version": _COUNT, "update": _COUNT, "phase": _TEXT, "players": _list(player),
                            "feed": _list({"type": "object"}), "status": _object({"chip": _TEXT})}),
        "Move": {"anyOf": _moves()},
        "Command": {"anyOf": _commands()},
        "Setup": _object({"edition": _TEXT, "players": {**_list(_object({"name": _TEXT, "colour": _TEXT})),
                                                        "minItems": 1, "maxItems": 6}},
                         expansions=_list(_TEXT), rules={"type": "object"},
                         aid={"enum": ["score", "helper", "coach"]}, art=_TEXT),
        "Session": _object({"right": {"enum": ["watch", "play", "admin"]},
                            "token": {"type": ["string", "null"], "description": "to be repeated in X-CSRF-Token"},
                            "pin": {"enum": ["set", "unset", "machine"]}, "admin_pin": _FLAG,
                            "owner": {**_FLAG, "description": "whether this device may change PINs, end sessions and "
                                      "restore a backup"},
                            "name": {"type": ["string", "null"], "description": "whose device this is"},
                            "failed": {"type": ["integer", "null"], "description": "wrong PINs since the program "
                                       "began, for administrators"},
                            "set_at_s": {"type": ["number", "null"]}, "set_from": {"type": ["string", "null"]}}),
        "Sessions": _object({
            "sessions": _list(_object({"session": _TEXT, "right": {"enum": ["play", "admin"]}, "name": _TEXT,
                                       "kind": _TEXT, "address": _TEXT, "since_s": _NUMBER, "seen_s": _NUMBER,
                                       "mine": _FLAG})),
            "failed": _list(_object({"address": _TEXT, "count": _COUNT, "last_s": _NUMBER, "known": _FLAG}))}),
        "Pin": {"type": "string", "pattern": "^[0-9]{4,12}$"},
    }


def _paths() -> Schema:
    seq, turn = _in_path("seq", 2**31 - 1), _in_path("turn", 9999)
    part = [_query(n, _NUMBER, "with all four, those squares from above") for n in ("x", "y", "width", "height")]
    after = [_query("after", _TEXT, "the id of the last event that is known; as Last-Event-ID")]
    key = [_query("key", _TEXT, "the read-only key, from outside the local network")]
    raw: Schema = {"type": "string"}
    game: Schema = {"type": "object"}
    return {
        "/api/state": _get("The whole view.", _ref("View")),
        "/api/events": _get("The view, then its changes, as numbered server-sent events: `view` (whole), `change` "
                            "(`base`, `set`, `drop`), `beat`.", raw, 503, parameters=after,
                            mimetype="text/event-stream"),
        "/api/commands": {"post": _sends("Carry out one command.", _ref("Command"), _ref("View"), 401, 404, 409, 507,
                                         signed=True)},
        "/api/preview": {"post": _sends("Preview the effect of commands without executing them.",
                                        _object({"commands": {**_list(_ref("Command")), "maxItems": 12}}),
                                        _object({"previews": _list(_ref("PreviewRow"))}))},
        "/api/tiles": _get("Shapes of every tile kind.", game, 400,
                           parameters=[_query("expansions", _TEXT, "a,b; otherwise those of the running game")]),
        "/api/candidates/{seq}": _get("What the tile of an entry may be, best first.",
                                      _object({"seq": _COUNT, "candidates": _list(_ref("TileCandidate"))}), 404,
                                      parameters=[seq]),
        "/api/crops/{seq}.jpg": _get("The camera's picture behind an entry.", raw, 404, parameters=[seq],
                                     mimetype="image/jpeg"),
        "/api/notices/{name}.jpg": _get("A square that people are asked to put right, as it was or as it is.", raw, 404,
                                        parameters=[{"name": "name", "in": "path", "required": True, "schema": _TEXT}],
                                        mimetype="image/jpeg"),
        "/api/moves": _get("The moves possible now, before the next tile and after the last one.", _ref("MovesNow")),
        "/api/round": _get("The tournament's round that is played, with the clock as it is now.",
                           _object({"round": {"anyOf": [_ref("RoundView"), {"type": "null"}]}})),
        "/api/fits": _get("Where a kind of tile fits, which kinds fit on a square, with both what is against each "
                          "quarter turn of it there, with neither how many fit anywhere.",
                         {"anyOf": [_ref(kind.__name__) for kind in get_args(Fits)]}, 400, parameters=[
                              _query("tile", _TEXT, "a kind of tile"), _query("at", _TEXT, "a square: 3,-1")]),
        "/api/turns": _get("The turns played so far.", _object({"turns": _list(_ref("TurnRow"))})),
        "/api/turns/{turn}": _get("The view as it was when a turn was over.", _ref("PastView"), 404, parameters=[turn]),
        "/api/entries/{seq}/before": _get("The view as it was right before an entry; ``after`` is where something is "
                                          "inserted that happened just then, ``moves`` what could be done.",
                                          _ref("PastView"), 404, parameters=[seq]),
        "/api/entries/{seq}/after": _get("The view as it was when an entry had happened (0: nothing had).",
                                         _ref("PastView"), 404, parameters=[seq]),
        "/api/turns/{turn}/picture.jpg": _get("The table in a turn.", raw, 404, parameters=[turn, *part],
                                              mimetype="image/jpeg"),
        "/api/picture.jpg": _get("The newest picture of the table.", raw, 404, parameters=part,
                                 mimetype="image/jpeg"),
        "/api/camera": {**_get("What the camera sees: tiles, readings, figures, what moves, in pixels of the picture.",
                               _ref("SeenState")),
                        "post": _sends("Let the camera watch, or rest; say where in its picture a tile lies; or have "
                                       "focus and light measured again.",
                                       _object({}, watching=_FLAG, measure=_FLAG,
                                               point={**_list({"type": "number"}), "minItems": 2, "maxItems": 2}),
                                       _ref("SeenState"), 401, 409, signed=True)},
        "/api/camera/{number}.jpg": _get("One of the camera's newest pictures.", raw, 404, mimetype="image/jpeg",
                                         parameters=[_in_path("number", 2**31 - 1)]),
        "/api/ghost": _get("The view that the game began with beside that of now: how far it is to be pushed back.",
                           _ref("GhostState")),
        "/api/ghost/{number}.jpg": _get("That view.", raw, 404, mimetype="image/jpeg",
                                        parameters=[_in_path("number", 2**31 - 1)]),
        "/api/ghost/{number}.png": _get("Its edges.", raw, 404, mimetype="image/png",
                                        parameters=[_in_path("number", 2**31 - 1)]),
        "/api/corrections": _get("What people have changed, newest first.",
                                 _object({"corrections": _list(_ref("CorrectionRow"))})),
        "/api/games": _get("All games that are kept, newest first.", _object({"games": _list(_ref("GameRow"))})),
        "/api/setups": _get("What a new game can be.", game),
        "/api/own-tiles": _get("Which kinds the board can be drawn with as the owner's box shows them.", _object({
            "tag": {**_TEXT, "description": "changes with the pictures, /own-tiles/{tag}/{kind}-{number}.jpg"},
            "tiles": {"type": "object", "description": "how many pictures there are of each kind, from 0"}})),
        "/api/export/game.json": _get("The game as transcript/1.", game),
        "/api/export/scores.csv": _get("Every score event as a table.", raw, mimetype="text/csv"),
        "/api/session": {**_get("What this device may do.", _ref("Session")),
                         "post": _sends("Sign in with a PIN.", _object({"pin": _ref("Pin")}), _ref("Session"), 409),
                         "put": _sends("Say whose device this is.", _object({"name": {**_TEXT, "maxLength": 24}}),
                                       _ref("Session"), 401, 507, signed=True),
                         "delete": {"summary": "Sign out: the session ends.",
                                    "responses": _answers(_ref("Session"), 507)}},
        "/api/sessions": {"post": _sends(
            "Which devices are signed in and where wrong PINs came from; end one, or all others (administration).",
            _object({"do": {"enum": ["look", "end", "end_others"]}}, session=_TEXT), _ref("Sessions"), 401, 404, 507,
            signed=True)},
        "/api/pin": {"post": _sends("Set the table's first PIN.", _object({"pin": _ref("Pin")}, admin=_ref("Pin")),
                                    _ref("Session"), 409, 507),
                     "put": _sends("Change PINs (administration).", _object({}, pin=_ref("Pin"), admin=_ref("Pin")),
                                   _ref("Session"), 401, 409, 507, signed=True)},
        "/api/join": _get("Where other devices find the page.", _object({"addresses": _list(_TEXT)})),
        "/api/join.svg": _get("The same as a QR code.", raw, mimetype="image/svg+xml"),
        "/api/doctor": _get("Whether the machine is all right: the worst of all, and a line for each check.", _object({
            "state": {"enum": ["ok", "warn", "fail"]}, "at_s": {"type": ["number", "null"]},
            "checks": _list(_object({"what": _TEXT, "state": {"enum": ["ok", "warn", "fail"]}, "text": _TEXT,
                                     "do": _TEXT}))}), 404),
        "/api/aim": {"post": _sends("View, tilt, focus, glare and light of the camera's newest picture "
                                    "(administration).", _object({}), _ref("AimState"), 401, 409, signed=True)},
        "/api/calibration": {**_get("The calibrations, how well they fit, and the running one.",
                                    _ref("TuningState")),
                             "post": _sends("Start a calibration (administration).", _object(
                                 {"what": {"enum": ["table", "colours", "supply", "trial"]}}, by=_TEXT, camera=_TEXT),
                                 _ref("TuningState"), 401, 409, signed=True)},
        "/api/calibration/{kind}": {"delete": {
            "summary": "Stop using a calibration that was made on the page (administration).",
            "parameters": [{"name": "kind", "in": "path", "required": True,
                            "schema": {"enum": ["lens", "table", "colours"]}}],
            "security": [{"session": [], "token": []}],
            "responses": _answers(_ref("TuningState"), 400, 401, 409, 507)}},
        "/api/backup": {
            "post": _sends("Make a backup or a support file, check or restore what came in, forget all, or look "
                           "(administration).",
                           _object({"do": {"enum": ["look", "make", "support", "check", "restore", "forget"]}}),
                           _ref("BackupState"),
                           401, 409, 507, signed=True),
            "put": {"summary": "The next piece of a backup to restore, up to 48 kB (administration).",
                    "parameters": [{**_query("at", {"type": "integer", "minimum": 0}, "how much came before"),
                                    "required": True}],
                    "requestBody": {"required": True, "content": {"application/octet-stream": {"schema": raw}}},
                    "security": [{"session": [], "token": []}],
                    "responses": _answers(_ref("BackupState"), 400, 401, 409, 413, 507)}},
        "/api/backup/{ticket}.zip": _get("A backup that was made, by the secret name its maker was told.", raw, 404,
                                         mimetype="application/zip", parameters=[
                                             {"name": "ticket", "in": "path", "required": True, "schema": _TEXT}]),
        **machine_paths(),
        **_book_paths(part),
        "/api/overlay": _get("What an overlay for streams shows.", _ref("Overlay"), parameters=key),
        "/api/overlay/events": _get("The same as server-sent events.", raw, 503, parameters=[*key, *after],
                                    mimetype="text/event-stream"),
        "/api/overlay/key": _get("The read-only key, for those who may change the game.",
                                 _object({"key": {"type": ["string", "null"]}})),
        "/api/openapi.json": _get("This document.", game),
    }


def _book_paths(part: list[Schema]) -> Schema:
    game, raw, turn = _in_path("game", 2**31 - 1), {"type": "string"}, _in_path("turn", 9999)
    thing: Schema = {"type": "object"}
    book = _object({"games": _list(thing), "players": _list(thing), "pairs": _list(thing), "records": _list(thing)})
    one = "/api/book/games/{game}"
    return {
        "/api/book": {**_get("All stored games and the players' statistics.", book),
                      "post": _sends("Merge or part players, remove one or bring them back, have a game count or not, "
                                     "name the place.", _object(
                                         {"do": {"enum": ["merge", "part", "remove", "bring_back", "count", "place"]}},
                                         player=_TEXT, into=_TEXT, game=_COUNT, counts=_FLAG, place=_TEXT), book,
                                     401, 404, 507, signed=True)},
        "/api/book/book.json": _get("The whole book as a file.", thing),
        "/api/book/book.csv": _get("A line for each player of each game.", raw, mimetype="text/csv"),
        one: _get("A game: its row, last view, what each turn came to, the link that hands it on.", thing, 404,
                  parameters=[game]),
        f"{one}/luck": _get("What each player drew against the average tile of the box.",
                            _object({"luck": _list(thing)}), 404, parameters=[game]),
        f"{one}/{{name}}": _get("The game as a file: transcript, scores, saved game of JCloisterZone, picture.", thing,
                                404, 409, parameters=[game, {
                                    "name": "name", "in": "path", "required": True, "schema": {
                                        "enum": ["game.json", "scores.csv", "game.jcz", "board.png"]}}],
                                others={"text/csv": _TEXT, "image/png": raw}),
        f"{one}/picture.jpg": _get("The last picture of the table.", raw, 404, parameters=[game, *part],
                                   mimetype="image/jpeg"),
        f"{one}/turns/{{turn}}/picture.jpg": _get("The table in a turn.", raw, 404, parameters=[game, turn, *part],
                                                  mimetype="image/jpeg"),
        f"{one}/film.webm": _get("The time-lapse of the game.", raw, 404, mimetype="video/webm", parameters=[
            game, _query("download", _TEXT, "as a file to keep")]),
        f"{one}/film": {"post": {**_sends("Start making the time-lapse.", _object({}),
                                          _object({"film": {"enum": ["making", "there"]}}), 401, 404, 409,
                                          signed=True), "parameters": [game]}},
        f"{one}/handover.svg": _get("The link for Board Game Stats as a QR code.", raw, 404, parameters=[game],
                                    mimetype="image/svg+xml"),
    }


@cache
def document() -> Schema:
    """The whole document."""
    return {
        "openapi": "3.1.0",
        "info": {"title": "bastide", "version": "1", "description": "A table of Carcassonne: what lies there, what it "
                 "scores, and how people correct it. Watching is open on the local network; changing takes the PIN."},
        "paths": _paths(),
        "components": {"schemas": _schemas(), "securitySchemes": {
            "session": {"type": "apiKey", "in": "cookie", "name": "bastide"},
            "token": {"type": "apiKey", "in": "header", "name": "X-CSRF-Token"}}},
    }


@describing.get("/api/openapi.json")
def openapi() -> Response:
    """The OpenAPI document."""
    return Response(_text(), mimetype="application/json")


@cache
def _text() -> str:
    return compact(document())
