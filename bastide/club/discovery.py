"""Home Assistant's MQTT discovery of a table: one retained document per sensor.

One topic per component (``homeassistant/<component>/<table>/<object>/config``), which every version of Home Assistant
with discovery understands. ``benchmarks/home_assistant.py`` checks them against its own code.
"""

from __future__ import annotations

import json

from bastide import __version__
from bastide.club.documents import PlayerState, State
from bastide.club.message import Sender, slug, topic

PREFIX = "homeassistant"
Config = dict[str, object]  # one component's configuration


def discovery(document: State, sender: Sender, *, page: str | None = None) -> dict[str, Config | None]:
    """Topics and their retained messages for a table's state; None removes a sensor that it no longer has."""
    name = slug(sender.table)
    seats = len(document["players"])
    found: dict[str, Config | None] = {}
    for n in range(10):
        value = _score(n, document["players"][n]) if n < seats else None
        found[_at("sensor", name, f"player_{n + 1}")] = value
    found[_at("sensor", name, "turn")] = {
        "name": "Turn", "icon": "mdi:account-arrow-right",
        "value_template": "{{ value_json.players[value_json.turn.player].name }}"}
    found[_at("sensor", name, "left")] = {
        "name": "Tiles left", "icon": "mdi:puzzle", "state_class": "measurement",
        "value_template": "{{ value_json.left }}"} if "left" in document else None
    found[_at("sensor", name, "status")] = {
        "name": "Status", "icon": "mdi:cctv", "value_template": "{{ value_json.status }}"}
    found[_at("button", name, "next_game")] = {
        "name": "Next game", "icon": "mdi:restart", "command_topic": topic(name, "command"), "qos": 1,
        "payload_press": json.dumps({"v": 1, "do": "next_game"})} if document["commands"] else None
    device: Config = {"identifiers": [f"bastide_{sender.device}"], "name": f"bastide {sender.table}",
                      "manufacturer": "bastide", "model": "table", "sw_version": __version__}
    if page is not None:
        device["configuration_url"] = page
    for where, made in found.items():
        if made is not None:
            _, component, _, thing, _ = where.split("/")
            made.update(unique_id=f"bastide_{sender.device}_{thing}", device=device,
                        availability_topic=topic(name, "availability"),
                        origin={"name": "bastide", "sw_version": __version__})
            if component == "sensor":
                made["state_topic"] = topic(name, "state")
    return found


def _at(component: str, name: str, thing: str) -> str:
    return f"{PREFIX}/{component}/{name}/{thing}/config"


def _score(n: int, player: PlayerState) -> Config:
    return {"name": player["name"], "icon": "mdi:account", "unit_of_measurement": "points",
            "state_class": "measurement", "value_template": f"{{{{ value_json.players[{n}].score }}}}"}
