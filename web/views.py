"""A view as the page gets it: the game's (`scoring.views`) with the table's additions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal, NotRequired, TypedDict

from scoring.views import GameView, Move, MoveView, ScoreView


class StatusView(TypedDict):
    """The camera's status: a short word, a sentence, and optionally a code with its values."""

    chip: str
    text: str
    code: NotRequired[str]
    parts: NotRequired[Mapping[str, object]]


class CandidateView(TypedDict):
    """One of the answers to a question: the move that it would be (null: nothing), and how likely it is."""

    body: Move | None
    probability: float


class QuestionView(TypedDict):
    """A question to people about a doubtful reading, or about what the camera cannot have seen."""

    id: int | str
    seq: int
    kind: Literal["tile", "figure", "move"]
    text_key: str
    at: list[int] | None
    player: int | None
    crop: str | None
    candidates: list[CandidateView]


class RevealView(TypedDict):
    """Progress of presenting the final scoring."""

    step: int
    told: bool
    lead: str
    by: str
    steps: NotRequired[int]
    stage: NotRequired[str | None]
    event: NotRequired[ScoreView | None]


class ClockView(TypedDict):
    """A chess clock: what each player has left, and whose runs."""

    left_s: list[float]
    running: int | None


class RoundView(TypedDict):
    """A tournament's round, while one is played."""

    id: str
    number: int
    locked: bool
    confirmed: list[bool]
    clock: NotRequired[ClockView]


class View(GameView):
    """The newest view of a table."""

    game: int
    update: Annotated[int, "grows with everything published"]
    questions: list[QuestionView]
    doubts: Annotated[list[QuestionView], "questions that nobody is asked: they mark a score as uncertain, and "
                      "people may answer them"]
    aid: str
    art: str
    reveal: Annotated[RevealView | None, "null while the game is played; until it is `told`, scores, feed and final "
                      "scoring go no further"]
    rules: Annotated[Mapping[str, object], "the house rules: options that differ from the edition"]
    edition_title: str
    status: StatusView
    round: NotRequired[RoundView]


class PastView(View):
    """A view of an earlier moment (`scoring.views.MomentView`) with the table's current additions."""

    moves: list[MoveView]
    after: int
