"""Questions to the people at the table: doubtful readings, and events the camera cannot have seen."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Literal

from reading.claims import UNSURE
from reading.logged_game import CLAIM
from scoring.contributions import Question
from scoring.engine import fits
from scoring.events import FigurePlaced, TilePlaced, to_json
from scoring.log import LogEntry, Settled, alive, effective, open_questions, settled
from scoring.state import GameState
from scoring.tiles import Square
from web.states import TileCandidate
from web.views import CandidateView, QuestionView

LIKELY = 0.005  # least probability of an offered answer: lower ones would be shown as 0 %
WHOSE = "whose_tile"  # the tile is known but not its player: two tiles appeared between two looks
Crop = Callable[[int], tuple[bytes, list[CandidateView]] | None]  # a picture, and what was kept of its candidates


def readings(entries: Sequence[LogEntry], crop: Crop) -> list[QuestionView]:
    """Entries that were asked about and that no person has settled, oldest first, with the picture they were read from
    and the best candidates."""
    asked = open_questions(entries)
    out: list[QuestionView] = []
    for seq, event in effective(entries) if asked else ():
        if seq not in asked:
            continue
        body = to_json(event)
        kept = crop(seq)
        options = [c for c in kept[1] if c["probability"] >= LIKELY or c["body"] == body][:3] if kept else []
        if not any(c["body"] == body for c in options):
            read: CandidateView = {"body": body, "probability": 0.0}
            options = [read, *options][:3]
        kind: Literal["tile", "figure", "move"] = "tile" if isinstance(event, TilePlaced) else (
            "figure" if isinstance(event, FigurePlaced) else "move")
        at: Square | None = getattr(event, "at", None)
        key = WHOSE if kind == "tile" and _one_tile(options) else f"which_{kind}"
        out.append({"id": seq, "seq": seq, "kind": kind, "text_key": key, "at": list(at) if at else None,
                    "player": getattr(event, "player", None), "crop": f"/api/crops/{seq}.jpg" if kept else None,
                    "candidates": options})
    return out


def _one_tile(options: Sequence[CandidateView]) -> bool:
    """Whether all answers are the same tile of different players."""
    bodies = [c["body"] or {} for c in options]
    tiles, players = {(b.get("tile"), b.get("rot")) for b in bodies}, {b.get("player") for b in bodies}
    return len(tiles) == 1 < len(players) == len(bodies)


def tile_candidates(kept: Sequence[CandidateView], before: GameState, at: Square) -> list[TileCandidate]:
    """What a tile may be: the reading's own candidates first, then every tile left that fits there."""
    out: list[TileCandidate] = []
    seen: set[tuple[str, int]] = set()
    for c in kept:
        match c["body"]:
            case {"do": "tile", "tile": str(tile), "rot": int(rot)} if (tile, rot) not in seen and \
                    tile in before.box.contents:
                seen.add((tile, rot))
                out.append({"tile": tile, "rot": rot, "probability": c["probability"],
                            "legal": fits(before, tile, at, rot)})
    for tile, left in before.left.items():
        for rot in range(4):
            if left > 0 and (tile, rot) not in seen and fits(before, tile, at, rot):
                out.append({"tile": tile, "rot": rot, "probability": 0.0, "legal": True})
    return out


def claims(state: GameState, entries: Sequence[LogEntry]) -> list[QuestionView]:
    """Asks who claimed a feature completed by a tile when no figure was seen there: for tiles that the camera saw,
    until it is answered ("nobody" is an answer too) or everybody has had another turn. Unanswered ones score nothing.

    Asked only where the player could have claimed it by the rules, and not before that player's turn is over; nor where
    the camera says that nobody did.
    """
    return [_claim(*one) for one in _missed(state, entries) if _is_asked(state, *one[2:])]


def doubts(state: GameState, entries: Sequence[LogEntry]) -> list[QuestionView]:
    """The same questions where nobody is asked any more, or where the answer was not worth asking for: they mark a
    score as uncertain until somebody answers them unasked."""
    return [] if state.over else [
        _claim(seq, event, question, said) for seq, event, question, said in _missed(state, entries)
        if not _is_asked(state, question, said) and (said is None or said.asked or said.confidence < UNSURE)]


def _is_asked(state: GameState, question: Question, said: LogEntry | None) -> bool:
    late = question.turn < state.turn - len(state.setup.players)
    return not late and not state.over and (said is None or said.asked)


def _claim(seq: int, event: TilePlaced, question: Question, said: LogEntry | None) -> QuestionView:
    nobody = 0.0 if said is None else said.confidence
    each = (1.0 - nobody) / len(question.answers) if said is not None else 0.0
    options: list[CandidateView] = [{"body": None, "probability": round(nobody, 4)}]
    options += [{"body": to_json(e), "probability": round(each, 4)} for e in question.answers]
    return {"id": f"{CLAIM}-{seq}", "seq": seq, "kind": "figure", "text_key": CLAIM, "at": list(event.at),
            "player": event.player, "crop": None, "candidates": options}


def _missed(state: GameState,
            entries: Sequence[LogEntry]) -> Iterator[tuple[int, TilePlaced, Question, LogEntry | None]]:
    """The tiles of which people have not said whether a claim was missed: each with its entry, its question, and what
    the camera says."""
    asked = {q.at: q for q in state.asked if q.code == CLAIM}
    if not asked:
        return
    by_seq, by_hand = {e.seq: e for e in entries}, settled(entries)
    said = {e.body.seq: e for e in alive(entries)
            if isinstance(e.body, Settled) and e.body.code == CLAIM and e.source == "camera"}
    for seq, event in effective(entries):
        if isinstance(event, TilePlaced) and (question := asked.get(event.at)) is not None \
                and (seq, CLAIM) not in by_hand and by_seq[seq].source == "camera":
            yield seq, event, question, said.get(seq)
