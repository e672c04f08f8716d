"""What the page requests besides the live view: previews, earlier turns, pictures of the table, files, set-ups."""

from __future__ import annotations

from http import HTTPStatus

from flask import Blueprint, Response, current_app, request

from scoring.notation import SQUARE
from web.answers import (
    asked_object,
    asked_squares,
    error_answer,
    json_answer,
    picture_answer,
    table_picture_answer,
)
from web.protocol import CommandError, LiveSession
from web.reveal import revealed, untold, without_forecast
from web.rights import Right, needs
from web.setups import setups
from web.views import PastView

MOST_PREVIEWS = 12
looking = Blueprint("looking", __name__)


def _session() -> LiveSession:
    session: LiveSession = current_app.extensions["session"]
    return session


@looking.post("/api/preview")
@needs(Right.WATCH)  # it changes nothing; a POST only because its request is too long for a URL
def preview() -> Response:
    """Preview the effect of commands without executing them."""
    commands = asked_object().get("commands")
    if not isinstance(commands, list) or len(commands) > MOST_PREVIEWS or \
            not all(isinstance(c, dict) for c in commands):
        raise CommandError("malformed", f"commands: must be a list of up to {MOST_PREVIEWS} commands")
    return json_answer({"previews": _session().preview(commands)})


@looking.get("/api/moves")
def moves() -> Response:
    """The moves possible now, before the next tile and after the last one."""
    return json_answer(_session().moves())


@looking.get("/api/round")
def game_round() -> Response:
    """The tournament's round with its current clock: the one in a view is as old as the view."""
    return json_answer({"round": _session().game_round()})


@looking.get("/api/fits")
def fits() -> Response:
    """Where ``?tile=`` fits, which kinds fit at ``?at=x,y``, with both the objections to that tile there, or the number
    that fit in each gap."""
    tile, at = request.args.get("tile"), request.args.get("at")
    return json_answer(_session().fits(tile, None if at is None else SQUARE.parse(at)))


@looking.get("/api/turns")
def turns() -> Response:
    """The turns played so far."""
    return json_answer({"turns": _session().past.turns()})


@looking.get("/api/turns/<int(max=9999):turn>")
def turn_view(turn: int) -> Response:
    """The view as it was when a turn was over."""
    view = _session().past.view_after(turn)
    if view is None:
        return error_answer("no_such_turn", "this turn was not played", HTTPStatus.NOT_FOUND)
    return _earlier(view)


@looking.get("/api/entries/<int(max=2147483647):seq>/before")
def before_entry(seq: int) -> Response:
    """The view right before an entry; ``after`` is the entry after which to insert an event of that moment."""
    return _at(seq, before=True)


@looking.get("/api/entries/<int(max=2147483647):seq>/after")
def after_entry(seq: int) -> Response:
    """The view right after an entry (0: before all)."""
    return _at(seq, before=False)


def _at(seq: int, *, before: bool) -> Response:
    view = _session().past.view_at(seq, before=before)
    if view is None:
        return error_answer("unknown_entry", "there is no such move", HTTPStatus.NOT_FOUND)
    return _earlier(view)


def _earlier(view: PastView) -> Response:
    """An earlier view; neither final scoring nor forecast reveals more than has been presented."""
    now = _session().view()
    then: PastView = {**view, "reveal": now["reveal"]}
    shown = revealed(then)
    return json_answer(without_forecast(shown) if untold(now) and shown["reveal"] is None else shown)


@looking.get("/api/turns/<int(max=9999):turn>/picture.jpg")
def turn_picture(turn: int) -> Response:
    """The table in a turn, or with x, y, width and height these squares rectified."""
    return _picture(turn)


@looking.get("/api/picture.jpg")
def picture() -> Response:
    """The newest picture of the table, or with x, y, width and height these squares rectified."""
    return _picture(None)


def _picture(turn: int | None) -> Response:
    return table_picture_answer(_session().past.picture(turn, asked_squares()))


@looking.get("/api/camera")
def camera() -> Response:
    """The camera's picture and its reading."""
    return json_answer(_session().seeing.seen())


@looking.post("/api/camera")
@needs(Right.PLAY)
def camera_switch() -> Response:
    """Start or pause watching, while people enter the game by hand; point at a tile in the picture; or have focus and
    exposure measured again."""
    asked = asked_object()
    on, point = asked.get("watching"), asked.get("point")
    if asked.get("measure") is True:
        _session().seeing.measure()
    elif point is not None:
        if not isinstance(point, list) or len(point) != 2 or \
                not all(isinstance(v, int | float) and not isinstance(v, bool) and 0 <= v < 100_000 for v in point):
            raise CommandError("malformed", "point: must be two numbers, pixels of the camera's picture")
        _session().seeing.point(float(point[0]), float(point[1]))
    elif not isinstance(on, bool):
        raise CommandError("malformed", "watching: must be true or false")
    else:
        _session().seeing.watch(on)
    return json_answer(_session().seeing.seen())


@looking.get("/api/camera/<int(max=2147483647):number>.jpg")
def camera_picture(number: int) -> Response:
    """One of the camera's newest pictures."""
    return picture_answer(_session().seeing.picture(number))


@looking.get("/api/ghost")
def ghost() -> Response:
    """The camera's view at the start of the game compared with the current one: how far to push the camera back."""
    return json_answer(_session().seeing.ghost())


@looking.get("/api/ghost/<int(max=2147483647):number>.jpg")
def ghost_view(number: int) -> Response:
    """That view."""
    return _ghost(number, edges=False)


@looking.get("/api/ghost/<int(max=2147483647):number>.png")
def ghost_edges(number: int) -> Response:
    """Its edges, as an overlay for the live picture."""
    return _ghost(number, edges=True)


def _ghost(number: int, *, edges: bool) -> Response:
    return picture_answer(_session().seeing.ghost_picture(number, edges), "image/png" if edges else "image/jpeg")


@looking.get("/api/corrections")
def corrections() -> Response:
    """What people have changed, newest first."""
    return json_answer({"corrections": _session().past.corrections()})


@looking.get("/api/games")
def games() -> Response:
    """All stored games, newest first."""
    return json_answer({"games": _session().past.games()})


@looking.get("/api/setups")
def new_games() -> Response:
    """The choices for a new game: editions, house rules, boxes, sets of tile pictures."""
    return json_answer({**setups(), "art": _session().art_sets()})


@looking.get("/api/own-tiles")
def own_tiles() -> Response:
    """The kinds of which the board can be drawn with pictures of the owner's tiles."""
    return json_answer(_session().own_tiles())


@looking.get("/own-tiles/<tag>/<tile>-<int(max=99):copy>.jpg")
def own_tile(tag: str, tile: str, copy: int) -> Response:
    """One of the owner's tiles, upright. The tag versions these pictures, so a browser may cache them."""
    found = _session().own_tile(tile, copy) if tag == _session().own_tiles()["tag"] else None
    if found is None:
        return error_answer("no_picture", "there is no such picture", HTTPStatus.NOT_FOUND)
    answer = Response(found, mimetype="image/jpeg")
    answer.set_etag(tag)
    answer.make_conditional(request)  # changes it in place
    return answer


@looking.get("/api/export/game.json")
def export_transcript() -> Response:
    """The game as transcript/1."""
    return _file(_session().past.export("transcript"), "application/json", "game.json")


@looking.get("/api/export/scores.csv")
def export_scores() -> Response:
    """Every score event as a table."""
    return _file(_session().past.export("csv"), "text/csv", "scores.csv")


def _file(text: str, mimetype: str, name: str) -> Response:
    answer = Response(text, mimetype=mimetype)
    answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer
