// What the large views that are seldom opened need beside their own code: one more sheet of style.

import { h } from "../dom.js";

let styled = null;

export function panelStyle() {
  styled ??= new Promise((done) => {
    document.head.append(
      h("link", { rel: "stylesheet", href: "/static/css/panels.css", on: { load: done, error: done } }),
    );
  });
  return styled;
}
