// What is printed on tiles of other boxes, as small pictures: an inn by the lake, goods, the princess, dragon, tower.

import { s } from "./dom.js";

// Each in a box of 24, as [class, path] from back to front.
const PICTURES = {
  inn: [
    ["sign-lake", "M3 17c3-2.5 6-2.5 9 0s6 2.5 9 0v3H3z"],
    ["sign-wall", "M6 9.5h11V16H6z"],
    ["sign-roof", "M4.5 10L11.5 4l7 6z"],
    ["sign-dark", "M10.3 16v-3.6h2.6V16z"],
  ],
  wine: [
    ["sign-wine", "M9.6 4h4.8v5c2 1.4 3 3.2 3 5.6V21H6.6v-6.4c0-2.4 1-4.2 3-5.6z"],
    ["sign-light", "M8.6 14h6.8v3.4H8.6z"],
  ],
  grain: [
    ["sign-stalk", "M12 22V7"],
    [
      "sign-grain",
      "M12 4c1.8 1.6 1.8 3.6 0 5-1.8-1.4-1.8-3.4 0-5zM12 12c-3 0-5-1.6-5-4.6 3 0 5 1.6 5 4.6zM12 12c3 0 5-1.6 5-4.6-3 0-5 1.6-5 4.6zM12 18c-3 0-5-1.6-5-4.6 3 0 5 1.6 5 4.6zM12 18c3 0 5-1.6 5-4.6-3 0-5 1.6-5 4.6z",
    ],
  ],
  cloth: [
    ["sign-cloth", "M5 6h11.5a2.8 2.8 0 0 1 0 5.6H5zM5 12.4h11.5a2.8 2.8 0 0 1 0 5.6H5z"],
    ["sign-stalk thin", "M5 8.8h11M5 15.2h11"],
  ],
  princess: [
    ["sign-dress", "M12 11l6 10H6z"],
    ["sign-skin", "M12 5.2a3.1 3.1 0 1 1 0 6.2 3.1 3.1 0 0 1 0-6.2z"],
    ["sign-gold", "M8.4 6.4L8 2.4l2.3 1.9L12 1.8l1.7 2.5L16 2.4l-.4 4z"],
  ],
  volcano: [
    ["sign-rock", "M2.5 21L9 8h6l6.5 13z"],
    ["sign-fire", "M9 8h6l1 2.4-1.8 1.4-1 4-1.4-4.6-1.5 1.6-1.8-2zM12 1.5c1.6 1.7 2.2 3.3.6 5h-1.9c-1-1.5 0-3 1.3-5z"],
  ],
  dragon: [
    [
      "sign-fire",
      "M3 19c1.5-5.5 5-7 8.6-7C13 8 16 5 20.5 5c-1.5 1.6-1.5 3-.8 4.6 2 .7 2.6 2.2 2.6 4.2l-3.6.8c.7 3.6-.7 6.4-4.4 7.6H8l2.2-2.8c-2.9.7-5.2.7-7.2-.4z",
    ],
    ["sign-light", "M17.8 8.6a.9.9 0 1 1 0 1.8.9.9 0 0 1 0-1.8z"],
  ],
  portal: [
    ["sign-rock", "M3.5 21V11a8.5 8.5 0 0 1 17 0v10z"],
    ["sign-magic", "M7.5 21V11.4a4.5 4.5 0 0 1 9 0V21z"],
  ],
  tower: [
    ["sign-rock", "M5.5 21V6h2.6v2.4h2.6V6h2.6v2.4h2.6V6h2.6v15z"],
    ["sign-dark", "M10.4 21v-4a1.6 1.6 0 0 1 3.2 0v4z"],
  ],
  wheel_icon: [
    ["sign-wheel", "M12 3.5a8.5 8.5 0 1 0 0 17 8.5 8.5 0 0 0 0-17zM12 3.5v17M3.5 12h17M6 6l12 12M18 6L6 18"],
    ["sign-gold", "M12 9.6a2.4 2.4 0 1 0 0 4.8 2.4 2.4 0 0 0 0-4.8z"],
  ],
};

/** @param {string} kind */
export function sign(kind, [x, y], r = 10) {
  const parts = PICTURES[kind];
  return s(
    "g",
    { transform: `translate(${x} ${y})`, class: `sign ${kind}` },
    s("circle", { r }),
    parts &&
      s(
        "g",
        { transform: `scale(${(r * 1.62) / 24}) translate(-12 -12)` },
        parts.map(([look, d]) => s("path", { d, class: look })),
      ),
  );
}
