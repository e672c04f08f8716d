// Dates and people as the book names them.

import { language, t } from "../i18n.js";

export const day = (seconds) => new Date(1000 * seconds).toLocaleDateString(language, { dateStyle: "long" });
export const moment = (seconds) =>
  new Date(1000 * seconds).toLocaleString(language, { dateStyle: "long", timeStyle: "short" });

// A player who was removed from the book has a colour and no name.
export const named = (player) => player.name || t(`colour.${player.colour}`, { fallback: player.colour });
