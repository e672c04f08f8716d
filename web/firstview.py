"""What the page's first answer shows already: names and scores, before any of its modules has come.

On a slow network the modules take seconds. The scores are in the page itself, and it says that the board is on its way.
"""

from __future__ import annotations

import os
from typing import TypedDict

from flask import request

from web.views import View

SOON = {"en": "The board is on its way …", "de": "Das Spielfeld kommt gleich …", "fr": "Le plateau arrive …"}
THEMES = ("light", "dark")
THEME_COOKIE, LANGUAGE_COOKIE = "bastide_theme", "bastide_lang"


class Name(TypedDict):
    """A player, with the score as text."""

    name: str
    score: str


class First(TypedDict):
    """What a page shows at once: ``own`` is the table's language or empty, ``soon`` says that the rest is coming,
    ``theme`` is ``light``, ``dark`` or empty for what the device has."""

    players: list[Name]
    language: str
    own: str
    soon: str
    theme: str


def first_view(view: View) -> First:
    """What the first answer shows. Scores only while the game is played: the end is told step by step."""
    playing = view["phase"] == "playing"
    players: list[Name] = [
        {"name": p["name"], "score": f"{'~' if p['uncertain'] else ''}{p['score']}" if playing else ""}
        for p in view["players"]]
    language = chosen_language()
    return {"players": players, "language": language, "own": own_language(), "soon": SOON[language],
            "theme": chosen_theme()}


def chosen_theme() -> str:
    """``light`` or ``dark``, as somebody chose on this device; empty for what the device has."""
    theme = request.cookies.get(THEME_COOKIE, "")
    return theme if theme in THEMES else ""


def own_language() -> str:
    """What the table was told to speak (``BASTIDE_LANGUAGE``, as bastide.txt of the card sets it); empty for what each
    device speaks."""
    own = os.environ.get("BASTIDE_LANGUAGE", "")[:2].lower()
    return own if own in SOON else ""


def chosen_language() -> str:
    """The language of this device: as the page's own modules choose it (``i18n.js``)."""
    for wish in (request.args.get("lang", ""), request.cookies.get(LANGUAGE_COOKIE, ""), own_language()):
        if wish[:2].lower() in SOON:
            return wish[:2].lower()
    return request.accept_languages.best_match(SOON, "en") or "en"
