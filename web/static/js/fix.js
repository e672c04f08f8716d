// A tap on a tile: how it was read, what else it may be, who stands on it, who played it. Two taps correct a wrong tile.

import { AFTER_TILE } from "./boxes.js";
import { button, h } from "./dom.js";
import { seen } from "./evidence.js";
import { percent, t } from "./i18n.js";
import { Picker } from "./picker.js";
import { Question } from "./question.js";
import { Staged } from "./staged.js";
import { distinct, figureChoice, playerChoice, segmentPicker, sureness, tileButton } from "./tilebutton.js";
import { difference } from "./words.js";

const SHOWN = 3,
  LIKELY = 0.005;

// Kinds that fit come first; one that the camera considers likely may be right even if it cannot be placed there.
function offered(candidates) {
  const fit = candidates.filter((c) => c.legal),
    rest = candidates.filter((c) => !c.legal && c.probability >= LIKELY);
  return [...fit.slice(0, SHOWN - Math.min(1, rest.length)), ...rest].slice(0, SHOWN);
}

export class Fix {
  /** @type {import("./app.js").App} */
  app;
  /** @type {any} */
  at;

  constructor(app, at) {
    Object.assign(this, { app, at });
    this.candidates = null;
    this.player = null;
    this.figure = null;
    this.staged = new Staged(app);
    this.className = "fix";
    this.fetchCandidates();
  }

  get placed() {
    return this.app.view.board.tiles.find((p) => p.at[0] === this.at[0] && p.at[1] === this.at[1]);
  }

  get entry() {
    return this.placed && this.app.view.history.find((e) => e.seq === this.placed.seq && e.kind === "tile");
  }

  // The newest figure placed on this tile; it may have gone home since.
  get follower() {
    return this.app.view.history.findLast(
      (e) => e.kind === "deploy" && e.at[0] === this.at[0] && e.at[1] === this.at[1],
    );
  }

  still() {
    const now = this.placed;
    if (now && this.looked !== `${now.seq}/${now.tile}/${now.rot}`) this.fetchCandidates();
    return !!now;
  }

  async fetchCandidates() {
    const placed = this.placed;
    if (!placed) return;
    this.looked = `${placed.seq}/${placed.tile}/${placed.rot}`;
    if (placed.seq === null || placed.seq === undefined) return;
    try {
      const answer = await fetch(`/api/candidates/${placed.seq}`);
      this.candidates = answer.ok ? offered(distinct(this.app, (await answer.json()).candidates, placed)) : [];
    } catch {
      this.candidates = [];
    }
    this.app.sheet.render();
    this.fetchDifferences();
  }

  // The effect of each candidate is shown on its button before it is tapped.
  async fetchDifferences() {
    const { entry, candidates } = this;
    if (!entry || !candidates?.length) return;
    const told = await this.app.commands.preview(
      candidates.map((c) => this.app.commands.amendment(entry, { tile: c.tile, rot: c.rot })),
    );
    candidates.forEach((c, n) => {
      c.told = told[n];
    });
    this.app.sheet.render();
  }

  title() {
    const entry = this.entry;
    return entry
      ? t("fix.title", { name: this.app.view.players[entry.player].name, n: entry.turn + 1 })
      : t("fix.start");
  }

  closed() {
    this.app.board.select(null);
  }

  // Saves a changed tile, after showing the effect.
  change(changes) {
    const { commands } = this.app;
    return this.staged.ask(commands.amendment(this.entry, changes), () => commands.amend(this.entry, changes));
  }

  actions() {
    const { placed, entry, app } = this;
    if (!entry) return [];
    return [
      button(t("fix.rotate"), () => this.change({ rot: (placed.rot + 1) % 4 }), {
        icon: "turn",
        className: "action",
        data: { key: "rotate" },
      }),
      button(
        t("fix.other"),
        () =>
          app.sheet.open(
            new Picker(app, this.at, {
              current: placed,
              done: (tile, rot) => app.commands.amend(this.entry, { tile, rot }),
              back: () => app.openTile(this.at),
              command: (tile, rot) => app.commands.amendment(this.entry, { tile, rot }),
            }),
          ),
        { icon: "tiles", className: "action", data: { key: "other" } },
      ),
      button(t("fix.missed"), () => app.addTo(placed.turn), {
        icon: "plus",
        className: "action",
        data: { key: "missed" },
      }),
      button(t("fix.remove"), () => this.staged.ask({ do: "retract", seq: entry.seq }, () => this.remove()), {
        icon: "trash",
        className: "action",
        data: { key: "remove" },
      }),
    ];
  }

  // Along with the tile, what was done after it in that turn is removed.
  async remove() {
    const { commands, view } = this.app,
      { entry } = this,
      at = view.history.findIndex((e) => e.seq === entry.seq);
    const own = view.history.slice(at + 1).filter((e) => e.turn === entry.turn && AFTER_TILE.includes(e.kind));
    for (const one of [...own.reverse(), entry]) if (!(await commands.remove(one))) return;
    this.app.sheet.close();
  }

  body() {
    const placed = this.placed,
      entry = this.entry;
    if (!placed) return [];
    this.app.board.select(this.at);
    if (!entry) return h("p", { class: "note" }, t("fix.start.note"));
    return [
      this.staged.strip(),
      this.doubt(entry),
      this.evidence(entry),
      this.standing(placed, entry),
      this.alternatives(entry),
    ];
  }

  // What is open about this tile although nobody may have been asked.
  doubt(entry) {
    const { app } = this,
      { questions, doubts } = app.view;
    const open = [...questions, ...doubts].find((q) => q.seq === entry.seq && q.kind !== "tile");
    return (
      open &&
      h(
        "div",
        { class: "row" },
        button(t(`question.${open.text_key}`), () => app.sheet.open(new Question(app, open)), {
          icon: "ask",
          className: "action main",
          data: { key: "doubt" },
        }),
      )
    );
  }

  evidence(entry) {
    const how = entry.source === "camera" ? t("fix.camera", { p: percent(entry.confidence) }) : t("fix.byhand");
    return h(
      "figure",
      { class: "evidence" },
      seen(`/api/crops/${entry.seq}.jpg`),
      h(
        "figcaption",
        {},
        how,
        entry.amended && h("span", { class: "tag" }, t("fix.amended")),
        this.placed.asked && h("span", { class: "tag warn" }, t("fix.asked")),
        h("span", { class: "label" }, t("fix.who")),
        playerChoice(
          this.app,
          entry.player,
          (player) => player !== entry.player && this.change({ player }),
          t("fix.who"),
          "played",
        ),
      ),
    );
  }

  standing(placed, entry) {
    const { app, follower } = this;
    const player = this.player ?? follower?.player ?? entry.player,
      figure = this.figure ?? follower?.figure ?? "follower";
    const put = (changes) => {
      const { commands } = app,
        now = { player, figure, ...changes };
      Object.assign(this, { player: now.player, figure: now.figure });
      if (follower) return this.staged.ask(commands.amendment(follower, now), () => commands.amend(follower, now));
      if (!now.feature) return app.sheet.render(); // nobody stands there yet: selected for the next tap
      const tile = { seq: entry.seq, at: this.at };
      return this.staged.ask(commands.addition(tile, now), () => commands.addFigure(tile, now));
    };
    return h(
      "section",
      { class: "standing" },
      h(
        "div",
        { class: "read-tile" },
        segmentPicker(app, placed.tile, placed.rot, follower, (feature, where) => put({ feature, where })),
      ),
      h(
        "div",
        { class: "standing-tools" },
        h("p", { class: "note" }, t("fix.tap")),
        playerChoice(app, player, (n) => put({ player: n })),
        figureChoice(app, player, figure, (kind) => put({ figure: kind })),
        h(
          "div",
          { class: "row" },
          button(
            t("fix.nofollower"),
            () => this.staged.ask({ do: "retract", seq: follower.seq }, () => app.commands.remove(follower)),
            { className: "action", disabled: !follower, data: { key: "nofollower" } },
          ),
        ),
      ),
    );
  }

  alternatives(entry) {
    const { app, candidates } = this;
    const clash = (c) => !c.legal || c.told?.issues?.length > 0; // beside what lies there now, or lay there then
    const note = (c) =>
      [
        clash(c) && t("fix.illegal"),
        sureness(c.probability),
        c.told?.scores && difference(app.view.players, c.told.scores),
      ]
        .filter(Boolean)
        .join(" · ");
    return h(
      "section",
      { class: "alternatives" },
      h("h3", {}, t("fix.better")),
      h(
        "div",
        { class: "choices" },
        !candidates && h("p", { class: "note" }, t("fix.searching")),
        candidates && !candidates.length && h("p", { class: "note" }, t("fix.nothing")),
        candidates?.map((c) =>
          tileButton(app, c, () => app.commands.amend(entry, { tile: c.tile, rot: c.rot }), {
            note: note(c),
            className: `candidate${clash(c) ? " bad" : ""}`,
          }),
        ),
      ),
    );
  }
}
