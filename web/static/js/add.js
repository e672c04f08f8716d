// The game by hand: the places on the board are marked; here are the figure, the end of the turn and of the game.

import { button, h } from "./dom.js";
import { t } from "./i18n.js";
import { specials } from "./special.js";
import { figureChoice, playerChoice, segmentPicker } from "./tilebutton.js";

export class Add {
  constructor(app) {
    this.app = app;
    this.className = "add";
    this.player = null;
    this.figure = "follower";
    this.elsewhere = null; // a square that a magic portal leads to
    this.sure = false;
    this.hint = "";
    app.board.showGaps(true);
  }

  title() {
    return t("add.title");
  }

  closed() {
    this.app.board.choose([]);
    this.app.board.showGaps(this.app.byHand);
    this.app.render();
  }

  // Wait for a tap on one of these squares; `act(square)` follows.
  pick(squares, hint, act) {
    this.hint = hint;
    this.app.board.choose(squares, (at) => { this.stop(); act(at); });
    this.app.sheet.render();
  }

  stop() {
    this.hint = "";
    this.app.board.choose([]);
    this.app.sheet.render();
  }

  body() {
    const { view, commands } = this.app;
    if (this.hint) return h("div", { class: "row" }, h("p", {}, this.hint), button(t("add.cancel"), () => this.stop(), { className: "action", data: { key: "cancel" } }));
    const last = view.board.tiles.find((p) => p.last && p.seq);
    const player = this.player ?? view.turn.player;
    const more = specials(this, player);
    return [
      last && view.turn.open && this.standing(last, player),
      h("section", { class: "alternatives" }, h("p", {}, t("add.tile")),
        more.length > 0 && [h("h3", {}, t("add.special")), h("div", { class: "row" }, more)],
        h("div", { class: "row" },
          button(t("add.end"), () => commands.send({ do: "end_turn" }), { icon: "check", className: "action", disabled: !view.turn.open, data: { key: "end" } }),
          this.sure
            ? button(t("add.over.sure"), () => { this.app.sheet.close(); commands.send({ do: "end_game" }); }, { icon: "flag", className: "action main", data: { key: "over" } })
            : button(t("add.over"), () => { this.sure = true; this.app.sheet.render(); }, { icon: "flag", className: "action", data: { key: "over" } }))),
    ];
  }

  standing(last, player) {
    const { view, commands } = this.app;
    const on = (this.elsewhere && view.board.tiles.find((p) => p.at.join() === this.elsewhere.join())) || last;
    const company = this.figure === "builder" || this.figure === "pig";
    const known = view.history.findLast((e) => e.kind === "deploy" && e.turn === view.board.tiles.find((p) => p === last).turn
      && (e.figure === "builder" || e.figure === "pig") === company && e.at.join() === on.at.join());
    const put = (feature, where) => {
      const figure = this.figure;
      this.elsewhere = null;
      if (known) return commands.amend(known, { player, figure, feature, where });
      return commands.send({ do: "deploy", player, figure, at: on.at, feature, where, ...(on === last ? {} : { portal: true }) });
    };
    return h("section", { class: "standing" },
      h("div", { class: "read-tile" }, segmentPicker(this.app, on.tile, on.rot, known, put)),
      h("div", { class: "standing-tools" }, h("h3", {}, t("add.follower")), h("p", { class: "note" }, t("fix.tap")),
        playerChoice(this.app, player, (n) => { this.player = n; this.app.sheet.render(); }),
        figureChoice(this.app, player, this.figure, (kind) => { this.figure = kind; this.app.sheet.render(); })));
  }
}
