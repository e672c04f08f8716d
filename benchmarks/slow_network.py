"""Load time of the page on a slow network: ``python benchmarks/slow_network.py [--kbit 400] [--ms 100]``.

A headless Chromium opens the page of a late game with limited kilobits per second and a latency per request, with an
empty cache. Prints when names and scores are readable, the board is complete, and the fonts are loaded, and the bytes
received.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "web")]

from browser import chromium  # noqa: E402
from webtable import table  # noqa: E402

from bastide.log.store import Store  # noqa: E402
from web.app import create_app  # noqa: E402
from web.server import PageServer  # noqa: E402

SEEN = """() => { const at = {}, first = (name) => { at[name] ??= performance.now(); };
  const look = () => {
    const score = document.querySelector(".player .score");
    const painted = performance.getEntriesByName("first-contentful-paint").length > 0;
    if (painted && score && getComputedStyle(document.body).margin === "0px" && score.textContent) first("scores");
    if (document.querySelector(".coming")) first("says that the board is coming");
    if (document.querySelector("#bar button")) first("buttons");
    if (document.querySelector(".tiles .tile")) first("board");
    const fonts = [...document.fonts].map((f) => f.status);
    if (fonts.includes("loaded") && !fonts.includes("loading")) first("fonts");
    window.seen = at;
    requestAnimationFrame(look);
  };
  look(); }"""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kbit", type=int, default=400, help="kilobits a second")
    parser.add_argument("--ms", type=int, default=100, help="what every request waits")
    parser.add_argument("--times", type=int, default=3)
    args = parser.parse_args()
    from playwright.sync_api import sync_playwright
    with sync_playwright() as p, tempfile.TemporaryDirectory() as folder, \
            Store(Path(folder) / "t.sqlite") as store, PageServer(create_app(table(store, 72)), port=0) as server:
        browser = chromium(p)
        for _ in range(args.times):
            page = browser.new_context(locale="fr-FR").new_page()
            devtools = page.context.new_cdp_session(page)
            devtools.send("Network.enable")
            came: list[float] = []
            devtools.on("Network.loadingFinished",
                        lambda e, came=came: came.append(e["encodedDataLength"]))  # type: ignore[misc]
            devtools.send("Network.emulateNetworkConditions", {
                "offline": False, "latency": args.ms, "downloadThroughput": args.kbit * 1000 / 8,
                "uploadThroughput": args.kbit * 1000 / 8})
            page.add_init_script(f"({SEEN})()")
            page.goto(server.url, wait_until="commit")
            page.locator(".tiles .tile").first.wait_for(timeout=120_000)
            page.wait_for_timeout(3000)
            seen = page.evaluate("() => window.seen")
            print(", ".join(f"{name} {ms / 1000:.1f} s" for name, ms in sorted(seen.items(), key=lambda x: x[1])),
                  f"({sum(came) / 1000:.0f} kB)")
            page.context.close()
        browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
