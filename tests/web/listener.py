"""A simulated blind user: enters a game by accessible names, with the keyboard alone."""

from __future__ import annotations

from typing import Any

from hand import looks

from bastide.table.session import TableSession
from scoring.events import Event, FigurePlaced, TilePlaced
from web.catalogue import tiles


class Listener:
    """One page with the table in words open. ``said`` is everything that was announced."""

    def __init__(self, page: Any, session: TableSession) -> None:
        self.page, self.session = page, session
        self.kinds = tiles(session.view()["expansions"])
        page.locator("#skip").wait_for(state="attached")
        page.keyboard.press("Tab")  # the first thing that a keyboard reaches
        assert page.evaluate("document.activeElement.id") == "skip"
        assert page.locator("#skip").bounding_box()["height"] >= 44  # seen as soon as it is reached
        page.keyboard.press("Enter")
        page.locator(".in-words select").wait_for()

    def names(self, selector: str) -> list[str]:
        """The accessible names of these."""
        return self.page.locator(selector).evaluate_all(
            "(all) => all.map((el) => el.getAttribute('aria-label') || el.textContent)")

    def enter(self, event: Event) -> None:
        """A tile with its place, or a figure, by keys; waits until the page shows it."""
        if isinstance(event, TilePlaced):
            self._tile(event)
        elif isinstance(event, FigurePlaced):
            self._figure(event)

    def _tile(self, event: TilePlaced) -> None:
        page = self.page
        page.locator(".in-words select").focus()
        page.locator(".in-words select").select_option(event.tile)
        places = page.locator(f".in-words [data-key^='put-{event.at[0]},{event.at[1]}-']")
        places.first.wait_for()
        kind = self.kinds[event.tile]
        keys = places.evaluate_all("(all) => all.map((el) => el.dataset.key)")
        meant = next(k for k in keys if looks(kind, int(k.rpartition("-")[2])) == looks(kind, event.rot))
        self._sends(f"[data-key='{meant}']")

    def _figure(self, event: FigurePlaced) -> None:
        names = ("N", "E", "S", "W", "NL", "NR", "EL", "ER", "SL", "SR", "WL", "WR", "I")
        view = self.session.view()
        laid = next(p for p in view["board"]["tiles"] if tuple(p["at"]) == event.at)
        edges, halves = names[:4], names[4:12]

        def turned(atom: str) -> str:
            if atom == "I":
                return atom
            return edges[(edges.index(atom) + laid["rot"]) % 4] if len(atom) == 1 else \
                halves[(halves.index(atom) + 2 * laid["rot"]) % 8]

        shown = [s for s in self.kinds[laid["tile"]]["segments"]
                 if s["kind"] in ("road", "city", "field", "cloister") and s.get("path")]
        n = next(n for n, s in enumerate(shown) if s["kind"] == event.feature and
                 ({turned(a) for a in s["atoms"]} or {"I"}) == set(event.where.split()))
        self._sends(f"[data-key='claim-{n}']")

    def _sends(self, selector: str) -> None:
        before = self.session.view()["version"]
        self.page.locator(selector).press("Enter")
        assert self.page.evaluate("""([before]) => new Promise((done) => {
            const end = performance.now() + 30000;
            const look = () => Number(document.body.dataset.version) > before && !("sending" in document.body.dataset)
              ? done(true) : performance.now() > end ? done(false) : setTimeout(look, 20);
            look(); })""", [before]), selector
        assert self.page.evaluate("document.activeElement !== document.body"), f"{selector}: the focus is lost"
