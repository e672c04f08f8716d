"""A simulated person who answers every question about a reading correctly and at once."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from bastide.table.session import TableSession
from bastide.watching.following import commit
from reading.claims import CLAIM
from reading.watcher import Proposal
from scoring.contributions import BEFORE, IN_TURN
from scoring.events import Event, FigurePlaced, TilePlaced, from_json, to_json
from scoring.log import effective
from scoring.log_position import question_id
from scoring.transcript import Game, write
from vision.stills import Still

_TEXTS = Path(__file__).resolve().parent.parent / "web" / "static" / "js" / "lang" / "en.js"
WORDS = dict(re.findall(r'^  "question\.(\w+)": "(.*)",$', _TEXTS.read_text("utf-8"), re.M))  # as the page asks


class Person:
    """Knows the true ``game``. ``asked`` lists the answered questions, each as a sentence; ``entered`` what the camera
    cannot see, which people tell by a button of the page in the turn in which it happens, as JSON. It sees what those
    players hold whose figures lie in view (``in_view``), unless the page says that it does not: about that people wait
    to be asked."""

    def __init__(self, game: Game, in_view: Collection[int] = ()) -> None:
        self._in_view = frozenset(in_view)
        self.asked: list[str] = []
        self.entered: list[dict[str, Any]] = []
        self._mended: set[tuple[int, str]] = set()  # notices that were taken notice of: who holds, and whose figures
        self._waits: set[str] = set()  # questions of the rules about earlier turns that were open after the last move
        self._lies: dict[tuple[int, int], dict[str, Any]] = {}
        # by the figure's square: where the tile of its turn lies, and the figure
        self._stands: dict[tuple[int, int], list[tuple[tuple[int, int], dict[str, Any]]]] = {}
        # by the square of their turn's tile: the other moves, those that went on as one
        self._moves: dict[tuple[int, int], list[dict[str, Any]]] = {}
        # by the square of the tile before which they happened
        self._ahead: dict[tuple[int, int], list[dict[str, Any]]] = {}
        for turn in write(game)["turns"]:
            at: tuple[int, int] | None = None
            ahead: list[dict[str, Any]] = []
            for move in turn["moves"]:
                if move["do"] == "tile":
                    at = tuple(move["at"])
                    self._ahead[at] = ahead
                    self._lies[at] = {**move, "player": turn["player"]}
                elif move["do"] == "deploy":
                    self._stands.setdefault(tuple(move["at"]), []).append((at, {**move, "player": turn["player"]}))
                elif at is not None:
                    moves = self._moves.setdefault(at, [])
                    before = moves.pop() if moves and "path" in move and moves[-1]["do"] == move["do"] else {"path": []}
                    own = {"path": [*before["path"], *move["path"]]} if "path" in move else {}
                    moves.append({**move, **own, "player": turn["player"]})
                else:
                    ahead.append({**move, "player": move.get("player", turn["player"])})

    def save(self, session: TableSession, proposal: Proposal, still: Still) -> None:
        """`bastide.watching.following.commit`, followed by the answers."""
        commit(session, proposal, still)
        self._enter(session)
        self._enter_freed(session)
        self._enter_missed(session)
        self.answer_rules(session)
        known = dict(effective(session.entries))
        for question in session.view()["questions"]:
            event = known.get(question["seq"])
            if question["id"] != question["seq"] and question["text_key"] != CLAIM or event is None:
                continue  # nothing read, and nothing missed
            self.asked.append(_sentence(question, session.state.turn))
            if question["text_key"] == CLAIM:
                at = tuple(question["at"])
                true = next((f for tile, f in self._stands.get(at, ()) if tile == at), None)
                choice = next((n for n, c in enumerate(question["candidates"]) if _same(c["body"], true)), 0)
                session.command({"do": "answer", "question": question["id"], "choice": choice})
                continue
            if not isinstance(event, TilePlaced | FigurePlaced):
                did = self._move(question["seq"], session.state.box.handlers[type(event)].when, known)
                session.command({"do": "answer", "question": question["id"], "choice": "other", "body": did})
                continue
            truth = self._lies.get(event.at) if isinstance(event, TilePlaced) else self._figure(question["seq"], known)
            session.command({"do": "answer", "question": question["id"], "choice": "other",
                             "body": None if truth is None else self._body(truth, event)})

    def _enter(self, session: TableSession) -> None:
        """Tell what the page offers to tell of the newest turn (`scoring.box.Box.offers`) and what did happen in it."""
        newest = next((e.at for _, e in reversed(effective(session.entries)) if isinstance(e, TilePlaced)), None)
        if newest is None:
            return
        unseen = {i["parts"]["player"] for i in session.view()["issues"] if i["code"] == "held"}
        for move in (*self._ahead.get(newest, ()), *self._moves.get(newest, ())):
            if move.get("jailer") in self._in_view - unseen:
                continue
            offered = (to_json(a) for q in session.state.box.offers(session.state) for a in q.answers)
            found = next((told for told in offered if _means(told, move)), None)
            if found is not None:
                session.command(found)
                self.entered.append(found)

    def _enter_missed(self, session: TableSession) -> None:
        """Enter what was missed where the page says that a figure lies with another player and is not taken in the log:
        the oldest such capture of an earlier turn, and before it, if the log lacks them, that the figure was put down
        and the block. Once for each such notice."""
        told = {(i["parts"]["player"], i["parts"]["owner"])
                for i in session.view()["issues"] if i["code"] == "held_more"}
        for holder, name in sorted(told - self._mended):
            owner = [p.name for p in session.setup.players].index(name)
            known = dict(effective(session.entries))
            laid = [e.at for e in known.values() if isinstance(e, TilePlaced)]
            for at, taken in ((tile, m) for tile in laid[:-1] for m in self._moves.get(tile, ())):
                if taken["do"] != "capture" or (taken["player"], taken["owner"]) != (holder, owner) \
                        or any(_says(e, taken) for e in known.values()):
                    continue
                put = [(tile, f) for tile, f in self._stands.get(tuple(taken["at"]), ()) if tile in laid and all(
                    f[k] == taken[k] for k in ("figure", "feature", "where")) and f["player"] == owner]
                block = [(at, m) for m in self._moves[at] if m["do"] == "tower"]
                for tile, move in (*put[-1:], *block, (at, taken)):
                    if not any(_says(e, move) for seq, e in known.items() if move["do"] == "deploy" or (
                            _own(seq, known) == tile)):
                        last = [seq for seq, e in known.items() if (
                            e.at if isinstance(e, TilePlaced) else _own(seq, known)) == tile][-1]
                        self._insert(session, last, move)
                        known = dict(effective(session.entries))
                break
        self._mended = told

    def _enter_freed(self, session: TableSession) -> None:
        """Enter the oldest ransom of an earlier turn that the log lacks, paid to a player of whom the page says that
        it does not see his prisoners."""
        unseen = {i["parts"]["player"] for i in session.view()["issues"] if i["code"] == "held"}
        known = dict(effective(session.entries)) if unseen else {}
        laid = [(seq, e.at) for seq, e in known.items() if isinstance(e, TilePlaced)]
        paid: list[dict[str, Any]] = []
        for seq, at in laid[:-1]:
            for move in (*self._ahead.get(at, ()), *self._moves.get(at, ())):
                if move.get("jailer") not in unseen:
                    continue
                paid.append(move)
                if sum(_says(e, move) for e in known.values()) < paid.count(move):
                    self._insert(session, seq, move)
                    return

    def _insert(self, session: TableSession, after: int, move: dict[str, Any]) -> None:
        session.command({"do": "insert", "after": after, "body": move})
        self.entered.append(move)

    def answer_rules(self, session: TableSession, over: bool = False) -> None:
        """Answer what the rules ask on the page about an earlier turn (until then a camera may still see it) and still
        ask when another move is logged, or about any turn when the game is ``over``."""
        waited = {question_id(q) for q in session.state.asked} if over else self._waits
        given: list[tuple[str, int]] = []
        while (found := self._asked_by_rules(session, waited, over)) is not None:
            name, choice, sentence = found
            if (name, choice) in given:
                raise RuntimeError(f"answered, and still asked: {sentence}")
            given.append((name, choice))
            self.asked.append(sentence)
            session.command({"do": "answer", "question": name, "choice": choice})
        self._waits = {question_id(q) for q in session.state.asked if q.turn < session.state.turn}

    def _asked_by_rules(self, session: TableSession, waited: set[str], over: bool) -> tuple[str, int, str] | None:
        """The next such question that has a right answer: its name, the answer's number, and both as a sentence."""
        state = session.state
        for question in state.asked:
            name = question_id(question)
            if question.code == CLAIM or name not in waited or question.turn >= state.turn and not over:
                continue
            at = next((e.at for (_, e), turn in zip(effective(session.entries), state.happened, strict=True)
                       if turn == question.turn and isinstance(e, TilePlaced)), None)
            happened = (*self._ahead.get(at, ()), *self._moves.get(at, ())) if at is not None else ()
            choice = next((n for n, a in enumerate(question.answers) if any(_says(a, m) for m in happened)), None)
            if choice is not None:
                return (name, choice, f"turn {state.turn} {at}: {question.text} {to_json(question.answers[choice])}")
        return None

    def _move(self, seq: int, when: str, known: Mapping[int, Event]) -> dict[str, Any] | None:
        """The move that an event of the log is about: the one of its turn that it says, else the first of its kind, of
        those that no other event of the turn says; None if there is none. ``when`` such events happen in their turn:
        before its tile, after it or either way."""
        tile_of = _next if when == BEFORE else _own
        at = tile_of(seq, known)
        happened = [] if at is None else [*(self._ahead.get(at, ()) if when in (BEFORE, IN_TURN) else ()),
                                          *(self._moves.get(at, ()) if when != BEFORE else ())]
        left = [m for m in happened if m["do"] == known[seq].DO]
        for other, event in known.items():
            if other != seq and not isinstance(event, TilePlaced) and tile_of(other, known) == at:
                said = next((m for m in left if _says(event, m)), None)
                left = [m for m in left if m is not said]
        return next((m for m in left if _says(known[seq], m)), next(iter(left), None))

    def _figure(self, seq: int, known: Mapping[int, Event]) -> dict[str, Any] | None:
        """The figure that an event of the log is about: the one it names, rather of its turn than of another one, else
        the one put on its square in its turn, else the newest there of those whose turn's tile is in the log, without
        those that other events say; None if nobody is left."""
        event = known[seq]
        assert isinstance(event, FigurePlaced)
        told = [(_own(other, known), to_json(e)) for other, e in known.items()
                if other != seq and isinstance(e, FigurePlaced) and e.at == event.at]
        there = [f for f in self._stands.get(event.at, []) if not any(
            tile == f[0] and _same(said, f[1]) for tile, said in told)]
        laid = [e.at for e in known.values() if isinstance(e, TilePlaced)]
        own = _own(seq, known)
        named = [f for tile, f in sorted(there, key=lambda f: f[0] != own) if _same(f, to_json(event))]
        return next(iter([*named, *(f for tile, f in there if tile == own),
                          *(f for tile, f in reversed(there) if tile in laid)]), None)

    @staticmethod
    def _body(truth: Mapping[str, Any], event: TilePlaced | FigurePlaced) -> dict[str, Any]:
        return {**truth, "part": event.part} if isinstance(event, TilePlaced) else dict(truth)


def _own(seq: int, known: Mapping[int, Event]) -> tuple[int, int] | None:
    """The square of the tile in whose turn the log has an event; None before the first tile."""
    upto = list(known)[:list(known).index(seq)]
    return next((e.at for s in reversed(upto) if isinstance(e := known[s], TilePlaced)), None)


def _says(event: Event, move: Mapping[str, Any]) -> bool:
    """Whether an event says just what a move of the true game says."""
    return from_json(dict(move)) == event


def _means(told: Mapping[str, Any], move: Mapping[str, Any]) -> bool:
    """Whether an event as JSON is that move of a game; a walk may be part of one that a game notes as one."""
    return all(told.get(k) == v for k, v in move.items() if k != "path")


def _next(seq: int, known: Mapping[int, Event]) -> tuple[int, int] | None:
    """The square of the tile that the log has next after an event; None if there is none."""
    return next((e.at for s in list(known)[list(known).index(seq):] if isinstance(e := known[s], TilePlaced)), None)


def _same(body: Mapping[str, Any] | None, true: Mapping[str, Any] | None) -> bool:
    """Whether an offered figure is the true one; None means no figure."""
    if body is None or true is None:
        return body is true
    return all(body.get(k) == true.get(k) for k in ("figure", "player", "feature", "where"))


def _sentence(question: Mapping[str, Any], turn: int) -> str:
    """A question as on the page, with its candidates, their probabilities, and its turn."""
    told = []
    for candidate in question["candidates"]:
        body = candidate["body"] or {}
        name = "nothing" if not body else f"{body['tile']}/{body['rot']} by {body['player']}" \
            if body["do"] == "tile" else \
            f"{body['figure']} of player {body['player']} on the {body['feature']} {body['where']}" \
            if body["do"] == "deploy" else str(body["do"])
        told.append(f"{name} {100 * candidate['probability']:.0f} %")
    return f"turn {turn} {tuple(question['at'] or ())}: {WORDS[question['text_key']]} {', '.join(told)}"
