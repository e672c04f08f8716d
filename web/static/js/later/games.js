// The games that are kept: go on with one of them, when another was begun by mistake.

import { h } from "../dom.js";
import { listed, t } from "../i18n.js";
import { panelStyle } from "./panel.js";

const when = (seconds) => new Date(seconds * 1000).toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });

export class Games {
  constructor(app) {
    this.app = app;
    this.games = null;
    this.className = "left";
    this.ask();
  }

  async ask() {
    await panelStyle();
    try {
      this.games = (await (await fetch("/api/games")).json()).games;
    } catch {
      this.games = [];
    }
    if (this.app.sheet.content === this) this.app.sheet.render();
  }

  title() {
    return t("games.title");
  }

  body() {
    if (!this.games) return h("p", { class: "note" }, t("fix.searching"));
    const kept = this.games.filter((g) => g.entries > 0 || g.shown);
    if (!kept.length) return h("p", { class: "note" }, t("games.none"));
    return [h("p", { class: "note" }, t("games.note")), h("ul", { class: "games" }, kept.map((g) => h("li", {}, h("button", {
      type: "button", class: "action", disabled: g.shown, data: { key: `game-${g.game}` },
      on: { click: async () => {
        if (await this.app.commands.send({ do: "open_game", game: g.game }, { message: "games.opened", look: (view) => view.game })) this.app.sheet.close();
      } } },
    h("span", { dir: "auto" }, listed(g.players)), h("span", { class: "note" }, when(g.created_s), " · ", t(g.over ? "games.over" : "games.moves", { n: g.entries }), g.shown && ` · ${t("games.shown")}`)))))];
  }
}
