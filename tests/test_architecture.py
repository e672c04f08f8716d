"""The arrows between the rooms, read from the imports. Each check is also shown a piece of code that breaks it."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path, PurePosixPath

import pytest

from scoring.expansions import KNOWN
from scoring.tiles import product

ROOT = Path(__file__).parents[1]
ROOMS = ("scoring", "vision", "reading", "calibration", "hardware", "web", "bastide")
MAY_IMPORT = {
    "scoring": {"scoring"},
    "vision": {"vision", "scoring"},
    "reading": {"reading", "vision", "scoring"},
    "calibration": {"calibration", "vision", "scoring"},
    "hardware": {"hardware", "vision"},
    "web": {"web", "scoring"},
    "bastide": set(ROOMS),
}
INSIDE = {  # the packages of bastide/, each with those it may import; errors, inputs and the version anybody may
    "files": set(),
    "log": {"files"},
    "machine": {"files", "log"},
    "export": set(),
    "tiles": {"files"},
    "book": {"files", "log", "export"},
    "table": {"files", "log", "tiles", "book"},
    "camera": {"files", "machine", "tiles", "table"},
    "watching": {"machine", "tiles", "table"},
    "guide": {"files", "export", "table", "camera"},
    "club": {"files", "table"},
    "settings": {"files", "tiles", "table", "camera", "club"},
    "backup": {"files", "log", "machine", "settings"},
}
INSIDE["commands"] = set(INSIDE)  # the verbs put everything together
BELOW = {"bastide", "bastide.errors", "bastide.inputs", "bastide.__version__"}  # what every package may import
STARTS = {"bastide/__main__.py": {"bastide.cli"}, "bastide/cli.py": set()}  # it finds the verbs by their names
SEES = {"scoring.tiles", "scoring.geometry", "scoring.errors"}  # what vision knows of the game
SHOWS = "vision/simulator/"  # plays games, so that there is something to see
FRAMES = "vision.frames"
LOOKS = "vision.looks"
AT_THE_EYE = ("reading/watcher.py", "reading/look_report.py")  # where frames come in and what was seen is shown
SIMULATED = ("hardware/sim.py", "vision.simulator")
CV2_DRIVERS = {f"hardware/{n}.py" for n in ("video", "folder", "usb", "stream", "live", "quiet")}
AT_HOME = {"picamera2": "hardware/pi.py", "libcamera": "hardware/pi.py", "gpiozero": "hardware/panel.py",
           "reportlab": "bastide/export/sheets.py",
           "segno": ("bastide/export/sheets.py", "bastide/machine/console.py", "web/join.py"),
           "paho": "bastide/club/", "fastjsonschema": "bastide/club/",
           "flask": "web/", "waitress": "web/", "werkzeug": "web/"}
MAY_NAME: dict[str, tuple[set[str] | str, str]] = {  # where an expansion's things are named all the same, and why
    "bastide/export/jcz.py": ("all", "another program's words for the boxes that it knows"),
    "vision/artwork/symbols.py": ("all", "our drawings of what the catalogue says"),
    "vision/artwork/painter.py": ({"river"}, "how water is painted"),
    "vision/signs.py": ("all", "what the outputs of a trained network are, in their order"),
    "vision/figurenet.py": ("all", "the same"),
    "vision/simulator/pieces.py": ("all", "the wood of real boxes, measured"),
    "reading/pieces.py": ({"large", "builder", "pig"}, "what was measured of the wood of real boxes"),
    "vision/simulator/options.py": ({"cloth"}, "a table's cloth"),
    "vision/simulator/surface.py": ({"cloth"}, "a table's cloth"),
    "scoring/rules.py": ({"wheel"}, "an edition that is called after its box"),
    "scoring/events.py": ({"portal"}, "a field of transcript/1's deploy"),
    "web/static/js/lang/": ({"wheel"}, "the edition that is called after its box"),
    "web/static/js/viewport.js": ({"wheel"}, "a mouse's"),
    "web/static/js/players.js": ({"crown", "large"}, "the leader's; a badge's size"),
    "web/static/js/final.js": ({"large"}, "a badge's size"),
    "web/static/js/evenings/evening.js": ({"large"}, "a badge's size"),
    "web/static/js/lazy/reveal.js": ({"large"}, "a badge's size"),
    "web/static/js/lazy/setup.js": ({"large"}, "a badge's size"),
}
LONGEST = 400
DOES_SOMETHING = {"open", "print", "input", "Thread", "Timer", "Popen", "run", "system", "connect", "urlopen",
                  "read_text", "read_bytes", "write_text", "write_bytes", "mkdir", "unlink", "VideoCapture", "sleep",
                  "socket", "iterdir", "glob", "rglob"}


def imported(tree: ast.AST) -> Iterator[str]:
    """The full name of every module that a file imports anywhere, also inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (a.name for a in node.names)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            yield "relative import" if node.level else module
            if module in ROOMS:  # from vision import frames
                yield from (f"{module}.{a.name}" for a in node.names)


def wrong_arrows(path: str, tree: ast.AST) -> Iterator[str]:
    """Imports of one file that run against the arrows."""
    room = PurePosixPath(path).parts[0]
    for name in imported(tree):
        top = name.split(".")[0]
        if name == "relative import":
            yield f"{path}: imports relatively"
        elif top in ROOMS and top not in MAY_IMPORT[room]:
            yield f"{path}: {room} imports {name}"
        elif top == room == "bastide" and not inside_may(path, name):
            yield f"{path}: imports {name}; docs/architecture.md says which package may import which"
        elif room == "scoring" and top not in ROOMS and top not in sys.stdlib_module_names:
            yield f"{path}: scoring imports {name}, which is not in the standard library"
        elif room == "vision" and top == "scoring" and name not in {"scoring", *SEES} and not path.startswith(SHOWS):
            yield f"{path}: vision imports {name}; it knows tiles, not games"
        elif room == "hardware" and top == "vision" and not driver_may(path, name):
            yield f"{path}: a driver imports {name}"
        elif (room == "reading" and top == "vision" and path not in AT_THE_EYE
              and not f"{name}.".startswith(f"{LOOKS}.")):
            yield f"{path}: reading imports {name}; it knows looks, not pixels"
        elif top == "cv2" and room not in ("vision", "calibration") and path not in CV2_DRIVERS:
            yield f"{path}: imports cv2"
        elif top in AT_HOME and not path.startswith(AT_HOME[top]):
            yield f"{path}: imports {top}"


def inside_may(path: str, name: str) -> bool:
    """Inside bastide/ a package imports itself and those below it; a module that lies flat only other flat ones."""
    package = PurePosixPath(path).parts[1]
    if path.count("/") == 1:
        return name in BELOW | STARTS.get(path, set())
    other = (name.split(".") + [""])[1]
    return name in BELOW or other == package or other in INSIDE.get(package, ())


def driver_may(path: str, name: str) -> bool:
    """Drivers know what a frame is; the one that simulates a table also knows the simulator."""
    simulated = path == SIMULATED[0] and f"{name}.".startswith(f"{SIMULATED[1]}.")
    return simulated or f"{name}.".startswith(f"{FRAMES}.") or name == "vision"


@cache
def words_of_boxes() -> Mapping[str, str]:
    """What the expansions beside the base game call their things, by whose word it is: themselves, pieces, places,
    events, options, flags and signs of tiles, drawings."""
    base, out = KNOWN["base"], {}
    known = {*(p.name for p in base.pieces), *(k.name for k in base.kinds), *(h.event.DO for h in base.handlers)}
    for e in KNOWN.values():
        tiles = [t for p in e.products for t in product(p).tiles]
        seen = e.appearance
        own = {e.name, *(p.name for p in e.pieces), *(k.name for k in e.kinds), *e.options,
               *(h.event.DO for h in e.handlers), *(h.event.__name__ for h in e.handlers),
               *(f for t in tiles for f in t.flags),
               *(sign for t in tiles for g in t.segments for sign in g.signs), *seen.icons, *seen.pieces, *seen.signs}
        out.update({} if e is base else {word: e.name for word in own - known})
    return out


def words_in(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Texts, attributes and fields of a module, with their lines; and the modules of expansions that it imports."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.lineno, node.value
        elif isinstance(node, ast.Attribute):
            yield node.lineno, node.attr
        elif isinstance(node, ast.keyword) and node.arg:
            yield node.value.lineno, node.arg
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.lineno, node.target.id
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("scoring.expansions."):
            yield node.lineno, str(node.module).split(".")[2].partition("_")[0]


def words_in_page(source: str) -> Iterator[tuple[int, str]]:
    """The same of a module of the page."""
    code = re.sub(r"^\s*//.*", "", source, flags=re.MULTILINE)
    for m in re.finditer(r"""["'`]([\w.-]+)["'`]|\.(\w+)\b|\b(\w+):""", code):
        for word in (m[1] or m[2] or m[3]).split("."):
            yield code[:m.start()].count("\n") + 1, word


def boxes_named(path: str, words: Iterable[tuple[int, str]]) -> Iterator[str]:
    """Names of an expansion's objects outside its own modules: expansions contribute, other code does not ask for
    them."""
    if path.startswith("scoring/expansions/"):
        return
    allowed = next((names for where, (names, _) in MAY_NAME.items() if path == where or (
        where.endswith("/") and path.startswith(where))), set())
    for line, word in words:
        if word in words_of_boxes() and allowed != "all" and word not in allowed:
            yield f"{path}:{line}: names {word!r} of the expansion {words_of_boxes()[word]}"


def import_effects(path: str, tree: ast.Module) -> Iterator[str]:
    """What a module would do by being imported."""
    if path.endswith("__main__.py"):
        return
    for node in tree.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Import | ast.ImportFrom):
            continue
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            continue
        if isinstance(node, ast.Expr | ast.With | ast.For | ast.While):
            yield f"{path}:{node.lineno}: does something at import"
            continue
        for part in _run_at_import(node):
            if isinstance(part, ast.Call):
                f = part.func
                name = f.attr if isinstance(f, ast.Attribute) else f.id if isinstance(f, ast.Name) else ""
                if name in DOES_SOMETHING:
                    yield f"{path}:{part.lineno}: calls {name} at import"


def _run_at_import(node: ast.AST) -> Iterator[ast.AST]:
    """Everything below a statement but the bodies of functions."""
    yield node
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield from _run_at_import(child)


def too_long(path: str, source: str) -> Iterator[str]:
    lines = source.count("\n")
    if lines > LONGEST:
        yield f"{path}: {lines} lines; split it by what it is about"


def endless_caches(path: str, tree: ast.AST) -> Iterator[str]:
    """Functions of something measured that keep every answer: an evening measures without end."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and any(isinstance(d, ast.Name) and d.id == "cache"
                                                     for d in node.decorator_list):
            given = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            if any(a.annotation is not None and "float" in ast.unparse(a.annotation) for a in given):
                yield f"{path}:{node.lineno}: {node.name} keeps what it says of every number; use lru_cache"


def modules() -> list[tuple[str, str]]:
    """Path and source of every module of every room, as they are in this checkout."""
    out = []
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.py")):
            out.append((path.relative_to(ROOT).as_posix(), path.read_text("utf-8")))
    assert len(out) > 50
    return out


def complaints(path: str, source: str) -> list[str]:
    tree = ast.parse(source)
    return [*wrong_arrows(path, tree), *boxes_named(path, words_in(tree)), *import_effects(path, tree),
            *endless_caches(path, tree), *too_long(path, source)]


def test_every_module_keeps_the_rules_of_the_house() -> None:
    found = [c for path, source in modules() for c in complaints(path, source)]
    assert not found, "\n".join(found)


@pytest.mark.parametrize(("path", "source"), [
    ("scoring/bad.py", "import numpy"),
    ("scoring/bad.py", "from vision.frames import Frame"),
    ("scoring/bad.py", "def f():\n    import cv2"),
    ("scoring/bad.py", "from . import tiles"),
    ("vision/bad.py", "from bastide.table.session import TableSession"),
    ("vision/bad.py", "import web"),
    ("vision/bad.py", "import calibration"),
    ("vision/bad.py", "from reading.game import GameReader"),
    ("vision/bad.py", "from scoring.engine import step"),
    ("vision/bad.py", "from scoring.state import GameState"),
    ("vision/artwork/bad.py", "def f():\n    from scoring import engine"),
    ("reading/bad.py", "from vision.lattice import rectify"),
    ("reading/bad.py", "from bastide.table.session import TableSession"),
    ("reading/bad.py", "import cv2"),
    ("calibration/bad.py", "from hardware.sources import open_source"),
    ("hardware/bad.py", "from vision.tracker import Tracker"),
    ("hardware/bad.py", "from vision import tracker"),
    ("hardware/bad.py", "from scoring.tiles import catalogue"),
    ("hardware/video.py", "from vision.simulator import Simulator"),
    ("hardware/sim.py", "from vision.tracker import Tracker"),
    ("hardware/sources.py", "import cv2"),
    ("hardware/usb.py", "from picamera2 import Picamera2"),
    ("web/bad.py", "from vision.images import encode_jpeg"),
    ("web/bad.py", "import bastide.table.session"),
    ("web/bad.py", "import cv2"),
    ("bastide/bad.py", "import cv2"),
    ("bastide/bad.py", "from bastide.log.store import Store"),
    ("bastide/inputs.py", "from bastide.cli import main"),
    ("bastide/log/bad.py", "from bastide.table.session import TableSession"),
    ("bastide/log/bad.py", "def f():\n    from bastide import table"),
    ("bastide/table/bad.py", "from bastide.watching.table_loop import TableLoop"),
    ("bastide/camera/bad.py", "from bastide.commands.calibrate_command import run"),
    ("bastide/another/bad.py", "from bastide.log.store import Store"),
    ("bastide/bad.py", "from flask import Flask"),
    ("vision/bad.py", "import waitress"),
    ("scoring/bad.py", "def f(e):\n    if 'inns' in e:\n        return 1"),
    ("scoring/bad.py", "def f(e):\n    return e.name == 'dragon'"),
    ("scoring/bad.py", "def f(e):\n    match e:\n        case 'tower':\n            return 1"),
    ("reading/bad.py", "def f(e):\n    return e.goods"),
    ("web/bad.py", "PRINTED = ('volcano', 'pennants')"),
    ("bastide/bad.py", "from scoring.expansions.dragon_moves import LONGEST_WALK"),
    ("web/bad.py", "DATA = open('x')"),
    ("web/bad.py", "class A:\n    x = Path('x').read_text()"),
    ("web/bad.py", "print('hello')"),
    ("bastide/bad.py", "WORKER = threading.Thread(target=f)"),
    ("bastide/bad.py", "if True:\n    y = sleep(1)"),
    ("bastide/bad.py", "\n" * 401),
    ("reading/bad.py", "@cache\ndef f(at: tuple[float, float]) -> int:\n    return 1"),
])
def test_the_check_sees_what_breaks_them(path: str, source: str) -> None:
    assert len(complaints(path, source)) == 1


def test_the_page_names_no_box() -> None:
    modules = {p.relative_to(ROOT).as_posix(): p.read_text("utf-8") for p in (ROOT / "web/static/js").rglob("*.js")}
    assert len(modules) > 80
    found = [c for path, source in modules.items() for c in boxes_named(path, words_in_page(source))]
    assert not found, "\n".join(found)
    for line in ('if (figure === "pig") return;', "const { at } = view.board.dragon;", '"sign.inn": "an inn",',
                 "x = { wine: 1 };"):
        assert list(boxes_named("web/static/js/bad.js", words_in_page(line))), line


def test_every_exception_is_needed() -> None:
    for where, (names, why) in MAY_NAME.items():
        files = sorted((ROOT / where).rglob("*.js")) if where.endswith("/") else [ROOT / where]
        used = {word for f in files for _, word in (words_in_page(f.read_text("utf-8")) if f.suffix == ".js"
                                                    else words_in(ast.parse(f.read_text("utf-8"))))}
        assert why and (used & words_of_boxes().keys() if names == "all" else used >= set(names)), where


@pytest.mark.parametrize(("path", "source"), [
    ("scoring/good.py", "from __future__ import annotations\nimport tomllib\nfrom scoring.tiles import catalogue"),
    ("scoring/expansions/good.py", "def f(e):\n    return e == 'dragon'"),
    ("vision/good.py", "from scoring import geometry\nfrom scoring.tiles import Tile"),
    ("vision/simulator/good.py", "from scoring.engine import step"),
    ("hardware/good.py", "from vision.frames import Frame"),
    ("hardware/sim.py", "from vision.simulator import Simulator"),
    ("reading/good.py", "from scoring.engine import step\nfrom vision.looks import TableLook"),
    ("reading/watcher.py", "from vision.tracker import Tracker"),
    ("hardware/pi.py", "def f():\n    from picamera2 import Picamera2"),
    ("bastide/good.py", "from vision.tracker import Tracker\nfrom web.app import create_app"),
    ("bastide/good.py", "def f():\n    print(open('x'))"),
    ("bastide/log/good.py", "from bastide import __version__\nfrom bastide.errors import Failure\n"
                            "from bastide.files.writing import write_whole\nfrom bastide.log import journal"),
    ("bastide/commands/good.py", "from bastide.table.session import TableSession\nfrom bastide.camera import tuning"),
    ("reading/good.py", "@cache\ndef f(tile: str) -> float:\n    return 1"),
    ("reading/good.py", "@lru_cache(9)\ndef f(x: float) -> int:\n    return 1"),
])
def test_the_check_lets_good_code_pass(path: str, source: str) -> None:
    assert complaints(path, source) == []


def test_the_rules_engine_runs_on_the_standard_library_alone() -> None:
    """Imported for real, with every other package out of reach."""
    names = [p.removesuffix(".py").replace("/", ".") for p, _ in modules() if p.startswith("scoring/")]
    code = f"import sys; sys.path.insert(0, {str(ROOT)!r})\n" + "\n".join(f"import {n}" for n in names)
    done = subprocess.run([sys.executable, "-S", "-I", "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_no_two_packages_may_import_each_other() -> None:
    """Each can be understood with those below it: there is an order in which all are reached from below."""
    known: set[str] = set()
    while ready := {name for name, below in INSIDE.items() if below <= known} - known:
        known |= ready
    assert known == set(INSIDE)
    assert set(INSIDE) == {p.parent.name for p in (ROOT / "bastide").glob("*/__init__.py")}


def test_every_package_is_listed_for_installation() -> None:
    import tomllib

    listed = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["setuptools"]["packages"]
    there = {Path(p).parent.as_posix().replace("/", ".") for p, _ in modules()}
    assert there == set(listed)
