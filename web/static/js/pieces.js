// Pieces of the other boxes on the board: dragon, fairy, towers, the wheel.

import { s } from "./dom.js";
import { meeple } from "./figures.js";
import { t } from "./i18n.js";

const DRAGON = "M4 22c2-6 6-8 11-8 2-5 6-9 12-9-2 2-2 4-1 6 3 1 4 3 4 6l-5 1c1 5-1 9-6 11h-9l3-4c-4 1-7 1-9-3z";
const FAIRY =
  "M16 3c2.6 0 4.3 2 4.3 4.3S18.6 11.6 16 11.6 11.7 9.6 11.7 7.3 13.4 3 16 3zM14 12h4l1 4c4-5 9-6 10-3s-3 6-8 6l2 11H9l2-11c-5 0-9-3-8-6s6-2 10 3z";
const SEGMENT_COLOURS = ["#f4d35e", "#c9a46a", "#c47f3d", "#7ea8c9", "#a3445a", "#6f8f5a"];

const at = ([x, y], dx, dy, scale, ...children) =>
  s("g", { transform: `translate(${x * 100 + dx} ${y * 100 + dy}) scale(${scale})`, class: "piece" }, children);

const neutral = (square, d, cls, name, dx, dy) =>
  at(square, dx, dy, 1.35, s("title", {}, name), s("path", { d, class: `neutral ${cls}` }));

function tower({ at: square, height }, guarded) {
  const floors = Math.min(height, 5);
  return at(
    square,
    50,
    guarded ? 62 : 52,
    1,
    s("title", {}, t("board.tower", { n: height })),
    Array.from({ length: floors }, (_, n) =>
      s("rect", { x: -15, y: 8 - n * 5, width: 30, height: 12, rx: 2.5, class: "tower-floor" }),
    ),
    s("circle", { cx: 15, cy: 16, r: 9.5, class: "tower-count" }),
    s("text", { x: 15, y: 20.5, class: "tower-number" }, String(height)),
  );
}

// The wheel in the middle of its board: six segments, the pig on one, followers on their crown spaces.
function wheel(board, { pig, segments, crowns }) {
  const squares = board.game.board.tiles.filter((p) => /^wheel\.board\.[12][12]$/.test(p.tile)).map((p) => p.at);
  if (squares.length !== 4) return null;
  const cx = squares.reduce((sum, p) => sum + p[0] + 0.5, 0) * 25,
    cy = squares.reduce((sum, p) => sum + p[1] + 0.5, 0) * 25;
  const spot = (n, r) => [cx + Math.sin((n * Math.PI) / 3) * r, cy - Math.cos((n * Math.PI) / 3) * r];
  return s(
    "g",
    { class: "wheel" },
    segments.map((name, n) => {
      const [x0, y0] = spot(n - 0.5, 97),
        [x1, y1] = spot(n + 0.5, 97),
        [tx, ty] = spot(n, 76);
      const own = crowns.find((c) => c.segment === name);
      return [
        s("path", {
          d: `M${cx} ${cy}L${x0} ${y0}A97 97 0 0 1 ${x1} ${y1}Z`,
          fill: SEGMENT_COLOURS[n],
          class: "wheel-segment",
        }),
        s("text", { x: tx, y: ty + 4, class: "wheel-name" }, t(`segment.${name}`)),
        Array.from({ length: own.spaces }, (_, k) => {
          const [x, y] = spot(n + (own.spaces > 1 ? (k - 0.5) * 0.4 : 0), 52),
            player = own.players[k];
          return player === undefined
            ? s("circle", { cx: x, cy: y, r: 8, class: "crown-space" })
            : s(
                "g",
                { transform: `translate(${x - 11} ${y - 11}) scale(.7)` },
                meeple(board.game.players[player], board.letters[player]),
              );
        }),
        name === pig &&
          s(
            "g",
            { transform: `translate(${spot(n, 22)[0] - 12} ${spot(n, 22)[1] - 12}) scale(.75)` },
            s("title", {}, t("board.pigat", { segment: t(`segment.${name}`) })),
            s("use", { href: "#pig", class: "wheel-pig" }),
          ),
      ];
    }),
  );
}

// Everything that stands beside tiles and followers.
export function pieces(board) {
  const { dragon, fairy, fairy_beside: beside, towers, wheel: turned, figures } = board.game.board;
  const guarded = new Set(figures.filter((f) => f.feature === "tower").map((f) => f.at.join(",")));
  return [
    turned && wheel(board, turned),
    (towers ?? []).map((one) => tower(one, guarded.has(one.at.join(",")))),
    dragon && neutral(dragon, DRAGON, "dragon", t("board.dragon"), 28, 26),
    fairy && neutral(fairy, FAIRY, "fairy", t("board.fairy"), beside ? 2 : 4, 4),
  ];
}
