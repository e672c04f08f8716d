// The bar to scrub through the turns of a game: play, one back, a slider, one on.

import { button, h } from "./dom.js";
import { t } from "./i18n.js";

export class Scrub {
  now = 0;
  last = 0;
  /** @type {any} */
  playing = null;

  // go(n) shows place n and calls `show` here; playing takes stepMs per place
  constructor(go, stepMs) {
    this.go = go;
    this.stepMs = stepMs;
    this.slider = h("input", {
      type: "range",
      min: 0,
      step: 1,
      class: "scrub",
      "aria-label": t("replay.slider"),
      on: { input: () => this.to(Number(this.slider.value)) },
    });
    this.player = button(t("replay.play"), () => this.play(), {
      icon: "play",
      label: false,
      className: "action",
      data: { key: "play" },
    });
    const step = (name, icon, key, by) =>
      button(t(name), () => this.to(this.now + by), { icon, label: false, className: "action", data: { key } });
    this.parts = [
      this.player,
      step("replay.back", "back", "earlier", -1),
      this.slider,
      step("replay.next", "next", "later", 1),
    ];
  }

  // Somebody moves there by hand.
  to(n) {
    this.stop();
    this.go(Math.max(0, Math.min(this.last, n)));
  }

  show(now, last, text) {
    Object.assign(this, { now, last });
    this.slider.max = last;
    this.slider.value = now;
    this.slider.setAttribute("aria-valuetext", text);
  }

  stop() {
    clearInterval(this.playing);
    this.playing = null;
    this.tell();
  }

  play() {
    if (this.playing) return this.stop();
    if (this.now >= this.last) this.go(0);
    this.playing = setInterval(() => {
      if (this.now >= this.last) this.stop();
      else this.go(this.now + 1);
    }, this.stepMs);
    this.tell();
  }

  tell() {
    this.player.setAttribute("aria-label", t(this.playing ? "replay.stop" : "replay.play"));
    this.player.setAttribute("aria-pressed", String(!!this.playing));
  }
}
