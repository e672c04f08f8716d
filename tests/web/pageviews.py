"""Every view of the page by name, and how a person gets there; ``./run test --pictures`` keeps screenshots of them in
``artifacts/page``."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

PICTURES = Path("artifacts/page")


def _menu(key: str, seen: str) -> Callable[[Any], None]:
    def go(page: Any) -> None:
        page.locator("[data-key='bar.more']").click()
        page.locator(f"[data-key='{key}']").click()
        page.locator(seen).first.wait_for()
    return go


def _begin(step: int) -> Callable[[Any], None]:
    def go(page: Any) -> None:
        LIVE["begin"](page)
        page.locator(f"[data-key='step-{step}']").click()
        page.locator(f"#begin [data-key='step-{step}'][aria-current]").wait_for()
    return go


def _click(*keys: str) -> Callable[[Any], None]:
    def go(page: Any) -> None:
        for key in keys:
            page.locator(f"[data-key='{key}']").first.click()
    return go


def _press(selector: str, key: str = "Enter") -> Callable[[Any], None]:
    def go(page: Any) -> None:
        page.locator(selector).first.focus()
        page.keyboard.press(key)
    return go


def _tile(page: Any) -> None:
    """The sheet of the last tile: the first arrow leads there, later ones on from where somebody was, and back."""
    page.locator(".board").focus()
    page.keyboard.press("ArrowUp")
    if not page.locator(".tile.last:focus").count():
        page.keyboard.press("ArrowDown")
    assert page.locator(".tile.last:focus").count()
    page.keyboard.press("Enter")
    page.locator("#sheet .candidate").first.wait_for()


def _other(page: Any) -> None:
    _tile(page)
    page.locator("[data-key='other']").click()


def _turning(page: Any) -> None:
    _other(page)
    page.locator(".kinds .tile-button").first.click()


def _staged(page: Any) -> None:
    _tile(page)
    page.locator("[data-key='remove']").click()


def _gap(page: Any) -> None:
    box = page.locator("#at-0-0 use").bounding_box()
    for dx, dy in ((x, y) for x in range(-2, 3) for y in range(-2, 3)):
        page.mouse.click(box["x"] + box["width"] * (0.5 + dx), box["y"] + box["height"] * (0.5 + dy))
        if page.locator("#sheet.gap-sheet").count():
            return
        page.keyboard.press("Escape")
    raise AssertionError("no gap was found")


def _machine(tab: str) -> Callable[[Any], None]:
    def go(page: Any) -> None:
        LIVE["aim"](page)
        page.locator(f"[data-key='machine-{tab}']").click()
        page.locator("#machine h3").first.wait_for()
    return go


LIVE: dict[str, Callable[[Any], None]] = {
    "live": lambda page: None,
    "farms": _click("tool-farms"),
    "open": _click("tool-open"),
    "proof": lambda page: page.locator("#feed .event").last.click(),
    "fix": _tile,
    "fix-staged": _staged,
    "picker": _other,
    "turning": _turning,
    "gap": _gap,
    "left": _click("bar.left"),
    "moves": _click("bar.history"),
    "corrections": _click("bar.history", "history.changes"),
    "add": _click("bar.add"),
    "forecast": _click("bar.now"),
    "walk": _click("bar.now", "walk"),
    "menu": _click("bar.more"),
    "setup": _menu("menu.new", "#setup h2"),
    "replay": _menu("menu.replay", "#replay .scrub"),
    "games": _menu("menu.games", "#sheet .games"),
    "camera": _menu("menu.camera", "#camera .camera-none"),
    "aim": _menu("menu.machine", "#machine .aim-about"),
    "calibrate": _machine("calibrate"),
    "backup": _machine("backup"),
    "devices": _machine("devices"),
    "cameras": _machine("cameras"),
    "settings": _machine("settings"),
    "trial": _machine("trial"),
    "updates": _machine("updates"),
    "begin": _menu("menu.begin", "#begin [data-key='step-0']"),
    "players": _begin(6),
    "practice": _begin(7),
}

WAY_OUT = {"farms": "tool-farms", "open": "tool-open", "forecast": "bar.now", "walk": "bar.now", "replay": "live",
           "players": "close", "practice": "close"}  # what is tapped; out of the others Escape leads


def picture(page: Any, name: str) -> None:
    """Keep a screenshot of the page, where they are wanted."""
    if not os.environ.get("BASTIDE_PICTURES"):
        return
    PICTURES.mkdir(parents=True, exist_ok=True)
    page.screenshot(path=str(PICTURES / f"{name}.jpg"), quality=85)  # a PNG takes three times as long


def until(page, condition, within_ms=60_000):
    """Wait until a JavaScript condition holds. Playwright's wait_for_function looks a second time by eval, which the
    page's policy forbids."""
    assert page.evaluate(f"""() => new Promise((done) => {{
        const end = performance.now() + {within_ms};
        const look = () => ({condition}) ? done(true) : performance.now() > end ? done(false) : setTimeout(look, 40);
        look(); }})"""), condition


def drawn(page: Any) -> None:
    """Wait until what the page knows is on the screen. Its observers of sizes are told within a frame, before it is
    painted, so the second frame from now begins with all that they changed."""
    page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")
