"""Errors that end a command with one sentence and an exit code."""

from __future__ import annotations

from web.protocol import Unavailable


class UsageError(Exception):
    """Wrong usage or unreadable input (exit code 2). The message is one sentence naming the file and the place."""


class Failure(Unavailable):
    """The command could not do its work (exit code 1). The message is one sentence that says what to do."""
