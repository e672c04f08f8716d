// The owner's tiles from the teaching sheet: what is in its cells, how each was read, corrected by a tap, stored as a set.

import { button, h, redraw, symbol } from "../dom.js";
import { listed, t } from "../i18n.js";
import { tilePicture } from "../tileart.js";
import { tileButton } from "../tilebutton.js";
import { tileName } from "../words.js";
import { Live } from "./live.js";

export class Teach extends Live {
  url = "/api/teaching";
  open = null; // the cell being corrected
  kinds = false; // whether all kinds are offered for it
  told = "";

  // In the first steps the step has the title.
  constructor(app, root, { titled = true } = {}) {
    super(app, root);
    this.titled = titled;
    this.place = h("div", {});
  }

  title() {
    return t("machine.tiles");
  }

  draw() {
    const { state } = this;
    if (!state.camera) return this.none(t("calibrate.none"));
    // What is about to be tapped stays in place.
    const told = JSON.stringify([{ ...state, picture: null }, this.open, this.kinds]);
    if (told === this.told && this.root.firstChild) return;
    this.told = told;
    const here = state.tiles.find((one) => one.cell === this.open);
    if (!here) this.open = null;
    redraw(
      this.root,
      this.said,
      h(
        "section",
        {},
        this.titled && h("h3", {}, this.title()),
        h("p", { class: "note" }, t("teach.why")),
        h(
          "ol",
          { class: "teach-how" },
          ["print", "lay", "look"].map((key) => h("li", {}, t(`teach.how.${key}`))),
        ),
        h(
          "div",
          { class: "row" },
          h(
            "a",
            {
              class: "action",
              href: "/api/sheets/teaching-sheet.pdf",
              download: "",
              data: { key: "sheet-teaching" },
            },
            symbol("share"),
            h("span", {}, t("begin.sheet.teaching")),
          ),
        ),
      ),
      state.outcome && this.outcome(state.outcome),
      h("div", { class: "aim" }, this.photo, h("div", { class: "aim-about" }, this.pages(), here && this.mend(here))),
      state.tiles.length > 0 && this.seen(),
    );
  }

  pages() {
    const { pages, tiles } = this.state;
    return h(
      "p",
      { class: `aim-sum ${pages.length ? "good" : ""}`, role: "status" },
      symbol(pages.length ? "check" : "look"),
      h(
        "span",
        {},
        pages.length
          ? pages.map((p) => t("teach.page", { n: p.page, seen: p.seen, all: p.cells })).join(" ")
          : t(tiles.length ? "teach.next" : "teach.nothing"),
      ),
    );
  }

  // Every tile as the camera saw it beside the drawing of what it was read as.
  seen() {
    const { tiles, wanted, known, fewest } = this.state,
      doubtful = tiles.filter((one) => one.doubt),
      there = new Set([...Object.keys(known), ...tiles.map((one) => one.tile)]),
      missing = wanted.filter((kind) => !there.has(kind));
    return h(
      "section",
      {},
      h("h4", {}, t("teach.seen", { n: tiles.length })),
      h("p", { class: "note" }, t(doubtful.length ? "teach.doubtful" : "teach.mend")),
      h(
        "ul",
        { class: "teach-tiles" },
        tiles.map((one) => h("li", {}, this.tile(one))),
      ),
      h(
        "div",
        { class: "row" },
        button(t("teach.keep", { n: tiles.length }), () => this.keep(), {
          icon: "check",
          className: "action main",
          data: { key: "teach-keep" },
        }),
        button(t("teach.forget"), () => this.send({ do: "forget" }), {
          icon: "trash",
          className: "action",
          data: { key: "teach-forget" },
        }),
      ),
      missing.length > 0 && h("p", { class: "note" }, t("teach.missing", { n: missing.length })),
      there.size < fewest && h("p", { class: "note warn" }, t("teach.few", { n: fewest })),
    );
  }

  tile(one) {
    const name = tileName(this.app.kinds, one.tile, 0);
    return h(
      "button",
      {
        type: "button",
        class: `teach-tile${one.doubt ? " doubtful" : ""}${one.sure ? " sure" : ""}`,
        "aria-pressed": String(this.open === one.cell),
        "aria-label": t("teach.taken", { name }),
        data: { key: `cell-${one.cell}` },
        on: {
          click: () => {
            this.open = this.open === one.cell ? null : one.cell;
            this.kinds = false;
            this.draw();
            if (this.open) this.root.querySelector(".teach-mend")?.scrollIntoView({ block: "nearest" });
          },
        },
      },
      this.picture(one),
      tilePicture(one.tile, 0, undefined),
      h(
        "span",
        {},
        one.doubt ? t(`teach.doubt.${one.doubt}`) : one.sure ? t("teach.sure") : one.coarse ? t("teach.coarse") : "",
      ),
    );
  }

  picture(one) {
    return h("img", {
      src: `${this.url}/${one.picture}.jpg`,
      alt: "",
      class: "teach-photo",
      style: { transform: `rotate(${90 * one.turns}deg)` },
    });
  }

  // The camera's picture and the drawing side by side, to be rotated and named until they match.
  mend(one) {
    const say = (tile, turns) => this.send({ do: "say", cell: one.cell, tile, turns });
    return h(
      "div",
      { class: "teach-mend" },
      h("h4", {}, t("teach.is", { name: tileName(this.app.kinds, one.tile, 0) })),
      one.doubt && h("p", { class: "note warn" }, t(`teach.doubt.${one.doubt}.why`)),
      h("div", { class: "teach-pair" }, this.picture(one), tilePicture(one.tile, 0, undefined)),
      h(
        "div",
        { class: "row" },
        button(t("teach.right"), async () => (await say(one.tile, one.turns)) && this.close(), {
          icon: "check",
          className: "action main",
          data: { key: "teach-right" },
        }),
        button(t("picker.turn"), () => say(one.tile, (one.turns + 1) % 4), {
          icon: "turn",
          className: "action",
          data: { key: "teach-turn" },
        }),
        button(
          t("teach.other"),
          () => {
            this.kinds = !this.kinds;
            this.draw();
          },
          { icon: "tiles", className: "action", "aria-pressed": String(this.kinds), data: { key: "teach-other" } },
        ),
        button(t("teach.leave"), async () => (await this.send({ do: "leave_out", cell: one.cell })) && this.close(), {
          icon: "trash",
          className: "action",
          data: { key: "teach-leave" },
        }),
      ),
      this.kinds &&
        h(
          "div",
          { class: "kinds" },
          this.state.wanted
            .filter((tile) => tile !== one.tile)
            .map((tile) =>
              tileButton(
                this.app,
                { tile, rot: 0 },
                () => {
                  this.kinds = false;
                  say(tile, one.turns);
                },
                { key: `kind-${tile}` },
              ),
            ),
        ),
    );
  }

  // Keeps the keyboard focus at the tile.
  close() {
    const cell = this.open;
    this.open = null;
    this.draw();
    this.focus(`cell-${cell}`);
  }

  focus(key) {
    this.root.querySelector(`[data-key="${key}"]`)?.focus({ preventScroll: true });
  }

  async keep() {
    if (!(await this.send({ do: "keep" }))) return;
    this.said.textContent = t("teach.kept", { n: this.state.outcome.taught.length });
    this.root.querySelector(".outcome")?.scrollIntoView({ block: "nearest" });
    this.focus("teach-again");
    this.app.ownTiles.load(); // the board is drawn with them
  }

  outcome({ taught, refused, missing }) {
    const name = (tile) => tileName(this.app.kinds, tile, 0);
    return h(
      "div",
      { class: `outcome ${refused.length ? "bad" : "good"}` },
      symbol(refused.length ? "alert" : "check"),
      h(
        "div",
        {},
        h("p", {}, h("b", {}, t("teach.kept", { n: taught.length }))),
        refused.length > 0 && h("p", {}, t("teach.refused", { names: listed(refused.map(name)) })),
        h("p", {}, missing.length ? t("teach.missing", { n: missing.length }) : t("teach.whole")),
        h(
          "div",
          { class: "row" },
          button(t("teach.forget"), () => this.send({ do: "forget" }), {
            icon: "undo",
            className: "action",
            data: { key: "teach-again" },
          }),
        ),
      ),
    );
  }
}
