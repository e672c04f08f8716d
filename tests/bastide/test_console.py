"""The screen at the Pi: the address in words and as a QR code that a camera reads off the console's half blocks."""

from __future__ import annotations

import io
import re
from pathlib import Path

import cv2
import numpy as np
import pytest

from bastide.machine import console
from bastide.machine.console import QUIET, qr, screen, show


def seen(text: str) -> str:
    """Decodes the QR code on the screen: black on white, 8 x 16 pixels per character."""
    rows = [re.sub(r"\x1b\[[\d;]*m", "", line).strip("\n") for line in text.splitlines() if "\x1b[30;47m" in line]
    rows = [row[2:] if row.startswith("  ") else row for row in rows]
    width = max(map(len, rows))
    picture = np.full((16 * len(rows) + 32, 8 * width + 32), 255, np.uint8)
    for y, row in enumerate(rows):
        for x, letter in enumerate(row):
            top, left = 16 + 16 * y, 16 + 8 * x
            if letter in "▀█":
                picture[top:top + 8, left:left + 8] = 0
            if letter in "▄█":
                picture[top + 8:top + 16, left:left + 8] = 0
    return cv2.QRCodeDetector().detectAndDecode(cv2.resize(picture, None, fx=2, fy=2,
                                                           interpolation=cv2.INTER_NEAREST))[0]


@pytest.mark.parametrize("url", ["http://192.168.178.20/", "http://[fd00::7]:8000/"])
def test_the_code_on_the_screen_is_read(url: str) -> None:
    assert seen(qr(url)) == url
    first = qr(url).splitlines()[0]
    assert first.count(" ") >= 2 * QUIET


def test_the_screen_says_where_the_page_is_in_three_languages() -> None:
    told = screen("table-2", ["192.168.1.7", "fd00::7"], 80, ["bastide.txt, line 2: a name has \x1b[2J letters"], "de")
    assert "http://table-2.local\n" in told and "http://192.168.1.7\n" in told and "http://[fd00::7]\n" in told
    assert "Hier sind die Punkte" in told and "line 2: a name has" in told and "\x1b[2J" not in told
    assert seen(told) == "http://192.168.1.7/"
    assert max(len(re.sub(r"\x1b\[[\d;]*m", "", line)) for line in told.splitlines()) <= 80
    assert len(told.splitlines()) <= 37  # a console of 1024 x 600 with letters of 8 x 16
    assert "http://t.local:8000\n" in screen("t", ["10.0.0.2"], 8000, [], "fr")
    for language in console.WORDS:
        assert "bastide.txt" in screen("t", [], 80, [], language)


def test_the_port_is_the_one_that_is_announced(tmp_path: Path) -> None:
    unit = Path(__file__).parents[2] / "hardware/avahi.service"
    (tmp_path / "announced").write_text(unit.read_text("utf-8").replace("@PORT@", "8123"), "utf-8")
    assert console.announced_port(tmp_path / "announced") == 8123 and console.announced_port(tmp_path / "no") == 8000


def test_it_is_drawn_once_for_each_change(monkeypatch: pytest.MonkeyPatch) -> None:
    class Ends(Exception): ...
    found = iter([[], [], ["10.0.0.2"], ["10.0.0.2"]])
    monkeypatch.setattr(console, "addresses", lambda: next(found))
    ticks = iter(range(3))

    def tick(seconds: float) -> None:
        if next(ticks, None) is None:
            raise Ends
    monkeypatch.setattr(console.time, "sleep", tick)
    out = io.StringIO()
    with pytest.raises(Ends):
        show(out, name=lambda: "t", port=80, language="en")
    assert out.getvalue().count("\x1b[2J") == 2 and "10.0.0.2" in out.getvalue()
