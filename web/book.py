"""The evening book: every stored game at a URL of its own, and the players' statistics. Reading is open like watching;
merging and removing players and making films needs the table's PIN."""

from __future__ import annotations

from http import HTTPStatus

from flask import Blueprint, Response, current_app, render_template, request, send_file

from web.access import access
from web.answers import asked_object, asked_squares, error_answer, json_answer, table_picture_answer
from web.firstview import chosen_theme
from web.join import code
from web.protocol import Book, CommandError, LiveSession
from web.rights import Right, needs

keeping = Blueprint("keeping", __name__)
FILES = {"game.json": ("json", "application/json"), "scores.csv": ("csv", "text/csv"),
         "game.jcz": ("jcz", "application/json"), "board.png": ("png", "image/png")}
SHEETS = ("fonts", "tokens", "players", "parts", "sheets", "board", "more", "book")
_NUMBER = "<int(max=2147483647):game>"


def _book() -> Book:
    session: LiveSession = current_app.extensions["session"]
    return session.book


# -- pages ----------------------------------------------------------------------------------------------------------


@keeping.get("/book")
def book() -> str:
    """All evenings."""
    return _page("")


@keeping.get(f"/book/{_NUMBER}")
def evening(game: int) -> str:
    """One game, at a permanent URL."""
    return _page(game)


def _page(game: int | str) -> str:
    return render_template("book.html", game=game, pin=access().state()["pin"], theme=chosen_theme(), sheets=SHEETS)


# -- all of them ----------------------------------------------------------------------------------------------------


@keeping.get("/api/book")
def overview() -> Response:
    """Games, players, pairs, records."""
    return json_answer(_book().overview())


@keeping.post("/api/book")
@needs(Right.PLAY)
def change() -> Response:
    """Merge or separate players, remove or restore them, count a game or not, name the place."""
    return json_answer(_book().change(asked_object()))


@keeping.get("/api/book/book.json")
def whole_book() -> Response:
    """The whole book as a file."""
    return _file(_book().export("json").encode(), "application/json", "bastide-book.json")


@keeping.get("/api/book/book.csv")
def table_of_games() -> Response:
    """CSV with a line for each player of each game."""
    return _file(_book().export("csv").encode(), "text/csv", "bastide-book.csv")


# -- one of them ----------------------------------------------------------------------------------------------------


@keeping.get(f"/api/book/games/{_NUMBER}")
def game_kept(game: int) -> Response:
    """A game with all data of the book's page."""
    return json_answer(_book().game(game))


@keeping.get(f"/api/book/games/{_NUMBER}/luck")
def game_luck(game: int) -> Response:
    """The value of each player's draws against the average tile of the box."""
    return json_answer({"luck": _book().luck(game)})


@keeping.get(f"/api/book/games/{_NUMBER}/<any({','.join(map(repr, FILES))}):name>")
def game_file(game: int, name: str) -> Response:
    """The game as a file."""
    form, mimetype = FILES[name]
    stem, _, suffix = name.partition(".")
    return _file(_book().file(game, form), mimetype, f"bastide-{game}-{stem}.{suffix}")


@keeping.get(f"/api/book/games/{_NUMBER}/picture.jpg")
def game_picture(game: int) -> Response:
    """The last picture of the table, or with x, y, width and height these squares rectified."""
    return _picture(game, None)


@keeping.get(f"/api/book/games/{_NUMBER}/turns/<int(max=9999):turn>/picture.jpg")
def game_turn_picture(game: int, turn: int) -> Response:
    """The same in a turn."""
    return _picture(game, turn)


@keeping.get(f"/api/book/games/{_NUMBER}/film.webm")
def film(game: int) -> Response:
    """The time-lapse; supports range requests, which phones make."""
    found = _book().film(game)
    if found is None:
        return error_answer("no_film", "there is no time-lapse of this game yet", HTTPStatus.NOT_FOUND)
    return send_file(found.resolve(), "video/webm", conditional=True, download_name=f"bastide-{game}.webm",
                     as_attachment="download" in request.args)


@keeping.post(f"/api/book/games/{_NUMBER}/film")
@needs(Right.PLAY)
def make_film(game: int) -> Response:
    """Start making the time-lapse."""
    return json_answer({"film": _book().make_film(game)})


@keeping.get(f"/api/book/games/{_NUMBER}/handover.svg")
def handover(game: int) -> Response:
    """The link that logs the game in Board Game Stats as a QR code."""
    found = _book().game(game)["handover"]
    if not isinstance(found, str):
        raise CommandError("unknown_game", f"game {game} is not over")
    return Response(code(found, "l"), mimetype="image/svg+xml")


def _picture(game: int, turn: int | None) -> Response:
    return table_picture_answer(_book().picture(game, turn, asked_squares()))


def _file(data: bytes, mimetype: str, name: str) -> Response:
    answer = Response(data, mimetype=mimetype)
    answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer
