"""Advice for people: a sentence to act on, with a code and parameters for translation."""

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
    """``code`` is the message's key, ``parts`` are its parameters, ``text`` is the English sentence. ``bad`` advice
    must be followed, the rest is optional."""

    code: str
    text: str
    parts: Mapping[str, float | int | str] = field(default_factory=dict)
    bad: bool = False

    def to_json(self) -> AdviceJson:
        return {"code": self.code, "parts": dict(self.parts), "text": self.text, "bad": self.bad}
