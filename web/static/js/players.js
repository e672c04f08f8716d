// The players in seat order; rows never change places.

import { ICONS } from "./boxes.js";
import { h, replace, s } from "./dom.js";
import { badge, hue, pips } from "./figures.js";
import { signed, t } from "./i18n.js";
import { Rolls } from "./rolls.js";

const crown = () =>
  s(
    "svg",
    { viewBox: "0 0 24 18", class: "crown", role: "img", "aria-label": t("player.leads") },
    s("path", { d: "M2 15.5L1 4l6 4.5L12 1l5 7.5L23 4l-1 11.5z" }),
  );
const pointer = () =>
  s("svg", { viewBox: "0 0 12 16", class: "pointer", "aria-hidden": "true" }, s("path", { d: "M1 1l10 7L1 15z" }));

// What a player holds, if the boxes in play have such things.
function holdings(view, letters, n) {
  const held = view.board.held?.[n] ?? [];
  if (!held.length) return null;
  return h(
    "span",
    { class: "holdings" },
    held.map(({ key, n: count, icon, figures = [] }) =>
      icon
        ? h(
            "span",
            {
              class: `held ${icon}`,
              role: "img",
              "aria-label": `${count} ${t(key, { n: count })}`,
              title: t(key, { n: count }),
            },
            s("svg", { viewBox: "0 0 24 24", "aria-hidden": "true" }, s("path", { d: ICONS[icon] })),
            h("b", { "aria-hidden": "true" }, String(count)),
          )
        : h(
            "span",
            { class: "held figures", role: "img", "aria-label": t(key, { n: count }) },
            figures.map(([owner, figure]) => badge(view.players[owner], letters[owner], { size: "small", figure })),
          ),
    ),
  );
}

// The approximate width of a name in ems, from the kind of each letter, whatever the font.
const WIDE = /[mwMW@%&]/,
  CAPITAL = /\p{Lu}/u,
  NARROW = /[ijlftrI.,:;'’|!() -]/,
  SQUARE = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{Extended_Pictographic}]/u;
export const lineWide = (text) =>
  [...text].reduce(
    (sum, c) =>
      sum + (SQUARE.test(c) ? 1.05 : WIDE.test(c) ? 0.88 : CAPITAL.test(c) ? 0.68 : NARROW.test(c) ? 0.36 : 0.53),
    0.1,
  );

// The same on two lines, if the name can be broken.
export function lettersWide(name) {
  const breaks = [...name.matchAll(/[ -]/g)].map((m) => m.index + 1);
  return Math.min(
    lineWide(name),
    ...breaks.map((n) => Math.max(lineWide(name.slice(0, n).trimEnd()), lineWide(name.slice(n)))),
  );
}

export class Players {
  /** @type {any} */
  root;

  constructor(root) {
    this.root = root;
    this.before = [];
    this.rolls = new Rolls();
  }

  // `shown` replaces the scores during the final scoring; a change is animated only within one `mode`;
  // `pending` is what the current step would add; `projected` whether the forecast may be seen, `race` a bar in each row, `asked` the players
  // whom a question is for; settle(n) asks what makes the score of a player uncertain
  show(
    view,
    letters,
    { shown = null, pending = [], mode = "", projected = true, race = false, asked = [], settle = null } = {},
  ) {
    const scores = shown ?? view.players.map((p) => p.score);
    const best = Math.max(...scores),
      some = scores.some((n) => n > 0);
    this.root.style.setProperty("--players", view.players.length);
    this.root.style.setProperty(
      "--digits",
      Math.max(2, ...view.players.map((p, n) => `${p.uncertain ? "~" : ""}${scores[n]}`.length)),
    );
    replace(
      this.root,
      view.players.map((p, n) => {
        const active = p.active && view.phase === "playing";
        const score = scores[n],
          change = this.mode !== mode || this.before[n] === undefined ? 0 : score - this.before[n];
        return h(
          "li",
          { class: `player${active ? " active" : ""}`, data: { player: n } },
          h(
            "span",
            { class: "who" },
            badge(p, letters[n], { size: "large" }),
            some && score === best && crown(),
            asked.includes(n) &&
              h("span", { class: "asks", role: "img", "aria-label": t("player.asked"), title: t("player.asked") }, "?"),
          ),
          h(
            "span",
            { class: "naming" },
            h(
              "span",
              { class: "name", style: { "--em": lettersWide(p.name).toFixed(2) } },
              h("span", { class: "name-text", dir: "auto" }, p.name),
            ),
            h(
              "span",
              { class: "below" },
              pips(p),
              holdings(view, letters, n),
              active && h("span", { class: "to-play" }, pointer(), t("player.turn")),
            ),
          ),
          h(
            "span",
            { class: "points" },
            pending[n] &&
              h(
                "span",
                { class: "change pending", "aria-label": t("player.pending", { n: pending[n] }) },
                signed(pending[n]),
              ),
            change !== 0 && h("span", { class: "change", "aria-hidden": "true" }, signed(change)),
            h(
              p.uncertain && settle ? "button" : "span",
              {
                class: `score${change ? " changed" : ""}`,
                "aria-label": t("player.points", { n: score }),
                ...(p.uncertain && settle && this.settles(n, score, settle)),
              },
              p.uncertain && h("span", { class: "about", title: t("player.uncertain") }, "~"),
              h("span", { class: "score-number" }, String(score)),
            ),
            !shown &&
              projected &&
              view.phase === "playing" &&
              h(
                "span",
                {
                  class: "projected",
                  title: t("player.projected", { n: p.projected }),
                  "aria-label": t("player.projected", { n: p.projected }),
                },
                `(${p.projected})`,
              ),
          ),
          race && h("span", { class: "race", style: { "--hue": hue(p) }, "aria-hidden": "true" }, h("i")),
        );
      }),
    );
    this.rolls.follow(this.root, scores, this.mode !== mode);
    this.before = scores;
    this.mode = mode;
  }

  // A score in doubt is a button.
  settles(n, score, settle) {
    const label = `${t("player.points", { n: score })}: ${t("player.uncertain")}`;
    return { type: "button", "aria-label": label, data: { key: `settle-${n}` }, on: { click: () => settle(n) } };
  }
}
