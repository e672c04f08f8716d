"""A table for the page's tests: a recorded game of four players, played as far as a test wants."""

from __future__ import annotations

import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

from bastide.log.store import Store
from bastide.table.session import TableSession
from bastide.tiles.art import ArtSets
from scoring.engine import fold, legal_placements, step
from scoring.events import Event, Player, Setup, TilePlaced, TurnEnded, parse_event
from scoring.rules import edition

PLAYERS = (Player(name="Anna", colour="red"), Player(name="Ben", colour="blue"),
           Player(name="Chloé", colour="yellow"), Player(name="Dörte", colour="black"))
EVENTS: tuple[Event, ...] = tuple(
    parse_event(line) for line in (Path(__file__).parent / "game.txt").read_text("utf-8").splitlines())
JPEG = bytes.fromhex(  # one grey pixel
    "ffd8ffe000104a46494600010100000100010000ffdb004300080606070605080707070909080a0c140d0c0b0b0c1912130f141d1a1f1e1d1a"
    "1c1c20242e2720222c231c1c2837292c30313434341f27393d38323c2e333432ffc0000b080001000101011100ffc4001f0000010501010101"
    "010100000000000000000102030405060708090a0bffc400b5100002010303020403050504040000017d010203000411051221314106135161"
    "07227114328191a1082342b1c11552d1f02433627282090a161718191a25262728292a3435363738393a434445464748494a53545556575859"
    "5a636465666768696a737475767778797a838485868788898a92939495969798999aa2a3a4a5a6a7a8a9aab2b3b4b5b6b7b8b9bac2c3c4c5c6"
    "c7c8c9cad2d3d4d5d6d7d8d9dae1e2e3e4e5e6e7e8e9eaf1f2f3f4f5f6f7f8f9faffda0008010100003f00fbd3ffd9")


def up_to(tiles: int) -> tuple[Event, ...]:
    """The game's events up to that many tiles laid, with the follower that went with the last one."""
    laid, out = 0, []
    for event in EVENTS:
        laid += isinstance(event, TilePlaced)
        if laid > tiles:
            break
        out.append(event)
    return tuple(out)


def after(tiles: int) -> tuple[Event, ...]:
    """What comes then."""
    return EVENTS[len(up_to(tiles)):]


def table(store: Store, tiles: int) -> TableSession:
    """A live session in which ``tiles`` tiles have been seen."""
    setup = Setup(players=PLAYERS, rules=edition("zman2012"))
    session = TableSession(store, setup, arts=ArtSets(store.path.parent, None))
    if events := up_to(tiles):
        session.commit(events, confidence=0.98, asked=False)
    session.set_status("watching")
    return session


def misread(least: int = 10) -> tuple[int, TilePlaced, TilePlaced]:
    """A tile of the game that could be mistaken for another one with a different score.

    How many tiles lie before it, the wrong tile and the true one.
    """
    tiles = [e for e in EVENTS if isinstance(e, TilePlaced)]
    setup = Setup(players=PLAYERS, rules=edition("zman2012"))
    for n, true in enumerate(tiles):
        if n < least:
            continue
        before = fold(setup, EVENTS[:EVENTS.index(true)])
        points = fold(setup, (*EVENTS[:EVENTS.index(true) + 1], TurnEnded())).scores
        for kind in dict.fromkeys(t.tile for t in tiles):
            for at, rot in legal_placements(before, kind):
                wrong = TilePlaced(player=true.player, tile=kind, at=at, rot=rot)
                if at == true.at and kind != true.tile and step(step(before, wrong), TurnEnded()).scores != points:
                    return n, wrong, true
    raise AssertionError("no tile of this game can be mistaken")


def get(url: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body, also of an error."""
    return _open(urllib.request.Request(url, headers=headers))


def post(url: str, body: object, **headers: str) -> tuple[int, Any]:
    """Status and JSON of a command."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(url, data=data, headers={"Content-Type": "application/json", **headers})
    status, _, answer = _open(request)
    return status, json.loads(answer)


def _open(request: urllib.request.Request) -> tuple[int, dict[str, str], bytes]:
    try:
        with urllib.request.urlopen(request, timeout=120) as answer:
            return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as e:
        with e:
            return e.code, dict(e.headers), e.read()
