"""Errors of the scoring room. A board that should not exist is never an error: it is an Issue."""


class ScoringError(Exception):
    """Base of every error this room raises on purpose."""


class InvalidNotation(ScoringError):
    """Text or data that cannot be read as what it should be: a command, a transcript, an option."""


class IllegalMove(ScoringError):
    """A move asked for by name that cannot be carried out at all (there is nothing it could mean)."""
