"""The program's own log: one JSON object per line, bounded, with the id of the request or frame it was about.

    {"t": "2026-11-21T18:00:00.123Z", "level": "warning", "from": "bastide.table", "text": "...", "frame": 812}

Kept in DATA/logs, 2 MB a file and 3 files at most. Anything that looks like a secret is redacted; pictures are never
logged.
"""

from __future__ import annotations

import json
import logging
import logging.handlers
import re
import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

FILE, FILE_BYTES, FILES = "bastide.jsonl", 2_000_000, 3
LONGEST = 4000
_WORDS = r"[\w-]*(?:pin|pass|passwd|password|passphrase|pwd|pas|token|secret|cookie|auth|signing|overlay|key|psk)"
_SECRET = re.compile(
    r"(?i)\b(authorization|cookie)(\"?'?\s*[:=]\s*)[^\"']+"  # these have spaces in them
    rf"|(?<![\w-])({_WORDS})(\"?'?\s*[:=]\s*\"?'?|(?<=--pin)\s+\"?'?)[^\s\"',;&}}]+"
    r"|scrypt:[^\s\"']+"
    r"|(?<=://)[^/\s\"']+@"  # credentials in a URL
    r"|((?:https?|rtsps?)://[^\s\"'?]*\?)[^\s\"']+")  # a camera's password is often in the query


class JsonLines(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        row: dict[str, object] = {
            "t": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(), "from": record.name, "text": clean(record.getMessage())}
        for key in ("frame", "request"):
            if key in record.__dict__:
                row[key] = record.__dict__[key]
        if record.exc_info and record.exc_info[0] is not None:
            row["error"] = clean("".join(traceback.format_exception(*record.exc_info)))
        return json.dumps(row, ensure_ascii=False, default=str)


class Quiet(logging.handlers.RotatingFileHandler):
    """A log handler that ignores write errors: a log that cannot be written must not end a game."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        pass


def clean(text: str) -> str:
    """Redacted and truncated text."""
    text = _SECRET.sub(_masked, text)
    return text if len(text) <= LONGEST else text[:LONGEST] + " ..."


def _masked(found: re.Match[str]) -> str:
    kept = "".join(part for part in found.groups() if part)
    return f"{kept}***@" if found[0].endswith("@") else f"{kept}***"


@contextmanager
def logging_to(data: Path, level: int = logging.INFO) -> Iterator[None]:
    """Log into a data folder while inside, warnings also to standard error. A write error only loses log lines."""
    root = logging.getLogger()
    handlers: list[logging.Handler] = []
    try:
        (data / "logs").mkdir(parents=True, exist_ok=True)
        file = Quiet(data / "logs" / FILE, maxBytes=FILE_BYTES, backupCount=FILES - 1, encoding="utf-8")
        file.setFormatter(JsonLines())
        handlers.append(file)
    except OSError as e:
        print(f"the log {data / 'logs'} cannot be written ({e.strerror or e})", file=sys.stderr)
    loud = logging.StreamHandler()
    loud.setLevel(logging.WARNING)
    loud.setFormatter(logging.Formatter("%(name)s: %(message)s"))
    handlers.append(loud)
    before = root.level
    for handler in handlers:
        root.addHandler(handler)
    root.setLevel(level)
    try:
        yield
    finally:
        root.setLevel(before)
        for handler in handlers:
            root.removeHandler(handler)
            handler.close()
