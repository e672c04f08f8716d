// Updates: a release as a file, what is new in it, and the progress of its installation. Never during a game.

import { post } from "../access.js";
import { button, h, redraw, symbol } from "../dom.js";
import { dated, t } from "../i18n.js";
import { errorText, sentence } from "../words.js";
import { Part } from "./part.js";
import { fileInput, megabytes, sending, upload } from "./upload.js";

const EVERY_MS = 1000;

export class Updates extends Part {
  sending = null; // the share of a file that has been sent
  wrong = null;
  /** @type {any} */
  state = null;
  input = fileInput("update-file", ".deb", (file) => this.upload(file));

  look() {
    return this.ask("look");
  }

  async ask(what) {
    clearTimeout(this.timer);
    try {
      const answer = await post("/api/update", { do: what }),
        data = await answer.json();
      if (this.left) return;
      if (answer.ok) {
        if (what !== "look") this.wrong = null;
        this.take(data);
      } else this.refuse(data.error);
    } catch {
      // While the version changes, nobody responds for some seconds.
      if (!this.state?.busy) this.app.toast.show(t("toast.offline"));
      this.lookAgainIn(EVERY_MS);
    }
  }

  refuse(error) {
    this.wrong = error;
    this.said.textContent = errorText(error);
    if (this.state) this.draw();
    else this.failed(t("machine.updates"), errorText(error), "update-again");
  }

  take(state) {
    const before = this.state;
    this.state = state;
    if (before?.busy && !state.busy && before.version !== state.version) location.reload(); // the page is the new version's too
    this.draw();
    if (state.busy) this.lookAgainIn(EVERY_MS);
  }

  async upload(file) {
    this.wrong = null;
    if (file.size > this.state.most) return this.refuse({ code: "too_large" });
    const sent = (part) => {
      this.sending = part;
      this.draw();
    };
    const error = await upload("/api/update", file, { sent, stopped: () => this.left });
    this.sending = null;
    if (this.left) return;
    if (!error) await this.ask("check");
    else if (error.code !== "offline") this.refuse(error);
    else {
      this.app.toast.show(t("toast.offline"));
      this.draw();
    }
  }

  draw() {
    const { possible, version, before, game_runs: runs, busy, offer, last } = this.state,
      stopped = busy || this.sending !== null;
    redraw(
      this.root,
      this.said,
      h(
        "section",
        {},
        h("h3", {}, t("machine.updates")),
        h("p", {}, t("update.runs", { version })),
        h("p", { class: "note" }, t("update.why")),
        !possible && h("p", { class: "note warn" }, t("update.not_possible")),
        runs && h("p", { class: "note warn" }, t("update.game")),
      ),
      busy && this.progress(last),
      !busy && last && this.outcome(last),
      h(
        "section",
        {},
        possible &&
          !busy &&
          h(
            "div",
            { class: "row" },
            h("label", { class: "action", for: "update-file" }, symbol("share"), h("span", {}, t("update.choose"))),
            this.input,
          ),
        sending(this.sending, t("update.sending")),
        this.wrong &&
          h(
            "div",
            { class: "outcome bad" },
            symbol("alert"),
            h("p", { role: "alert" }, sentence(errorText(this.wrong))),
          ),
        offer && this.offer(offer, stopped || runs || !possible),
      ),
      before &&
        h(
          "section",
          {},
          h("h3", {}, t("update.back.title")),
          h("p", { class: "note" }, t("update.back.why", { version: before })),
          h(
            "div",
            { class: "row" },
            button(t("update.back", { version: before }), () => this.ask("back"), {
              icon: "undo",
              className: "action",
              disabled: stopped || runs || !possible,
              data: { key: "update-back" },
            }),
          ),
        ),
    );
  }

  offer(offer, stopped) {
    const lines = String(offer.changes ?? "")
      .split("\n")
      .map((line) => line.trim())
      .filter(Boolean);
    return h(
      "div",
      { class: "outcome good" },
      symbol("check"),
      h(
        "div",
        {},
        h("p", {}, h("b", {}, t("update.offer", { version: offer.version })), ` (${megabytes(offer.bytes)})`),
        lines.length > 0 &&
          h(
            "details",
            { open: lines.length < 12 },
            h("summary", {}, t("update.changes")),
            h(
              "ul",
              { class: "changes", lang: "en" },
              lines.map((line) => h("li", {}, line.replace(/^[-*] /, ""))),
            ),
          ),
        h(
          "div",
          { class: "row" },
          button(t("update.install"), () => this.ask("install"), {
            icon: "check",
            className: "action main",
            disabled: stopped,
            data: { key: "update-install" },
          }),
          button(t("backup.forget"), () => this.ask("forget"), {
            icon: "trash",
            className: "action",
            data: { key: "update-forget" },
          }),
        ),
      ),
    );
  }

  progress(last) {
    const step = last && last.step !== "ended" ? last.step : "asked";
    return h(
      "div",
      { class: "outcome waits" },
      symbol("clock"),
      h(
        "div",
        { role: "status" },
        h("p", {}, h("b", {}, t(`update.step.${step}`))),
        h("p", { class: "note" }, t("update.wait")),
      ),
    );
  }

  outcome(last) {
    const good = last.result === "updated" || last.result === "went_back";
    return h(
      "div",
      { class: `outcome ${good ? "good" : "bad"}` },
      symbol(good ? "check" : "alert"),
      h(
        "div",
        {},
        h(
          "p",
          {},
          h("b", {}, t(`update.result.${last.result}`, { from: last.from, to: last.to, fallback: last.text })),
        ),
        last.code && h("p", {}, sentence(errorText(last))),
        h("p", { class: "note" }, dated(last.at_s)),
      ),
    );
  }
}
