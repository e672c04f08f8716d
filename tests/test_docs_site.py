"""The documentation site builds without a warning, and every link in the built pages leads somewhere."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
import yaml
from mkdocs.commands.build import build
from mkdocs.config import load_config
from mkdocs.exceptions import Abort

ROOT = Path(__file__).parents[1]


class Page(HTMLParser):
    """The ids of a page, where it links to, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        self.ids |= {v for k, v in given.items() if k in ("id", "name") and v}
        if tag == "a" and given.get("href"):
            self.links.append(given["href"] or "")
        if tag in ("img", "script", "link", "iframe", "source"):
            self.loads += [v for k in ("src", "href") if (v := given.get(k))]


def built(config: Path, out: Path) -> dict[Path, Page]:
    build(load_config(str(config), site_dir=str(out)))
    return {p: Page(p.read_text("utf-8")) for p in out.rglob("*.html") if p.name != "404.html"}


def one_page(text: str, folder: Path) -> Path:
    """A site of our settings with this page only; its configuration."""
    (folder / "docs").mkdir()
    (folder / "docs" / "index.md").write_text(f"# A page\n\n{text}\n", "utf-8")
    settings = yaml.safe_load((ROOT / "mkdocs.yml").read_text("utf-8"))
    del settings["nav"]
    (folder / "mkdocs.yml").write_text(yaml.safe_dump(settings), "utf-8")
    return folder / "mkdocs.yml"


def dead(pages: dict[Path, Page]) -> list[str]:
    """Links within the site that lead nowhere, and whatever a page would load from elsewhere."""
    out = []
    for path, page in pages.items():
        for link in (*page.links, *page.loads):
            to = urlsplit(link)
            if to.scheme or to.netloc:
                if link in page.loads:
                    out.append(f"{path.name} loads {link}")
                continue
            target = (path.parent / unquote(to.path)).resolve() if to.path else path
            if not target.is_file() or (to.fragment and target in pages
                                        and unquote(to.fragment) not in pages[target].ids):
                out.append(f"{path.name}: {link}")
    return out


def test_every_link_of_the_site_leads_somewhere(tmp_path: Path) -> None:
    pages = built(ROOT / "mkdocs.yml", tmp_path / "site")
    assert len(pages) > len(list((ROOT / "docs").glob("*.md")))
    assert dead(pages) == []


@pytest.mark.parametrize("text", ["[a](none.md)", "[a](#none)", "![a](none.png)"])
def test_a_dead_link_is_seen(text: str, tmp_path: Path) -> None:
    with pytest.raises(Abort):
        built(one_page(text, tmp_path), tmp_path / "site")


def test_what_a_page_would_load_from_elsewhere_is_seen(tmp_path: Path) -> None:
    pages = built(one_page("![a](https://example.org/a.png)", tmp_path), tmp_path / "site")
    assert dead(pages) == ["index.html loads https://example.org/a.png"]
