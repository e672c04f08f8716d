"""Recorded looks in place of a camera: what the reader makes of them, without pictures, in seconds."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from bastide.table.session import TableSession
from bastide.watching.following import Followed
from bastide.watching.notices import rows
from reading.game import Decisions, GameReader
from reading.record import read_looks
from reading.watcher import TICK_S, Proposal
from vision.looks import TableLook
from vision.stills import Still, keep


def read_again(path: Path, session: TableSession, save: Callable[[TableSession, Proposal, Still], None]) -> Followed:
    """Recorded looks, with the same passing of time between them as a watcher has where nothing is to be looked at.
    Ends the program with a sentence if there is no such file."""
    if not path.is_file():
        raise SystemExit(f"{path}: no looks are kept there; make them with --record")
    reader, done = GameReader(session.setup), Followed()
    crop = np.zeros((8, 8, 3), np.uint8)
    still, last_s = keep(crop, {}), math.inf

    def tell(said: Decisions) -> None:
        for decision in said.decisions:
            save(session, Proposal(decision=decision, crop=crop), still)
        session.set_notices(*rows(said.notices, session.setup.players))

    for look in read_looks(path)[1]:
        while last_s + TICK_S < look.t_s:
            last_s += TICK_S
            tell(reader.look(TableLook(frame=look.frame, t_s=last_s, squares={}), session.entries))
        begun = time.perf_counter()
        tell(reader.look(look, session.entries))
        done.latency_s.append(time.perf_counter() - begun)
        last_s, done.frames = look.t_s, done.frames + 1
    entries = -1
    while len(session.entries) != entries:
        entries = len(session.entries)
        tell(reader.finish(session.entries))
    return done
