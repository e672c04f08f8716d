// Highlights features on the board: their visible area, computed the way tiles are painted.

import { AROUND } from "./boxes.js";
import { s } from "./dom.js";
import { hue, patternFill } from "./figures.js";
import { rotatePoint, segmentIndex, wall } from "./shapes.js";

const APART = 23; // distance of a number from a pennant
let counter = 0;
const fresh = (name) => {
  counter += 1;
  return `${name}-${counter}`;
};

function shape(segment, fill, grow = 0) {
  if (!segment.path) return null;
  const band = !!segment.width;
  return s(
    "path",
    band
      ? {
          d: segment.path,
          fill: "none",
          stroke: fill,
          "stroke-width": segment.width + grow,
          "stroke-linecap": "butt",
          "stroke-linejoin": "round",
        }
      : { d: segment.path, fill, stroke: grow ? fill : "none", "stroke-width": grow },
  );
}

// For every tile, the segments that are meant.
function grouped(board, places, kind) {
  const tiles = new Map();
  for (const [x, y, place] of places) {
    const placed = board.tiles.get(`${x},${y}`);
    const tile = placed && board.kinds[placed.tile];
    if (!tile) continue;
    const found = place === "*" ? -2 : segmentIndex(tile, placed.rot, kind, place);
    if (found === -1) continue;
    const key = `${x},${y}`;
    if (!tiles.has(key)) tiles.set(key, { x, y, tile, rot: placed.rot, segments: new Set() });
    if (found >= 0) tiles.get(key).segments.add(found);
    else tiles.get(key).whole = true;
  }
  return [...tiles.values()];
}

const on = ({ x, y, rot }, ...children) =>
  s(
    "g",
    { transform: `translate(${x * 100} ${y * 100})` },
    s("g", { transform: `rotate(${rot * 90} 50 50)` }, children),
  );

// The visible part of some segments is in `shown`, everything that hides them in `hidden`.
function area(group, shown, hidden, grow = 0) {
  if (group.whole) return on(group, s("rect", { width: 100, height: 100, fill: shown }));
  const first = Math.min(...group.segments);
  return on(
    group,
    group.tile.segments
      .slice(first)
      .map(
        (g, n) =>
          g.path && shape(g, group.segments.has(first + n) ? shown : hidden, group.segments.has(first + n) ? grow : 0),
      ),
  );
}

function bounds(board) {
  const xs = [...board.tiles.values()].map((p) => p.at[0]),
    ys = [...board.tiles.values()].map((p) => p.at[1]);
  const x = Math.min(...xs) - 20,
    y = Math.min(...ys) - 20;
  return { x: x * 100, y: y * 100, width: (Math.max(...xs) + 21 - x) * 100, height: (Math.max(...ys) + 21 - y) * 100 };
}

// A dark veil over everything but the feature (and the cities that a farm is paid for).
export function veil(board, places, kind, cities = []) {
  const id = fresh("veil"),
    box = bounds(board);
  return [
    s(
      "mask",
      { id, maskUnits: "userSpaceOnUse", ...box },
      s("rect", { ...box, fill: "#fff" }),
      grouped(board, places, kind).map((g) => area(g, "#000", "#fff", kind === "road" ? 7 : 0)),
      cities.flatMap((c) => grouped(board, c, "city").map((g) => area(g, "#555", "#fff"))),
    ),
    s("rect", { ...box, class: "veil", mask: `url(#${id})` }),
  ];
}

// Light over the feature itself.
export function glow(board, places, kind) {
  const id = fresh("glow"),
    box = bounds(board);
  return [
    s(
      "mask",
      { id, maskUnits: "userSpaceOnUse", ...box },
      grouped(board, places, kind).map((g) => area(g, "#fff", "#000", kind === "road" ? 7 : 0)),
    ),
    s("rect", { ...box, class: "light", mask: `url(#${id})` }),
  ];
}

// The feature's outline: along its walls for an area, along both sides of a road.
export function outline(board, places, kind, look = "") {
  return s(
    "g",
    { class: `outline ${look}` },
    grouped(board, places, kind).map((group) => {
      if (group.whole) return on(group, s("rect", { x: 1, y: 1, width: 98, height: 98, rx: 5, class: "rim" }));
      return on(
        group,
        [...group.segments].map((n) => {
          const g = group.tile.segments[n];
          if (!g.path) return null;
          if (g.width) {
            return s("path", { d: g.path, class: "glow", "stroke-width": 3.4 });
          }
          return g.kind === "field" ? null : s("path", { d: wall(g.path) || g.path, class: "rim" });
        }),
      );
    }),
  );
}

// Everything that counts gets a number: the tiles of a road, a city or around a cloister; the cities of a farm.
export function numbers(board, event, standing) {
  const kind = event.feature === "field" ? "city" : event.feature;
  if (AROUND.includes(event.feature))
    return around(board, event.places).map(([x, y], n) => flag(x * 100 + 50, y * 100 + 84, n + 1));
  /** @type {any[]} */
  const flags = event.feature === "field" ? (event.cities ?? []).map((c) => c[Math.floor(c.length / 2)]) : event.places;
  const crowded = new Set(standing.map((f) => f.at.join(",")));
  const seen = new Set();
  const out = [];
  for (const [x, y, place] of flags) {
    const placed = board.tiles.get(`${x},${y}`),
      tile = placed && board.kinds[placed.tile];
    const n = tile ? segmentIndex(tile, placed.rot, kind, place) : -1;
    if (n < 0 || (kind === event.feature && seen.has(`${x},${y}`))) continue;
    seen.add(`${x},${y}`);
    const taken = crowded.has(`${x},${y}`),
      marked = tile.segments[n].pennants && tile.segments[n].marks?.[0];
    const [sx, sy] = rotatePoint(...clear(tile.segments[n], taken ? 20 : 0), placed.rot);
    const aside = taken && !marked ? 21 : 0;
    const at = [sx + (sx > 70 ? -aside : aside), sy + (sy > 75 ? -aside : aside)];
    out.push(flag(x * 100 + at[0], y * 100 + at[1], out.length + 1));
  }
  return out;
}

// A number in a circle, in drawing units.
export const flag = (x, y, n) =>
  s(
    "g",
    { transform: `translate(${x} ${y})`, class: "number" },
    s("circle", { r: 11 }),
    s("text", { y: 5 }, String(n)),
  );

const tick = (x, y) =>
  s(
    "g",
    { transform: `translate(${x} ${y})`, class: "tick" },
    s("circle", { r: 8.5 }),
    s("path", { d: "M-4 .4L-1 3.4L4.4 -3" }),
  );

// A tick on every pennant that was counted, and on every finished city that a farm is paid for.
export function ticks(board, event) {
  const out = [];
  if (event.feature === "city" && event.items.some((i) => i.what === "pennant" && i.each)) {
    for (const g of grouped(board, event.places, "city")) {
      for (const n of g.segments) {
        const segment = g.tile.segments[n];
        for (let k = 0; k < (segment.pennants || 0); k += 1) {
          // beside the pennant, away from the number in the segment's middle
          const [sx, sy] = segment.spot,
            [mx, my] = segment.marks?.[k] ?? segment.spot,
            far = Math.hypot(mx - sx, my - sy) || 1;
          const [x, y] = rotatePoint(mx + ((mx - sx) / far) * 8, my + ((my - sy) / far) * 8 || my, g.rot);
          out.push(tick(g.x * 100 + Math.min(92, Math.max(8, x)), g.y * 100 + Math.min(92, Math.max(8, y))));
        }
      }
    }
  }
  return out;
}

// Every finished city that some farm is paid for gets one tick, in its middle.
export function cityTicks(board, cities) {
  const seen = new Set();
  return cities.map((places) => {
    const key = JSON.stringify(places);
    if (seen.has(key)) return null;
    seen.add(key);
    const [g] = grouped(board, [places[Math.floor(places.length / 2)]], "city");
    if (!g) return null;
    const [x, y] = rotatePoint(...g.tile.segments[[...g.segments][0]].spot, g.rot);
    return s("g", { transform: `translate(${g.x * 100 + x} ${g.y * 100 + y}) scale(1.7)` }, tick(0, 0));
  });
}

// Letters of any script, isolated so that the numbers stay in place.
const owners = (board, feature) => feature.owners.map((n) => `\u2068${board.letters[n]}\u2069`).join("+");
const lettersIn = (text) => text.replace(/[\u2068\u2069]/g, "").length;

// A claimed unfinished road, city or cloister: outlined in the owners' colour, with its value now and when finished.
export function openFeature(board, feature) {
  const groups = grouped(board, feature.places, feature.kind),
    owner = board.game.players[feature.owners[0]];
  if (!groups.length || !owner) return null;
  const rims = groups.map((group) =>
    on(
      group,
      [...group.segments].map((n) => {
        const g = group.tile.segments[n];
        if (!g.path) return null;
        const d = g.width || g.kind === "cloister" ? g.path : wall(g.path) || g.path;
        return [s("path", { d, class: "open-edge" }), s("path", { d, class: "open-rim", stroke: hue(owner) })];
      }),
    ),
  );
  const crowded = new Set(board.game.board.figures.map((f) => f.at.join(",")));
  const at = groups.find((g) => !crowded.has(`${g.x},${g.y}`)) ?? groups[0];
  const [x, y] = rotatePoint(...at.tile.segments[[...at.segments][0]].spot, at.rot);
  const below = crowded.has(`${at.x},${at.y}`) ? 33 : 18; // under the figure that stands there
  const text = `${owners(board, feature)} ${feature.points_now}→${feature.points_complete}`,
    half = 9 + lettersIn(text) * 5.2;
  return s(
    "g",
    { class: "open-feature" },
    rims,
    s(
      "g",
      { transform: `translate(${at.x * 100 + x} ${at.y * 100 + y + below})`, class: "farm-badge" },
      s("rect", { x: -half, y: -13, width: 2 * half, height: 26, rx: 13 }),
      s("text", { y: 6 }, text),
    ),
  );
}

// A segment's middle, moved aside if a pennant is printed there.
function clear(segment, more) {
  const [x, y] = segment.spot,
    mark = segment.pennants ? segment.marks?.[0] : null;
  if (!mark) return segment.spot;
  const far = Math.hypot(x - mark[0], y - mark[1]);
  if (far >= APART + more) return segment.spot;
  const [dx, dy] = far ? [(x - mark[0]) / far, (y - mark[1]) / far] : [Math.SQRT1_2, Math.SQRT1_2];
  return [mark[0] + dx * (APART + more), mark[1] + dy * (APART + more)];
}

// The squares that a score counts; for a cloister including those around it.
export function counted(board, event, places = event.places) {
  return AROUND.includes(event.feature) && places.length ? around(board, places) : places;
}

/**
 * The tiles that a cloister counts: its own and those around it, in reading order.
 * @returns {[number, number, string][]}
 */
export function around(board, [[cx, cy]]) {
  /** @type {[number, number, string][]} */
  const squares = [];
  for (let y = cy - 1; y <= cy + 1; y += 1) {
    for (let x = cx - 1; x <= cx + 1; x += 1) if (board.tiles.has(`${x},${y}`)) squares.push([x, y, "*"]);
  }
  return squares;
}

// A farm in its owner's colour and pattern, with a badge at the cities it counts.
export function overlay(board, places, farm) {
  const owners = farm.owners.map((n) => board.game.players[n]);
  const id = fresh("area"),
    box = bounds(board),
    groups = grouped(board, places, "field");
  return s(
    "g",
    { class: "farm" },
    s(
      "mask",
      { id, maskUnits: "userSpaceOnUse", ...box },
      groups.map((g) => area(g, "#fff", "#000")),
    ),
    s(
      "g",
      { mask: `url(#${id})` },
      groups.map((g) =>
        s(
          "g",
          { transform: `translate(${g.x * 100} ${g.y * 100})` },
          owners.map((p, n) => {
            const band = { x: 0, y: (100 / owners.length) * n, width: 100, height: 100 / owners.length };
            return [
              s("rect", { ...band, fill: hue(p), opacity: 0.62 }),
              s(
                "g",
                { transform: "scale(2.5)" },
                s("rect", { x: 0, y: band.y / 2.5, width: 40, height: band.height / 2.5, fill: patternFill(p) }),
              ),
            ];
          }),
        ),
      ),
    ),
  );
}

// What a farm is worth, shown on its roomiest tile without a figure.
export function farmBadge(board, farm) {
  const crowded = new Set(board.game.board.figures.map((f) => f.at.join(",")));
  const [best] = grouped(board, farm.places, "field")
    .map((g) => {
      const n = [...g.segments].sort((a, b) => g.tile.segments[b].atoms.length - g.tile.segments[a].atoms.length)[0];
      return {
        g,
        spot: rotatePoint(...g.tile.segments[n].spot, g.rot),
        room: g.tile.segments[n].atoms.length - (crowded.has(`${g.x},${g.y}`) ? 9 : 0),
      };
    })
    .sort((a, b) => b.room - a.room);
  if (!best) return null;
  const text = `${owners(board, farm)} +${farm.points_now}`,
    half = 10 + lettersIn(text) * 5.6;
  return s(
    "g",
    { transform: `translate(${best.g.x * 100 + best.spot[0]} ${best.g.y * 100 + best.spot[1]})`, class: "farm-badge" },
    s("rect", { x: -half, y: -15, width: 2 * half, height: 30, rx: 15 }),
    s("text", { y: 7 }, text),
  );
}
