"""A real mosquitto on this machine, which a test may kill and start again, and a client to listen with."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import paho.mqtt.client as mqtt
import pytest
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

from bastide.club.broker import Broker, Pace

PATIENCE_S = 60.0  # time-out for hanging tests only
QUICK = Pace(keepalive_s=2, retry_least_s=1, retry_most_s=1)


def mosquitto() -> str:
    """The broker's program. Without it tests are skipped, except where CI=true says that there must be one."""
    found = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin")
    if found is None:
        if os.environ.get("CI") == "true":
            pytest.fail("no mosquitto: apt install mosquitto")
        pytest.skip("no mosquitto on this machine (apt install mosquitto)")
    return found


class Mosquitto:
    """A broker on a port of its own. Its retained messages end with it, as on a card that was lost."""

    def __init__(self, folder: Path, *settings: str, allow: bool = True, host: str = "127.0.0.1",
                 inside: tuple[str, ...] = ()) -> None:
        """``inside`` is what the program is started by, like another network's namespace."""
        self._program, self._folder, self.host = [*inside, mosquitto()], folder, host
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = int(s.getsockname()[1])  # free a moment ago
        (folder / "mosquitto.conf").write_text("\n".join([
            f"listener {self.port} {host}", f"allow_anonymous {'true' if allow else 'false'}", "persistence false",
            "set_tcp_nodelay true", *settings, ""]), "utf-8")
        self._process: subprocess.Popen[bytes] | None = None

    @classmethod
    def configured(cls, conf: Path, port: int) -> Self:
        """A broker with a configuration that is there already."""
        made = cls(conf.parent)
        made.port = port
        text = conf.read_text("utf-8") + "persistence false\n" + ("user root\n" if os.geteuid() == 0 else "")
        (conf.parent / "mosquitto.conf").write_text(text, "utf-8")
        return made

    @property
    def url(self) -> str:
        return f"mqtt://{self.host}:{self.port}"

    @property
    def address(self) -> Broker:
        return Broker(host=self.host, port=self.port)

    def start(self) -> None:
        self._process = subprocess.Popen([*self._program, "-c", str(self._folder / "mosquitto.conf")],
                                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        while True:
            assert self._process.poll() is None, "mosquitto did not start"
            with socket.socket() as s:
                if s.connect_ex((self.host, self.port)) == 0:
                    return

    def kill(self) -> None:
        """As a power cut would end it."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.kill()


class Ear:
    """Receives everything on a broker and publishes on request."""

    def __init__(self, broker: Mosquitto, *topics: str, user: str | None = None, password: str | None = None) -> None:
        self._broker, self._topics = broker, topics
        self._changed = threading.Condition()
        self.messages: list[tuple[str, bytes, bool]] = []
        self.client = mqtt.Client(CallbackAPIVersion.VERSION2, protocol=MQTTProtocolVersion.MQTTv5)
        if user:
            self.client.username_pw_set(user, password)
        self.client.reconnect_delay_set(1, 1)
        self.client.on_message = self._on_message
        self.client.on_connect = self._on_connect
        self.client.on_subscribe = lambda *_: self._is_up.set()
        self._is_up = threading.Event()

    def __enter__(self) -> Self:
        self.client.connect("127.0.0.1", self._broker.port)
        self.client.loop_start()
        assert self._is_up.wait(PATIENCE_S)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None,
                 trace: TracebackType | None) -> None:
        self.client.disconnect()
        self.client.loop_stop()

    def _on_connect(self, client: Any, *_: Any) -> None:
        client.subscribe([(t, 1) for t in (self._topics or ("#",))])

    def _on_message(self, client: Any, data: Any, message: Any) -> None:
        with self._changed:
            self.messages.append((message.topic, message.payload, message.retain))
            self._changed.notify_all()

    def until(self, test: Callable[[str, Any], bool], *, after: int = 0) -> Any:
        """The first message, of those after so many, for which the test on topic and payload holds; its payload."""
        found: list[Any] = []

        def look() -> bool:
            for topic, payload, _ in self.messages[after:]:
                value = _json(payload)
                if test(topic, value):
                    found.append(value)
                    return True
            return False

        with self._changed:
            assert self._changed.wait_for(look, PATIENCE_S), [t for t, _, _ in self.messages[-10:]]
        return found[0]

    def say(self, topic: str, payload: Any, *, retain: bool = False) -> None:
        data = payload if isinstance(payload, bytes) else json.dumps(payload).encode()
        self.client.publish(topic, data, qos=1, retain=retain).wait_for_publish(PATIENCE_S)


def _json(payload: bytes) -> Any:
    try:
        return json.loads(payload)
    except ValueError:
        return payload
