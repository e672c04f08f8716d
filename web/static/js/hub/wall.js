// The wall: as many tables at once as can be read from across the room, then the next ones, then the results.

import { h, replace } from "../dom.js";
import { t } from "../i18n.js";
import { Card } from "./cards.js";
import { silent } from "./hall.js";
import { recent, standing } from "./evening.js";

const ROUND_MS = 12000,
  LEAST = { width: 300, height: 250 },
  MOST = 12;

// How n cards fill a rectangle best: as large as possible, a little wider than high.
export function grid(n, width, height) {
  let best = { columns: 1, rows: n, size: 0 };
  for (let columns = 1; columns <= n; columns += 1) {
    const rows = Math.ceil(n / columns),
      w = width / columns,
      high = height / rows;
    const size = Math.min(w / 1.15, high) * (columns * rows === n ? 1 : 0.97);
    if (size > best.size) best = { columns, rows, size };
  }
  return best;
}

export class Wall {
  /** @type {Map<string, any>} */
  cards = new Map();
  page = 0;
  pages = 1;

  constructor(hall, root) {
    this.hall = hall;
    this.grid = h("div", { class: "wall-grid" });
    this.foot = h("footer", { class: "wall-foot" });
    replace(root, this.grid, this.foot);
    setInterval(() => this.next(), ROUND_MS);
    addEventListener("resize", () => this.show());
  }

  next() {
    this.page = (this.page + 1) % this.pages;
    this.show();
  }

  show() {
    const all = this.hall.sorted.filter((table) => table.here || !silent(table));
    const { clientWidth: width, clientHeight: height } = this.grid;
    const room = Math.max(1, Math.min(MOST, Math.floor(width / LEAST.width) * Math.floor(height / LEAST.height)));
    const full = Math.max(1, Math.ceil(all.length / room)),
      results = this.hall.extra.played > 0 || this.hall.extra.rounds > 0;
    this.pages = full + (results ? 1 : 0);
    this.page %= this.pages;
    const one = this.page < full,
      each = Math.ceil(all.length / full),
      tables = one ? all.slice(this.page * each, (this.page + 1) * each) : [];
    this.grid.classList.toggle("results", !one);
    if (!one) this.results();
    else if (!tables.length) replace(this.grid, h("p", { class: "nothing" }, t("hub.none")));
    else this.tables(tables, width, height);
    replace(
      this.foot,
      h("span", {}, t("hub.tables", { n: all.length })),
      !this.hall.online && h("b", { class: "warn" }, t("chip.offline")),
      this.hall.online && !this.hall.extra.broker && h("b", { class: "warn" }, t("hub.broker")),
      this.pages > MOST
        ? h("span", { class: "dots" }, `${this.page + 1} / ${this.pages}`)
        : h(
            "span",
            { class: "dots", "aria-hidden": "true" },
            Array.from({ length: this.pages }, (_, n) => h("i", { class: n === this.page ? "on" : "" })),
          ),
    );
  }

  tables(tables, width, height) {
    const { columns, rows } = grid(tables.length, width, height);
    this.grid.style.setProperty("--columns", columns);
    this.grid.style.setProperty("--rows", rows);
    const plain = tables.length > 4,
      shown = new Map();
    for (const table of tables) {
      const key = `${table.key}/${plain}`,
        known = this.cards.get(key);
      if (known) known.show(table);
      shown.set(key, known ?? new Card(table, { plain }));
    }
    const els = [...shown.values()].map((card) => card.el);
    if (els.length !== this.grid.children.length || els.some((el, n) => el !== this.grid.children[n]))
      replace(this.grid, els);
    this.cards = shown;
  }

  async results() {
    this.cards = new Map();
    const [games, tournament] = await Promise.all(
      ["/api/evening", "/api/tournament"].map(async (url) => (await fetch(url)).json()),
    ).catch(() => [{ games: [] }, { standings: [] }]);
    if (!this.grid.classList.contains("results")) return;
    replace(
      this.grid,
      tournament.standings.length > 0 && standing(tournament.standings.slice(0, 16)),
      recent(games.games.slice(0, tournament.standings.length ? 8 : 16)),
    );
  }

  tick() {
    for (const card of this.cards.values()) card.tick();
  }
}
