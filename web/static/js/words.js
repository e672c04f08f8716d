// Composed names: tiles by what is on them, figures, moves, differences of scores.

import { FIELDS } from "./boxes.js";
import { has, language, listed, number, signed, t } from "./i18n.js";
import { EDGES, STEP, where } from "./shapes.js";

const SHOWN = ["city", "road", "cloister"];

const sides = (segment, rot) =>
  where(segment, rot)
    .split(" ")
    .filter((a) => a.length === 1 && a !== "I")
    .map((a) => t(`side.${a}`))
    .join("–");

// Kinds of features that a box brings.
const others = (kind) =>
  [...new Set(kind.segments.map((g) => g.kind))].filter((name) => name !== "field" && !SHOWN.includes(name));

// "city north–west, pennant, road east–south": what is where on a rotated tile.
export function tileName(kinds, id, rot = 0) {
  const kind = kinds[id];
  if (!kind) return id ?? "";
  if (kind.board) return t(`tile.${kind.product}`);
  const parts = [];
  for (const feature of [...SHOWN, ...others(kind)]) {
    for (const g of kind.segments.filter((one) => one.kind === feature)) {
      parts.push(t("tile.part", { feature: t(`feature.${feature}`), sides: sides(g, rot) }).trim());
      if (g.pennants) parts.push(t("sign.pennant"));
      for (const sign of g.signs ?? []) parts.push(t(`sign.${sign}`, { fallback: sign }));
    }
  }
  for (const flag of kind.flags) parts.push(t(`sign.${flag}`, { fallback: flag }));
  return parts.join(", ") || t("tile.plain");
}

const BESIDE = { NL: "W", NR: "E", EL: "N", ER: "S", SL: "E", SR: "W", WL: "S", WR: "N" }; // the side that a half-edge is next to

// Fields reach half-edges: whole sides first, then corners, then single halves. No two on a tile have the same name.
function fieldSides(segment, rot) {
  const halves = where(segment, rot)
      .split(" ")
      .filter((a) => a.length === 2),
    has = new Set(halves);
  const whole = EDGES.filter((side) => has.has(`${side}L`) && has.has(`${side}R`)),
    rest = halves.filter((half) => !whole.includes(half[0]) && !whole.includes(BESIDE[half])); // what continues around the corner of a whole side is covered by it
  const corner = (half) =>
    ["NE", "SE", "SW", "NW"].find((name) => name.includes(half[0]) && name.includes(BESIDE[half]));
  const corners = rest.map(corner),
    both = (half) => corners.filter((name) => name === corner(half)).length > 1;
  return [
    ...whole.map((side) => t(`side.${side}`)),
    ...new Set(
      rest.map((half) =>
        both(half)
          ? t(`side.${corner(half)}`)
          : t("side.half", { side: t(`side.${half[0]}`), beside: t(`side.${BESIDE[half]}`) }),
      ),
    ),
  ].join("–");
}

export const segmentName = (segment, rot) =>
  `${t(`feature.${segment.kind}`)} ${(segment.kind === "field" ? fieldSides : sides)(segment, rot) || t("side.middle")}`;

// The feature that a segment of a placed tile belongs to.
export const featureAt = (view, [x, y], kind, place) =>
  view.features.find((f) => f.kind === kind && f.places.some(([a, b, w]) => a === x && b === y && w === place));

// "city north (Anna), 2 points now, 6 when finished": whose the feature is and what it is worth.
export function segmentSaid(view, feature, name) {
  const whose = feature.weights.length
    ? t("add.taken", { place: name, names: listed(feature.weights.map(([n]) => view.players[n].name)) })
    : name;
  const { points_now: now, points_complete: then } = feature;
  return t(now === then ? "add.worth" : "add.worth.then", { place: whose, n: now, then });
}

const FIRST = ["cloister", "city", "road"]; // a tile is named after the first of these

// "gap north of the monastery and east of the road, 7 kinds fit"
export function gapName(board, [x, y]) {
  const beside = EDGES.map((side, n) => {
    const other = board.tiles.get(`${x + STEP[side][0]},${y + STEP[side][1]}`),
      kind = other && board.kinds[other.tile];
    const main =
      kind && [...FIRST, ...others(kind), "field"].find((feature) => kind.segments.some((g) => g.kind === feature));
    return main && t(`gap.${EDGES[(n + 2) % 4]}`, { of: t(`gap.of.${main}`) });
  }).filter(Boolean);
  return t("board.gap", {
    beside: listed(beside),
    fit: t("gap.kinds", { n: board.fitting([x, y]) }),
    place: placeName([x, y]),
  });
}

export const placeName = ([x, y]) => t("board.place", { x, y });

// "Anna: large follower, knight"; one that stands nowhere has no role
/** @param {import("./views").PlayerView[]} players @param {Record<string, any>} move */
export const figureName = (players, { player, owner, figure, feature }) =>
  t(feature ? "answer.figure" : "answer.held", {
    name: players[owner ?? player].name,
    figure: t(`figure.${figure}`),
    role: feature && t(`role.${feature}`),
  });

// An answer or a move as words for a phrase: people by name, figures and goods by theirs, `n` its number.
// `from` is the square where a walk begins.
export function said(players, move, from = null) {
  /** @type {Record<string, any>} */
  const words = {};
  const take = (fields) => {
    for (const [k, v] of Object.entries(fields)) {
      if (FIELDS[k] === "player") words[k] = players[v]?.name;
      else if (FIELDS[k] === "small") words.n = v;
      else if (Array.isArray(v) && v[0]?.figure)
        words.names = v.map((r) => `${players[r.owner].name}: ${t(`figure.${r.figure}`)}`).join(" – ");
      else if (FIELDS[k] === "path" && from) {
        const [dx, dy] = [v[0][0] - from[0], v[0][1] - from[1]];
        words.side = t(`side.${EDGES.find((side) => STEP[side][0] === dx && STEP[side][1] === dy)}`);
      } else if (typeof v === "string") words[k] = t(`${k}.${v}`, { fallback: v });
      else if (v && typeof v === "object" && !Array.isArray(v)) take(v);
    }
  };
  take(move);
  words.name = words.player;
  return words;
}

// A line of the history, or an answer to a question about what was played.
export function moveName(app, move) {
  const kind = move.kind ?? move.do;
  if (kind === "tile") return tileName(app.kinds, move.tile, move.rot);
  const n = Object.entries(move).find(([k]) => FIELDS[k] === "small")?.[1];
  /** @type {Record<string, any>} */
  const values = { ...said(app.view.players, move), n, tile: tileName(app.kinds, move.tile) };
  if (kind === "deploy") {
    values.role = move.figure === "follower" ? t(`role.${move.feature}`) : t(`figure.${move.figure}`);
    values.feature = t(`feature.${move.feature}`);
  }
  return t(`move.${kind}`, { ...values, fallback: kind });
}

// "Anna +3, Ben −2"; the effect of a correction.
export function difference(players, scores) {
  if (!scores.length) return t("fix.same");
  return listed(scores.map((s) => t("fix.diff", { name: players[s.player].name, diff: signed(s.after - s.before) })));
}

// What the table could not do, from the error of a response. The server's sentence is in English and says more, so English shows it.
export function errorText(error) {
  const key = `error.${error?.code}`;
  if (has(key)) return t(key);
  return language === "en" && error?.text ? error.text : t("error.other", { code: error?.code ?? "?" });
}

// A refusal or finding as a sentence of its own: with a capital letter and a full stop.
export const sentence = (text) =>
  text.replace(/^\p{Ll}/u, (c) => c.toLocaleUpperCase(language)).replace(/([^.?!…])$/u, "$1.");

// "20 mm to the left and 1.5 degrees clockwise": how far the table has to be moved back.
function ways({ x_mm: x, y_mm: y, turn_deg: turn }) {
  const way = (n, least, more, less, round = Math.round) =>
    Math.abs(n) >= least && t(n > 0 ? more : less, { n: number(round(Math.abs(n))) });
  return listed(
    [
      way(x, 1, "way.right", "way.left"),
      way(y, 1, "way.down", "way.up"),
      way(turn, 0.3, "way.clockwise", "way.anticlockwise", (n) => Math.round(10 * n) / 10),
    ].filter(Boolean),
  );
}

// The message beside the camera's chip.
export function statusText({ code, parts, text }) {
  if (code === "drift.put_back") {
    const told = ways(parts);
    return told ? t("status.drift.put_back", { ways: told }) : t("status.drift.back");
  }
  return t(`status.${code}`, { ...parts, fallback: language === "en" ? text : t("status.other") });
}
