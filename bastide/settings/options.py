"""The options of ``bastide serve``, declared once: command line, environment, stored settings, their validation, the
JSON API and the page are all generated from `OPTIONS`.

Precedence: the command line, then the environment, then the page, then the default.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from bastide.errors import UsageError
from bastide.inputs import expansions, players, port, rules
from hardware.sources import open_source
from scoring.expansions import KNOWN
from scoring.rules import editions
from scoring.tiles import catalogue
from vision.frames import SourceError

Kind = Literal["text", "camera", "file", "folder", "number", "choice", "switch"]
Text = Mapping[str, str]
Value = str | int | bool | list[str]
COMMAND_LINE, ENVIRONMENT, PAGE, DEFAULT = "command line", "environment", "page", "default"
LONGEST, MOST = 1000, 32  # characters of a text, texts of a list
YES = ("1", "yes", "true", "on")
_HOST = re.compile(r"(?!-)[A-Za-z0-9-]{1,63}(?<!-)(\.(?!-)[A-Za-z0-9-]{1,63}(?<!-))*\.?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One option.

    ``title`` and ``help`` are in every language of the page. ``check`` raises ValueError or UsageError with a sentence
    for an invalid text. ``several``: a list of texts. ``page``: it may be changed on the page, ``restart``: that takes
    effect only after a restart of the server.
    """

    name: str
    kind: Kind
    group: str
    title: Text
    help: Text
    metavar: str | None = None
    default: Value | None = None
    choices: Sequence[str] = ()
    least: int | None = None
    most: int | None = None
    unit: str = ""
    several: bool = False
    page: bool = True
    restart: bool = True
    environment: str = ""
    check: Callable[[str], object] = field(default=lambda text: None)

    @property
    def dest(self) -> str:
        """Its name among parsed arguments."""
        return self.name.replace("-", "_")


def read_value(option: Option, value: object) -> Value:
    """Validates a JSON value of an option. Raises UsageError with one sentence."""
    if option.kind == "switch":
        if type(value) is not bool:
            raise UsageError(f"--{option.name}: is either on or off")
        return value
    if option.kind == "number":
        if type(value) is not int or option.least is not None and value < option.least or \
                option.most is not None and value > option.most:
            raise UsageError(f"--{option.name}: must be a whole number from {option.least} to {option.most}")
        return value
    if option.several:
        if not isinstance(value, list) or len(value) > MOST:
            raise UsageError(f"--{option.name}: must be a list of up to {MOST} texts")
        return [_text(option, one) for one in value]
    return _text(option, value)


def _text(option: Option, value: object) -> str:
    text = value.strip() if isinstance(value, str) else ""
    if not text or len(text) > LONGEST or not text.isprintable():
        raise UsageError(f"--{option.name}: must be a text of up to {LONGEST} letters")
    if option.choices and text not in option.choices:
        raise UsageError(f"--{option.name} {text[:40]}: is unknown; known are {', '.join(option.choices)}")
    try:
        option.check(text)
    except (ValueError, SourceError) as e:
        raise UsageError(f"--{option.name}: {e}") from e
    return text


def _tile(text: str) -> None:
    if text not in catalogue():
        raise ValueError(f"{text[:40]} is no tile; ids look like base.D")


def _host(text: str) -> None:
    if not _HOST.fullmatch(text) or len(text) > 253:
        raise ValueError(f"{text[:60]} is no name of a host; one looks like table.example.org")


def _file(text: str) -> None:
    if not Path(text).is_file():
        raise ValueError(f"{text}: there is no such file on this machine")


def _folder(text: str) -> None:
    if not Path(text).is_dir():
        raise ValueError(f"{text}: there is no such folder on this machine")


def _calibration(text: str) -> None:
    from bastide.camera.calibrated import load_calibrations

    load_calibrations([text])


def _tiles(text: str) -> None:
    from bastide.tiles.art import load_tiles

    load_tiles(text, ())


def _rule(text: str) -> None:
    rules(argparse.Namespace(edition=None, rule=[text]))


def _broker(text: str) -> None:
    from bastide.club.broker import broker

    broker(text, environment={})


def _name(text: str) -> None:
    from bastide.club.message import LONGEST_NAME

    if len(text) > LONGEST_NAME:
        raise ValueError(f"must be a name of up to {LONGEST_NAME} letters")


def _pin(name: str, en: str, de: str, fr: str, help: Text) -> Option:
    return Option(name=name, kind="number", group="machine", metavar="PIN", least=0, most=27, unit="GPIO",
                  title={"en": en, "de": de, "fr": fr}, help=help)


OPTIONS: tuple[Option, ...] = (
    Option(name="source", kind="camera", group="camera", metavar="URI", check=open_source,
           title={"en": "Camera", "de": "Kamera", "fr": "Caméra"},
           help={"en": "the camera; without it the game is entered by hand",
                 "de": "die Kamera; ohne sie wird das Spiel von Hand eingegeben",
                 "fr": "la caméra ; sans elle, la partie est saisie à la main"}),
    Option(name="offer-camera", kind="camera", group="camera", metavar="URI", several=True, default=[],
           check=open_source, restart=False,
           title={"en": "Further cameras", "de": "Weitere Kameras", "fr": "Autres caméras"},
           help={"en": "another camera to offer on the page, like a phone's address; repeatable",
                 "de": "eine weitere Kamera, die zur Wahl steht, etwa die Adresse eines Telefons",
                 "fr": "une autre caméra à proposer, par exemple l’adresse d’un téléphone"}),
    Option(name="calibration", kind="file", group="camera", metavar="FILE", several=True, check=_calibration,
           title={"en": "Calibration files", "de": "Kalibrierdateien", "fr": "Fichiers d’étalonnage"},
           help={"en": "from bastide calibrate; repeat it for table and colours",
                 "de": "von „bastide calibrate“, je eine für Tisch und Farben; die Seite braucht keine",
                 "fr": "de « bastide calibrate », une pour la table, une pour les couleurs ; la page s’en passe"}),
    Option(name="tiles", kind="folder", group="tiles", metavar="DIR", check=_tiles,
           title={"en": "Tile pictures", "de": "Plättchenbilder", "fr": "Images des tuiles"},
           help={"en": "pictures of your own tiles",
                 "de": "der Ordner mit Bildern der eigenen Plättchen",
                 "fr": "le dossier avec les images de vos tuiles"}),
    Option(name="learn", kind="switch", group="tiles", default=True,
           title={"en": "Learn the tiles", "de": "Plättchen lernen", "fr": "Apprendre les tuiles"},
           help={"en": "learn the tiles from this game",
                 "de": "beim Spielen lernen, wie die eigenen Plättchen aussehen",
                 "fr": "apprendre en jouant à quoi ressemblent vos tuiles"}),
    Option(name="players", kind="file", group="game", metavar="FILE", check=players,
           title={"en": "Players’ file", "de": "Datei der Spieler", "fr": "Fichier des joueurs"},
           help={"en": "JSON list of name and colour, in turn order",
                 "de": "JSON-Liste aus Name und Farbe, in Zugreihenfolge; „Neues Spiel“ braucht sie nicht",
                 "fr": "liste JSON de noms et de couleurs, dans l’ordre du jeu ; « Nouvelle partie » s’en passe"}),
    Option(name="expansions", kind="text", group="game", metavar="A,B", check=expansions,
           title={"en": "Expansions", "de": "Erweiterungen", "fr": "Extensions"},
           help={"en": f"the boxes in play, of {', '.join(KNOWN)}",
                 "de": f"die Schachteln im Spiel, aus {', '.join(KNOWN)}",
                 "fr": f"les boîtes en jeu, parmi {', '.join(KNOWN)}"}),
    Option(name="edition", kind="choice", group="game", metavar="E", choices=tuple(editions()),
           title={"en": "Edition", "de": "Ausgabe", "fr": "Édition"},
           help={"en": f"the rules in force: {', '.join(editions())}",
                 "de": "nach welcher Ausgabe der Regeln gewertet wird",
                 "fr": "l’édition des règles en vigueur"}),
    Option(name="rule", kind="text", group="game", metavar="K=V", several=True, default=[], check=_rule,
           title={"en": "House rules", "de": "Hausregeln", "fr": "Règles maison"},
           help={"en": "one difference from the edition; repeatable",
                 "de": "eine Abweichung von der Ausgabe je Zeile, als NAME=WERT",
                 "fr": "un écart à l’édition par ligne, sous la forme NOM=VALEUR"}),
    Option(name="first", kind="text", group="game", metavar="TILE", check=_tile,
           title={"en": "Start tile", "de": "Startplättchen", "fr": "Tuile de départ"},
           help={"en": "the start tile (default: the edition's)",
                 "de": "das Startplättchen; sonst das der Ausgabe",
                 "fr": "la tuile de départ ; sinon celle de l’édition"}),
    Option(name="backup-to", kind="folder", group="machine", metavar="DIR",
           title={"en": "Backups on a second medium", "de": "Sicherungen auf zweitem Medium",
                  "fr": "Sauvegardes sur un autre support"},
           help={"en": "a folder on another medium (USB stick, mounted share) that gets a backup after each game",
                 "de": "ein Ordner auf einem USB-Stick oder Netzlaufwerk, in den nach jedem Spiel gesichert wird",
                 "fr": "un dossier sur une clé USB ou un partage réseau, qui reçoit une sauvegarde par partie"}),
    _pin("light", "Status light", "Statuslicht", "Voyant",
         {"en": "a status light on this pin of the Pi (17)", "de": "ein Statuslicht an diesem Anschluss des Pi (17)",
          "fr": "un voyant d’état sur cette broche du Pi (17)"}),
    _pin("button", "Button", "Taster", "Bouton",
         {"en": "a button that ends the turn (27)", "de": "ein Taster, der den Zug beendet (27)",
          "fr": "un bouton qui termine le tour (27)"}),
    Option(name="port", kind="number", group="network", default=8000, least=1, most=65535,
           title={"en": "Port", "de": "Port", "fr": "Port"},
           help={"en": "the port of the page", "de": "der Port, unter dem die Seite zu finden ist",
                 "fr": "le port de la page"}),
    Option(name="https", kind="number", group="network", metavar="PORT", least=1, most=65535,
           title={"en": "HTTPS port", "de": "HTTPS-Port", "fr": "Port HTTPS"},
           help={"en": "serve the page over HTTPS too, at this port (8443; 443 on a card made for bastide); "
                       "http://.../https explains the one step that each device needs",
                 "de": "die Seite zusätzlich mit HTTPS, unter diesem Port (8443; auf einer Karte mit bastide 443); "
                       "http://.../https erklärt den einen Schritt auf jedem Gerät",
                 "fr": "la page aussi par HTTPS, sur ce port (8443 ; 443 sur une carte bastide) ; http://.../https "
                       "explique l’unique étape sur chaque appareil"}),
    Option(name="host", kind="text", group="network", default="0.0.0.0", page=False,
           title={"en": "Listens at", "de": "Lauscht an", "fr": "Écoute sur"},
           help={"en": "the address to listen on (0.0.0.0: all); another one could lock this page out",
                 "de": "die Adresse, an der gelauscht wird (0.0.0.0: alle); eine andere könnte diese Seite aussperren",
                 "fr": "l’adresse d’écoute (0.0.0.0 : toutes) ; une autre pourrait exclure cette page"}),
    Option(name="allowed-host", kind="text", group="network", metavar="NAME", several=True, default=[], check=_host,
           restart=False,
           title={"en": "Further names", "de": "Weitere Namen", "fr": "Autres noms"},
           help={"en": "another host name of the page; repeatable",
                 "de": "weitere Namen, unter denen die Seite aufgerufen wird",
                 "fr": "d’autres noms sous lesquels la page est demandée"}),
    Option(name="mqtt", kind="text", group="club", metavar="URL", check=_broker, environment="BASTIDE_MQTT",
           title={"en": "Broker", "de": "Broker", "fr": "Broker MQTT"},
           help={"en": "publish the table on this broker: mqtt://user@host[:port] or mqtts:// (default: BASTIDE_MQTT "
                       "of the environment, else not at all)",
                 "de": "der Broker, an den der Tisch gemeldet wird: mqtt://user@host[:port] oder mqtts://",
                 "fr": "le broker auquel la table est annoncée : mqtt://user@host[:port] ou mqtts://"}),
    Option(name="table", kind="text", group="club", metavar="NAME", check=_name, environment="BASTIDE_TABLE",
           title={"en": "Table’s name", "de": "Name des Tisches", "fr": "Nom de la table"},
           help={"en": "what the table is called there (default: BASTIDE_TABLE of the environment, else the machine's "
                       "name)",
                 "de": "wie der Tisch dort heißt; sonst wie der Rechner",
                 "fr": "comment la table s’y appelle ; sinon comme la machine"}),
    Option(name="mqtt-ca", kind="file", group="club", metavar="FILE", check=_file, environment="BASTIDE_MQTT_CA",
           title={"en": "Broker’s certificate", "de": "Zertifikat des Brokers", "fr": "Certificat du broker"},
           help={"en": "the CA certificate that signed the broker's certificate",
                 "de": "das CA-Zertifikat, mit dem das Zertifikat des Brokers signiert ist",
                 "fr": "le certificat de l’autorité qui a signé celui du broker"}),
    Option(name="mqtt-password", kind="file", group="club", metavar="FILE", check=_file,
           title={"en": "Broker’s password", "de": "Passwort des Brokers", "fr": "Mot de passe du broker"},
           help={"en": "a file that contains only the password",
                 "de": "eine Datei, in der nur das Passwort steht",
                 "fr": "un fichier qui ne contient que le mot de passe"}),
    Option(name="mqtt-commands", kind="switch", group="club", default=False, environment="BASTIDE_MQTT_COMMANDS",
           title={"en": "Commands from the broker", "de": "Befehle vom Broker", "fr": "Commandes du broker"},
           help={"en": "also accept commands from there: the next game, a tournament's rounds",
                 "de": "auch Befehle von dort annehmen: das nächste Spiel, die Runden eines Turniers",
                 "fr": "accepter aussi les commandes qui en viennent : la partie suivante, les rondes d’un tournoi"}),
)
NAMED: Mapping[str, Option] = {o.name: o for o in OPTIONS}
WITH_MQTT = ("table", "mqtt-ca", "mqtt-password", "mqtt-commands")  # which have no effect without a broker


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add every option; its value is None when not given on the command line."""
    for o in OPTIONS:
        told: dict[str, Any] = {"help": o.help["en"].replace("%", "%%"), "default": None}
        if o.kind == "switch":
            parser.add_argument(f"--{o.name}", action=argparse.BooleanOptionalAction, **told)
        elif o.several:
            parser.add_argument(f"--{o.name}", action="append", metavar=o.metavar, **told)
        else:
            kind = port if o.name == "port" else int if o.kind == "number" else str
            parser.add_argument(f"--{o.name}", type=kind, metavar=o.metavar, **told)


@dataclass(frozen=True, slots=True, kw_only=True)
class InForce:
    """The effective options: by name the value and its origin (COMMAND_LINE, ENVIRONMENT, PAGE or DEFAULT)."""

    values: Mapping[str, Value | None]
    origin: Mapping[str, str]

    def onto(self, args: argparse.Namespace) -> argparse.Namespace:
        """The same arguments with every option filled in."""
        found = argparse.Namespace(**vars(args))
        for o in OPTIONS:
            setattr(found, o.dest, self.values[o.name])
        return found


def in_force(args: argparse.Namespace, environment: Mapping[str, str], kept: Mapping[str, Value]) -> InForce:
    """Merges the command line, the environment and the page's settings."""
    values, origin = dict[str, Value | None](), dict[str, str]()
    for o in OPTIONS:
        named, said = getattr(args, o.dest, None), environment.get(o.environment, "") if o.environment else ""
        if named is not None:
            values[o.name], origin[o.name] = named, COMMAND_LINE
        elif said:
            values[o.name], origin[o.name] = said.lower() in YES if o.kind == "switch" else said, ENVIRONMENT
        elif o.name in kept:
            values[o.name], origin[o.name] = kept[o.name], PAGE
        else:
            values[o.name], origin[o.name] = o.default, DEFAULT
    if not values["mqtt"]:  # broker options have no effect without a broker
        for name in WITH_MQTT:
            if origin[name] in (PAGE, ENVIRONMENT):
                values[name], origin[name] = NAMED[name].default, DEFAULT
    return InForce(values=values, origin=origin)


def sound(kept: Mapping[str, object]) -> dict[str, Value]:
    """The stored values that are still well-formed; files or devices that they name may be gone."""
    found = dict[str, Value]()
    for name, value in kept.items():
        o = NAMED.get(name)
        if o is None or not o.page:
            continue
        right = (type(value) is bool if o.kind == "switch" else type(value) is int if o.kind == "number" else
                 isinstance(value, list) and all(isinstance(v, str) for v in value) if o.several else
                 isinstance(value, str))
        if right:
            found[name] = value  # type: ignore[assignment]
    return found
