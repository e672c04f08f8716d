// What the camera saw of a square: the tile as large as the candidates beside it, its square marked, with a little around it.

import { h } from "./dom.js";
import { t } from "./i18n.js";

// The stored pictures show half a tile around the square (`reading/watcher.py`); `sheets.css` shows less of that.
export function seen(src) {
  const frame = h(
    "span",
    { class: "seen" },
    h("img", {
      src,
      alt: t("fix.crop"),
      class: "crop",
      on: { error: () => frame.replaceWith(h("span", { class: "crop none" }, t("fix.nocrop"))) },
    }),
  );
  return frame;
}
