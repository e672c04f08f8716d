"""Exceptions of the scoring package. An illegal board never raises: it is reported as an Issue."""


class ScoringError(Exception):
    """Base class of all exceptions of this package."""


class InvalidNotation(ScoringError):
    """Text or data that cannot be parsed: a command, a transcript, an option.

    The message quotes the input; a long one is shortened in the middle.
    """

    def __init__(self, text: str = "") -> None:
        super().__init__(text if len(text) <= 800 else f"{text[:400]} ... {text[-60:]}")


class IllegalMove(ScoringError):
    """A move that has no meaning in this game and cannot be applied."""


def unreadable(path: object, error: OSError, what: str = "file") -> str:
    """A one-line message for a file that cannot be read, with its path."""
    if isinstance(error, FileNotFoundError):
        return f"{path}: there is no such file"
    if isinstance(error, IsADirectoryError):
        return f"{path}: is a folder, not a {what}"
    return f"{path}: cannot be read ({error.strerror or error})"
