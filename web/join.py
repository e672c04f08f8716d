"""How other devices find the page: its addresses on the local network, and a QR code of the first of them."""

from __future__ import annotations

import io
import ipaddress
import socket
from urllib.parse import urlsplit

import segno
from flask import Blueprint, Response, current_app, request

from web.answers import json_answer
from web.rights import address_of

joining = Blueprint("joining", __name__)
_BEYOND = "192.0.2.1"  # a documentation address (RFC 5737): looking up our address for that route sends nothing


def addresses() -> list[str]:
    """The page's addresses for other devices, best first; empty when it is served to this machine only."""
    bound = address_of(current_app.config.get("BOUND_HOST", ""))
    if bound is not None and bound.is_loopback:
        return []
    port = str(request.environ.get("SERVER_PORT", "80"))
    hosts = [_host(str(bound))] if bound is not None and not bound.is_unspecified else []
    asked = host_name()
    if not _loopback(asked):
        hosts.append(_host(asked))
    if found := _lan_address():
        hosts.append(_host(found))
    own = socket.gethostname().partition(".")[0]
    if own and own != "localhost":
        hosts.append(f"{own}.local")
    tail = "" if port == "80" else f":{port}"
    return [f"http://{h}{tail}/" for h in dict.fromkeys(hosts)]


def host_name() -> str:
    """The host of the current request, without its port."""
    return urlsplit(f"//{request.host}").hostname or ""


def _host(address: str) -> str:
    return f"[{address}]" if ":" in address else address


def _loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host in ("localhost", "")


def _lan_address() -> str | None:
    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
            s.connect((_BEYOND, 9))
            found = str(s.getsockname()[0])
    except OSError:
        return None
    return None if _loopback(found) else found


@joining.get("/api/join")
def join() -> Response:
    """The addresses under which other devices reach the page."""
    return json_answer({"addresses": addresses()})


@joining.get("/api/join.svg")
def join_code() -> Response:
    """The first of them, or the requested address, as a QR code."""
    found = addresses()
    return Response(code(found[0] if found else request.host_url), mimetype="image/svg+xml")


def code(text: str, error: str = "m") -> bytes:
    """A text as a QR code (SVG), black on white with its quiet zone, also on a dark page: many readers support nothing
    else. ``error`` is the error correction level: l, m, q, h. Raises ValueError for a text that is too long."""
    out = io.BytesIO()
    segno.make(text, error=error, micro=False).save(
        out, kind="svg", border=4, dark="#000", light="#fff", xmldecl=False, svgclass=None, lineclass=None,
        omitsize=True, nl=False)
    return out.getvalue()
