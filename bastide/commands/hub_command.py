"""``bastide hub``: all tables of a broker on every screen of the room."""

from __future__ import annotations

import argparse
import os
from contextlib import ExitStack
from pathlib import Path

from bastide.errors import Failure
from bastide.inputs import port
from bastide.settings.options import NAMED, read_value

HELP = "show all tables of a club evening"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--mqtt", metavar="URL", help="the broker, as mqtt://user@host[:port] or mqtts:// (default: "
                        "BASTIDE_MQTT of the environment, else this machine)")
    parser.add_argument("--mqtt-ca", metavar="FILE", help="the CA certificate that signed the broker's")
    parser.add_argument("--mqtt-password", metavar="FILE", help="a file that contains only the password")
    parser.add_argument("--port", type=port, default=8080)
    parser.add_argument("--host", default="0.0.0.0")
    parser.add_argument("--data", metavar="DIR", default="hub", help="where results are kept (default: hub)")
    parser.add_argument("--allowed-host", action="append", default=[], metavar="NAME",
                        help="another host name of the page; repeatable")


def run(args: argparse.Namespace) -> int:
    from bastide.club.broker import broker, read_password
    from bastide.club.hub import Hub
    from bastide.club.results import Results
    from bastide.files.keys import KeyFile, SessionFile
    from bastide.files.logs import logging_to
    from bastide.machine.heap import limit_heap
    from bastide.machine.service import from_environment, wait
    from bastide.machine.stopping import stop_on_signals
    from web.access import Access
    from web.hub import BUFFER, CONNECTIONS, THREADS, create_hub
    from web.server import PageServer, ServerError

    read_value(NAMED["allowed-host"], args.allowed_host)
    limit_heap()
    notifier = from_environment()
    url = args.mqtt or os.environ.get("BASTIDE_MQTT") or "mqtt://localhost"
    to = read_password(broker(url, ca=args.mqtt_ca, environment=os.environ), args.mqtt_password)
    data = Path(args.data)
    with ExitStack() as stack:
        stop = stack.enter_context(stop_on_signals())
        results = stack.enter_context(Results(data))
        stack.enter_context(logging_to(data))
        hub = stack.enter_context(Hub(to, results))
        keys = KeyFile(data)
        app = create_hub(hub.hall, results, hub.organiser,
                         door=Access(keys, hosts=args.allowed_host, keeper=SessionFile(data)))
        try:
            server = stack.enter_context(PageServer(app, args.host, args.port, threads=THREADS,
                                                    connections=CONNECTIONS, buffer=BUFFER))
        except ServerError as e:
            raise Failure(str(e)) from e
        print(f"the page is at {server.url} and for a projector at {server.url}wall", flush=True)
        if keys.get().table is None:
            print(f"no PIN is set yet: the first to open the page sets it, or run: bastide pin --data {args.data}",
                  flush=True)
        wait(stop, None, notifier, server.url)
    return 0
