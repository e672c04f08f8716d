// Draws a kind of tile when it is first needed, from the catalogue's geometry, as a symbol that is reused.

import { LAND, SIGNS } from "./boxes.js";
import { byId, s } from "./dom.js";
import { depth, flatten, village, wall } from "./shapes.js";
import { sign } from "./signs.js";

const SPECIMENS = 3; // drawings of one kind, with different houses and trees

const symbolId = (kind, copy = 0) => `tile-${kind.replaceAll(".", "-")}${copy ? `--${copy}` : ""}`;

// The owner's own tiles, if this device uses them: the number of pictures by kind, and their version tag.
let own = { tag: "", tiles: {} };

/** @type {Record<string, any>} */
let known = {}; // the kinds that can be drawn, by name

// Pseudo-random numbers that are the same each time for one kind, so that its houses and trees stay in place.
function dice(text) {
  let seed = 2166136261;
  for (const c of text) seed = Math.imul(seed ^ c.charCodeAt(0), 16777619);
  return () => {
    seed = (seed + 0x6d2b79f5) | 0;
    let x = Math.imul(seed ^ (seed >>> 15), 1 | seed);
    x = (x + Math.imul(x ^ (x >>> 7), 61 | x)) ^ x;
    return ((x ^ (x >>> 14)) >>> 0) / 4294967296;
  };
}

const path = (d, cls, more = {}) => s("path", { d, class: cls, ...more });
const near = (taken, x, y, apart) => taken.some(([tx, ty, r]) => Math.hypot(x - tx, y - ty) < apart + r);

// Random places well inside a segment's visible area.
function places(tile, index, roll, taken, { room, apart, most, tries }) {
  const found = [];
  for (let n = 0; n < tries && found.length < most; n += 1) {
    const x = 4 + roll() * 92,
      y = 4 + roll() * 92;
    if (near(taken, x, y, apart) || depth(tile, index, x, y) < room) continue;
    taken.push([x, y, apart]);
    found.push([x, y]);
  }
  return found.sort((a, b) => a[1] - b[1]);
}

function house(x, y, size, roof) {
  const w = size,
    e = size * 0.55;
  return s(
    "g",
    { transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` },
    path(`M${-w / 2} 0h${w}v${e}h${-w}z`, "house-front"),
    path(`M${-w / 2 - 0.9} 0.4L${-w / 2 + 1.4} ${-e}h${w - 2.8}L${w / 2 + 0.9} 0.4z`, `house-roof r${roof}`),
    path(`M${-0.8} ${e}v${-e * 0.62}h1.9v${e * 0.62}z`, "house-door"),
  );
}

function tree(x, y, r) {
  return s(
    "g",
    { transform: `translate(${x.toFixed(1)} ${y.toFixed(1)})` },
    s("ellipse", { cx: 0.8, cy: r * 0.75, rx: r, ry: r * 0.45, class: "tree-shade" }),
    s("circle", { r, class: "tree" }),
    s("circle", { cx: -r * 0.28, cy: -r * 0.3, r: r * 0.58, class: "tree-light" }),
  );
}

const tuft = (x, y) => path(`M${x.toFixed(1)} ${y.toFixed(1)}l-1-2.4m1 2.4l.2-3m-.2 3l1.4-2.2`, "tuft");

function shield(x, y) {
  return s(
    "g",
    { transform: `translate(${x} ${y})`, class: "pennant" },
    path("M-6.6-7.4h13.2v6.2c0 5-3 7.8-6.6 9.6c-3.6-1.8-6.6-4.6-6.6-9.6z", "pennant-field"),
    path("M-6.6-1.2l6.6-4.2l6.6 4.2v.2c0 1.5-.3 2.8-.8 4L0-1.5l-5.8 4.3c-.5-1.2-.8-2.5-.8-4z", "pennant-bar"),
  );
}

function abbey(segment) {
  const points = flatten(segment.path)[0];
  const xs = points.map((p) => p[0]),
    ys = points.map((p) => p[1]);
  const [x0, y0, x1, y1] = [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)];
  const k = (x1 - x0) / 35;
  return s(
    "g",
    { transform: `translate(${x0} ${y0}) scale(${k} ${(y1 - y0) / 35})` },
    path("M-1 -1h37v37h-37z", "abbey-court"),
    path("M3 19h29v13h-29z", "abbey-wall"),
    path("M1.5 19.5l4-8.5h24l4 8.5z", "abbey-roof"),
    path("M5.5 11h24l1.2 2.6h-26.4z", "abbey-ridge"),
    path("M12.5 12h10v20h-10z", "abbey-tower"),
    path("M11 12.5L17.5 2l6.5 10.5z", "abbey-roof"),
    path("M17.5 -4.5v7.5M15 -1.8h5", "abbey-cross"),
    path("M15.2 32v-6a2.3 2.3 0 0 1 4.6 0v6z", "house-door"),
    path("M6 22.5h3v4h-3zM26 22.5h3v4h-3zM16 15.5h3v3.5h-3z", "abbey-window"),
  );
}

// How a sign may be drawn, with its corner at 0, 0.
const LIKE = { cloister: () => abbey({ path: "M0 0L35 0L35 35L0 35Z" }) };

// What is printed on a segment besides pennants.
function badges(segment) {
  const marks = segment.marks.slice(segment.pennants || 0);
  return (segment.signs ?? []).map((kind, n) => {
    const { like, at = [], scale } = SIGNS[kind] ?? {};
    if (like) return s("g", { transform: `translate(${at.join(" ")}) scale(${scale})` }, LIKE[like]());
    return marks[n] && sign(kind, marks[n]);
  });
}

function bands(tile, from, to) {
  const out = [];
  const group = tile.segments.slice(from, to).filter((g) => g.path);
  const look = (g, part, more = {}) => {
    const stroke = LAND[g.kind]?.[part || "fill"]; // a box's own
    return path(g.path, stroke ? `band ${part}` : `${g.kind}${part && `-${part}`}`, { ...more, stroke });
  };
  for (const g of group) out.push(look(g, "rim", { "stroke-width": g.width + (g.kind === "road" ? 3 : 4) }));
  for (const g of group) out.push(look(g, "", { "stroke-width": g.width }));
  for (const g of group) out.push(look(g, "line"));
  return out;
}

// A square of a start board: stone in the middle, stubs of roads and cities at its rim.
function boardSquare(id, tile) {
  const stubs = tile.segments
    .filter((g) => g.kind !== "field")
    .flatMap((g) =>
      g.atoms.map((side) => {
        const quarter = { N: 0, E: 90, S: 180, W: 270 }[side];
        return s(
          "g",
          { transform: `rotate(${quarter} 50 50)` },
          g.kind === "road"
            ? [path("M50 0V26", "road-rim", { "stroke-width": 15 }), path("M50 0V25", "road", { "stroke-width": 12 })]
            : path("M4 0Q50 40 96 0Z", "stub-city"),
        );
      }),
    );
  return s(
    "g",
    { id: symbolId(id) },
    s("rect", { width: 100, height: 100, class: tile.segments.length ? "ground" : "stone" }),
    stubs,
  );
}

const rim = () => s("rect", { x: 0.6, y: 0.6, width: 98.8, height: 98.8, rx: 4, class: "tile-rim" });

// A tile with the picture of the owner's own.
const pictured = (id, copy) =>
  s(
    "g",
    { id: symbolId(id, copy) },
    s(
      "g",
      { "clip-path": "url(#tile-clip)" },
      s("image", {
        href: `/own-tiles/${own.tag}/${id}-${copy}.jpg`,
        x: -1,
        y: -1,
        width: 102,
        height: 102,
        preserveAspectRatio: "none",
      }),
    ),
    rim(),
  );

const specimens = (id) => own.tiles[id] ?? SPECIMENS;

function drawTile(id, tile, copy = 0) {
  if (own.tiles[id]) return pictured(id, copy);
  if (!tile.segments.some((g) => g.path)) return boardSquare(id, tile);
  const roll = dice(copy ? `${id}/${copy}` : id);
  const out = [s("rect", { width: 100, height: 100, class: "ground" })];
  const signs = [],
    taken = [];
  for (const g of tile.segments) {
    g.marks ??= [];
    const room = Math.max(10, ...(g.signs ?? []).map((sign) => SIGNS[sign]?.room ?? 0));
    for (const [x, y] of g.marks) taken.push([x, y, room]);
    if (g.kind !== "field") taken.push([...g.spot, g.kind === "city" ? 4 : 2]);
  }
  const centre = village(tile);
  if (centre) taken.push([...centre, 12]);

  tile.segments.forEach((g, n) => {
    if (g.kind !== "field" || !g.path) return;
    for (const [x, y] of places(tile, n, roll, [...taken, [...g.spot, 9]], {
      room: 7,
      apart: 7.5,
      most: 2,
      tries: 14,
    })) {
      taken.push([x, y, 6]);
      out.push(tree(x, y, 4.2 + roll() * 1.8));
      if (roll() < 0.5) out.push(tree(x + 5.4, y + 2.2, 3.2));
    }
    for (const [x, y] of places(tile, n, roll, taken, { room: 3, apart: 5, most: 6, tries: 24 }))
      out.push(tuft(x, y + 1));
  });
  for (let n = 0; n < tile.segments.length; n += 1) {
    const g = tile.segments[n];
    if (!g.path) continue;
    if (g.width) {
      let end = n + 1;
      while (end < tile.segments.length && tile.segments[end].kind === g.kind) end += 1;
      out.push(...bands(tile, n, end));
      n = end - 1;
    } else if (g.kind === "city") {
      out.push(path(g.path, "city"));
      const most = g.atoms.length > 1 ? 11 : 4;
      for (const [x, y] of places(tile, n, roll, taken, { room: 7.2, apart: 7.2, most, tries: 190 })) {
        out.push(house(x, y, 10.5 + roll() * 2.5, Math.floor(roll() * 3)));
      }
      const line = wall(g.path);
      if (line) out.push(path(line, "wall-shade"), path(line, "wall"), path(line, "wall-stones"));
    } else if (g.kind === "cloister") out.push(abbey(g));
    else if (LAND[g.kind])
      out.push(
        path(g.path, "plot", { fill: LAND[g.kind].fill, stroke: LAND[g.kind].rim }),
        path(g.path, "band line", { stroke: LAND[g.kind].line }),
      );
    for (let k = 0; k < (g.pennants || 0) && g.marks[k]; k += 1) signs.push(shield(...g.marks[k]));
    signs.push(...badges(g));
  }
  if (centre) {
    const [x, y] = centre;
    out.push(s("circle", { cx: x, cy: y, r: 9.5, class: "square" }));
    for (const [n, [dx, dy]] of [
      [-6.5, -5.5],
      [6.2, -5],
      [-5.6, 6],
      [6.8, 6.2],
    ].entries())
      out.push(house(x + dx, y + dy, 7.6, n % 3));
  }
  for (const [n, flag] of tile.flags.entries()) signs.push(sign(flag, [13 + 20 * n, 86], 10.5));
  return s("g", { id: symbolId(id, copy) }, s("g", { "clip-path": "url(#tile-clip)" }, out, signs), rim());
}

// The id that refers to the drawing of a kind; the drawing is made here on first use.
export function symbolOf(id, copy = 0) {
  const name = symbolId(id, copy);
  if (known[id] && !byId(name)) document.querySelector("#definitions defs").append(drawTile(id, known[id], copy));
  return name;
}

// The specimen of a kind on a square: always the same one there.
export function specimenOn(kinds, id, [x, y]) {
  const many = kinds[id]?.segments.some((g) => g.path);
  return symbolOf(id, many ? Math.floor(dice(`${x},${y}`)() * specimens(id)) : 0);
}

// From now on draws with these pictures of the owner's tiles; null: with our own drawings.
export function dressed(pictures) {
  own = pictures ?? { tag: "", tiles: {} };
}

// Prepares the definitions that drawings of these kinds refer to, and redraws those in use; one hidden SVG in the page
// holds them. Many kinds of a box are never used, and drawing all of them takes as long as the rest of the page's start.
export function definitions(kinds) {
  known = kinds;
  return [
    s("clipPath", { id: "tile-clip" }, s("rect", { x: 0.3, y: 0.3, width: 99.4, height: 99.4, rx: 4.5 })),
    ...Object.keys(kinds)
      .filter((id) => byId(symbolId(id)))
      .map((id) => drawTile(id, kinds[id])),
  ];
}

// One tile as a picture of its own, as used on buttons; `more` is drawn over it in board coordinates.
export function tilePicture(kind, rot, label, ...more) {
  return s(
    "svg",
    {
      viewBox: "-1 -1 102 102",
      class: "tile-picture",
      role: label ? "img" : undefined,
      "aria-label": label,
      "aria-hidden": label ? undefined : "true",
    },
    s("use", { href: `#${symbolOf(kind)}`, transform: `rotate(${rot * 90} 50 50)` }),
    more,
  );
}
