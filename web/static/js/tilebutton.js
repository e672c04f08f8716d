// Buttons with drawn tiles to choose from.

import { CLAIMABLE, FIGURES } from "./boxes.js";
import { h, onPress, s } from "./dom.js";
import { badge, meeple } from "./figures.js";
import { percent, t } from "./i18n.js";
import { look, rotatePoint, segmentIndex, where } from "./shapes.js";
import { tilePicture } from "./tileart.js";
import { featureAt, segmentName, segmentSaid, tileName } from "./words.js";

/**
 * @param {import("./app.js").App} app
 * @param {{ tile: string, rot: number }} placed
 * @param {() => void} act
 * @param {{ note?: string, className?: string, key?: string, figure?: any, label?: string, mark?: number }} more
 */
export function tileButton(app, { tile, rot }, act, { note = "", className = "", key, figure, label, mark } = {}) {
  const name = tileName(app.kinds, tile, rot);
  return h(
    "button",
    {
      type: "button",
      class: `tile-button ${className}`,
      "aria-label": [label ?? t("fix.use", { name }), note].filter(Boolean).join(", "),
      title: name,
      data: { key: key ?? `${tile}/${rot}`, tile, rot },
      on: { click: act },
    },
    tilePicture(tile, rot, null, figure && figureOn(app, tile, rot, figure)),
    !!mark && markNumber(mark),
    note && h("span", { class: "tile-note" }, note),
  );
}

// The number of a square that is marked on the board.
export const markNumber = (n) => h("span", { class: "mark-number", "aria-hidden": "true" }, n);

// A figure standing on its segment, in the drawing coordinates of the turned tile.
/** @param {import("./app.js").App} app @param {string} tile @param {number} rot @param {Record<string, any>} standing */
export function figureOn(app, tile, rot, { player, figure, feature, where: place }) {
  const kind = app.kinds[tile],
    n = segmentIndex(kind, rot, feature, place);
  const printed = Object.values(app.kinds).some((one) => one.segments.some((g) => g.kind === feature));
  if (n < 0 && printed) return null;
  const [x, y] = n < 0 ? [50, 50] : rotatePoint(...kind.segments[n].spot, rot); // on something that was put there
  return s(
    "g",
    { transform: `translate(${x - 17} ${y - 17}) scale(1.06)`, class: "figure" },
    meeple(app.view.players[player], app.letters[player], { lying: feature === "field", figure }),
  );
}

export const sureness = (p) => (p > 0 ? percent(Math.min(p, 0.99)) : "");

// Candidates without those that look the same as an earlier one.
export function distinct(app, candidates, ...without) {
  const seen = new Set(without.map((c) => look(c.tile, app.kinds[c.tile], c.rot)));
  return candidates.filter((c) => {
    if (!app.kinds[c.tile]) return false;
    const key = look(c.tile, app.kinds[c.tile], c.rot);
    return !seen.has(key) && seen.add(key);
  });
}

// A large tile with segments to tap: act(kind, where). With its square `at`, segments are marked where somebody stands.
export function segmentPicker(app, tile, rot, figure, act, at = null) {
  const kind = app.kinds[tile];
  const areas = kind.segments.map((g, n) => {
    if (!CLAIMABLE.includes(g.kind) || !g.path) return null;
    const place = where(g, rot),
      band = !!g.width;
    const chosen = figure && figure.feature === g.kind && figure.where === place,
      found = at && featureAt(app.view, at, g.kind, place),
      full = !chosen && !!found?.weights.length;
    const name = found ? segmentSaid(app.view, found, segmentName(g, rot)) : segmentName(g, rot);
    const pick = () => act(g.kind, place);
    return s("path", {
      d: g.path,
      class: `segment${band ? " band" : ""}${chosen ? " chosen" : ""}${full ? " full" : ""}`,
      "stroke-width": band ? Math.max(g.width, 20) : 0,
      tabindex: 0,
      role: "button",
      "aria-label": name,
      "aria-pressed": String(!!chosen),
      data: { key: `segment-${n}`, feature: g.kind, where: place },
      on: { click: pick, keydown: onPress(pick) },
    });
  });
  const picture = tilePicture(tile, rot, null);
  picture.removeAttribute("aria-hidden");
  picture.setAttribute("role", "group");
  picture.setAttribute("aria-label", t("fix.tap"));
  picture.append(s("g", { transform: `rotate(${rot * 90} 50 50)` }, areas));
  if (figure) picture.append(s("g", { class: "no-touch" }, figureOn(app, tile, rot, figure) ?? ""));
  return picture;
}

// Which player: one button each.
export function playerChoice(app, chosen, act, label = t("fix.whose"), key = "player") {
  return h(
    "div",
    { class: "player-choice", role: "group", "aria-label": label },
    app.view.players.map((p, n) =>
      h(
        "button",
        {
          type: "button",
          class: "player-button",
          "aria-pressed": String(n === chosen),
          "aria-label": t("fix.of", { name: p.name }),
          title: p.name,
          data: { key: `${key}-${n}` },
          on: { click: () => act(n) },
        },
        badge(p, app.letters[n]),
      ),
    ),
  );
}

// Which figure, if the boxes in play have more than one kind; otherwise nothing.
export function figureChoice(app, player, chosen, act) {
  const supply = app.view.players[player].supply;
  const kinds = Object.keys(FIGURES).filter((name) => name in supply);
  if (kinds.length < 2) return null;
  return h(
    "div",
    { class: "player-choice", role: "group", "aria-label": t("fix.kind") },
    kinds.map((figure) =>
      h(
        "button",
        {
          type: "button",
          class: "player-button",
          "aria-pressed": String(figure === chosen),
          "aria-label": t(`figure.${figure}`),
          title: t(`figure.${figure}`),
          data: { key: `kind-${figure}` },
          on: { click: () => act(figure) },
        },
        badge(app.view.players[player], "", { figure }),
      ),
    ),
  );
}
