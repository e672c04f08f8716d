// First steps: from a machine that was just switched on to the first scored road. The table stores the current step
// and says what is proved: no step gets its check mark by being skipped.

import { entered, post } from "../access.js";
import { button, h, head, redraw, replace, symbol } from "../dom.js";
import { LANGUAGES, language, machineTexts, speak, t } from "../i18n.js";
import { tilePicture } from "../tileart.js";
import { figureOn } from "../tilebutton.js";
import { errorText, tileName } from "../words.js";
import { begunAgain } from "./again.js";
import { Aim } from "./aim.js";
import { Backup } from "./backup.js";
import { Calibrate } from "./calibrate.js";
import { Cameras } from "./cameras.js";
import { joinCard } from "./join.js";
import { panelStyle } from "./panel.js";
import { Teach } from "./teach.js";

const STEPS = ["welcome", "camera", "aim", "table", "tiles", "figures", "players", "practice", "play"];
const EVERY_MS = 2000,
  MARK = { done: "✓", answered: "•", skipped: "–" };

// A table without a guide of its own, like the demo, can be walked through as well; nothing is stored or proved then.
const alone = () => ({
  step: "welcome",
  finished: true,
  steps: STEPS.map((name) => ({ name, state: "open", answer: null })),
  practice: { plan: [], seen: {} },
});

export class Begin {
  /** @type {import("../app.js").App} */
  app;
  /** @type {any} */
  root;
  /** @type {any} */
  before = null;
  /** @type {any} */
  part = null;
  /** @type {any} */
  timer;

  constructor(app, root) {
    Object.assign(this, { app, root });
    root.addEventListener("keydown", (e) => e.key === "Escape" && this.close());
  }

  async open() {
    await Promise.all([panelStyle(), machineTexts()]);
    this.before = document.activeElement;
    this.app.sheet.close();
    await this.learn();
    this.root.hidden = false;
    this.show();
    this.root.querySelector("h2").focus();
  }

  close() {
    this.part?.leave();
    this.part = null;
    clearTimeout(this.timer);
    this.root.hidden = true;
    this.before?.focus?.();
    this.app.banner?.look();
  }

  // Another view is opened from here; this one returns when that is closed.
  leave(act, id) {
    const other = document.getElementById(id);
    this.close();
    act();
    const seen = new MutationObserver(() => {
      if (!other.hidden) return;
      seen.disconnect();
      this.open();
    });
    seen.observe(other, { attributes: true, attributeFilter: ["hidden"] });
  }

  async learn() {
    try {
      const answer = await fetch("/api/guide", { cache: "no-store" });
      if (answer.ok) this.state = await answer.json();
      else this.state ??= alone();
      this.kept = answer.ok;
    } catch {
      this.state ??= alone();
    }
  }

  // Sends a request to the guide. True once it is done.
  async ask(body) {
    if (!this.kept) {
      const at = STEPS.indexOf(body.step);
      if (body.do === "finish") this.state.finished = true;
      else this.state.step = STEPS[body.do === "skip" ? Math.min(at + 1, STEPS.length - 1) : at];
      return true;
    }
    try {
      const answer = await post("/api/guide", body),
        data = await answer.json();
      if (answer.ok) this.state = data;
      else this.app.toast.show(t("toast.failed", { text: errorText(data.error) }));
      return answer.ok;
    } catch {
      this.app.toast.show(t("toast.offline"));
      return false;
    }
  }

  async go(step) {
    if (await this.ask({ do: "go", step })) this.show();
  }

  async onward() {
    const name = this.state.step,
      at = STEPS.indexOf(name),
      { state } = this.state.steps[at];
    if (at === STEPS.length - 1) return this.finish();
    const passed = state === "done" || state === "answered";
    if (await this.ask(passed ? { do: "go", step: STEPS[at + 1] } : { do: "skip", step: name })) this.show();
  }

  // A new view of the table: the practice may have proved more by now.
  changed() {
    if (!this.root.hidden && this.state.step === "practice") this.look();
  }

  // What is proved, polled while a step is worked on.
  async look() {
    clearTimeout(this.timer);
    if (this.root.hidden) return;
    await this.learn();
    if (this.root.hidden) return;
    this.frame();
    if (this.state.step === "practice") this.drawPractice();
    if (this.state.step === "tiles") this.drawLearned();
    if (this.kept) this.timer = setTimeout(() => this.look(), EVERY_MS);
  }

  show() {
    const name = this.state.step;
    this.part?.leave();
    this.part = null;
    this.steps = h("ol", { class: "steps", "aria-label": t("begin.steps") });
    this.body = h("div", { class: "begin-part" });
    this.foot = h("footer", {});
    replace(
      this.root,
      head("begin-title", t("begin.title"), t("sheet.close"), () => this.close()),
      h(
        "div",
        { class: "setup-body begin-body", tabindex: 0, role: "group", "aria-labelledby": "begin-title" },
        this.steps,
        h("section", {}, h("h3", {}, t(`begin.${name}`)), h("p", {}, t(`begin.${name}.why`))),
        this.body,
      ),
      this.foot,
    );
    replace(this.body, this[name]());
    this.part?.enter();
    this.frame();
    clearTimeout(this.timer);
    if (this.kept) this.timer = setTimeout(() => this.look(), EVERY_MS);
  }

  // The current step, and the way on: skipping is always possible and is always called skipping.
  frame() {
    const at = STEPS.indexOf(this.state.step),
      now = this.state.steps[at],
      passed = now.state === "done" || now.state === "answered",
      last = at === STEPS.length - 1,
      told = JSON.stringify([at, this.state.steps]);
    if (this.steps.dataset.told === told) return; // what is about to be tapped stays in place
    this.steps.dataset.told = told;
    redraw(
      this.steps,
      this.state.steps.map(({ name, state }, k) =>
        h(
          "li",
          {},
          h(
            "button",
            {
              type: "button",
              class: `dot is-${state}`,
              "aria-current": k === at ? "step" : undefined,
              "aria-label": `${k + 1}: ${t(`begin.${name}`)} (${t(`begin.is.${state}`)})`,
              title: t(`begin.${name}`),
              data: { key: `step-${k}` },
              on: { click: () => this.go(name) },
            },
            MARK[state] ?? String(k + 1),
          ),
        ),
      ),
    );
    redraw(
      this.foot,
      h("p", { class: `note begin-state is-${now.state}`, role: "status" }, !last && t(`begin.is.${now.state}`)),
      at > 0 &&
        button(t("begin.back"), () => this.go(STEPS[at - 1]), {
          icon: "back",
          className: "action",
          data: { key: "begin-back" },
        }),
      button(t(last ? "begin.done" : passed ? "begin.next" : "begin.skip"), () => this.onward(), {
        icon: last ? "play" : "next",
        className: `action${passed || last ? " main" : ""}`,
        data: { key: "begin-next" },
      }),
    );
  }

  inside(Part, ...more) {
    const place = h("div", { class: "begin-inside" });
    this.part = new Part(this.app, place, ...more);
    return place;
  }

  welcome() {
    const { pin } = document.body.dataset;
    const restore = h("div", {});
    return [
      h(
        "div",
        { class: "row" },
        Object.entries(LANGUAGES).map(([code, name]) =>
          button(name, () => this.speak(code), {
            className: "action",
            lang: code,
            "aria-pressed": String(code === language),
            data: { key: `begin-${code}` },
          }),
        ),
      ),
      h("h4", {}, t("begin.pin")),
      h(
        "p",
        { class: "note" },
        t(pin === "unset" ? "begin.pin.why" : pin === "set" ? "begin.pin.set" : "join.machine"),
      ),
      pin === "unset" &&
        h(
          "div",
          { class: "row" },
          button(t("pin.set"), () => this.setPin(), { className: "action main", data: { key: "begin-pin" } }),
        ),
      pin !== "machine" && h("p", { class: "note" }, t("begin.pin.lost")),
      h("h4", {}, t("begin.restore.why")),
      h(
        "div",
        { class: "row" },
        button(
          t("begin.restore"),
          (e) => {
            /** @type {any} */ (e.currentTarget).hidden = true;
            replace(restore, this.inside(Backup));
            this.part.enter();
          },
          { icon: "undo", className: "action", data: { key: "begin-restore" } },
        ),
      ),
      restore,
    ];
  }

  // The page is reloaded in the other language, and the guide with it.
  speak(code) {
    history.replaceState(null, "", `${location.pathname}${location.search}#begin`);
    speak(code);
  }

  async setPin() {
    if (!(await entered("pin_unset"))) return;
    await this.learn();
    this.onward();
  }

  camera() {
    return this.inside(Cameras, () => begunAgain(this.app, undefined, "begin"));
  }

  aim() {
    return this.inside(Aim, true);
  }

  table() {
    return [
      h("p", { class: "note" }, t("begin.table.tiles")),
      this.sheets("cards", "mat", "charuco"),
      this.inside(Calibrate, ["table"]),
      h(
        "div",
        { class: "row" },
        button(t("begin.table.coarse"), () => this.choose("table", "coarse"), {
          className: "action",
          data: { key: "table-coarse" },
        }),
      ),
    ];
  }

  sheets(...names) {
    return h(
      "div",
      { class: "row" },
      names.map((name) =>
        h(
          "a",
          { class: "action", href: `/api/sheets/${name}.pdf`, download: "", data: { key: `sheet-${name}` } },
          symbol("share"),
          h("span", {}, t(`begin.sheet.${name}`)),
        ),
      ),
    );
  }

  async choose(step, value) {
    if (await this.ask({ do: "answer", step, value })) this.onward();
  }

  // Two ways: the sheet now, or learning tiles as they are confirmed during play, with the number known so far.
  tiles() {
    this.learned = h("p", { class: "note begin-learned", role: "status" });
    this.drawLearned();
    return [
      h("h4", {}, t("begin.tiles.learn.title")),
      h("p", { class: "note" }, t("begin.tiles.learn.why")),
      this.learned,
      h(
        "div",
        { class: "row" },
        button(t("begin.tiles.learn"), () => this.choose("tiles", "learn"), {
          icon: "eye",
          className: "action main",
          data: { key: "tiles-learn" },
        }),
      ),
      h("h4", {}, t("begin.tiles.sheet")),
      this.inside(Teach, { titled: false }),
    ];
  }

  async drawLearned() {
    try {
      const { tiles } = await (await fetch("/api/own-tiles", { cache: "no-store" })).json(),
        kinds = Object.keys(this.app.kinds).filter((id) => this.app.kinds[id].count),
        { chip } = this.app.newest.status;
      const known = kinds.filter((id) => tiles[id]).length;
      const said = [
        t(chip === "camera_lost" ? "begin.tiles.not_seen" : "begin.tiles.seen"),
        t("begin.tiles.known", { n: known, all: kinds.length }),
      ].join(" ");
      if (this.learned.textContent !== said) this.learned.textContent = said;
    } catch {
      // polled again in a moment
    }
  }

  figures() {
    return this.inside(Calibrate, ["supply", "colours"]);
  }

  players() {
    return [
      h(
        "ul",
        { class: "begin-players" },
        this.app.newest.players.map((p) => h("li", {}, p.name)),
      ),
      h(
        "div",
        { class: "row" },
        button(t("setup.title"), () => this.leave(() => this.app.setup(), "setup"), {
          icon: "plus",
          className: "action main",
          data: { key: "begin-players" },
        }),
      ),
    ];
  }

  practice() {
    this.seen = h("ol", { class: "practice" });
    this.drawPractice();
    const { plan } = this.state.practice;
    return [plan.length > 0 && this.road(plan), this.seen];
  }

  // The three tiles as they should lie, with the follower's place in words.
  road(plan) {
    const start = this.app.newest.board.tiles.find((p) => p.at[0] === 0 && p.at[1] === 0);
    const all = [plan[0], start && { tile: start.tile, rot: start.rot, at: [0, 0] }, plan[1]].filter(Boolean);
    const upright = plan[0].at[0] === 0,
      name = ({ tile, rot }) => tileName(this.app.kinds, tile, rot);
    return h(
      "div",
      {
        class: `road${upright ? " upright" : ""}`,
        role: "img",
        "aria-label": t("begin.practice.road", { a: name(plan[0]), b: name(plan[1]) }),
      },
      all.map(({ tile, rot, follower }) =>
        h(
          "span",
          {},
          tilePicture(
            tile,
            rot,
            undefined,
            ...(follower
              ? [
                  figureOn(this.app, tile, rot, { player: 0, figure: "follower", feature: "road", where: follower }),
                ].filter(Boolean)
              : []),
          ),
        ),
      ),
    );
  }

  // Ticked as the camera sees it happen; what is entered by hand proves nothing.
  drawPractice() {
    const { seen } = this.state.practice;
    redraw(
      this.seen,
      ["tile", "follower", "road"].map((key) =>
        h(
          "li",
          { class: seen[key] ? "done" : "" },
          seen[key] ? symbol("check") : symbol("clock"),
          h(
            "span",
            {},
            t(`begin.practice.${key === "road" ? "scored" : key}`),
            h("span", { class: "sr" }, seen[key] ? t("begin.seen") : ""),
          ),
        ),
      ),
    );
  }

  play() {
    return joinCard();
  }

  // The practice is stored as a separate game; the next one begins with the same people and an empty table. A guide that
  // was finished before is only closed: what is on the table then is not a practice.
  async finish() {
    const now = this.app.newest;
    const setup = {
      players: now.players.map(({ name, colour }) => ({ name, colour })),
      edition: now.edition,
      rules: {},
      expansions: now.expansions,
      aid: this.app.aid,
      ...(now.art && { art: now.art }),
    };
    if (
      !this.state.finished &&
      now.history.length &&
      !(await this.app.commands.send({ do: "new_game", setup }, { message: "setup.begun", look: (view) => view.game }))
    )
      return;
    await this.ask({ do: "finish" });
    this.close();
  }
}
