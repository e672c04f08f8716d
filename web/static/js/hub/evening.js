// The results of the evening: finished games, and a tournament's standings.

import { h, replace } from "../dom.js";
import { clock, number, signed, t } from "../i18n.js";

const winners = (game) => Math.max(...game.players.map((p) => p.score));
const minutes = (game) =>
  game.begun_s ? t("hub.minutes", { n: Math.max(1, Math.round((game.ended_s - game.begun_s) / 60)) }) : "";

export function recent(games) {
  return h(
    "section",
    { class: "results-part" },
    h("h2", {}, t("hub.evening")),
    games.length
      ? h(
          "table",
          {},
          h(
            "tbody",
            {},
            games.map((game) =>
              h(
                "tr",
                {},
                h("td", { class: "when" }, clock(game.ended_s)),
                h("td", { dir: "auto" }, game.table),
                h(
                  "td",
                  { class: "people" },
                  [...game.players]
                    .sort((a, b) => b.score - a.score)
                    .map((p) =>
                      h("span", { class: p.score === winners(game) ? "won" : "", dir: "auto" }, `${p.name} ${p.score}`),
                    ),
                ),
                h("td", { class: "when" }, minutes(game)),
              ),
            ),
          ),
        )
      : h("p", { class: "nothing" }, t("hub.evening.none")),
  );
}

export function standing(rows) {
  return h(
    "section",
    { class: "results-part" },
    h("h2", {}, t("hub.standings")),
    h(
      "table",
      { class: "standings" },
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ["rank", "name", "played", "wins", "buchholz", "difference"].map((c) =>
            h("th", { scope: "col", class: c }, t(`hub.column.${c}`)),
          ),
        ),
      ),
      h(
        "tbody",
        {},
        rows.map((r) =>
          h(
            "tr",
            {},
            h("td", {}, number(r.rank)),
            h("td", { class: "name", dir: "auto" }, r.name),
            h("td", {}, number(r.played)),
            h("td", {}, number(r.wins)),
            h("td", {}, number(r.buchholz)),
            h("td", {}, signed(r.difference)),
          ),
        ),
      ),
    ),
  );
}

export class Evening {
  constructor(root) {
    this.root = root;
    this.told = "";
  }

  async show({ extra }) {
    const told = String(extra.played);
    if (told === this.told) return;
    this.told = told;
    try {
      const { games } = await (await fetch("/api/evening", { cache: "no-store" })).json();
      replace(this.root, recent(games));
    } catch {
      this.told = "";
    }
  }

  tick() {}
}
