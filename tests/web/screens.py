"""The matrix of screens: tables of every size and with every kind of name, screens of every shape, and what a person
looking at one would object to. A sample runs in the tests, all of it in ``benchmarks/page_matrix.py``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pageviews import drawn, until
from webtable import JPEG, up_to

from bastide.log.store import Store
from bastide.table.publishing import Shown
from bastide.table.session import TableSession
from scoring.engine import legal_placements
from scoring.events import Event, FigurePlaced, Player, Setup, TilePlaced
from scoring.rules import edition
from web.views import QuestionView

COLOURS = ("red", "blue", "yellow", "green", "black", "grey")
NAMES = {
    "short": ("Anna", "Ben", "Chloé", "Dörte", "Emil", "Fritz"),
    "long": ("Maximiliane", "Jean-Baptiste", "Bartholomäus", "Annemarie Sophie", "Konstantinos", "Friederike"),
    "wide": ("Maximiliane-Wilhelmine von und zu Hohenstein", "WWWWWWWWWWWWWWWW", "Łukasz Żółkiewski", "محمد", "王小明",
             "Zoë & Ağca 🦄"),
}
SCORES = {"one": (0, 4, 9, 7, 2, 8), "two": (78, 64, 40, 88, 17, 59), "three": (128, 104, 99, 166, 140, 188)}
SCREENS = {
    "phone": (390, 844), "phone-small": (360, 640), "phone-flat": (844, 390), "phone-flat-low": (740, 360),
    "phone-flat-small": (667, 375), "tablet": (1280, 800), "tablet-small": (1024, 768), "tablet-upright": (800, 1280),
    "tablet-200": (640, 400), "tablet-small-200": (512, 384), "tv": (1920, 1080), "tv-small": (1366, 768),
}
LANGUAGES = {"en": "en-GB", "de": "de-DE", "fr": "fr-FR"}
STANDING = 5  # followers of one player that are put on the board at most
NOTICE = {"code": "take_back", "text": "Take back the knight.", "squares": [[0, 0]], "turn": None,
          "parts": {"player": 0, "name": "Anna", "role": "knight", "feature": "city", "where": "N", "at": [0, 0]}}

CHECK = (Path(__file__).parent / "screens.js").read_text("utf-8").partition("\n")[2]


class Dressed(TableSession):
    """A table whose players have the scores that a test wants to see on the screen."""

    dressed: tuple[int, ...] = ()
    doubted: frozenset[int] = frozenset()

    def _rendered(self, questions: Sequence[QuestionView]) -> Shown:
        shown = super()._rendered(questions)
        if not self.dressed:
            return shown
        players = [{**p, "score": self.dressed[n], "projected": self.dressed[n] + 11,
                    "uncertain": n in self.doubted or p["uncertain"]} for n, p in enumerate(shown.view["players"])]
        return replace(shown, view={**shown.view, "players": players})

    def dress(self, scores: Sequence[int], doubted: Sequence[int] = ()) -> None:
        """Show these scores from now on; those of ``doubted`` with a ``~``."""
        self.dressed, self.doubted = tuple(scores), frozenset(doubted)
        self._publish()
        assert all(p["score"] == score for p, score in zip(self.view()["players"], self.dressed, strict=False))


def dressed(store: Store, names: Sequence[str], scores: Sequence[int], tiles: int = 24) -> Dressed:
    """A table at which people with these names have these scores; so many tiles lie."""
    players = tuple(Player(name=n, colour=c) for n, c in zip(names, COLOURS, strict=False))
    session = Dressed(store, Setup(players=players, rules=edition("zman2012")))
    stood = [0] * len(players)
    events: list[Event] = []
    turn = -1
    for event in up_to(tiles):
        if isinstance(event, TilePlaced):
            turn += 1
            events.append(replace(event, player=turn % len(players)))
        elif isinstance(event, FigurePlaced) and stood[turn % len(players)] < STANDING:
            stood[turn % len(players)] += 1
            events.append(replace(event, player=turn % len(players)))
    session.commit(tuple(events), confidence=0.98, asked=False)
    session.set_status("watching")
    session.dress(scores, doubted=(0, len(players) - 1))
    return session


def ask(session: TableSession, kind: str = "base.E") -> None:
    """The camera is not sure of the next tile, and asks."""
    player, placements = session.view()["next_tile"]["player"], legal_placements(session.state, kind)
    options = tuple(((TilePlaced(player=player, tile=kind, at=at, rot=rot),), p)
                    for (at, rot), p in zip((placements[0], *placements[-2:]), (0.5, 0.3, 0.001), strict=True))
    session.commit(options[0][0], confidence=0.5, asked=True, crop=JPEG, alternatives=options)


def clear(page: Any) -> None:
    """Put everything off that is asked."""
    while page.locator("#sheet:not([hidden])").count():
        page.keyboard.press("Escape")
        drawn(page)


def look(page: Any, *, tv: bool = False) -> list[str]:
    """Layout faults of this screen, once it is drawn in its present size."""
    page.evaluate("() => document.fonts.ready.then(() => true)")
    until(page, "[...document.images].every((i) => i.complete)")
    drawn(page)
    passing = "a.playState !== 'running' || a.effect.target?.closest('.change')"
    until(page, f"document.getAnimations().every((a) => {passing})")
    return page.evaluate(CHECK, {"tv": tv})
