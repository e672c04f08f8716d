// The PINs, for the table's owner: a new one for playing, one for the administrator, and what to do if one
// is lost.

import { device, entered, post } from "../access.js";
import { button, h, replace, symbol } from "../dom.js";
import { has, t } from "../i18n.js";
import { errorText } from "../words.js";

export class Pins {
  /** @type {import("../app.js").App} */
  app;
  /** @type {() => void} */
  changed;
  root = h("section", {});
  said = h("div", { role: "status" });

  // `changed` reloads the signed-in devices: changing a PIN signs out all others.
  constructor(app, changed) {
    this.app = app;
    this.changed = changed;
  }

  async look() {
    try {
      this.draw(await device());
    } catch {
      this.app.toast.show(t("toast.offline"));
    }
  }

  draw(state) {
    if (state.pin === "machine") return replace(this.root);
    replace(
      this.root,
      h("h3", {}, t("pins.title")),
      state.owner
        ? [
            h("p", { class: "note" }, t("pins.why")),
            this.form("pin", t("pins.table"), t("pins.table.change")),
            this.form("admin", t(state.admin_pin ? "pins.admin" : "pins.admin.none"), t("pins.admin.set")),
          ]
        : [
            h("p", { class: "note" }, t(state.admin_pin ? "pins.not_owner" : "pins.nobody")),
            state.admin_pin &&
              h(
                "div",
                { class: "row" },
                button(t("pins.enter"), () => this.enter(), { className: "action", data: { key: "pins-enter" } }),
              ),
          ],
      this.said,
      h("p", { class: "note" }, t("begin.pin.lost")),
    );
  }

  // The outcome of a change; the input stays.
  say(text, bad = false) {
    replace(
      this.said,
      h("div", { class: `outcome ${bad ? "bad" : "good"}` }, symbol(bad ? "alert" : "check"), h("p", {}, text)),
    );
  }

  form(name, label, act) {
    const input = h("input", {
      id: `pins-${name}`,
      type: "text",
      inputmode: "numeric",
      pattern: "[0-9]*",
      minlength: 4,
      maxlength: 12,
      required: true,
      autocomplete: "new-password",
      spellcheck: "false",
    });
    return h(
      "form",
      {
        class: "pins",
        on: {
          submit: (e) => {
            e.preventDefault();
            this.send({ [name]: input.value.trim() }, name);
          },
        },
      },
      h("label", { for: input.id }, label),
      h(
        "div",
        { class: "row" },
        input,
        h("button", { type: "submit", class: "action", data: { key: `pins-${name}-go` } }, act),
      ),
    );
  }

  async send(body, name) {
    try {
      const answer = await post("/api/pin", body, "PUT"),
        data = await answer.json();
      const key = `pin.${data.error?.code}`;
      if (!answer.ok) return this.say(has(key) ? t(key) : errorText(data.error), true);
      this.say(t(name === "pin" ? "pins.changed" : "pins.admin.changed"));
      await this.look();
      this.changed();
    } catch {
      this.app.toast.show(t("toast.offline"));
    }
  }

  async enter() {
    if (await entered("admin_needed")) {
      replace(this.said);
      await this.look();
      this.changed();
    }
  }
}
