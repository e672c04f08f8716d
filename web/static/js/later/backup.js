// Backup and restore: everything in one file to download, and such a file back again, checked before anything changes.

import { post } from "../access.js";
import { button, h, redraw, replace, symbol } from "../dom.js";
import { language, number, t } from "../i18n.js";
import { errorText } from "../words.js";

const PIECE = 49_152,
  EVERY_MS = 700;
const when = (seconds) =>
  new Date(1000 * seconds).toLocaleString(language, { dateStyle: "medium", timeStyle: "short" });
const size = (bytes) => t("backup.mb", { n: number(Math.max(0.1, Math.round(bytes / 1e5) / 10)) });

export class Backup {
  /** @type {import("../app.js").App} */
  app;
  /** @type {any} */
  root;
  /** @type {any} */
  timer;

  constructor(app, root) {
    Object.assign(this, { app, root });
    this.sending = null; // what part of a file has been sent
    this.left = false;
    this.said = h("p", { class: "sr", role: "status" });
    this.input = h("input", {
      type: "file",
      accept: ".zip,application/zip",
      id: "backup-file",
      class: "file",
      data: { key: "backup-file" },
      on: { change: () => this.upload(this.input.files[0]) },
    });
  }

  enter() {
    replace(this.root, h("p", { class: "note" }, t("fix.searching")));
    this.ask("look");
  }

  leave() {
    this.left = true;
    clearTimeout(this.timer);
  }

  async ask(what) {
    clearTimeout(this.timer);
    try {
      const answer = await post("/api/backup", { do: what }),
        data = await answer.json();
      if (this.left) return;
      if (!answer.ok) return this.refuse(data.error);
      this.take(data);
    } catch {
      this.app.toast.show(t("toast.offline"));
    }
  }

  refuse(error) {
    if (this.state) return this.app.toast.show(t("toast.failed", { text: errorText(error) }));
    replace(
      this.root,
      h(
        "section",
        {},
        h("h3", {}, t("machine.backup")),
        h("p", { class: "note warn" }, t("toast.failed", { text: errorText(error) })),
        h(
          "div",
          { class: "row" },
          button(t("machine.again"), () => this.enter(), { className: "action", data: { key: "backup-again" } }),
        ),
      ),
    );
  }

  take(state) {
    this.state = state;
    this.draw();
    if (state.busy === "restore") this.app.toast.show(t("backup.restarts"));
    else if (state.busy) this.timer = setTimeout(() => this.ask("look"), EVERY_MS);
  }

  // A file in pieces, each again when it got lost on the way; then it is checked.
  async upload(file) {
    if (!file) return;
    if (file.size > this.state.most)
      return this.app.toast.show(t("toast.failed", { text: errorText({ code: "too_large" }) }));
    for (let at = 0, tries = 0; at < file.size && !this.left; ) {
      this.sending = at / file.size;
      this.draw();
      try {
        const answer = await post(`/api/backup?at=${at}`, file.slice(at, at + PIECE), "PUT"),
          data = await answer.json();
        if (!answer.ok) throw data.error;
        at = data.upload;
        tries = 0;
      } catch (error) {
        tries += 1;
        if (error?.code || tries > 5) {
          this.sending = null;
          this.draw();
          return this.app.toast.show(error?.code ? t("toast.failed", { text: errorText(error) }) : t("toast.offline"));
        }
        await new Promise((done) => setTimeout(done, 500 * tries));
      }
    }
    this.sending = null;
    this.input.value = "";
    if (!this.left) await this.ask("check");
  }

  draw() {
    const { busy, file, checked, error, game_runs: runs } = this.state,
      stopped = !!busy || this.sending !== null;
    const told = (b) => t("backup.holds", { games: b.games, entries: b.entries, when: when(b.made_s) });
    redraw(
      this.root,
      this.said,
      h(
        "section",
        {},
        h("h3", {}, t("machine.backup")),
        h("p", { class: "note" }, t("backup.why")),
        h(
          "div",
          { class: "row" },
          button(t(busy === "make" ? "backup.making" : "backup.make"), () => this.ask("make"), {
            icon: busy === "make" ? "clock" : "check",
            className: "action main",
            disabled: stopped,
            data: { key: "backup-make" },
          }),
        ),
        file?.games !== undefined &&
          h(
            "div",
            { class: "outcome good" },
            symbol("check"),
            h(
              "div",
              {},
              h("p", {}, told(file)),
              h(
                "div",
                { class: "row" },
                h(
                  "a",
                  { class: "action main", href: file.address, download: "", data: { key: "backup-fetch" } },
                  t("backup.fetch"),
                  ` (${size(file.bytes)})`,
                ),
              ),
            ),
          ),
      ),
      h(
        "section",
        {},
        h("h3", {}, t("backup.restore")),
        h("p", { class: "note" }, t("backup.restore.why")),
        runs && h("p", { class: "note warn" }, t("backup.runs")),
        h("div", { class: "row" }, h("label", { class: "action", for: "backup-file" }, t("backup.choose")), this.input),
        this.sending !== null &&
          h(
            "div",
            {},
            h("p", {}, t("backup.sending")),
            h("progress", { value: this.sending, max: 1, "aria-label": t("backup.sending") }),
          ),
        busy === "check" && h("p", {}, t("backup.checking")),
        busy === "restore" && h("p", { class: "note warn" }, t("backup.restarts")),
        error &&
          h(
            "div",
            { class: "outcome bad" },
            symbol("alert"),
            h(
              "div",
              {},
              h("p", {}, t(`backup.error.${error.code}`, { fallback: errorText(error) })),
              language === "en" && h("p", { class: "note" }, error.text),
            ),
          ),
        checked &&
          h(
            "div",
            { class: "outcome good" },
            symbol("check"),
            h(
              "div",
              {},
              h("p", {}, t("backup.whole")),
              h("p", {}, told(checked)),
              h(
                "div",
                { class: "row" },
                button(t("backup.put"), () => this.ask("restore"), {
                  icon: "undo",
                  className: "action main",
                  disabled: stopped || runs,
                  data: { key: "backup-put" },
                }),
                button(t("backup.forget"), () => this.ask("forget"), {
                  icon: "trash",
                  className: "action",
                  disabled: stopped,
                  data: { key: "backup-forget" },
                }),
              ),
            ),
          ),
      ),
      h(
        "section",
        {},
        h("h3", {}, t("support.title")),
        h("p", { class: "note" }, t("support.why")),
        h(
          "div",
          { class: "row" },
          button(t(busy === "support" ? "support.packing" : "support.make"), () => this.ask("support"), {
            icon: busy === "support" ? "clock" : "tiles",
            className: "action",
            disabled: stopped,
            data: { key: "support-make" },
          }),
          file &&
            file.games === undefined &&
            h(
              "a",
              {
                class: "action main",
                href: file.address,
                download: "bastide-support.zip",
                data: { key: "support-fetch" },
              },
              t("backup.fetch"),
              ` (${size(file.bytes)})`,
            ),
        ),
      ),
    );
  }
}
