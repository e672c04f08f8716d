// The proof of a score: the table from above as the camera saw it, with what counted numbered and ticked, the sum, the rule.

import { button, h, s } from "./dom.js";
import { extras, featureIcon, formula, gains, majority, reason } from "./feed.js";
import { badge } from "./figures.js";
import { t } from "./i18n.js";
import { counted, numbers, outline, ticks } from "./marks.js";
import { symbolOf } from "./tileart.js";
import { figureOn } from "./tilebutton.js";
import { figureName } from "./words.js";

const MOST = 24; // tiles along one side of a picture

export class Proof {
  /** @type {import("./app.js").App} */
  app;
  /** @type {any} */
  event;
  /** @type {any} */
  last;

  constructor(app, event, { last = false } = {}) {
    Object.assign(this, { app, event, last });
    this.className = "proof";
    this.photo = null; // whether there is a picture; null while unknown
    this.board = {
      tiles: new Map(app.view.board.tiles.map((p) => [p.at.join(","), p])),
      kinds: app.kinds,
      game: app.view,
      letters: app.letters,
    };
    this.box = this.bounds();
    this.picture = this.box && this.draw();
    app.point(event);
  }

  title() {
    return t("proof.title", { reason: reason(this.event) });
  }

  closed() {
    this.app.point(null);
  }

  still(view) {
    return (
      [...view.feed, ...(view.final ?? view.projected_final).stages.flatMap((stage) => stage.events)].some(
        (e) =>
          e.turn === this.event.turn &&
          e.reason === this.event.reason &&
          JSON.stringify(e.places) === JSON.stringify(this.event.places),
      ) || this.last
    );
  }

  // The squares that count, including the cities that a farm is paid for.
  bounds() {
    const { event, board } = this;
    const squares = [...counted(board, event), ...(event.cities ?? []).flat()].filter(([x, y]) =>
      board.tiles.has(`${x},${y}`),
    );
    if (!squares.length) return null;
    const xs = squares.map((p) => p[0]),
      ys = squares.map((p) => p[1]),
      x = Math.min(...xs),
      y = Math.min(...ys);
    const box = { x, y, width: Math.max(...xs) - x + 1, height: Math.max(...ys) - y + 1 };
    return box.width > MOST || box.height > MOST ? null : box;
  }

  draw() {
    const { box, board, event } = this;
    const lit = counted(board, event);
    const asked = new URLSearchParams(Object.entries(box).map(([k, n]) => [k, String(n)]));
    const source = `${this.app.pictures}/${this.last ? "picture.jpg" : `turns/${event.turn}/picture.jpg`}?${asked}`;
    const frame = { x: box.x * 100, y: box.y * 100, width: box.width * 100, height: box.height * 100 };
    const drawn = s(
      "g",
      { class: "proof-tiles" },
      [...board.tiles.values()]
        .filter(
          (p) =>
            p.at[0] >= box.x - 1 &&
            p.at[0] <= box.x + box.width &&
            p.at[1] >= box.y - 1 &&
            p.at[1] <= box.y + box.height,
        )
        .map((p) =>
          s(
            "g",
            { transform: `translate(${p.at[0] * 100} ${p.at[1] * 100})` },
            s("use", { href: `#${symbolOf(p.tile)}`, transform: `rotate(${p.rot * 90} 50 50)` }),
          ),
        ),
      this.standing().map((e) => {
        const under = board.tiles.get(e.at.join(","));
        return (
          under &&
          s(
            "g",
            { transform: `translate(${e.at[0] * 100} ${e.at[1] * 100})` },
            figureOn(this.app, under.tile, under.rot, e),
          )
        );
      }),
    );
    const image = s("image", {
      ...frame,
      href: source,
      preserveAspectRatio: "none",
      class: "proof-photo",
      on: {
        load: () => this.found(true, drawn),
        error: () => {
          image.remove();
          this.found(false, drawn);
        },
      },
    });
    return s(
      "svg",
      {
        viewBox: `${frame.x - 3} ${frame.y - 3} ${frame.width + 6} ${frame.height + 6}`,
        class: "proof-picture",
        role: "img",
        "aria-label": this.caption(),
      },
      drawn,
      image,
      s(
        "g",
        { class: "proof-marks" },
        outline(board, lit, event.feature),
        (event.cities ?? []).map((c) => outline(board, c, "city", "also")),
      ),
      numbers(board, event, this.standing()),
      ticks(board, event),
    );
  }

  found(photo, drawn) {
    this.photo = photo;
    drawn.toggleAttribute("hidden", photo);
    if (this.app.sheet.content === this) this.app.sheet.render();
  }

  caption() {
    if (this.photo === false) return t("proof.drawing");
    return this.last ? t("proof.photo.last") : t("proof.photo", { n: this.event.turn + 1 });
  }

  actions() {
    return (
      this.tile && [
        button(t("proof.fix"), () => this.app.openTile(this.tile.at), {
          icon: "pen",
          className: "action",
          data: { key: "fix" },
        }),
      ]
    );
  }

  // The tile that brought the points: where a mistake would be corrected.
  get tile() {
    return this.app.completing(this.event);
  }

  // The figures that were on what was scored, from the log.
  standing() {
    const meant = new Set(this.event.places.map((p) => p.join()));
    return this.app.view.history.filter(
      (e) =>
        e.kind === "deploy" &&
        e.feature === this.event.feature &&
        e.turn <= this.event.turn &&
        meant.has([...e.at, e.where].join()),
    );
  }

  body() {
    const { event, app } = this,
      { players } = app.view;
    const why = majority(event, players),
      stood = this.standing();
    const pennants = event.items.find((i) => i.what === "pennant")?.count ?? 0;
    return [
      this.picture && h("figure", { class: "proof-figure" }, this.picture, h("figcaption", {}, this.caption())),
      h(
        "div",
        { class: "proof-text" },
        h(
          "div",
          { class: "event big plain" },
          featureIcon(event.feature),
          h("span", { class: "event-text" }, gains(event, players, app.letters)),
        ),
        h(
          "dl",
          {},
          h(
            "div",
            {},
            h("dt", {}, t("proof.sum")),
            h(
              "dd",
              {},
              h("b", {}, formula(event)),
              extras(event, players).map((e) => h("span", { dir: "auto" }, e)),
              ["road", "city", "cloister"].includes(event.feature) &&
                event.tiles > 0 &&
                h("span", { class: "note" }, t(`proof.counts.${event.feature}`, { n: event.tiles })),
              event.feature === "field" &&
                h("span", { class: "note" }, t("proof.counts.field", { n: event.cities.length })),
              pennants > 0 && h("span", { class: "note" }, t("proof.pennants", { n: pennants })),
            ),
          ),
          event.majority.length > 0 &&
            h(
              "div",
              {},
              h("dt", {}, t("proof.who")),
              h(
                "dd",
                {},
                why
                  ? h("span", { dir: "auto" }, why)
                  : t("majority.alone", { name: players[event.majority[0].player].name }),
                h(
                  "ul",
                  { class: "stood" },
                  stood.map((e) =>
                    h(
                      "li",
                      {},
                      badge(players[e.player], app.letters[e.player], {
                        figure: e.figure,
                        lying: e.feature === "field",
                      }),
                      h("span", { dir: "auto" }, figureName(players, e), " · ", t("feed.turn", { n: e.turn + 1 })),
                    ),
                  ),
                ),
              ),
            ),
          h(
            "div",
            {},
            h("dt", {}, t("proof.rule", { rule: event.rule })),
            h("dd", {}, t(`rule.${event.rule}`, { fallback: "" })),
          ),
        ),
      ),
    ];
  }
}
