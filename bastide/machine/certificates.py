"""Certificates for HTTPS at home: a certificate authority (CA) of this table's own, which each device has to trust
once, and a certificate for the table's names and addresses, renewed before it expires and when an address changes.

The CA has name constraints: even with a stolen key it can certify only local names and private addresses. Keys are made
and used by the OpenSSL program; they are in a folder of their own, readable by the service only, and not in backups:
another machine makes its own.
"""

from __future__ import annotations

import ipaddress
import json
import secrets
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from bastide.errors import Failure
from bastide.files.writing import write_whole
from web.access import HOME_SUFFIXES

FOLDER = "https"
AUTHORITY, LEAF, MADE = "authority.pem", "page.pem", "page.made"  # not included in backups
NETWORKS = ("127.0.0.0/8", "10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10", "169.254.0.0/16",
            "::1/128", "fc00::/7", "fe80::/10")
AUTHORITY_DAYS = 3650
LEAF_DAYS = 397  # Apple accepts up to 825, public CAs may issue 398
RENEW_DAYS = 90
BEFORE_DAYS = 1  # tolerates clients whose clock is behind
CHECK_S = 600.0
_DAY_S = 86_400
_BEGIN = "-----BEGIN CERTIFICATE-----"


class Certificates:
    """The certificates of one table's page. Every method raises Failure for errors of OpenSSL or the disk."""

    def __init__(self, data: Path, *, clock: Callable[[], float] = time.time) -> None:
        self._folder, self._clock = data / FOLDER, clock

    @property
    def page(self) -> Path:
        """Key and certificate of the page in one file, for ``ssl``."""
        return self._folder / LEAF

    def authority(self) -> str:
        """The CA's certificate (PEM) for devices to trust, without its key."""
        try:
            text = (self._folder / AUTHORITY).read_text("ascii")
        except (OSError, UnicodeDecodeError) as e:
            raise Failure(f"{self._folder / AUTHORITY}: cannot be read ({e})") from e
        return text[text.index(_BEGIN):]

    def renew(self, name: str, addresses: Sequence[str]) -> bool:
        """Ensure that there is a certificate for this name and these addresses that stays valid for a while; whether a
        new one was made. Anything unusable is replaced; a new CA has to be trusted by the devices again."""
        names, found = certified(name, addresses)
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._folder.chmod(0o700)
            fresh = self._needs_authority()
            if fresh:
                self._make_authority(name)
            if not fresh and self._holds(names, found):
                return False
            self._make_leaf(name, names, found)
        except OSError as e:
            raise Failure(f"{self._folder}: certificates cannot be kept ({e.strerror or e})") from e
        return True

    def _needs_authority(self) -> bool:
        file = self._folder / AUTHORITY
        if not file.exists():
            return True
        asked = subprocess.run(["openssl", "x509", "-in", str(file), "-noout", "-checkend", str(LEAF_DAYS * _DAY_S)],
                               capture_output=True, check=False)
        return asked.returncode != 0

    def _holds(self, names: Sequence[str], addresses: Sequence[str]) -> bool:
        try:
            made = json.loads((self._folder / MADE).read_text("utf-8"))
            return bool(self.page.exists() and made["names"] == list(names) and made["addresses"] == list(addresses)
                        and made["from_s"] <= self._clock() < made["until_s"] - RENEW_DAYS * _DAY_S)
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            return False

    def _make_authority(self, name: str) -> None:
        constraints = [*(f"permitted;DNS.{n}={s}" for n, s in enumerate((*HOME_SUFFIXES, "localhost"), 1)),
                       *(f"permitted;IP.{n}={_masked(network)}" for n, network in enumerate(NETWORKS, 1))]
        self._certify(AUTHORITY, f"bastide {name} {secrets.token_hex(2)}", AUTHORITY_DAYS, (
            "basicConstraints=critical,CA:TRUE,pathlen:0", "keyUsage=critical,keyCertSign,cRLSign",
            "subjectKeyIdentifier=hash", "nameConstraints=critical,@home", "[home]", *constraints))

    def _make_leaf(self, name: str, names: Sequence[str], addresses: Sequence[str]) -> None:
        alternative = ",".join([*(f"DNS:{n}" for n in names), *(f"IP:{a}" for a in addresses)])
        now = self._clock()
        self._certify(LEAF, names[0], LEAF_DAYS, (
            "basicConstraints=critical,CA:FALSE", "keyUsage=critical,digitalSignature", "extendedKeyUsage=serverAuth",
            "subjectKeyIdentifier=hash", "authorityKeyIdentifier=keyid", f"subjectAltName={alternative}"))
        write_whole(self._folder / MADE, json.dumps({
            "names": list(names), "addresses": list(addresses), "from_s": now - BEFORE_DAYS * _DAY_S,
            "until_s": now + LEAF_DAYS * _DAY_S}).encode(), mode=0o600, durable=True)

    def _certify(self, file: str, subject: str, days: int, extensions: Sequence[str]) -> None:
        """A new key and its certificate, signed by the CA, or self-signed for the CA itself."""
        if shutil.which("openssl") is None:
            raise Failure("HTTPS needs the program openssl: sudo apt install -y openssl")
        with tempfile.TemporaryDirectory(dir=self._folder) as scratch:
            at = Path(scratch)
            key, request, out, conf = (at / n for n in ("key", "request", "certificate", "conf"))
            conf.write_text("\n".join((
                "[req]", "distinguished_name=dn", "prompt=no", "[dn]", f"CN={subject}", "[ca]", "default_ca=table",
                "[table]", f"database={at / 'index'}", f"new_certs_dir={at}", "rand_serial=yes", "default_md=sha256",
                "policy=any", "email_in_dn=no", "[any]", "commonName=supplied", "[extensions]", *extensions, "")),
                "utf-8")
            (at / "index").touch()
            self._openssl("genpkey", "-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256", "-out", str(key))
            self._openssl("req", "-new", "-config", str(conf), "-key", str(key), "-out", str(request))
            authority = str(self._folder / AUTHORITY)
            signer = ("-selfsign", "-keyfile", str(key)) if file == AUTHORITY else \
                ("-cert", authority, "-keyfile", authority)
            now = self._clock()
            self._openssl("ca", "-batch", "-notext", "-config", str(conf), *signer, "-in", str(request),
                          "-out", str(out), "-extensions", "extensions", "-startdate", _utc(now - BEFORE_DAYS * _DAY_S),
                          "-enddate", _utc(now + days * _DAY_S))
            write_whole(self._folder / file, key.read_bytes() + out.read_bytes(), mode=0o600, durable=True)

    @staticmethod
    def _openssl(*argv: str) -> None:
        done = subprocess.run(["openssl", *argv], capture_output=True, text=True, check=False)
        if done.returncode:
            last = next((line for line in reversed(done.stderr.splitlines()) if line.strip()), "it did not say why")
            raise Failure(f"openssl {argv[0]} failed: {last.strip()}")


def certified(name: str, addresses: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names and addresses of this machine's certificate that its CA is allowed to certify."""
    home = [ipaddress.ip_network(n) for n in NETWORKS]
    given = {ipaddress.ip_address(a.partition("%")[0]) for a in ("127.0.0.1", *addresses)}
    inside = sorted((a for a in given if any(a.version == n.version and a in n for n in home)),
                    key=lambda a: (a.version, int(a)))
    own = name.partition(".")[0].lower()
    return (*(f"{own}.{s}" for s in HOME_SUFFIXES if own != "localhost"), "localhost"), tuple(map(str, inside))


def _masked(network: str) -> str:
    net = ipaddress.ip_network(network)
    return f"{net.network_address.exploded}/{net.netmask.exploded}"


def _utc(at_s: float) -> str:
    """A time for OpenSSL: GeneralizedTime, which is required from 2050 on and accepted before."""
    return time.strftime("%Y%m%d%H%M%SZ", time.gmtime(at_s))
