"""Fuzzes the whole application with random requests that schemathesis generates from the OpenAPI document.

Every operation but the two endless streams gets valid and invalid requests, with the right to play and a game on the
table. Failures are: a 5xx response, a status, type or schema that the document does not contain, a response slower than
the limit. Prints requests and responses by operation.

    python benchmarks/api_fuzz.py [--examples 10000] [--seed 1] [--json]
"""

from __future__ import annotations

import argparse
import json
import logging
import signal
import sys
import tempfile
import time
from collections import Counter
from contextlib import suppress
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "web")]
LIMIT_S = 10.0
STREAMS = ("/api/events", "/api/overlay/events")
PINS = ("/api/session", "/api/pin")
FRESH_AFTER = 400  # entries, after which a new game begins, so that the game stays realistic


def run(examples: int, seed: int) -> dict[str, Any]:
    """Send at least ``examples`` requests; returns the figures. ``failures`` holds the first of each kind."""
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as seeded
    from schemathesis import GenerationMode
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    )
    from webtable import JPEG, after, table

    from bastide.log.store import Store
    from web.access import Access
    from web.app import create_app
    from web.rights import Memory

    logging.getLogger("web").setLevel(logging.CRITICAL)
    checks = (not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance)
    asked: Counter[str] = Counter()
    answers: Counter[int] = Counter()
    failures: dict[str, str] = {}
    slowest_s = 0.0
    begun = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "log.sqlite") as store:
        session = table(store, 6)
        event = after(6)[0]
        session.commit((event,), confidence=0.6, asked=True, alternatives=(((event,), 0.6),), crop=JPEG)
        # PIN routes need an application with PINs; all others get requests with every right.
        operations = [o for o in _operations(create_app(session)) if o.path not in (*STREAMS, *PINS)]
        operations += [o for o in _operations(create_app(session, access=Access(Memory()))) if o.path in PINS]

        def send(case: Any) -> None:
            nonlocal slowest_s
            if len(session.entries) > FRESH_AFTER:
                setup = {"edition": "zman2012", "players": [{"name": "A", "colour": "red"}]}
                session.command({"do": "new_game", "setup": setup})
            name = f"{case.operation.method.upper()} {case.operation.path}"
            start = time.monotonic()
            answer = case.call()
            took = time.monotonic() - start
            slowest_s = max(slowest_s, took)
            asked[name] += 1
            answers[answer.status_code] += 1
            if took > LIMIT_S:
                failures.setdefault(f"{name}: too slow", f"{took:.1f} s")
            try:
                case.validate_response(answer, checks=list(checks))
            except KeyboardInterrupt:
                raise
            except BaseException as e:  # a group of check failures
                parts = getattr(e, "exceptions", (e,))
                failures.setdefault(f"{name}: {answer.status_code} {type(parts[0]).__name__}",
                                    f"{parts[0]}\n{case.as_curl_command()}"[:1500])

        # Bodies have the most ways to be invalid; but every PIN is hashed, which takes time.
        weights = [2 if o.path in PINS else 8 if o.body else 1 for o in operations]
        each, rounds = -(-examples // sum(weights)), 0
        with suppress(KeyboardInterrupt):  # Ctrl-C prints the figures so far
            while sum(asked.values()) < examples:
                rounds += 1
                for n, operation in enumerate(operations):
                    strategy = operation.as_strategy(generation_mode=GenerationMode.POSITIVE)
                    if operation.body or any(True for _ in operation.iter_parameters()):
                        strategy |= operation.as_strategy(generation_mode=GenerationMode.NEGATIVE)
                    limits = settings(max_examples=each * weights[n], database=None, deadline=None,
                                      phases=[Phase.generate], suppress_health_check=list(HealthCheck))
                    test = limits(given(strategy)(send))
                    seeded(seed + 1000 * n + 100_000 * rounds)(test)()
    return {"requests": sum(asked.values()), "seconds": round(time.monotonic() - begun, 1),
            "slowest_ms": round(1000 * slowest_s, 1), "by_operation": dict(asked),
            "by_status": {str(k): v for k, v in sorted(answers.items())}, "failures": failures}


def _operations(app: Any) -> list[Any]:
    """The document's operations, from an application, as a local client."""
    import schemathesis

    def here(environ: dict[str, Any], start_response: Any) -> Any:
        return app({**environ, "REMOTE_ADDR": "127.0.0.1", "HTTP_ACCEPT_ENCODING": ""}, start_response)

    return [o.ok() for o in schemathesis.openapi.from_wsgi("/api/openapi.json", here).get_all_operations()]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    found = run(args.examples, args.seed)
    if args.json:
        print(json.dumps(found))
    else:
        print(f"{found['requests']} requests in {found['seconds']} s, the slowest {found['slowest_ms']} ms; answers: "
              + ", ".join(f"{n} x {status}" for status, n in found["by_status"].items()))
        for name, count in found["by_operation"].items():
            print(f"  {count:6} {name}")
        for what, how in found["failures"].items():
            print(f"FAILED {what}\n  {how}")
        print(f"{len(found['failures'])} kinds of failure")
    return 1 if found["failures"] else 0


if __name__ == "__main__":
    sys.exit(main())
