"""Everybody can use the page: axe finds nothing on any view, everything is large enough, languages are whole.

All views are walked through twice, and everything is looked at in passing: on a tablet in German, which has the longest
words, and on a phone in French. English ones are walked through where they are tested.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from pageviews import LIVE, WAY_OUT, picture, until
from servertexts import catalogue
from webtable import JPEG, misread

expect = pytest.importorskip("playwright.sync_api").expect

AXE = Path(__file__).parent / "axe/axe.min.js"
TEXTS = """(hidden) => { // all that is seen or read out; with `hidden` also what this screen has no room for
  const out = [];
  const seen = (el) => hidden || (el.checkVisibility?.({ checkOpacity: false }) ?? true);
  for (const el of document.querySelectorAll("body *")) {
    if (!seen(el) || el.closest("[lang=en]:not(html)")) continue; // the name of a booklet
    for (const name of ["aria-label", "title", "placeholder", "alt"]) {
      if (el.getAttribute(name)) out.push(el.getAttribute(name));
    }
    for (const node of el.childNodes) if (node.nodeType === 3 && node.data.trim()) out.push(node.data.trim());
  }
  return out;
}"""
TOUCHED = """() => [...document.querySelectorAll("button, a, input, select")].filter((b) => b.checkVisibility())
  .map((b) => [b.dataset.key ?? b.className, b.offsetWidth, b.offsetHeight])"""
OPEN = """() => JSON.stringify([...document.querySelectorAll("body > *, main > *, [aria-pressed=true]")]
  .filter((e) => e.id !== "toast" && e.checkVisibility()).map((e) => e.dataset.key ?? e.id))"""
FINGER = 48  # pixels
COLOURED = ("color-contrast", "link-in-text-block")  # of axe's rules those that light or dark makes a difference to


@cache
def axe() -> str:
    return AXE.read_text("utf-8")


def violations(page, *rules: str) -> list[str]:
    """What axe has against the page as it is, by some of its rules or by all."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(f"() => {{ {axe()} }}")
    found = page.evaluate("(rules) => axe.run(document, { resultTypes: ['violations'],"
                          " ...(rules.length && { runOnly: rules }) })", rules)["violations"]
    return [f"{v['id']}: {n['target']} {n['any'][0]['message'] if n['any'] else v['help']}"
            for v in found for n in v["nodes"]]


def back(page, name: str, live: str) -> None:
    """To the live view: the way out that people take, and where that leaves something behind by beginning anew, which
    costs as much as a view and all that is looked at in it."""
    for _ in range(2):
        if name in WAY_OUT:
            page.locator(f"[data-key='{WAY_OUT[name]}']:visible").click()
        else:
            page.keyboard.press("Escape")
        if page.evaluate(OPEN) == live:
            return
    page.evaluate("() => sessionStorage.clear()")
    page.reload()
    page.wait_for_selector("body[data-ready] .tile")


class English:
    """Texts of the page in English that its language says otherwise."""

    def __init__(self, page, language: str) -> None:
        own, others = page.evaluate(f"""async () => {{
          const [a, b] = await Promise.all(["en", "{language}"].map((l) => import(`/static/js/lang/${{l}}.js`)));
          const flat = (t) => (typeof t === "string" ? [t] : Object.values(t));
          return [Object.values(b.default).flatMap(flat),
            Object.keys(a.default).filter((k) => JSON.stringify(a.default[k]) !== JSON.stringify(b.default[k]))
              .flatMap((k) => flat(a.default[k]))];
        }}""")
        self._own, self._others = self._patterns(own), self._patterns(others)
        self._known: dict[str, list[str]] = {}

    @staticmethod
    def _patterns(texts) -> list[re.Pattern[str]]:
        return [re.compile(".+".join(map(re.escape, re.split(r"\{\w+\}", text))))
                for text in set(texts) if len(text) > 3]

    def in_text(self, text: str) -> list[str]:
        """What of a text is English: all of it, or a piece that the server says."""
        if text not in self._known:
            whole = any(e.fullmatch(text) for e in self._others) and not any(o.fullmatch(text) for o in self._own)
            self._known[text] = [text] * whole + [piece for piece in catalogue() if piece in text.lower()]
        return self._known[text]


@pytest.mark.parametrize(("language", "width", "height"), [("de", 1280, 800), ("fr", 390, 844)],
                         ids=["tablet in German", "phone in French"])
def test_every_view_is_large_enough_in_its_language_and_accessible(serve, visit, language, width, height):
    """What is touched is as large as a finger, nothing is wider than the screen, no English is seen or read out; on the
    tablet axe looks, by dark and by light."""
    _, server = serve(14)
    page = visit(server.url, width, height, locale={"de": "de-DE", "fr": "fr-FR"}[language], color_scheme="dark")
    assert page.evaluate("document.documentElement.lang") == language
    tablet, english, live = language == "de", English(page, language), page.evaluate(OPEN)
    small, left, barriers, seen = [], [], [], 0
    for name, go in LIVE.items():
        go(page)
        for text in page.evaluate(TEXTS, not tablet):
            seen += 1
            left += [(name, piece) for piece in english.in_text(text)]
        small += [(name, *box) for box in page.evaluate(TOUCHED) if min(box[1:]) < FINGER]
        if not page.evaluate("document.documentElement.scrollWidth <= innerWidth"):
            small.append((name, "wider than the screen"))
        until(page, "document.getAnimations().every((a) => a.playState !== 'running')")
        picture(page, f"{name}-{language}")
        if tablet:
            barriers += [(name, v) for v in violations(page)]
            page.emulate_media(color_scheme="light")
            barriers += [(name, "light", v) for v in violations(page, *COLOURED)]
            picture(page, f"{name}-{language}-light")
            page.emulate_media(color_scheme="dark")
        back(page, name, live)
    assert not small
    assert seen > 1000 and not left
    assert not barriers


def test_axe_finds_nothing_on_a_question_and_at_the_end(serve, visit):
    n, wrong, true = misread()
    session, server = serve(n)
    session.commit((wrong,), confidence=0.55, asked=True, crop=JPEG, alternatives=(((wrong,), 0.55), ((true,), 0.4)))
    page = visit(server.url)
    expect(page.locator("#sheet.question")).to_be_visible()
    assert not violations(page)
    session.command({"do": "end_game"})
    page.locator("[data-key='later']").click()
    for told in (0, "end"):
        expect(page.locator("#reveal")).to_be_visible()
        assert not violations(page)
        session.command({"do": "reveal", "step": told})
    expect(page.locator(".result")).to_be_visible()
    picture(page, "end")
    assert not violations(page)
    television = visit(server.url + "tv", 1920, 1080)
    picture(television, "tv")
    assert not violations(television)


def test_the_language_is_chosen_on_the_page(serve, visit):
    _, server = serve(5)
    page = visit(server.url)
    expect(page.locator("[data-key='bar.add']")).to_contain_text("Add")
    page.locator("[data-key='bar.more']").click()
    page.locator("[data-key='pick-fr']").click()
    expect(page.locator("[data-key='bar.add']")).to_contain_text("Ajouter")
    page.goto(server.url)
    expect(page.locator("[data-key='bar.add']")).to_contain_text("Ajouter")
