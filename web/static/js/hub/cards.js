// One table as a card: a small board, the players, the scores, the time since its last message.

import { h, replace, s } from "../dom.js";
import { badge, hue, letters, meeple } from "../figures.js";
import { t } from "../i18n.js";
import { silent } from "./hall.js";
import { drawing, learn } from "./kinds.js";

const MARGIN = 0.25; // of a tile, around a board

// The board, redrawn only when it has changed.
export function smallBoard(state, { plain = true } = {}) {
  const { tiles, figures } = state.board;
  const xs = tiles.map(([x]) => x),
    ys = tiles.map(([, y]) => y);
  const [x, y] = tiles.length ? [Math.min(...xs), Math.min(...ys)] : [0, 0];
  const [w, high] = tiles.length ? [Math.max(...xs) - x + 1, Math.max(...ys) - y + 1] : [1, 1];
  const box = [x - MARGIN, y - MARGIN, w + 2 * MARGIN, high + 2 * MARGIN].map((n) => n * 100).join(" ");
  return s(
    "svg",
    {
      viewBox: box,
      class: "small-board",
      preserveAspectRatio: "xMidYMid meet",
      role: "img",
      "aria-label": t("hub.board", { n: tiles.length }),
    },
    tiles.map(([tx, ty, kind, rot], n) => [
      s("use", {
        href: `#${drawing(kind, plain)}`,
        transform: `translate(${tx * 100} ${ty * 100}) rotate(${rot * 90} 50 50)`,
      }),
      n === tiles.length - 1 &&
        n > 0 &&
        s("rect", { x: tx * 100 - 2, y: ty * 100 - 2, width: 104, height: 104, class: "small-last" }),
    ]),
    figures.map((f) => (plain ? dot(state, f) : figure(state, f))),
  );
}

const dot = (state, [player, , x, y, , , sx, sy]) =>
  s("circle", { cx: x * 100 + sx, cy: y * 100 + sy, r: 19, class: "small-figure", fill: hue(state.players[player]) });

function figure(state, [player, kind, x, y, , , sx, sy, lying]) {
  const names = letters(seats(state));
  return s(
    "g",
    { class: "figure", transform: `translate(${x * 100 + sx - 20} ${y * 100 + sy - 20}) scale(1.25)` },
    meeple(seats(state)[player], names[player], { lying, figure: kind }),
  );
}

const seats = (state) => state.players.map((p, index) => ({ ...p, index }));

export const time = (seconds) => {
  const whole = Math.max(0, Math.floor(Math.abs(seconds))),
    hours = Math.floor(whole / 3600);
  const parts = [Math.floor(whole / 60) % 60, whole % 60].map((n) => String(n).padStart(2, "0"));
  return `${seconds <= -1 ? "−" : ""}${hours ? `${hours}:` : ""}${parts.join(":")}`;
};

export function ago(table) {
  if (!table.here) return t("hub.away");
  if (table.heard === null) return t("hub.unheard");
  const seconds = Math.max(0, Math.round((performance.now() - table.heard) / 1000));
  return seconds < 90 ? t("hub.heard", { n: seconds }) : t("hub.heard.minutes", { n: Math.round(seconds / 60) });
}

// Chess clocks run on between messages.
export function left(table, n) {
  const clock = table.state.round?.clock;
  if (!clock) return null;
  const since = table.clockHeard ?? performance.now();
  return clock.left_s[n] - (clock.running === n ? (performance.now() - since) / 1000 : 0);
}

function phase({ state }) {
  const { round } = state;
  if (state.phase === "over")
    return round ? t(round.confirmed.every(Boolean) ? "hub.confirmed" : "hub.unconfirmed") : t("hub.over");
  if (state.turn.number <= 1 && state.laid <= 1) return t("hub.waiting");
  return t("hub.turn", { n: state.turn.number });
}

function player(table, p, n, letter, best) {
  const { state } = table,
    active = state.phase === "playing" && n === state.turn.player;
  const won = state.phase === "over" && p.score === best;
  const remaining = left(table, n);
  return h(
    "li",
    { class: `${active ? "active" : ""}${won ? " won" : ""}`, "aria-current": active ? "true" : undefined },
    badge({ ...p, index: n }, letter),
    h("span", { class: "who", dir: "auto" }, p.name),
    remaining !== null &&
      h(
        "span",
        {
          class: `clock${state.round.clock.running === n ? " runs" : ""}${remaining < 60 ? " short" : ""}`,
          data: { clock: n },
        },
        time(remaining),
      ),
    h("b", { class: "points" }, p.uncertain ? "~" : "", String(p.score)),
  );
}

export class Card {
  /** @type {any} */
  table = null;
  /** @type {any} */
  drawn = null;
  shape = "";

  constructor(table, { plain = true } = {}) {
    this.plain = plain;
    this.board = h("div", { class: "card-board" });
    this.name = h("h2", {});
    this.phase = h("span", { class: "phase" });
    this.heard = h("span", { class: "heard" });
    this.players = h("ul", { class: "card-players" });
    this.el = h(
      "a",
      { class: "card", href: `#table=${encodeURIComponent(table.key)}`, data: { key: table.key } },
      h(
        "div",
        { class: "card-in" },
        h("div", { class: "card-head" }, this.name, this.phase),
        this.board,
        this.players,
        this.heard,
      ),
    );
    this.show(table);
  }

  show(table) {
    const { state } = table;
    if (this.table?.state !== state) table.clockHeard = performance.now();
    this.table = table;
    const names = letters(seats(state)),
      best = Math.max(...state.players.map((p) => p.score));
    replace(this.name, state.table, table.key.includes(".") && h("small", {}, ` (${table.key.split(".").pop()})`));
    replace(this.phase, phase(table));
    replace(
      this.players,
      state.players.map((p, n) => player(table, p, n, names[n], best)),
    );
    const shape = JSON.stringify([state.board, state.expansions]);
    if (shape !== this.shape) {
      this.shape = shape;
      learn(state.expansions).then(
        () => shape === this.shape && replace(this.board, smallBoard(state, { plain: this.plain })),
      );
    }
    this.tick();
  }

  // What changes without a message.
  tick() {
    const { table } = this;
    this.el.classList.toggle("silent", silent(table));
    this.el.classList.toggle("over", table.state.phase === "over");
    const text = ago(table);
    if (this.heard.textContent !== text) this.heard.textContent = text;
    if (table.state.round?.clock) {
      for (const el of this.players.querySelectorAll("[data-clock]")) {
        const seconds = left(table, Number(el.dataset.clock));
        el.textContent = time(seconds);
        el.classList.toggle("short", seconds < 60);
      }
    }
  }
}
