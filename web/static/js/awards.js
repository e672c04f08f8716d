// Awards of an evening: the largest city, the longest road, the best turn, the largest farm.

import { h } from "./dom.js";
import { featureIcon } from "./feed.js";
import { badge } from "./figures.js";
import { listed, t } from "./i18n.js";

// The winners and the number of each award; awards that nobody earned are left out.
export function awards(view, final) {
  const scored = new Map(
    [...view.feed, ...final.stages.flatMap((stage) => stage.events)].map((e) => [
      JSON.stringify([e.turn, e.reason, e.places, e.cities]),
      e,
    ]),
  );
  const all = [...scored.values()];
  const largest = (feature, size) => {
    const found = all
      .filter((e) => e.feature === feature && e.points.length && e.reason.startsWith(feature))
      .sort((a, b) => size(b) - size(a))[0];
    return found && size(found) > 0 && { players: found.points.map((p) => p.player), n: size(found), event: found };
  };
  const turns = new Map();
  for (const e of view.feed) {
    if (e.player === null || e.player === undefined) continue; // the end of the game is not a turn
    for (const p of e.points) {
      const key = `${e.turn}/${p.player}`,
        now = turns.get(key) ?? { players: [p.player], n: 0, turn: e.turn + 1, event: e };
      turns.set(key, { ...now, n: now.n + p.points });
    }
  }
  const turn = [...turns.values()].sort((a, b) => b.n - a.n)[0];
  return [
    ["city", largest("city", (e) => e.tiles), "tiles"],
    ["road", largest("road", (e) => e.tiles), "tiles"],
    ["turn", turn?.n > 0 && turn, "points"],
    ["farm", largest("field", (e) => e.cities.length), "cities"],
  ]
    .filter(([, won]) => won)
    .map(([award, won, unit]) => ({ award, unit, ...won }));
}

export const awardText = (won) => t(`award.${won.unit}`, { n: won.n, turn: won.turn });

export function awardList(view, letters, final, show) {
  const found = awards(view, final);
  if (!found.length) return null;
  return h(
    "section",
    { class: "awards" },
    h("h3", {}, t("final.awards")),
    h(
      "ul",
      {},
      found.map((won) =>
        h(
          "li",
          {},
          h(
            "button",
            {
              type: "button",
              class: "event",
              data: { key: `award-${won.award}` },
              on: { click: () => show(won.event) },
            },
            featureIcon(won.award === "farm" ? "field" : won.award),
            h(
              "span",
              { class: "event-text" },
              h("span", { class: "reason" }, t(`award.${won.award}`)),
              h("span", { class: "formula" }, awardText(won)),
            ),
            h(
              "span",
              { class: "gain" },
              won.players.map((n) => badge(view.players[n], letters[n])),
              h("b", { dir: "auto" }, listed(won.players.map((n) => view.players[n].name))),
            ),
          ),
        ),
      ),
    ),
  );
}
