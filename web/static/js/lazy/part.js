// What all parts of Machine and camera have in common: a container, and work that continues while somebody looks.
// The first steps show the same parts.

import { button, h, replace } from "../dom.js";
import { t } from "../i18n.js";
import { sentence } from "../words.js";

export class Part {
  /** @type {import("../app.js").App} */
  app;
  /** @type {any} */
  root;
  /** @type {any} */
  timer;
  left = false; // nobody looks any more: late responses are not drawn

  constructor(app, root) {
    this.app = app;
    this.root = root;
    this.said = h("p", { class: "sr", role: "status" }); // announced by screen readers
  }

  enter() {
    replace(this.root, h("p", { class: "note" }, t("wait")));
    this.look();
  }

  // Fetches the table's state.
  look() {}

  leave() {
    this.left = true;
    clearTimeout(this.timer);
  }

  lookAgainIn(ms) {
    clearTimeout(this.timer);
    if (!this.left) this.timer = setTimeout(() => this.look(), ms);
  }

  // Nothing can be shown: says why, with a button to try again.
  failed(title, text, key) {
    replace(
      this.root,
      h(
        "section",
        {},
        h("h3", {}, title),
        refusal(text, () => this.enter(), key),
      ),
    );
  }
}

export const refusal = (text, again, key) => [
  h("p", { class: "note warn", role: "alert" }, sentence(text)),
  h("div", { class: "row" }, button(t("machine.again"), again, { className: "action", data: { key } })),
];
