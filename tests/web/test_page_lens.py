"""The lens in a browser: coverage over the live picture, views with their residuals, the data sheet, the history."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from cameras_for_pages import Showing, watched
from pageviews import LIVE, picture, until
from readers import LOCALES, READERS, faults
from webtable import table

from bastide.camera.calibrated import CalibratedCamera
from bastide.camera.calibration_store import CalibrationStore
from bastide.camera.capture import Shot
from bastide.camera.lens_bench import LensBench
from bastide.log.store import Store
from web.app import create_app
from web.server import PageServer

sys.path.append(str(Path(__file__).parents[1] / "calibration"))
from calibration_scenes import views  # noqa: E402

expect = pytest.importorskip("playwright.sync_api").expect


@pytest.fixture
def served(tmp_path):
    camera, store = CalibratedCamera(Showing(views()[5][1]), ()), CalibrationStore(tmp_path)
    bench = LensBench(camera, store, present=lambda: True)
    for _, shown in views()[:6]:
        for _ in range(2):  # held still
            bench._look(Shot(bgr=shown, uri="usb:0", model="imx708"))
    with Store(tmp_path / "t.sqlite") as log, watched(camera), \
            PageServer(create_app(table(log, 0), lens=bench), port=0) as server:
        yield server, bench, store
    bench.close()


@pytest.mark.parametrize(("language", "size"), READERS)
def test_the_lens_is_seen_thinned_kept_and_gone_back_to(served, visit, language, size, tmp_path):
    server, bench, store = served
    page = visit(server.url, *size, locale=LOCALES[language], color_scheme="light")
    LIVE["aim"](page)
    page.locator("[data-key='machine-lens']").click()
    expect(page.locator(".lens-views li")).to_have_count(6)
    expect(page.locator(".lens-view")).to_have_count(6)
    expect(page.locator(".lens-now")).to_have_count(1)
    expect(page.locator(".lens-empty").first).to_be_attached()
    expect(page.locator("#machine .meters")).to_contain_text("Camera Module 3")
    until(page, "document.querySelector('.lens-picture .aim-picture').naturalWidth > 0")
    assert page.evaluate("""() => { const a = document.querySelector('.lens-picture img').getBoundingClientRect(),
        b = document.querySelector('.lens-over svg').getBoundingClientRect();
        return Math.abs(a.width - b.width) < 4 && Math.abs(a.height - b.height) < 4; }"""), "it lies over the picture"
    picture(page, f"lens-{language}")
    page.locator("[data-key='lens-worst']").click()
    expect(page.locator(".lens-views .gone")).to_have_count(1)
    expect(page.locator(".lens-view")).to_have_count(5)
    page.locator("[data-key='lens-keep']").click()
    expect(page.locator("#machine .outcome.good")).to_be_visible()
    assert [d.kind for _, d in store.kept()] == ["lens"]
    assert not faults(page, language, "lens")
    with page.expect_download() as kept:
        page.locator("[data-key^='export-']").click()
    file = tmp_path / "kept.json"
    kept.value.save_as(file)
    assert json.loads(file.read_text("utf-8"))["kind"] == "lens"
    page.locator("[data-key^='export-']").scroll_into_view_if_needed()
    picture(page, f"lens-history-{language}")
    page.locator("#lens-file").set_input_files({"name": "x.json", "mimeType": "application/json", "buffer": b"{}"})
    expect(page.locator("#toast")).to_contain_text({"en": "not a calibration", "de": "keine Kalibrierung",
                                                    "fr": "pas un étalonnage"}[language])
    page.locator("#lens-file").set_input_files(file)
    expect(page.locator("#toast")).to_contain_text({"en": "in use", "de": "in Gebrauch", "fr": "en service"}[language])
