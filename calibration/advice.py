"""Sentences that a person can act on, with a code and their numbers for pages in other languages."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """``code`` names the sentence, ``parts`` are its numbers and words, ``text`` is it in English. ``bad`` ones must
    be heeded, the others may."""

    code: str
    text: str
    parts: Mapping[str, float | int | str] = field(default_factory=dict)
    bad: bool = False

    def to_json(self) -> dict[str, object]:
        return {"code": self.code, "parts": dict(self.parts), "text": self.text, "bad": self.bad}
