// Players and their figures: the true colour, plus a letter and a pattern that identify them without colour.

import { FIGURES } from "./boxes.js";
import { h, s } from "./dom.js";
import { t } from "./i18n.js";

const COLOURS = {
  red: "#cf2a27",
  blue: "#1f63c8",
  green: "#23893c",
  yellow: "#f4c20d",
  black: "#26282d",
  pink: "#ee7fb2",
  white: "#f4f0e6",
  grey: "#8b9099",
  gray: "#8b9099",
  orange: "#ee7d22",
  purple: "#7d44a8",
  brown: "#7b4b2a",
  natural: "#dcb888",
};
const BODY =
  "M16 2.2c3 0 5 2.2 5 4.9 0 1.5-.6 2.8-1.5 3.7 3.6.9 7.9 2.6 10 4.5 1.6 1.5.9 4-1.3 4.3-1.9.3-3.9.2-5.8.1" +
  " 1 2.6 3.4 5.9 4.9 8.3.9 1.4.1 3-1.5 3h-6.6c-.9 0-1.4-.5-1.7-1.2L16 26.3l-1.5 3.5c-.3.7-.8 1.2-1.7 1.2" +
  "H6.2c-1.6 0-2.4-1.6-1.5-3 1.5-2.4 3.9-5.7 4.9-8.3-1.9.1-3.9.2-5.8-.1-2.2-.3-2.9-2.8-1.3-4.3" +
  " 2.1-1.9 6.4-3.6 10-4.5-.9-.9-1.5-2.2-1.5-3.7 0-2.7 2-4.9 5-4.9z";
const PATTERNS = ["plain", "stripes", "dots", "bars", "checks", "pales"];

export const hue = (player) =>
  COLOURS[player.colour] ?? (/^#[0-9a-f]{6}$/i.test(player.colour) ? player.colour : "#8b9099");

function luminance(hex) {
  const [r, g, b] = [1, 3, 5].map((n) => {
    const c = parseInt(hex.slice(n, n + 2), 16) / 255;
    return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

const DARK = "#17130e",
  LIGHT = "#ffffff";

export const ink = (player) => (luminance(hue(player)) > 0.2 ? DARK : LIGHT);

// The fill of something that belongs to a player, besides the colour.
export function patternFill(player) {
  const look = pattern(player);
  return look === "plain" ? "none" : `url(#pattern-${look}-${ink(player) === DARK ? "dark" : "light"})`;
}

// One letter for each player: the name's first if no other name begins with it, otherwise the first that differs.
export function letters(players) {
  const taken = new Set();
  return players.map((p) => {
    const options = [...p.name.normalize("NFC").toUpperCase()].filter((c) => /[\p{L}\p{N}]/u.test(c));
    const letter = options.find((c) => !taken.has(c)) ?? String(p.index + 1);
    taken.add(letter);
    return letter;
  });
}

export const pattern = (player) => PATTERNS[player.index % PATTERNS.length];

export function patternDefinitions() {
  const rect = (x, y, width, height) => s("rect", { x, y, width, height });
  /** @type {any[]} */
  const looks = [
    ["stripes", 5, 45, () => [rect(0, 0, 2, 5)]],
    ["dots", 5, 45, () => [s("circle", { cx: 2.5, cy: 2.5, r: 1.3 })]],
    ["bars", 5, 0, () => [rect(0, 0, 5, 2)]],
    ["pales", 5, 0, () => [rect(0, 0, 2, 5)]],
    ["checks", 6, 0, () => [rect(0, 0, 3, 3), rect(3, 3, 3, 3)]],
  ];
  /** @type {any[]} */
  const inks = [
    ["dark", DARK, 0.5],
    ["light", LIGHT, 0.55],
  ];
  const own = Object.entries(FIGURES).flatMap(([name, { path }]) => (path ? [[name, path]] : []));
  const bodies = [["meeple", BODY], ...own];
  return [
    bodies.map(([id, d]) => s("path", { id, d })),
    inks.map(([name, fill, opacity]) =>
      looks.map(([id, size, angle, marks]) =>
        s(
          "pattern",
          {
            id: `pattern-${id}-${name}`,
            width: size,
            height: size,
            patternUnits: "userSpaceOnUse",
            patternTransform: `rotate(${angle})`,
          },
          s("g", { fill, opacity }, marks()),
        ),
      ),
    ),
  ].flat(3);
}

// The outline for a kind of figure; one without an outline of its own is drawn as a follower.
const shape = (figure) => (FIGURES[figure]?.path ? `#${figure}` : "#meeple");

// The figure in a 32 x 32 box.
export function meeple(player, letter, { lying = false, figure = "follower" } = {}) {
  const href = shape(figure),
    { upright = false, scale = 1 } = FIGURES[figure] ?? {},
    down = lying && !upright,
    large = scale === 1 ? "" : ` scale(${scale}) translate(${16 / scale - 16} ${16 / scale - 16})`;
  const body = [
    s("use", { href, fill: hue(player), class: "meeple-body" }),
    s("use", { href, fill: patternFill(player), class: "meeple-pattern" }),
  ];
  return s(
    "g",
    { class: down ? "meeple lying" : "meeple" },
    s("g", { transform: `${down ? "rotate(-90 16 16)" : ""}${large}` || undefined }, body),
    s(
      "text",
      { x: down ? 17.5 : 16, y: down ? 20.6 : 23, class: "meeple-letter", fill: ink(player), stroke: hue(player) },
      letter,
    ),
  );
}

/** @param {any} player @param {string} letter @param {{ size?: string, lying?: boolean, figure?: string }} look */
export function badge(player, letter, { size = "", lying = false, figure } = {}) {
  return s(
    "svg",
    {
      viewBox: "-1.5 -1 35 34",
      class: `badge-figure ${size}`,
      role: "img",
      "aria-label": t(`colour.${player.colour}`, { fallback: player.colour }),
    },
    meeple(player, letter, { lying, figure }),
  );
}

// Figures in hand: one pip each, and the number for those who do not count pips; then the pieces of other boxes.
export function pips(player) {
  const count = player.supply.follower ?? 0;
  const one = (href, there, more = {}) =>
    s(
      "svg",
      { viewBox: "0 0 32 32", class: there ? "pip" : "pip out", ...more },
      s("use", { href, fill: there ? hue(player) : undefined }),
    );
  const others = Object.keys(FIGURES)
    .filter((name) => name !== "follower" && name in player.supply)
    .map((name) => {
      const there = player.supply[name] > 0;
      return one(shape(name), there, {
        class: `pip ${name}${there ? "" : " out"}`,
        role: "img",
        "aria-label": t(there ? "piece.in" : "piece.out", { piece: t(`figure.${name}`) }),
      });
    });
  return [
    h(
      "span",
      { class: "pips", role: "img", "aria-label": t("player.hand", { n: count }) },
      Array.from({ length: Math.max(7, count) }, (_, n) => one("#meeple", n < count, { "aria-hidden": "true" })),
    ),
    others.length > 0 && h("span", { class: "pips" }, others),
  ];
}
