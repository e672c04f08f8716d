"""A connection to an MQTT broker that may be unavailable for any length of time.

No call here blocks. What cannot be sent is dropped: the sender always has the newest state.
"""

from __future__ import annotations

import logging
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self
from urllib.parse import unquote, urlsplit

import paho.mqtt.client as mqtt
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion
from paho.mqtt.packettypes import PacketTypes
from paho.mqtt.properties import Properties
from paho.mqtt.reasoncodes import ReasonCode
from paho.mqtt.subscribeoptions import SubscribeOptions

from bastide.club.message import LARGEST
from bastide.errors import UsageError

PORTS = {"mqtt": 1883, "mqtts": 8883}
PASSWORD = "BASTIDE_MQTT_PASSWORD"
_log = logging.getLogger("bastide.club")


class Pace(NamedTuple):
    """Timing of a connection, in seconds."""

    keepalive_s: int = 8  # a pulled cable is detected after one and a half of these
    retry_least_s: int = 1
    retry_most_s: int = 5  # so every screen is up to date 10 s after the broker is back


PACE = Pace()
IN_FLIGHT = 20  # unacknowledged messages; a sender waits for its own, see `Link.send`
QUEUED = 64  # what the library may hold beyond that


@dataclass(frozen=True, slots=True, kw_only=True)
class Broker:
    """A broker's address and our credentials for it."""

    host: str
    port: int
    user: str | None = None
    password: str | None = None
    tls: bool = False
    ca: str | None = None

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


def broker(url: str, *, ca: str | None = None, environment: Mapping[str, str]) -> Broker:
    """``mqtt://user@host[:port]`` or ``mqtts://``. The password is in the URL, or better in the environment variable
    BASTIDE_MQTT_PASSWORD, which other users of the machine cannot see. Raises UsageError."""
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise UsageError(f"--mqtt {_without_password(url)}: the port must be a number from 1 to 65535") from None
    if parts.scheme not in PORTS or not parts.hostname or parts.path not in ("", "/") or parts.query:
        raise UsageError(f"--mqtt {_without_password(url)}: must be mqtt://user@host[:port], or mqtts:// with "
                         "encryption")
    if ca is not None and parts.scheme != "mqtts":
        raise UsageError("--mqtt-ca: is for mqtts://, which encrypts; mqtt:// does not")
    if ca is not None:
        try:
            ssl.create_default_context(cafile=ca)
        except (OSError, ssl.SSLError) as e:
            raise UsageError(f"{ca}: holds no certificate that can be read ({e.strerror or e})") from None
    password = unquote(parts.password) if parts.password is not None else environment.get(PASSWORD)
    return Broker(host=parts.hostname, port=port or PORTS[parts.scheme], tls=parts.scheme == "mqtts", ca=ca,
                  user=unquote(parts.username) if parts.username else None, password=password)


def read_password(known: Broker, file: str | None) -> Broker:
    """The broker with the password from a file that contains nothing else. Raises UsageError."""
    if file is None:
        return known
    try:
        text = Path(file).read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as e:
        why = getattr(e, "strerror", None) or "it is not text"
        raise UsageError(f"{file}: the password cannot be read ({why})") from None
    return replace(known, password=text)


def _without_password(url: str) -> str:
    before, at, rest = url.rpartition("@")
    scheme, slashes, user = before.partition("//")
    return f"{scheme}{slashes}{user.partition(':')[0]}{at}{rest}"[:120]


class Link:
    """A connection kept up by a thread of its own while the context is entered, reconnecting as needed.

    ``connected()`` is called after each connect, ``heard(topic, payload, retained)`` for every message; both in that
    thread. ``will`` is the MQTT last will: a topic and a message.
    """

    def __init__(self, to: Broker, name: str, *, connected: Callable[[], None],
                 heard: Callable[[str, bytes, bool], None], will: tuple[str, bytes] | None = None,
                 largest: int = LARGEST, pace: Pace = PACE) -> None:
        self._to, self._connected, self._heard, self._pace, self._largest = to, connected, heard, pace, largest
        self.client = mqtt.Client(CallbackAPIVersion.VERSION2, client_id=name, protocol=MQTTProtocolVersion.MQTTv5)
        self.client.max_inflight_messages_set(IN_FLIGHT)
        self.client.max_queued_messages_set(QUEUED)
        self.client.reconnect_delay_set(pace.retry_least_s, pace.retry_most_s)
        self.client.on_connect, self.client.on_message = self._on_connect, self._on_message
        self.client.on_disconnect, self.client.on_connect_fail = self._on_disconnect, self._on_connect_fail
        self.client.on_pre_connect = self._on_pre_connect
        self._prepared = False  # whether `connected` has run for this connection
        self._said = ""
        if to.user is not None:
            self.client.username_pw_set(to.user, to.password)
        if to.tls:
            context = ssl.create_default_context(cafile=to.ca)
            self.client.tls_set_context(context)
        if will is not None:
            self.client.will_set(*will, qos=1, retain=True)

    def __enter__(self) -> Self:
        wanted = Properties(PacketTypes.CONNECT)  # type: ignore[no-untyped-call]
        wanted.MaximumPacketSize = self._largest + 1000  # the broker does not send larger ones
        self.client.connect_async(self._to.host, self._to.port, keepalive=self._pace.keepalive_s, clean_start=True,
                                  properties=wanted)
        self.client.loop_start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.client.disconnect()
        self.client.loop_stop()

    @property
    def up(self) -> bool:
        """Whether we are connected, as far as known, and ``connected()`` has run: until then nothing may be sent, as
        the sender does not know yet that this connection is a new one."""
        return self._prepared and bool(self.client.is_connected())

    def listen(self, *topics: str) -> None:
        """Subscribe to these topics, without our own messages."""
        self.client.subscribe([(t, SubscribeOptions(qos=1, noLocal=True)) for t in topics])

    def send(self, topic: str, payload: bytes, *, retain: bool = False) -> mqtt.MQTTMessageInfo | None:
        """Send a message; None without a connection. Never blocks."""
        if not self.up:
            return None
        try:
            info = self.client.publish(topic, payload, qos=1, retain=retain)
        except ValueError:  # too long for any broker
            return None
        return info if info.rc in (mqtt.MQTT_ERR_SUCCESS, mqtt.MQTT_ERR_NO_CONN) else None

    # -- in the connection's thread ---------------------------------------------------------------------------------

    def _on_pre_connect(self, client: mqtt.Client, data: object) -> None:
        self._prepared = False

    def _on_connect(self, client: mqtt.Client, data: object, flags: mqtt.ConnectFlags, code: ReasonCode,
                    properties: Properties | None) -> None:
        if code.is_failure:
            self._say(f"the broker at {self._to} does not let us in: {code}; check user and password")
            return
        self._say(f"connected to the broker at {self._to}", logging.INFO)
        try:
            self._connected()
        except Exception:  # must not affect the connection
            _log.exception("after connecting")
        self._prepared = True

    def _on_message(self, client: mqtt.Client, data: object, message: mqtt.MQTTMessage) -> None:
        try:
            self._heard(message.topic, bytes(message.payload), message.retain)
        except Exception:  # one bad message must not end the subscription
            _log.exception("a message on %s", message.topic[:100])

    def _on_disconnect(self, client: mqtt.Client, data: object, flags: mqtt.DisconnectFlags, code: ReasonCode,
                       properties: Properties | None) -> None:
        if code.is_failure:
            self._say(f"the broker at {self._to} is gone ({code}); the table goes on, and it is looked for")

    def _on_connect_fail(self, client: mqtt.Client, data: object) -> None:
        self._say(f"the broker at {self._to} does not answer; it is tried again")

    def _say(self, text: str, level: int = logging.WARNING) -> None:
        if text != self._said:  # once, not with every retry
            self._said = text
            _log.log(level, text)


def acknowledged(info: mqtt.MQTTMessageInfo | None) -> bool:
    """Whether the broker has acknowledged the message, or it is no longer waited for."""
    if info is None:
        return True
    try:
        return bool(info.is_published())
    except (ValueError, RuntimeError):
        return True
