// All tile kinds by picture, those that fit the place first; then turn and put it there.

import { button, h } from "./dom.js";
import { t } from "./i18n.js";
import { fits } from "./shapes.js";
import { tileButton } from "./tilebutton.js";
import { tilePicture } from "./tileart.js";

export class Picker {
  // done(tile, rot) is asked to do it and says whether it worked, then() is what follows;
  // back() returns to where the person came from
  constructor(app, at, { current = null, done, back = null, then = null, title = "" }) {
    Object.assign(this, { app, at, current, done, back, then, name: title });
    this.chosen = null;
    this.className = "picker";
    const board = new Map(app.board.tiles);
    board.delete(at.join(","));
    this.fitting = Object.fromEntries(Object.entries(app.kinds).map(([id, kind]) =>
      [id, [0, 1, 2, 3].filter((rot) => fits(app.kinds, board, kind, at, rot))]));
  }

  title() {
    return this.name || t("picker.title");
  }

  actions() {
    const again = () => { this.chosen = null; this.app.sheet.render(); };
    const back = this.chosen ? again : this.back;
    return back ? [button(t("picker.back"), back, { icon: "back", className: "action", data: { key: "back" } })] : [];
  }

  closed() {
    this.app.board.select(null);
  }

  body() {
    if (this.chosen) return this.turning();
    const left = this.app.view.left.kinds;
    const all = Object.keys(this.app.kinds).filter((id) => id !== this.current?.tile || this.fitting[id].length > 1);
    const fit = all.filter((id) => this.fitting[id].length), rest = all.filter((id) => !this.fitting[id].length);
    const list = (ids) => h("div", { class: "kinds" }, ids.map((id) => tileButton(this.app, { tile: id, rot: this.fitting[id][0] ?? 0 }, () => {
      this.chosen = { tile: id, rot: this.fitting[id].find((r) => r !== this.current?.rot || id !== this.current?.tile) ?? 0 };
      this.app.sheet.render();
    }, { note: left[id] ? t("picker.left", { n: left[id] }) : t("picker.none"), className: left[id] ? "" : "gone" })));
    return [fit.length > 0 && h("h3", {}, t("picker.fits")), list(fit), rest.length > 0 && h("h3", {}, t("picker.rest")), list(rest)];
  }

  turning() {
    const { tile, rot } = this.chosen, good = this.fitting[tile];
    const next = () => {
      const turns = good.length > 1 ? good : [0, 1, 2, 3];
      this.chosen.rot = turns[(turns.indexOf(rot) + 1) % turns.length];
      this.app.sheet.render();
    };
    return h("div", { class: "turning" },
      h("div", { class: "read-tile" }, tilePicture(tile, rot, this.app.kinds[tile].name)),
      h("div", { class: "turning-tools" },
        !good.includes(rot) && h("p", { class: "note warn" }, t("fix.illegal")),
        h("div", { class: "row" },
          button(t("picker.turn"), next, { icon: "turn", className: "action", data: { key: "turn" } }),
          button(t("picker.use"), async () => {
            if (!await this.done(tile, rot)) return;
            if (this.then) this.then();
            else this.app.sheet.close();
          }, { icon: "check", className: "action main", data: { key: "use" } }))));
  }
}
