"""Schedules requests: whose is served next, and how much processor time all of them may use.

The table's loop shares one interpreter with the page's threads, and sixty connections can send requests faster than it
can answer. So a complete request waits in a queue, without a thread, until its turn comes:

* few requests are computed at the same time: two from clients with a session, and of all others one for the current
  game, one cheap and one expensive one. A request is expensive if its route has been, or if it is not a GET;
* each of these four lanes has a budget, a share of one processor, so that a flood of previews keeps nobody from the
  state, and no load keeps the table's loop from its frames;
* within a lane the client that has used the least processor time in the last seconds is next. So one client's sixty
  requests wait for each other, not ahead of somebody else's;
* a request that waits too long is told to retry later. Waiting takes no processor time; an immediate refusal would.
  What a browser requests only once (a page, its modules) is not refused, because the page would stay blank: it waits
  for its turn, in a connection of its own, of which a client has a limited number (`web.server`).

Event streams pass through the scheduler only when they begin.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from http import HTTPStatus
from typing import Protocol
from wsgiref.types import StartResponse, WSGIApplication, WSGIEnvironment

from werkzeug.routing import Rule

from web.rights import network


class Lane(IntEnum):
    """The queues."""

    SIGNED = 0  # all requests with a session
    LIVE = 1  # the current game, which every open page needs
    CHEAP = 2  # other requests that were cheap so far
    DEAR = 3


AT_ONCE = {Lane.SIGNED: 2, Lane.LIVE: 1, Lane.CHEAP: 1, Lane.DEAR: 1}
# Requested repeatedly. Anything cheaper in this lane, requested by many clients, would be served before the next state
# of a client who watches the game, because that client has used more.
LIVE = ("GET api state", "GET api events")
# Pages, and what each of them requests when it opens.
ONCE = ("GET ", "GET tv", "GET book", "GET book *", "GET overlay", "GET doctor", "GET https", "GET static *",
        "GET api tiles", "GET api session")


@dataclass(frozen=True, slots=True)
class Limits:
    """How much of the machine requests may use. Tuned with ``benchmarks/door.py`` on two cores."""

    player_share: float = 0.5  # of one processor, for all with a session
    player_saved_s: float = 2.0
    live_share: float = 0.20  # for all others that request the current game
    cheap_share: float = 0.10  # for their cheap requests
    dear_share: float = 0.08  # and for their other requests
    saved_s: float = 2.0  # saved up in quiet times: about fifteen pages at once, of 40 requests each
    dear_s: float = 0.008  # processor time from which a request is expensive; so is one of unknown cost
    # The overhead of each besides its own work, for parsing it and writing the response: the processors used in door.py
    # beyond the quiet row, divided by the number of responses.
    every_s: float = 0.002
    half_life_s: float = 5.0  # half-life of a client's recorded use
    patience_s: float = 6.0  # until a waiting request is told to retry


LIMITS = Limits()
RETRY_AFTER_S = 5
MOST_CLIENTS = 1000  # clients remembered
_TICK_S = 0.02  # how often budgets are checked for refilling
_DECAY = 0.95  # factor by which the expected cost of a route decreases with every request that cost less
_REFUSAL = json.dumps({"error": {"code": "busy_table", "text": "too many requests at the moment; try again soon"}})
_mine = threading.local()
_log = logging.getLogger("bastide.scheduling")


@dataclass(slots=True)
class Budget:
    """A budget of processor time, refilled at a steady pace; may be overdrawn by one request."""

    share: float
    most_s: float
    left_s: float = field(init=False)
    at_s: float = 0.0

    def __post_init__(self) -> None:
        self.left_s = self.most_s

    def left(self, now: float) -> float:
        self.left_s = min(self.most_s, self.left_s + (now - self.at_s) * self.share)
        self.at_s = now
        return self.left_s


class Asked(Protocol):
    """A request as waitress has parsed it."""

    error: object
    headers: Mapping[str, str]


class Connection(Protocol):
    """A connection of waitress, with the requests that it has read."""

    requests: Sequence[Asked]
    addr: tuple[str, int]

    def service(self) -> None: ...

    def cancel(self) -> None: ...


class Turn:
    """One request of one connection, as a task for waitress' threads: ``service`` does all the work."""

    def __init__(self, scheduler: RequestScheduler, channel: Connection, client: str, lane: Lane, key: str,
                 now: float) -> None:
        self._scheduler, self.channel, self.client, self.lane, self.key = scheduler, channel, client, lane, key
        self.since_s, self.refused, self._computes = now, False, True

    def service(self) -> None:
        _mine.turn, self._cpu_s = self, time.thread_time()
        try:
            self.channel.service()
        except Exception as e:  # waitress fails if a client disconnects while its malformed request is being answered
            _log.info("a connection ended with %s", type(e).__name__)
            self.channel.cancel()
        finally:
            _mine.turn = None
            self.computed()

    def cancel(self) -> None:
        self.channel.cancel()

    def computed(self) -> None:
        """The remaining work needs no processor: another request may take the place."""
        if self._computes:
            self._computes = False
            self._scheduler.done(self, time.thread_time() - self._cpu_s)


class RequestScheduler:
    """Sits in front of a WSGI application: wraps it, and a waitress server passes its connections to it.

    ``routes`` are the application's (`routes`); ``known`` maps a request's Cookie header and its client's address to
    the id of its session, "" without one; ``live`` are the routes that every open page needs, ``once`` those that wait
    however long it takes.
    """

    def __init__(self, app: WSGIApplication, *, routes: frozenset[str] = frozenset(),
                 known: Callable[[str, str], str] = lambda cookie, address: "",
                 limits: Limits = LIMITS, live: tuple[str, ...] = LIVE, once: tuple[str, ...] = ONCE,
                 clock: Callable[[], float] = time.monotonic) -> None:
        self._routes, self._live, self._once = routes, live, once
        self._app, self._known, self._limits, self._clock = app, known, limits, clock
        self._changed = threading.Condition()
        self._dispatch: Callable[[Turn], None] | None = None
        self._waiting: dict[Lane, dict[str, deque[Turn]]] = {}  # by client
        self._used: dict[str, tuple[float, float]] = {}  # processor time by client, and when it was recorded
        self._costs: dict[str, float] = {}
        shares = (limits.player_share, limits.live_share, limits.cheap_share, limits.dear_share)
        self._budgets = {lane: Budget(share, limits.saved_s if lane else limits.player_saved_s, at_s=clock())
                         for lane, share in zip(Lane, shares, strict=True)}
        self._computing = dict.fromkeys(Lane, 0)
        self._closed = False

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        turn: Turn | None = getattr(_mine, "turn", None)
        if turn is not None and turn.refused:
            body = _REFUSAL.encode()
            start_response(f"{HTTPStatus.TOO_MANY_REQUESTS.value} {HTTPStatus.TOO_MANY_REQUESTS.phrase}",
                           [("Content-Type", "application/json"), ("Content-Length", str(len(body))),
                            ("Cache-Control", "no-store"), ("Retry-After", str(RETRY_AFTER_S))])
            return [body]
        try:
            answer = self._app(environ, start_response)
        finally:
            if turn is not None:
                turn.computed()
        return answer

    # -- the server's side ------------------------------------------------------------------------------------------

    def open(self, dispatch: Callable[[Turn], None]) -> None:
        """Begin to schedule requests on a server's threads."""
        self._dispatch, self._closed = dispatch, False
        threading.Thread(target=self._keep_time, name="scheduler", daemon=True).start()

    def close(self) -> None:
        """Schedule nothing from now on."""
        with self._changed:
            self._closed, self._dispatch = True, None
            self._waiting.clear()
            self._changed.notify_all()

    def submit(self, channel: Connection) -> None:
        """A connection has a complete request."""
        request = channel.requests[0]
        address = str(channel.addr[0])
        session = ""
        if not request.error:
            try:
                session = self._known(request.headers.get("COOKIE", ""), address)
            except Exception as e:  # whatever it raises: this thread is shared by all connections
                _log.error("a cookie could not be read", exc_info=e)
        client, key = session or network(address), _key(request, self._routes)
        with self._changed:
            now = self._clock()
            turn = Turn(self, channel, client, Lane.SIGNED if session else self._lane(key), key, now)
            if not self._waiting:
                self._changed.notify_all()  # the clock runs while anybody waits
            self._waiting.setdefault(turn.lane, {}).setdefault(client, deque()).append(turn)
            self._begin(now)

    def _lane(self, key: str) -> Lane:
        """The lane of a request without a session."""
        if key in self._live:
            return Lane.LIVE
        looks = key.startswith(("GET ", "HEAD "))
        dear = not looks or self._costs.get(key, self._limits.dear_s) >= self._limits.dear_s
        return Lane.DEAR if dear else Lane.CHEAP

    def waiting(self) -> set[Connection]:
        """The connections without a session that wait for their turn."""
        with self._changed:
            return {turn.channel for lane, clients in self._waiting.items() if lane is not Lane.SIGNED
                    for turns in clients.values() for turn in turns}

    def done(self, turn: Turn, cpu_s: float) -> None:
        """A request is done and took this long."""
        with self._changed:
            now = self._clock()
            cost = cpu_s + self._limits.every_s
            if not turn.refused:  # refusals during a flood must not use up the budget of others
                self._computing[turn.lane] -= 1
                self._costs[turn.key] = max(cpu_s, self._costs.get(turn.key, 0.0) * _DECAY)
                budget = self._budgets[turn.lane]
                budget.left_s = budget.left(now) - cost
            self._used[turn.client] = self._use(turn.client, now) + cost, now
            while len(self._used) > MOST_CLIENTS:
                del self._used[min(self._used, key=lambda client: self._use(client, now))]
            self._begin(now)

    # -- who is next ------------------------------------------------------------------------------------------------

    def _use(self, client: str, now: float) -> float:
        """Seconds of processor time that count against a client."""
        used, at_s = self._used.get(client, (0.0, now))
        return float(used * 0.5 ** ((now - at_s) / self._limits.half_life_s))

    def _begin(self, now: float) -> None:
        while self._dispatch is not None and (turn := self._next(now)) is not None:
            self._dispatch(turn)

    def _next(self, now: float) -> Turn | None:
        if (late := self._late(now)) is not None:
            return late
        for lane in Lane:
            if self._free(lane) and self._budgets[lane].left(now) > 0 and (turn := self._least(lane, now)) is not None:
                self._computing[lane] += 1
                return turn
        return None

    def _free(self, lane: Lane) -> bool:
        return self._computing[lane] < AT_ONCE[lane]

    def _least(self, lane: Lane, now: float) -> Turn | None:
        """The longest waiting request of the client that has used the least processor time."""
        clients = self._waiting.get(lane)
        if not clients:
            return None
        client = min(clients, key=lambda c: self._use(c, now))
        return self._taken(lane, client, clients[client][0])

    def _late(self, now: float) -> Turn | None:
        """A request without a session that has waited too long."""
        for lane in Lane:
            for client, turns in self._waiting.get(lane, {}).items() if lane is not Lane.SIGNED else ():
                turn = next((t for t in turns if t.key not in self._once), None)
                if turn is not None and now - turn.since_s > self._limits.patience_s:
                    turn.refused = True
                    return self._taken(lane, client, turn)
        return None

    def _taken(self, lane: Lane, client: str, turn: Turn) -> Turn:
        clients = self._waiting[lane]
        clients[client].remove(turn)
        if not clients[client]:
            del clients[client]
        if not clients:
            del self._waiting[lane]
        return turn

    def _keep_time(self) -> None:
        """Refills budgets and times out requests while nothing else happens."""
        with self._changed:
            while not self._closed:
                self._changed.wait(_TICK_S if self._waiting else None)
                self._begin(self._clock())


def aside() -> None:
    """What the current request does from here on needs no interpreter, like hashing: others may proceed."""
    turn: Turn | None = getattr(_mine, "turn", None)
    if turn is not None:
        turn.computed()


def routes(rules: Iterable[Rule]) -> frozenset[str]:
    """What `RequestScheduler` distinguishes requests by: the method and the first two parts of the path of an
    application's rules."""
    return frozenset(f"{method} {' '.join('*' if p.startswith('<') else p for p in rule.rule.split('/')[1:3])}"
                     for rule in rules for method in rule.methods or ())


def _key(request: Asked, known: frozenset[str]) -> str:
    """The key that requests of equal cost share; all invalid addresses share one."""
    method, parts = str(getattr(request, "command", "")), str(getattr(request, "path", "")).split("/")[1:3]
    for key in (f"{method} {' '.join(parts)}", f"{method} {' '.join([*parts[:1], '*'])}"):
        if key in known:
            return key
    return f"{method if method in ('GET', 'HEAD') else 'other'} nothing"
