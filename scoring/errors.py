"""Errors of the scoring room. A board that should not exist is never an error: it is an Issue."""


class ScoringError(Exception):
    """Base of every error this room raises on purpose."""


class InvalidNotation(ScoringError):
    """Text or data that cannot be read as what it should be: a command, a transcript, an option.

    The message repeats what was found; of something endless only the ends.
    """

    def __init__(self, text: str = "") -> None:
        super().__init__(text if len(text) <= 800 else f"{text[:400]} ... {text[-60:]}")


class IllegalMove(ScoringError):
    """A move asked for by name that cannot be carried out at all (there is nothing it could mean)."""


def unreadable(path: object, error: OSError, what: str = "file") -> str:
    """One sentence for a file that cannot be read, naming it."""
    if isinstance(error, FileNotFoundError):
        return f"{path}: there is no such file"
    if isinstance(error, IsADirectoryError):
        return f"{path}: is a folder, not a {what}"
    return f"{path}: cannot be read ({error.strerror or error})"
