"""Checks a table's discovery messages with Home Assistant's own code from the package index.

    python benchmarks/home_assistant.py [--python PATH]

Every discovery document of a table with and without aids and commands goes through the topic pattern and the schemas of
its ``mqtt`` integration, and every template through its template engine with a real state. Without ``--python``, an
interpreter with Home Assistant, one is installed in a temporary folder (a few minutes).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERSION = "2024.3.3"  # the last that runs on Python 3.11
# Those of its two hundred dependencies that importing its mqtt integration needs.
PACKAGES = [
    "paho-mqtt==1.6.1", "voluptuous==0.13.1", "voluptuous-serialize==2.6.0", "aiohttp==3.9.5", "pyyaml",
    "jinja2", "attrs", "awesomeversion", "ciso8601", "httpx", "orjson", "astral",
    "atomicwrites-homeassistant", "bcrypt", "certifi", "cryptography", "lru-dict", "PyJWT",
    "python-slugify==8.0.1", "ulid-transform", "urllib3", "ifaddr", "packaging", "requests", "aiohttp_cors",
    "janus", "sqlalchemy==2.0.28", "aiohttp-fast-url-dispatcher", "aiohttp-zlib-ng", "async-interrupt"]


def documents() -> list[dict[str, object]]:
    """Topic, document and the state for its templates."""
    sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "web")]
    from webtable import table

    from bastide.club.discovery import discovery
    from bastide.club.message import Sender, state
    from bastide.log.store import Store

    sender, out = Sender("Table 4", "0123456789ab", 3), []
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "log.sqlite") as store:
        view = table(store, 20).view()
    for aid in ("coach", "score"):
        for commands in (False, True):
            told = state({**view, "aid": aid}, sender, at_s=0.0, commands=commands)
            made = discovery(told, sender, page="http://table.local:8000/")
            out += [{"topic": t, "document": d, "state": told} for t, d in made.items() if d is not None]
    return out


def check() -> None:
    """In Home Assistant's interpreter: validates the documents and prints the result."""
    from homeassistant.components.mqtt import button, sensor
    from homeassistant.components.mqtt.abbreviations import ABBREVIATIONS, DEVICE_ABBREVIATIONS
    from homeassistant.components.mqtt.discovery import MQTT_ORIGIN_INFO_SCHEMA, TOPIC_MATCHER
    from homeassistant.const import __version__

    schemas = {"sensor": sensor.DISCOVERY_SCHEMA, "button": button.DISCOVERY_SCHEMA}
    seen: set[str] = set()
    for row in json.load(sys.stdin):
        topic, document, state = row["topic"], row["document"], row["state"]
        prefix, _, rest = topic.partition("/")
        matched = TOPIC_MATCHER.match(rest)
        assert prefix == "homeassistant" and matched is not None, topic
        component, _, thing = matched.groups()
        assert all(ABBREVIATIONS.get(k, k) == k for k in document), "a name that would be taken for an abbreviation"
        assert all(DEVICE_ABBREVIATIONS.get(k, k) == k for k in document["device"])
        MQTT_ORIGIN_INFO_SCHEMA(dict(document["origin"]))
        said = schemas[component]({**document, "platform": "mqtt"})
        unknown = set(document) - {str(k) for k in said}
        assert not unknown, f"{topic}: Home Assistant drops {unknown}"
        if "value_template" in document:
            value = _rendered(document["value_template"], state)
            expected = _expected(thing, state)
            assert value == expected, f"{topic}: {value!r} is not {expected!r}"
        seen.add(f"{component} {thing}")
    print(f"Home Assistant {__version__}: {', '.join(sorted(seen))}: all are taken as they are")


def _expected(thing: str, state: dict) -> str:
    """The expected value of a sensor."""
    if thing == "turn":
        return str(state["players"][state["turn"]["player"]]["name"])
    if thing.startswith("player_"):
        return str(state["players"][int(thing.partition("_")[2]) - 1]["score"])
    return str(state[thing])


def _rendered(template: str, state: object) -> str:
    """Rendered in Home Assistant's template environment."""
    from homeassistant.helpers.template import TemplateEnvironment

    return str(TemplateEnvironment(None, False, False).from_string(template).render(value_json=state))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", metavar="PATH", help="an interpreter that has Home Assistant")
    parser.add_argument("--check", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.check:
        return check()
    with tempfile.TemporaryDirectory() as folder:
        python = args.python
        if python is None:
            subprocess.run([sys.executable, "-m", "venv", folder], check=True)
            python = str(Path(folder) / "bin" / "python")
            pip = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--prefer-binary"]
            subprocess.run([*pip, "--no-deps", f"homeassistant=={VERSION}"], check=True)
            subprocess.run([*pip, *PACKAGES], check=True)
        done = subprocess.run([python, __file__, "--check"], input=json.dumps(documents()), text=True)
    sys.exit(done.returncode)


if __name__ == "__main__":
    main()
