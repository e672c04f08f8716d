// What is printed on tiles of other boxes, as small pictures.

import { SIGNS } from "./boxes.js";
import { s } from "./dom.js";

/** @param {string} kind */
export function sign(kind, [x, y], r = 10) {
  const parts = SIGNS[kind]?.parts;
  return s(
    "g",
    { transform: `translate(${x} ${y})`, class: `sign ${kind}` },
    s("circle", { r }),
    parts &&
      s(
        "g",
        { transform: `scale(${(r * 1.62) / 24}) translate(-12 -12)` },
        parts.map(({ d, fill, stroke, width }) => s("path", { d, fill, stroke, "stroke-width": width })),
      ),
  );
}
