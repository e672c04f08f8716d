// A result as a chart: the scores turn by turn, each player's line with its own dashes and a letter at its end, and the
// points by category.

import { h, s } from "./dom.js";
import { featureIcon } from "./feed.js";
import { badge, hue } from "./figures.js";
import { number, t } from "./i18n.js";

const WIDTH = 640,
  HEIGHT = 260,
  LEFT = 34,
  RIGHT = 40,
  TOP = 12,
  BOTTOM = 26;
const DASHES = ["", "9 4", "2 4", "14 4 3 4", "6 3 2 3", "3 2"];

// Scores after every turn, starting from zero; the last are the totals with the final scoring.
export function timeline(view, final) {
  const players = view.players.length,
    turns = Math.max(0, ...view.history.map((e) => e.turn + 1), ...view.feed.map((e) => e.turn + 1));
  const rows = Array.from({ length: turns + 1 }, () => Array(players).fill(0));
  const staged = new Set(
    view.final
      ? final.stages.flatMap((stage) => stage.events).map((e) => JSON.stringify([e.reason, e.places, e.points]))
      : [],
  );
  for (const e of view.feed) {
    if (e.player === null && staged.has(JSON.stringify([e.reason, e.places, e.points]))) continue;
    for (const p of e.points) for (let n = e.turn + 1; n < rows.length; n += 1) rows[n][p.player] += p.points;
  }
  return [...rows, [...final.totals]];
}

function step(most) {
  return [5, 10, 20, 25, 50, 100, 200].find((n) => most / n <= 5) ?? 500;
}

export function chart(view, letters, final) {
  const rows = timeline(view, final),
    most = Math.max(10, ...rows.flat()),
    least = Math.min(0, ...rows.flat()),
    each = step(most - least);
  const x = (n) => LEFT + ((WIDTH - LEFT - RIGHT) * n) / (rows.length - 1 || 1);
  const y = (n) => HEIGHT - BOTTOM - ((HEIGHT - TOP - BOTTOM) * (n - least)) / (most - least);
  const grid = [];
  for (let n = 0; n <= most; n += each) {
    grid.push(
      s("line", { x1: LEFT, x2: WIDTH - RIGHT, y1: y(n), y2: y(n), class: "chart-grid" }),
      s("text", { x: LEFT - 6, y: y(n) + 5, class: "chart-label end" }, number(n)),
    );
  }
  // the letters at the ends must not overlap
  const ends = view.players.map((_, n) => ({ n, at: y(rows.at(-1)[n]) })).sort((a, b) => a.at - b.at);
  for (let k = 1; k < ends.length; k += 1) ends[k].at = Math.max(ends[k].at, ends[k - 1].at + 17);
  return s(
    "svg",
    {
      viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
      class: "chart",
      role: "img",
      "aria-label": `${t("final.chart")}. ${view.players.map((p, n) => t("final.chart.note", { name: p.name, n: final.totals[n] })).join(". ")}`,
    },
    grid,
    s(
      "text",
      { x: LEFT, y: HEIGHT - 6, class: "chart-label" },
      t("bar.turn", { n: 1, name: "" }).replace(/[:\s]+$/, ""),
    ),
    s("text", { x: WIDTH - RIGHT, y: HEIGHT - 6, class: "chart-label end" }, t("final.chart.end")),
    view.players.map((p, n) => {
      const d = rows.map((row, k) => `${k ? "L" : "M"}${x(k).toFixed(1)} ${y(row[n]).toFixed(1)}`).join("");
      return [
        s("path", { d, class: "chart-under" }),
        s("path", {
          d,
          class: "chart-line",
          stroke: hue(p),
          "stroke-dasharray": DASHES[n % DASHES.length] || undefined,
        }),
      ];
    }),
    ends.map(({ n, at }) => s("text", { x: WIDTH - RIGHT + 8, y: at + 5, class: "chart-end" }, letters[n])),
  );
}

export function totals(view, letters, final) {
  return h(
    "table",
    { class: "totals" },
    h(
      "thead",
      {},
      h(
        "tr",
        {},
        h("td", {}),
        view.players.map((p, n) => h("th", { scope: "col" }, badge(p, letters[n]), h("span", { class: "sr" }, p.name))),
      ),
    ),
    h(
      "tbody",
      {},
      final.table.map((row) =>
        h(
          "tr",
          {},
          h(
            "th",
            { scope: "row" },
            featureIcon(row.category),
            h("span", {}, t(`final.category.${row.category}`, { fallback: row.category })),
          ),
          row.points.map((n) => h("td", {}, n ? String(n) : "–")),
        ),
      ),
    ),
    h(
      "tfoot",
      {},
      h(
        "tr",
        {},
        h("th", { scope: "row" }, t("final.total")),
        final.totals.map((n, k) => h("td", { class: final.winners.includes(k) ? "best" : "" }, String(n))),
      ),
    ),
  );
}
