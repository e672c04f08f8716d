// A turn entered by hand: what has happened in it, the figure on its tile, everything else that may happen, and its end.
// The places for the next tile are marked on the board.

import { Asking } from "./asking.js";
import { FIGURES } from "./boxes.js";
import { button, h } from "./dom.js";
import { badge } from "./figures.js";
import { t } from "./i18n.js";
import { offers } from "./offers.js";
import { tilePicture } from "./tileart.js";
import { figureChoice, playerChoice, segmentPicker } from "./tilebutton.js";
import { moveName } from "./words.js";

export class Add {
  inThen = true; // may be open while an earlier moment is shown
  /** @type {number | null} */
  player = null;
  figure = "follower";
  /** @type {any} */
  elsewhere = null; // another square where the figure may go, and what it may do there: { code, at, answers }

  constructor(app) {
    this.app = app;
    this.className = "add";
    this.sure = false;
    this.hint = "";
    this.about = undefined; // the tile that the selection refers to
    app.board.showGaps(!app.then || app.then.seq === null);
  }

  title() {
    const { turn, players } = this.app.view,
      { laid } = this,
      values = { n: laid ? laid.turn + 1 : Math.max(1, turn.number), name: players[laid?.player ?? turn.player].name };
    return this.app.then ? t("then.title", values) : t("bar.turn", values);
  }

  actions() {
    return this.app.then
      ? [button(t("then.now"), () => this.app.now(), { icon: "next", className: "action main", data: { key: "now" } })]
      : [];
  }

  closed() {
    this.app.board.choose([]);
    this.app.board.showGaps(this.app.byHand);
    this.app.render();
  }

  // Waits for a tap on one of these squares; then calls `act(square)`.
  pick(squares, hint, act) {
    this.hint = hint;
    this.app.board.choose(squares, (at) => {
      this.stop();
      act(at);
    });
    this.app.sheet.render();
  }

  // The figure goes to another tile; a tap says on which feature it stands.
  stand(code, at, answers) {
    this.elsewhere = { code, at, answers };
    this.app.sheet.render();
  }

  stop() {
    this.hint = "";
    this.app.board.choose([]);
    this.app.sheet.render();
  }

  // The tile of the turn on show: the last one placed, until something happens before the next.
  get laid() {
    const { board, next_tile: next } = this.app.view;
    return next.waiting ? undefined : board.tiles.find((p) => p.last && p.seq);
  }

  // What happened in this turn so far.
  get happened() {
    const { history, turn } = this.app.view,
      { laid } = this,
      number = laid ? laid.turn : turn.number - 1;
    return history.filter((e) => e.turn === number && (laid || turn.open));
  }

  body() {
    const { app } = this,
      { view, commands } = app,
      { laid } = this;
    if (this.hint)
      return h(
        "div",
        { class: "row" },
        h("p", {}, this.hint),
        button(t("add.cancel"), () => this.stop(), { className: "action", data: { key: "cancel" } }),
      );
    if (this.about !== (laid?.seq ?? null))
      Object.assign(this, { about: laid?.seq ?? null, player: null, figure: "follower", elsewhere: null, sure: false });
    const player = this.player ?? laid?.player ?? view.turn.player,
      { before, after, any, open } = offers(this, player),
      next = view.players[view.next_tile.player].name;
    const group = (key, moves) =>
      moves.length > 0 && [h("h3", {}, t(key, { name: next })), h("div", { class: "row tight" }, moves)];
    return [
      this.strip(),
      laid && this.standing(laid, player),
      h(
        "section",
        { class: "alternatives" },
        open.length > 0 && h("div", { class: "row tight" }, open),
        h("p", {}, app.then && app.then.seq !== null ? t("then.instead") : t("add.tile", { name: next })),
        group("add.special", after),
        group(app.then ? "add.before" : "add.next", before),
        group("add.any", any),
        !app.then &&
          h(
            "div",
            { class: "row tight" },
            button(t("add.end"), () => commands.send({ do: "end_turn" }), {
              icon: "check",
              className: "action",
              disabled: !view.turn.open,
              data: { key: "end" },
            }),
            this.sure
              ? button(
                  t("add.over.sure"),
                  () => {
                    app.sheet.close();
                    commands.send({ do: "end_game" });
                  },
                  { icon: "flag", className: "action main", data: { key: "over" } },
                )
              : button(
                  t("add.over"),
                  () => {
                    this.sure = true;
                    app.sheet.render();
                  },
                  { icon: "flag", className: "action", data: { key: "over" } },
                ),
          ),
      ),
    ];
  }

  // What happened in this turn; a tap on a row corrects it.
  strip() {
    const { app, happened } = this,
      { view, letters } = app;
    if (!happened.length || (app.then && app.then.seq !== null)) return null;
    return h(
      "ol",
      { class: "happened", "aria-label": t("add.happened") },
      happened.map((e) =>
        h(
          "li",
          {},
          h(
            "button",
            {
              type: "button",
              class: "happened-move",
              data: { key: `move-${e.seq}` },
              disabled: !!app.then,
              on: { click: () => app.openMove(e) },
            },
            e.player !== undefined && badge(view.players[e.player], letters[e.player], { figure: e.figure }),
            e.kind === "tile" && h("span", { class: "move-tile" }, tilePicture(e.tile, e.rot)),
            h("span", { dir: "auto", class: e.kind === "tile" ? "sr" : "" }, moveName(app, e)),
          ),
        ),
      ),
    );
  }

  standing(last, player) {
    const { app } = this,
      { view, commands } = app;
    const { elsewhere } = this;
    const on = (elsewhere && view.board.tiles.find((p) => p.at.join() === elsewhere.at.join())) || last;
    const together = (figure) => !!FIGURES[figure]?.company,
      own = this.happened.filter((e) => e.kind === "deploy");
    const known = own.findLast(
      (e) => together(e.figure) === together(this.figure) && e.at.join() === on.at.join() && e.player === player,
    );
    const put = (feature, where) => {
      const figure = this.figure,
        move = { player, figure, feature, where };
      this.elsewhere = null;
      if (known && !app.then) return commands.amend(known, move);
      return commands.send({ do: "deploy", ...(on === last ? {} : elsewhere.answers[0]), ...move, at: on.at });
    };
    return h(
      "section",
      { class: "standing" },
      h("div", { class: "read-tile" }, segmentPicker(app, on.tile, on.rot, known, put, on.at)),
      h(
        "div",
        { class: "standing-tools" },
        h("p", { class: "note" }, t(on === last ? "add.follower" : `add.${elsewhere.code}.there`)),
        playerChoice(app, player, (n) => {
          this.player = n;
          app.sheet.render();
        }),
        figureChoice(app, player, this.figure, (kind) => {
          this.figure = kind;
          app.sheet.render();
        }),
      ),
    );
  }

  // Asks the rules' question, in place of this sheet.
  ask(question) {
    const { app } = this;
    app.sheet.open(new Asking(app, question, () => app.sheet.open(new Add(app))));
  }
}
