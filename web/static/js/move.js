// One move that was entered or seen: who made it and what it was; to be changed, entered again or taken back.

import { OWN_TURN } from "./boxes.js";
import { button, h } from "./dom.js";
import { t } from "./i18n.js";
import { Picker } from "./picker.js";
import { Staged } from "./staged.js";
import { figureChoice, playerChoice, segmentPicker } from "./tilebutton.js";
import { moveName, said } from "./words.js";

const ENDS = new Set(["end_turn", "end_game"]);
// The possible numbers of a move, as alternatives.
const NUMBERS = { steps: () => [1, 2, 3], count: (n) => [n - 1, n + 1].filter((other) => other >= 0) };

export class Move {
  /** @type {import("./app.js").App} */
  app;
  /** @type {number} */
  seq;

  constructor(app, seq) {
    Object.assign(this, { app, seq });
    this.staged = new Staged(app);
    this.className = "move-sheet";
  }

  get entry() {
    return this.app.view.history.find((e) => e.seq === this.seq);
  }

  still() {
    return !!this.entry;
  }

  title() {
    const { entry, app } = this;
    return t("move.title", {
      n: entry.turn + 1,
      name: app.view.players[entry.player]?.name ?? "",
      move: moveName(app, entry),
    });
  }

  closed() {
    this.app.board.select(null);
  }

  change(changes) {
    const {
      entry,
      app: { commands },
    } = this;
    return this.staged.ask(commands.amendment(entry, changes), () => commands.amend(entry, changes));
  }

  actions() {
    const { entry, app } = this;
    const remove = () => this.staged.ask({ do: "retract", seq: entry.seq }, () => app.commands.remove(entry));
    return [
      !ENDS.has(entry.kind) &&
        entry.kind !== "deploy" &&
        button(t("move.again"), () => this.again(), { icon: "pen", className: "action", data: { key: "again" } }),
      ...this.turns().map((tile) =>
        button(
          t("move.turn", { n: tile.turn + 1, name: app.view.players[tile.player].name }),
          () => {
            const there = app.commands.shift(entry, tile.turn);
            return this.staged.ask(there, () => app.commands.send(there, { seq: entry.seq }));
          },
          { icon: "clock", className: "action", data: { key: `turn-${tile.turn}` } },
        ),
      ),
      button(t("move.remove"), remove, { icon: "trash", className: "action", data: { key: "remove" } }),
    ];
  }

  // The tiles of the turns before and after this one, to which it may belong: of the player's turns, where it takes one.
  // A figure goes with its tile, unless that was there before.
  turns() {
    const { entry, app } = this,
      whose = (e) => !OWN_TURN.includes(entry.kind) || e.player === entry.player,
      tiles = app.view.history.filter((e) => e.kind === "tile" && whose(e));
    const own =
      entry.kind === "deploy" && tiles.some((e) => e.turn === entry.turn && e.at?.join() === entry.at?.join());
    if (ENDS.has(entry.kind) || own) return [];
    return [tiles.findLast((e) => e.turn < entry.turn) ?? [], tiles.find((e) => e.turn > entry.turn) ?? []].flat();
  }

  // Enters it again as of that time: a discard is another tile, everything else is chosen from what could have happened.
  async again() {
    const { app, entry } = this;
    if (entry.kind === "discard") {
      app.sheet.open(
        new Picker(app, null, {
          title: t("add.discard.which"),
          done: (tile) => app.commands.amend(entry, { tile }),
          next: () => app.sheet.close(),
        }),
      );
    } else await app.tellAnew(entry);
  }

  body() {
    const { app, entry } = this,
      { view } = app;
    const act = (key, text, changes, on) =>
      button(text, () => this.change(changes), { className: "action", "aria-pressed": String(on), data: { key } });
    const tile = entry.at && view.board.tiles.find((p) => p.at.join() === entry.at.join());
    if (tile) app.board.select(entry.at);
    return [
      this.staged.strip(),
      entry.player !== undefined &&
        h(
          "section",
          {},
          h("h3", {}, t("fix.who")),
          playerChoice(
            app,
            entry.player,
            (player) => player !== entry.player && this.change({ player }),
            t("fix.who"),
            "played",
          ),
        ),
      Object.entries(NUMBERS)
        .filter(([field]) => field in entry)
        .map(([field, near]) =>
          h(
            "div",
            { class: "row" },
            near(entry[field]).map((n) =>
              act(
                `${field}-${n}`,
                t(`add.${entry.kind}`, said(view.players, { ...entry, [field]: n })),
                { [field]: n },
                n === entry[field],
              ),
            ),
          ),
        ),
      entry.kind === "deploy" &&
        tile &&
        h(
          "section",
          { class: "standing" },
          h(
            "div",
            { class: "read-tile" },
            segmentPicker(app, tile.tile, tile.rot, entry, (feature, where) => this.change({ feature, where })),
          ),
          h(
            "div",
            { class: "standing-tools" },
            h("p", { class: "note" }, t("fix.tap")),
            figureChoice(app, entry.player, entry.figure, (figure) => this.change({ figure })),
          ),
        ),
    ];
  }
}
