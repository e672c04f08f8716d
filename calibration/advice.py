"""Sentences that a person can act on, with a code and their numbers for pages in other languages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypedDict


class AdviceJson(TypedDict):
    """An `Advice` for pages and programs."""

    code: str
    parts: dict[str, float | int | str]
    text: str
    bad: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """``code`` names the sentence, ``parts`` are its numbers and words, ``text`` is it in English. ``bad`` ones must
    be heeded, the others may."""

    code: str
    text: str
    parts: Mapping[str, float | int | str] = field(default_factory=dict)
    bad: bool = False

    def to_json(self) -> AdviceJson:
        return {"code": self.code, "parts": dict(self.parts), "text": self.text, "bad": self.bad}
