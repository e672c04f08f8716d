"""The levels of a simulated table, and the options a user may choose."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from vision.frames import SourceError
from vision.simulator.rates import NAMES, Mishaps, wanted

TILE_MM = 45.0
TILE_HEIGHT_MM = 2.2


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """How much a table deviates from an ideal one. Standard deviations unless called a range or a limit."""

    name: str
    jitter_mm: float  # of each tile against its neighbours; errors add up over the board
    jitter_deg: float
    tilt_deg: float  # limit of the camera's tilt
    k1: tuple[float, float]  # range of the lens's first coefficient
    board_deg: float  # limit of the board's angle against the picture (besides quarter turns)
    light: float  # how uneven: 0.2 = a fifth brighter under the lamp than far away
    cast: float  # limit of each channel's gain error
    noise: float  # grey levels
    quality: int  # of the JPEG; 0 = none
    blur_px: float  # of the lens
    exposure_s: float  # exposure time, which blurs motion
    surfaces: tuple[str, ...]
    props: bool  # cups, stacks and figures in supply stand around the board
    glare: float  # strength of the lamp's reflection
    idle_visits: float  # probability per turn of a hand that does nothing
    figure_mm: float  # jitter of a figure about its segment's spot
    variants: int  # number of different prints of one tile kind
    slide_s: float = 0.0  # 0: a film; else one picture a turn, shown for so long, with hard cuts between them


LEVELS: Mapping[str, Level] = {
    level.name: level for level in (
        Level(name="easy", jitter_mm=0.15, jitter_deg=0.25, tilt_deg=0.8, k1=(-0.01, 0.01), board_deg=3, light=0.08,
              cast=0.02, noise=1.5, quality=0, blur_px=0.4, exposure_s=0.002,
              surfaces=("oak", "cloth"), props=False, glare=0.0,
              idle_visits=0.0, figure_mm=1.5, variants=1),
        Level(name="normal", jitter_mm=0.4, jitter_deg=0.6, tilt_deg=2.5, k1=(-0.06, 0.03), board_deg=10, light=0.25,
              cast=0.08, noise=3.0, quality=88, blur_px=0.6, exposure_s=0.01,
              surfaces=("oak", "walnut", "cloth", "white"), props=True,
              glare=0.1, idle_visits=0.05, figure_mm=3.0, variants=1),
        Level(name="hard", jitter_mm=0.7, jitter_deg=1.1, tilt_deg=5.0, k1=(-0.14, 0.05), board_deg=45, light=0.45,
              cast=0.16, noise=5.5, quality=72, blur_px=0.85, exposure_s=0.02,
              surfaces=("oak", "walnut", "cloth", "white", "green"),
              props=True, glare=0.3, idle_visits=0.2, figure_mm=4.5, variants=3),
        Level(name="life", jitter_mm=0.7, jitter_deg=1.1, tilt_deg=4.0, k1=(-0.1, 0.04), board_deg=45, light=0.35,
              cast=0.12, noise=4.0, quality=80, blur_px=0.8, exposure_s=0.02,
              surfaces=("oak", "walnut", "cloth", "white", "green"),
              props=True, glare=0.2, idle_visits=0.2, figure_mm=4.5, variants=3),
        Level(name="slides", jitter_mm=0.7, jitter_deg=1.1, tilt_deg=4.0, k1=(-0.1, 0.04), board_deg=45, light=0.35,
              cast=0.12, noise=4.0, quality=80, blur_px=0.8, exposure_s=0.02,
              surfaces=("oak", "walnut", "cloth", "white", "green"),
              props=True, glare=0.2, idle_visits=0.0, figure_mm=4.5, variants=3, slide_s=5.0),
    )
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """``fov`` (horizontal degrees) and ``k1`` override the usual lens; a wide one is mounted lower. ``rest`` is the
    least number of frames without a hand between two visits.

    ``tiles`` is a folder of taught pictures to draw with instead of our own art. ``turns`` stops the game early.
    ``mishaps`` is ``none``, ``level`` for those of the level, or the names of some, at a high rate.
    """

    level: str = "normal"
    size: tuple[int, int] = (1536, 864)
    fps: float = 8.0
    rest: int = 6
    tail_s: float = 3.0
    turns: int | None = None
    tiles: Path | None = None
    fov: float | None = None
    k1: float | None = None
    mishaps: str = "none"

    @property
    def conditions(self) -> Level:
        return LEVELS[self.level]

    @property
    def goes_wrong(self) -> Mishaps:
        return wanted(self.mishaps, self.level)


def options_from(given: Mapping[str, str]) -> Options:
    """Options from the query of a URI. Raises SourceError naming the key and its allowed values."""
    known = {f.name for f in fields(Options)}
    values: dict[str, object] = {}
    for key, text in given.items():
        try:
            if key == "level":
                if text not in LEVELS:
                    raise ValueError
                values[key] = text
            elif key == "size":
                w, h = (int(n) for n in text.lower().split("x"))
                if not (320 <= w <= 8192 and 180 <= h <= 8192):
                    raise ValueError
                values[key] = (w, h)
            elif key in ("fps", "tail_s"):
                values[key] = float(text)
                if not 0 < float(text) <= 120:
                    raise ValueError
            elif key == "fov":
                values[key] = float(text)
                if not 30 <= float(text) <= 115:
                    raise ValueError
            elif key == "k1":
                values[key] = float(text)
                if not -0.2 <= float(text) <= 0.2:
                    raise ValueError
            elif key in ("rest", "turns"):
                values[key] = int(text)
                if int(text) < 1:
                    raise ValueError
            elif key == "mishaps":
                wanted(text, "normal")
                values[key] = text
            elif key == "tiles":
                values[key] = Path(text)
            else:
                raise SourceError(f"the simulator has no option {key!r}; known are "
                                  f"{', '.join(sorted(known | {'transcript', 'seed', 'pace'}))}")
        except ValueError:
            allowed = {"level": f"one of {', '.join(LEVELS)}", "size": "WIDTHxHEIGHT, 320x180 or more",
                       "fov": "30 to 115 degrees", "k1": "-0.2 to 0.2", "rest": "a whole number above 0",
                       "turns": "a whole number above 0",
                       "mishaps": f"none, level or some of {', '.join(NAMES)} with commas between"}
            raise SourceError(f"sim option {key}={text!r} should be {allowed.get(key, 'a number above 0')}") from None
    return Options(**values)  # type: ignore[arg-type]
