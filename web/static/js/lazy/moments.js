// Animates every score: for two seconds its feature glows, its tiles count up, and its followers go home.

import { button, byId, calm, replace, s } from "../dom.js";
import { meeple } from "../figures.js";
import { signed, t } from "../i18n.js";
import { counted, glow, numbers, outline } from "../marks.js";
import { rotatePoint, segmentIndex } from "../shapes.js";
import { Sound } from "./sound.js";

const MOMENT_MS = 2300;
const COUNTED_MS = 1000; // by then all tiles have been counted, and the followers set off
const HOME_MS = 900;

const id = (e) => JSON.stringify([e.turn, e.feature, e.reason, e.places, e.points]);

// What a view scores that the previous one did not; a corrected earlier turn is not news.
export function scored(before, view) {
  if (!before || before.game !== view.game || view.phase !== "playing") return [];
  const known = new Set(before.feed.map(id)),
    newest = before.feed.at(-1)?.turn ?? -1;
  return view.feed.filter((e) => e.turn >= newest && !known.has(id(e)));
}

// Figures that stood in what was scored and have gone.
export function gone(before, view, event) {
  const meant = new Set(event.places.map((p) => p.join())),
    key = (f) => [f.player, ...f.at, f.feature, f.where].join();
  const there = (f) => f.feature === event.feature && meant.has([...f.at, f.where].join());
  const stay = new Set(view.board.figures.map(key)),
    out = new Map();
  const put = view.history.filter((e) => e.kind === "deploy" && e.turn === event.turn); // and home in the same turn
  for (const f of [...before.board.figures, ...put]) if (there(f) && !stay.has(key(f))) out.set(key(f), f);
  return [...out.values()];
}

export class Moments {
  /** @type {import("../app.js").App} */
  app;

  constructor(app) {
    this.app = app;
    this.sound = new Sound();
    if (app.isTv) this.corner();
  }

  // A screen without a menu has its switch in the corner.
  corner() {
    const draw = () => {
      byId("sound")?.remove();
      byId("table").append(
        button(
          t("sound.title"),
          () => {
            this.sound.toggle();
            draw();
            byId("sound").focus();
          },
          { icon: "voice", label: false, className: "action", id: "sound", "aria-pressed": String(this.sound.on) },
        ),
      );
    };
    draw();
  }

  follow(before, view) {
    if (!before || before.game !== view.game || this.app.past) return;
    const events = scored(before, view);
    if (events.length) this.sound.chime(events.length);
    else if (view.board.tiles.length === before.board.tiles.length + 1) this.sound.tock();
    if (!events.length || calm() || document.hidden || this.app.sheet.content?.className === "proof") return;
    this.play(events.map((event) => ({ event, figures: gone(before, view, event) })));
  }

  play(shows) {
    const { board } = this.app,
      { moment } = board.layers;
    clearTimeout(this.ending);
    replace(
      moment,
      shows.map(({ event, figures }) => this.lit(board, event, figures)),
    );
    this.leaving = setTimeout(() => {
      for (const { figures } of shows) for (const f of figures) this.home(board, f);
      for (const el of moment.querySelectorAll(".going")) el.remove();
    }, COUNTED_MS);
    this.ending = setTimeout(() => replace(moment), MOMENT_MS);
  }

  lit(board, event, figures) {
    const places = event.places.filter(([x, y]) => board.tiles.has(`${x},${y}`));
    if (!places.length) return [];
    const lit = counted(board, event, places);
    const flags = numbers(board, event, figures),
      won = Math.max(0, ...event.points.map((p) => p.points));
    for (const [n, flag] of flags.entries()) flag.style.setProperty("--n", String(n / Math.max(1, flags.length)));
    const middle = [0, 1].map((k) => lit.reduce((sum, p) => sum + p[k] + 0.5, 0) * (100 / lit.length));
    return [
      glow(board, lit, event.feature),
      outline(board, lit, event.feature),
      flags,
      figures.map((f) => this.standing(board, f)),
      won > 0 &&
        s(
          "g",
          { class: "points-flag", transform: `translate(${middle.join(" ")})` },
          s("rect", { x: -34, y: -24, width: 68, height: 48, rx: 24 }),
          s("text", { y: 11 }, signed(won)),
        ),
    ];
  }

  // Where a figure stood, in the board's units.
  spot(board, f) {
    if (f.spot) return [f.at[0] * 100 + f.spot[0], f.at[1] * 100 + f.spot[1]];
    const placed = board.tiles.get(f.at.join(",")),
      tile = placed && board.kinds[placed.tile],
      n = tile ? segmentIndex(tile, placed.rot, f.feature, f.where) : -1;
    const [x, y] = n < 0 ? [50, 50] : rotatePoint(...tile.segments[n].spot, placed.rot);
    return [f.at[0] * 100 + x, f.at[1] * 100 + y];
  }

  figure(board, f) {
    return meeple(board.game.players[f.player], board.letters[f.player], {
      figure: f.figure,
      lying: f.feature === "field",
    });
  }

  standing(board, f) {
    const [x, y] = this.spot(board, f);
    return s(
      "g",
      { class: "figure going", transform: `translate(${x - 20} ${y - 20}) scale(1.25)` },
      this.figure(board, f),
    );
  }

  // From the board to its owner's row.
  home(board, f) {
    const to = document.querySelector(`.player[data-player="${f.player}"] .badge-figure`)?.getBoundingClientRect();
    if (!to) return;
    const [x, y] = this.spot(board, f),
      { view } = board,
      on = new DOMPoint(x, y).matrixTransform(board.layers.moment.getScreenCTM());
    const from = [on.x, on.y],
      end = [to.left + to.width / 2, to.top + to.height / 2];
    const over = [(from[0] + end[0]) / 2, Math.min(from[1], end[1]) - 60];
    const look = (/** @type {number[]} */ [cx, cy], /** @type {number} */ scale) =>
      `translate(${cx}px, ${cy}px) scale(${scale})`;
    const el = s("svg", { viewBox: "-1.5 -1 35 34", class: "homing", "aria-hidden": "true" }, this.figure(board, f));
    document.body.append(el);
    el.animate(
      [
        { transform: look(from, view.scale), easing: "ease-out" },
        { transform: look(over, 1.3), easing: "ease-in" },
        { transform: look(end, 0.9), opacity: 1 },
        { transform: look(end, 0.5), opacity: 0 },
      ],
      { duration: HOME_MS, fill: "both" },
    )
      .finished.catch(() => {})
      .then(() => el.remove());
  }
}
