// Looking back: a bar to scrub through the turns, with the board, the picture of the table and the scores of each.

import { button, h, replace } from "../dom.js";
import { t } from "../i18n.js";

const STEP_MS = 900;

export class Replay {
  /** @type {import("../app.js").App} */
  app;
  /** @type {any} */
  root;

  constructor(app, root) {
    Object.assign(this, { app, root });
    this.known = new Map(); // views by their place among the turns
  }

  async open() {
    try {
      this.turns = (await (await fetch("/api/turns")).json()).turns;
    } catch {
      this.app.toast.show(t("toast.offline"));
      return;
    }
    if (!this.turns.length) {
      this.app.toast.show(t("replay.none"));
      return;
    }
    this.known.clear();
    this.version = this.app.newest.version;
    this.wasFinal = this.app.final.isOpen;
    this.app.final.close();
    this.app.sheet.close();
    this.root.hidden = false;
    document.body.classList.add("looking-back");
    await this.go(this.turns.length - 1);
    this.slider.focus();
  }

  close() {
    if (this.root.hidden) return;
    this.stop();
    this.root.hidden = true;
    document.body.classList.remove("looking-back");
    this.app.past = null;
    if (this.wasFinal && this.app.newest.phase === "over") this.app.final.open();
    this.app.render();
    this.app.ask();
  }

  async view(n) {
    if (!this.known.has(n)) {
      const answer = await fetch(`/api/turns/${this.turns[n].turn}`);
      if (!answer.ok) throw new Error(answer.statusText);
      this.known.set(n, { ...(await answer.json()), replayed: this.turns[n].turn });
    }
    return this.known.get(n);
  }

  async go(n) {
    this.now = Math.max(0, Math.min(this.turns.length - 1, n));
    this.draw();
    const wanted = this.now;
    try {
      const view = await this.view(wanted);
      if (wanted !== this.now || this.root.hidden) return; // moved on meanwhile
      this.app.past = view;
      this.app.render();
    } catch {
      this.app.toast.show(t("toast.offline"));
    }
  }

  stop() {
    clearInterval(this.playing);
    this.playing = null;
  }

  play() {
    if (this.playing) this.stop();
    else {
      if (this.now === this.turns.length - 1) this.now = -1;
      this.playing = setInterval(() => {
        if (this.now >= this.turns.length - 1) this.stop();
        else this.go(this.now + 1);
      }, STEP_MS);
    }
    this.draw();
  }

  draw() {
    const { turns, now, app } = this,
      turn = turns[Math.max(0, now)],
      player = app.newest.players[turn.player];
    const text = t("replay.turn", { n: turn.turn + 1, all: turns.at(-1).turn + 1 });
    if (!this.slider) {
      this.slider = h("input", {
        type: "range",
        min: 0,
        step: 1,
        class: "scrub",
        "aria-label": t("replay.slider"),
        on: {
          input: () => {
            this.stop();
            this.go(Number(this.slider.value));
          },
        },
      });
      this.text = h("span", { class: "replay-text", dir: "auto" });
      this.player = button(t("replay.play"), () => this.play(), {
        icon: "play",
        label: false,
        className: "action",
        data: { key: "play" },
      });
      replace(
        this.root,
        this.player,
        button(
          t("replay.back"),
          () => {
            this.stop();
            this.go(this.now - 1);
          },
          { icon: "back", label: false, className: "action", data: { key: "earlier" } },
        ),
        this.slider,
        button(
          t("replay.next"),
          () => {
            this.stop();
            this.go(this.now + 1);
          },
          { icon: "next", label: false, className: "action", data: { key: "later" } },
        ),
        this.text,
        button(t("replay.live"), () => this.close(), {
          icon: "close",
          className: "action main",
          data: { key: "live" },
        }),
      );
    }
    this.slider.max = turns.length - 1;
    this.slider.value = Math.max(0, now);
    this.slider.setAttribute("aria-valuetext", `${text}, ${player.name}`);
    this.player.setAttribute("aria-label", t(this.playing ? "replay.stop" : "replay.play"));
    this.player.setAttribute("aria-pressed", String(!!this.playing));
    replace(this.text, h("b", {}, text), " ", player.name);
  }
}
