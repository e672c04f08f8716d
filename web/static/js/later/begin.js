// First steps: from a machine that was just switched on to the first scored road. Every step may be skipped; where
// somebody was is kept by the device.

import { entered } from "../access.js";
import { button, h, replace, symbol } from "../dom.js";
import { LANGUAGES, language, machineTexts, speak, t } from "../i18n.js";
import { checkName, findingText, known, todoText } from "./checks.js";
import { joinCard } from "./join.js";
import { panelStyle } from "./panel.js";

const STEPS = ["language", "pin", "checkup", "camera", "players", "practice", "join"];
const KEPT = "bastide.step",
  ICON = { ok: "check", warn: "alert", fail: "close" };

export class Begin {
  /** @type {import("../app.js").App} */
  app;
  /** @type {any} */
  root;
  /** @type {any} */
  before = null;
  /** @type {any} */
  card = null;

  constructor(app, root) {
    Object.assign(this, { app, root });
    root.addEventListener("keydown", (e) => e.key === "Escape" && this.close());
  }

  get step() {
    try {
      return Math.min(STEPS.length - 1, Number(sessionStorage.getItem(KEPT)) || 0);
    } catch {
      return this.now ?? 0;
    }
  }

  set step(n) {
    this.now = n;
    try {
      sessionStorage.setItem(KEPT, String(n));
    } catch {
      // kept until the page is left
    }
  }

  async open() {
    await panelStyle();
    this.before = document.activeElement;
    this.app.sheet.close();
    this.root.hidden = false;
    this.draw();
  }

  close() {
    this.root.hidden = true;
    this.before?.focus?.();
  }

  // A view of its own is opened from here; this one waits behind it.
  leave(act) {
    this.close();
    act();
  }

  go(n) {
    if (n >= STEPS.length) {
      this.step = 0;
      this.close();
      return;
    }
    this.step = Math.max(0, n);
    this.draw();
  }

  // A new view of the table: only the practice follows it.
  changed() {
    if (!this.root.hidden && STEPS[this.step] === "practice") this.draw(false);
  }

  draw(focus = true) {
    const n = this.step,
      name = STEPS[n];
    replace(
      this.root,
      h(
        "header",
        {},
        h("h2", { id: "begin-title", tabindex: -1 }, t("begin.title")),
        button(t("sheet.close"), () => this.close(), {
          icon: "close",
          label: false,
          className: "close",
          data: { key: "close" },
        }),
      ),
      h(
        "div",
        { class: "setup-body begin-body", tabindex: 0, role: "group", "aria-labelledby": "begin-title" },
        h(
          "ol",
          { class: "steps", "aria-label": t("begin.steps") },
          STEPS.map((one, k) =>
            h(
              "li",
              {},
              h(
                "button",
                {
                  type: "button",
                  class: `dot${k < n ? " done" : ""}`,
                  "aria-current": k === n ? "step" : undefined,
                  "aria-label": `${k + 1}: ${t(`begin.${one}`)}`,
                  title: t(`begin.${one}`),
                  data: { key: `step-${k}` },
                  on: { click: () => this.go(k) },
                },
                k < n ? "✓" : String(k + 1),
              ),
            ),
          ),
        ),
        h("section", {}, h("h3", {}, t(`begin.${name}`)), h("p", {}, t(`begin.${name}.why`)), this[name]()),
      ),
      h(
        "footer",
        {},
        n > 0 &&
          button(t("begin.back"), () => this.go(n - 1), {
            icon: "back",
            className: "action",
            data: { key: "begin-back" },
          }),
        button(t(n === STEPS.length - 1 ? "begin.done" : "begin.next"), () => this.go(n + 1), {
          icon: "next",
          className: "action main",
          data: { key: "begin-next" },
        }),
      ),
    );
    if (focus) this.root.querySelector("h2").focus();
  }

  language() {
    return [
      h(
        "div",
        { class: "row" },
        Object.entries(LANGUAGES).map(([code, name]) =>
          button(name, () => speak(code), {
            className: "action",
            lang: code,
            "aria-pressed": String(code === language),
            data: { key: `begin-${code}` },
          }),
        ),
      ),
      h(
        "div",
        { class: "row apart" },
        h("p", { class: "note" }, t("begin.restore.why")),
        button(t("begin.restore"), () => this.leave(() => this.app.machine("backup")), {
          icon: "undo",
          className: "action",
          data: { key: "begin-restore" },
        }),
      ),
    ];
  }

  pin() {
    const { pin } = document.body.dataset;
    if (pin !== "unset") return h("p", { class: "note" }, t(pin === "set" ? "begin.pin.set" : "join.machine"));
    return h(
      "div",
      { class: "row" },
      button(
        t("pin.set"),
        async () => {
          if (await entered("pin_unset")) this.go(this.step + 1);
        },
        { className: "action main", data: { key: "begin-pin" } },
      ),
    );
  }

  checkup() {
    const list = h("ul", { class: "checks" }, h("li", {}, t("fix.searching")));
    Promise.all([fetch("/api/doctor").then((a) => (a.ok ? a.json() : { checks: [] })), machineTexts()])
      .then(([{ checks }]) => {
        checks = checks.filter((c) => c.state !== "ok" || known(c)); // versions are the doctor's own affair
        replace(
          list,
          checks.length
            ? checks.map((c) =>
                h(
                  "li",
                  { class: c.state },
                  symbol(ICON[c.state] ?? "ask"),
                  h("b", {}, checkName(c)),
                  h("span", {}, t(`check.is.${c.state}`)),
                  c.state !== "ok" && h("p", { class: "note" }, `${findingText(c)}.`, c.do && ` ${todoText(c)}.`),
                ),
              )
            : h("li", {}, t("begin.checkup.none")),
        );
      })
      .catch(() => replace(list, h("li", {}, t("toast.offline"))));
    return list;
  }

  camera() {
    return h(
      "div",
      { class: "row" },
      button(t("camera.title"), () => this.leave(() => this.app.camera()), {
        icon: "eye",
        className: "action main",
        data: { key: "begin-camera" },
      }),
      button(t("machine.aim"), () => this.leave(() => this.app.machine("aim")), {
        icon: "fit",
        className: "action",
        data: { key: "begin-aim" },
      }),
      button(t("machine.calibrate"), () => this.leave(() => this.app.machine("calibrate")), {
        icon: "check",
        className: "action",
        data: { key: "begin-calibrate" },
      }),
    );
  }

  players() {
    return h(
      "div",
      { class: "row" },
      button(t("setup.title"), () => this.leave(() => this.app.setup()), {
        icon: "plus",
        className: "action main",
        data: { key: "begin-players" },
      }),
    );
  }

  // Ticked off as the table sees it happen; a correction is rehearsed on purpose.
  practice() {
    const { newest } = this.app,
      did = (kind) => newest.history.some((e) => e.kind === kind);
    const mended = newest.history.some((e) => e.amended || e.source === "hand");
    const line = (key, done) =>
      h(
        "li",
        { class: done ? "done" : "" },
        done ? "✓ " : "",
        t(`begin.practice.${key}`),
        h("span", { class: "sr" }, done ? t("begin.seen") : ""),
      );
    return h(
      "ol",
      { class: "practice" },
      line("tile", did("tile")),
      line("follower", did("deploy")),
      line("close", newest.feed.length > 0),
      line("fix", mended),
    );
  }

  join() {
    this.card ??= joinCard();
    return this.card;
  }
}
