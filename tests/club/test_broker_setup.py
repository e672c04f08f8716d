"""The broker as hardware/broker.sh sets it up: who may say what, and encryption. The real script, the real broker."""

from __future__ import annotations

import os
import shutil
import socket
import ssl
import subprocess
from pathlib import Path

import paho.mqtt.client as mqtt
import pytest
from brokers import PATIENCE_S, Ear, Mosquitto, mosquitto
from clubtables import ClubTable, moves
from paho.mqtt.enums import CallbackAPIVersion, MQTTProtocolVersion

from bastide.club.broker import Broker, broker
from bastide.errors import UsageError

SCRIPT = Path(__file__).parents[2] / "hardware" / "broker.sh"


def free_port() -> int:
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return int(s.getsockname()[1])


def run(etc: Path, *argv: str, plain: int = 1883, tls: int = 8883) -> subprocess.CompletedProcess[str]:
    return subprocess.run([SCRIPT, *argv], capture_output=True, text=True, env={
        **os.environ, "BASTIDE_ETC": str(etc), "BASTIDE_PORT": str(plain), "BASTIDE_TLS_PORT": str(tls)})


@pytest.fixture(scope="module")
def club(tmp_path_factory):
    mosquitto()
    if shutil.which("openssl") is None or shutil.which("mosquitto_passwd") is None:
        pytest.skip("no openssl on this machine (apt install openssl)")
    etc, plain, tls = tmp_path_factory.mktemp("etc"), free_port(), free_port()
    done = run(etc, "--tables", "4", plain=plain, tls=tls)
    assert done.returncode == 0, done.stderr
    with Mosquitto.configured(etc / "conf.d" / "bastide.conf", plain) as made:
        yield etc / "bastide", made, tls


def secret(club, user):
    return (club[0] / "secrets" / user).read_text("utf-8").strip()


def may(club, user, *topics):
    """Whether the broker takes a message on each of these topics from a user."""
    made = mqtt.Client(CallbackAPIVersion.VERSION2, protocol=MQTTProtocolVersion.MQTTv5)
    if user:
        made.username_pw_set(user, secret(club, user))
    codes = {}
    made.on_publish = lambda client, data, mid, code, properties: codes.update({mid: not code.is_failure})
    made.connect("127.0.0.1", club[1].port)
    made.loop_start()
    try:
        sent = [made.publish(topic, b"x", qos=1) for topic in topics]
        for info in sent:
            info.wait_for_publish(PATIENCE_S)
    finally:
        made.disconnect()
        made.loop_stop()
    return {topic: codes[info.mid] for topic, info in zip(topics, sent, strict=True)}


@pytest.mark.parametrize(("user", "allowed", "refused"), [
    ("table-4", ("bastide/table-4/state", "bastide/table-4/availability", "homeassistant/sensor/table-4/turn/config"),
     ("bastide/table-5/state", "bastide/table-5/command", "bastide/x", "homeassistant/sensor/table-5/turn/config")),
    ("hub", ("bastide/table-4/command",), ("bastide/table-4/state", "bastide/table-4/availability", "x")),
    ("homeassistant", ("bastide/table-4/command",), ("bastide/table-4/state", "homeassistant/sensor/x/y/config")),
    (None, (), ("bastide/table-4/state", "bastide/table-4/command", "x"))], ids=["table", "hub", "home", "guest"])
def test_who_may_say_what(club, user, allowed, refused):
    assert may(club, user, *allowed, *refused) == dict.fromkeys(allowed, True) | dict.fromkeys(refused, False)


def test_guests_look_and_hear_no_command(club):
    with Ear(club[1], "bastide/#") as guest, Ear(club[1], "bastide/#", user="table-4",
                                                  password=secret(club, "table-4")) as table:
        with Ear(club[1], "bastide/#", user="hub", password=secret(club, "hub")) as hub:
            hub.say("bastide/table-4/command", b"press")
            table.until(lambda t, v: t == "bastide/table-4/command")
            table.say("bastide/table-4/event", b"scored")
            for one in (guest, hub):
                one.until(lambda t, v: t == "bastide/table-4/event")
        assert all(not t.endswith("/command") for t, _, _ in guest.messages)


def test_a_table_publishes_encrypted_and_a_wrong_certificate_is_not_believed(club, tmp_path):
    own, made, tls = club
    secure = broker(f"mqtts://table-3@localhost:{tls}", ca=str(own / "ca.crt"),
                    environment={"BASTIDE_MQTT_PASSWORD": secret(club, "table-3")})
    assert secure == Broker(host="localhost", port=tls, user="table-3", password=secret(club, "table-3"), tls=True,
                            ca=str(own / "ca.crt"))

    class Secure:
        address = secure

    with Ear(made, "bastide/#") as guest, ClubTable(tmp_path / "a", Secure(), "Table 3") as table:
        rev = table.play(*moves()[:4])
        guest.until(lambda t, v: t == "bastide/table-3/state" and v["rev"] == rev)
    with pytest.raises(ssl.SSLCertVerificationError), socket.create_connection(("localhost", tls)) as s:
        ssl.create_default_context().wrap_socket(s, server_hostname="localhost")


def test_run_again_it_keeps_every_password(club, tmp_path):
    kept = {f.name: f.read_text("utf-8") for f in (club[0] / "secrets").iterdir()}
    certificate = (club[0] / "server.crt").read_bytes()
    done = run(club[0].parent, "--table", "Tisch Öl")
    assert done.returncode == 0, done.stderr
    now = {f.name: f.read_text("utf-8") for f in (club[0] / "secrets").iterdir()}
    assert set(now) - set(kept) == {"tisch-ol"} and {k: now[k] for k in kept} == kept
    assert (club[0] / "server.crt").read_bytes() == certificate
    assert oct((club[0] / "secrets" / "hub").stat().st_mode)[-3:] == "600"


@pytest.mark.parametrize(("argv", "code"), [([], 2), (["--tables"], 1), (["--tables", "0"], 1), (["--table", "Hub"], 1),
                                            (["--table", "卓"], 1), (["--what"], 2)])
def test_what_cannot_be_set_up_is_said(tmp_path, argv, code):
    done = run(tmp_path, *argv)
    assert done.returncode == code and done.stderr.strip() and not done.stdout
    assert not list(tmp_path.iterdir())  # nothing was written, so nothing was installed either


def test_a_password_is_never_told():
    with pytest.raises(UsageError) as e:
        broker("mqtt://a:secret@host/x", environment={})
    assert "secret" not in str(e.value)
