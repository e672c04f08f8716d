"""Everybody can use the page: axe finds nothing on any view, everything is large enough, languages are whole."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from pageviews import LIVE, picture, until
from servertexts import catalogue
from webtable import JPEG, misread

expect = pytest.importorskip("playwright.sync_api").expect

AXE = Path(__file__).parent / "axe/axe.min.js"
TEXTS = """() => {
  const out = [];
  const seen = (el) => el.checkVisibility?.({ checkOpacity: false }) ?? true;
  for (const el of document.querySelectorAll("body *")) {
    if (!seen(el) || el.closest("[lang=en]:not(html)")) continue; // the name of a booklet
    for (const name of ["aria-label", "title", "placeholder", "alt"]) {
      if (el.getAttribute(name)) out.push(el.getAttribute(name));
    }
    for (const node of el.childNodes) if (node.nodeType === 3 && node.data.trim()) out.push(node.data.trim());
  }
  return out;
}"""


@cache
def axe() -> str:
    return AXE.read_text("utf-8")


def violations(page) -> list[str]:
    """What axe has against the page as it is."""
    if not page.evaluate("() => 'axe' in window"):
        page.evaluate(f"() => {{ {axe()} }}")
    found = page.evaluate("() => axe.run(document, { resultTypes: ['violations'] })")["violations"]
    return [f"{v['id']}: {n['target']} {n['any'][0]['message'] if n['any'] else v['help']}"
            for v in found for n in v["nodes"]]


def reset(page) -> None:
    """Back to the live view, also from where a person would have to go several steps."""
    page.evaluate("() => sessionStorage.clear()")
    page.reload()
    page.wait_for_selector("body[data-ready] .tile")


@pytest.mark.parametrize("name", LIVE)
def test_axe_finds_nothing(serve, visit, name):
    session, server = serve(14)
    page = visit(server.url, color_scheme="dark")
    LIVE[name](page)
    until(page, "document.getAnimations().every((a) => a.playState !== 'running')")
    picture(page, f"{name}-dark")
    found = [f"dark {v}" for v in violations(page)]
    page.emulate_media(color_scheme="light")
    picture(page, f"{name}-light")
    assert not found + [f"light {v}" for v in violations(page)]


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


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)], ids=["tablet", "phone"])
def test_everything_that_is_touched_is_large_enough(serve, visit, size):
    session, server = serve(14)
    page = visit(server.url, *size)
    small = []
    for name, go in LIVE.items():
        reset(page)
        go(page)
        picture(page, f"{name}-{size[0]}")
        for box in page.evaluate("""() => [...document.querySelectorAll("button, a, input, select")]
                                    .filter((b) => b.checkVisibility())
                                    .map((b) => [b.dataset.key ?? b.className, b.offsetWidth, b.offsetHeight])"""):
            if box[1] < 48 or box[2] < 48:
                small.append((name, *box))
        if not page.evaluate("document.documentElement.scrollWidth <= innerWidth"):
            small.append((name, "wider than the screen"))
    assert not small


@pytest.mark.parametrize("language", ["de", "fr"])
def test_no_english_is_on_any_view(serve, visit, language):
    """Every text that is seen or read out is looked for among the English ones that this language says otherwise. In
    German axe looks too."""
    session, server = serve(14)
    page = visit(server.url, locale={"de": "de-DE", "fr": "fr-FR"}[language])
    assert page.evaluate("document.documentElement.lang") == language
    keys = page.evaluate(f"""async () => {{
      const [a, b] = await Promise.all(["en", "{language}"].map((l) => import(`/static/js/lang/${{l}}.js`)));
      const flat = (t) => (typeof t === "string" ? [t] : Object.values(t));
      return Object.keys(a.default).filter((k) => JSON.stringify(a.default[k]) !== JSON.stringify(b.default[k]))
        .flatMap((k) => flat(a.default[k]));
    }}""")
    english = [re.compile(".+".join(map(re.escape, re.split(r"\{\w+\}", text)))) for text in set(keys) if len(text) > 3]
    patterns = [re.compile(".+".join(map(re.escape, re.split(r"\{\w+\}", text)))) for text in page.evaluate(
        f"""async () => Object.values((await import("/static/js/lang/{language}.js")).default)
          .flatMap((t) => Object.values(typeof t === "string" ? [t] : t))""") if len(text) > 3]
    left, seen, server_says = [], 0, catalogue()
    for name, go in LIVE.items():
        reset(page)
        go(page)
        for text in page.evaluate(TEXTS):
            seen += 1
            if any(e.fullmatch(text) for e in english) and not any(own.fullmatch(text) for own in patterns):
                left.append((name, text))
            left += [(name, piece) for piece in server_says if piece in text.lower()]
        until(page, "document.getAnimations().every((a) => a.playState !== 'running')")
        if language == "de":  # it has the longest words; English is looked at in dark and light above
            left += [(name, v) for v in violations(page)]
        picture(page, f"{name}-{language}")
    assert seen > 1000 and not left


def test_the_language_is_chosen_on_the_page(serve, visit):
    _, server = serve(5)
    page = visit(server.url)
    expect(page.locator("[data-key='bar.add']")).to_contain_text("Add")
    page.locator("[data-key='bar.more']").click()
    page.locator("[data-key='pick-fr']").click()
    expect(page.locator("[data-key='bar.add']")).to_contain_text("Ajouter")
    page.goto(server.url)
    expect(page.locator("[data-key='bar.add']")).to_contain_text("Ajouter")
