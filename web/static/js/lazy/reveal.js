// The end of the game, revealed to the whole room: one device leads, all screens follow. The server stores the step.

import { button, calm, h, redraw } from "../dom.js";
import { extras, featureIcon, formula, gains, majority, reason } from "../feed.js";
import { badge } from "../figures.js";
import { listed, t } from "../i18n.js";
import { errorText } from "../words.js";

const LIT_MS = 1700; // the feature is shown this long before its points are added
const PACE_MS = 5500; // a step when nobody taps
const SPOKEN_MS = 15000; // the longest that the timer waits for the voice
const KEPT = "bastide.device";
const FORWARD = new Set(["PageDown", "MediaTrackNext", "ArrowRight", "Enter", " "]),
  BACK = new Set(["PageUp", "MediaTrackPrevious", "ArrowLeft"]);

// An id of this device that survives reloading the page.
function deviceId() {
  const made = Math.random().toString(36).slice(2);
  try {
    const kept = sessionStorage.getItem(KEPT) ?? made;
    sessionStorage.setItem(KEPT, kept);
    return kept;
  } catch {
    return made;
  }
}

export class Reveal {
  /** @type {import("../app.js").App} */
  app;
  /** @type {any} */
  root;
  auto = false; // advances by itself
  added = false; // the points of the current step are in the bars
  at = "";
  drawn = "";
  fresh = false;
  comes = false; // set the focus with the next drawing
  lead = "";
  /** @type {any} */
  adding;
  /** @type {any} */
  pacing;
  /** @type {any} */
  lighting;

  constructor(app, root) {
    Object.assign(this, { app, root });
    this.device = deviceId();
    document.addEventListener("keydown", (e) => this.key(e));
  }

  get state() {
    return this.app.newest.reveal;
  }

  // Whether this device leads, or nobody does.
  get leads() {
    return !this.state.lead || this.state.lead === this.device;
  }

  // The scores in the players' rows: the server's contain what was revealed; the current step is added once it has been seen.
  scores(view) {
    const now = view.players.map((p) => p.score);
    if (this.added) for (const p of view.reveal.event?.points ?? []) now[p.player] += p.points;
    return now;
  }

  pending(view) {
    const out = [];
    if (!this.added) for (const p of view.reveal.event?.points ?? []) out[p.player] = p.points;
    return out;
  }

  // Moves everybody to a step.
  async go(step) {
    const { app } = this,
      result = await app.live.command({
        do: "reveal",
        step,
        lead: this.device,
        ...(app.commands.who && { who: app.commands.who }),
      });
    if (result.failed)
      app.toast.show(
        result.failed === "refused" ? t("toast.failed", { text: errorText(result) }) : t(`toast.${result.failed}`),
      );
  }

  next() {
    return this.go(this.state.step >= this.state.steps ? "end" : this.state.step + 1);
  }

  back() {
    if (this.state.step >= 0) this.go(this.state.step - 1);
  }

  // A remote or a presenter leads like a tap does.
  key(e) {
    if (
      !this.app.revealing ||
      e.ctrlKey ||
      e.metaKey ||
      e.altKey ||
      e.target.closest?.("input, select, textarea, .board, #sheet, #replay, .full")
    )
      return;
    if ((e.key === "Enter" || e.key === " ") && e.target.closest?.("button, a")) return; // the element handles it
    if (FORWARD.has(e.key)) this.next();
    else if (BACK.has(e.key)) this.back();
    else if (e.key === "MediaPlayPause") this.pace(!this.auto);
    else return;
    e.preventDefault();
  }

  // Advances by itself, or waits for a tap.
  pace(on) {
    this.auto = on;
    if (on && (!this.leads || this.state.step < 0))
      this.next(); // whoever starts the timer leads
    else this.await(Promise.resolve());
    this.app.render();
  }

  focus() {
    this.root.querySelector("[data-key='next'], .action")?.focus({ preventScroll: true });
  }

  // The current view, before its scores are drawn: another step lights up, then its points are added.
  follow(view) {
    const { app } = this;
    if (!app.revealing) {
      clearTimeout(this.adding);
      clearTimeout(this.pacing);
      if (this.at) app.point(null);
      this.at = this.drawn = "";
      this.auto = this.auto && !!app.past;
      return;
    }
    const { step, event, lead } = view.reveal,
      at = JSON.stringify([view.game, step, event?.places, event?.points]);
    if (lead !== this.lead) this.auto = this.auto && this.leads; // somebody else leads now
    this.lead = lead;
    if (at === this.at) return;
    this.at = at;
    this.fresh = true;
    clearTimeout(this.adding);
    this.added = !event || calm() || document.hidden;
    if (!this.added)
      this.adding = setTimeout(() => {
        this.added = true;
        app.render();
      }, LIT_MS);
    if (step >= 0) {
      const at = document.activeElement;
      this.comes = !!app.sheet.content && [app.sheet.root, this.root].some((el) => el.contains(at)); // whoever continued from a sheet continues here
      app.sheet.close();
      app.toast.hide();
    }
    app.board.svg.classList.add("lighting"); // only now, so that what is redrawn before does not animate again
    clearTimeout(this.lighting);
    this.lighting = setTimeout(() => app.board.svg.classList.remove("lighting"), LIT_MS - 400);
    app.point(event);
    this.await(this.speak(view));
  }

  show(view, letters) {
    const { app } = this;
    this.root.hidden = !app.revealing;
    if (!app.revealing) return;
    const { step, event } = view.reveal,
      asked = view.questions.length + app.askings.length;
    const key = JSON.stringify([
      this.at,
      view.reveal,
      this.auto,
      !!app.speech?.on,
      asked,
      view.players.map((p) => p.name),
    ]);
    if (key === this.drawn) return;
    this.drawn = key;
    this.root.className = this.fresh ? "fresh" : ""; // so that what was drawn before does not animate again
    this.fresh = false;
    redraw(
      this.root,
      h("h2", {}, t(step < 0 ? "reveal.over" : "final.title")),
      step < 0 ? this.before(asked) : event ? this.step(view, letters) : this.winner(view, letters),
    );
    if (this.comes) this.focus();
    this.comes = false;
  }

  // The timer waits for the voice, and for the step to have been visible.
  async await(voice) {
    const { at } = this;
    clearTimeout(this.pacing);
    if (!this.auto) return;
    const enough = new Promise((done) => {
      this.pacing = setTimeout(done, PACE_MS);
    });
    await Promise.all([enough, Promise.race([voice, new Promise((done) => setTimeout(done, SPOKEN_MS))])]);
    if (this.auto && this.app.revealing && at === this.at && this.leads) this.next();
  }

  // Announced to screen readers at once, and read aloud where that is switched on.
  async speak(view) {
    const { speech, said } = this.app,
      { event, step, steps } = view.reveal;
    if (step < 0) return;
    const { spoken } = await import("./speech.js");
    const text = event ? spoken(event, view.players) : this.verdict(view);
    said?.say(event ? `${t("final.step", { n: step + 1, all: steps })}: ${text}` : text);
    if (speech?.on) await speech.tell(text);
  }

  verdict({ final, players }) {
    const names = final.winners.map((n) => players[n].name);
    return t(names.length === 1 ? "final.wins" : final.tie === "shared" ? "final.share" : "final.tie", {
      name: names[0],
      names: listed(names),
    });
  }

  act(key, act, icon, more = {}) {
    return button(t(`reveal.${key}`), act, { icon, className: "action", data: { key }, ...more });
  }

  // The controls below every step.
  controls(main) {
    const { step, by } = this.state;
    if (!this.leads) {
      return h(
        "div",
        { class: "reveal-acts" },
        h("p", { class: "note", dir: "auto" }, by ? t("reveal.leads", { name: by }) : t("reveal.elsewhere")),
        this.act("take", () => this.next(), "next"),
        this.aloud(),
      );
    }
    return h(
      "div",
      { class: "reveal-acts" },
      main,
      step >= 0 &&
        button(t("final.back"), () => this.back(), { icon: "back", className: "action", data: { key: "back" } }),
      this.act("timer", () => this.pace(!this.auto), this.auto ? "stop" : "play", {
        "aria-pressed": String(this.auto),
      }),
      this.aloud(),
      step < this.state.steps && this.act("skip", () => this.go("end"), "flag"),
    );
  }

  // Each device speaks or is silent.
  aloud() {
    return (
      "speechSynthesis" in window &&
      this.act("aloud", () => this.app.speak().then(() => this.app.render()), "voice", {
        "aria-pressed": String(!!this.app.speech?.on),
      })
    );
  }

  before(asked) {
    const { app } = this;
    const tv = app.isTv && h("p", { class: "note" }, t("reveal.tv"));
    if (!asked)
      return h(
        "div",
        { class: "walk" },
        h("p", { class: "big-line" }, t("reveal.intro")),
        tv,
        this.controls(
          this.act("begin", () => this.next(), "next", { className: "action main", data: { key: "next" } }),
        ),
      );
    return h(
      "div",
      { class: "walk" },
      h("p", { class: "big-line" }, t("reveal.first", { n: asked })),
      h("p", {}, t("reveal.first.note")),
      h(
        "div",
        { class: "reveal-acts" },
        this.act(
          "answer",
          () => {
            app.later.clear();
            app.ask({ all: true });
          },
          "ask",
          { className: "action main" },
        ),
        this.act("anyway", () => this.next(), "next", { data: { key: "next" } }),
      ),
    );
  }

  step(view, letters) {
    const { app } = this,
      { event, stage, step, steps } = view.reveal,
      { players } = view,
      why = majority(event, players);
    const main = this.act(step + 1 < steps ? "next" : "who", () => this.next(), "next", {
      className: "action main",
      data: { key: "next" },
    });
    return h(
      "div",
      { class: "walk" },
      h(
        "div",
        { class: "walk-stage" },
        h("b", {}, t(`final.stage.${stage}`, { fallback: stage })),
        h("span", {}, t("final.step", { n: step + 1, all: steps })),
      ),
      h("progress", { max: steps, value: step + 1, "aria-hidden": "true" }),
      h(
        "div",
        { class: "event big" },
        featureIcon(event.feature),
        h(
          "span",
          { class: "event-text" },
          h("span", { class: "reason" }, reason(event)),
          h(
            "span",
            { class: "sum" },
            gains(event, players, letters),
            h("span", { class: "formula" }, formula(event)),
            extras(event, players).map((e) => h("span", { class: "formula", dir: "auto" }, e)),
            why && h("span", { class: "why", dir: "auto" }, why),
          ),
        ),
      ),
      this.controls(main),
      h(
        "div",
        { class: "reveal-acts small" },
        button(t("proof.open"), () => app.proof(event), { icon: "look", className: "action", data: { key: "proof" } }),
        button(t("final.fix"), () => app.mend(event), { icon: "pen", className: "action", data: { key: "mend" } }),
      ),
    );
  }

  winner(view, letters) {
    const { final, players } = view;
    return h(
      "div",
      { class: "walk crowning" },
      h(
        "p",
        { class: "winner" },
        final.winners.map((n) => badge(players[n], letters[n], { size: "large" })),
        h("span", { dir: "auto" }, this.verdict(view)),
      ),
      h("p", { class: "crowning-points" }, t("player.points", { n: final.totals[final.winners[0]] })),
      this.controls(this.act("result", () => this.next(), "next", { className: "action main", data: { key: "next" } })),
    );
  }
}
