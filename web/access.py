"""Access control: every request passes here before anything else sees it.

The checks in order: is it meant for this machine (DNS rebinding), does it come from the local network, does it come
from our own page (CSRF), does the sender have the right that it needs. A route that is not a GET and has no mark needs
administration.
"""

from __future__ import annotations

import hmac
import ipaddress
import logging
import socket
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from http import HTTPStatus
from typing import TypeVar
from urllib.parse import urlsplit

from flask import Blueprint, Flask, Response, current_app, request, session
from itsdangerous import BadSignature
from werkzeug.http import parse_cookie

from web.answers import asked_object, error_answer, json_answer
from web.devices import Device, Devices, Keeper, checked_name
from web.protocol import CommandError
from web.rights import (
    DEVICE,
    MACHINE,
    STRANGERS,
    Keys,
    Memory,
    Refused,
    Right,
    Rights,
    address_of,
    is_local,
    needs,
)
from web.scheduling import aside
from web.sessions import Sessions
from web.states import DoorState

DAYS_SIGNED_IN = 30
LOOKING = ("GET", "HEAD", "OPTIONS")
TOKEN_HEADER = "X-CSRF-Token"
HOME_SUFFIXES = ("local", "lan", "home.arpa", "internal", "localdomain")  # domains nobody else can register
_FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Forwarded-Host", "X-Forwarded-Proto", "X-Real-IP", "Via",
              "CF-Connecting-IP", "True-Client-IP")
_STATUS = {"wrong_pin": HTTPStatus.FORBIDDEN, "too_often": HTTPStatus.TOO_MANY_REQUESTS,
           "not_saved": HTTPStatus.INSUFFICIENT_STORAGE, "no_pin": HTTPStatus.CONFLICT, "pin_set": HTTPStatus.CONFLICT}
_log = logging.getLogger("bastide.access")

doorway = Blueprint("access", __name__)
Page = TypeVar("Page", bound=Callable[..., object])


class Access:
    """Who may do what at one table.

    With ``keys`` the table's PIN decides. Without, as in the demo, this machine itself may change everything and all
    others only watch. ``hosts`` are further host names to accept.
    """

    def __init__(self, keys: Keys | None = None, *, hosts: Iterable[str] = (), keeper: Keeper | None = None) -> None:
        """``keeper`` persists the sessions across restarts; without one they end with the process."""
        self.machine_plays = keys is None
        self.rights = Rights(Memory() if keys is None else keys)
        self.devices = Devices(keeper)
        own = socket.gethostname().lower().partition(".")[0]
        self._own = {"localhost", own, socket.gethostname().lower(), *(f"{own}.{s}" for s in HOME_SUFFIXES)}
        self.also(hosts)

    def also(self, hosts: Iterable[str]) -> None:
        """Accept these further host names, and no longer those given before."""
        self._names = self._own | {h.lower().rstrip(".") for h in hosts}

    def guard(self, app: Flask) -> None:
        """Install access control in an application."""
        app.session_interface = Sessions()
        app.secret_key = self.rights.keys.get().signing
        app.config.update(SESSION_COOKIE_NAME="bastide", SESSION_COOKIE_HTTPONLY=True,
                          SESSION_COOKIE_SAMESITE="Strict", SESSION_REFRESH_EACH_REQUEST=False,
                          PERMANENT_SESSION_LIFETIME=DAYS_SIGNED_IN * 24 * 3600)
        app.extensions["access"] = self
        self._signer = app.session_interface.get_signing_serializer(app)
        app.register_blueprint(doorway)
        app.before_request(self.enter)

    def enter(self) -> Response | None:
        """None if the request is allowed, otherwise the error response."""
        if not self.known_host(request.host):
            return error_answer("unknown_host", "the page is not known under this name; use the machine's address, or "
                                "start bastide with --allowed-host", HTTPStatus.MISDIRECTED_REQUEST)
        if not self.from_here():
            key = request.args.get("key", "")
            if not (getattr(self._view(), "with_key", False) and request.method in LOOKING
                    and hmac.compare_digest(key.encode(), self.rights.keys.get().overlay.encode())):
                return error_answer("not_local", "the table is shown on its own network only", HTTPStatus.FORBIDDEN)
        if request.method not in LOOKING or request.path.startswith("/api/"):
            site = request.headers.get("Sec-Fetch-Site", "same-origin")
            opened = request.method in LOOKING and request.headers.get("Sec-Fetch-Mode") == "navigate"
            if site not in ("same-origin", "none") and not opened:
                return error_answer("other_site", "only the table's own page may ask for this", HTTPStatus.FORBIDDEN)
        if request.method in LOOKING:
            return None
        origin = request.headers.get("Origin")
        if origin is not None and _site(origin) != request.host.lower():
            return error_answer("other_site", "only the table's own page may ask for this", HTTPStatus.FORBIDDEN)
        view = self._view()
        return None if view is None else self._may(getattr(view, "right", Right.ADMIN))

    def _may(self, right: Right) -> Response | None:
        held, token = self.held()
        if held < right:
            if held == Right.ADMIN:
                return error_answer("owner_needed", "no administrator's PIN is set: this takes the device that set the "
                                    "table's PIN, or an administrator's PIN in bastide.txt on the card",
                                    HTTPStatus.FORBIDDEN)
            if held == Right.PLAY:
                return error_answer("admin_needed", "this takes the administrator's PIN", HTTPStatus.FORBIDDEN)
            if self.machine_plays:
                return error_answer("watching_only", "this table is changed on its own machine only",
                                    HTTPStatus.FORBIDDEN)
            code, text = ("pin_needed", "changing something takes the table's PIN") if self.rights.pin_is_set else \
                ("pin_unset", "set the table's PIN first")
            answer = error_answer(code, text, HTTPStatus.UNAUTHORIZED)
            answer.headers["WWW-Authenticate"] = "PIN"
            return answer
        if token and right > Right.WATCH and not hmac.compare_digest(
                request.headers.get(TOKEN_HEADER, "").encode(), token.encode()):
            return error_answer("no_token", f"the session's token is missing in {TOKEN_HEADER}", HTTPStatus.FORBIDDEN)
        return None

    def known_host(self, host: str) -> bool:
        """Whether a Host header is one of ours: an address, or a name that nobody else can make resolve to us."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        name = name.rstrip(".")
        if name in self._names or name.endswith((".local", ".localhost")):
            return True
        try:
            ipaddress.ip_address(name.partition("%")[0])
        except ValueError:
            return False
        return True

    def from_here(self) -> bool:
        """Whether the request comes directly from the local network. A forwarded one may come from anywhere."""
        return not any(h in request.headers for h in _FORWARDED) and is_local(request.remote_addr)

    def from_machine(self) -> bool:
        """Whether the request comes from this very machine."""
        found = address_of(request.remote_addr)
        return self.from_here() and found is not None and found.is_loopback

    def device(self) -> Device | None:
        """The valid session of this request, if any."""
        kept = self.rights.keys.get()
        return None if kept.table is None else self.devices.get(session.get("id"), kept.series,
                                                                 request.remote_addr or "")

    def held(self) -> tuple[Right, str]:
        """The right of this request, and the token that its session must repeat (empty without a session)."""
        if (found := self.device()) is not None:
            return Right(found.right), found.token
        return (Right.OWNER if self.machine_plays and self.from_machine() else Right.WATCH), ""

    def refusal(self, right: Right) -> Response | None:
        """The error response for a request without this right; None if it has it."""
        return self._may(right)

    def known(self, cookie: str, address: str) -> str:
        """The id of the session in a Cookie header; empty without a valid one. For the scheduler, before the request is
        processed."""
        if self.machine_plays:
            found = address_of(address)
            return "machine" if found is not None and found.is_loopback else ""
        if "bastide=" not in cookie or len(cookie) > 8000:
            return ""
        try:
            name = self._read(parse_cookie(cookie).get("bastide", ""))
        except ValueError:  # undecodable bytes
            return ""
        return name if name and self.devices.get(name, self.rights.keys.get().series) is not None else ""

    def _read(self, value: str) -> str:
        """The session id in our signed cookie, whether still valid or not; empty for any other cookie."""
        assert self._signer is not None
        try:
            data = self._signer.loads(value, max_age=DAYS_SIGNED_IN * 24 * 3600)
        except BadSignature:
            return ""
        name = data.get("id") if isinstance(data, dict) else None
        return name if isinstance(name, str) else ""

    def signs(self, who: object) -> str:
        """The author of this request's changes in the game's log: its device's signature, which cannot be forged;
        without sessions, the name in the request."""
        found = self.device()
        said = str(who if who is not None else "")
        if found is None:
            return said
        return replace(found, name=found.name or checked_or_none(said)).signature

    def state(self) -> DoorState:
        """The access state for this request's client."""
        kept = self.rights.keys.get()
        held, token = self.held()
        found = self.device()
        pin = "machine" if self.machine_plays else "set" if kept.table is not None else "unset"
        return {"right": named(held), "owner": held is Right.OWNER, "token": token or None, "pin": pin,
                "admin_pin": kept.admin is not None,
                "name": found.name if found else None,
                "failed": sum(f["count"] for f in self.rights.failed()) if held >= Right.ADMIN else None,
                "set_at_s": kept.set_at_s, "set_from": kept.set_from}

    def sign_in(self, right: Right) -> None:
        """Begin a session with this right; the device's previous one ends."""
        before = session.get("id")
        session.clear()
        session.permanent = True
        made = self.devices.begin(right, self.rights.keys.get().series, address=request.remote_addr or "",
                                  agent=request.headers.get("User-Agent", ""),
                                  before=before if isinstance(before, str) else "")
        session["id"] = made.id

    def lane(self) -> tuple[str, str]:
        """The lane of this request's PIN attempts (`web.rights.Tries`), and its device if it was signed in before."""
        before = session.get("id")  # from our signed cookie: its owner once knew a PIN
        if isinstance(before, str):
            return DEVICE, before
        return (MACHINE if self.from_machine() else STRANGERS), ""

    @staticmethod
    def _view() -> object:
        return current_app.view_functions.get(request.endpoint or "")


def _site(origin: str) -> str:
    """The host and port of an ``Origin``; for an invalid one a string that matches no host."""
    try:
        return urlsplit(origin).netloc.lower() or "?"
    except ValueError:
        return "?"


def checked_or_none(name: str) -> str:
    """The name if it is valid, otherwise ""."""
    try:
        return checked_name(name)
    except Refused:
        return ""


def with_key(view: Page) -> Page:
    """Mark a view as accessible from outside the local network with the read-only key."""
    view.with_key = True  # type: ignore[attr-defined]
    return view


def access() -> Access:
    """Access control of the running application."""
    found: Access = current_app.extensions["access"]
    return found


def refusal(e: Refused) -> Response:
    """The error response for a refused PIN."""
    answer = error_answer(e.code, e.text, _STATUS.get(e.code, HTTPStatus.BAD_REQUEST))
    if e.wait_s:
        answer.headers["Retry-After"] = str(int(e.wait_s) + 1)
    return answer


def named(right: Right) -> str:
    """The right's name for the page: the owner is an administrator."""
    return min(right, Right.ADMIN).name.lower()


@doorway.get("/api/session")
def session_state() -> Response:
    """What this device may do."""
    return json_answer(access().state())


@doorway.post("/api/session")
@needs(Right.WATCH)
def sign_in() -> Response:
    """Sign in with a PIN."""
    door, pin = access(), asked_object().get("pin")
    aside()  # hashing a PIN must not delay the table's loop
    door.sign_in(door.rights.check(pin, request.remote_addr or "", *door.lane()))
    return json_answer(door.state())


@doorway.put("/api/session")
@needs(Right.PLAY)
def name_device() -> Response:
    """Name this device: its changes are signed with it."""
    door, name = access(), checked_name(asked_object().get("name"))
    if (found := door.device()) is not None:
        with _kept("the name"):
            door.devices.rename(found.id, name)
    return json_answer(door.state())


@doorway.delete("/api/session")
@needs(Right.WATCH)
def sign_out() -> Response:
    """Sign this device out: its cookie becomes worthless, whoever kept it."""
    door = access()
    if (found := door.device()) is not None:
        with _kept("that it is signed out"):
            door.devices.end([found.id])
    return json_answer(door.state())


@doorway.post("/api/sessions")
@needs(Right.ADMIN)
def sessions() -> Response:
    """The devices that are signed in, and the origins of wrong PINs; ``do`` may end sessions."""
    door, data = access(), asked_object()
    do, mine = data.get("do"), door.device()
    if do != "look" and (refused := door.refusal(Right.OWNER)) is not None:
        return refused
    series = door.rights.keys.get().series
    if do == "end":
        wanted = data.get("session")
        if not isinstance(wanted, str):
            raise CommandError("malformed", "session: must be the name of one")
        with _kept("that it is signed out"):
            if not door.devices.end([wanted]):
                raise CommandError("no_session", "this device is no longer signed in")
    elif do == "end_others":
        with _kept("that they are signed out"):
            door.devices.end([d.id for d in door.devices.listed(series) if mine is None or d.id != mine.id])
    elif do != "look":
        raise CommandError("malformed", "do: must be one of look, end, end_others")
    rows = [{"session": d.id, "right": named(Right(d.right)), "name": d.name, "kind": d.kind,
             "address": d.address, "since_s": round(d.since_s), "seen_s": round(d.seen_s),
             "mine": mine is not None and d.id == mine.id} for d in door.devices.listed(series)]
    return json_answer({"sessions": rows, "failed": door.rights.failed()})


@contextmanager
def _kept(what: str) -> Iterator[None]:
    """Reports write errors to the client."""
    try:
        yield
    except OSError as e:
        raise Refused("not_saved", f"{what} cannot be kept ({e.strerror or e}); free some space or check the disk") \
            from e


@doorway.post("/api/pin")
@needs(Right.WATCH)
def first_pin() -> Response:
    """Set the table's first PIN; the device that does gets administration."""
    door, data = access(), asked_object()
    if door.machine_plays:
        raise Refused("no_pin", "this table has no PIN; it is changed on its own machine")
    if data.get("pin") is None:
        raise Refused("bad_pin", "a PIN is 4 to 12 digits")
    return _set_pins(door, data, first=True)


@doorway.put("/api/pin")
@needs(Right.OWNER)
def change_pin() -> Response:
    """Change the table's PIN, the administrator's, or both; every other device has to sign in again."""
    door, data = access(), asked_object()
    if door.machine_plays:
        raise Refused("no_pin", "this table has no PIN; it is changed on its own machine")
    if data.get("pin") is None and data.get("admin") is None:
        raise Refused("bad_pin", "a PIN is 4 to 12 digits")
    return _set_pins(door, data, first=False)


def _set_pins(door: Access, data: Mapping[str, object], *, first: bool) -> Response:
    """Set the given PINs; the device that does gets administration."""
    by = "this machine" if door.from_machine() else str(request.remote_addr)
    aside()
    with _kept("the PIN"):
        door.rights.set_pins(data.get("pin"), data.get("admin"), by=by, first=first)
    _log.warning("the table's PIN was set from %s" if first else "a PIN was changed from %s", by)
    door.sign_in(Right.OWNER)
    return json_answer(door.state())
