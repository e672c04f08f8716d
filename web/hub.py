"""The hub's pages: all tables of a club evening, one of them in full, a wall for a projector, the evening's results.

It shows what the tables publish and changes no table by itself. Running a tournament needs the hub's own PIN.
"""

from __future__ import annotations

import gzip
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import Protocol

from flask import Blueprint, Flask, Response, current_app, render_template, request

from web.access import Access, access
from web.answers import asked_after, asked_object, error_answer, events_answer, json_answer, wants_gzip
from web.club_states import EveningRow, ResultsFile, TournamentState
from web.common import furnish, kinds_answer
from web.protocol import CommandError
from web.rights import Right, needs, network
from web.scheduling import Limits, RequestScheduler, routes
from web.stream import TooManyStreams

hub = Blueprint("hub", __name__)
MAX_SCREENS = 400
MAX_PER_CLIENT = 350  # a whole club may be behind one router
THREADS = MAX_SCREENS + 40  # each screen holds one
CONNECTIONS = 2 * MAX_SCREENS
BUFFER = 100_000  # bytes: at 1 MB each, 300 screens took 411 MB (benchmarks/club.py)
MAX_BODY_BYTES = 65_000  # a CSV of rounds
BEAT_S = 5.0
LIMITS = Limits(live_share=0.6, cheap_share=0.3, dear_share=0.15, saved_s=2.0)  # no table's loop runs here
LIVE = ("GET api hall",)
ONCE = ("GET ", "GET wall", "GET static *", "GET api tiles", "GET api session")


class Hall(Protocol):
    """All tables; every method is thread-safe."""

    def whole(self) -> str:
        """The whole state as JSON, with the ``number`` of its last change."""
        ...

    def after(self, number: int, timeout_s: float) -> Sequence[tuple[int, str]] | None:
        """Changes after that number, none on time-out; None when they are no longer kept."""
        ...


class Evening(Protocol):
    """The evening's games."""

    def games(self) -> list[EveningRow]:
        """Finished games, newest first."""
        ...


class Tournament(Protocol):
    """Rounds and standings."""

    def told(self) -> TournamentState:
        """Rounds and standings."""
        ...

    def load(self, text: object, play: Mapping[str, object]) -> None:
        """Load rounds from CSV. Raises CommandError."""
        ...

    def do(self, what: object, number: object) -> None:
        """Begin or end a round. Raises CommandError."""
        ...

    def export(self, form: str) -> str | ResultsFile:
        """``rounds.csv``, ``rounds.json`` or ``standings.csv``."""
        ...


def create_hub(hall: Hall, evening: Evening, tournament: Tournament, *, door: Access) -> Flask:
    """The application. ``app.extensions["hall_streams"]`` are its event streams."""
    app = Flask("web", static_folder=None)
    app.extensions.update(hall=hall, evening=evening, tournament=tournament, hall_streams=Screens(hall))
    furnish(app, door)
    app.config["MAX_CONTENT_LENGTH"] = MAX_BODY_BYTES
    app.register_blueprint(hub)
    app.extensions["scheduler"] = app.wsgi_app = RequestScheduler(  # type: ignore[method-assign]
        app.wsgi_app, known=door.known, routes=routes(app.url_map.iter_rules()), limits=LIMITS, live=LIVE, once=ONCE)
    return app


class Screens:
    """All open event streams. Each waits for the hall's next change, which is already serialised; one that is too far
    behind is told to fetch the whole state again. There are no per-client queues."""

    def __init__(self, hall: Hall, *, most: int = MAX_SCREENS, per_client: int = MAX_PER_CLIENT) -> None:
        self._hall, self._most, self._per_client = hall, most, per_client
        self._lock = threading.Lock()
        self._open: Counter[str] = Counter()
        self._closed = False

    def __len__(self) -> int:
        return sum(self._open.values())

    def open(self, who: str, number: int, gone: Callable[[], bool]) -> Iterator[str]:
        """A stream of the changes after a number. Raises TooManyStreams."""
        with self._lock:
            if self._closed or len(self) >= self._most or self._open[who] >= self._per_client:
                raise TooManyStreams
            self._open[who] += 1
        return _Screen(self._events(number, gone), partial(self._leave, who))

    def close(self) -> None:
        """End every stream within a second."""
        self._closed = True

    def _events(self, number: int, gone: Callable[[], bool]) -> Iterator[str]:
        yield "retry: 1000\n\n"
        quiet = 0
        while not self._closed and not gone():
            ticks = self._hall.after(number, 1.0)
            if ticks is None:
                yield "event: again\ndata: {}\n\n"
                return
            if not ticks:
                quiet += 1
                if quiet >= BEAT_S:
                    quiet = 0
                    yield "event: beat\ndata: {}\n\n"
                continue
            quiet, number = 0, ticks[-1][0]
            yield "".join(f"event: change\nid: {n}\ndata: {text}\n\n" for n, text in ticks)

    def _leave(self, who: str) -> None:
        with self._lock:
            self._open[who] -= 1
            if self._open[who] <= 0:
                del self._open[who]


class _Screen:
    """An iterator whose ``close`` is called once by the WSGI server, even if it was never started."""

    def __init__(self, events: Iterator[str], leave: Callable[[], None]) -> None:
        self._events, self._leave = events, leave

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        return next(self._events)

    def close(self) -> None:
        leave, self._leave = self._leave, lambda: None
        leave()


# -- pages ----------------------------------------------------------------------------------------------------------


@hub.get("/")
def overview() -> str:
    """All tables; the fragment after ``#`` selects the one shown in full."""
    return render_template("hub.html", mode="overview", pin=access().state()["pin"])


@hub.get("/wall")
def wall() -> str:
    """The same for a projector: it cycles through the tables, without controls."""
    return render_template("hub.html", mode="wall", pin=access().state()["pin"])


# -- reading --------------------------------------------------------------------------------------------------------


@hub.get("/api/hall")
def whole() -> Response:
    """Every table."""
    hall: Hall = current_app.extensions["hall"]
    text = hall.whole().encode()
    if not wants_gzip():
        return Response(text, mimetype="application/json")
    kept = current_app.extensions.get("hall_packed")
    if kept is None or kept[0] != text:
        kept = current_app.extensions["hall_packed"] = text, gzip.compress(text, 4, mtime=0)
    return Response(kept[1], mimetype="application/json", headers={"Content-Encoding": "gzip",
                                                                 "Vary": "Accept-Encoding"})


@hub.get("/api/hall/events")
def events() -> Response:
    """The changes after ``?after=NUMBER``, as server-sent events."""
    text = asked_after()
    if not text.isascii() or not text.isdecimal() or len(text) > 12:
        raise CommandError("malformed", "after: must be the number of a change")
    screens: Screens = current_app.extensions["hall_streams"]
    return events_answer(lambda gone: screens.open(network(request.remote_addr or ""), int(text), gone), "/api/hall")


@hub.get("/api/tiles")
def kinds() -> Response:
    """Shapes of every tile kind of ``?expansions=a,b``."""
    return kinds_answer(tuple(request.args.get("expansions", "base").split(",")))


@hub.get("/api/evening")
def evening() -> Response:
    """The games that were finished this evening."""
    found: Evening = current_app.extensions["evening"]
    return json_answer({"games": found.games()})


@hub.get("/api/tournament")
def tournament() -> Response:
    """Rounds, results and standings."""
    return json_answer(_tournament().told())


@hub.get("/results/<name>")
def export(name: str) -> Response:
    """``rounds.csv``, ``rounds.json`` or ``standings.csv``, for a pairing program or the notice board."""
    if name not in ("rounds.csv", "rounds.json", "standings.csv"):
        return error_answer("not_found", "there is no such file", HTTPStatus.NOT_FOUND)
    made = _tournament().export(name)
    answer = Response(made, mimetype="text/csv") if isinstance(made, str) else json_answer(made)
    answer.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    return answer


# -- for the organiser ----------------------------------------------------------------------------------------------


@hub.post("/api/tournament")
@needs(Right.PLAY)
def load() -> Response:
    """Load rounds (``csv``), or ``do`` something with a ``round``; returns the tournament."""
    data = asked_object()
    if "csv" in data:
        _tournament().load(data["csv"], data)
    else:
        _tournament().do(data.get("do"), data.get("round"))
    return tournament()


def _tournament() -> Tournament:
    found: Tournament = current_app.extensions["tournament"]
    return found
