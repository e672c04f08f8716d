"""The book of one table (`web.protocol.Book`): all games, each with everything that is kept of it.

Read-only: a game opened here does not go back on the table. Results are computed once and cached in ``book-games.json``
until the game's log or the program changes.
"""

from __future__ import annotations

import csv
import io
import json
import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TypedDict, TypeVar

from bastide import __version__
from bastide.book.films import Films
from bastide.book.frames import FrameRow, frames
from bastide.book.handover import link
from bastide.book.people import People, Said
from bastide.book.statistics import Together, statistics
from bastide.book.summary import Row, summary
from bastide.errors import Failure
from bastide.export import jcz, result_sheet
from bastide.files.writing import write_whole
from bastide.log.replay import before_the_end, played, scores_csv, transcript
from bastide.log.store import Store
from bastide.log.stored import StoredGame
from bastide.log.table_pictures import table_picture
from scoring.errors import InvalidNotation
from scoring.log import effective, state_of
from scoring.luck import luck
from scoring.projection import live_view
from scoring.rules import changes, editions
from scoring.transcript import Game, turns_of
from scoring.views import GameView
from web.protocol import CommandError
from web.reveal import without_forecast
from web.views import QuestionView, StatusView

CACHE = "book-games.json"
FORMAT = 1
OPENED = 4  # games cached completely
SAID = {"merge", "part", "remove", "bring_back", "count", "place"}
_log = logging.getLogger("bastide.book")
T = TypeVar("T")


class SeenRow(Row):
    """A game's public row: whether it ``counts``, and the state of its ``film``."""

    counts: bool
    film: str


class Overview(Together):
    """The whole book: ``games`` newest first, who was ``merged`` into whom, and what the place is called."""

    place: str
    merged: Mapping[str, str]
    games: list[SeenRow]


class Result(TypedDict):
    """The result of a game; ``winners`` are player indices."""

    scores: list[int]
    winners: list[int]


class Frame(FrameRow):
    """A turn with the tile that was laid in it, and whether there is a picture of it."""

    tile: str | None
    picture: bool


class BookView(GameView):
    """The last view of a game, as a table's would be."""

    game: int
    questions: list[QuestionView]
    doubts: list[QuestionView]
    status: StatusView
    aid: str
    rules: Mapping[str, object]
    edition_title: str


class GameDocument(TypedDict):
    """A game with a frame for each turn; ``handover`` is the Board Game Stats link, once it is over."""

    row: SeenRow
    view: BookView
    frames: list[Frame]
    place: str
    film: str
    handover: str | None


class LuckRow(TypedDict):
    """Statistics of a player's draws (`scoring.luck`)."""

    drawn: int
    worth: float
    expected: float
    points: float
    above: float


class Evenings:
    """All methods may be called from any thread; they raise CommandError. The game ``untold()`` is not over here: its
    winner is not shown before it is revealed."""

    def __init__(self, data: Path, store: Store, films: Films, untold: Callable[[], int | None] = lambda: None) -> None:
        self._untold, self._as_played = untold, dict[tuple[int, str], Row | None]()
        self._store, self._films, self._people = store, films, People(data)
        self._cache = data / CACHE
        self._lock = threading.Lock()
        self._rows: dict[int, tuple[str, Row | None]] | None = None
        self._opened: OrderedDict[tuple[int, str], StoredGame] = OrderedDict()

    # -- all of them ------------------------------------------------------------------------------------------------

    def overview(self) -> Overview:
        """Every game and everybody, as the page shows them."""
        said = self._said()
        rows = self._all()
        told = statistics(rows, said)
        return {"players": told["players"], "pairs": told["pairs"], "records": told["records"],
                "removed": told["removed"], "place": said.place, "merged": said.merged,
                "games": [self._seen(r, said) for r in sorted(rows, key=lambda r: (-r["created_s"], -r["game"]))]}

    def results(self) -> dict[int, Result]:
        """The scores and winners of all games."""
        return {r["game"]: {"scores": [p["score"] for p in r["players"]], "winners": r["winners"]} for r in self._all()}

    def change(self, data: Mapping[str, object]) -> Overview:
        """Merge, separate, remove or restore a person, count a game or not, name the place; returns the overview."""
        do, key = data.get("do"), data.get("player", "")
        if not isinstance(do, str) or do not in SAID or not isinstance(key, str) or len(key) > 200:
            raise CommandError("malformed", f"do: must be one of {', '.join(sorted(SAID))}")
        known = {self._said().person(p["name"]) for row in self._all() for p in row["players"]}
        if do in ("merge", "part", "remove", "bring_back") and key not in known | set(self._said().merged):
            raise CommandError("unknown_player", "nobody of that name is in the book")
        try:
            match do:
                case "merge":
                    into = data.get("into")
                    if not isinstance(into, str) or into not in known or into == key:
                        raise CommandError("unknown_player", "into: must be another player of the book")
                    self._people.merge(key, into)
                case "part":
                    self._people.part(key)
                case "remove" | "bring_back":
                    self._people.remove(key, back=do == "bring_back")
                case "count":
                    self._people.count(self._row(data.get("game"))["game"], counts=data.get("counts") is True)
                case "place":
                    place = data.get("place")
                    if not isinstance(place, str):
                        raise CommandError("malformed", "place: must be a text")
                    self._people.name_place(place)
        except Failure as e:
            raise CommandError("not_saved", str(e)) from e
        return self.overview()

    def export(self, form: str) -> str:
        """The whole book as ``json``, or its games as ``csv``: a line for each player of each game."""
        book = self.overview()
        if form == "json":
            return json.dumps(book, indent=1, ensure_ascii=False)
        out = io.StringIO()
        lines = csv.writer(out, lineterminator="\n")
        lines.writerow(["game", "began_s", "edition", "expansions", "player", "colour", "score", "rank", "winner"])
        for game in reversed([g for g in book["games"] if g["over"]]):
            for n, p in enumerate(game["players"]):
                name = f"'{p['name']}" if p["name"][:1] in ("=", "+", "-", "@", "\t") else p["name"]
                lines.writerow([game["game"], round(game["began_s"] or game["created_s"]), game["edition"],
                                " ".join(game["expansions"]), name, p["colour"], p["score"], p["rank"],
                                int(n in game["winners"])])
        return out.getvalue()

    # -- one of them ------------------------------------------------------------------------------------------------

    def game(self, number: int) -> GameDocument:
        """All data of a game."""
        row, said, found = self._row(number), self._said(), self._load(number)
        state = state_of(found.setup, found.entries)
        last = live_view(state, found.entries, len(found.entries))
        view = without_forecast(last) if number == self._untold() else last
        shown = self._seen(row, said)
        kept = self._store.pictures.stills(number)
        turns = {t.turn: t for t in played(found.setup, found.entries)}
        grown: list[Frame] = [
            {**f, "tile": turns[f["turn"]].tile if f["turn"] in turns else None,
             "picture": f["turn"] in turns and not kept.isdisjoint(turns[f["turn"]].seqs)}
            for f in frames(found.setup, found.entries)]
        told: BookView = {
            **view, "players": [{**p, "name": q["name"] or p["colour"]}
                                for p, q in zip(view["players"], shown["players"], strict=True)],
            "game": number, "questions": [], "doubts": [], "status": {"chip": "past", "text": ""}, "aid": found.aid,
            "rules": changes(found.setup.rules), "edition_title": editions()[found.setup.edition].title}
        return {"row": shown, "view": told, "frames": grown, "place": said.place, "film": self._filmed(number),
                "handover": link(self._named(row, said), said) if row["over"] else None}

    def luck(self, number: int) -> list[LuckRow]:
        """The draws of each player of a finished game."""
        found = self._load(number)
        events = (event for _, event in effective(found.entries))
        return [{"drawn": one.drawn, "worth": one.worth, "expected": round(one.expected, 1),
                 "points": round(one.points, 1), "above": round(one.above, 3)} for one in luck(found.setup, events)]

    def picture(self, number: int, turn: int | None = None,
                part: tuple[int, int, int, int] | None = None) -> bytes | None:
        """The table in a turn (None: last) as JPEG, whole or some squares rectified; None without such a picture."""
        found = self._load(number)
        return table_picture(self._store, number, played(found.setup, found.entries), turn, part)

    def file(self, number: int, form: str) -> bytes:
        """The game as ``json`` (transcript), ``csv``, ``jcz`` or ``png``."""
        found = self._load(number)
        if form == "json":
            return transcript(found.setup, found.entries).encode()
        if form == "jcz":
            events = tuple(event for _, event in effective(found.entries))
            try:
                saved, _ = jcz.saved_game(Game(setup=found.setup, turns=turns_of(found.setup, events)))
            except InvalidNotation as e:
                raise CommandError("no_jcz", str(e)) from e
            return json.dumps(saved).encode()
        state = state_of(found.setup, found.entries)
        return scores_csv(state).encode() if form == "csv" else result_sheet.picture(state)

    def film(self, number: int) -> Path | None:
        """The time-lapse of a game, if it exists and may be shown: its last picture has the result."""
        return self._films.file(number) if number != self._untold() else None

    def _filmed(self, number: int) -> str:
        return self._films.state(number) if number != self._untold() else "none"

    def make_film(self, number: int) -> str:
        """Start making it; returns its state."""
        if not self._row(number)["tiles"]:
            raise CommandError("nothing_to_show", "no tile was laid in this game")
        self._films.begin(number)
        return self._filmed(number)

    # -- data -------------------------------------------------------------------------------------------------------

    def _said(self) -> Said:
        return _saved(lambda: self._people.said)

    def _seen(self, row: Row, said: Said) -> SeenRow:
        """A public row: without the names of removed people."""
        people = [said.person(p["name"]) for p in row["players"]]
        return {**row, "counts": row["game"] not in said.uncounted, "film": self._filmed(row["game"]),
                "players": [{**p, "key": key, "name": "" if key in said.removed else p["name"]}
                            for p, key in zip(row["players"], people, strict=True)]}

    def _named(self, row: Row, said: Said) -> Row:
        """A row for other programs, which require a name: removed people are called by their colour."""
        return {**row, "players": [{**p, "name": p["colour"] if said.person(p["name"]) in said.removed else p["name"]}
                                   for p in row["players"]]}

    def _row(self, number: object) -> Row:
        found = next((r for r in self._all() if type(number) is int and r["game"] == number), None)
        if found is None:
            raise CommandError("unknown_game", f"there is no game {str(number)[:20]}")
        return found

    def _all(self) -> list[Row]:
        """The rows of all games that this version understands; those that have changed are recomputed."""
        stamps = _saved(self._store.stamps)
        with self._lock:
            if self._rows is None:
                self._rows = _kept(self._cache)
            changed = {n for n, stamp in stamps.items() if self._rows.get(n, ("", None))[0] != stamp}
            if changed or self._rows.keys() - stamps.keys():
                began = {g.id: g.created_s for g in self._store.games()}
                self._rows = {n: kept for n, kept in self._rows.items() if n in stamps}
                for n in sorted(changed):
                    self._rows[n] = stamps[n], self._worked_out(n, began.get(n, 0.0))
                self._keep(self._rows)
            known = dict(self._rows)
        untold = self._untold()  # after the rows: a game that ends meanwhile is not revealed either
        if untold in known:
            known[untold] = known[untold][0], self._row_as_played(untold, known[untold])
        return [row for _, row in known.values() if row is not None]

    def _row_as_played(self, number: int, known: tuple[str, Row | None]) -> Row | None:
        """The row of a game whose end has not been revealed; cached for each state of its log."""
        stamp, row = known
        if row is None or not row["over"]:
            return row
        if (number, stamp) not in self._as_played:
            found = _saved(lambda: self._store.load(number))
            entries = before_the_end(found.entries)
            self._as_played = {(number, stamp): summary(number, row["created_s"], state_of(found.setup, entries),
                                                        entries)}
        return self._as_played[number, stamp]

    def _worked_out(self, number: int, created_s: float) -> Row | None:
        try:
            found = self._store.load(number)
            return summary(number, created_s, state_of(found.setup, found.entries), found.entries)
        except (Failure, InvalidNotation) as e:
            _log.warning("game %d is not in the book: %s", number, e)
            return None

    def _keep(self, rows: Mapping[int, tuple[str, Row | None]]) -> None:
        with suppress(OSError):  # it is recomputed
            write_whole(self._cache, json.dumps({"format": FORMAT, "bastide": __version__, "games": {
                str(n): kept for n, kept in rows.items()}}, separators=(",", ":")).encode())

    def _load(self, number: int) -> StoredGame:
        stamp = _saved(self._store.stamps).get(number)
        if stamp is None:
            raise CommandError("unknown_game", f"there is no game {number}")
        with self._lock:
            if (found := self._opened.get((number, stamp))) is None:
                found = self._opened[number, stamp] = _saved(lambda: self._store.load(number))
                while len(self._opened) > OPENED:
                    self._opened.popitem(last=False)
        return replace(found, entries=before_the_end(found.entries), over=False) if number == self._untold() else found


def _saved(read: Callable[[], T]) -> T:
    try:
        return read()
    except Failure as e:
        raise CommandError("not_saved", str(e)) from e


def _kept(path: Path) -> dict[int, tuple[str, Row | None]]:
    """Results cached by this version of the program."""
    try:
        data = json.loads(path.read_text("utf-8"))
        if data["format"] == FORMAT and data["bastide"] == __version__:
            return {int(n): (str(stamp), row) for n, (stamp, row) in data["games"].items()}
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        pass
    return {}
