// All tile kinds by picture, those that fit the place first; then turn and put it there.

import { button, h } from "./dom.js";
import { t } from "./i18n.js";
import { fits } from "./shapes.js";
import { tileButton } from "./tilebutton.js";
import { tilePicture } from "./tileart.js";
import { difference, tileName } from "./words.js";

export class Picker {
  /** @type {import("./app.js").App} */
  app;
  /** @type {any} */
  name;
  /** @type {any} */
  back;
  /** @type {any} */
  current;
  /** @type {any} */
  at;
  /** @type {any} */
  done;
  /** @type {any} */
  then;
  /** @type {any} */
  command;

  // `at` is the place, or null when only a kind is asked for; done(tile, rot) is asked to do it and says whether it
  // worked, then() is what follows; back() returns to where the person came from; command(tile, rot) is what it would
  // send, to show what it would change
  constructor(app, at, { current = null, done, back = null, then = null, title = "", command = null }) {
    Object.assign(this, { app, at, current, done, back, then, command, name: title });
    this.told = new Map();
    this.chosen = null;
    this.className = "picker";
    const board = new Map(app.board.tiles);
    if (at) board.delete(at.join(","));
    this.fitting = Object.fromEntries(Object.entries(app.kinds).map(([id, kind]) =>
      [id, at ? [0, 1, 2, 3].filter((rot) => fits(app.kinds, board, kind, at, rot)) : []]));
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
    const left = this.app.aid === "score" ? null : this.app.view.left.kinds;
    const all = Object.keys(this.app.kinds).filter((id) => this.app.kinds[id].count && id !== this.current?.tile || this.fitting[id].length > 1);
    const fit = all.filter((id) => this.fitting[id].length), rest = all.filter((id) => !this.fitting[id].length);
    const list = (ids) => h("div", { class: "kinds" }, ids.map((id) => tileButton(this.app, { tile: id, rot: this.fitting[id][0] ?? 0 }, async () => {
      if (!this.at) { // a kind alone is asked for
        if (await this.done(id, 0)) this.then?.();
        return;
      }
      this.chosen = { tile: id, rot: this.fitting[id].find((r) => r !== this.current?.rot || id !== this.current?.tile) ?? 0 };
      this.app.sheet.render();
    }, { note: !left ? "" : left[id] ? t("picker.left", { n: left[id] }) : t("picker.none"), className: !left || left[id] ? "" : "gone" })));
    return [fit.length > 0 && h("h3", {}, t("picker.fits")), list(fit), this.at && rest.length > 0 && h("h3", {}, t("picker.rest")), list(rest)];
  }

  turning() {
    const { tile, rot } = this.chosen, good = this.fitting[tile];
    const next = () => {
      const turns = good.length > 1 ? good : [0, 1, 2, 3];
      this.chosen.rot = turns[(turns.indexOf(rot) + 1) % turns.length];
      this.app.sheet.render();
    };
    const told = this.look(tile, rot);
    return h("div", { class: "turning" },
      h("div", { class: "read-tile" }, tilePicture(tile, rot, tileName(this.app.kinds, tile, rot))),
      h("div", { class: "turning-tools" },
        told?.scores && h("p", { class: "difference", role: "status" }, h("b", { dir: "auto" }, difference(this.app.view.players, told.scores))),
        !good.includes(rot) && h("p", { class: "note warn" }, t("fix.illegal")),
        h("div", { class: "row" },
          button(t("picker.turn"), next, { icon: "turn", className: "action", data: { key: "turn" } }),
          button(t("picker.use"), async () => {
            if (!await this.done(tile, rot) || this.app.sheet.content !== this) return; // or the person has gone on meanwhile
            if (this.then) this.then();
            else this.app.sheet.close();
          }, { icon: "check", className: "action main", data: { key: "use" } }))));
  }

  // What putting it there would change; asked once for each quarter turn.
  look(tile, rot) {
    const key = `${tile}/${rot}`;
    if (this.command && !this.told.has(key)) {
      this.told.set(key, null);
      this.app.commands.preview([this.command(tile, rot)]).then(([told]) => {
        this.told.set(key, told);
        if (this.app.sheet.content === this) this.app.sheet.render();
      });
    }
    return this.told.get(key);
  }
}
