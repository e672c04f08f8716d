"""The page's languages: the same keys everywhere, plural forms, no text that is nobody's key, nothing untranslated."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from servertexts import catalogue, error_codes, told

from bastide.machine import findings
from bastide.watching.following import SAID
from scoring.expansions import KNOWN
from scoring.rules import options
from web.setups import setups

JS = Path("web/static/js")
LANGUAGES = ("en", "de", "fr")
FORMS = {"en": {"one", "other"}, "de": {"one", "other"}, "fr": {"one", "many", "other"}}  # CLDR's cardinal categories
SAME = {  # what is the same word, or nothing but values
    "de": {"colour.orange", "setup.name", "hub.column.buchholz"},
    "fr": {"sign.dragon", "segment.fortune", "segment.famine", "segment.inquisition", "history.changes", "final.total",
           "option.farm_points_per_city.3", "option.farm_points_per_city.4", "player.points", "item.fortune",
           "kind.table", "aim.px", "mark.points", "record.score.n", "record.turn.n", "book.minutes",
           "hub.column.buchholz", "bar.questions"},
}
QUOTED = r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
FORM = re.compile(rf"(one|many|other):\s+({QUOTED})")
TEXT = re.compile(rf'^  "?([\w.-]+)"?:\s+(?:({QUOTED})|\{{((?:\s*(?:one|many|other):\s+{QUOTED},?)+\s*)\}}),$', re.M)
MODULES = ("lang", "machine", "book", "spoken", "club")  # folders of texts


def texts(language: str) -> dict[str, dict[str, str]]:
    """Every key with its forms; a text without plural has the form ``other``."""
    out: dict[str, dict[str, str]] = {}
    for part in ("", "machine/", "book/", "spoken/", "club/"):
        file = f"lang/{part}{language}.js"
        read(file, out)
    for box in KNOWN.values():
        for key, text in box.appearance.texts.get(language, {}).items():
            assert key not in out, f"{box.name}: {key} twice"
            out[key] = {"other": text} if isinstance(text, str) else dict(text)
    return out


def read(file: str, out: dict[str, dict[str, str]]) -> None:
    """The texts of one file, beside those of others."""
    source, before = (JS / file).read_text("utf-8"), len(out)
    for key, plain, forms in TEXT.findall(source):
        assert key not in out, f"{file}: {key} twice"
        out[key] = {form: text[1:-1] for form, text in FORM.findall(forms)} if forms else {"other": plain[1:-1]}
    assert len(out) - before == len(re.findall(r'^  "?[\w.-]+"?:\s', source, re.M)), file


ENGLISH = texts("en")


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_language_has_every_text(language):
    said = texts(language)
    missing, unknown = ENGLISH.keys() - said.keys(), said.keys() - ENGLISH.keys()
    assert not missing, f"{language} has no text for: {' '.join(sorted(missing))}"
    assert len(said) > 400 and not unknown
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
    untranslated = same - SAME.get(language, set())
    assert not untranslated, f"{language} has the English text for: {' '.join(sorted(untranslated))}"
    assert same == SAME.get(language, set())


def modules() -> list[Path]:
    return [f for f in JS.rglob("*.js") if f.parent.name not in MODULES]


def templates() -> str:
    return "\n".join(f.read_text("utf-8") for f in Path("web/templates").glob("*.html"))


def test_every_key_that_is_used_exists():
    missing, families = [], 0
    for module in modules():
        source = module.read_text("utf-8")
        missing += [(module.name, key) for key in re.findall(r'\bt\("([\w.-]+)"', source) if key not in ENGLISH]
        for start in re.findall(r"\bt\(`([\w.-]+\.)\$\{", source):
            families += 1
            if not any(key.startswith(start) for key in ENGLISH):
                missing.append((module.name, start))
    missing += [("a page", key) for key in re.findall(r'data-(?:t|text|say)="([\w.]+)"', templates())
                if key not in ENGLISH]
    assert families > 20 and not missing


def test_every_text_is_used():
    code = "\n".join(m.read_text("utf-8") for m in [*modules(), *Path("scoring/expansions").glob("*.py")]) + templates()
    starts = set(re.findall(r"`([\w.-]+\.)\$\{", code)) | set(re.findall(r'f"([\w.-]+\.)\{', code))
    unused = [key for key in ENGLISH if f'"{key}"' not in code and f'"{key.removesuffix(".short")}"' not in code
              and not any(key.startswith(s) for s in starts)]
    assert not unused


def test_the_servers_sentences_have_texts():
    """What the server says in English it says with a code, and every code has its text in all languages."""
    wanted = {**{f"doctor.{c}": text for c, text in findings.TEXT.items()},
              **{f"do.{c}": text for c, text in findings.DO.items() if c != "calibrate"},
              **{f"status.{c}": text for c, text in SAID.items() if c != "reading_failed"}}
    for key, text in wanted.items():
        assert key in ENGLISH, key
        assert set(re.findall(r"\{(\w+)\}", ENGLISH[key]["other"])) == set(re.findall(r"\{(\w+)\}", text)), key
    advice = {**told("Advice", "calibration"), **told("CalibrationError", "calibration")}
    wanted = [c for c in advice if not c.startswith(("lens.", "drift."))]  # the lens is calibrated by a command
    assert len(wanted) > 20 and not [c for c in wanted if f"advice.{c}" not in ENGLISH]
    assert len(error_codes()) > 15 and not [c for c in error_codes() if f"error.{c}" not in ENGLISH]
    assert len(catalogue()) > 100 and told("Advice", "calibration")["drift.put_back"]


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
    """Texts for people are children or labels of elements: no literal words there."""
    found = []
    for module in modules():
        code = re.sub(r"//.*", "", module.read_text("utf-8"))
        for literal in re.findall(r'"((?:[^"\\\n]|\\.)*)"', code):
            words = re.fullmatch(r"[A-Z]?[a-zé]+(?: [a-zé]+){2,}[.!?…]?", literal)
            if words and not re.search(r"\b(?:none|action|big)\b", literal):  # names of classes
                found.append((module.name, literal))
    assert not found
