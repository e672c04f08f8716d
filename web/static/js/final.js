// The final scoring step by step: every feature on the board with its points, then the table and the winners.

import { button, closer, h, redraw } from "./dom.js";
import { badge } from "./figures.js";
import { awardList } from "./awards.js";
import { chart, totals } from "./chart.js";
import { extras, featureIcon, formula, gains, majority, reason } from "./feed.js";
import { listed, t } from "./i18n.js";

export class Final {
  /** @type {any} */
  root;
  /** @type {any} */
  point;
  /** @type {any} */
  changed;
  /** @type {any} */
  done;
  /** @type {any} */
  proof;
  /** @type {any} */
  fix;
  /** @type {any} */
  share;
  /** @type {any} */
  again;

  // point(event) highlights a feature on the board, proof(event) opens its proof, fix(event) where to correct it; done()
  // leaves, again() repeats the reveal on all screens
  constructor(root, { point, changed, done, proof, fix, share, again }) {
    Object.assign(this, { root, point, changed, done, proof, fix, share, again });
    this.isOpen = false;
    this.step = null; // null: the result; otherwise the number of a step
  }

  open() {
    this.isOpen = true;
    this.step = null;
    this.root.hidden = false;
  }

  close() {
    this.isOpen = false;
    this.root.hidden = true;
    this.point(null);
  }

  data(view) {
    return view.final ?? view.projected_final;
  }

  steps(final) {
    return final.stages.flatMap((stage) => stage.events.map((event) => ({ stage: stage.name, event })));
  }

  // The scores in the players' rows during the walk: those before the current step. Null if the rows show their own.
  scores(view) {
    const final = this.data(view);
    if (!this.isOpen || !final) return null;
    if (this.step === null) return final.totals;
    const now = [...final.totals];
    for (const { event } of this.steps(final).slice(this.step)) for (const p of event.points) now[p.player] -= p.points;
    return now;
  }

  // What the current step is about to add, by player.
  pending(view) {
    const final = this.data(view),
      out = [];
    if (this.isOpen && final && this.step !== null)
      for (const p of this.steps(final)[this.step]?.event.points ?? []) out[p.player] = p.points;
    return out;
  }

  go(step, view) {
    const steps = this.steps(this.data(view));
    this.step = step === null || step >= steps.length || step < 0 ? null : step;
    this.point(this.step === null ? null : steps[this.step].event);
    this.changed();
    this.root.querySelector("[data-key='next'], [data-key='walk']")?.focus({ preventScroll: true });
  }

  show(view, letters) {
    const final = this.data(view);
    if (!this.isOpen || !final) return;
    const steps = this.steps(final);
    if (this.step !== null && this.step >= steps.length) this.step = null;
    redraw(
      this.root,
      h(
        "header",
        {},
        h("h2", { tabindex: -1, data: { key: "title" } }, t(view.final ? "final.title" : "final.now")),
        closer(t("sheet.close"), this.done),
      ),
      this.step === null ? this.result(view, final, letters, steps) : this.walk(view, letters, steps),
    );
  }

  walk(view, letters, steps) {
    const { stage, event } = steps[this.step];
    const why = majority(event, view.players);
    return h(
      "div",
      { class: "walk" },
      h(
        "div",
        { class: "walk-stage" },
        h("b", {}, t(`final.stage.${stage}`, { fallback: stage })),
        h("span", {}, t("final.step", { n: this.step + 1, all: steps.length })),
      ),
      h("progress", { max: steps.length, value: this.step + 1, "aria-hidden": "true" }),
      h(
        "div",
        { class: "event big" },
        featureIcon(event.feature),
        h(
          "span",
          { class: "event-text" },
          h("span", { class: "reason" }, reason(event)),
          gains(event, view.players, letters),
          h("span", { class: "formula" }, formula(event)),
          extras(event, view.players).map((e) => h("span", { class: "formula", dir: "auto" }, e)),
          why && h("span", { class: "why", dir: "auto" }, why),
        ),
      ),
      h("p", { class: "note" }, t(`rule.${event.rule}`, { fallback: "" })),
      h(
        "div",
        { class: "row" },
        button(t("proof.open"), () => this.proof(event), { icon: "look", className: "action", data: { key: "proof" } }),
        button(t("final.fix"), () => this.fix(event), { icon: "pen", className: "action", data: { key: "mend" } }),
        button(t("final.back"), () => this.go(this.step - 1, view), {
          icon: "back",
          className: "action",
          data: { key: "back" },
        }),
        button(t(this.step + 1 < steps.length ? "final.next" : "final.done"), () => this.go(this.step + 1, view), {
          icon: "next",
          className: "action main",
          data: { key: "next" },
        }),
      ),
    );
  }

  result(view, final, letters, steps) {
    const names = final.winners.map((n) => view.players[n].name);
    const key = view.final
      ? names.length === 1
        ? "final.wins"
        : final.tie === "shared"
          ? "final.share"
          : "final.tie"
      : names.length === 1
        ? "final.leads"
        : "final.leads2";
    return h(
      "div",
      { class: "result" },
      h(
        "p",
        { class: "winner" },
        final.winners.map((n) => badge(view.players[n], letters[n], { size: "large" })),
        h("span", { dir: "auto" }, t(key, { name: names[0], names: listed(names) })),
      ),
      steps.length > 0 &&
        button(t(view.final ? "reveal.again" : "final.walk"), () => (view.final ? this.again() : this.go(0, view)), {
          icon: "next",
          className: "action main",
          data: { key: "walk" },
        }),
      totals(view, letters, final),
      h("section", {}, h("h3", {}, t("final.chart")), chart(view, letters, final)),
      awardList(view, letters, final, this.proof),
      view.final &&
        h(
          "section",
          {},
          h("h3", {}, t("final.shareit")),
          h(
            "div",
            { class: "row share" },
            button(t("share.png"), this.share, { icon: "share", className: "action main", data: { key: "share" } }),
            h("a", { class: "action", href: "/api/export/scores.csv", download: "" }, t("share.csv")),
            h("a", { class: "action", href: "/api/export/game.json", download: "" }, t("share.game")),
          ),
        ),
      final.stages.filter((stage) => stage.events.length).map((stage) => this.stage(stage, view, letters, steps)),
    );
  }

  stage(stage, view, letters, steps) {
    const line = (event) =>
      h(
        "button",
        {
          type: "button",
          class: "event",
          on: {
            click: () =>
              this.go(
                steps.findIndex((one) => one.event === event),
                view,
              ),
          },
        },
        featureIcon(event.feature),
        h(
          "span",
          { class: "event-text" },
          gains(event, view.players, letters),
          h("span", { class: "formula" }, formula(event)),
        ),
      );
    return h(
      "section",
      {},
      h("h3", {}, t(`final.stage.${stage.name}`, { fallback: stage.name })),
      h(
        "ul",
        {},
        stage.events.map((event) => h("li", {}, line(event))),
      ),
    );
  }
}
