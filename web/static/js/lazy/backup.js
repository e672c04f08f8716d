// Backup and restore: everything in one file to download, and such a file uploaded, checked before anything changes.

import { post } from "../access.js";
import { button, h, redraw, symbol } from "../dom.js";
import { dated, language, t } from "../i18n.js";
import { errorText } from "../words.js";
import { Part } from "./part.js";
import { fileInput, megabytes, sending, upload } from "./upload.js";

const EVERY_MS = 700;

export class Backup extends Part {
  sending = null; // the share of a file that has been sent
  /** @type {any} */
  state = null;
  input = fileInput("backup-file", ".zip,application/zip", (file) => this.upload(file));

  look() {
    return this.ask("look");
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
    const text = t("toast.failed", { text: errorText(error) });
    if (this.state) this.app.toast.show(text);
    else this.failed(t("machine.backup"), text, "backup-again");
  }

  take(state) {
    this.state = state;
    this.draw();
    if (state.busy === "restore") this.app.toast.show(t("backup.restarts"));
    else if (state.busy) this.lookAgainIn(EVERY_MS);
  }

  // An upload is checked before anything can be done with it.
  async upload(file) {
    if (file.size > this.state.most) return this.refuse({ code: "too_large" });
    const sent = (part) => {
      this.sending = part;
      this.draw();
    };
    const error = await upload("/api/backup", file, { sent, stopped: () => this.left });
    this.sending = null;
    if (this.left) return;
    if (!error) return this.ask("check");
    this.draw();
    if (error.code === "offline") this.app.toast.show(t("toast.offline"));
    else this.refuse(error);
  }

  draw() {
    const { busy, file, checked, error, game_runs: runs } = this.state,
      stopped = !!busy || this.sending !== null;
    const told = (b) => t("backup.holds", { games: b.games, entries: b.entries, when: dated(b.made_s) });
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
                  ` (${megabytes(file.bytes)})`,
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
        sending(this.sending, t("backup.sending")),
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
              ` (${megabytes(file.bytes)})`,
            ),
        ),
      ),
    );
  }
}
