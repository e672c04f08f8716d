// The tile kinds of all boxes in play at any table, and their drawings: in full for a board that is opened,
// with roads, cities and monasteries only for the sixty small ones.

import { s } from "../dom.js";
import { patternDefinitions } from "../figures.js";
import { definitions, symbolOf } from "../tileart.js";

/** @type {Record<string, any>} */
export const kinds = {};
/** @type {Map<string, Promise<void>>} */
const asked = new Map();
let begun = false;

export const plainId = (kind) => `plain-${kind.replaceAll(".", "-")}`;

function plain(id, tile) {
  const parts = [s("rect", { width: 100, height: 100, class: "ground" })];
  for (const g of tile.segments) {
    if (!g.path || g.kind === "field") continue;
    if (g.width)
      parts.push(
        s("path", { d: g.path, class: `${g.kind}-rim`, "stroke-width": g.width + 6 }),
        s("path", { d: g.path, class: g.kind, "stroke-width": g.width + 2 }),
      );
    else
      parts.push(
        s("path", {
          d: g.path,
          class: g.kind === "cloister" ? "plain-abbey" : g.kind === "city" ? "plain-city" : g.kind,
        }),
      );
  }
  return s("g", { id: plainId(id) }, parts, s("rect", { width: 100, height: 100, class: "tile-rim" }));
}

const own = (tile) => tile.segments.some((g) => g.path);

// Provides the drawings of these boxes; loaded once, however many cards need them.
export function learn(expansions) {
  const box = expansions.join();
  if (!asked.has(box))
    asked.set(
      box,
      fetched(box).catch(() => {
        asked.delete(box);
      }),
    );
  return asked.get(box);
}

async function fetched(box) {
  const defs = document.querySelector("#definitions defs");
  if (!begun) {
    begun = true;
    defs.append(...patternDefinitions(), ...definitions(kinds));
  }
  const found = await (await fetch(`/api/tiles?expansions=${encodeURIComponent(box)}`)).json();
  const fresh = Object.fromEntries(Object.entries(found).filter(([id]) => !kinds[id]));
  Object.assign(kinds, fresh);
  defs.append(
    ...Object.entries(fresh)
      .filter(([, tile]) => own(tile))
      .map(([id, tile]) => plain(id, tile)),
  );
}

export const drawing = (kind, small) => (small && kinds[kind] && own(kinds[kind]) ? plainId(kind) : symbolOf(kind));
