"""Folders of tile pictures: loading, and an error message for each mistake."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from vision.tileset import TileSetError, drawn_tileset, load_tileset


def _write(path, size=(40, 40)):
    cv2.imwrite(str(path), np.full((*size, 3), 90, np.uint8))


def test_reads_every_specimen_sorted_by_id(tmp_path):
    for name in ("base.V~2.png", "base.D.jpg", "base.V.png", "base.V~1.PNG"):
        _write(tmp_path / name)
    (tmp_path / "notes.txt").write_text("left alone")
    (tmp_path / ".hidden.png").write_bytes(b"left alone")
    tiles = load_tileset(tmp_path, size_px=32)
    assert tiles.ids == ("base.D", "base.V")
    assert [tile for tile, _ in tiles.images] == ["base.D", "base.V", "base.V", "base.V"]
    assert all(bgr.shape == (32, 32, 3) and bgr.dtype == np.uint8 for _, bgr in tiles.images)
    assert not tiles.drawn


@pytest.mark.parametrize(("make", "says"), [
    (lambda folder: folder / "nowhere", "does not exist"),
    (lambda folder: folder, "has no pictures"),
    (lambda folder: _with(folder, "base.ZZ.png", b""), "not named after a known tile"),
    (lambda folder: _with(folder, "base.D~.png", b""), "not named after a known tile"),
    (lambda folder: _with(folder, "base.D.png", b"not a picture"), "is not a picture"),
    (lambda folder: _with(folder, "base.D.png", b""), "is not a picture"),
])
def test_each_mistake_is_one_clear_sentence(tmp_path, make, says):
    with pytest.raises(TileSetError, match=says) as raised:
        load_tileset(make(tmp_path))
    assert "\n" not in str(raised.value)


def _with(folder, name, data):
    (folder / name).write_bytes(data)
    return folder


def test_a_file_is_no_folder(tmp_path):
    _write(tmp_path / "base.D.png")
    with pytest.raises(TileSetError, match="not a folder"):
        load_tileset(tmp_path / "base.D.png")


def test_a_picture_must_be_square_and_large_enough(tmp_path):
    _write(tmp_path / "base.D.png", (40, 60))
    with pytest.raises(TileSetError, match="60 x 40"):
        load_tileset(tmp_path)
    _write(tmp_path / "base.D.png", (8, 8))
    with pytest.raises(TileSetError, match="at least 16"):
        load_tileset(tmp_path)


def test_known_ids_may_be_fewer_than_the_catalogue(tmp_path):
    _write(tmp_path / "base.D.png")
    with pytest.raises(TileSetError, match="not named after a known tile"):
        load_tileset(tmp_path, ["base.V"])


def test_drawn_pictures_and_their_subset():
    tiles = drawn_tileset(["base.V", "base.D"], size_px=48, variants=2)
    assert tiles.drawn and tiles.ids == ("base.D", "base.V") and len(tiles.specimens) == 4
    assert tiles.only(["base.V"]).ids == ("base.V",)
    with pytest.raises(TileSetError):
        tiles.only(["base.X"])
    with pytest.raises(TileSetError, match="not a known tile"):
        drawn_tileset(["base.ZZ"])
