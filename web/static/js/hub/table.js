// One table in full, for spectators: the page's own board and players, and nothing that can be changed.

import { Board } from "../board.js";
import { h, replace } from "../dom.js";
import { badge, letters } from "../figures.js";
import { signed, t } from "../i18n.js";
import { Players } from "../players.js";
import { ago, left, time } from "./cards.js";
import { silent, viewOf } from "./hall.js";
import { kinds, learn } from "./kinds.js";

const sum = (formula) =>
  formula
    .replaceAll(" x ", " × ")
    .replace(/\p{L}+/gu, "")
    .replace(/\s+/g, " ")
    .trim();

export class Table {
  /** @type {any} */
  board = null;
  /** @type {any} */
  state = null;
  /** @type {any} */
  table = null;
  box = "";

  constructor(root, key) {
    this.key = key;
    this.place = h("div", { id: "board" });
    this.seats = h("ul", { id: "players", "aria-label": t("players") });
    this.players = new Players(this.seats);
    this.clocks = h("p", { class: "clocks", hidden: true });
    this.feed = h("ol", { class: "spectator-feed", "aria-live": "polite" });
    this.line = h("p", { class: "heard" });
    this.name = h("h1", {});
    replace(
      root,
      h(
        "section",
        { class: "spectator" },
        h("div", { class: "spectator-board" }, this.place),
        h(
          "div",
          { class: "spectator-side" },
          h("div", { class: "spectator-head" }, h("a", { href: "#", class: "action" }, t("hub.back")), this.name),
          this.seats,
          this.clocks,
          this.feed,
          this.line,
        ),
      ),
    );
  }

  async show(table) {
    this.table = table;
    if (!table) {
      replace(this.name, t("hub.gone"));
      return;
    }
    const { state } = table;
    if (this.state !== state) table.clockHeard = performance.now();
    const same = this.state === state;
    this.state = state;
    if (same) return this.tick();
    const box = state.expansions.join();
    if (box !== this.box) {
      await learn(state.expansions);
      this.box = box;
      this.board ??= new Board(this.place, { kinds, open: () => {}, gap: () => {} });
    }
    if (state !== this.state) return undefined; // a newer one has arrived
    const view = viewOf(table),
      names = letters(view.players);
    replace(this.name, state.table);
    this.board?.show(view, names);
    this.players.show(view, names, {
      projected: state.players.some((p) => p.projected !== undefined),
      mode: String(state.game),
    });
    replace(
      this.feed,
      [...state.last].reverse().map((event) =>
        h(
          "li",
          {},
          h("span", { class: "why" }, t(`reason.${event.reason}`, { fallback: event.reason })),
          event.points.map(([n, points]) =>
            h(
              "span",
              { class: "gain" },
              badge(view.players[n], names[n], { size: "small" }),
              h("b", {}, signed(points)),
            ),
          ),
          h("span", { class: "sum" }, sum(event.formula)),
        ),
      ),
    );
    this.tick();
    return undefined;
  }

  tick() {
    if (!this.table) return;
    const { state } = this.table,
      clock = state.round?.clock;
    this.line.textContent = [
      ago(this.table),
      state.phase === "over" ? t("hub.over") : t("hub.turn", { n: state.turn.number }),
      state.left !== undefined && t("bar.left", { n: state.left }),
    ]
      .filter(Boolean)
      .join(" · ");
    this.line.classList.toggle("warn", silent(this.table));
    this.clocks.hidden = !clock;
    if (clock)
      replace(
        this.clocks,
        state.players.map((p, n) =>
          h("span", { class: `clock${clock.running === n ? " runs" : ""}` }, `${p.name} ${time(left(this.table, n))}`),
        ),
      );
  }
}
