// The players in seat order; rows never change places.

import { h, replace, s } from "./dom.js";
import { badge, pips } from "./figures.js";
import { signed, t } from "./i18n.js";

const crown = () => s("svg", { viewBox: "0 0 24 18", class: "crown", role: "img", "aria-label": t("player.leads") },
  s("path", { d: "M2 15.5L1 4l6 4.5L12 1l5 7.5L23 4l-1 11.5z" }));
const pointer = () => s("svg", { viewBox: "0 0 12 16", class: "pointer", "aria-hidden": "true" }, s("path", { d: "M1 1l10 7L1 15z" }));

export class Players {
  constructor(root) {
    this.root = root;
    this.before = [];
  }

  // `shown` replaces the scores during the walk through the final scoring; a change is told only within one `mode`
  show(view, letters, shown = null, mode = "") {
    const scores = shown ?? view.players.map((p) => p.score);
    const best = Math.max(...scores), some = scores.some((n) => n > 0);
    this.root.style.setProperty("--players", view.players.length);
    replace(this.root, view.players.map((p, n) => {
      const active = p.active && view.phase === "playing";
      const score = scores[n], change = this.mode !== mode || this.before[n] === undefined ? 0 : score - this.before[n];
      return h("li", { class: `player${active ? " active" : ""}`, data: { player: n } },
        h("span", { class: "who" }, badge(p, letters[n], { size: "large" })),
        h("span", { class: "naming" },
          h("span", { class: "name" }, h("span", { class: "name-text", dir: "auto" }, p.name), some && score === best && crown()),
          h("span", { class: "below" }, pips(p), active && h("span", { class: "to-play" }, pointer(), t("player.turn")))),
        h("span", { class: "points" },
          change !== 0 && h("span", { class: "change", "aria-hidden": "true" }, signed(change)),
          h("span", { class: `score${change ? " changed" : ""}`, "aria-label": t("player.points", { n: score }) },
            p.uncertain && h("span", { class: "about", title: t("player.uncertain") }, "~"), String(score)),
          !shown && view.phase === "playing" && h("span", { class: "projected", title: t("player.projected", { n: p.projected }),
            "aria-label": t("player.projected", { n: p.projected }) }, `(${p.projected})`)));
    }));
    this.before = scores;
    this.mode = mode;
  }
}
