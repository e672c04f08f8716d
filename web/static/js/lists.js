// Sheets that list things: moves, tiles left, adding by hand.

import { button, h } from "./dom.js";
import { badge } from "./figures.js";
import { percent, t } from "./i18n.js";
import { segmentPicker, playerChoice } from "./tilebutton.js";
import { tilePicture } from "./tileart.js";

export class History {
  constructor(app) {
    this.app = app;
    this.className = "history";
  }

  title() {
    return t("history.title");
  }

  body() {
    const { view, kinds, letters } = this.app;
    if (!view.history.length) return h("p", { class: "note" }, t("history.none"));
    return h("ol", { class: "moves" }, [...view.history].reverse().map((e) => h("li", {},
      h("button", { type: "button", class: "move", data: { key: `move-${e.seq}` }, disabled: !e.at,
                    on: { click: () => this.app.openTile(e.at) } },
        h("span", { class: "move-turn" }, String(e.turn + 1)),
        badge(view.players[e.player], letters[e.player]),
        e.kind !== "deploy" && h("span", { class: "move-tile" }, tilePicture(e.tile, e.rot ?? 0)),
        h("span", { class: "move-text" }, this.text(e, kinds)),
        h("span", { class: "move-how" }, e.amended ? t("fix.amended") : e.source === "camera" ? percent(e.confidence) : t("fix.byhand"),
          e.asked && !e.amended && h("span", { class: "tag warn" }, t("fix.asked")))))));
  }

  text(e, kinds) {
    if (e.kind === "deploy") return t("history.follower", { role: t(`role.${e.feature}`), feature: t(`feature.${e.feature}`) });
    const name = kinds[e.tile]?.name ?? e.tile;
    return e.kind === "discard" ? t("history.discard", { tile: name }) : name;
  }
}

export class Left {
  constructor(app) {
    this.app = app;
    this.className = "left";
  }

  title() {
    return t("left.title", { n: this.app.view.left.total });
  }

  body() {
    const left = this.app.view.left.kinds;
    return [h("div", { class: "kinds" }, Object.entries(this.app.kinds).map(([id, kind]) =>
      h("div", { class: `kind${left[id] ? "" : " gone"}`, title: kind.name }, tilePicture(id, 0, kind.name),
        h("b", {}, `${left[id] ?? 0}`), h("span", { class: "of" }, ` / ${kind.count}`)))),
    h("p", { class: "note" }, t("left.note"))];
  }
}

// The game by hand: the places on the board are marked; here are the follower, the end of the turn and of the game.
export class Add {
  constructor(app) {
    this.app = app;
    this.className = "add";
    this.player = null;
    this.sure = false;
    app.board.showGaps(true);
  }

  title() {
    return t("add.title");
  }

  closed() {
    this.app.board.showGaps(this.app.view.status?.chip === "manual");
    this.app.render();
  }

  body() {
    const { view, commands } = this.app;
    const last = view.board.tiles.find((p) => p.last && p.seq);
    const player = this.player ?? view.turn.player;
    const follower = last && view.history.findLast((e) => e.kind === "deploy" && e.at[0] === last.at[0] && e.at[1] === last.at[1]);
    return [
      last && view.turn.open && h("section", { class: "standing" },
        h("div", { class: "read-tile" }, segmentPicker(this.app, last.tile, last.rot, follower, (feature, where) => (follower
          ? commands.amend(follower, { player, feature, where })
          : commands.send({ do: "deploy", player, figure: "follower", at: last.at, feature, where })))),
        h("div", { class: "standing-tools" }, h("h3", {}, t("add.follower")), h("p", { class: "note" }, t("fix.tap")),
          playerChoice(this.app, player, (n) => { this.player = n; this.app.sheet.render(); }))),
      h("section", { class: "alternatives" }, h("p", {}, t("add.tile")),
        h("div", { class: "row" },
          button(t("add.end"), () => commands.send({ do: "end_turn" }), { icon: "check", className: "action", disabled: !view.turn.open, data: { key: "end" } }),
          this.sure
            ? button(t("add.over.sure"), () => { this.app.sheet.close(); commands.send({ do: "end_game" }); }, { icon: "flag", className: "action main", data: { key: "over" } })
            : button(t("add.over"), () => { this.sure = true; this.app.sheet.render(); }, { icon: "flag", className: "action", data: { key: "over" } }))),
    ];
  }
}
