"""A simulated user of the page: enters events by taps, and counts them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from bastide.table.session import TableSession
from scoring.events import Event, FigurePlaced, GameEnded, TilePlaced, TurnEnded, to_json
from web.catalogue import tiles

TURNS = 4
WITHIN_MS = 30_000  # a busy machine is no failure
ASKED = {"capture": "capture", "princess": "princess", "exchange": "exchange", "dragon": "dragon_path",
         "plague": "plague"}  # what is entered as an answer: the question's code
POINT = """(selector) => {  // what is drawn anew meanwhile is found again by its name
  const el = document.querySelector(selector);
  if (!el) return null;
  el.closest("#sheet svg")?.scrollIntoView({ block: "nearest" });
  const box = el.getBoundingClientRect();
  for (const step of [2, 3, 5, 9, 17]) {
    for (let i = 1; i < step; i += 1) for (let j = 1; j < step; j += 1) {
      const x = box.left + (box.width * i) / step, y = box.top + (box.height * j) / step;
      const top = document.elementFromPoint(x, y);
      if (top && (el.contains(top) || (el.id && top.closest("#" + CSS.escape(el.id)) === el))) return [x, y];
    }
  }
  return null;
}"""
FRAMES = 300  # after which what never rests is tapped where it is
RESTS = f"""(selector) => new Promise((done) => {{  // where two frames in a row have it: sheets move it
  const point = {POINT};
  const look = (before, frames) => requestAnimationFrame(() => {{
    const now = point(selector);
    if (String(now) === String(before) || !frames) done(now); else look(now, frames - 1);
  }});
  look(point(selector), {FRAMES});
}})"""


def looks(kind: Mapping[str, Any], rot: int) -> frozenset[tuple[Any, ...]]:
    """What a turned tile shows: two turns that show the same cannot be told apart on the table."""
    edges, halves = "NESW", ("NL", "NR", "EL", "ER", "SL", "SR", "WL", "WR")

    def turned(atom: str) -> str:
        if atom == "I":
            return atom
        return edges[(edges.index(atom) + rot) % 4] if len(atom) == 1 else halves[(halves.index(atom) + 2 * rot) % 8]

    signs = ("pennants", "inn", "cathedral", "goods", "princess")
    return frozenset((s["kind"], frozenset(map(turned, s["atoms"])), *(s.get(k) for k in signs))
                     for s in kind["segments"])


class Hand:
    """Taps on one page. ``session`` only tells what the eyes of a person would: which answer is the one that is
    meant, and when the page shows the newest state."""

    def __init__(self, page: Any, session: TableSession) -> None:
        self.page, self.session = page, session
        self.kinds = tiles(session.view()["expansions"])
        self.then: Mapping[str, Any] | None = None  # the view of the earlier moment that the page shows
        self.taps = 0
        self.searched = 0  # how often the whole board had to be shown to find a place

    @property
    def seen(self) -> Mapping[str, Any]:
        """The game as the page shows it."""
        return self.then or self.session.view()

    # -- tapping ------------------------------------------------------------------------------------------------

    def key(self, key: str) -> None:
        """Tap a button of the sheet or the bar."""
        self.page.locator(f"[data-key='{key}']").first.click()
        self.taps += 1

    def sends(self, key: str) -> None:
        """Tap a button that does something to the game, and wait until the page shows it."""
        before = self.session.view()["version"]
        self.key(key)
        self.shown(before)

    def shown(self, before: int, *, saves: bool = False) -> bool:
        """Wait until the page shows something newer than that version; with ``saves`` or asks whether to save it: True
        then."""
        found = self.page.evaluate("""([before, game, saves, within]) => new Promise((done) => {
            const end = performance.now() + within;
            const there = () => { const now = document.body.dataset;
              return now.game === String(game) && Number(now.version) > before && !("sending" in now); };
            const look = () => there() ? done("shown") : saves && document.querySelector("#sheet [data-key='save']")
              ? done("asked") : performance.now() > end ? done("") : setTimeout(look, 10);
            look(); })""", [before, self.session.view()["game"], saves, WITHIN_MS])
        assert found, "nothing happened"
        return found == "asked"

    def saved(self, before: int) -> None:
        """Wait until a correction is shown; one that moves points is shown before it is saved."""
        if self.shown(before, saves=True):
            self.sends("save")

    def touch(self, selector: str) -> bool:
        """Tap something drawn, wherever of it can be seen; False when nothing of it can."""
        at = self.page.evaluate(RESTS, selector)
        if at is None:
            return False
        self.page.mouse.click(*at)
        self.taps += 1
        return True

    def place(self, selector: str, then: str) -> None:
        """Tap a square on the board until ``then`` is there: what is out of sight is looked for on the whole board,
        where the first tap on something small brings it closer."""
        for _ in range(4):
            if self.page.locator(then).count():
                return
            if not self.touch(selector):
                self.key("whole")
                self.searched += 1
        assert self.page.locator(then).count(), selector

    # -- entering -----------------------------------------------------------------------------------------------

    def play(self, event: Event) -> None:
        """Enter one event."""
        before = self.session.view()["version"]
        if isinstance(event, TilePlaced):
            self.tile(event)
        elif isinstance(event, FigurePlaced):
            self.figure(event)
        else:
            self.open()
            getattr(self, event.DO)(event) if hasattr(self, event.DO) else self.answer(event)
        assert self.session.view()["version"] > before, event

    def open(self) -> None:
        """The sheet of the turn."""
        if not self.page.locator("#sheet.add:not([hidden])").count():
            if self.page.locator("#sheet.asking:not([hidden])").count():
                self.key("later")
            self.key("bar.add")

    def tile(self, event: TilePlaced) -> None:
        x, y = event.at
        before = self.session.view()["version"]
        if self.page.locator("#sheet.asking:not([hidden])").count():
            self.key("later")
        self.place(f"[id='gap-{x}-{y}']", "#sheet.picker:not([hidden])")
        self.lies(event)
        self.shown(before)
        self.page.locator("#sheet.add:not([hidden])").wait_for()

    def lies(self, event: TilePlaced) -> None:
        """Choose a kind, turn it on the board, and put it there."""
        self.kind(event.tile)
        wanted = looks(self.kinds[event.tile], event.rot)
        for turn in range(TURNS + 1):
            rot = int(self.page.locator("#ghost").get_attribute("data-rot"))
            if looks(self.kinds[event.tile], rot) == wanted:
                break
            if turn == TURNS:
                self.key("any")  # it lies as it should not
            assert self.touch("#ghost use")
        self.key("use")

    def kind(self, tile: str) -> None:
        """A kind in the list, also one that does not fit or is used up."""
        button = self.page.locator(f".kinds .tile-button[data-tile='{tile}']")
        if not button.count():
            self.key("more")
        button.first.click()
        self.taps += 1

    def figure(self, event: FigurePlaced) -> None:
        self.open()
        before = self.session.view()["version"]
        chosen = self.page.locator(f"#sheet [data-key='kind-{event.figure}']")
        if chosen.count() and chosen.get_attribute("aria-pressed") != "true":
            self.key(f"kind-{event.figure}")
        if event.feature == "tower":
            self.key("guard")
            self.choose(event.at)
        else:
            last = next(tuple(p["at"]) for p in self.seen["board"]["tiles"] if p["last"])
            if event.portal or event.at != last:
                self.key("portal")
                self.choose(event.at)
                offered = next(m for m in (self.then or self.session.moves())["moves"] if m["code"] == "portal")
                there = [a for a in offered["answers"] if (a["figure"], tuple(a["at"])) == (event.figure, event.at)]
                if len(there) == 1:  # one place to stand: nothing to tap
                    self.shown(before)
                    return
            self.segment(event.feature, event.where)
        self.shown(before)

    def segment(self, feature: str, where: str) -> None:
        """A segment of the tile in the sheet."""
        assert self.touch(f"#sheet .segment[data-feature='{feature}'][data-where='{where}']"), (feature, where)

    def choose(self, at: tuple[int, int]) -> None:
        """One of the squares that the page waits for."""
        box = f".choice[data-at='{at[0]},{at[1]}']"
        for _ in range(4):
            if not self.page.locator(".choice").count():
                return
            if not self.touch(f"{box} rect"):
                self.key("whole")
                self.searched += 1

    def fairy(self, event: Any) -> None:
        before = self.session.view()["version"]
        self.key("fairy")
        self.choose(event.at)
        self.shown(before)
        asked = [q for q in self.seen["open_questions"] if q["code"] == "fairy_beside"]
        if asked and event.beside:
            self.answer(event, "fairy_beside")

    def tower(self, event: Any) -> None:
        before = self.session.view()["version"]
        self.key("tower")
        self.choose(event.at)
        self.shown(before)

    def discard(self, event: Any) -> None:
        before = self.session.view()["version"]
        self.key("discard")
        self.kind(event.tile)
        self.shown(before)

    def ransom(self, event: Any) -> None:
        self.sends(f"ransom-{event.jailer}-{event.released.owner}-{event.released.figure}")

    def goods(self, event: Any) -> None:
        held = self.seen["board"]["goods"][event.player][event.goods]
        step = 1 if event.count > held else -1
        for count in range(held + step, event.count + step, step):
            self.sends(f"goods-{event.goods}-{count}")

    def wheel(self, event: Any) -> None:
        self.sends(f"wheel-{event.steps}")

    def crown(self, event: Any) -> None:
        if self.page.locator(f"#sheet [data-key='kind-{event.figure}']").count():
            self.key(f"kind-{event.figure}")
        self.sends(f"crown-{event.segment}")

    def dragon(self, event: Any) -> None:
        for square in event.path:
            self.answer(event, "dragon_path", lambda a, s=square: tuple(a["path"][0]) == tuple(s))

    def answer(self, event: Event, code: str = "", meant: Any = None) -> None:
        """Something that is entered as the answer to what the rules ask."""
        body = to_json(event)
        code = code or ASKED[event.DO]
        same = meant or (lambda a: all(a.get(k) == v for k, v in body.items() if k not in ("part", "player")))
        asked = [(q, n) for q in self.seen["open_questions"] if q["code"] == code
                 for n, a in enumerate(q["answers"]) if same(a)]
        own = [(q, n) for q, n in asked if q["player"] == body["player"]] or asked
        assert own, event
        question, n = own[0]
        choices = f"#sheet.asking:not([hidden]) .choices[data-about='{question['id']}']"
        shown = self.page.locator(choices)
        if not shown.count():
            from playwright.sync_api import Error as PlaywrightError

            self.open()
            ask = self.page.locator(f"[data-key='ask-{question['id']}']")
            shown.or_(ask).first.wait_for()
            if not shown.count():
                with suppress(PlaywrightError):  # the question may come by itself meanwhile
                    ask.first.click(timeout=3000)
                    self.taps += 1
                shown.first.wait_for()
        before = self.session.view()["version"]
        self.page.locator(f"{choices} [data-key='choice-{n}']").click()
        self.taps += 1
        self.shown(before)

    def end_turn(self, _event: TurnEnded | None = None) -> None:
        self.open()
        self.sends("end")

    def end_game(self, _event: GameEnded | None = None) -> None:
        self.open()
        self.key("over")
        self.sends("over")
