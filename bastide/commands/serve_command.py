"""``bastide serve``: the page for a real table."""

from __future__ import annotations

import argparse
import json
import os
import sys
import threading
from contextlib import ExitStack, nullcontext, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from bastide.errors import Failure, UsageError
from bastide.inputs import expansions, players, rules
from bastide.settings import options

if TYPE_CHECKING:
    from bastide.log.store import Store
    from bastide.machine.service import Notifier
    from bastide.settings.options import InForce
    from bastide.settings.page_settings import SettingsFile
    from bastide.table.session import TableSession

HELP = "watch a table and show the page"
ANSWERED_S = 0.5


def add_arguments(parser: argparse.ArgumentParser) -> None:
    options.add_arguments(parser)
    parser.add_argument("--data", metavar="DIR", default="data", help="the data folder (default: data)")
    parser.add_argument("--new", action="store_true", help="begin a new game even if one is unfinished")
    parser.add_argument("--pin", metavar="PIN", help="set the PIN required to change the game; other users of this "
                        "machine can see it here, so prefer: bastide pin")


@dataclass
class _Life:
    """State passed from one run of the server to the next: ``up``: its page was served, ``again``: it should restart,
    ``backup``: to be restored before; ``restored`` and ``refused`` are the errors of the last restart."""

    up: bool = False
    again: bool = False
    backup: Path | None = None
    port: int = 0
    restored: str = ""
    refused: str = ""


def run(args: argparse.Namespace) -> int:
    from bastide.backup.restore_inside import finish
    from bastide.machine.heap import limit_heap, trimmed
    from bastide.machine.service import from_environment, kept_alive
    from bastide.settings.page_settings import SettingsFile, set_on_page

    limit_heap()
    notifier, data, life, without = from_environment(), Path(args.data), _Life(), False
    if data.exists() and not data.is_dir():
        raise Failure(f"--data {data}: is a file, not a folder")
    with trimmed():
        while True:
            finish(data)  # a restore interrupted by a power cut
            file = SettingsFile(data)
            now = options.in_force(args, os.environ, {} if without else file.values)
            life = _Life(port=life.port, restored=life.restored, refused=life.refused)
            try:
                _serve(args, now, file, notifier, life)
            except (UsageError, Failure) as e:
                if life.up or not set_on_page(now):
                    raise
                # Page settings can only be corrected on the page: it must start whatever they are.
                life.refused = str(e)
                without = file.values == file.served
                if not without:
                    _put_back(file)
                print(f"the page's settings were rejected: {e}", file=sys.stderr, flush=True)
                continue
            if not life.again:
                return 0
            without, life.refused, life.restored = False, "", ""
            args.new, args.pin = False, None
            if life.backup is not None:
                with kept_alive(notifier):
                    life.restored = _restored(life.backup, data)
                # The data folder was replaced: its newest game continues, regardless of the command line.
                args.players, args.edition, args.rule, args.expansions, args.first = None, None, [], None, None


def _put_back(file: SettingsFile) -> None:
    try:
        file.put(file.served)
    except OSError as e:
        raise Failure(f"{file.path}: cannot be saved ({e.strerror or e}); free some space or check the disk") from e


def described(args: argparse.Namespace) -> str:
    """The command line's description of a game. A restart after a crash repeats it and means the game on the table.
    """
    named = [args.edition, args.rule, args.expansions, args.first]
    if not args.players and not any(named):
        return ""
    people = players(args.players) if args.players else ()
    return json.dumps([[(p.name, p.colour) for p in people], *named])


def reachable(args: argparse.Namespace) -> None:
    """Raises UsageError for network options with which the page could not be reached as they say."""
    if args.https is not None and args.https == args.port:
        raise UsageError(f"--https {args.https}: is the port of the page by plain HTTP; choose another, such as 8443")
    options.read_value(options.NAMED["allowed-host"], args.allowed_host)


def goes_together(args: argparse.Namespace, data: Path) -> None:
    """Raises UsageError for options that are valid by themselves but inconsistent."""
    from bastide.camera.calibrated import load_calibrations, view_from
    from bastide.club.table import club_table
    from bastide.table.setup import TWO, table_setup

    reachable(args)
    club_table(args, data, os.environ)
    printed = rules(args)
    table_setup("", printed, expansions(args.expansions, printed), players(args.players) if args.players else
                TWO, args.first)
    view_from(load_calibrations(args.calibration))


def _resumed(store: Store) -> TableSession | None:
    """The game on the table; without one if it is intact but not understood, such as one of a newer version."""
    from bastide.log.stored import NotUnderstood
    from bastide.table.session import TableSession

    try:
        return TableSession.resume(store)
    except NotUnderstood as e:
        print(f"{e}; a new game is started, and that one is kept", file=sys.stderr, flush=True)
        return None


def _restored(backup: Path, data: Path) -> str:
    """Restore a backup; returns "", or why that failed: then nothing has changed."""
    from bastide.backup.restore_inside import restore_inside

    try:
        contents = restore_inside(backup, data)
    except (UsageError, Failure) as e:
        print(f"the backup was not restored: {e}", file=sys.stderr, flush=True)
        return str(e)
    finally:
        backup.unlink(missing_ok=True)
    print(f"restored: {contents.games} games with {contents.entries} entries", flush=True)
    return ""


def _serve(given: argparse.Namespace, now: InForce, file: SettingsFile, notifier: Notifier, life: _Life) -> None:
    """Serve with the options ``now`` until it is stopped or restarted, which ``life`` records."""
    from bastide.backup.external_files import remember
    from bastide.backup.page_backups import PageBackups
    from bastide.backup.second_medium import SecondMedium
    from bastide.book.films import AtTheEnd
    from bastide.camera.calibrated import CalibratedCamera, load_calibrations, view_from
    from bastide.camera.calibration_store import CalibrationStore, newest
    from bastide.camera.cameras import Cameras
    from bastide.camera.lens_bench import LensBench
    from bastide.camera.opening import is_device, open_camera, opened
    from bastide.camera.page_teaching import PageTeaching
    from bastide.camera.self_test import layout
    from bastide.camera.tuning import Tuning
    from bastide.club.table import club_table
    from bastide.commands.doctor_command import versions
    from bastide.files.keys import KeyFile, SessionFile, set_pins
    from bastide.files.logs import logging_to
    from bastide.guide.guiding import guide_for
    from bastide.log.kept_looks import KeptLooks
    from bastide.log.reserve import BYTES
    from bastide.log.store import Store
    from bastide.machine.certificates import Certificates
    from bastide.machine.pulse import Pulse
    from bastide.machine.securing import secured
    from bastide.machine.service import panel, wait
    from bastide.machine.stopping import stop_on_signals
    from bastide.machine.updates import Updates
    from bastide.settings.page_settings import Settings
    from bastide.table.session import TableSession
    from bastide.table.setup import table_setup
    from bastide.tiles.art import ArtSets
    from bastide.watching.checkup import CheckUp
    from bastide.watching.learning import Learner
    from bastide.watching.lens_notice import lens_measured
    from bastide.watching.table_loop import TableLoop
    from bastide.watching.watcher import make_watcher
    from reading.watcher import TableWatcher
    from scoring.events import Setup
    from vision.read import PhotoReader
    from vision.tileset import TileSet
    from web.access import Access
    from web.app import create_app
    from web.certificate import Https
    from web.server import PageServer, ServerError

    args = now.onto(given)
    data = Path(args.data)
    reachable(args)
    if args.tiles and not args.source:  # with a camera they are loaded below
        options.read_value(options.NAMED["tiles"], args.tiles)
    club = club_table(args, data, os.environ)
    with ExitStack() as stack:
        stop = stack.enter_context(stop_on_signals())
        store = stack.enter_context(Store(data / "log.sqlite", reserve=BYTES))
        stack.enter_context(logging_to(data))
        if store.notice:
            print(store.notice, file=sys.stderr)
        known = any(line.entries for line in store.games())
        session = None if args.new else _resumed(store)
        asked = described(args)
        if session is not None and asked and asked != store.described and (session.state.over or not session.entries):
            session = None  # it has no moves, and another one was described since
        if session is None:
            seated = players(args.players) if args.players else None
            printed = rules(args)
            setup = table_setup(args.source or "", printed, expansions(args.expansions, printed), seated, args.first)
            session = TableSession(store, setup)
        else:
            print(f"continuing the previous game: {len(session.state.tiles)} tiles on the table", flush=True)
            if asked:
                print("players, rules and expansions are those of that game; --new starts another",
                      file=sys.stderr)
        store.describe(asked)
        loop = camera = tuning = teaching = lens = None
        measured = CalibrationStore(data)
        keys = KeyFile(args.data)
        if args.pin is not None:
            set_pins(keys, table=args.pin)
        arts = session.arts = ArtSets(data, args.tiles)
        documents = load_calibrations(args.calibration)
        if args.source:
            uri = args.source
            view_from(documents)  # reports errors in the files now
            used = newest(documents, measured.kept())
            camera = CalibratedCamera(open_camera(uri), used, view_from(used), measured.paths())
            with nullcontext() if is_device(uri) else opened(camera):
                pass  # a device may be plugged in later

            seen = KeptLooks(data)
            stack.callback(seen.close)

            def watcher_for(setup: Setup) -> TableWatcher:
                art = session.art

                def again() -> TileSet:
                    try:
                        return arts.tiles(art, setup)
                    except UsageError as e:  # the folder has gone during the game: it is watched without
                        print(e, file=sys.stderr, flush=True)
                        return TileSet.empty()

                return make_watcher(arts.tiles(art, setup), setup, camera.view, again=again,
                                    record=seen.begin(session.game, setup, lambda: len(session.entries)))

            learner = None
            if args.learn and not uri.startswith("sim:"):  # a simulated table shows our own drawings
                learner = Learner(lambda: arts.book(session.art), session, lambda setup: arts.base(session.art, setup),
                                  arts.counts)
            # The same camera object every time: after a reconnect it restores the fixed focus and exposure.
            watcher = watcher_for(session.setup) if args.tiles else None  # reports errors in the folder now
            loop = TableLoop(lambda: camera, watcher, session, watcher_for, learner, camera.changed,
                             lambda: lens_measured(camera.documents))
            tuning = Tuning(camera, measured, given=documents, present=lambda: session.seeing.present,
                            aimed=lambda good: guide.aimed(uri, good), trial=lambda: layout(session.setup),
                            colours=lambda: tuple(p.colour for p in session.setup.players),
                            reader=lambda: PhotoReader(arts.tiles(session.art, session.setup),
                                                       counts=arts.counts(session.setup.expansions)))
            stack.callback(tuning.close)
            lens = LensBench(camera, measured, given=documents, present=lambda: session.seeing.present)
            stack.callback(lens.close)
            # Taught pictures are used from the next frame on, if the game uses the owner's set.
            teaching = PageTeaching(camera, arts.teaches, present=lambda: session.seeing.present,
                                    wanted=lambda: tuple(arts.counts(session.setup.expansions)),
                                    known=lambda: session.own_tiles()["tiles"], taught=camera.changed.set)
            stack.callback(teaching.close)
        remember(Path(args.data), calibrations=args.calibration or (), tiles=args.tiles, players=args.players)

        def begin_again(backup: Path | None = None) -> None:
            life.again, life.backup = True, backup
            threading.Timer(ANSWERED_S, stop.set).start()  # after the response was sent

        def playing() -> bool:
            return bool(session.entries) and not session.state.over

        backups = PageBackups(data, running=playing, again=begin_again, hold=session.hold,
                              calibrations=tuple(Path(c) for c in args.calibration or ()), note=life.restored)
        more = partial(versions, pi=(args.source or "").startswith("picamera"))
        access = Access(keys, hosts=args.allowed_host, keeper=SessionFile(data))
        settings = Settings(file, given, os.environ, now, begin_again, live={
            "allowed-host": lambda names: access.also(names if isinstance(names, list) else ())},
                            check=lambda asked: goes_together(asked, data), note=life.refused)

        def choose(uri: str) -> None:
            settings.put("source", uri)
            settings.restart()

        guide = guide_for(data, session, keys, camera, known=known)
        cameras = Cameras(args.source, camera, offered=lambda: settings.texts("offer-camera"), choose=choose,
                          offer=lambda uris: settings.put("offer-camera", list(uris)),
                          fixed=lambda: settings.origin("source") == options.COMMAND_LINE,
                          status=lambda: session.view()["status"]["text"])
        stack.callback(cameras.close)
        certificates = Certificates(data) if args.https else None
        app = create_app(session, access=access, settings=settings, cameras=cameras, guide=guide,
                         https=Https(args.https, certificates.authority) if certificates else None,
                         updates=Updates(data, running=playing),
                         pulse=Pulse(data, relit=lambda: session.seeing.relit,
                                     status=lambda: session.view()["status"]),
                         doctor=CheckUp(data, session, loop, lambda: camera.documents if camera else documents,
                                        more=more), tuning=tuning, backups=backups, teaching=teaching, lens=lens)
        try:
            server = stack.enter_context(PageServer(app, args.host, args.port or life.port))
        except ServerError as e:
            raise Failure(str(e)) from e
        life.port = server.port  # a free port (--port 0) is kept after a restart: pages wait there
        print(f"the page is at {server.url}", flush=True)
        if certificates is not None:
            try:
                stack.enter_context(secured(server, args.https, certificates))
            except ServerError as e:
                raise Failure(str(e)) from e
            print(f"and by HTTPS on port {args.https}; {server.url}https explains the setup of each device", flush=True)
        if keys.get().table is None:
            print("no PIN is set yet: the first to open the page sets it, or run: bastide pin", flush=True)
        if club is not None:
            stack.enter_context(club.published(session, server.port))
        if loop:
            loop.start()
            stack.callback(loop.stop)
        stack.enter_context(AtTheEnd(session.films, store, session))
        if args.backup_to:
            stack.enter_context(SecondMedium(data, Path(args.backup_to), session,
                                             calibrations=tuple(Path(c) for c in args.calibration or ())))
        measure = getattr(camera.device, "measure_again", None) if camera else None
        session.seeing.balance = measure
        stack.enter_context(panel(session, args.light, args.button, measure))
        life.up = True
        with suppress(OSError):  # a full disk only loses the fallback
            file.serves()
        wait(stop, loop, notifier, server.url, lambda: life.again)
        if session.state.over and not life.again:
            store.describe("")  # an orderly end: the next start is another evening
