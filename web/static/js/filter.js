// Filters for the list of tiles: by the edge on a free side, and by what is printed on the tile.

import { h } from "./dom.js";
import { t } from "./i18n.js";
import { EDGES, has } from "./shapes.js";

const MANY = 6; // up to this many are found without a filter
const ARROWS = { N: "↑", E: "→", S: "↓", W: "←" };
const signText = (sign) => t(`sign.${sign === "pennants" ? "pennant" : sign}`, { fallback: t(`feature.${sign}`) });

// What is on a tile besides its edges: "cloister", "pennants", and the signs of its box.
function signs(kind) {
  const own = new Set(kind.flags);
  for (const g of kind.segments) {
    if (g.kind === "cloister") own.add("cloister");
    if (g.pennants) own.add("pennants");
    for (const sign of g.signs ?? []) own.add(sign);
  }
  return own;
}

// The kind of feature that each letter of an edge stands for.
function letters(kinds) {
  const found = { R: "road", C: "city", F: "field" };
  for (const kind of Object.values(kinds))
    for (const g of kind.segments)
      for (const side of g.atoms) if (EDGES.includes(side)) found[kind.edges[EDGES.indexOf(side)]] ??= g.kind;
  return found;
}

export class Filter {
  /** @type {any} */
  kinds;
  /** @type {string[]} */
  free;
  /** @type {() => void} */
  changed;

  // `kinds` of the game; `free` are the sides that can be filtered by; changed() is called when a filter was
  constructor(kinds, free, changed) {
    Object.assign(this, { kinds, free, changed });
    this.edges = {};
    this.wanted = new Set();
    this.letters = letters(kinds);
    this.signs = Object.fromEntries(Object.entries(kinds).map(([id, kind]) => [id, signs(kind)]));
  }

  // The rotations of a kind that pass the filter; `besides` ignores the filter of one side.
  turns(id, turns, besides = "") {
    for (const sign of this.wanted) if (!this.signs[id].has(sign)) return [];
    const edges = besides
      ? Object.fromEntries(Object.entries(this.edges).filter(([side]) => side !== besides))
      : this.edges;
    return turns.filter((rot) => has(this.kinds[id], rot, edges));
  }

  // The row of filters for these kinds, each with its possible rotations.
  row(all) {
    if (all.length <= MANY) return null;
    const chip = (key, text, label, on, act) =>
      h(
        "button",
        {
          type: "button",
          class: "filter-chip",
          "aria-pressed": String(on),
          "aria-label": label,
          title: label,
          data: { key },
          on: { click: act },
        },
        text,
      );
    const sides = this.free.map((side) => {
      const found = new Set(
        all.flatMap(([id, turns]) =>
          this.turns(id, turns, side).map((rot) => this.kinds[id].edges[(EDGES.indexOf(side) - rot + 4) % 4]),
        ),
      );
      const letters = ["", ...Object.keys(this.letters).filter((letter) => found.has(letter))];
      const now = this.edges[side] ?? "",
        next = letters[(letters.indexOf(now) + 1) % letters.length];
      const feature = now ? t(`feature.${this.letters[now]}`) : t("filter.any");
      return chip(
        `filter-${side}`,
        `${ARROWS[side]} ${now ? feature : "…"}`,
        t("filter.edge", { side: t(`side.${side}`), feature }),
        !!now,
        () => {
          if (next) this.edges[side] = next;
          else delete this.edges[side];
          this.changed();
        },
      );
    });
    const shown = all.filter(([id, turns]) => this.turns(id, turns).length),
      counts = new Map();
    for (const [id] of shown) for (const sign of this.signs[id]) counts.set(sign, (counts.get(sign) ?? 0) + 1);
    const useful = [
      ...new Set([...this.wanted, ...[...counts].filter(([, n]) => n < shown.length).map(([sign]) => sign)]),
    ].sort();
    return h(
      "div",
      { class: "filter", role: "group", "aria-label": t("filter.label") },
      sides,
      useful.map((sign) =>
        chip(
          `filter-${sign}`,
          signText(sign),
          t("filter.sign", { sign: signText(sign) }),
          this.wanted.has(sign),
          () => {
            if (!this.wanted.delete(sign)) this.wanted.add(sign);
            this.changed();
          },
        ),
      ),
    );
  }
}
