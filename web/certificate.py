"""HTTPS at home: the one step that makes a device trust the table's own certificate, explained on a page over plain
HTTP."""

from __future__ import annotations

import hashlib
import ssl
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus

from flask import Blueprint, Response, current_app, render_template

from web.answers import error_answer
from web.firstview import chosen_language, chosen_theme
from web.join import host_name

certificates = Blueprint("certificates", __name__)


@dataclass(frozen=True, slots=True)
class Https:
    """HTTPS as served: its port, and the certificate to trust (PEM)."""

    port: int
    authority: Callable[[], str]


TEXTS = {
    "en": {
        "title": "HTTPS for this table",
        "back": "To the table",
        "why": (
            "With HTTPS this page can be installed like an app, keeps the screen on, and still shows the last state "
            "while the table restarts. It takes one step, once on each device."),
        "off": (
            "HTTPS is not switched on at this table. An administrator can do that under More, Machine and camera,"
            " Settings, Network: HTTPS port."),
        "download": "Download the certificate",
        "ios": "iPhone and iPad",
        "android": "Android",
        "other": "Computer",
        "ios_steps": [
            "Open this page in Safari, tap Download the certificate, and allow it.",
            "Settings, at the top: Profile Downloaded. Install it.",
            "Settings, General, About, Certificate Trust Settings: switch it on for bastide.",
        ],
        "android_steps": [
            "Tap Download the certificate.",
            "Settings: search for CA certificate (Security, More, Encryption and credentials, Install a "
            "certificate). Install anyway.",
            "Choose bastide.crt among the downloads.",
        ],
        "other_steps": [
            "Download the certificate and open it.",
            "Install it for your user among the trusted root authorities. Firefox asks in its own settings: "
            "Certificates, Authorities, Import.",
        ],
        "then": "Then open",
        "install": "There, the browser's menu offers to install the page or to add it to the home screen.",
        "bound": (
            "This certificate can vouch only for names and addresses at home, not for any site on the internet. "
            "Remove it where you installed it when the table is no longer yours."),
        "print": "Its fingerprint (SHA-256), to compare with another device's:",
    },
    "de": {
        "title": "HTTPS für diesen Tisch",
        "back": "Zum Tisch",
        "why": (
            "Damit lässt sich diese Seite wie eine App installieren, lässt den Bildschirm an und zeigt den letzten "
            "Stand auch, während der Tisch neu startet. Nötig ist ein Schritt, einmal auf jedem Gerät."),
        "off": (
            "HTTPS ist an diesem Tisch nicht eingeschaltet. Das macht, wer ihn verwaltet: Mehr, Rechner und Kamera, "
            "Einstellungen, Netzwerk: HTTPS-Port."),
        "download": "Zertifikat herunterladen",
        "ios": "iPhone und iPad",
        "android": "Android",
        "other": "Computer",
        "ios_steps": [
            "Diese Seite in Safari öffnen, auf „Zertifikat herunterladen“ tippen und zulassen.",
            "Einstellungen, ganz oben: „Profil geladen“. Installieren.",
            "Einstellungen, Allgemein, Info, Zertifikatsvertrauenseinstellungen: für bastide einschalten.",
        ],
        "android_steps": [
            "Auf „Zertifikat herunterladen“ tippen.",
            "Einstellungen: nach „CA-Zertifikat“ suchen (Sicherheit, Weitere, Verschlüsselung und Anmeldedaten, "
            "Zertifikat installieren). „Trotzdem installieren“.",
            "bastide.crt unter den Downloads wählen.",
        ],
        "other_steps": [
            "Das Zertifikat herunterladen und öffnen.",
            "Für den eigenen Benutzer bei den vertrauenswürdigen Stammzertifikaten installieren. Firefox fragt in "
            "den eigenen Einstellungen: Zertifikate, Zertifizierungsstellen, Importieren.",
        ],
        "then": "Danach öffnen",
        "install": (
            "Dort bietet das Menü des Browsers an, die Seite zu installieren oder zum Startbildschirm hinzuzufügen."),
        "bound": (
            "Dieses Zertifikat kann nur für Namen und Adressen zu Hause bürgen, für keine Seite im Internet. Es "
            "lässt sich dort wieder entfernen, wo es installiert wurde."),
        "print": "Sein Fingerabdruck (SHA-256), zum Vergleich mit einem anderen Gerät:",
    },
    "fr": {
        "title": "HTTPS pour cette table",
        "back": "Vers la table",
        "why": (
            "Cette page peut alors s’installer comme une application, garde l’écran allumé et montre encore le "
            "dernier état pendant que la table redémarre. Il faut une seule étape, une fois par appareil."),
        "off": (
            "HTTPS n’est pas activé à cette table. Un administrateur peut le faire sous Plus, Machine et caméra, "
            "Réglages, Réseau\u00a0: port HTTPS."),
        "download": "Télécharger le certificat",
        "ios": "iPhone et iPad",
        "android": "Android",
        "other": "Ordinateur",
        "ios_steps": [
            "Ouvrez cette page dans Safari, touchez «\u00a0Télécharger le certificat\u00a0» et autorisez.",
            "Réglages, tout en haut\u00a0: «\u00a0Profil téléchargé\u00a0». Installez-le.",
            "Réglages, Général, Informations, Réglages des certificats\u00a0: activez-le pour bastide.",
        ],
        "android_steps": [
            "Touchez «\u00a0Télécharger le certificat\u00a0».",
            "Paramètres\u00a0: cherchez «\u00a0certificat CA\u00a0» (Sécurité, Plus, Chiffrement et identifiants, "
            "Installer un certificat). «\u00a0Installer quand même\u00a0».",
            "Choisissez bastide.crt parmi les téléchargements.",
        ],
        "other_steps": [
            "Téléchargez le certificat et ouvrez-le.",
            "Installez-le pour votre utilisateur parmi les autorités racines de confiance. Firefox demande dans ses"
            " propres paramètres\u00a0: Certificats, Autorités, Importer.",
        ],
        "then": "Ouvrez ensuite",
        "install": "Le menu du navigateur y propose d’installer la page ou de l’ajouter à l’écran d’accueil.",
        "bound": (
            "Ce certificat ne peut garantir que des noms et adresses de la maison, aucun site d’internet. Il "
            "s’enlève là où il a été installé."),
        "print": "Son empreinte (SHA-256), à comparer avec un autre appareil\u00a0:",
    },
}


@certificates.get("/https")
def explained() -> str:
    """The instructions for each device."""
    https: Https | None = current_app.extensions["https"]
    language, host = chosen_language(), host_name()
    address = fingerprint = ""
    if https is not None:
        shown = f"[{host}]" if ":" in host else host
        address = f"https://{shown}{'' if https.port == 443 else f':{https.port}'}/"
        digest = hashlib.sha256(ssl.PEM_cert_to_DER_cert(https.authority())).hexdigest().upper()
        fingerprint = " ".join(digest[i:i + 4] for i in range(0, len(digest), 4))
    say = TEXTS.get(language, TEXTS["en"])
    return render_template("https.html", say=say, language=language, theme=chosen_theme(), address=address,
                           fingerprint=fingerprint)


@certificates.get("/https/bastide.crt")
def authority() -> Response:
    """The certificate of the table's own CA, for devices to trust. Its key never leaves the machine."""
    https: Https | None = current_app.extensions["https"]
    if https is None:
        return error_answer("not_found", "HTTPS is not switched on at this table", HTTPStatus.NOT_FOUND)
    return Response(https.authority(), mimetype="application/x-x509-ca-cert",
                    headers={"Content-Disposition": 'attachment; filename="bastide.crt"'})
