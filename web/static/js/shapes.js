// Tile geometry: the same conventions as the catalogue (drawing coordinates 0..100, rot = quarter turns clockwise).

import { SIGNS } from "./boxes.js";

export const EDGES = ["N", "E", "S", "W"];
export const HALVES = ["NL", "NR", "EL", "ER", "SL", "SR", "WL", "WR"];
const ORDER = Object.fromEntries([...EDGES, ...HALVES, "I"].map((a, n) => [a, n]));
export const STEP = { N: [0, -1], E: [1, 0], S: [0, 1], W: [-1, 0] };

// Squares, each once; what is none is left out.
export const different = (squares) => [...new Map(squares.filter(Boolean).map((at) => [at.join(), at])).values()];

export function turn(atom, rot) {
  if (atom === "I") return atom;
  if (atom.length === 1) return EDGES[(EDGES.indexOf(atom) + rot) % 4];
  return HALVES[(HALVES.indexOf(atom) + 2 * rot) % 8];
}

export function where(segment, rot) {
  return (
    segment.atoms
      .map((a) => turn(a, rot))
      .sort((a, b) => ORDER[a] - ORDER[b])
      .join(" ") || "I"
  );
}

export function segmentIndex(tile, rot, kind, place) {
  return tile.segments.findIndex((g) => g.kind === kind && where(g, rot) === place);
}

export function edge(tile, rot, side) {
  return tile.edges[(EDGES.indexOf(side) - rot + 4) % 4];
}

// Whether all touching edges match; `at` maps "x,y" to {tile, rot}.
export function fits(kinds, board, tile, [x, y], rot) {
  let touching = 0;
  for (const side of EDGES) {
    const [dx, dy] = STEP[side];
    const other = board.get(`${x + dx},${y + dy}`);
    if (!other) continue;
    touching += 1;
    const opposite = EDGES[(EDGES.indexOf(side) + 2) % 4];
    if (edge(kinds[other.tile], other.rot, opposite) !== edge(tile, rot, side)) return false;
  }
  return touching > 0;
}

// Two rotated tiles that look the same have the same value.
export const look = (id, tile, rot) => `${id}/${tile.looks[rot]}`;

// The sides on which a tile would touch a different edge.
export function clashes(kinds, board, tile, [x, y], rot) {
  return EDGES.filter((side) => {
    const other = board.get(`${x + STEP[side][0]},${y + STEP[side][1]}`);
    return other && edge(kinds[other.tile], other.rot, EDGES[(EDGES.indexOf(side) + 2) % 4]) !== edge(tile, rot, side);
  });
}

// The edges that the neighbours of an empty place show, by side.
export function shown(kinds, board, [x, y]) {
  const found = {};
  for (const side of EDGES) {
    const other = board.get(`${x + STEP[side][0]},${y + STEP[side][1]}`);
    if (other) found[side] = edge(kinds[other.tile], other.rot, EDGES[(EDGES.indexOf(side) + 2) % 4]);
  }
  return found;
}

// The rotations in which a tile looks different, in the order in which taps cycle through them.
export function ways(id, tile) {
  const seen = new Set();
  return [0, 1, 2, 3].filter((rot) => !seen.has(look(id, tile, rot)) && seen.add(look(id, tile, rot)));
}

// Whether a tile rotated this way has these edges; a side that is not named may have any.
export const has = (tile, rot, edges) => Object.entries(edges).every(([side, name]) => edge(tile, rot, side) === name);

export function parse(path) {
  const commands = [];
  for (const [, letter, numbers] of path.matchAll(/([MLQCZ])([^MLQCZ]*)/g)) {
    const values = (numbers.match(/-?\d+(?:\.\d+)?/g) || []).map(Number);
    const points = [];
    for (let n = 0; n + 1 < values.length; n += 2) points.push([values[n], values[n + 1]]);
    commands.push([letter, points]);
  }
  return commands;
}

export function flatten(path) {
  const lines = [];
  for (const [letter, points] of parse(path)) {
    if (letter === "M") lines.push([points[0]]);
    else if (letter === "Z") lines.at(-1).push(lines.at(-1)[0]);
    else lines.at(-1).push(...curve([lines.at(-1).at(-1), ...points]));
  }
  return lines;
}

function curve(control) {
  if (control.length === 2) return [control[1]];
  const out = [];
  for (let k = 1; k <= 10; k += 1) {
    const f = k / 10;
    let points = control;
    while (points.length > 1) {
      points = points
        .slice(1)
        .map(([x, y], n) => [points[n][0] + f * (x - points[n][0]), points[n][1] + f * (y - points[n][1])]);
    }
    out.push(points[0]);
  }
  return out;
}

export function inside(line, x, y) {
  let odd = false;
  for (let n = 0, m = line.length - 1; n < line.length; m = n, n += 1) {
    const [x1, y1] = line[n],
      [x0, y0] = line[m];
    if (y1 > y !== y0 > y && x < ((x0 - x1) * (y - y1)) / (y0 - y1) + x1) odd = !odd;
  }
  return odd;
}

export function distance(line, x, y) {
  let best = Infinity;
  for (let n = 1; n < line.length; n += 1) {
    const [x0, y0] = line[n - 1],
      [x1, y1] = line[n];
    const dx = x1 - x0,
      dy = y1 - y0,
      length = dx * dx + dy * dy;
    const f = length ? Math.min(1, Math.max(0, ((x - x0) * dx + (y - y0) * dy) / length)) : 0;
    best = Math.min(best, Math.hypot(x - x0 - f * dx, y - y0 - f * dy));
  }
  return best;
}

function outlines(segment) {
  segment.lines ??= flatten(segment.path);
  return segment.lines;
}

export function covers(segment, x, y, margin = 0) {
  const lines = outlines(segment);
  if (segment.width) return lines.some((l) => distance(l, x, y) <= segment.width / 2 + margin);
  return lines.some((l) => inside(l, x, y) || (margin > 0 && distance(l, x, y) <= margin));
}

// How far inside the visible area of a segment a point is; negative outside.
export function depth(tile, index, x, y) {
  const own = tile.segments[index];
  const lines = outlines(own);
  if (!covers(own, x, y)) return -1;
  let room = Math.min(...lines.map((l) => distance(l, x, y)));
  for (const later of tile.segments.slice(index + 1)) {
    if (covers(later, x, y)) return -1;
    const half = (later.width ?? 0) / 2;
    for (const line of outlines(later)) room = Math.min(room, distance(line, x, y) - half);
  }
  return room;
}

const border = ([x0, y0], [x1, y1]) =>
  (x0 === x1 && (x0 === 0 || x0 === 100)) || (y0 === y1 && (y0 === 0 || y0 === 100));

// The parts of an area's outline that do not run along the tile's edge: where its wall is.
export function wall(path) {
  let out = "",
    now = null,
    start = null,
    drawn = false;
  const go = (letter, points) => {
    const end = points.at(-1);
    if (letter === "L" && border(now, end)) drawn = false;
    else {
      if (!drawn) out += `M${now.join(" ")}`;
      out += letter + points.map((p) => p.join(" ")).join(" ");
      drawn = true;
    }
    now = end;
  };
  for (const [letter, points] of parse(path)) {
    if (letter === "M") {
      [now] = points;
      start = now;
      drawn = false;
    } else if (letter === "Z") {
      if (now[0] !== start[0] || now[1] !== start[1]) go("L", [start]);
    } else go(letter, points);
  }
  return out;
}

export function rotatePoint(x, y, rot) {
  for (let n = 0; n < rot % 4; n += 1) [x, y] = [100 - y, x];
  return [x, y];
}

// Where roads meet and nothing else is there, a village is drawn.
export function village(tile) {
  if (tile.flags.some((flag) => SIGNS[flag]?.ground) || tile.segments.some((g) => g.kind === "cloister")) return null;
  const cities = tile.segments.filter((g) => g.kind === "city");
  const inner = tile.segments
    .filter((g) => g.kind === "road" && g.atoms.length === 1 && g.path)
    .map((g) => {
      const line = flatten(g.path)[0];
      const rim = ([x, y]) => Math.min(x, y, 100 - x, 100 - y);
      return rim(line[0]) > rim(line.at(-1)) ? line[0] : line.at(-1);
    })
    .filter(([x, y]) => !cities.some((c) => covers(c, x, y)));
  if (inner.length < 2) return null;
  return [0, 1].map((k) => inner.reduce((sum, p) => sum + p[k], 0) / inner.length);
}
