// A tap on a gap: which of the remaining tiles fit there, how many of each, and how likely the next one does.

import { button, h } from "./dom.js";
import { percent, t } from "./i18n.js";
import { fits } from "./shapes.js";
import { tilePicture } from "./tileart.js";
import { tileName } from "./words.js";

export class Gap {
  /** @type {import("./app.js").App} */
  app;
  /** @type {any} */
  at;

  constructor(app, at) {
    Object.assign(this, { app, at });
    this.className = "gap-sheet";
  }

  title() {
    return t("gap.title");
  }

  still() {
    return !this.app.view.board.tiles.some((p) => p.at[0] === this.at[0] && p.at[1] === this.at[1]);
  }

  closed() {
    this.app.board.select(null);
  }

  actions() {
    return [
      button(t("gap.lay"), () => this.app.layAt(this.at), { icon: "plus", className: "action", data: { key: "lay" } }),
    ];
  }

  body() {
    const { app, at } = this,
      { kinds: left, total } = app.view.left;
    app.board.select(at);
    /** @type {any[]} */
    const fit = Object.entries(app.kinds)
      .filter(([id]) => left[id] > 0)
      .map(([id, kind]) => [id, [0, 1, 2, 3].filter((rot) => fits(app.kinds, app.board.tiles, kind, at, rot))])
      .filter(([, rots]) => rots.length);
    const count = fit.reduce((sum, [id]) => sum + left[id], 0);
    return [
      h(
        "div",
        { class: "gap-count" },
        h("p", { class: "big-line" }, count ? t("gap.count", { n: count, all: total }) : t("gap.none")),
        count > 0 && h("p", { class: "note" }, t("gap.chance", { p: percent(count / total) })),
      ),
      h(
        "div",
        { class: "kinds" },
        fit.map(([id, rots]) =>
          h(
            "div",
            { class: "kind" },
            tilePicture(id, rots[0], tileName(app.kinds, id, rots[0])),
            h("b", {}, t("picker.left", { n: left[id] })),
          ),
        ),
      ),
    ];
  }
}
