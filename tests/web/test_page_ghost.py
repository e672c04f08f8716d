"""A moved camera view, in a browser: the banner leads to it, and the camera is pushed back until it matches."""

from __future__ import annotations

from dataclasses import asdict

import cv2
import numpy as np
import pytest
from pageviews import picture, until
from readers import LOCALES, READERS, faults
from webtable import table

from bastide.log.store import Store
from bastide.machine.pulse import _seen
from bastide.watching.view_monitor import ViewMonitor
from vision.frames import Frame
from web.app import create_app
from web.server import PageServer

expect = pytest.importorskip("playwright.sync_api").expect
POSE = np.array([[60.0, 0, 400], [0, 60.0, 250], [0, 0, 1]])  # 60 px are 45 mm


class Watcher:
    def report(self, size):
        return {"size": list(size), "tiles": [], "open": [], "readings": [], "figures": [], "moving": []}


class Table:
    """A table under a camera that is pushed, as the loop sees it."""

    def __init__(self, session) -> None:
        rng = np.random.default_rng(2)
        rough = cv2.resize(rng.normal(0, 30, (72, 128, 3)).astype(np.float32), (1024, 576),
                           interpolation=cv2.INTER_CUBIC)
        self.picture = np.clip(120 + rough, 0, 255).astype(np.uint8)
        cv2.rectangle(self.picture, (300, 180), (520, 330), (40, 120, 60), -1)
        self.session, self.view_monitor, self.n = session, ViewMonitor(), 0

    def looks(self, x, y, turn=0.0):
        to = cv2.getRotationMatrix2D((512, 288), -turn, 1.0)
        to[:, 2] += x, y
        now = np.asarray(cv2.warpAffine(self.picture, to, (1024, 576), borderMode=cv2.BORDER_REFLECT), np.uint8)
        seeing = self.session.seeing
        for _ in range(4):
            self.n += 1
            frame = Frame(id=self.n, t_s=2.0 * self.n, source="", bgr=now)
            self.view_monitor.look(frame, {(0, 0): POSE})
            seeing.compared = self.view_monitor.compared()
        seeing._made_s = -1e9
        seeing.offer(frame, Watcher())
        if self.view_monitor.notice is not None:
            notice = self.view_monitor.notice
            self.session.set_status("camera_lost", notice.text, notice.code, notice.parts)
        else:
            self.session.set_status("watching")


@pytest.fixture
def served(tmp_path):
    with Store(tmp_path / "t.sqlite") as store:
        session = table(store, 4)
        told = lambda: {"lines": [asdict(one) for one in _seen(session.view()["status"])]}  # noqa: E731
        with session.seeing.attached(), PageServer(create_app(session, pulse=told), port=0) as server:
            yield Table(session), server


@pytest.mark.parametrize(("language", "size"), READERS)
def test_a_view_that_was_bumped_is_pushed_back_until_it_matches(served, visit, language, size):
    shown, server = served
    shown.session.seeing.seen()
    shown.looks(0, 0)
    shown.looks(24, -12, 1.5)
    page = visit(server.url, *size, locale=LOCALES[language], color_scheme="light")
    page.locator("[data-key='banner-ghost']").wait_for()
    picture(page, f"ghost-banner-{language}")
    page.locator("[data-key='banner-ghost']").click()
    sum_ = page.locator("#machine .aim-sum")
    expect(sum_).to_contain_text({"en": "18 mm to the left", "de": "18 mm nach links", "fr": "18 mm"}[language])
    shown.looks(24, -12, 1.5)  # somebody looks by now: a picture comes
    until(page, "[...document.querySelectorAll('.ghost-stage img')].filter((i) => i.naturalWidth > 0).length === 3")
    expect(page.locator(".ghost-layers polyline")).to_have_count(6)
    picture(page, f"ghost-{language}")
    assert not faults(page, language, "ghost")
    shown.looks(0, 0)
    expect(page.locator("#machine .aim-sum.good")).to_be_visible()
    expect(page.locator(".ghost-layers polyline")).to_have_count(0)
    page.locator("[data-key='layer-ghost']").click()
    expect(page.locator(".ghost-view")).to_have_count(0)
    picture(page, f"ghost-back-{language}")
