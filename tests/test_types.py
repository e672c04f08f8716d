"""What others see of a module says what it is: no ``Any``, which no checker looks behind, and no untyped JSON that we
have made ourselves. The check is also shown pieces of code that break it."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from test_architecture import modules

ARRAYS = ("NDArray", "np.ndarray", "np.floating", "np.integer")  # whose Any is any size or precision
OURS = ("dict[str, object]", "list[object]")  # what is made here has a shape: a TypedDict or a record
ALLOWED = {  # file, or file and name: why
    "hardware/pi_controls.py": "dictionaries of picamera2, which has no types",
    "scoring/contributions.py Expansion.handlers": "handlers of events of any type",
    "scoring/box.py Box.handlers": "the same",
    "scoring/events.py MoveJson": "the fields of an event are the event's own (`scoring.events.event_fields`)",
    "scoring/box.py Box.shows": "what an expansion shows is the expansion's own",
    "bastide/club/discovery.py Config": "the format is Home Assistant's",
    "bastide/club/message.py schema": "a JSON schema",
    "web/answers.py asked_object": "what a client sends, which whoever asks for it has yet to check",
    "reading/record.py read_looks": "what the writer of a recording says of it",
    "reading/record.py read_watched": "the same",
    "web/stream.py difference": "some parts of a view",
    "bastide/club/hall.py difference": "some parts of a state",
}


def untyped(path: str, tree: ast.Module) -> Iterator[tuple[str, int, str]]:
    """Name, line and annotation of what others see of a module and cannot know the type of."""
    yield from _of(tree.body, "")


def _of(body: list[ast.stmt], within: str) -> Iterator[tuple[str, int, str]]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and _public(node.name):
            yield from _function(node, within)
        elif isinstance(node, ast.ClassDef) and _public(node.name):
            yield from _of(node.body, f"{within}{node.name}.")
        elif isinstance(node, ast.AnnAssign) and _public(ast.unparse(node.target)):
            yield from _annotated(node, within)
        elif isinstance(node, ast.Assign) and isinstance(node.value, ast.Subscript | ast.BinOp):  # a name for a type
            name = ast.unparse(node.targets[0])
            if _public(name) and (_any(node.value) or ast.unparse(node.value) in OURS):
                yield within + name, node.lineno, ast.unparse(node.value)


def _function(node: ast.FunctionDef | ast.AsyncFunctionDef, within: str) -> Iterator[tuple[str, int, str]]:
    every = node.args
    for given in [*every.posonlyargs, *every.args, *every.kwonlyargs, *filter(None, (every.vararg, every.kwarg))]:
        if given.annotation is not None and _any(given.annotation):
            yield within + node.name, node.lineno, f"{given.arg}: {ast.unparse(given.annotation)}"
    if node.returns is not None and (_any(node.returns) or any(made in ast.unparse(node.returns) for made in OURS)):
        yield within + node.name, node.lineno, f"-> {ast.unparse(node.returns)}"
    for inner in ast.walk(node):  # attributes that a constructor makes
        if isinstance(inner, ast.AnnAssign) and isinstance(inner.target, ast.Attribute) and _public(inner.target.attr):
            yield from _annotated(inner, within)


def _annotated(node: ast.AnnAssign, within: str) -> Iterator[tuple[str, int, str]]:
    if _any(node.annotation) or any(made in ast.unparse(node.annotation) for made in OURS):
        name = ast.unparse(node.target).removeprefix("self.")
        yield within + name, node.lineno, ast.unparse(node.annotation)


def _public(name: str) -> bool:
    return not name.startswith("_") or name.startswith("__")


def _any(annotation: ast.AST) -> bool:
    if isinstance(annotation, ast.Subscript) and ast.unparse(annotation.value).endswith(ARRAYS):
        return False
    if isinstance(annotation, ast.Name):
        return annotation.id == "Any"
    return any(map(_any, ast.iter_child_nodes(annotation)))


def complaints(path: str, source: str) -> dict[str, str]:
    """By the names under which an exception may be made."""
    return {f"{path} {name}": f"{path}:{line}: {name}: {what}"
            for name, line, what in untyped(path, ast.parse(source))}


def test_what_others_see_of_a_module_has_a_type() -> None:
    found = {name: said for path, source in modules() for name, said in complaints(path, source).items()}
    wrong = [said for name, said in found.items() if name not in ALLOWED and name.partition(" ")[0] not in ALLOWED]
    assert not wrong, "\n".join(["give it a TypedDict or a record:", *wrong])
    used = set(found) | {name.partition(" ")[0] for name in found}
    assert set(ALLOWED) <= used, "an exception that is needed no more"


@pytest.mark.parametrize("source", [
    "def told() -> dict[str, Any]: ...",
    "def told() -> dict[str, object]: ...",
    "def take(data: Mapping[str, Any]) -> None: ...",
    "def take(*data: Any) -> None: ...",
    "class A:\n    def _f(self) -> Any: ...\n    def __call__(self) -> Any: ...",
    "class A:\n    def __init__(self) -> None:\n        self.rows: list[Any] = []",
    "@dataclass\nclass A:\n    rows: list[dict[str, object]]",
    "Row = dict[str, Any]",
    "Row = dict[str, object]",
    "MADE: dict[str, Callable[[str], Any]] = {}",
])
def test_the_check_sees_what_has_none(source: str) -> None:
    assert len(complaints("bastide/bad.py", source)) == 1


@pytest.mark.parametrize("source", [
    "def take(data: Mapping[str, object]) -> None: ...",  # what comes in is checked by whoever takes it
    "def take(image: NDArray[np.floating[Any]]) -> NDArray[np.uint8]: ...",
    "def _made() -> dict[str, Any]: ...",
    "class _A:\n    rows: list[Any]",
    "class A:\n    def __init__(self) -> None:\n        self._rows: list[Any] = []",
])
def test_the_check_lets_good_code_pass(source: str) -> None:
    assert not complaints("bastide/good.py", source)
