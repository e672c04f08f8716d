"""The camera's view on the page; and a game that alternates between camera and manual entry."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from bastide.camera.opening import open_camera
from bastide.log.store import Store
from bastide.table.demo_game import demo_game
from bastide.table.seeing import WANTED_S, Seeing
from bastide.table.session import TableSession
from bastide.tiles.art import load_tiles
from bastide.watching.following import Followed, follow
from bastide.watching.watcher import make_watcher
from reading.watcher import TableWatcher
from scoring.events import Setup, TilePlaced, to_json
from scoring.tiles import catalogue
from scoring.transcript import write
from web.protocol import CommandError

TRUTH = demo_game(3, turns=6)
TURNS = [[e for e in turn.events] for turn in TRUTH.turns]
BY_CAMERA, BY_HAND = 2, 2  # turns


def decode(jpeg: bytes) -> Any:
    return cv2.imdecode(np.frombuffer(jpeg, np.uint8), cv2.IMREAD_COLOR)


def watcher(setup: Setup) -> TableWatcher:
    return make_watcher(load_tiles(None, setup.expansions), setup)


def test_the_camera_takes_over_from_hands_and_its_picture_tells_what_it_read(tmp_path: Path) -> None:
    transcript = tmp_path / "game.json"
    transcript.write_text(json.dumps(write(TRUTH)), "utf-8")
    made = [watcher(TRUTH.setup)]
    reports: list[dict[str, Any]] = []
    paused_at: list[int] = []
    with Store(tmp_path / "log.sqlite") as store, open_camera(
            f"sim:transcript={transcript}&seed=3&size=1152x648") as camera:
        session = TableSession(store, TRUTH.setup)

        def renew(setup: Setup) -> TableWatcher:
            made.append(watcher(setup))
            return made[-1]

        def each(done: Followed) -> None:
            laid = len(session.state.tiles) - 1
            if not session.seeing.rests:
                if (seen := session.seeing.seen())["picture"]:
                    reports.append({**seen, "jpeg": session.seeing.picture(seen["picture"])})
                # the third turn begins on the table: people say that they enter it themselves
                if laid == BY_CAMERA and not paused_at:
                    paused_at.append(done.frames)
                    session.seeing.watch(False)
                    for event in sum(TURNS[BY_CAMERA:BY_CAMERA + BY_HAND], []):
                        session.command(to_json(event))
            elif done.frames > paused_at[0] * (1 + 1.2 * BY_HAND / BY_CAMERA):
                session.seeing.watch(True)

        with session.seeing.attached():
            session.seeing.seen()
            follow(camera, made[0], session, on_frame=each, renew=renew)
        view = session.view()
    assert len(made) == 2 and paused_at
    by = [e["source"] for e in view["history"] if e["kind"] == "tile"]
    assert by[:4] == ["camera", "camera", "hand", "hand"] and set(by[4:]) == {"camera"}
    # turned so that it makes no difference to the rules is the same; what is asked about may be any of its candidates
    laid = {tuple(t["at"]): {(t["tile"], catalogue()[t["tile"]].signature(t["rot"]))}
            for t in view["board"]["tiles"] if t["seq"]}
    for question in view["questions"]:
        laid[tuple(question["at"])] |= {(c["body"]["tile"], catalogue()[c["body"]["tile"]].signature(c["body"]["rot"]))
                                        for c in question["candidates"] if c["body"] and "tile" in c["body"]}
    placed = {e.at: (e.tile, catalogue()[e.tile].signature(e.rot)) for e in sum(TURNS, []) if isinstance(e, TilePlaced)}
    assert laid.keys() == placed.keys() and all(placed[at] in laid[at] for at in laid)

    last = reports[-1]
    width, height = last["size"]
    picture = decode(last["jpeg"])
    assert picture.shape[1] / picture.shape[0] == pytest.approx(width / height, rel=0.01)
    corners = np.array([t["corners"] for t in last["tiles"]])
    assert len(corners) >= BY_CAMERA + 1 and (corners >= 0).all() and (corners[..., 0] < width).all()
    taken = {tuple(r["at"]): (r["tile"], r["rot"]) for report in reports for r in report["readings"] if r["taken"]}
    first = TURNS[0][0]
    assert isinstance(first, TilePlaced) and taken[first.at] == (first.tile, first.rot)
    assert any(f["why"] == "" and f["player"] is not None for report in reports for f in report["figures"])
    assert any(report["moving"] for report in reports)
    assert json.loads(json.dumps({k: v for k, v in last.items() if k != "jpeg"}))


class Looked:
    """A frame and its watcher, as far as they are asked."""

    bgr = np.zeros((90, 3200, 3), np.uint8)

    def report(self, size: tuple[int, int]) -> dict[str, Any]:
        return {"size": list(size)}


def test_nothing_is_drawn_or_packed_for_nobody() -> None:
    now = [100.0]
    seeing = Seeing(clock=lambda: now[0])
    seeing.offer(Looked(), Looked())  # type: ignore[arg-type]
    assert seeing.seen()["picture"] is None  # from now on somebody looks
    for n in range(1, 8):
        now[0] += 1.0
        seeing.seen()
        seeing.offer(Looked(), Looked())  # type: ignore[arg-type]
        seeing.offer(Looked(), Looked())  # type: ignore[arg-type]
        assert seeing.seen()["picture"] == n  # one for each second, however many frames come
    assert seeing.picture(7) and seeing.picture(1) is None  # old ones go
    picture = seeing.picture(7)
    assert picture is not None and decode(picture).shape[1] == 1600
    now[0] += 3 * WANTED_S
    seeing.offer(Looked(), Looked())  # type: ignore[arg-type]
    assert seeing.picture(8) is None and seeing.seen()["picture"] is None  # nothing stale is shown


def test_without_a_camera_there_is_nothing_to_switch() -> None:
    with pytest.raises(CommandError) as raised:
        Seeing().watch(False)
    assert raised.value.code == "no_camera"
