// All options of `bastide serve`: set, reset one by one, each with the origin of its value.

import { post } from "../access.js";
import { button, h, redraw, symbol } from "../dom.js";
import { language, listed, t, typeset } from "../i18n.js";
import { errorText } from "../words.js";
import { begunAgain } from "./again.js";
import { Part } from "./part.js";

const GROUPS = ["camera", "tiles", "game", "network", "club", "machine"];

export class Settings extends Part {
  /** @type {Record<string, any>} */
  wrong = {}; // what was refused, by option: with the input, so that it can be corrected
  /** @type {any} */
  state = null;

  look() {
    return this.send({ do: "look" });
  }

  async send(body) {
    try {
      const answer = await post("/api/settings", body);
      const data = await answer.json();
      if (this.left) return;
      if (answer.ok) {
        delete this.wrong[body.name];
        this.state = data;
        if (data.restarting)
          begunAgain(this.app, data.port === Number(location.port || 80) ? undefined : data.port, "machine-settings");
        else if (body.do !== "look") this.said.textContent = t("settings.kept");
      } else if (body.name && data.error.code === "bad_setting") {
        this.wrong[body.name] = { value: body.value, error: data.error };
        this.said.textContent = errorText(data.error);
      } else return this.refuse(errorText(data.error));
      this.draw();
    } catch {
      this.refuse(t("toast.offline"));
    }
  }

  refuse(text) {
    if (this.state) this.app.toast.show(t("toast.failed", { text }));
    else this.failed(t("settings.title"), text, "settings-again");
  }

  draw() {
    const { options, waiting, note, restarting } = this.state;
    const title = (name) => this.words(options.find((o) => o.name === name).title);
    redraw(
      this.root,
      this.said,
      h("section", {}, h("h3", {}, t("settings.title")), h("p", { class: "note" }, t("settings.why"))),
      note &&
        h(
          "div",
          { class: "outcome bad" },
          symbol("alert"),
          h("div", {}, h("p", {}, h("b", {}, t("settings.put_back"))), h("p", { class: "note", lang: "en" }, note)),
        ),
      GROUPS.map((group) =>
        h(
          "section",
          { class: "settings" },
          h("h3", {}, t(`settings.group.${group}`)),
          options.filter((o) => o.group === group).map((o) => this.row(o)),
        ),
      ),
      waiting.length > 0 &&
        h(
          "div",
          { class: "outcome waits" },
          symbol("clock"),
          h(
            "div",
            {},
            h("p", {}, t("settings.waiting", { names: listed(waiting.map(title)) })),
            h(
              "div",
              { class: "row" },
              button(t(restarting ? "again.wait" : "settings.restart"), () => this.send({ do: "restart" }), {
                icon: "turn",
                className: "action main",
                disabled: restarting,
                data: { key: "settings-restart" },
              }),
            ),
            h("p", { class: "note" }, t("settings.restart.note")),
          ),
        ),
    );
  }

  words(texts) {
    return typeset(texts[language] ?? texts.en);
  }

  row(o) {
    const id = `setting-${o.name}`,
      wrong = this.wrong[o.name],
      fixed = !o.page || o.origin === "command line" || o.origin === "environment";
    return h(
      "div",
      { class: `setting${wrong ? " wrong" : ""}` },
      h("label", { for: id }, this.words(o.title), o.unit && ` (${o.unit})`),
      this.control(o, id, fixed, wrong),
      h("p", { class: "note", id: `${id}-help` }, this.words(o.help)),
      wrong &&
        h(
          "p",
          { class: "note warn", id: `${id}-wrong` },
          t("settings.refused"),
          h("span", { lang: "en" }, ` (${wrong.error.text})`),
        ),
      h(
        "p",
        { class: "setting-word" },
        h("span", { class: `tag ${o.origin.replace(" ", "-")}` }, t(`settings.origin.${o.origin.replace(" ", "_")}`)),
        o.waits && h("span", { class: "tag waits" }, t("settings.waits")),
        o.idle && h("span", { class: "tag" }, t("settings.idle")),
        fixed && o.page && h("span", { class: "note" }, t(`settings.fixed.${o.origin.replace(" ", "_")}`)),
        !o.page && h("span", { class: "note" }, t("settings.elsewhere")),
        o.kept !== null &&
          button(t("settings.reset"), () => this.send({ do: "reset", name: o.name }), {
            icon: "undo",
            className: "action small",
            data: { key: `reset-${o.name}` },
          }),
      ),
    );
  }

  control(o, id, fixed, wrong) {
    const value = wrong ? wrong.value : fixed ? o.value : (o.kept ?? (o.waits ? o.default : o.value));
    const put = (value) => this.send({ do: "set", name: o.name, value });
    const common = {
      id,
      disabled: fixed,
      "aria-describedby": `${id}-help${wrong ? ` ${id}-wrong` : ""}`,
      "aria-invalid": wrong ? "true" : undefined,
      data: { key: id },
    };
    const cleared = (text, read) => (text.trim() ? put(read(text)) : this.send({ do: "reset", name: o.name }));
    if (o.kind === "switch")
      return h("input", {
        type: "checkbox",
        role: "switch",
        ...common,
        checked: value === true,
        on: { change: (e) => put(e.target.checked) },
      });
    if (o.kind === "choice")
      return h(
        "select",
        { ...common, on: { change: (e) => cleared(e.target.value, (text) => text) } },
        h("option", { value: "", selected: value === null }, t("settings.usual")),
        o.choices.map((c) => h("option", { value: c, selected: c === value }, t(`edition.${c}`, { fallback: c }))),
      );
    if (o.several)
      return h(
        "textarea",
        {
          ...common,
          rows: Math.max(2, (value ?? []).length + 1),
          spellcheck: "false",
          autocapitalize: "off",
          on: {
            change: (e) =>
              cleared(e.target.value, (text) =>
                text
                  .split("\n")
                  .map((one) => one.trim())
                  .filter(Boolean),
              ),
          },
        },
        (value ?? []).join("\n"),
      );
    const number = o.kind === "number";
    return h("input", {
      ...common,
      type: number ? "number" : "text",
      min: o.least ?? undefined,
      max: o.most ?? undefined,
      inputmode: number ? "numeric" : undefined,
      autocomplete: "off",
      spellcheck: "false",
      autocapitalize: "off",
      placeholder: o.default === null ? t("settings.unset") : String(o.default),
      value: value ?? "",
      on: { change: (e) => cleared(e.target.value, (text) => (number ? Number(text) : text)) },
    });
  }
}
