"""The live session of one table: the log in memory and on disk, the view that clients see, the open questions.

Everything shown to a client is on disk before. The camera's loop commits proposals; people send commands.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import TYPE_CHECKING, Protocol, Unpack

from bastide.book.evenings import Evenings
from bastide.book.films import Films
from bastide.errors import Failure
from bastide.log.store import Store
from bastide.table.asking import claims, readings, tile_candidates
from bastide.table.game import Game, How
from bastide.table.meaning import author, state_before
from bastide.table.new_game import asked_setup
from bastide.table.past import Past
from bastide.table.publishing import Publisher, Shown
from bastide.table.rendering import Around, rendered
from bastide.table.reveal import Reveal
from bastide.table.seeing import Seeing
from bastide.table.snapshot import GameSnapshot
from bastide.tiles.own_tiles import OwnTiles
from scoring.errors import IllegalMove, InvalidNotation
from scoring.events import Event, Setup, TilePlaced, to_json
from scoring.log import Body, LogEntry
from scoring.projection import ViewCache, live_view
from scoring.state import GameState
from scoring.views import IssueView
from vision.stills import Still
from web.protocol import CommandError, StaleView, Subscription
from web.reveal import untold
from web.states import ArtSet, Fits, MovesNow, OwnPictures, PreviewRow, TileCandidate
from web.views import CandidateView, QuestionView, RoundView, StatusView, View

if TYPE_CHECKING:
    from bastide.tiles.art import ArtSets

Candidates = list[TileCandidate]


class Taking(Enum):
    """Why the session refuses changes: the name is the error code, the value its sentence.
    """

    AT_ONCE = ""
    RESTORING = "a backup is being put in place; the table begins again in a moment"


class Rounds(Protocol):
    """A tournament's rounds at this table (`bastide.club.game_round`)."""

    def takes(self, view: View, data: Mapping[str, object]) -> bool:
        """Carry out a command if it belongs to the round. Raises CommandError for one that is not allowed now."""

    def shown(self, view: View) -> RoundView | None:
        """The round's part of the view."""


class TableSession:
    """One game at one table (`web.protocol.LiveSession`). Thread-safe."""

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
        self._taking = Taking.AT_ONCE
        self._status: StatusView = {"chip": "manual", "text": ""}
        self._update = 0
        number = store.new_game(setup, aid=aid, art=art) if game is None else game
        self._begin(Game.of(setup, entries, number=number, aid=aid, art=art))
        self._publisher = Publisher(self._rendered(self._questions()))

    def _begin(self, game: Game) -> None:
        """Play this game from now on; the caller publishes it."""
        self._game = game
        self._reveal.begin(game.number, over=game.state.over)
        self._memory = ViewCache()
        self._notices, self._pictures = list[IssueView](), dict[str, bytes]()
        self._projection = live_view(game.state, game.entries, game.version, self._memory)

    @property
    def _now(self) -> GameSnapshot:
        """A snapshot of the current game, with the published questions."""
        return GameSnapshot(game=self._game, questions=self._publisher.shown.moment.questions)

    @classmethod
    def resume(cls, store: Store) -> TableSession | None:
        """The game on the table, or None; possibly over: its end may have been a mistake."""
        found = store.on_table()
        if found is None:
            return None
        return cls(store, found.setup, game=found.id, entries=found.entries, aid=found.aid, art=found.art)

    @property
    def setup(self) -> Setup:
        return self._game.setup

    @property
    def game(self) -> int:
        """The number of the current game."""
        return self._game.number

    @property
    def state(self) -> GameState:
        """The current state of the game."""
        return self._game.state

    @property
    def entries(self) -> tuple[LogEntry, ...]:
        return self._game.entries

    @property
    def art(self) -> str:
        """The set of tile pictures that the game is watched with."""
        return self._game.art

    def untold(self) -> int | None:
        """The number of the game on the table while its result has not been revealed, else None."""
        with self._lock:  # of an end that is on disk the view says so when the lock is free
            return self._game.number if untold(self.view()) else None

    # -- what clients see -------------------------------------------------------------------------------------------

    def view(self) -> View:
        """The newest view, without waiting. ``version`` counts log entries, ``update`` all publications."""
        return self._publisher.shown.view

    def subscribe(self) -> Subscription:
        """A subscription that starts with the current view. Close it."""
        return self._publisher.subscribe()

    def candidates(self, seq: int) -> Candidates:
        """Candidate readings of a logged tile, the reading's best first, then all others that legally fit there."""
        now = self._publisher.shown.moment
        event = dict(now.meaning.happened).get(seq)
        kept = self._store.pictures.crop(now.game.number, seq)
        if not isinstance(event, TilePlaced):
            return [{"probability": c["probability"], "body": c["body"]} for c in kept[1] if c["body"]] if kept else []
        return tile_candidates(kept[1] if kept else [], state_before(now.game.setup, now.game.entries, seq), event.at)

    def crop_png(self, seq: int) -> bytes | None:
        """The picture behind an entry (JPEG), or None."""
        kept = self._store.pictures.crop(self.game, seq)
        return kept[0] if kept else None

    # -- looking ahead ----------------------------------------------------------------------------------------------

    def preview(self, commands: Sequence[Mapping[str, object]]) -> list[PreviewRow]:
        """The effect of each of these commands without executing it: the scores it would change, and new issues.

        A command that would be refused has the reason under ``error``; there are no scores until the end has been
        revealed. It is computed on a snapshot, so it blocks nobody.
        """
        shown = self._publisher.shown
        found = shown.moment.preview(commands)
        if untold(shown.view):  # the scores before and after hold the end; published with what was shown
            return [{**one, "scores": []} if "scores" in one else one for one in found]
        return found

    def moves(self) -> MovesNow:
        """The moves possible now, before the next tile and after the last one."""
        return self._publisher.shown.moment.moves()

    def fits(self, tile: str | None, at: tuple[int, int] | None) -> Fits:
        """Where a kind of tile fits, which kinds fit on a square, with both the objections to that kind there; with
        neither, the number that fit on every square."""
        return self._publisher.shown.moment.fits(tile, at)

    def set_status(self, chip: str, text: str = "", code: str = "", parts: Mapping[str, object] | None = None) -> None:
        """The camera's status, with a sentence, its code and parameters; published when it changed."""
        status: StatusView = {"chip": chip, "text": text}
        if code:
            status["code"] = code
        if parts:
            status["parts"] = parts
        with self._lock:
            if status != self._status:
                self._status = status
                self._publish(self._now.questions)

    def play_rounds(self, rounds: Rounds) -> None:
        """From now on games may be a tournament's: its clock and its result slip are part of the view."""
        self._round = rounds
        self.show_again()

    def game_round(self) -> RoundView | None:
        """The tournament's round that is played, with its clock as it is now, or None."""
        return self._round.shown(self.view()) if self._round is not None else None

    def show_again(self) -> None:
        """Publish the view after a change outside the game's log."""
        with self._lock:
            self._publish(self._now.questions)

    def art_sets(self) -> list[ArtSet]:
        """The sets of tile pictures that a new game may choose from."""
        return self.arts.listed() if self.arts else []

    def own_tiles(self) -> OwnPictures:
        """The pictures of the owner's tiles that a board can be drawn with: ``tiles``, how many of each kind that has
        any, and a ``tag`` that changes with them."""
        return self._own_tiles.listed(self.art, self.setup)

    def own_tile(self, tile: str, copy: int) -> bytes | None:
        """One of them (JPEG), or None."""
        return self._own_tiles.picture(self.art, self.setup, tile, copy)

    def set_notices(self, rows: list[IssueView], pictures: Mapping[str, bytes]) -> None:
        """What people are asked to put right on the table, beside the game's issues; published when it changed."""
        with self._lock:
            before, self._notices, self._pictures = self._notices, rows, dict(pictures)
            if rows != before:
                self._publish(self._now.questions)

    def notice_picture(self, name: str) -> bytes | None:
        """A picture that a notice points to (JPEG), or None."""
        return self._pictures.get(name)

    # -- what changes the game --------------------------------------------------------------------------------------

    def hold(self, held: bool) -> None:
        """While ``held`` refuse all changes: the data folder is being replaced, and they would be lost."""
        with self._lock:
            self._taking = Taking.RESTORING if held else Taking.AT_ONCE

    def commit(self, events: tuple[Event, ...], *, confidence: float, asked: bool, frame: int | None = None,
               alternatives: tuple[tuple[tuple[Event, ...], float], ...] = (), crop: bytes | None = None,
               replaces: int | None = None, after: int | None = None, still: Still | None = None,
               settles: int | None = None) -> tuple[int, ...]:
        """Write a camera's proposal to the log; returns the entries' numbers. ``replaces`` is the entry it improves on,
        ``after`` the one after which to insert a missed event.

        ``alternatives`` are other readings with their probabilities, ``crop`` is the evidence as JPEG, ``still`` the
        whole table at that moment. ``settles`` is a tile's entry: nobody claimed what it completed, with that
        confidence. Entries settled by a person are not changed: nothing is logged then. Raises Failure when it cannot
        be written.
        """
        with self._lock:
            if self._taking is not Taking.AT_ONCE:
                raise Failure(self._taking.value)
            bodies = self._now.meaning.proposed(events, replaces, after, settles)
            if not bodies:
                return ()
            seqs = self._append(bodies, source="camera", confidence=confidence, asked=asked, frame=frame)
            target = replaces if replaces is not None else seqs[0]
            try:
                if crop is not None and settles is None:
                    options: list[CandidateView] = [{"body": to_json(e[0]) if e else None, "probability": round(p, 4)}
                               for e, p in alternatives]
                    self._store.pictures.keep_crop(self.game, target, crop, options)
                if still is not None and settles is None:
                    poses = [(*at, pose.round(9).tolist()) for at, pose in still.poses.items()]
                    self._store.pictures.keep_still(self.game, target, still.jpeg, poses)
            finally:
                self._publish()
            return seqs

    def command(self, data: Mapping[str, object]) -> View:
        """Carry out a person's command; returns the new view. Raises StaleView or CommandError."""
        if not isinstance(data, Mapping):
            raise CommandError("malformed", "a command must be an object")
        with self._lock:
            if self._taking is not Taking.AT_ONCE:
                raise CommandError(self._taking.name.lower(), self._taking.value)
            based_on = data.get("based_on")
            if based_on is not None and based_on != self._game.version:
                raise StaleView(self.view())
            try:
                self._carry_out(data)
            except (InvalidNotation, IllegalMove) as e:
                raise CommandError("malformed", str(e)) from e
            except Failure as e:
                raise CommandError("not_saved", str(e)) from e
            return self.view()

    def _carry_out(self, data: Mapping[str, object]) -> None:
        if self._round is not None and self._round.takes(self.view(), data):
            return self._publish(self._now.questions)
        match data.get("do"):
            case "new_game":
                setup, aid, art = asked_setup(data.get("setup"), self.arts)
                number = self._store.new_game(setup, aid=aid, art=art)
                self._begin(Game.of(setup, number=number, aid=aid, art=art))
            case "open_game":
                self._open_game(data.get("game"))
            case "reveal":
                stages = (self._projection["final"] or {"stages": ()})["stages"]
                self._reveal.go(data, sum(len(stage["events"]) for stage in stages))
                return self._publish(self._now.questions)
            case _:
                bodies = self._now.meaning.bodies(data)
                self._append(bodies, source="hand", confidence=1.0, asked=False, who=author(data))
        return self._publish()

    def _open_game(self, game: object) -> None:
        """Go back to an earlier game: another was begun by mistake, or an end is to be undone."""
        if type(game) is not int or game not in {line.id for line in self._store.games()}:
            raise CommandError("unknown_game", f"there is no game {str(game)[:20]}")
        found = self._store.load(game)
        self._store.put_on_table(game)  # before it is published
        self._begin(Game.of(found.setup, found.entries, number=game, aid=found.aid, art=found.art))

    def _append(self, bodies: tuple[Body, ...], **how: Unpack[How]) -> tuple[int, ...]:
        entries, game = self._game.tried(bodies, self._clock(), **how)
        projection = live_view(game.state, game.entries, game.version, self._memory)
        self._store.append(game.number, entries, over=game.state.over)  # on disk before it is published
        self._game, self._projection = game, projection
        self._reveal.follow(over=game.state.over)
        return tuple(e.seq for e in entries)

    def _questions(self) -> list[QuestionView]:
        """The open questions: doubtful readings, then unseen events; oldest first."""
        game = self._game
        doubtful = readings(game.entries, lambda seq: self._store.pictures.crop(game.number, seq))
        return doubtful + claims(game.state, game.entries)

    def _rendered(self, questions: Sequence[QuestionView]) -> Shown:
        moment = GameSnapshot(game=self._game, questions=questions)
        view = rendered(moment, self._projection, Around(status=self._status, notices=self._notices,
                                                         reveal=self._reveal.view(), update=self._update))
        played = self._round.shown(view) if self._round is not None else None
        if played:
            view["round"] = played
        return Shown(view, moment)

    def _publish(self, questions: Sequence[QuestionView] | None = None) -> None:
        """Show the game as it is now to everybody; ``questions`` when they are known not to have changed."""
        self._update += 1
        self._publisher.show(self._rendered(self._questions() if questions is None else questions))
