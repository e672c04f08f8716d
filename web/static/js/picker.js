// Choosing the tile for a place: kinds that fit come first; the selected one is shown on the board and rotated there.

import { button, h } from "./dom.js";
import { Filter } from "./filter.js";
import { listed, t } from "./i18n.js";
import { EDGES, clashes, shown, ways } from "./shapes.js";
import { tileButton } from "./tilebutton.js";
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
  next;
  /** @type {any} */
  command;
  /** @type {{ tile: string, rot: number } | null} */
  chosen = null;
  inThen = true; // may be open while an earlier moment is shown

  // `at` is the place, or null if only a kind is requested; done(tile, rot) places it and returns whether it
  // worked, next() is what follows; back() returns to where the person came from; command(tile, rot) is what it would
  // send, to preview the effect
  constructor(app, at, { current = null, done, back = null, next = null, title = "", command = null }) {
    Object.assign(this, { app, at, current, done, back, next, command, name: title });
    this.told = new Map();
    this.all = false; // whether kinds that do not fit or are used up are offered as well
    this.className = "picker";
    this.board = new Map(app.board.tiles);
    if (at) this.board.delete(at.join(","));
    const beside = at ? shown(app.kinds, this.board, at) : {};
    this.filter = new Filter(
      app.kinds,
      EDGES.filter((side) => !beside[side]),
      () => app.sheet.render(),
    );
    this.looks = Object.fromEntries(
      Object.entries(app.kinds)
        .filter(([, kind]) => kind.count)
        .map(([id, kind]) => [id, ways(id, kind)]),
    );
    this.fitting = Object.fromEntries(
      Object.entries(this.looks).map(([id, looks]) => [
        id,
        looks.filter((rot) => !clashes(app.kinds, this.board, app.kinds[id], at ?? [NaN, 0], rot).length),
      ]),
    );
  }

  title() {
    return this.chosen ? tileName(this.app.kinds, this.chosen.tile, this.chosen.rot) : this.name || t("picker.title");
  }

  actions() {
    return this.back && !this.chosen
      ? [button(t("picker.back"), this.back, { icon: "back", className: "action", data: { key: "back" } })]
      : [];
  }

  again() {
    this.chosen = null;
    this.app.board.ghost(null);
    this.app.sheet.render();
  }

  closed() {
    this.app.board.ghost(null);
    this.app.board.select(null);
  }

  still() {
    return (
      this.current || this.doing || !this.at || !this.app.view.board.tiles.some((p) => p.at.join() === this.at.join())
    );
  }

  // How many of a kind are left; null if that is hidden.
  left(id) {
    return this.app.aid === "score" ? null : (this.app.view.left.kinds[id] ?? 0);
  }

  body() {
    if (this.at) this.app.board.select(this.at, { laying: true });
    if (this.chosen) return this.turning();
    const { current } = this,
      kinds = Object.keys(this.looks).filter((id) => id !== current?.tile || this.fitting[id].length > 1);
    const ready = kinds.filter((id) => this.fitting[id].length && this.left(id) !== 0),
      first = ready.map((id) => [id, this.fitting[id]]);
    const more = kinds.filter((id) => !ready.includes(id)),
      fit = first.filter(([id, turns]) => this.filter.turns(id, turns).length);
    const gone = more.filter((id) => this.fitting[id].length),
      never = more.filter((id) => !this.fitting[id].length);
    const part = (key, ids) =>
      ids.length > 0 && [h("h3", {}, t(key)), this.list(ids.map((id) => [id, this.looks[id]]))];
    return [
      this.filter.row(first),
      first.length
        ? !fit.length && h("p", { class: "note" }, t("filter.none"))
        : h("p", { class: "note" }, t("gap.none")),
      this.list(fit),
      this.all
        ? [part("picker.gone", gone), part("picker.rest", never)]
        : more.length > 0 &&
          button(
            t(this.at ? "picker.more" : "picker.used", { n: more.length }),
            () => {
              this.all = true;
              this.app.sheet.render();
            },
            { className: "action more", data: { key: "more" } },
          ),
    ];
  }

  list(kinds) {
    return h(
      "div",
      { class: "kinds" },
      kinds.map(([id, turns]) => {
        const left = this.left(id),
          [rot] = this.filter.turns(id, turns).concat(turns);
        return tileButton(this.app, { tile: id, rot }, () => this.choose(id), {
          className: left === 0 ? "gone" : "",
          note: left === null ? "" : left ? t("picker.left", { n: left }) : t("picker.none"),
        });
      }),
    );
  }

  async choose(id) {
    const { app, current } = this;
    if (!this.at) {
      // only a kind is requested
      if (await this.done(id, 0)) this.next?.();
      return;
    }
    const fit = this.fitting[id],
      turns = this.filter.turns(id, fit).concat(fit, this.looks[id]);
    this.chosen = { tile: id, rot: turns.find((r) => r !== current?.rot || id !== current?.tile) ?? turns[0] };
    app.sheet.render();
    app.sheet.root.querySelector("[data-key='use']")?.focus({ preventScroll: true });
  }

  // The rotations that taps cycle through: those that fit, unless all are wanted.
  get turns() {
    const { tile } = this.chosen,
      fit = this.fitting[tile];
    return this.all || !fit.length ? this.looks[tile] : fit;
  }

  turn() {
    const { turns } = this;
    this.chosen.rot = turns[(turns.indexOf(this.chosen.rot) + 1) % turns.length];
    this.app.sheet.render();
  }

  turning() {
    const { app } = this,
      { tile, rot } = this.chosen,
      { turns } = this,
      told = this.look(tile, rot);
    const clash = clashes(app.kinds, this.board, app.kinds[tile], this.at, rot),
      fit = this.fitting[tile].length,
      looks = this.looks[tile].length;
    const alone = !Object.keys(shown(app.kinds, this.board, this.at)).length;
    const issues = (told?.issues ?? []).filter((code) => code !== "edge_mismatch");
    const says = alone
      ? t("issue.no_neighbour")
      : clash.length
        ? t("lay.clash", { sides: listed(clash.map((side) => t(`side.${side}`))) })
        : looks === 1
          ? t("lay.same")
          : t("lay.fits", { n: fit });
    app.board.ghost({
      at: this.at,
      tile,
      rot,
      clash,
      turns: turns.length,
      label: t("lay.ghost", { name: tileName(app.kinds, tile, rot) }),
      act: () => this.turn(),
    });
    return h(
      "div",
      { class: "turning" },
      h(
        "div",
        { class: "turning-tools" },
        h(
          "p",
          { class: `note${clash.length || alone ? " warn" : ""}`, role: "status" },
          says,
          issues.map((code) => h("span", { class: "tag warn" }, t(`issue.${code}`))),
          told?.scores?.length > 0 &&
            h("b", { class: "difference", dir: "auto" }, difference(app.view.players, told.scores)),
        ),
        h(
          "div",
          { class: "row" },
          button(t("picker.turn"), () => this.turn(), {
            icon: "turn",
            className: "action",
            disabled: turns.length < 2,
            data: { key: "turn" },
          }),
          button(t("picker.other"), () => this.again(), { icon: "tiles", className: "action", data: { key: "back" } }),
          !this.all &&
            fit > 0 &&
            fit < looks &&
            button(
              t("lay.all"),
              () => {
                this.all = true;
                app.sheet.render();
              },
              { className: "action", data: { key: "any" } },
            ),
          button(t("picker.use"), () => this.use(), { icon: "check", className: "action main", data: { key: "use" } }),
        ),
      ),
    );
  }

  async use() {
    const { tile, rot } = this.chosen;
    if (this.doing) return;
    this.doing = true; // the view may come before the response does
    const done = await this.done(tile, rot).finally(() => {
      this.doing = false;
    });
    if (!done || this.app.sheet.content !== this) return; // or the person has moved on in the meantime
    if (this.next) this.next();
    else this.app.sheet.close();
  }

  // The effect of placing it; requested once for each rotation.
  look(tile, rot) {
    const key = `${tile}/${rot}`;
    if (this.command && !this.told.has(key)) {
      this.told.set(key, null);
      this.app.commands.preview([this.command(tile, rot)]).then(([told]) => {
        this.told.set(key, told);
        if (this.app.sheet.content === this && told && (told.issues?.length || told.scores?.length))
          this.app.sheet.render();
      });
    }
    return this.told.get(key);
  }
}
