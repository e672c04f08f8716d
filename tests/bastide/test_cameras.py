"""All cameras available to the table: their previews, choosing another one, adding an address."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from processes import PIN, Served

from bastide.camera.calibrated import CalibratedCamera
from bastide.camera.cameras import Cameras
from bastide.files.keys import KeyFile, set_pins
from hardware.found import Found
from vision.frames import Frame, SourceError, SourceInfo
from vision.images import write_image
from web.protocol import CommandError


def checked(size: tuple[int, int], level: int = 120) -> np.ndarray:
    """A picture with edges, as bright as ``level``."""
    rows, columns = np.indices((size[1], size[0]))
    grey = np.where((rows // 20 + columns // 20) % 2, level + 30, max(0, level - 30)).astype(np.uint8)
    return np.dstack([grey] * 3)


class Camera:
    """A camera that exists or not; counts how often it was opened and closed."""

    def __init__(self, uri: str, level: int | None = 120) -> None:
        self.info = SourceInfo(uri=uri, model=f"model {uri}", width=640, height=360, live=False)
        self.level, self.opened, self.closed, self.frames = level, 0, 0, 0

    def __enter__(self) -> Camera:
        if self.level is None:
            raise SourceError("there is no USB camera 1, or another program is using it")
        self.opened += 1
        return self

    def __exit__(self, *exc: object) -> None:
        self.closed += 1

    def read(self, timeout_s: float = 5.0) -> Frame | None:
        assert self.level is not None
        self.frames += 1
        return Frame(id=self.frames, t_s=float(self.frames), source=self.info.uri, bgr=checked((640, 360), self.level))


class Bench:
    """A machine's cameras, and the requests to the table."""

    def __init__(self, used: str | None = None, camera: CalibratedCamera | None = None, fixed: bool = False) -> None:
        self.there = {"usb:0": Camera("usb:0"), "usb:1": Camera("usb:1", None), "usb:2": Camera("usb:2", 4)}
        self.offered: list[str] = []
        self.chosen: list[str] = []
        self.now_s = 0.0
        self.cameras = Cameras(
            used, camera, offered=lambda: self.offered, choose=self.chosen.append, offer=self._offer,
            fixed=lambda: fixed, status=lambda: "the cable is loose", clock=lambda: self.now_s,
            plugged=lambda: [Found(uri=uri, name=f"camera {uri}") for uri in self.there], make=self._make)

    def _offer(self, uris: Any) -> None:
        self.offered = list(uris)

    def _make(self, uri: str) -> Camera:
        return self.there.get(uri) or Camera(uri)

    def until(self, wanted: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The state once it is as wanted."""
        waited = threading.Event()
        for _ in range(600):
            if wanted(state := self.cameras.state()):
                return state
            waited.wait(0.02)
        raise AssertionError(state)


def settled(state: dict[str, Any]) -> bool:
    return all(c["state"] != "opening" for c in state["cameras"])


def test_every_camera_says_what_it_sees_and_a_bad_one_what_is_wrong() -> None:
    bench = Bench()
    good, missing, dark = bench.until(settled)["cameras"]
    assert good["state"] == "ok" and good["size"] == [640, 360] and good["name"] == "model usb:0"
    assert bench.cameras.picture(good["picture"]).startswith(b"\xff\xd8")  # type: ignore[union-attr]
    assert missing["state"] == "fail" and missing["picture"] is None
    assert "another program" in missing["checks"][0]["text"]
    assert dark["state"] in ("warn", "fail") and dark["checks"]
    assert bench.cameras.picture("guessed") is None and bench.cameras.picture("") is None
    bench.cameras.close()
    assert bench.there["usb:0"].closed == bench.there["usb:0"].opened == 1


def test_cameras_are_closed_when_nobody_looks() -> None:
    bench = Bench()
    bench.until(settled)
    looks = list(bench.cameras._looks.values())
    bench.now_s = 60.0
    for look in looks:
        look.join(20.0)
    assert bench.there["usb:0"].closed == 1 and not any(look.is_alive() for look in looks)


def test_choosing_gives_all_back_before_the_table_is_served_anew_unless_the_command_line_names_one() -> None:
    bench = Bench()
    state = bench.until(settled)
    told = bench.cameras.choose(state["cameras"][0]["id"])
    assert told["restarting"] and bench.chosen == ["usb:0"] and bench.there["usb:0"].closed == 1
    fixed = Bench(fixed=True)
    with pytest.raises(CommandError) as refused:
        fixed.cameras.choose(fixed.until(settled)["cameras"][0]["id"])
    assert refused.value.code == "command_line" and not fixed.chosen
    fixed.cameras.close()
    with pytest.raises(CommandError) as refused:
        fixed.cameras.choose("000000000000")
    assert refused.value.code == "no_camera"


def test_a_phone_is_offered_by_its_address_and_forgotten_again() -> None:
    bench = Bench()
    for wrong in ("usb:0", "192.168.1.9:8080", "ftp://x", ""):
        with pytest.raises(CommandError) as refused:
            bench.cameras.offer(wrong)
        assert refused.value.code == "bad_address"
    secret = "http://anna:geheim@192.168.1.9:8080/video"
    rows = bench.cameras.offer(secret)["cameras"]
    bench.cameras.offer(secret)
    assert bench.offered == [secret] and "geheim" not in str(rows) and rows[-1]["typed"]
    assert len(bench.cameras.forget(rows[-1]["id"])["cameras"]) == 3 and bench.offered == []
    bench.cameras.close()


def test_the_camera_in_use_is_asked_through_whoever_owns_it() -> None:
    """Its pictures come from the loop; without any the table's status says why."""
    camera = CalibratedCamera(Camera("usb:0?exposure=9"), ())  # type: ignore[arg-type]
    bench = Bench("usb:0?exposure=9", camera)
    stop = threading.Event()

    def loop() -> None:
        with camera:
            while not stop.wait(0.01):
                camera.read()

    owner = threading.Thread(target=loop)
    owner.start()
    try:
        used = bench.until(lambda s: s["cameras"][0]["state"] == "ok")["cameras"][0]
        assert used["used"] and bench.there["usb:0"].opened == 0
    finally:
        stop.set()
        owner.join()
    assert bench.until(lambda s: s["cameras"][0]["state"] == "fail")["cameras"][0]["checks"][0]["text"] == \
        "the cable is loose"
    bench.cameras.close()


def test_a_table_without_a_camera_gets_one_in_the_same_process(tmp_path: Path) -> None:
    pictures = tmp_path / "pictures"
    pictures.mkdir()
    write_image(str(pictures / "1.png"), checked((640, 360)))
    data, uri = tmp_path / "data", f"folder:{pictures}"
    set_pins(KeyFile(data), table=PIN, admin="907143")
    with Served("serve", "--host", "127.0.0.1", "--port", 0, "--data", data, "--offer-camera", uri) as served:
        served.sign_in("907143")
        state = served.send("POST", "api/cameras", {"do": "look"})
        one = next(c for c in state["cameras"] if c["address"] == uri)
        assert not state["chosen"] and not one["used"]
        assert served.send("POST", "api/cameras", {"do": "choose", "camera": one["id"]})["restarting"]
        served.begun_again()
        assert next(c for c in served.send("POST", "api/cameras", {"do": "look"})["cameras"] if c["used"])["id"] == \
            one["id"]
        assert served.end() == 0
