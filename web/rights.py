"""Who may do what: the table's PIN, the right to administrate, and what slows down those who guess.

Watching is open on the local network. Changing the game takes the table's PIN. Administration (other PINs, and what is
marked with ``needs(Right.ADMIN)``) takes the administrator's own PIN, or the device that set the table's first PIN.
While there is no administrator's PIN the table's administers too if it was set on a page, but owns nothing: changing
PINs, ending sessions and restoring a backup (``Right.OWNER``) would let whoever was told it shut out everybody else.
Where the secrets are kept is not known here; `Keys` is whoever keeps them.
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
ALL_TRIES, ALL_WINDOW_S = 40, 900.0  # wrong PINs of all who share a lane, after which they are slow
LANE_S = 20.0  # so slow: one try in this time from all of them together
APART_WAIT_S = 30.0  # the longest that a device waits for its own mistakes that was signed in before, and this machine
COMMAND_LINE = "the command line"  # where a PIN was set that no page set
STRANGERS, DEVICE, MACHINE = "", "device", "machine"  # who share a lane
LATEST = 1000  # addresses remembered
MOST_FAILED = 50  # of which an administrator is told
HASHING = 4  # PINs that wait to be compared at the same time
PIN_LENGTHS = range(4, 13)
_SCHEME = "scrypt:32768:8:1"
_PATIENCE_S = 10.0
_NICE = 10
_log = logging.getLogger("bastide.access")
View = TypeVar("View", bound=Callable[..., Any])


class Right(IntEnum):
    """What a request may do; each includes those before it."""

    WATCH = 0
    PLAY = 1
    ADMIN = 2
    OWNER = 3


def needs(right: Right) -> Callable[[View], View]:
    """Mark a view with the right that it takes to do more than look. One without a mark takes ``ADMIN``."""
    def mark(view: View) -> View:
        view.right = right  # type: ignore[attr-defined]
        return view
    return mark


@dataclass(frozen=True, slots=True, kw_only=True)
class Secrets:
    """What must stay on the machine. PINs are kept as scrypt hashes; ``series`` counts their changes."""

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
        """The secrets as they are now; another process may have changed them."""
        ...

    def put(self, kept: Secrets) -> None:
        """Keep these from now on. Raises OSError when they cannot be kept; then nothing has changed."""
        ...


class Refused(Exception):
    """Not with this PIN, or not now. ``code`` is for programs, the message is a sentence."""

    def __init__(self, code: str, text: str, wait_s: float = 0.0) -> None:
        super().__init__(text)
        self.code, self.text, self.wait_s = code, text, wait_s


def checked_pin(pin: object) -> str:
    """A PIN that may be set: 4 to 12 digits, no run and no repetition. Raises Refused."""
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
    """One thread that hashes, behind everything else on the machine: the table's loop needs its processor."""
    def behind() -> None:
        with suppress(OSError, AttributeError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), _NICE)  # on Linux of the thread alone

    return ThreadPoolExecutor(1, "pins", behind)


def _matches(kept: str, pin: str) -> bool:
    """Whether a hash is this PIN's. One that cannot be computed here matches nothing, and is reported in the log."""
    try:
        return _hasher().submit(check_password_hash, kept, pin).result()
    except (ValueError, MemoryError, OverflowError) as e:
        _log.error("a PIN could not be compared: %s", e)
        return False


@cache
def _nobody() -> str:
    """What is compared where no PIN is set: it takes as long."""
    return hashed(secrets.token_hex(8))


class Tries:
    """Slows down those who guess: five wrong PINs from one client are free, then it waits 5 s, 10 s ... 15 minutes.

    Once all addresses together had 40 in 15 minutes, those that have not used up their own five
    have one try in 20 s between them: many addresses guess slowly, and an owner at a new device waits for seconds and
    not for a quarter of an hour. Devices that were signed in before are in a ``lane`` of their own and wait for no
    stranger's mistakes, nor does this machine, in a third one. Their lanes become slow like the first: whoever knows
    the table's PIN can sign in as many devices as he likes, and guess the administrator's with each. Held in memory,
    bounded.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._wrong: OrderedDict[str, tuple[int, float]] = OrderedDict()
        self._all: dict[str, deque[float]] = defaultdict(lambda: deque(maxlen=ALL_TRIES))
        self._tried_s: dict[str, float] = {}  # when somebody last tried in a lane that is slow

    def wait_s(self, who: str, *, lane: str = STRANGERS) -> float:
        """How long this client has to wait before it may try again; 0 when it need not."""
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
        """A wrong PIN came from this client; how many have by now."""
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
    """Where wrong PINs came from, and whether the device was signed in before (``known``)."""

    address: str
    count: int
    last_s: int
    known: bool


class Rights:
    """The PINs of one table. Thread safe; one PIN is checked at a time, because each check takes 32 MB."""

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
        """Whether the table's PIN administers too: it was set on a page and no administrator's was, so whoever lost the
        device that set it has nothing else. A PIN of the command line was set by somebody who can set another there.
        """
        return kept.table is not None and kept.admin is None and kept.set_from not in (None, COMMAND_LINE)

    def failed(self) -> list[FailedRow]:
        """Where wrong PINs came from since the program began, the newest first."""
        with self._noting:
            return [row.copy() for row in reversed(self._failed.values())]

    def check(self, pin: object, address: str, lane: str = STRANGERS, device: str = "") -> Right:
        """The right that a PIN gives. ``device`` names one that was signed in before. Raises Refused: wrong, too often,
        or none is set."""
        kept = self.keys.get()
        if kept.table is None:
            raise Refused("no_pin", "no PIN has been set yet")
        if not isinstance(pin, str) or len(pin) > PIN_LENGTHS[-1]:
            raise Refused("bad_pin", "a PIN is 4 to 12 digits")
        who = f"{lane} {device}" if lane else network(address)
        self._may_try(who, lane)  # whoever may not hears so at once, and keeps no place from others
        with self._hashing(self._apart if lane else self._strangers):
            self._may_try(who, lane)
            # Both are always compared, so that the time tells nothing about which was nearly right.
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
        """One at a time, while few wait and none for long: each that waits has one of the page's threads."""
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
        """Keep in mind where a wrong PIN came from, and tell the program's log."""
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
        for what is no PIN or too late, OSError when it cannot be kept."""
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
            raise Refused("pin_set", "the PIN has been set meanwhile; sign in with it")


class Memory:
    """Keys that end with the process."""

    def __init__(self) -> None:
        self._kept = new_secrets()

    def get(self) -> Secrets:
        return self._kept

    def put(self, kept: Secrets) -> None:
        self._kept = kept


# -- addresses ------------------------------------------------------------------------------------------------------


def address_of(text: str | None) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    """A client's IP address, with an IPv4-mapped IPv6 address (::ffff:a.b.c.d) as the IPv4 address it stands for; None
    when the text is no address."""
    try:
        found = ipaddress.ip_address((text or "").partition("%")[0])
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def network(address: str) -> str:
    """What counts as one client: an IPv4 address, or the /64 of an IPv6 one, of which a device has many."""
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
    """Which of our addresses the system would use; connecting a datagram socket sends nothing."""
    family = socket.AF_INET if other.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as s:
            s.connect((str(other), 9))
            return str(s.getsockname()[0])
    except OSError:
        return None
