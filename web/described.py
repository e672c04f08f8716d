"""Exports types: JSON schemas for the OpenAPI document, TypeScript declarations for the page's modules.

``python -m web.described`` writes the declarations (``web/static/js/views.d.ts``); a test compares the file with them.
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

from scoring.appearance import Land, Sign
from scoring.views import GapsView, KindsView, Named, ObjectionsView, PlacesView
from web.boxes import Figure
from web.machine_states import (
    AimState,
    BackupState,
    CamerasState,
    GuideState,
    LensState,
    SettingsState,
    TeachingState,
    TuningState,
    UpdateState,
)
from web.openapi_parts import FLAG, TEXT, Schema, list_of, ref
from web.states import (
    ArtSet,
    CorrectionRow,
    GameRow,
    GhostState,
    MovesNow,
    OwnPictures,
    PreviewRow,
    SeenState,
    TileCandidate,
    TurnRow,
)
from web.views import PastView, View

ANSWERS: tuple[type, ...] = (View, PastView, TurnRow, GameRow, CorrectionRow, PreviewRow, MovesNow, TileCandidate,
                             ArtSet, OwnPictures, SeenState, AimState, TuningState, BackupState, SettingsState,
                             CamerasState, GuideState, UpdateState, PlacesView, ObjectionsView, KindsView, GapsView,
                             TeachingState, LensState, GhostState)
DRAWINGS: tuple[type, ...] = (Figure, Sign, Land)

DECLARED = Path(__file__).parent / "static" / "js" / "views.d.ts"
_PLAIN: Mapping[object, Schema] = {str: TEXT, int: {"type": "integer"}, float: {"type": "number"}, bool: FLAG,
                                   object: {}, Any: {}, types.NoneType: {"type": "null"}}
_NAMES: Mapping[object, str] = {str: "string", int: "number", float: "number", bool: "boolean", object: "any",
                                Any: "any", types.NoneType: "null"}
_GENERATED = "// Made of the server's types (web/described.py): python -m web.described regenerates it.\n"


def schemas(*roots: type) -> dict[str, Schema]:
    """The schemas of these TypedDicts and of all types they use, by name."""
    return {kind.__name__: _object(kind) for kind in _parts(roots)}


def declarations(*roots: type) -> str:
    """The same as TypeScript; a type that extends another one declares only its own fields."""
    kinds = _parts(roots)
    return _GENERATED + "".join(_declared(kind, _base(kind, kinds)) for kind in kinds)


def _parts(roots: Sequence[type]) -> list[type]:
    """The TypedDicts that these consist of, each once, sorted by name."""
    found: dict[str, type] = {}
    waiting: list[object] = list(roots)
    while waiting:
        kind = waiting.pop()
        if typing.is_typeddict(kind) and isinstance(kind, type) and kind.__name__ not in found:
            found[kind.__name__] = kind
            waiting += get_type_hints(kind).values()
        waiting += [] if get_origin(kind) is Literal else get_args(kind)
    return [found[name] for name in sorted(found)]


def _fields(kind: type) -> list[tuple[str, object, bool]]:
    """Name, type (with its description) and whether it is required."""
    return [(name, of, get_origin(of) is not typing.NotRequired)
            for name, of in get_type_hints(kind, include_extras=True).items()]


def _object(kind: type) -> Schema:
    fields = _fields(kind)
    return {"type": "object", "description": " ".join((inspect.getdoc(kind) or "").split()),
            "properties": {name: _schema(of) for name, of, _ in fields},
            "required": [name for name, _, always in fields if always]}


def _schema(of: object) -> Schema:
    origin, args = get_origin(of), get_args(of)
    if origin in (typing.NotRequired, typing.Required):
        return _schema(args[0])
    if origin is Annotated:
        named = [said for said in args[1:] if isinstance(said, Named)]
        plain = ref(named[0].name) if named else _schema(args[0])
        words = [said for said in args[1:] if isinstance(said, str)]
        return {**plain, "description": words[0]} if words else plain
    if typing.is_typeddict(of) and isinstance(of, type):
        return ref(of.__name__)
    if origin is Literal:
        return {"enum": list(args)}
    if origin in (typing.Union, types.UnionType):
        return {"anyOf": [_schema(one) for one in args]}
    if origin is tuple and args[-1] is not Ellipsis:
        return {"type": "array", "prefixItems": [_schema(one) for one in args], "minItems": len(args),
                "maxItems": len(args)}
    if origin in (list, Sequence, tuple):
        return list_of(_schema(args[0]))
    if origin in (dict, Mapping):
        return {"type": "object", "additionalProperties": _schema(args[1])}
    return _PLAIN[of]


def _base(kind: type, kinds: Sequence[type]) -> type | None:
    """The nearest of these that it extends. A TypedDict has no ``__orig_bases__`` before Python 3.12, but it holds its
    bases' annotations: the identical objects, while equal ones of its own are distinct."""
    bases = [other for other in kinds if other is not kind and other.__annotations__ and all(
        kind.__annotations__.get(name) is of for name, of in other.__annotations__.items())]
    return max(bases, key=lambda base: len(base.__annotations__), default=None)


def _declared(kind: type, base: type | None) -> str:
    about = " ".join((inspect.getdoc(kind) or "").split())
    inherited = base.__annotations__ if base else {}
    rows = [f"  {name}{'' if always else '?'}: {_typescript(of)};\n" for name, of, always in _fields(kind)
            if name not in inherited]
    extended = f"{base.__name__} & " if base else ""
    return f"\n/** {about} */\nexport type {kind.__name__} = {extended}{{\n{''.join(rows)}}};\n"


def _typescript(of: object) -> str:
    origin, args = get_origin(of), get_args(of)
    if origin in (typing.NotRequired, typing.Required, Annotated):
        return _typescript(args[0])
    if typing.is_typeddict(of) and isinstance(of, type):
        return of.__name__
    if origin is Literal:
        return " | ".join(f'"{one}"' for one in args)
    if origin in (typing.Union, types.UnionType):
        return " | ".join(_typescript(one) for one in args)
    if origin is tuple and args[-1] is not Ellipsis:
        return f"[{', '.join(_typescript(one) for one in args)}]"
    if origin in (list, Sequence, tuple):
        inner = _typescript(args[0])
        return f"({inner})[]" if " | " in inner else f"{inner}[]"
    if origin in (dict, Mapping):
        return f"Record<string, {_typescript(args[1])}>"
    return _NAMES[of]


def main() -> None:
    """Write the declarations."""
    DECLARED.write_text(declarations(*ANSWERS, *DRAWINGS), "utf-8")


if __name__ == "__main__":
    main()
