"""The club settings of ``serve``: options and environment variables, read once at the start."""

from __future__ import annotations

import argparse
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bastide.club.broker import Broker, broker, read_password
from bastide.club.game_round import GameRound
from bastide.club.identity import Identity
from bastide.club.message import LONGEST_NAME, topic
from bastide.club.publisher import Publisher
from bastide.errors import UsageError

if TYPE_CHECKING:
    from bastide.table.session import TableSession

YES = ("1", "yes", "true", "on")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClubTable:
    """A published table: its broker, its name, and whether it accepts commands."""

    to: Broker
    name: str
    commands: bool
    folder: Path

    @contextmanager
    def published(self, session: TableSession, port: int) -> Iterator[Publisher]:
        """Publish a session while the context is entered."""
        rounds = GameRound(self.folder)
        session.play_rounds(rounds)
        with Publisher(session, self.to, self.name, Identity(self.folder),
                       carry_out=partial(rounds.carry_out, session) if self.commands else None,
                       game_round=session.game_round,
                       page=f"http://{socket.gethostname().partition('.')[0]}.local:{port}/") as publisher:
            print(f"the table is published on {self.to} as {topic(publisher.slug, 'state')}"
                  f"{', and takes commands from there' if self.commands else ''}", flush=True)
            yield publisher


def club_table(args: argparse.Namespace, folder: Path, environment: Mapping[str, str]) -> ClubTable | None:
    """From the command line, else the environment (BASTIDE_MQTT, BASTIDE_TABLE, BASTIDE_MQTT_COMMANDS, which
    /etc/bastide/bastide.conf sets); None for a table that is not published. Raises UsageError."""
    url = args.mqtt or environment.get("BASTIDE_MQTT")
    if not url:
        for option in ("table", "mqtt_ca", "mqtt_password", "mqtt_commands"):
            if getattr(args, option):
                raise UsageError(f"--{option.replace('_', '-')}: has no effect without --mqtt")
        return None
    name = " ".join((args.table or environment.get("BASTIDE_TABLE") or socket.gethostname()).split())
    if not name or not name.isprintable() or len(name) > LONGEST_NAME:
        raise UsageError(f"--table: must be a name of up to {LONGEST_NAME} letters")
    to = read_password(broker(url, ca=args.mqtt_ca or environment.get("BASTIDE_MQTT_CA") or None,
                              environment=environment), args.mqtt_password)
    commands = args.mqtt_commands or environment.get("BASTIDE_MQTT_COMMANDS", "").lower() in YES
    return ClubTable(to=to, name=name, commands=commands, folder=folder)
