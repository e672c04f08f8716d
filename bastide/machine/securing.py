"""The page over HTTPS, with certificates that are renewed while it is served."""

from __future__ import annotations

import logging
import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager

from bastide.errors import Failure
from bastide.machine.certificates import CHECK_S, Certificates
from bastide.machine.console import addresses
from bastide.machine.repeating import repeating
from web.server import PageServer
from web.tls import SecureFront

_log = logging.getLogger("bastide.https")


@contextmanager
def secured(page: PageServer, port: int, certificates: Certificates) -> Iterator[SecureFront]:
    """Serve a page over HTTPS too. A certificate that expires soon, or whose addresses have changed, is replaced, with
    effect from the next connection.

    Raises Failure for certificates that cannot be made, PortInUse and ServerError.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    certificates.renew(socket.gethostname(), addresses())
    context.load_cert_chain(certificates.page)

    def look() -> None:
        try:
            if certificates.renew(socket.gethostname(), addresses()):
                context.load_cert_chain(certificates.page)
        except (Failure, OSError) as e:  # the current one is valid for months
            _log.error("the certificate was not renewed: %s", e)

    with SecureFront(page, port, context) as front, repeating(look, CHECK_S, "certificates"):
        yield front
