// Pieces of the other boxes on the board, as their expansions draw them.

import { s } from "./dom.js";
import { meeple } from "./figures.js";
import { t } from "./i18n.js";

const TAGS = new Set(["g", "path", "rect", "circle", "text"]);

// A text with its values; a word is looked up as a text of its own.
function words({ key, ...values }) {
  const said = Object.entries(values).map(([k, v]) => [k, typeof v === "string" ? t(`${k}.${v}`, { fallback: v }) : v]);
  return key ? t(key, Object.fromEntries(said)) : String(values.n);
}

/** @returns {any} */
function drawn(board, { tag, look = {}, says, inside = [], player }) {
  if (!TAGS.has(tag)) return null;
  return s(
    tag,
    look,
    says && (tag === "text" ? words(says) : s("title", {}, words(says))),
    player !== undefined && meeple(board.game.players[player], board.letters[player]),
    inside.map((one) => drawn(board, one)),
  );
}

// Everything besides tiles and followers.
export const pieces = (board) => (board.game.board.drawn ?? []).map((one) => drawn(board, one));
