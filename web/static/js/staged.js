// A change that affects points is previewed before it is saved; any other one is saved at once.

import { button, h } from "./dom.js";
import { t } from "./i18n.js";
import { difference } from "./words.js";

export class Staged {
  constructor(app) {
    this.app = app;
    this.pending = null;
  }

  // `save` carries it out; `command` is what it will send
  async ask(command, save) {
    const [told] = await this.app.commands.preview([command]);
    if (!told || told.error || (!told.scores.length && !told.issues.length)) {
      this.pending = null;
      return save();
    }
    this.pending = { told, save };
    this.app.sheet.render();
    this.app.sheet.root.querySelector("[data-key='save']")?.focus({ preventScroll: true });
    return false;
  }

  strip() {
    if (!this.pending) return null;
    const { told, save } = this.pending;
    const drop = () => {
      this.pending = null;
      this.app.sheet.render();
    };
    return h(
      "div",
      { class: "staged", role: "status" },
      h("b", { dir: "auto" }, difference(this.app.view.players, told.scores)),
      told.issues.length > 0 && h("span", { class: "tag warn" }, t("fix.issue")),
      h(
        "span",
        { class: "row" },
        button(
          t("stage.save"),
          async () => {
            this.pending = null;
            await save();
            this.app.sheet.render();
          },
          { icon: "check", className: "action main", data: { key: "save" } },
        ),
        button(t("add.cancel"), drop, { className: "action", data: { key: "cancel" } }),
      ),
    );
  }
}
