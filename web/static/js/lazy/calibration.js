// What calibrates or tests the camera: polls the table's state, more often while it works.

import { post } from "../access.js";
import { h, replace } from "../dom.js";
import { t } from "../i18n.js";
import { errorText, sentence } from "../words.js";
import { Part } from "./part.js";

const EVERY_MS = 700;

export class Calibration extends Part {
  /** @type {any} */
  state = null;

  async look() {
    try {
      const answer = await fetch("/api/calibration", { cache: "no-store" }),
        data = await answer.json();
      if (answer.ok) this.take(data);
      else replace(this.root, h("p", { class: "note warn" }, sentence(errorText(data.error))));
    } catch {
      replace(this.root, h("p", { class: "note" }, t("toast.offline")));
    }
  }

  async send(url, body, method = "POST") {
    try {
      const answer = await post(url, body, method),
        data = await answer.json();
      if (answer.ok) this.take(data);
      else this.app.toast.show(t("toast.failed", { text: errorText(data.error) }));
    } catch {
      this.app.toast.show(t("toast.offline"));
    }
  }

  take(state) {
    if (this.left) return;
    const ended = this.state?.running && !state.running ? this.state.running : null;
    this.state = state;
    this.draw();
    if (ended) this.ended(ended);
    if (state.running) this.lookAgainIn(EVERY_MS);
  }

  draw() {}

  // Says that the task has ended.
  ended(_what) {}
}
