"""The page's languages: the same keys everywhere, plural forms, no text that is nobody's key, nothing untranslated."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from scoring.expansions import KNOWN
from scoring.rules import options
from web.setups import setups

JS = Path("web/static/js")
LANGUAGES = ("en", "de", "fr")
FORMS = {"en": {"one", "other"}, "de": {"one", "other"}, "fr": {"one", "many", "other"}}  # CLDR's cardinal categories
SAME = {  # what is the same word, or nothing but values
    "de": {"colour.orange", "setup.name"},
    "fr": {"sign.dragon", "wheel.fortune", "wheel.famine", "wheel.inquisition", "history.changes", "final.total",
           "option.farm_points_per_city.3", "option.farm_points_per_city.4", "player.points", "item.fortune"},
}


def texts(language: str) -> dict[str, dict[str, str]]:
    """Every key with its forms; a text without plural has the form ``other``."""
    source = (JS / f"lang/{language}.js").read_text("utf-8")
    out: dict[str, dict[str, str]] = {}
    for key, plain, forms in re.findall(r'"([\w.-]+)": (?:"((?:[^"\\]|\\.)*)"|\{( one: .*?")(?: \}))', source):
        assert key not in out, f"{language}: {key} twice"
        out[key] = dict(re.findall(r'(\w+): "((?:[^"\\]|\\.)*)"', forms)) if forms else {"other": plain}
    assert len(out) == len(re.findall(r'"[\w.-]+": (?:"|\{ one)', source)), language
    return out


ENGLISH = texts("en")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_every_text(language):
    said = texts(language)
    assert len(said) > 400 and said.keys() == ENGLISH.keys()
    for key, forms in said.items():
        plural = len(ENGLISH[key]) > 1
        assert set(forms) == (FORMS[language] if plural else {"other"}), (language, key)
        wanted = set(re.findall(r"\{(\w+)\}", ENGLISH[key]["other"]))
        for form, text in forms.items():
            assert text.strip() == text and text, (language, key)
            assert set(re.findall(r"\{(\w+)\}", text)) <= wanted, (language, key, form)
        assert set(re.findall(r"\{(\w+)\}", forms["other"])) == wanted, (language, key)


@pytest.mark.parametrize("language", LANGUAGES[1:])
def test_nothing_is_left_in_english(language):
    said = texts(language)
    same = {key for key in said if said[key]["other"] == ENGLISH[key]["other"]
            and re.search(r"[a-zà-ÿ]{3}", re.sub(r"\{\w+\}|bastide", "", said[key]["other"]))}
    assert same == SAME[language]


def modules() -> list[Path]:
    return [f for f in JS.rglob("*.js") if f.parent.name != "lang"]


def test_every_key_that_is_used_exists():
    missing, families = [], 0
    for module in modules():
        source = module.read_text("utf-8")
        missing += [(module.name, key) for key in re.findall(r'\bt\("([\w.-]+)"', source) if key not in ENGLISH]
        for start in re.findall(r"\bt\(`([\w.-]+\.)\$\{", source):
            families += 1
            if not any(key.startswith(start) for key in ENGLISH):
                missing.append((module.name, start))
    template = Path("web/templates/page.html").read_text("utf-8")
    missing += [("page.html", key) for key in re.findall(r'data-(?:t|text)="([\w.]+)"', template) if key not in ENGLISH]
    assert families > 20 and not missing


def test_every_text_is_used():
    code = "\n".join(m.read_text("utf-8") for m in modules()) + Path("web/templates/page.html").read_text("utf-8")
    starts = set(re.findall(r"`([\w.-]+\.)\$\{", code))
    unused = [key for key in ENGLISH if f'"{key}"' not in code and f'"{key.removesuffix(".short")}"' not in code
              and not any(key.startswith(s) for s in starts)]
    assert not unused


def test_the_engines_words_have_texts():
    source = "\n".join(f.read_text("utf-8") for f in Path("scoring").rglob("*.py"))
    wanted = {f"issue.{c}" for c in re.findall(r'd\.issue\("(\w+)"', source)}
    wanted |= {f"issue.{c}" for c in re.findall(r'Problem\(code="(\w+)"', source)}
    wanted |= {f"question.{c}" for c in re.findall(r'Question\(code="(\w+)"', source)}
    wanted |= {f"rule.{r}" for r in re.findall(r'rule="(R-[A-Z]+-\d+)"', source)}
    wanted |= {f"item.{w}" for w in re.findall(r'what="(\w+)"', source)}
    wanted |= {f"figure.{p.name}" for e in KNOWN.values() for p in e.pieces}
    wanted |= {f"feature.{k.name}" for e in KNOWN.values() for k in e.kinds}
    wanted |= {f"setup.box.{name}" for name in KNOWN}
    for name, option in setups()["options"].items():
        wanted |= {f"option.{name}", *(f"option.{name}.{v}" for v in options()[name].values)}
        assert option["values"]
    for file in Path("scoring/catalogue").glob("*.toml"):
        for tile in tomllib.loads(file.read_text("utf-8")).get("tiles", []):
            wanted |= {f"sign.{f}" for f in tile.get("flags", [])}
    assert len(wanted) > 120 and not [key for key in sorted(wanted) if key not in ENGLISH]


def test_no_sentence_is_written_into_a_module():
    """What a person reads is given to an element as a child or as a label: no literal words there."""
    found = []
    for module in modules():
        code = re.sub(r"//.*", "", module.read_text("utf-8"))
        for literal in re.findall(r'"((?:[^"\\\n]|\\.)*)"', code):
            words = re.fullmatch(r"[A-Z]?[a-zé]+(?: [a-zé]+){2,}[.!?…]?", literal)
            if words and not re.search(r"\b(?:none|action|big)\b", literal):  # names of classes
                found.append((module.name, literal))
    assert not found
