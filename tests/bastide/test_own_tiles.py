"""The owner's tiles for drawing the board: listed, served, of one size, updated when they change."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path

import pytest
from test_art import SETUP, taught

from bastide.log.store import Store
from bastide.table.session import TableSession
from bastide.tiles.art import ArtSets
from vision.images import decoded
from web.app import create_app
from web.server import PageServer


def fetched(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=20) as answer:
        data: bytes = answer.read()
        return data


def test_a_taught_set_is_served_and_changes_its_tag(tmp_path: Path) -> None:
    folder = taught(tmp_path / "tiles" / "old")
    with Store(tmp_path / "log.sqlite") as store:
        session = TableSession(store, SETUP, art="old", arts=ArtSets(tmp_path, None))
        with PageServer(create_app(session), port=0) as server:
            said = json.loads(fetched(f"{server.url}api/own-tiles"))
            assert set(said["tiles"].values()) == {1} and len(said["tiles"]) == 5 and said["tag"]
            kind = next(iter(said["tiles"]))
            image = decoded(fetched(f"{server.url}own-tiles/{said['tag']}/{kind}-0.jpg"), "")
            assert image.shape == (192, 192, 3)
            for wrong in (f"{said['tag']}/{kind}-1.jpg", f"0/{kind}-0.jpg", f"{said['tag']}/nothing-0.jpg"):
                with pytest.raises(urllib.error.HTTPError, match="404"):
                    fetched(f"{server.url}own-tiles/{wrong}")
            (folder / f"{kind}~2.png").write_bytes((folder / f"{kind}.png").read_bytes())
            again = json.loads(fetched(f"{server.url}api/own-tiles"))
            assert again["tiles"][kind] == 2 and again["tag"] != said["tag"]


def test_without_pictures_there_is_nothing_to_draw_with(tmp_path: Path) -> None:
    taught(tmp_path / "tiles" / "old")
    with Store(tmp_path / "log.sqlite") as store:
        for art in ("drawn", ""):
            session = TableSession(store, SETUP, art=art, arts=ArtSets(tmp_path, None))
            assert session.own_tiles() == {"tag": "", "tiles": {}} and session.own_tile("base.D", 0) is None
        assert TableSession(store, SETUP).own_tiles()["tiles"] == {}
