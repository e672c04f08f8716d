// What the large, rarely opened views need besides their own code: another style sheet.

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
