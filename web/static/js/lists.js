// Sheets with lists: moves and corrections, remaining tiles.

import { button, h } from "./dom.js";
import { badge } from "./figures.js";
import { clock, percent, t } from "./i18n.js";
import { tilePicture } from "./tileart.js";
import { moveName, tileName } from "./words.js";

export class History {
  constructor(app) {
    this.app = app;
    this.className = "history";
    this.corrections = null; // people's corrections, once they were requested
  }

  title() {
    return t("history.title");
  }

  actions() {
    const tab = (key, on, act) =>
      button(t(key), act, { className: "action", "aria-pressed": String(on), data: { key } });
    return [
      tab("history.moves", !this.corrections, () => {
        this.corrections = null;
        this.app.sheet.render();
      }),
      tab("history.changes", !!this.corrections, () => this.ask()),
    ];
  }

  async ask() {
    try {
      this.corrections = (await (await fetch("/api/corrections")).json()).corrections;
    } catch {
      this.corrections = [];
    }
    this.version = this.app.view.version;
    this.app.sheet.render();
  }

  still(view) {
    if (this.corrections && this.version !== view.version) this.ask();
    return true;
  }

  body() {
    if (this.corrections) return this.changes();
    const { view, letters } = this.app;
    if (!view.history.length) return h("p", { class: "note" }, t("history.none"));
    return h(
      "ol",
      { class: "moves" },
      [...view.history].reverse().map((e) =>
        h(
          "li",
          {},
          h(
            "button",
            {
              type: "button",
              class: "move",
              data: { key: `move-${e.seq}` },
              on: { click: () => this.app.openMove(e) },
            },
            h("span", { class: "move-turn" }, String(e.turn + 1)),
            e.player !== undefined && badge(view.players[e.player], letters[e.player], { figure: e.figure }),
            e.tile && h("span", { class: "move-tile" }, tilePicture(e.tile, e.rot ?? 0)),
            h("span", { class: "move-text", dir: "auto" }, moveName(this.app, e)),
            h(
              "span",
              { class: "move-how" },
              e.amended ? t("fix.amended") : e.source === "camera" ? percent(e.confidence) : t("fix.byhand"),
              e.asked && !e.amended && h("span", { class: "tag warn" }, t("fix.asked")),
            ),
          ),
        ),
      ),
    );
  }

  // Who changed what, when, from what to what.
  changes() {
    const { view } = this.app;
    if (!this.corrections.length) return h("p", { class: "note" }, t("history.nochanges"));
    const turn = (of) => view.history.find((e) => e.seq === of)?.turn;
    const side = (key, move) =>
      h(
        "span",
        { class: "was" },
        h("span", { class: "note" }, t(key)),
        move?.tile && h("span", { class: "move-tile" }, tilePicture(move.tile, move.rot ?? 0)),
        h("span", { dir: "auto" }, move ? moveName(this.app, move) : t("move.nothing")),
      );
    return h(
      "ol",
      { class: "moves corrections" },
      this.corrections.map((c) =>
        h(
          "li",
          { class: "move" },
          h("span", { class: "move-turn" }, clock(c.at_s)),
          h(
            "span",
            { class: "move-text", dir: "auto" },
            t(`history.${c.do}`, { who: c.who || t("history.somebody"), n: (turn(c.of) ?? 0) + 1 }),
          ),
          (c.before || c.after) && [side("history.was", c.before), side("history.is", c.after)],
        ),
      ),
    );
  }
}

export class Left {
  constructor(app) {
    this.app = app;
    this.className = "left";
  }

  title() {
    return t("left.title", { n: this.app.view.left.total });
  }

  body() {
    if (this.app.aid === "score") return h("p", { class: "note" }, t("left.hidden"));
    const left = this.app.view.left.kinds;
    const kinds = Object.entries(this.app.kinds).filter(([, kind]) => kind.count);
    kinds.sort(([a], [b]) => Number(!left[a]) - Number(!left[b])); // used-up kinds come last
    return [
      h(
        "div",
        { class: "kinds" },
        kinds.map(([id, kind]) =>
          h(
            "div",
            { class: `kind${left[id] ? "" : " gone"}` },
            tilePicture(id, 0, tileName(this.app.kinds, id)),
            h("b", {}, `${left[id] ?? 0}`),
            h("span", { class: "of" }, ` / ${kind.count}`),
          ),
        ),
      ),
      h("p", { class: "note" }, t("left.note")),
    ];
  }
}
