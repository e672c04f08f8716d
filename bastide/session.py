"""The live session of one table: the log in memory and on disk, the view that clients see, the open questions.

Everything a client is shown has been on disk before. The camera's loop commits proposals; people send commands.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from bastide import gaps
from bastide.asking import CLAIM, claims, readings, tile_candidates
from bastide.errors import Failure
from bastide.history import UNDO, by_hand, last_action
from bastide.moving import moved_figure
from bastide.new_game import asked_setup
from bastide.past import Past
from bastide.seeing import Seeing
from bastide.store import Store
from scoring.engine import new_game, step
from scoring.errors import IllegalMove, InvalidNotation
from scoring.events import Event, FigurePlaced, Setup, TilePlaced, from_json, to_json
from scoring.log import Amended, Body, Inserted, LogEntry, Retracted, Settled, effective, state_of
from scoring.projection import Memory, final_scoring, live_view, running_scores
from scoring.rules import changes, editions
from scoring.state import GameState
from vision.stills import Still
from web.protocol import CommandError, StaleView, Subscription

if TYPE_CHECKING:
    from bastide.art import ArtSets

Candidates = list[dict[str, Any]]
MOST_DOUBTED = 2  # open questions whose answers are all tried out, to tell whose score they may change


class TableSession:
    """One game at one table (`web.protocol.LiveSession`). Thread safe."""

    def __init__(self, store: Store, setup: Setup, *, game: int | None = None, entries: tuple[LogEntry, ...] = (),
                 aid: str = "coach", art: str = "", arts: ArtSets | None = None,
                 clock: Callable[[], float] = time.time) -> None:
        self._store, self._clock = store, clock
        self.arts = arts
        self.past, self.seeing = Past(self, store), Seeing()
        self._lock = threading.RLock()
        self._status: dict[str, Any] = {"chip": "manual", "text": ""}
        self._subscribers: list[Subscription] = []
        self._update = 0
        self._begin(setup, store.new_game(setup, aid=aid, art=art) if game is None else game, entries, aid, art)

    def _begin(self, setup: Setup, game: int, entries: tuple[LogEntry, ...], aid: str, art: str) -> None:
        self._game, self._aid, self.art = game, aid, art
        self._entries = list(entries)
        self._state = state_of(setup, entries)
        self._memory = Memory()
        self._notices, self._pictures = list[dict[str, Any]](), dict[str, bytes]()
        self._game_view: dict[str, Any] = live_view(self._state, self._entries, len(self._entries), self._memory)
        self._view = self._render()

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
        with self._lock:
            return self._state

    @property
    def entries(self) -> tuple[LogEntry, ...]:
        with self._lock:
            return tuple(self._entries)

    # -- what clients see -------------------------------------------------------------------------------------------

    def view(self) -> dict[str, Any]:
        """The newest view. ``version`` counts log entries, ``update`` everything that was published."""
        with self._lock:
            return self._view

    def subscribe(self) -> Subscription:
        """A place to wait for newer views; it starts with the present one. Close it."""
        with self._lock:
            subscription = Subscription(self._unsubscribe)
            self._subscribers.append(subscription)
            subscription.put(self._view)
            return subscription

    def candidates(self, seq: int) -> Candidates:
        """What a logged tile may be, the reading's best first, all that fit there legally after them."""
        with self._lock:
            event = dict(effective(self._entries)).get(seq)
            kept = self._store.pictures.crop(self._game, seq)
            if not isinstance(event, TilePlaced):
                return [dict(c) for c in kept[1]] if kept else []
            before = self._state_before(seq)
        return tile_candidates(kept[1] if kept else [], before, event.at)

    def crop_png(self, seq: int) -> bytes | None:
        """The picture behind an entry (JPEG), or None."""
        kept = self._store.pictures.crop(self._game, seq)
        return kept[0] if kept else None

    # -- looking ahead ----------------------------------------------------------------------------------------------

    def preview(self, commands: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """What each of these commands would come to, without doing it: the scores it would change and new issues.

        A command that would be refused says so under ``error``.
        """
        with self._lock:
            before = running_scores(self._state)
            known = {(i.code, i.squares, i.turn) for i in self._state.issues}
            out: list[dict[str, Any]] = []
            for data in commands:
                try:
                    _, state = self._tried(self._bodies(data), source="hand")
                except (CommandError, InvalidNotation, IllegalMove) as e:
                    out.append({"error": str(e)})
                    continue
                scores = running_scores(state)
                out.append({"scores": [{"player": p, "before": b, "after": a}
                                       for p, (b, a) in enumerate(zip(before, scores, strict=True)) if a != b],
                            "issues": [i.code for i in state.issues if (i.code, i.squares, i.turn) not in known]})
            return out

    def set_status(self, chip: str, text: str = "", code: str = "", parts: Mapping[str, Any] | None = None) -> None:
        """What the camera is doing, with a sentence, its code and what is filled in; published when it changed."""
        status = {"chip": chip, "text": text, **({"code": code} if code else {}), **({"parts": parts} if parts else {})}
        with self._lock:
            if status != self._status:
                self._status = status
                self._publish(self._view["questions"])

    def art_sets(self) -> list[dict[str, Any]]:
        """The sets of tile pictures that a new game may choose from."""
        return self.arts.listed() if self.arts else []

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
            bodies: tuple[Body, ...] = events
            if replaces is not None:
                now = dict(effective(self._entries)).get(replaces)
                if now is None or replaces in by_hand(self._entries):
                    return ()
                amended = self._amend(replaces, now, events[0]) if events else (Retracted(seq=replaces),)
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
            based_on = data.get("based_on")
            if based_on is not None and based_on != len(self._entries):
                raise StaleView(self._view)
            try:
                if data.get("do") == "new_game":
                    setup, aid, art = asked_setup(data.get("setup"), self.arts)
                    self._begin(setup, self._store.new_game(setup, aid=aid, art=art), (), aid, art)
                    self._publish()
                    return self._view
                if data.get("do") == "open_game":
                    self._open_game(data.get("game"))
                    return self._view
                bodies = self._bodies(data)
                who = "".join(c for c in str(data.get("who", ""))[:40] if c.isprintable()).removeprefix(UNDO)
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

    def _bodies(self, data: Mapping[str, Any]) -> tuple[Body, ...]:
        do = data.get("do")
        known = dict(effective(self._entries))
        if do == "undo":
            action = last_action(self._entries)
            if not action:
                raise CommandError("nothing", "there is nothing to undo")
            return tuple(Retracted(seq=seq) for seq in reversed(action))
        if do in ("amend", "retract"):
            seq = data.get("seq")
            if type(seq) is not int or seq not in known and seq not in gaps.spoiled(self._entries):
                raise CommandError("unknown_entry", f"there is no move {seq!r} to change")
            if do == "retract":
                return (Retracted(seq=seq),)
            return self._amend(seq, known.get(seq), self._event(data.get("body"), known.get(seq)))
        if do == "insert":
            after = data.get("after")
            if type(after) is not int or (after != 0 and after not in known):
                raise CommandError("unknown_entry", f"there is no move {after!r} to insert after")
            return (Inserted(after=after, body=self._inserted(data.get("body"), known.get(after))),)
        if do == "answer":
            return self._answer(data, known)
        return (self._event(data, None),)

    def _answer(self, data: Mapping[str, Any], known: Mapping[int, Event]) -> tuple[Body, ...]:
        seq, choice = data.get("question"), data.get("choice")
        question = next((q for q in self._view["questions"] if q["id"] == seq), None)
        if question is None or isinstance(seq, bool):
            raise CommandError("unknown_question", "this question has been answered already")
        if choice == "other":
            body = data.get("body")
        elif type(choice) is int and 0 <= choice < len(question["candidates"]):
            body = question["candidates"][choice]["body"]
        else:
            raise CommandError("malformed", "choice: must be the number of a candidate or 'other'")
        return self._settling(question, body, known)

    def _settling(self, question: Mapping[str, Any], body: object, known: Mapping[int, Event]) -> tuple[Body, ...]:
        """What an answer to a question writes; without a body the answer is that nothing is there."""
        about = question["seq"]
        if question["text_key"] == CLAIM:
            if body is None:
                return (Settled(seq=about, code=CLAIM),)
            return (Inserted(after=about, body=self._event(body, known[about])),)
        if body is None:
            return (Retracted(seq=about),)
        return self._amend(about, known[about], self._event(body, known[about]))

    def _inserted(self, body: object, before: Event | None) -> Event:
        """An event that was missed. A tile begins the next player's turn, a figure belongs to the turn before it."""
        player = getattr(before, "player", None)
        if isinstance(body, Mapping) and body.get("do") in ("tile", "discard") and "player" not in body:
            body = {**body, "player": 0 if player is None else (player + 1) % len(self.setup.players)}
        return self._event(body, before)

    def _event(self, body: object, like: Event | None) -> Event:
        """An event from a client; who played it is taken from the entry it changes, or from whose turn it is."""
        player = getattr(like, "player", None)
        part = getattr(like, "part", None)
        if player is None:
            turn_over = self._state.turn_open and isinstance(body, Mapping) and body.get("do") in ("tile", "discard")
            player = (self._state.player + 1) % len(self.setup.players) if turn_over else self._state.player
        event = from_json(body, player=player, part=part)
        if getattr(event, "player", 0) >= len(self.setup.players):
            raise InvalidNotation(f"player: there are {len(self.setup.players)} players")
        return event

    def _amend(self, seq: int, old: Event | None, new: Event) -> tuple[Body, ...]:
        """The correction, and with it what stood on a tile that moved or changed: it follows its tile."""
        bodies: list[Body] = [Amended(seq=seq, body=new)]
        if isinstance(old, TilePlaced) and isinstance(new, TilePlaced):
            for other, event in effective(self._entries):
                if isinstance(event, FigurePlaced) and event.at == old.at and other > 0:
                    moved = moved_figure(event, old, new)
                    if moved != event:
                        bodies.append(Amended(seq=other, body=moved))
        return tuple(bodies)

    def _append(self, bodies: tuple[Body, ...], **how: Any) -> tuple[int, ...]:
        entries, state = self._tried(bodies, **how)
        log = [*self._entries, *entries]
        game_view = live_view(state, log, len(log), self._memory)
        self._store.append(self._game, entries, over=state.over)  # on disk before anybody is shown it
        self._entries, self._state, self._game_view = log, state, game_view
        return tuple(e.seq for e in entries)

    def _tried(self, bodies: tuple[Body, ...], **how: Any) -> tuple[list[LogEntry], GameState]:
        """The entries for these bodies and the game with them; nothing has changed yet."""
        now = self._clock()
        first = len(self._entries) + 1
        entries = [LogEntry(seq=first + n, body=b, at_s=now, **how) for n, b in enumerate(bodies)]
        state = self._state
        if any(isinstance(b, Retracted | Amended | Inserted | Settled) for b in bodies):
            for e in entries:
                if isinstance(e.body, Amended | Inserted):
                    step(self._state, e.body.body)  # refused now when it means nothing in this game
            state = state_of(self.setup, (*self._entries, *entries))
        else:
            for e in entries:
                state = step(state, e.body)  # type: ignore[arg-type]
        return entries, state

    def _state_before(self, seq: int) -> GameState:
        state = new_game(self.setup)
        for other, event in effective(self._entries):
            if other == seq:
                break
            with suppress(IllegalMove):  # as in the fold of the whole log: it stays there and changes nothing
                state = step(state, event)
        return state

    def _render(self, questions: list[dict[str, Any]] | None = None) -> dict[str, Any]:
        questions = self._questions() if questions is None else questions
        view = {**self._game_view, "players": self._doubted(questions)} if questions else self._game_view
        was = self._status["chip"]
        chip = "check" if questions and was == "watching" else was
        chip = "ended" if self._state.over and was != "check" else chip
        issues = [*view["issues"], *gaps.rows(self.setup, self._entries), *self._notices]
        return {**view, "issues": issues, "game": self._game, "update": self._update,
                "questions": questions, "aid": self._aid, "art": self.art, "rules": changes(self.setup.rules),
                "edition_title": editions()[self.setup.edition]["title"],
                "status": {**self._status, "chip": chip}}

    def _questions(self) -> list[dict[str, Any]]:
        """What people are asked: doubtful readings, then what nobody has seen; oldest first."""
        doubtful = readings(self._entries, lambda seq: self._store.pictures.crop(self._game, seq))
        return doubtful + claims(self._state, self._entries)

    def _doubted(self, questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
        """The players, each with whether an open question may change the score or the forecast: whoever's move it is
        about, and whoever gets or loses points by one of its answers. Where many are open, everybody's may."""
        players: list[dict[str, Any]] = self._game_view["players"]
        doubted = set(range(len(players))) if len(questions) > MOST_DOUBTED else set()
        known = dict(effective(self._entries))
        for question in questions[:MOST_DOUBTED] if not doubted else ():
            doubted.add(getattr(known.get(question["seq"]), "player", 0))  # it may be something else altogether
            for candidate in question["candidates"]:
                with suppress(InvalidNotation, IllegalMove):
                    bodies = self._settling(question, candidate.get("body"), known)
                    _, state = self._tried(bodies, source="hand")
                    now, then = running_scores(state), final_scoring(state).totals
                    doubted |= {p["index"] for p in players
                                if (p["score"], p["projected"]) != (now[p["index"]], then[p["index"]])}
        return [{**p, "uncertain": p["index"] in doubted} for p in players]

    def _publish(self, questions: list[dict[str, Any]] | None = None) -> None:
        """Show the game as it is now to everybody; ``questions`` when they are known not to have changed."""
        self._update += 1
        self._view = self._render(questions)
        for subscription in self._subscribers:
            subscription.put(self._view)

    def _unsubscribe(self, subscription: Subscription) -> None:
        with self._lock:
            if subscription in self._subscribers:
                self._subscribers.remove(subscription)
