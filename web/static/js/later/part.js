// What every part of Machine and camera has in common: a place of its own, and work that goes on while somebody looks.
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
  left = false; // nobody looks any more: what comes late is not drawn

  constructor(app, root) {
    this.app = app;
    this.root = root;
    this.said = h("p", { class: "sr", role: "status" }); // what screen readers are told
  }

  enter() {
    replace(this.root, h("p", { class: "note" }, t("wait")));
    this.look();
  }

  // Asks the table how it stands.
  look() {}

  leave() {
    this.left = true;
    clearTimeout(this.timer);
  }

  lookAgainIn(ms) {
    clearTimeout(this.timer);
    if (!this.left) this.timer = setTimeout(() => this.look(), ms);
  }

  // Nothing can be shown: why, and a button to try it again.
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
