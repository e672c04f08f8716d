// A tournament's round at this table: the chess clock, and at the end the slip that every player confirms.

import { badge } from "../figures.js";
import { button, h, redraw } from "../dom.js";
import { clubTexts, t } from "../i18n.js";

const SHORT_S = 60;

const time = (seconds) => {
  const whole = Math.max(0, Math.floor(Math.abs(seconds)));
  return `${seconds <= -1 ? "−" : ""}${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
};

export class Round {
  /** @type {any} */
  view = null;
  /** @type {any} */
  clock = null;
  since = 0;
  told = "";

  constructor(app, root) {
    this.app = app;
    this.root = root;
    document.head.append(h("link", { rel: "stylesheet", href: "/static/css/round.css" }));
    setInterval(() => this.tick(), 500);
  }

  async show(view) {
    this.view = view;
    this.root.hidden = !view.round || (view.phase === "over" && !view.reveal?.told); // nobody confirms what has not been revealed
    if (this.root.hidden) return;
    await clubTexts();
    const told = JSON.stringify([view.round, view.phase, view.players.map((p) => [p.name, p.score])]);
    if (told === this.told) return;
    this.told = told;
    this.take(view.round.clock);
    this.draw();
    if (view.round.clock) await this.ask();
  }

  take(clock) {
    this.clock = clock ?? null;
    this.since = performance.now();
  }

  // A view may be older than this page, so the clock is requested.
  async ask() {
    try {
      const { round } = await (await fetch("/api/round", { cache: "no-store" })).json();
      if (round?.clock) this.take(round.clock);
      this.tick();
    } catch {
      // the next view has a new one
    }
  }

  left(n) {
    return this.clock.left_s[n] - (this.clock.running === n ? (performance.now() - this.since) / 1000 : 0);
  }

  draw() {
    const { round, phase, players } = this.view,
      { letters } = this.app;
    if (phase === "over") {
      redraw(
        this.root,
        h("h3", {}, t("round.slip", { n: round.number })),
        h("p", { class: "note" }, t(round.confirmed.every(Boolean) ? "round.done" : "round.slip.note")),
        players.map((p, n) =>
          round.confirmed[n]
            ? h("p", { class: "agreed" }, badge(p, letters[n], { size: "small" }), t("round.agreed", { name: p.name }))
            : button(
                t("round.agree", { name: p.name, points: p.score }),
                () => this.app.commands.send({ do: "confirm", player: n }),
                { className: "action", data: { key: `agree-${n}` } },
              ),
        ),
      );
      return;
    }
    const { clock } = this;
    redraw(
      this.root,
      h("h3", {}, t("round.title", { n: round.number })),
      clock &&
        h(
          "div",
          { class: "round-clocks" },
          players.map((p, n) =>
            h(
              "span",
              { class: "round-clock", data: { clock: n } },
              badge(p, letters[n], { size: "small" }),
              h("b", {}),
            ),
          ),
        ),
      clock &&
        h(
          "div",
          { class: "row" },
          button(
            t(clock.running === null ? "round.start" : "round.press"),
            () => this.app.commands.send({ do: "clock", act: "press" }),
            { icon: "clock", className: "action main", title: t("round.press.note"), data: { key: "clock-press" } },
          ),
          clock.running !== null &&
            button(t("round.stop"), () => this.app.commands.send({ do: "clock", act: "stop" }), {
              icon: "stop",
              className: "action",
              label: false,
              data: { key: "clock-stop" },
            }),
        ),
    );
    this.tick();
  }

  tick() {
    if (!this.clock || this.root.hidden) return;
    for (const el of this.root.querySelectorAll("[data-clock]")) {
      const n = Number(el.dataset.clock),
        seconds = this.left(n);
      el.querySelector("b").textContent = time(seconds);
      el.setAttribute("aria-label", t("round.time", { name: this.view.players[n].name, time: time(seconds) }));
      el.classList.toggle("runs", this.clock.running === n);
      el.classList.toggle("short", seconds < SHORT_S);
    }
  }
}
