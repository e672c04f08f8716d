// What the camera was not sure of. One question at a time; the game continues in the meantime.

import { button, h } from "./dom.js";
import { FIELDS } from "./boxes.js";
import { seen } from "./evidence.js";
import { t } from "./i18n.js";
import { Picker } from "./picker.js";
import { EDGES, STEP, different } from "./shapes.js";
import { figureChoice, markNumber, segmentPicker, sureness, tileButton, playerChoice } from "./tilebutton.js";
import { figureName, moveName, placeName } from "./words.js";

const ARROWS = { N: "↑", E: "→", S: "↓", W: "←" };

// From the first square of a walk on, an arrow for each step.
const steps = (path) =>
  path
    .slice(1)
    .map(
      ([x, y], n) => ARROWS[EDGES.find((side) => STEP[side][0] === x - path[n][0] && STEP[side][1] === y - path[n][1])],
    )
    .join("");

// Where it happened: a walk, where it ended.
const spot = (move) => move.path?.at(-1) ?? move.at;
const same = (a, b) => a?.join() === b?.join();

export class Question {
  /** @type {import("./app.js").App} */
  app;

  constructor(app, question) {
    Object.assign(this, { app, question });
    this.id = question.id;
    this.className = "question";
    this.other = false;
    const best = question.candidates.find((c) => c.body?.player !== undefined)?.body;
    this.player = best?.player ?? app.view.turn.player;
    this.figure = best?.figure ?? "follower";
  }

  still(view) {
    const now = [...view.questions, ...view.doubts].find((q) => q.id === this.id); // a doubt is asked on request
    if (now) this.question = now;
    return !!now;
  }

  title() {
    const { text_key: key, kind } = this.question;
    return t(`question.${key}`, { fallback: t(`question.${kind}`) });
  }

  // Shows the next one first; this one returns after the others.
  pass() {
    const { app, id } = this,
      put = new Set(app.later);
    app.passed.set(id, (app.passed.get(id) ?? 0) + 1);
    app.sheet.close();
    app.later = put;
    app.ask({ all: true });
  }

  closed() {
    this.app.later.add(this.id);
    this.app.board.choose([]);
    this.app.board.select(null);
  }

  // Where the moves in question happened; marked on the board, and numbered if there are several.
  get spots() {
    const { kind, candidates } = this.question;
    return kind === "move" ? different(candidates.map((c) => c.body && spot(c.body))) : [];
  }

  // A tap on a square answers, if only one of the moves happened there.
  tapped(at) {
    const found = this.question.candidates.flatMap((c, n) => (c.body && same(spot(c.body), at) ? [n] : []));
    if (found.length === 1) this.answer(found[0]);
  }

  answer(choice, body) {
    return this.app.commands.answer(this.question, choice, body);
  }

  // Whether the tile is known, but not who placed it.
  get whose() {
    return this.question.text_key === "whose_tile";
  }

  // The tile that a question about a figure refers to.
  get under() {
    const [x, y] = this.question.at ?? [];
    return this.app.view.board.tiles.find((p) => p.at[0] === x && p.at[1] === y);
  }

  actions() {
    const { app } = this,
      [, ...more] = app.waiting({ all: true });
    return [
      more.length > 0 &&
        button(t("question.more", { n: more.length }), () => this.pass(), {
          icon: "next",
          className: "action",
          data: { key: "pass" },
        }),
      this.other
        ? button(
            t("picker.back"),
            () => {
              this.other = false;
              app.sheet.render();
            },
            { icon: "back", className: "action" },
          )
        : this.question.kind === "move"
          ? button(t("question.nothing.move"), () => this.answer("other"), {
              className: "action",
              data: { key: "nothing" },
            })
          : button(t("question.other"), () => this.openOther(), {
              icon: "tiles",
              className: "action",
              data: { key: "other" },
            }),
      button(t("question.later"), () => app.sheet.close(), { className: "action", data: { key: "later" } }),
    ];
  }

  body() {
    const { question: q, app } = this;
    const { spots } = this;
    app.board.select(spots.length ? null : q.at);
    app.board.choose(spots, (at) => this.tapped(at), { numbered: spots.length > 1 });
    const whose = app.view.players[q.player];
    return [
      whose && !this.whose && h("p", { class: "note whose", dir: "auto" }, t("question.whose", { name: whose.name })),
      q.crop && h("figure", { class: "evidence" }, seen(q.crop), h("figcaption", {}, t("fix.crop"))),
      this.other
        ? this.byHand()
        : h(
            "section",
            { class: "alternatives" },
            h(
              "div",
              { class: "choices" },
              // for a move, "nothing happened" is a button of its own
              q.candidates.map((c, n) => (c.body || q.kind !== "move") && this.choice(c, n)),
            ),
          ),
    ];
  }

  choice(candidate, n) {
    const { body } = candidate,
      act = () => this.answer(n);
    const note = [sureness(candidate.probability), n === 0 && t("question.best")].filter(Boolean).join(" · ");
    const more = { note, className: "candidate", key: `choice-${n}` };
    if (this.whose) {
      const { name } = this.app.view.players[body.player];
      return tileButton(this.app, body, act, { ...more, label: name, note: [name, note].filter(Boolean).join(" · ") });
    }
    if (body?.do === "tile") return tileButton(this.app, body, act, more);
    if (this.question.kind === "move") return this.move(body, note, act, more);
    const under = this.under;
    if (body?.do === "deploy" && under) {
      const name = t("board.figure", {
        name: this.app.view.players[body.player].name,
        role: t(`role.${body.feature}`),
      });
      const several =
        new Set(this.question.candidates.map((c) => c.body?.figure ?? "follower")).add("follower").size > 1;
      return tileButton(this.app, under, act, {
        ...more,
        figure: body,
        label: name,
        note: [several && t(`figure.${body.figure}`), note].filter(Boolean).join(" · "),
      });
    }
    if (this.question.kind === "tile")
      return button([t("question.nothing.tile"), note].filter(Boolean).join(" · "), act, {
        className: "action candidate",
        data: { key: more.key },
      });
    if (under)
      return tileButton(this.app, under, act, {
        ...more,
        note: [t("question.nothing"), note].filter(Boolean).join(" · "),
        label: t("question.nothing"),
      });
    return button(t("question.nothing"), act, { className: "action candidate" });
  }

  // What happened besides placing a tile and a figure: described by the squares of its path, or by whom it concerns.
  move(body, note, act, { className, key }) {
    const { app } = this,
      way = body.path && [placeName(body.path[0]), steps(body.path)].filter(Boolean).join(" "),
      about = Object.entries(body).filter(([k, v]) => FIELDS[k]?.startsWith("ref") && v),
      whom = about.flatMap(([, figures]) => figures).map((figure) => figureName(app.view.players, figure)),
      name = moveName(app, body),
      more = whom.filter((one) => !name.includes(one)),
      words = (place) => [name, place, ...more, note].filter(Boolean).join(" · ");
    const { spots } = this,
      walked = body.path?.length > 1 && steps(body.path),
      n = spots.length > 1 ? spots.findIndex((at) => same(at, spot(body))) + 1 : 0;
    return h(
      "button",
      {
        type: "button",
        class: `action ${className} long`,
        "aria-label": words(way ?? (body.at && placeName(body.at))),
        data: { key },
        on: { click: act },
      },
      n > 0 && markNumber(n),
      h("span", {}, words(walked)), // where it was is marked on the board
    );
  }

  openOther() {
    const { app, question: q } = this;
    if (q.kind === "figure") {
      this.other = true;
      app.sheet.render();
      return;
    }
    const best = q.candidates.find((c) => c.body?.do === "tile")?.body;
    app.sheet.open(
      new Picker(app, q.at, {
        current: this.under,
        title: this.title(),
        done: (tile, rot) => this.answer("other", { ...best, do: "tile", at: q.at, tile, rot }),
        back: () => app.sheet.open(this),
      }),
    );
  }

  byHand() {
    const under = this.under;
    if (!under) return null;
    return h(
      "section",
      { class: "standing" },
      h(
        "div",
        { class: "read-tile" },
        segmentPicker(this.app, under.tile, under.rot, null, (feature, where) =>
          this.answer("other", {
            do: "deploy",
            player: this.player,
            figure: this.figure,
            at: this.question.at,
            feature,
            where,
          }),
        ),
      ),
      h(
        "div",
        { class: "standing-tools" },
        h("p", { class: "note" }, t("fix.tap")),
        playerChoice(this.app, this.player, (n) => {
          this.player = n;
          this.app.sheet.render();
        }),
        figureChoice(this.app, this.player, this.figure, (kind) => {
          this.figure = kind;
          this.app.sheet.render();
        }),
        h(
          "div",
          { class: "row" },
          button(t("question.nothing"), () => this.answer("other"), { className: "action" }),
        ),
      ),
    );
  }
}
