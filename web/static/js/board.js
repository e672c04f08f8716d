// The board: every tile and figure on it, and what is highlighted.

import { button, byId, h, onPress, replace, s } from "./dom.js";
import { meeple } from "./figures.js";
import { t } from "./i18n.js";
import { counted, flag, numbers, outline, ticks, veil } from "./marks.js";
import { pieces } from "./pieces.js";
import { turned } from "./screen.js";
import { EDGES, STEP, shown } from "./shapes.js";
import { specimenOn, symbolOf } from "./tileart.js";
import { TOUCH_PX, Viewport } from "./viewport.js";
import { gapName, placeName, tileName } from "./words.js";

const FIGURE = 40; // a figure's box in drawing units

export class Board {
  /** @type {any} */
  open;
  /** @type {any} */
  gap;
  /** @type {any} */
  kinds;
  /** @type {Map<string, string[]>} */
  fit = new Map(); // kinds, by the edges that the neighbours of a place show

  /** @type {any} */
  touched;

  // open(square) is called for a tapped tile, gap(square) for a tapped empty place beside a tile, touched() before either,
  // for every tap
  constructor(root, { kinds, open, gap, touched = () => {} }) {
    Object.assign(this, { kinds, open, gap, touched });
    this.nodes = new Map();
    this.layers = Object.fromEntries(
      [
        "tiles",
        "photo",
        "farms",
        "open",
        "gaps",
        "ghost",
        "cursor",
        "figures",
        "pieces",
        "worth",
        "marks",
        "numbers",
        "moment",
        "choices",
      ].map((n) => [n, s("g", { class: n })]),
    );
    const world = s("g", {}, Object.values(this.layers));
    this.svg = s(
      "svg",
      {
        class: "board",
        tabindex: 0,
        role: "group",
        "aria-label": t("board.label"),
        on: { keydown: (e) => this.key(e) },
      },
      world,
    );
    this.view = new Viewport(this.svg, world, { tap: (square) => this.tapped(square) });
    this.view.resized = () => this.look();
    this.view.look(turned());
    this.tiles = new Map();
    this.empty = new Map(); // empty places beside tiles
    this.gaps = false;
    this.chosen = new Map(); // the squares being waited for
    this.marked = null;
    replace(
      root,
      this.svg,
      h(
        "div",
        { class: "zoom" },
        button(t("board.in"), () => this.view.zoom(1.3), { icon: "plus", label: false }),
        button(t("board.out"), () => this.view.zoom(1 / 1.3), { icon: "minus", label: false }),
        button(t("board.fit"), () => this.view.whole(), { icon: "fit", label: false, data: { key: "whole" } }),
      ),
    );
  }

  tapped([x, y]) {
    const key = `${x},${y}`;
    this.touched();
    if ((this.gaps || this.chosen.size) && this.view.scale * 100 < TOUCH_PX - 1)
      this.view.closer([x, y]); // too small to be meant
    else if (this.chosen.size) this.chosen.get(key)?.();
    else if (this.turning && this.turning.at.join() === key) this.turning.act();
    else if (this.nodes.has(key)) this.open([x, y]);
    else if (this.empty.has(key)) this.gap([x, y]);
  }

  show(view, letters) {
    this.game = view;
    this.letters = letters;
    this.tiles = new Map(view.board.tiles.map((p) => [p.at.join(","), p]));
    this.empty = new Map();
    for (const {
      at: [x, y],
    } of view.board.tiles) {
      for (const side of EDGES) {
        const square = [x + STEP[side][0], y + STEP[side][1]];
        if (!this.tiles.has(square.join(","))) this.empty.set(square.join(","), square);
      }
    }
    for (const [key, node] of this.nodes) {
      if (!this.tiles.has(key)) {
        node.el.remove();
        this.nodes.delete(key);
      }
    }
    for (const [key, placed] of this.tiles) this.place(key, placed);
    this.drawn = view.board.tiles.length > 0; // tiles that appear from now on have just been placed
    this.drawFigures();
    this.drawGaps();
    this.point(this.marked);
    this.view.around = view.board.tiles.find((p) => p.last)?.at ?? null;
    const xs = view.board.tiles.map((p) => p.at[0]),
      ys = view.board.tiles.map((p) => p.at[1]);
    if (!xs.length) return;
    const x = Math.min(...xs),
      y = Math.min(...ys);
    const box = { x, y, width: Math.max(...xs) - x + 1, height: Math.max(...ys) - y + 1 };
    if (JSON.stringify(box) !== JSON.stringify(this.view.box)) {
      this.view.show(box);
      this.look();
    }
  }

  // From now on the tiles are drawn differently.
  redress() {
    for (const { el } of this.nodes.values()) el.remove();
    this.nodes.clear();
    this.drawn = false;
    if (this.game) this.show(this.game, this.letters);
  }

  // Keeps the selection in view, and a place where a tile is being put with its neighbours.
  look() {
    if (!this.selected) return;
    if (this.laying) this.view.near(this.selected);
    else this.view.reveal(this.selected);
  }

  place(key, placed) {
    const look = `${placed.tile}/${placed.rot}/${placed.last}/${placed.asked}`;
    const known = this.nodes.get(key);
    if (known?.look === look) return;
    const [x, y] = placed.at;
    const el = s(
      "g",
      {
        transform: `translate(${x * 100} ${y * 100})`,
        role: "button",
        tabindex: -1,
        id: `at-${x}-${y}`,
        class: `tile${placed.last ? " last" : ""}${known || !this.drawn ? "" : " new"}`,
        data: { tile: placed.tile, rot: placed.rot },
        "aria-label": t("board.tile", {
          name: tileName(this.kinds, placed.tile, placed.rot),
          place: placeName(placed.at),
        }),
      },
      s(
        "g",
        { class: "laid" },
        s("use", {
          href: `#${specimenOn(this.kinds, placed.tile, placed.at)}`,
          transform: `rotate(${placed.rot * 90} 50 50)`,
        }),
      ),
      placed.last && s("rect", { x: -1.5, y: -1.5, width: 103, height: 103, rx: 6, class: "last-rim" }),
      placed.asked &&
        s("g", { class: "asked", transform: "translate(84 16)" }, s("circle", { r: 12 }), s("text", { y: 6.5 }, "?")),
    );
    if (known) known.el.replaceWith(el);
    else this.layers.tiles.append(el);
    this.nodes.set(key, { el, look });
    if (placed.last) this.layers.tiles.append(el); // its rim is drawn over the neighbours
  }

  drawFigures() {
    replace(
      this.layers.figures,
      this.game.board.figures.filter((f) => !f.apart).map((f) => this.figure(f)),
    );
    replace(this.layers.pieces, pieces(this));
  }

  figure(f) {
    const player = this.game.players[f.player];
    const role = f.figure === "follower" ? t(`role.${f.feature}`) : t(`figure.${f.figure}`);
    const [dx, dy] = this.aside(f);
    return s(
      "g",
      {
        transform: `translate(${f.at[0] * 100 + f.spot[0] + dx - FIGURE / 2} ${f.at[1] * 100 + f.spot[1] + dy - FIGURE / 2}) scale(${FIGURE / 32})`,
        class: "figure",
      },
      s("title", {}, t("board.figure", { name: player.name, role })),
      meeple(player, this.letters[f.player], { lying: f.lying, figure: f.figure }),
    );
  }

  // Two figures on one segment stand side by side.
  aside(f) {
    const here = this.game.board.figures.filter(
      (o) => o.at.join() === f.at.join() && o.feature === f.feature && o.where === f.where,
    );
    return here.length < 2 ? [0, 0] : [(here.indexOf(f) - (here.length - 1) / 2) * 24, 0];
  }

  // The places where a tile could be put by hand.
  drawGaps() {
    const held = document.activeElement?.classList.contains("gap") ? document.activeElement.id : null;
    replace(
      this.layers.gaps,
      this.gaps
        ? [...this.empty.values()].map(([x, y]) =>
            s(
              "g",
              {
                transform: `translate(${x * 100} ${y * 100})`,
                class: "gap",
                role: "button",
                tabindex: -1,
                id: `gap-${x}-${y}`,
                "aria-label": gapName(this, [x, y]),
                on: { keydown: onPress(() => this.gap([x, y])) },
              },
              s("rect", { x: 5, y: 5, width: 90, height: 90, rx: 8 }),
              s("path", { d: "M50 36v28M36 50h28" }),
            ),
          )
        : [],
    );
    if (held) byId(held)?.focus({ preventScroll: true });
  }

  showGaps(on) {
    this.gaps = this.view.touched = on;
    this.drawGaps();
  }

  // How many of the remaining kinds fit a place in any rotation; cached by the edges of its neighbours.
  fitting(at) {
    const edges = shown(this.kinds, this.tiles, at),
      key = EDGES.map((side) => edges[side] ?? "?").join("");
    if (!this.fit.has(key)) {
      this.fit.set(
        key,
        Object.entries(this.kinds)
          .filter(
            ([, kind]) =>
              kind.count &&
              [0, 1, 2, 3].some((rot) =>
                EDGES.every((_, n) => key[n] === "?" || kind.edges[(n - rot + 4) % 4] === key[n]),
              ),
          )
          .map(([id]) => id),
      );
    }
    const left = this.game.left.kinds;
    return this.fit.get(key).filter((id) => left[id] > 0).length;
  }

  // Shows a tile that is not placed yet; a tap rotates it. Null removes it.
  ghost(shape) {
    const held = document.activeElement?.id === "ghost";
    this.turning = shape;
    if (!shape) return replace(this.layers.ghost);
    const {
      at: [x, y],
      tile,
      rot,
      clash,
      label,
      turns,
      act,
    } = shape;
    const stop = { N: "M6 1H94", E: "M99 6V94", S: "M6 99H94", W: "M1 6V94" };
    replace(
      this.layers.ghost,
      s(
        "g",
        {
          transform: `translate(${x * 100} ${y * 100})`,
          class: `ghost${clash.length ? " bad" : ""}`,
          id: "ghost",
          role: "button",
          tabindex: 0,
          "aria-label": label,
          data: { tile, rot },
          on: { keydown: onPress(act) },
        },
        s("use", { href: `#${symbolOf(tile)}`, transform: `rotate(${rot * 90} 50 50)` }),
        s("rect", { x: 1, y: 1, width: 98, height: 98, rx: 5, class: "ghost-rim" }),
        clash.map((side) => s("path", { d: stop[side], class: "ghost-clash" })),
        turns > 1 &&
          s(
            "g",
            { transform: "translate(80 20)", class: "ghost-turn" },
            s("circle", { r: 15 }),
            s("path", { d: "M7 0a7 7 0 1 1-2.6-5.4M7-9v4.4h-4.4" }),
          ),
      ),
    );
    if (held) byId("ghost").focus({ preventScroll: true });
  }

  // Waits for one of these squares and calls act(square). An empty list stops waiting.
  choose(squares, act = null, { numbered = false } = {}) {
    const key = JSON.stringify([squares, numbered]);
    this.chosen = new Map(squares.map((at) => [at.join(","), () => act(at)]));
    if (key === this.choosing) return;
    this.choosing = key;
    replace(
      this.layers.choices,
      squares.map(([x, y], n) =>
        s(
          "g",
          {
            transform: `translate(${x * 100} ${y * 100})`,
            class: "choice",
            role: "button",
            tabindex: 0,
            data: { at: `${x},${y}` },
            "aria-label": t("board.choose", { place: placeName([x, y]) }),
            on: { keydown: onPress(() => this.chosen.get(`${x},${y}`)?.()) },
          },
          s("rect", { x: 3, y: 3, width: 94, height: 94, rx: 8 }),
          numbered && flag(20, 20, n + 1),
        ),
      ),
    );
    if (squares.length) this.view.focus(squares);
  }

  // Highlights a feature: a veil over everything else, its rim drawn, its tiles numbered. Null removes it.
  point(event, { move = false } = {}) {
    this.marked = event;
    this.svg.classList.toggle("pointing", !!event);
    if (!event) {
      replace(this.layers.marks);
      replace(this.layers.numbers);
      return;
    }
    const places = event.places.filter(([x, y]) => this.tiles.has(`${x},${y}`));
    const squares = [...new Map(places.map(([x, y]) => [`${x},${y}`, [x, y]])).values()];
    const cities = event.cities ?? [];
    const lit = counted(this, event, places);
    replace(
      this.layers.marks,
      veil(this, lit, event.feature, cities),
      outline(this, lit, event.feature),
      cities.map((c) => outline(this, c, "city", "also")),
    );
    const meant = new Set(places.map((p) => p.join()));
    const standing = this.game.board.figures.filter(
      (f) => f.feature === event.feature && meant.has([...f.at, f.where].join()),
    );
    replace(
      this.layers.numbers,
      standing.map((f) => this.figure(f)),
      event.squares ? [] : [numbers(this, event, standing), ticks(this, event)].flat(),
    );
    if (move) this.view.focus([...squares, ...lit, ...cities.flat()].map(([x, y]) => [x, y]));
  }

  // Highlights whole squares, for an issue.
  pointSquares(squares, options) {
    this.point({ places: squares.map(([x, y]) => [x, y, "*"]), feature: "*", squares: true }, options);
  }

  // `laying`: a tile is being put there, so the neighbours matter as well.
  select(square, { laying = false } = {}) {
    this.selected = square;
    this.laying = laying;
    replace(
      this.layers.cursor,
      square &&
        ["dark", "light"].map((look) =>
          s("rect", {
            x: square[0] * 100 - 2,
            y: square[1] * 100 - 2,
            width: 104,
            height: 104,
            rx: 7,
            class: `cursor-rim ${look}`,
          }),
        ),
    );
    this.look();
  }

  // A sheet covers this many pixels above the bottom bar: what it is about stays visible, or everything if it is about gaps.
  cover(pixels) {
    const { bottom } = this.svg.getBoundingClientRect();
    this.view.inset = pixels ? Math.max(0, bottom - byId("bar").getBoundingClientRect().top + pixels) : 0;
    this.view.above = this.gaps;
    if (this.selected && (pixels || this.laying)) this.look();
    else if (!this.view.free && (!pixels || this.gaps)) this.view.again();
  }

  key(e) {
    const arrows = { ArrowUp: "N", ArrowRight: "E", ArrowDown: "S", ArrowLeft: "W" };
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    if (e.key === "+" || e.key === "=") this.view.zoom(1.3);
    else if (e.key === "-") this.view.zoom(1 / 1.3);
    else if (e.key === "0") this.view.fit();
    else if (e.key === "Enter" || e.key === " ") {
      if (!this.cursor || e.target.closest(".gap, .ghost, .choice")) return;
      this.tapped(this.cursor);
    } else if (arrows[e.key]) this.step(STEP[arrows[e.key]]);
    else return;
    e.preventDefault();
  }

  step([dx, dy]) {
    for (let n = 0; n < this.view.turn; n += 1) [dx, dy] = [dy, -dx]; // up is up on the screen, whichever way the board is rotated
    const last = this.game.board.tiles.find((p) => p.last) ?? this.game.board.tiles.at(-1);
    if (!last) return;
    const gaps = this.gaps ? [...this.empty.values()] : [],
      known = (at) => this.nodes.has(at.join(",")) || (this.gaps && this.empty.has(at.join(",")));
    if (!this.cursor || !known(this.cursor)) this.cursor = last.at;
    else {
      // the nearest tile (or marked place) in that direction
      const [x, y] = this.cursor;
      const ahead = [...this.game.board.tiles, ...gaps.map((at) => ({ at }))]
        .map((p) => [
          p.at,
          (p.at[0] - x) * dx + (p.at[1] - y) * dy,
          Math.abs((p.at[0] - x) * dy) + Math.abs((p.at[1] - y) * dx),
        ])
        .filter(([, f]) => f > 0);
      ahead.sort((a, b) => a[1] + 2 * a[2] - b[1] - 2 * b[2]);
      if (ahead.length) [[this.cursor]] = ahead;
    }
    const el = this.nodes.get(this.cursor.join(","))?.el ?? byId(`gap-${this.cursor.join("-")}`);
    el.focus({ preventScroll: true });
    this.view.reveal(this.cursor);
  }
}
