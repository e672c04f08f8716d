// Looking back: a bar to scrub through the turns, with the board, the picture of the table and the scores of each.

import { button, h, replace } from "../dom.js";
import { t } from "../i18n.js";
import { Scrub } from "../scrub.js";

const STEP_MS = 900;

export class Replay {
  /** @type {import("../app.js").App} */
  app;
  /** @type {any} */
  root;

  constructor(app, root) {
    Object.assign(this, { app, root });
    this.known = new Map(); // views by their place among the turns
    this.scrub = new Scrub((n) => this.go(n), STEP_MS);
    this.text = h("span", { class: "replay-text", dir: "auto" });
    replace(
      root,
      this.scrub.parts,
      this.text,
      button(t("replay.live"), () => this.close(), {
        icon: "close",
        className: "action main",
        data: { key: "live" },
      }),
    );
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
    this.scrub.slider.focus();
  }

  close() {
    if (this.root.hidden) return;
    this.scrub.stop();
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
    this.now = n;
    this.draw();
    try {
      const view = await this.view(n);
      if (n !== this.now || this.root.hidden) return; // moved on in the meantime
      this.app.past = view;
      this.app.render();
    } catch {
      this.app.toast.show(t("toast.offline"));
    }
  }

  draw() {
    const { turns, now, app, scrub } = this,
      turn = turns[now],
      player = app.newest.players[turn.player];
    const text = t("replay.turn", { n: turn.turn + 1, all: turns.at(-1).turn + 1 });
    scrub.show(now, turns.length - 1, `${text}, ${player.name}`);
    replace(this.text, h("b", {}, text), " ", player.name);
  }
}
