"""Server-side rendering of the page's first view: names and scores, before any of its modules is loaded.

On a slow network the modules take seconds. The scores are in the HTML itself, with a note that the board is loading.
"""

from __future__ import annotations

import os
from typing import TypedDict

from flask import request

from web.views import View

SOON = {"en": "The board is loading …", "de": "Das Spielfeld wird geladen …", "fr": "Le plateau se charge …"}
THEMES = ("light", "dark")
THEME_COOKIE, LANGUAGE_COOKIE = "bastide_theme", "bastide_lang"


class Name(TypedDict):
    """A player, with the score as text."""

    name: str
    score: str


class First(TypedDict):
    """The data of the first view: ``own`` is the table's language or empty, ``soon`` the note that the rest is loading,
    ``theme`` is ``light``, ``dark`` or empty for the device's own."""

    players: list[Name]
    language: str
    own: str
    soon: str
    theme: str


def first_view(view: View) -> First:
    """The first view. Scores only while the game is played: the final scoring is revealed step by step."""
    playing = view["phase"] == "playing"
    players: list[Name] = [
        {"name": p["name"], "score": f"{'~' if p['uncertain'] else ''}{p['score']}" if playing else ""}
        for p in view["players"]]
    language = chosen_language()
    return {"players": players, "language": language, "own": own_language(), "soon": SOON[language],
            "theme": chosen_theme()}


def chosen_theme() -> str:
    """``light`` or ``dark``, as chosen on this device; empty for the device's own."""
    theme = request.cookies.get(THEME_COOKIE, "")
    return theme if theme in THEMES else ""


def own_language() -> str:
    """The table's configured language (``BASTIDE_LANGUAGE``, as set by bastide.txt on the card); empty for each
    device's own."""
    own = os.environ.get("BASTIDE_LANGUAGE", "")[:2].lower()
    return own if own in SOON else ""


def chosen_language() -> str:
    """The language of this device, chosen as in the page's modules (``i18n.js``)."""
    for wish in (request.args.get("lang", ""), request.cookies.get(LANGUAGE_COOKIE, ""), own_language()):
        if wish[:2].lower() in SOON:
            return wish[:2].lower()
    return request.accept_languages.best_match(SOON, "en") or "en"
