"""Renders a table from a transcript, frame by frame, as an overhead camera would see it."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

import cv2
import numpy as np

from scoring.contributions import Stack
from scoring.tiles import catalogue, segment_index
from vision.frames import Frame, Image, SourceError
from vision.simulator.artist import ART_PX, Artist, mask_of
from vision.simulator.camera import Camera
from vision.simulator.dial import board_poses, figure_spot, middle_of, picture, rounds_of
from vision.simulator.disturbances import disturbed
from vision.simulator.draw import Roi, differs, part, smear, union
from vision.simulator.film import Film
from vision.simulator.hands import Hand
from vision.simulator.layout import Pose, lay_tiles, set_up, stand
from vision.simulator.mishaps import Lamps, Plan, Rest, homes, planned
from vision.simulator.neutral import lain_at, stop_number, stops_of
from vision.simulator.options import TILE_HEIGHT_MM, TILE_MM, Options
from vision.simulator.pieces import LIES, Piece, draw_piece, region, swapped
from vision.simulator.props import arrange
from vision.simulator.script import Laid, Script, Square, Standing, script_of
from vision.simulator.stacks import on_piles, piles_of, place_of
from vision.simulator.supply import Supply
from vision.simulator.surface import exposure, gloss, light_map, lit, mark, table_top
from vision.simulator.table import StillTable
from vision.simulator.timeline import Act, Planner, Timeline, Visit, carried_height, number_figures
from vision.simulator.truth import FigureTruth, TileTruth, Truth

_BOARD = "board"  # the still table's name of a start board


class Simulator:
    """Iterate over it for the frames of the whole game; iterating again repeats the same frames. At the level of slides
    they are one picture a turn, each for some seconds; ``slides`` are their frame numbers in the ground truth.

    ``data`` is a parsed transcript/1; equal ``data``, ``seed`` and ``options`` give equal frames. ``truth`` is complete
    before the first frame is drawn. Raises SourceError when the transcript or the tile folder cannot be used.
    """

    def __init__(self, data: Mapping[str, object], seed: int = 0, options: Options | None = None) -> None:
        self.options, self.seed = options or Options(), seed
        level = self.options.conditions
        self.script = script = script_of(data, self.options.turns)
        rng = self.rng("layout")
        board = script.board
        first = [*([script.start] if script.start else []), *(board.tiles.values() if board else ())]
        laid = [*first, *(t.laid for t in script.turns if t.laid)]
        fixed = board_poses(board, rng, level.jitter_deg) if board else {}
        camera, poses = set_up(lay_tiles(laid, level, rng, fixed), level, self.options.size, self.rng("camera"),
                               fov_deg=self.options.fov, bend=self.options.k1,
                              room_mm=TILE_MM if self.options.goes_wrong.shove else 0.0)
        planner = Planner(camera, self.options, max(1, len(script.colours)), self.rng("hands"))
        plan = disturbed(self._plan(script, camera, poses), self.options.goes_wrong, script.turns, poses, camera,
                         planner.seats_deg, self.rng("life"))
        standing, numbers = number_figures(script.turns)
        homes(numbers, self.options.goes_wrong, len(script.turns), self.rng("late"))
        pieces = swapped(self._stand(script, {t.at: t for t in laid}, poses, plan, standing, numbers), script.owned,
                         self.options.goes_wrong.foreign, self.rng("foreign"))
        gone = {n: t for (t, what), ns in numbers.items() if what != "put" for n in ns}
        stops, walks = stops_of(script, poses, plan, pieces, standing, gone, self.rng("neutral"))
        piles = piles_of(script, {t.at: t for t in laid}, poses, plan, len(stops), self.rng("stacks"))
        pieces = on_piles(pieces, standing, script.tops, piles, poses, plan)
        stops += piles.blocks
        rounds = rounds_of(script, poses, plan, len(stops), self.rng("dial"))
        stops += rounds.stops
        self._first_stops = (rounds.first,) if rounds.stops else ()
        for turn, visits in piles.visits.items():
            walks.setdefault(turn, []).extend(visits)
        feet = [((p.x_mm, p.y_mm), plan.foot(s.at, poses[s.at], p, turn, gone.get(n, turn)))
                for n, ((turn, p), (_, s)) in enumerate(zip(pieces, standing, strict=True))]
        came = {t.laid.at: t.index for t in script.turns if t.laid}
        spots = {at: plan.pose(at, p, came.get(at, -1)) for at, p in poses.items()}
        timeline = planner.plan(script.turns, {at: (p.x_mm, p.y_mm) for at, p in spots.items()},
                                feet, numbers, [s.player for _, s in standing], self.options.goes_wrong.crowd,
                                walks, rounds.visits)
        lamp_rng = self.rng("lamp")
        angle, far = lamp_rng.uniform(0, 2 * np.pi), lamp_rng.uniform(250, 700)
        lamp = (float(far * np.cos(angle)), float(far * np.sin(angle)), float(lamp_rng.uniform(900, 1500)))
        self.truth = replace(self._truth(script, camera, poses, pieces, timeline, lamp, standing), plan=plan,
                             stops=lain_at(stops, timeline))
        self._artist = Artist(self.options, seed)
        rates = self.options.goes_wrong
        lain = [*poses.values()] if not rates.shove else [
            plan.pose(at, pose, turn) for at, pose in poses.items()
            for turn in {came.get(at, -1), *(p.turn for p in plan.pushes if p.turn > came.get(at, -1))}]
        self.props = arrange(camera, lain, planner.seats_deg, script.colours, self.rng("props"), plan.track,
                             round(rates.beside)) if level.props else None

    def __iter__(self) -> Iterator[Frame]:
        if self.options.conditions.slide_s:
            yield from self._shown_as_slides()
            return
        unseen = self.truth.unseen
        for number, image in enumerate(self._images()):
            if number in unseen:
                continue
            yield Frame(id=number, t_s=number / self.options.fps, source=f"sim:{self.seed}", bgr=image)

    def rng(self, purpose: str) -> np.random.Generator:
        """The same for each purpose, whatever else is drawn."""
        return np.random.default_rng([self.seed, zlib.crc32(purpose.encode())])

    def _plan(self, script: Script, camera: Camera, poses: Mapping[Square, Pose]) -> Plan:
        """The plan of mishaps; none moves the board out of the picture."""
        px = np.vstack([camera.project([(x, y, TILE_HEIGHT_MM) for x, y in p.corners()]) for p in poses.values()])
        low, high = px.min(axis=0), px.max(axis=0)
        size = self.options.size
        room = (float(low[0]), float(low[1]), float(size[0] - high[0]), float(size[1] - high[1]))
        turn = float(np.degrees(min(room) / np.hypot(*size)))
        scale = camera.scale((0.0, 0.0))
        return planned(self.options.goes_wrong, script.turns, poses, min(2.5, max(0.0, turn)), size, scale, room,
                       self.rng("mishaps"), in_one=script.board is not None)

    def _stand(self, script: Script, laid: Mapping[Square, Laid], poses: Mapping[Square, Pose], plan: Plan,
               standing: list[tuple[int, Standing]], numbers: Mapping[tuple[int, str], list[int]],
               ) -> list[tuple[int, Piece]]:
        """Every figure that is ever put down, with its position, by turn."""
        rng, level = self.rng("figures"), self.options.conditions
        gone = {n: t for (t, what), ns in numbers.items() if what != "put" for n in ns}
        begun: dict[Square, tuple[int, Stack]] = {}  # by the square of a pile: the turn of its first block
        for step in script.turns:
            for at, stack in step.raised:
                begun.setdefault(at, (step.index, stack))
        result: list[tuple[int, Piece]] = []
        board = self.script.board
        dial = board.dial if board is not None else None
        for number, (turn, s) in enumerate(standing):
            taken = [(p.x_mm, p.y_mm) for n, (_, p) in enumerate(result) if gone.get(n, 1 << 30) >= turn]
            if board is not None and dial is not None and s.feature == dial.feature:
                pose = middle_of(board, s.at, plan.pose(s.at, poses[s.at], turn))
                x, y = figure_spot(board, dial, s.where, pose, taken, rng)
                result.append((turn, Piece(figure=s.figure, colour=script.colours[s.player], x_mm=x, y_mm=y,
                                           z_mm=TILE_HEIGHT_MM, yaw_deg=float(rng.uniform(0, 360)), lying=False)))
                continue
            tile = laid.get(s.at)
            segment = tile and segment_index(catalogue()[tile.tile], tile.rot, s.feature, s.where)
            if tile is None or segment is None and s.feature not in script.tops:
                raise SourceError(f"the transcript cannot be simulated: turns[{turn}] puts a figure on "
                                  f"{s.feature} {s.where!r} at {list(s.at)}, and there is none")
            lies = plan.pose(s.at, poses[s.at], turn)
            blocks: tuple[tuple[float, float], ...] = ()
            if s.at in begun and begun[s.at][0] <= gone.get(number, 1 << 30):
                blocks = (place_of(begun[s.at][1], tile, lies),)
            x, y = stand(s, tile, lies, mask_of(tile.tile, s.feature, s.where, tile.rot), taken, level, rng, blocks)
            colour = script.colours[s.player]
            result.append((turn, Piece(figure=s.figure, colour=colour, x_mm=x, y_mm=y, z_mm=TILE_HEIGHT_MM,
                                       yaw_deg=float(rng.uniform(0, 360)),
                                       lying=s.feature == "field" and s.figure in LIES)))
        return result

    def _truth(self, script: Script, camera: Camera, poses: Mapping[Square, Pose], pieces: list[tuple[int, Piece]],
               timeline: Timeline, lamp: tuple[float, float, float],
               standing: Sequence[tuple[int, Standing]]) -> Truth:
        tiles: dict[Square, TileTruth] = {}
        if script.start:
            tiles[script.start.at] = TileTruth(laid=script.start, pose=poses[script.start.at], turn=None, down=0)
        for square in script.board.tiles.values() if script.board else ():
            tiles[square.at] = TileTruth(laid=square, pose=poses[square.at], turn=None, down=0)
        down = {t.turn: t.tile_down for t in timeline.turns}
        for turn in script.turns:
            if turn.laid and (frame := down[turn.index]) is not None:
                tiles[turn.laid.at] = TileTruth(laid=turn.laid, pose=poses[turn.laid.at], turn=turn.index, down=frame)
        put = {a.piece: a.frame for v in timeline.visits for a in v.acts if a.kind == "figure"}
        gone = {a.piece: a.frame for v in timeline.visits for a in v.acts if a.kind == "home"}
        figures = []
        for n, (turn_index, piece) in enumerate(pieces):
            x, y = camera.project([(piece.x_mm, piece.y_mm, piece.z_mm)])[0]
            figures.append(FigureTruth(standing=standing[n][1], piece=piece, base_px=(float(x), float(y)),
                                       turn=turn_index, down=put[n], gone=gone.get(n)))
        return Truth(camera=camera, lamp_mm=lamp, tiles=tiles, figures=tuple(figures), timeline=timeline)

    def still(self, number: int | None = None) -> Image:
        """The table at a frame (default the last), without hands and without rendering the frames before it."""
        table, supply, _ = self.set_table()
        number = self.truth.frames - 1 if number is None else number
        for visit in self.truth.timeline.visits:
            if visit.first <= number:
                supply.take(visit)
            for act in visit.acts:
                if act.frame <= number:
                    self.carry_out(act, table)
            if visit.last <= number:
                supply.give_back(visit)
        return Film(self.options, self.rng("still")).develop(self.bumped(table.shown, number))

    @property
    def slides(self) -> tuple[int, ...]:
        """The frames of the film (numbers of the ground truth) that make a slide show: the bare start, then every
        turn."""
        return (0, *(t.end for t in self.truth.turns))

    def _shown_as_slides(self) -> Iterator[Frame]:
        fps, count = self.options.fps, 0
        for image in self._images(frozenset(self.slides)):
            for _ in range(max(1, round(self.options.conditions.slide_s * fps))):
                yield Frame(id=count, t_s=count / fps, source=f"sim:{self.seed}", bgr=image)
                count += 1

    def set_table(self) -> tuple[StillTable, Supply, Callable[[float], np.ndarray]]:
        """The table before the first turn, and its light at any phase."""
        truth, level, camera = self.truth, self.options.conditions, self.truth.camera
        lamp = np.array(truth.lamp_mm)
        surface_rng = self.rng("surface")
        kind = level.surfaces[int(surface_rng.integers(len(level.surfaces)))]
        bare = table_top(kind, camera, surface_rng)
        if self.options.goes_wrong.marks:
            mark(bare, camera, self.rng("marks"))
        shine = gloss(kind)
        metered = exposure(bare, light_map(camera, level, lamp, self.rng("light"), gloss=shine))

        def light(phase: float) -> np.ndarray:
            return light_map(camera, level, lamp, self.rng("light"), phase, shine, metered)

        table = StillTable(bare, camera, lamp, light(0.0), level.blur_px)
        supply = Supply(table, self.props, self.script.turns, [f.standing for f in truth.figures])
        if self.script.start:
            table.put_tile(truth.tiles[self.script.start.at].pose, self._artist.art(self.script.start),
                           self.script.start.at)
        board = self.script.board
        if board is not None and board.dial is not None:
            table.put_tile(self._board_pose(-1), picture(board, board.dial, ART_PX), _BOARD,
                           TILE_MM * math.isqrt(len(board.tiles)))
        for n in self._first_stops:
            table.put_piece(stop_number(n), truth.stops[n].piece)
        return table, supply, light

    def _board_pose(self, turn: int) -> Pose:
        """The start board's pose after a turn."""
        board = self.script.board
        assert board is not None
        at = next(iter(board.tiles))
        return middle_of(board, at, self.truth.pose(at, turn))

    def _images(self, only: frozenset[int] | None = None) -> Iterator[Image]:
        """The frames of the film, or ``only`` those."""
        truth, lamp = self.truth, np.array(self.truth.lamp_mm)
        table, supply, light = self.set_table()
        film = Film(self.options, self.rng("film"))
        hands = {n: Hand(self.rng(f"hand{n}")) for n in range(max(1, len(self.script.colours)))}
        ends = {t.turn: t.end for t in truth.turns}
        rests = [(ends[r.turn], ends[r.until], n, r) for n, r in enumerate(truth.plan.rests)]
        firsts = [0, *(t.end + 1 for t in truth.turns)]
        lamps = Lamps(truth.plan.lamps, {t.turn: (f, t.end) for f, t in zip(firsts, truth.turns, strict=False)},
                      self.options.size)
        for number in range(truth.frames):
            shown = only is None or number in only
            drifts = only is None and number % max(1, round(4 * self.options.fps)) == 0
            if number and shown and (lamps.changed(number) or drifts):
                fresh = light(float(np.sin(number / self.options.fps / 40)))
                table.relight(lamps.on(fresh))
            for first, gone, n, rest in rests:
                if number == first:
                    self._rest(table, n, rest, lamp)
                if number == gone:
                    table.uncover(n)
            here = []
            for visit in truth.timeline.visits:
                if not visit.first <= number <= visit.last:
                    continue
                if number == visit.first:
                    hands[visit.player].pose(visit.direction_deg, lamp)
                    supply.take(visit)
                if number == visit.last:
                    supply.give_back(visit)
                for act in visit.acts:
                    if act.frame == number:
                        self.carry_out(act, table)
                here.append(visit)
            for visit in truth.timeline.others:
                if visit.first <= number <= visit.last:
                    if number == visit.first:
                        hands[visit.player].pose(visit.direction_deg, lamp)
                    here.append(visit)
            if shown:
                image = table.shown.copy()
                for visit in here:
                    self._with_hand(table, visit, number, hands[visit.player], image)
                yield film.develop(self.bumped(image, number))

    def _rest(self, table: StillTable, number: int, rest: Rest, lamp: np.ndarray) -> None:
        """Put an arm or a knee on the table from now on."""
        camera, at = self.truth.camera, np.array((*rest.at_mm, 12.0))
        limb = Hand(self.rng(f"rest{number}" if rest.knee else f"hand{rest.player}"), rest.knee)
        limb.pose(rest.direction_deg, lamp)
        roi = limb.region(at, rest.direction_deg, camera, lamp)

        def draw(canvas: Image) -> None:
            assert roi is not None
            limb.shadow(canvas, roi, at, rest.direction_deg, camera, lamp)
            limb.draw(canvas, roi, at, rest.direction_deg, camera)

        table.cover(number, roi or (0, 0, 0, 0), draw)

    def carry_out(self, act: Act, table: StillTable) -> None:
        """Put down or take up what a hand does."""
        if act.kind == "tile" and act.square is not None:
            self._push(act.turn, table)
            table.put_tile(self.truth.pose(act.square, act.turn),
                           self._artist.art(self.truth.tiles[act.square].laid), act.square)
        elif act.kind == "figure" and act.piece is not None:
            table.put_piece(act.piece, self.truth.figures[act.piece].piece)
        elif act.kind == "home" and act.piece is not None:
            table.take_piece(act.piece)
        elif act.kind == "set" and act.piece is not None:
            table.put_piece(stop_number(act.piece), self.truth.stops[act.piece].piece)
        elif act.kind == "lift" and act.piece is not None:
            table.take_piece(stop_number(act.piece))

    def _push(self, turn: int, table: StillTable) -> None:
        """Push tiles, with the figures on them, when a turn's tile is laid."""
        truth = self.truth
        for push in truth.plan.pushes:
            if push.turn != turn:
                continue
            lying = {at: t for at, t in truth.tiles.items() if (-1 if t.turn is None else t.turn) < turn}
            moved = {at for at, t in lying.items() if push.moves(at, t.pose)}
            pieces = {n: push.piece(p) for n, p in table.pieces.items()
                      if n >= 0 and truth.figures[n].standing.at in moved}
            pieces |= {m: push.piece(p) for n, stop in enumerate(truth.stops) if stop.at in moved
                       for m in (stop_number(n),) if (p := table.pieces.get(m)) is not None}
            poses: dict[object, Pose] = {at: truth.pose(at, turn) for at in moved}
            if self.script.board is not None and moved & self.script.board.tiles.keys():
                poses[_BOARD] = self._board_pose(turn)
            table.move(poses, pieces)

    def bumped(self, image: Image, number: int) -> Image:
        """The picture of a bumped camera: it swings for two frames, then stays."""
        out = image
        size = self.options.size
        for bump in self.truth.plan.bumps:
            since = number - self.truth.bumped(bump.turn)
            if since >= 0:
                swing = (0.4, 1.25)[since] if since < 2 else 1.0
                out = np.asarray(cv2.warpAffine(out, bump.affine(size, swing), size,
                                                borderMode=cv2.BORDER_REPLICATE), np.uint8)
        return out

    def _with_hand(self, table: StillTable, visit: Visit, number: int, hand: Hand, shown: Image) -> None:
        """Draw an arm and the object it carries over the still table, lit."""
        camera, lamp = self.truth.camera, np.array(self.truth.lamp_mm)
        tip = visit.tip(number)
        at = np.array(tip)
        roi = hand.region(at, visit.direction_deg, camera, lamp)
        carried = self._carried(visit, number, tip)
        if isinstance(carried, Piece):
            roi = union(roi, region(carried, camera, lamp, TILE_HEIGHT_MM))
        if roi is None:
            return
        canvas = table.scene.copy()
        touched: Roi | None = roi
        hand.shadow(canvas, roi, at, visit.direction_deg, camera, lamp)
        if isinstance(carried, Piece):
            touched = union(touched, draw_piece(canvas, carried, camera, lamp, TILE_HEIGHT_MM))
        elif carried is not None:
            touched = union(touched, table.draw_tile(canvas, carried[0], carried[1], carried_height(tip)))
        hand.draw(canvas, roi, at, visit.direction_deg, camera)
        if touched is None:
            return
        smear(part(table.scene, touched), part(canvas, touched), self._motion_px(visit, number))
        arm = lit(part(canvas, touched), part(table.light, touched))
        cv2.copyTo(arm, differs(part(canvas, touched), part(table.scene, touched)), part(shown, touched))

    def _motion_px(self, visit: Visit, number: int) -> tuple[float, float]:
        """Motion of the fingertips during the exposure."""
        a, b = self.truth.camera.project([visit.tip(number - 0.3), visit.tip(number + 0.3)])
        x, y = (b - a) / 0.6 * self.options.fps * self.options.conditions.exposure_s
        return float(x), float(y)

    def _carried(self, visit: Visit, number: int, tip: tuple[float, float, float]) -> Piece | tuple[Pose, Image] | None:
        """The object between the fingers at a frame."""
        z = carried_height(tip)
        for act in visit.acts:
            if act.kind == "home" and act.piece is not None and number >= act.frame:
                piece = self.truth.figures[act.piece].piece
                following = [a.frame for a in visit.acts if a.frame > act.frame and number >= a.frame]
                if not following:
                    return piece.moved(tip[0], tip[1], z)
            if act.kind in ("lift", "set") and act.piece is not None:
                if number < act.frame:
                    return self.truth.stops[act.piece].piece.moved(tip[0], tip[1], z) if act.kind == "set" else None
                continue
            if number < act.frame and act.kind in ("tile", "figure"):
                if act.kind == "figure" and act.piece is not None:
                    return self.truth.figures[act.piece].piece.moved(tip[0], tip[1], z)
                if act.square is not None:
                    tile = self.truth.tiles[act.square]
                    away = min(1.0, (act.frame - number) / 4)
                    lies = self.truth.pose(act.square, act.turn)
                    pose = Pose(x_mm=tip[0] + lies.x_mm - act.at_mm[0], y_mm=tip[1] + lies.y_mm - act.at_mm[1],
                                angle_deg=lies.angle_deg + 25 * away * np.sin(act.frame * 1.7))
                    return pose, self._artist.art(tile.laid)
        return None
