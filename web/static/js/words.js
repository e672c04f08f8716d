// Names of things that are put together: tiles by what is on them, figures, moves, differences of scores.

import { listed, signed, t } from "./i18n.js";
import { where } from "./shapes.js";

const SHOWN = ["city", "road", "cloister", "river"];
const SIGNS = ["inn", "cathedral", "princess"];

const sides = (segment, rot) => where(segment, rot).split(" ").filter((a) => a.length === 1 && a !== "I").map((a) => t(`side.${a}`)).join("–");

// "city north–west, pennant, road east–south": what lies where on a turned tile.
export function tileName(kinds, id, rot = 0) {
  if (id?.startsWith("wheel.board")) return t("tile.board");
  const kind = kinds[id];
  if (!kind) return id ?? "";
  const parts = [];
  for (const feature of SHOWN) {
    for (const g of kind.segments.filter((one) => one.kind === feature)) {
      parts.push(t("tile.part", { feature: t(`feature.${feature}`), sides: sides(g, rot) }).trim());
      if (g.pennants) parts.push(t("sign.pennant"));
      for (const sign of SIGNS) if (g[sign]) parts.push(t(`sign.${sign}`));
      if (g.goods) parts.push(t(`goods.${g.goods}`));
    }
  }
  for (const flag of kind.flags) parts.push(t(`sign.${flag}`, { fallback: flag }));
  return parts.join(", ") || t("tile.plain");
}

export const segmentName = (segment, rot) => `${t(`feature.${segment.kind}`)} ${sides(segment, rot) || t("side.middle")}`;

export const placeName = ([x, y]) => t("board.place", { x, y });

// "Anna: large follower, knight"
export const figureName = (players, { player, owner, figure, feature }) => t("answer.figure", {
  name: players[owner ?? player].name, figure: t(`figure.${figure}`), role: t(`role.${feature}`) });

// A line of the history, or an answer to a question about what was played.
export function moveName(app, move) {
  const kind = move.kind ?? move.do;
  if (kind === "tile") return tileName(app.kinds, move.tile, move.rot);
  const values = { n: move.steps, tile: tileName(app.kinds, move.tile) };
  if (kind === "deploy") {
    values.role = move.figure === "follower" ? t(`role.${move.feature}`) : t(`figure.${move.figure}`);
    values.feature = t(`feature.${move.feature}`);
  }
  return t(`move.${kind}`, { ...values, fallback: kind });
}

// "Anna +3, Ben −2"; what a correction would change.
export function difference(players, scores) {
  if (!scores.length) return t("fix.same");
  return listed(scores.map((s) => t("fix.diff", { name: players[s.player].name, diff: signed(s.after - s.before) })));
}
