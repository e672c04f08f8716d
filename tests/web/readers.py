"""Checks of the page's texts in every language and on every screen."""

from __future__ import annotations

import re
from typing import Any

from servertexts import catalogue
from test_page_access import TEXTS, violations

LOCALES = {"en": "en-GB", "de": "de-DE", "fr": "fr-FR"}
READERS = (("en", (1280, 800)), ("de", (390, 844)), ("fr", (390, 844)))  # a language and a screen each

BREAKS = re.compile(r" [:;!?»]|« ")  # French punctuation that a line break could part from its word


def untranslated(page: Any) -> list[str]:
    """The server's English sentences that are on the page now."""
    shown = [text.lower() for text in page.evaluate(TEXTS)]
    return [piece for piece in catalogue() if any(piece in text for text in shown)]


def faults(page: Any, language: str, *keys: str) -> list[str]:
    """What is wrong with the page as it stands: another language, placeholders and keys of texts (by how they begin)
    left unfilled, text that makes it wider than the screen, and what axe finds."""
    found = [] if language == "en" else untranslated(page)
    unfilled = re.compile("|".join([r"\{", *(rf"\b{key}\.\w" for key in keys)]))
    found += [text for text in page.evaluate(TEXTS) if unfilled.search(text)]
    if language == "fr":
        found += [text for text in page.evaluate(TEXTS) if BREAKS.search(text)]
    if not page.evaluate("document.documentElement.scrollWidth <= innerWidth"):
        found.append("wider than the screen")
    return found + violations(page)
