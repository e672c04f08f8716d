"""Every English sentence that the server may send to a page, as the code has it: what no other language may show."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from bastide.machine import findings
from bastide.watching import notices
from bastide.watching.following import SAID

LEAST = 12  # letters: what is shorter may be a word of any language
ERROR_CODE = re.compile(r'\b(?:CommandError|error_answer|Refused)\(\s*"(\w+)"')
ERROR_TEXT = re.compile(r'\b(?:CommandError|error_answer|Refused)\(\s*"\w+",\s*f?"([^"]+)"')
ROOMS = ("web", "bastide")


def sources(*rooms: str) -> Iterator[Path]:
    for room in rooms:
        yield from sorted(Path(room).rglob("*.py"))


def error_codes() -> set[str]:
    """The codes of all errors that the interface answers with."""
    return {code for file in sources(*ROOMS) for code in ERROR_CODE.findall(file.read_text("utf-8"))}


def told(name: str, room: str) -> dict[str, str]:
    """Code and sentence of every ``Advice`` or ``CalibrationError`` of a room; ``{}`` stands for what is filled in."""
    out: dict[str, str] = {}
    for file in sources(room):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == name):
                continue
            given = {k.arg: k.value for k in node.keywords}
            text = given.get("text", node.args[0] if node.args else None)
            code = given.get("code", node.args[1] if len(node.args) > 1 else None)
            for one in _constants(code):
                out[one] = " {} ".join(_constants(text))
    return out


def _constants(node: ast.AST | None) -> list[str]:
    """The written parts of a text."""
    if node is None:
        return []
    return [n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)]


@cache
def catalogue() -> frozenset[str]:
    """Pieces of sentences, in small letters, long enough to be nothing else."""
    sentences = [*findings.TEXT.values(), *findings.DO.values(), *notices._TEXT.values(), *SAID.values(),
                 *told("Advice", "calibration").values(), *told("CalibrationError", "calibration").values()]
    for file in sources(*ROOMS):
        sentences += ERROR_TEXT.findall(file.read_text("utf-8"))
    pieces = {p.strip(" .:;,()\n").lower() for text in sentences for p in re.split(r"\{[^{}]*\}", text)}
    return frozenset(p for p in pieces if len(p) >= LEAST and " " in p)
