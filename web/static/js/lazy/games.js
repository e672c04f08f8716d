// The stored games, with how they ended. Viewing one opens it in the evening book and changes nothing here;
// continuing an unfinished one puts it back on the table for everybody.

import { button, h, symbol } from "../dom.js";
import { dated, listed, t } from "../i18n.js";
import { panelStyle } from "./panel.js";

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
    if (!this.games) return h("p", { class: "note" }, t("wait"));
    const kept = this.games.filter((g) => g.entries > 0 || g.shown);
    return [
      h(
        "div",
        { class: "row" },
        h(
          "a",
          { class: "action", href: "/book", data: { key: "book" } },
          symbol("list"),
          h("span", {}, t("games.book")),
        ),
      ),
      kept.length
        ? h(
            "ul",
            { class: "games" },
            kept.map((g) => this.row(g)),
          )
        : h("p", { class: "note" }, t("games.none")),
    ];
  }

  row(g) {
    const seats = g.players
      .map((name, n) => ({ name, score: g.scores?.[n] }))
      .sort((a, b) => (b.score ?? 0) - (a.score ?? 0));
    const winners = g.over ? (g.winners ?? []).map((n) => g.players[n]) : [];
    return h(
      "li",
      {},
      h(
        "a",
        { class: "action", href: `/book/${g.game}`, data: { key: `game-${g.game}` } },
        h(
          "span",
          { class: "game-seats", dir: "auto" },
          winners.length > 0 &&
            h(
              "b",
              {},
              t(winners.length === 1 ? "final.wins" : "final.share", { name: winners[0], names: listed(winners) }),
            ),
          h("span", {}, seats.map((p) => (p.score === undefined ? p.name : `${p.name} ${p.score}`)).join(" · ")),
        ),
        h(
          "span",
          { class: "note" },
          dated(g.created_s),
          " · ",
          t(g.over ? "games.over" : "games.moves", { n: g.entries }),
          g.shown && ` · ${t("games.shown")}`,
        ),
      ),
      !g.over &&
        !g.shown &&
        button(t("games.go"), () => this.goOn(g.game), {
          icon: "play",
          className: "action",
          data: { key: `go-${g.game}` },
        }),
    );
  }

  async goOn(game) {
    if (await this.app.commands.send({ do: "open_game", game }, { message: "games.opened", look: (view) => view.game }))
      this.app.sheet.close();
  }
}
