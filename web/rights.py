"""Authorisation: the table's PIN, the right of administration, and rate limiting of PIN attempts.

Watching is open on the local network. Changing the game needs the table's PIN. Administration (other PINs, and routes
marked with ``needs(Right.ADMIN)``) needs the administrator's PIN, or the device that set the table's first PIN. While
there is no administrator's PIN the table's PIN gives administration too if it was set on a page, but not ownership:
changing PINs, ending sessions and restoring a backup (``Right.OWNER``) would let anybody who knows it lock out all
others. The secrets are stored behind the interface `Keys`.
"""

from __future__ import annotations

import ipaddress
import logging
import os
import secrets
import socket
import threading
import time
from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from enum import IntEnum
from functools import cache
from typing import Any, Protocol, TypedDict, TypeVar

from werkzeug.security import check_password_hash, generate_password_hash

FREE_TRIES = 5  # wrong PINs from one address before it has to wait
FIRST_WAIT_S, LONGEST_WAIT_S = 5.0, 900.0
ALL_TRIES, ALL_WINDOW_S = 40, 900.0  # wrong PINs in a lane after which it is throttled
LANE_S = 20.0  # a throttled lane: one attempt in this time from all clients together
APART_WAIT_S = 30.0  # longest wait of this machine and of devices that were signed in before
COMMAND_LINE = "the command line"  # origin of a PIN that was not set on a page
STRANGERS, DEVICE, MACHINE = "", "device", "machine"  # the lanes
LATEST = 1000  # addresses remembered
MOST_FAILED = 50  # of them shown to an administrator
HASHING = 4  # most PINs that wait for hashing at the same time
PIN_LENGTHS = range(4, 13)
_SCHEME = "scrypt:32768:8:1"
_PATIENCE_S = 10.0
_NICE = 10
_log = logging.getLogger("bastide.access")
View = TypeVar("View", bound=Callable[..., Any])


class Right(IntEnum):
    """The rights of a request; each includes those before it."""

    WATCH = 0
    PLAY = 1
    ADMIN = 2
    OWNER = 3


def needs(right: Right) -> Callable[[View], View]:
    """Mark a view with the right that changing requests need. Without a mark it is ``ADMIN``."""
    def mark(view: View) -> View:
        view.right = right  # type: ignore[attr-defined]
        return view
    return mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """Secrets that never leave the machine. PINs are scrypt hashes; ``series`` counts their changes."""

    signing: str
    overlay: str
    table: str | None = None
    admin: str | None = None
    series: int = 0
    set_at_s: float | None = None
    set_from: str | None = None


def new_secrets() -> Secrets:
    """Fresh random keys and no PIN."""
    return Secrets(signing=secrets.token_hex(32), overlay=secrets.token_urlsafe(12))


class Keys(Protocol):
    """The store of the secrets. May be called from any thread."""

    def get(self) -> Secrets:
        """The current secrets; another process may have changed them."""
        ...

    def put(self, kept: Secrets) -> None:
        """Store these. Raises OSError when they cannot be stored; then nothing has changed."""
        ...


class Refused(Exception):
    """A refused PIN or attempt. ``code`` is for programs, the message is a sentence."""

    def __init__(self, code: str, text: str, wait_s: float = 0.0) -> None:
        super().__init__(text)
        self.code, self.text, self.wait_s = code, text, wait_s


def checked_pin(pin: object) -> str:
    """A valid new PIN: 4 to 12 digits, no run and no repetition. Raises Refused."""
    if not isinstance(pin, str) or not pin.isascii() or not pin.isdigit() or len(pin) not in PIN_LENGTHS:
        raise Refused("bad_pin", "a PIN is 4 to 12 digits")
    steps = {(int(b) - int(a)) % 10 for a, b in zip(pin, pin[1:], strict=False)}
    if len(steps) == 1 and steps <= {0, 1, 9}:
        raise Refused("bad_pin", "that PIN is the first that anybody would try; take another")
    return pin


def hashed(pin: str) -> str:
    """The scrypt hash of a PIN, with its own salt."""
    return _hasher().submit(generate_password_hash, pin, _SCHEME).result()


@cache
def _hasher() -> ThreadPoolExecutor:
    """A single hashing thread at low priority: the table's loop needs the processor."""
    def behind() -> None:
        with suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)  # on Linux per thread

    return ThreadPoolExecutor(1, "pins", behind)


def _matches(kept: str, pin: str) -> bool:
    """Whether a hash is this PIN's. One that cannot be computed here matches nothing, and is reported in the log."""
    try:
        return _hasher().submit(check_password_hash, kept, pin).result()
    except (ValueError, MemoryError, OverflowError) as e:
        _log.error("a PIN could not be verified: %s", e)
        return False


@cache
def _nobody() -> str:
    """A random hash to compare with where no PIN is set, so that the time is the same."""
    return hashed(secrets.token_hex(8))


class Tries:
    """Rate limit against guessing: five wrong PINs from one client are free, then it waits 5 s, 10 s ... 15 minutes.

    Once all addresses together had 40 in 15 minutes, those with some of their own five left share one attempt in 20 s:
    distributed guessing is slow, and an owner at a new device waits for seconds and not for a quarter of an hour.
    Devices that were signed in before have a ``lane`` of their own and do not wait for strangers' mistakes, nor does
    this machine, in a third lane. These lanes are throttled like the first: with the table's PIN one can sign in any
    number of devices, and guess the administrator's PIN with each. Held in memory, bounded.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._wrong: OrderedDict[str, tuple[int, float]] = OrderedDict()
        self._all: dict[str, deque[float]] = defaultdict(lambda: deque(maxlen=ALL_TRIES))
        self._tried_s: dict[str, float] = {}  # last attempt in a throttled lane

    def wait_s(self, who: str, *, lane: str = STRANGERS) -> float:
        """How long this client has to wait before its next attempt; 0 if it need not."""
        now = self._clock()
        count, last = self._wrong.get(who, (0, now))
        longest = LONGEST_WAIT_S if lane == STRANGERS else APART_WAIT_S
        own = last + min(longest, FIRST_WAIT_S * 2 ** min(count - FREE_TRIES, 20)) - now if count >= FREE_TRIES else 0.0
        shared = 0.0
        if self._slow(lane, now):
            shared = self._all[lane][0] + ALL_WINDOW_S - now if lane == STRANGERS and count >= FREE_TRIES else \
                self._tried_s.get(lane, now - LANE_S) + LANE_S - now
        return max(0.0, own, shared)

    def _slow(self, lane: str, now: float) -> bool:
        wrong = self._all[lane]
        return len(wrong) == ALL_TRIES and wrong[0] + ALL_WINDOW_S > now

    def wrong(self, who: str, *, lane: str = STRANGERS) -> int:
        """Count a wrong PIN of this client; returns its count."""
        now = self._clock()
        if self._slow(lane, now):
            self._tried_s[lane] = now
        self._all[lane].append(now)
        count = self._wrong.pop(who, (0, now))[0] + 1
        self._wrong[who] = (count, now)
        while len(self._wrong) > LATEST:
            self._wrong.popitem(last=False)
        return count

    def right(self, who: str) -> None:
        self._wrong.pop(who, None)


class FailedRow(TypedDict):
    """An origin of wrong PINs; ``known``: the device was signed in before."""

    address: str
    count: int
    last_s: int
    known: bool


class Rights:
    """The PINs of one table. Thread-safe; one PIN is checked at a time, because each check takes 32 MB."""

    def __init__(self, keys: Keys, *, clock: Callable[[], float] = time.monotonic) -> None:
        self.keys = keys
        self._tries = Tries(clock)
        self._one, self._noting = threading.Lock(), threading.Lock()
        self._strangers, self._apart = threading.BoundedSemaphore(HASHING), threading.BoundedSemaphore(HASHING)
        self._failed: OrderedDict[str, FailedRow] = OrderedDict()

    @property
    def pin_is_set(self) -> bool:
        return self.keys.get().table is not None

    @staticmethod
    def owners(kept: Secrets) -> bool:
        """Whether the table's PIN gives administration too: it was set on a page and there is no administrator's PIN,
        so after losing the device that set it there is no other way. A PIN set on the command line can be changed
        there.
        """
        return kept.table is not None and kept.admin is None and kept.set_from not in (None, COMMAND_LINE)

    def failed(self) -> list[FailedRow]:
        """The origins of wrong PINs since the start of the program, newest first."""
        with self._noting:
            return [row.copy() for row in reversed(self._failed.values())]

    def check(self, pin: object, address: str, lane: str = STRANGERS, device: str = "") -> Right:
        """The right that a PIN gives. ``device`` is the id of one that was signed in before. Raises Refused: wrong, too
        many attempts, or none is set."""
        kept = self.keys.get()
        if kept.table is None:
            raise Refused("no_pin", "no PIN has been set yet")
        if not isinstance(pin, str) or len(pin) > PIN_LENGTHS[-1]:
            raise Refused("bad_pin", "a PIN is 4 to 12 digits")
        who = f"{lane} {device}" if lane else network(address)
        self._may_try(who, lane)  # refuse at once, without taking a place in the queue
        with self._hashing(self._apart if lane else self._strangers):
            self._may_try(who, lane)
            # Both are always compared, so that the time does not depend on the result.
            admin = _matches(kept.admin or _nobody(), pin)
            table = _matches(kept.table, pin)
            if not admin and not table:
                self._note(address, self._tries.wrong(who, lane=lane), bool(lane))
                raise Refused("wrong_pin", "that is not the PIN")
            self._tries.right(who)
            return Right.OWNER if admin else Right.ADMIN if self.owners(kept) else Right.PLAY

    def _may_try(self, who: str, lane: str) -> None:
        if wait_s := self._tries.wait_s(who, lane=lane):
            raise Refused("too_often", "too many wrong PINs; wait a little before the next", wait_s)

    @contextmanager
    def _hashing(self, places: threading.BoundedSemaphore) -> Iterator[None]:
        """Serialises hashing, with a short bounded queue: each waiting request blocks one of the page's threads."""
        busy = Refused("too_often", "many are trying PINs at this moment; try again soon", LANE_S / 4)
        if not places.acquire(blocking=False):
            raise busy
        try:
            if not self._one.acquire(timeout=_PATIENCE_S):
                raise busy
            try:
                yield
            finally:
                self._one.release()
        finally:
            places.release()

    def _note(self, address: str, count: int, known: bool) -> None:
        """Record and log the origin of a wrong PIN."""
        with self._noting:
            row = self._failed.pop(address, {"count": 0})
            self._failed[address] = {"address": address, "count": row["count"] + 1, "last_s": round(time.time()),
                                     "known": known}
            while len(self._failed) > MOST_FAILED:
                self._failed.popitem(last=False)
        _log.warning("a wrong PIN from %s (%d in a row%s)", address, count,
                     ", a device that was signed in before" if known else "")

    def set_pins(self, table: object = None, admin: object = None, *, by: str, first: bool = False) -> None:
        """Set one PIN or both; every device has to sign in again. With ``first`` only while none is set. Raises Refused
        for an invalid PIN or if too late, OSError when it cannot be stored."""
        changes: dict[str, Any] = {}
        for name, pin in (("table", table), ("admin", admin)):
            if pin is not None:
                changes[name] = checked_pin(pin)
        if table is not None and table == admin:
            raise Refused("bad_pin", "the administrator's PIN must be another than the table's")
        self._may_set(first)
        with self._hashing(self._strangers if first else self._apart):
            self._may_set(first)
            kept = self.keys.get()
            for name, pin in changes.items():
                other = kept.admin if name == "table" else kept.table
                if other is not None and len(changes) == 1 and _matches(other, pin):
                    raise Refused("bad_pin", "the administrator's PIN must be another than the table's")
            changes = {name: hashed(pin) for name, pin in changes.items()}
            self.keys.put(replace(kept, **changes, series=kept.series + 1, set_at_s=round(time.time()), set_from=by))

    def _may_set(self, first: bool) -> None:
        if first and self.pin_is_set:
            raise Refused("pin_set", "the PIN has been set in the meantime; sign in with it")


class Memory:
    """Keys held in memory only."""

    def __init__(self) -> None:
        self._kept = new_secrets()

    def get(self) -> Secrets:
        return self._kept

    def put(self, kept: Secrets) -> None:
        self._kept = kept


# -- addresses ------------------------------------------------------------------------------------------------------


def address_of(text: str | None) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """A client's IP address, an IPv4-mapped IPv6 address (::ffff:a.b.c.d) as IPv4; None for an invalid address."""
    try:
        found = ipaddress.ip_address((text or "").partition("%")[0])
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def network(address: str) -> str:
    """The key of one client: an IPv4 address, or the /64 of an IPv6 one, in which a device has many."""
    found = address_of(address)
    if isinstance(found, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((found, 64), strict=False))
    return str(found)


def is_local(address: str | None) -> bool:
    """Whether an address is on the local network: private, link-local or this machine, or next to our own."""
    found = address_of(address)
    if found is None:
        return False
    if found.is_loopback:
        return True
    if not found.is_global:
        return not (found.is_multicast or found.is_reserved or found.is_unspecified)
    ours = address_of(_our_address_towards(found))
    bits = 24 if found.version == 4 else 64
    return ours is not None and ours.version == found.version and \
        ours in ipaddress.ip_network((found, bits), strict=False)


def _our_address_towards(other: ipaddress.IPv4Address | ipaddress.IPv6Address) -> str | None:
    """The local address that the system would use; connecting a datagram socket sends nothing."""
    family = socket.AF_INET if other.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as s:
            s.connect((str(other), 9))
            return str(s.getsockname()[0])
    except OSError:
        return None
