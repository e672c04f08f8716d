"""Errors that end a command with one sentence and an exit code."""


class UsageError(Exception):
    """Wrong usage or unreadable input (exit code 2). The message is one sentence naming the file and the place."""


class Failure(Exception):
    """The command could not do its work (exit code 1). The message is one sentence that says what to do."""
