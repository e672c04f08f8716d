"""The live session of one table: the log in memory and on disk, the view that clients see, the open questions.

Everything a client is shown has been on disk before. The camera's loop commits proposals; people send commands.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Protocol

from bastide.book.evenings import Evenings
from bastide.book.films import Films
from bastide.errors import Failure
from bastide.log import gaps
from bastide.log.history import UNDO, by_hand
from bastide.log.store import Store
from bastide.table.asking import claims, readings, tile_candidates
from bastide.table.meaning import state_before
from bastide.table.moment import Moment
from bastide.table.new_game import asked_setup
from bastide.table.past import Past
from bastide.table.reveal import Reveal
from bastide.table.seeing import Seeing
from bastide.tiles.own_tiles import OwnTiles
from scoring.errors import IllegalMove, InvalidNotation
from scoring.events import Event, Setup, TilePlaced, to_json
from scoring.log import Body, Inserted, LogEntry, Retracted, state_of
from scoring.projection import Memory, final_scoring, live_view, running_scores
from scoring.rules import changes, editions
from scoring.state import GameState
from vision.stills import Still
from web.protocol import CommandError, StaleView, Subscription
from web.reveal import untold

if TYPE_CHECKING:
    from bastide.tiles.art import ArtSets

Candidates = list[dict[str, Any]]
HELD = "a backup is being put in place; the table begins again in a moment"
MOST_DOUBTED = 2  # open questions whose answers are all tried out, to tell whose score they may change


class Rounds(Protocol):
    """A tournament's rounds at this table (`bastide.club.game_round`)."""

    def takes(self, view: Mapping[str, Any], data: Mapping[str, Any]) -> bool:
        """Carry out a command if it is the round's. Raises CommandError for one that may not be done now."""

    def shown(self, view: Mapping[str, Any]) -> dict[str, Any] | None:
        """What the view says of the round."""


class TableSession:
    """One game at one table (`web.protocol.LiveSession`). Thread safe."""

    def __init__(self, store: Store, setup: Setup, *, game: int | None = None, entries: tuple[LogEntry, ...] = (),
                 aid: str = "coach", art: str = "", arts: ArtSets | None = None,
                 clock: Callable[[], float] = time.time) -> None:
        self._round: Rounds | None = None
        self._store, self._clock = store, clock
        self.arts = arts
        self.past, self.seeing = Past(self, store), Seeing()
        self._reveal, self._own_tiles = Reveal(store), OwnTiles(arts)
        self.films = Films(store.path.parent, store)
        self.book = Evenings(store.path.parent, store, self.films, self.untold)
        self._lock = threading.RLock()
        self._hearing = threading.Lock()  # of who is told: that must not wait for the disk
        self._status: dict[str, Any] = {"chip": "manual", "text": ""}
        self._subscribers: list[Subscription] = []
        self._update = 0
        self._held = False
        self._begin(setup, store.new_game(setup, aid=aid, art=art) if game is None else game, entries, aid, art)

    def _begin(self, setup: Setup, game: int, entries: tuple[LogEntry, ...], aid: str, art: str) -> None:
        self._game, self._aid, self.art = game, aid, art
        self._entries = tuple(entries)
        self._state = state_of(setup, entries)
        self._reveal.begin(game, over=self._state.over)
        self._memory = Memory()
        self._notices, self._pictures = list[dict[str, Any]](), dict[str, bytes]()
        self._game_view: dict[str, Any] = live_view(self._state, self._entries, len(self._entries), self._memory)
        self._show(self._render())

    def _now(self, questions: Sequence[Mapping[str, Any]] | None = None) -> Moment:
        """This moment; ``questions`` unless they are those that everybody sees."""
        asked = self._view["questions"] if questions is None else questions
        return Moment(entries=self._entries, state=self._state, questions=asked)

    def _show(self, view: dict[str, Any]) -> None:
        """This is what everybody sees from now on."""
        with self._hearing:
            self._view, self._shown = view, (self._game, self._now(view["questions"]))
            for subscription in self._subscribers:
                subscription.put(view)

    @classmethod
    def resume(cls, store: Store) -> TableSession | None:
        """The game that lies on the table, or None; over or not: its end may have been a mistake."""
        found = store.on_table()
        if found is None:
            return None
        return cls(store, found.setup, game=found.id, entries=found.entries, aid=found.aid, art=found.art)

    @property
    def setup(self) -> Setup:
        return self._state.setup

    @property
    def game(self) -> int:
        """The number of the game that is played."""
        return self._game

    @property
    def state(self) -> GameState:
        """The game as it stands."""
        return self._state

    def untold(self) -> int | None:
        """The number of the game on the table while its end has not been told to the room, else None."""
        with self._lock:  # of an end that is on disk the view says so when the lock is free
            return self._game if untold(self._view) else None

    @property
    def entries(self) -> tuple[LogEntry, ...]:
        return self._entries

    # -- what clients see -------------------------------------------------------------------------------------------

    def view(self) -> dict[str, Any]:
        """The newest view, at once. ``version`` counts log entries, ``update`` everything that was published."""
        return self._view

    def subscribe(self) -> Subscription:
        """A place to wait for newer views; it starts with the present one. Close it."""
        subscription = Subscription(self._unsubscribe)
        with self._hearing:
            self._subscribers.append(subscription)
            subscription.put(self._view)
        return subscription

    def candidates(self, seq: int) -> Candidates:
        """What a logged tile may be, the reading's best first, all that fit there legally after them."""
        game, now = self._shown
        event = dict(now.meaning.happened).get(seq)
        kept = self._store.pictures.crop(game, seq)
        if not isinstance(event, TilePlaced):
            return [dict(c) for c in kept[1]] if kept else []
        return tile_candidates(kept[1] if kept else [], state_before(now.setup, now.entries, seq), event.at)

    def crop_png(self, seq: int) -> bytes | None:
        """The picture behind an entry (JPEG), or None."""
        kept = self._store.pictures.crop(self._game, seq)
        return kept[0] if kept else None

    # -- looking ahead ----------------------------------------------------------------------------------------------

    def preview(self, commands: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """What each of these commands would come to, without doing it: the scores it would change and new issues.

        A command that would be refused says so under ``error``; no scores while the end is not told. It is worked out
        beside the game that goes on: nobody waits for it.
        """
        found = self._shown[1].preview(commands)
        if untold(self._view):  # the scores before and after hold the end; published with what was shown
            return [{**one, "scores": []} if "scores" in one else one for one in found]
        return found

    def moves(self) -> dict[str, Any]:
        """What can be done now, before the next tile and after the last one."""
        return self._shown[1].moves()

    def fits(self, tile: str | None, at: tuple[int, int] | None) -> dict[str, Any]:
        """Where a kind of tile fits, which kinds fit on a square, or what is against that kind there; without either,
        how many fit on every square."""
        return self._shown[1].fits(tile, at)

    def set_status(self, chip: str, text: str = "", code: str = "", parts: Mapping[str, Any] | None = None) -> None:
        """What the camera is doing, with a sentence, its code and what is filled in; published when it changed."""
        status = {"chip": chip, "text": text, **({"code": code} if code else {}), **({"parts": parts} if parts else {})}
        with self._lock:
            if status != self._status:
                self._status = status
                self._publish(self._view["questions"])

    def play_rounds(self, rounds: Rounds) -> None:
        """From now on games may be a tournament's: its clock and its result slip are part of the view."""
        self._round = rounds
        self.show_again()

    def game_round(self) -> dict[str, Any] | None:
        """The tournament's round that is played, with its clock as it is now, or None."""
        return self._round.shown(self._view) if self._round is not None else None

    def show_again(self) -> None:
        """Publish the view with what is known outside the game's log."""
        with self._lock:
            self._publish(self._view["questions"])

    def art_sets(self) -> list[dict[str, Any]]:
        """The sets of tile pictures that a new game may choose from."""
        return self.arts.listed() if self.arts else []

    def own_tiles(self) -> dict[str, Any]:
        """The pictures of the owner's tiles that a board can be drawn with: ``tiles``, how many of each kind that has
        any, and a ``tag`` that changes with them."""
        return self._own_tiles.listed(self.art, self.setup)

    def own_tile(self, tile: str, copy: int) -> bytes | None:
        """One of them (JPEG), or None."""
        return self._own_tiles.picture(self.art, self.setup, tile, copy)

    def set_notices(self, rows: list[dict[str, Any]], pictures: Mapping[str, bytes]) -> None:
        """What people are asked to put right on the table, beside the game's issues; published when it changed."""
        with self._lock:
            before, self._notices, self._pictures = self._notices, rows, dict(pictures)
            if rows != before:
                self._publish(self._view["questions"])

    def notice_picture(self, name: str) -> bytes | None:
        """A picture that a notice points to (JPEG), or None."""
        return self._pictures.get(name)

    # -- what changes the game --------------------------------------------------------------------------------------

    def hold(self, held: bool) -> None:
        """Whether nothing is taken any more: another folder of games takes this one's place, and what was acknowledged
        here would be gone."""
        with self._lock:
            self._held = held

    def commit(self, events: tuple[Event, ...], *, confidence: float, asked: bool, frame: int | None = None,
               alternatives: tuple[tuple[tuple[Event, ...], float], ...] = (), crop: bytes | None = None,
               replaces: int | None = None, after: int | None = None,
               still: Still | None = None) -> tuple[int, ...]:
        """Put a camera's proposal into the log; the entries' numbers. ``replaces`` is the entry it improves on,
        ``after`` the one right after which it happened when it was missed then.

        ``alternatives`` are other readings with their probabilities, ``crop`` is the evidence as JPEG, ``still`` the
        whole table at that moment. What a person has settled is not improved on: nothing is logged then. Raises
        Failure when the disk does not take it.
        """
        with self._lock:
            if self._held:
                raise Failure(HELD)
            meaning = self._now().meaning
            bodies: tuple[Body, ...] = meaning.told(events[0]) if len(events) == 1 else events
            if replaces is not None:
                now = dict(meaning.happened).get(replaces)
                if now is None or replaces in by_hand(self._entries):
                    return ()
                amended = meaning.amend(replaces, now, events[0]) if events else (Retracted(seq=replaces),)
                bodies = (*amended, *events[1:])
            if not bodies:
                return ()
            if after is not None:
                bodies = tuple(Inserted(after=after, body=event) for event in events)
            seqs = self._append(bodies, source="camera", confidence=confidence, asked=asked, frame=frame)
            target = replaces if replaces is not None else seqs[0]
            try:
                if crop is not None:
                    options = [{"body": to_json(e[0]) if e else None, "probability": round(p, 4)}
                               for e, p in alternatives]
                    self._store.pictures.keep_crop(self._game, target, crop, options)
                if still is not None:
                    poses = [[*at, pose.round(9).tolist()] for at, pose in still.poses.items()]
                    self._store.pictures.keep_still(self._game, target, still.jpeg, poses)
            finally:
                self._publish()
            return seqs

    def command(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Carry out what a person asked for; the new view. Raises StaleView or CommandError."""
        if not isinstance(data, Mapping):
            raise CommandError("malformed", "a command must be an object")
        with self._lock:
            if self._held:
                raise CommandError("restoring", HELD)
            based_on = data.get("based_on")
            if based_on is not None and based_on != len(self._entries):
                raise StaleView(self._view)
            if self._round is not None and self._round.takes(self._view, data):
                self._publish(self._view["questions"])
                return self._view
            try:
                if data.get("do") == "new_game":
                    setup, aid, art = asked_setup(data.get("setup"), self.arts)
                    self._begin(setup, self._store.new_game(setup, aid=aid, art=art), (), aid, art)
                    self._publish()
                    return self._view
                if data.get("do") == "open_game":
                    self._open_game(data.get("game"))
                    return self._view
                if data.get("do") == "reveal":
                    stages = (self._game_view["final"] or {"stages": ()})["stages"]
                    self._reveal.go(data, sum(len(stage["events"]) for stage in stages))
                    self._publish(self._view["questions"])
                    return self._view
                bodies = self._now().meaning.bodies(data)
                who = "".join(c for c in str(data.get("who", ""))[:40] if c.isprintable())
                while who.startswith(UNDO):  # that is said by what was done, not by who did it
                    who = who.removeprefix(UNDO)
                who = UNDO + who if data.get("do") == "undo" else who
                self._append(bodies, source="hand", confidence=1.0, asked=False, who=who)
            except (InvalidNotation, IllegalMove) as e:
                raise CommandError("malformed", str(e)) from e
            except Failure as e:
                raise CommandError("not_saved", str(e)) from e
            self._publish()
            return self._view

    def _open_game(self, game: object) -> None:
        """Go back to an earlier game: another was begun by mistake, or an end is to be undone."""
        if type(game) is not int or game not in {line.id for line in self._store.games()}:
            raise CommandError("unknown_game", f"there is no game {str(game)[:20]}")
        found = self._store.load(game)
        self._store.put_on_table(game)  # before anybody is shown it
        self._begin(found.setup, game, found.entries, found.aid, found.art)
        self._publish()

    def _append(self, bodies: tuple[Body, ...], **how: Any) -> tuple[int, ...]:
        entries, state = self._now().tried(bodies, self._clock(), **how)
        log = (*self._entries, *entries)
        game_view = live_view(state, log, len(log), self._memory)
        self._store.append(self._game, entries, over=state.over)  # on disk before anybody is shown it
        self._entries, self._state, self._game_view = log, state, game_view
        self._reveal.follow(over=state.over)
        return tuple(e.seq for e in entries)

    def _render(self, questions: list[dict[str, Any]] | None = None) -> dict[str, Any]:
        questions = self._questions() if questions is None else questions
        view = {**self._game_view, "players": self._doubted(questions)} if questions else self._game_view
        was = self._status["chip"]
        chip = "check" if questions and was == "watching" else was
        chip = "ended" if self._state.over and was != "check" else chip
        issues = [*view["issues"], *gaps.rows(self.setup, self._entries), *self._notices]
        shown = {**view, "issues": issues, "game": self._game, "update": self._update,
                "questions": questions, "aid": self._aid, "art": self.art, "reveal": self._reveal.view(),
                 "rules": changes(self.setup.rules),
                "edition_title": editions()[self.setup.edition]["title"],
                "status": {**self._status, "chip": chip}}
        played = self._round.shown(shown) if self._round is not None else None
        return {**shown, "round": played} if played else shown

    def _questions(self) -> list[dict[str, Any]]:
        """What people are asked: doubtful readings, then what nobody has seen; oldest first."""
        doubtful = readings(self._entries, lambda seq: self._store.pictures.crop(self._game, seq))
        return doubtful + claims(self._state, self._entries)

    def _doubted(self, questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The players, each with whether an open question may change the score or the forecast: whoever's move it is
        about, and whoever gets or loses points by one of its answers. Where many are open, everybody's may."""
        players: list[dict[str, Any]] = self._game_view["players"]
        doubted = set(range(len(players))) if len(questions) > MOST_DOUBTED else set()
        now = self._now(questions)
        known = dict(now.meaning.happened)
        for question in questions[:MOST_DOUBTED] if not doubted else ():
            doubted.add(getattr(known.get(question["seq"]), "player", 0))  # it may be something else altogether
            for candidate in question["candidates"]:
                with suppress(InvalidNotation, IllegalMove):
                    _, state = now.tried(now.meaning.settling(question, candidate.get("body"), known), source="hand")
                    scores, then = running_scores(state), final_scoring(state).totals
                    doubted |= {p["index"] for p in players
                                if (p["score"], p["projected"]) != (scores[p["index"]], then[p["index"]])}
        return [{**p, "uncertain": p["index"] in doubted} for p in players]

    def _publish(self, questions: list[dict[str, Any]] | None = None) -> None:
        """Show the game as it is now to everybody; ``questions`` when they are known not to have changed."""
        self._update += 1
        self._show(self._render(questions))

    def _unsubscribe(self, subscription: Subscription) -> None:
        with self._hearing:
            if subscription in self._subscribers:
                self._subscribers.remove(subscription)
