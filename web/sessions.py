"""Session cookies for a machine whose clock may be wrong.

A Raspberry Pi has no battery-backed clock: after a power cut it starts with the time of its last shutdown, and without
a network it may be months behind the tablet. So a cookie signed in the future is still valid, and its expiry is
relative (Max-Age), not absolute.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from flask import Flask, Response
from flask.sessions import SecureCookieSessionInterface, SessionMixin
from itsdangerous import SignatureExpired, TimestampSigner, URLSafeTimedSerializer


class _Signer(TimestampSigner):
    def unsign(self, signed_value: str | bytes, max_age: int | None = None,
               return_timestamp: bool = False) -> Any:
        value, signed = super().unsign(signed_value, return_timestamp=True)
        assert isinstance(signed, datetime)
        if max_age is not None and self.get_timestamp() - signed.timestamp() > max_age:
            raise SignatureExpired("the session is too old", payload=value, date_signed=signed)
        return (value, signed) if return_timestamp else value


class Sessions(SecureCookieSessionInterface):
    """Flask's signed cookies, except for the expiry."""

    def get_signing_serializer(self, app: Flask) -> URLSafeTimedSerializer | None:
        made = super().get_signing_serializer(app)
        if made is not None:
            made.signer = _Signer
        return made

    def save_session(self, app: Flask, session: SessionMixin, response: Response) -> None:
        if not session or not self.should_set_cookie(app, session):
            return super().save_session(app, session, response)
        made = self.get_signing_serializer(app)
        assert made is not None
        response.vary.add("Cookie")
        response.set_cookie(self.get_cookie_name(app), str(made.dumps(dict(session))),
                            max_age=app.permanent_session_lifetime, path=self.get_cookie_path(app),
                            domain=self.get_cookie_domain(app), secure=self.get_cookie_secure(app),
                            httponly=self.get_cookie_httponly(app), samesite=self.get_cookie_samesite(app))
        return None
