// The self-test: ten tiles and three figures are laid as shown; what was read of them, how surely, how fast, and what
// would make it better.

import { post } from "../access.js";
import { button, h, redraw, replace, s, symbol } from "../dom.js";
import { number, percent, t } from "../i18n.js";
import { tilePicture } from "../tileart.js";
import { figureOn } from "../tilebutton.js";
import { errorText, tileName } from "../words.js";
import { adviceText, advices } from "./aim.js";

const EVERY_MS = 700;

export class Trial {
  /** @type {import("../app.js").App} */
  app;
  /** @type {any} */
  root;
  /** @type {any} */
  timer;

  constructor(app, root) {
    Object.assign(this, { app, root });
    this.left = false;
    this.said = h("p", { class: "sr", role: "status" });
  }

  enter() {
    replace(this.root, h("p", { class: "note" }, t("fix.searching")));
    this.ask();
  }

  leave() {
    this.left = true;
    clearTimeout(this.timer);
  }

  async ask() {
    clearTimeout(this.timer);
    try {
      const answer = await fetch("/api/calibration", { cache: "no-store" }),
        data = await answer.json();
      if (answer.ok) this.take(data);
      else replace(this.root, h("p", { class: "note warn" }, errorText(data.error)));
    } catch {
      replace(this.root, h("p", { class: "note" }, t("toast.offline")));
    }
  }

  async begin() {
    try {
      const answer = await post("/api/calibration", { what: "trial", by: "", camera: "" }),
        data = await answer.json();
      if (answer.ok) this.take(data);
      else this.app.toast.show(t("toast.failed", { text: errorText(data.error) }));
    } catch {
      this.app.toast.show(t("toast.offline"));
    }
  }

  take(state) {
    if (this.left) return;
    const ended = this.state?.running === "trial" && !state.running;
    this.state = state;
    this.draw();
    if (ended) this.said.textContent = t(state.done.trial?.ok ? "trial.read" : "calibrate.failed");
    if (state.running) this.timer = setTimeout(() => this.ask(), EVERY_MS);
  }

  draw() {
    const { camera, running, done, trial } = this.state,
      result = done.trial;
    redraw(
      this.root,
      this.said,
      h("section", {}, h("h3", {}, t("machine.trial")), h("p", { class: "note" }, t("trial.why"))),
      !camera && h("p", { class: "note warn" }, t("camera.none")),
      camera && trial.tiles.length > 0 && this.shown(trial, result?.ok ? result : null),
      camera &&
        h(
          "div",
          { class: "row" },
          button(t(running === "trial" ? "trial.reading" : "trial.go"), () => this.begin(), {
            icon: running === "trial" ? "clock" : "look",
            className: "action main",
            disabled: !!running,
            data: { key: "trial-go" },
          }),
        ),
      result && (result.ok ? this.report(result) : this.failed(result.error)),
    );
  }

  // The layout as a board of its own; what was not read right has a rim.
  shown({ tiles, figures }, result) {
    const xs = tiles.map((p) => p.at[0]),
      ys = tiles.map((p) => p.at[1]),
      [left, top] = [Math.min(...xs), Math.min(...ys)];
    const wrong = new Set((result ? [...result.tiles.wrong, ...result.figures.wrong] : []).map((w) => w.at.join()));
    return h(
      "div",
      { class: "trial-board", role: "img", "aria-label": t("trial.board", { n: tiles.length, m: figures.length }) },
      tiles.map(({ at, tile, rot }) =>
        h(
          "span",
          {
            class: wrong.has(at.join()) ? "wrong" : "",
            style: { "grid-column": String(at[0] - left + 1), "grid-row": String(at[1] - top + 1) },
          },
          tilePicture(
            tile,
            rot,
            undefined,
            ...figures
              .filter((f) => f.at.join() === at.join())
              .map((f) => figureOn(this.app, tile, rot, { ...f, figure: "follower" }) ?? s("g")),
          ),
        ),
      ),
    );
  }

  failed(error) {
    return h("div", { class: "outcome bad" }, symbol("alert"), h("p", {}, adviceText(error)));
  }

  report(r) {
    const whole = !r.tiles.wrong.length && !r.figures.wrong.length,
      name = (w) => tileName(this.app.kinds, w.tile);
    return h(
      "div",
      { class: `outcome ${whole ? "good" : "bad"}` },
      symbol(whole ? "check" : "alert"),
      h(
        "div",
        {},
        h("p", {}, h("b", {}, t("trial.tiles", { n: r.tiles.right, all: r.tiles.wanted }))),
        h("p", {}, h("b", {}, t("trial.figures", { n: r.figures.right, all: r.figures.wanted }))),
        h("p", {}, t("trial.sure", { p: percent(r.sure), s: number(r.seconds) })),
        r.tiles.wrong.length > 0 &&
          h(
            "ul",
            {},
            r.tiles.wrong.map((w) =>
              h(
                "li",
                {},
                w.read === null
                  ? t("trial.unseen", { tile: name(w) })
                  : t("trial.mistaken", { tile: name(w), read: tileName(this.app.kinds, w.read) }),
              ),
            ),
          ),
        r.advice.length > 0 ? advices(r.advice) : whole && h("p", {}, t("trial.nothing")),
      ),
    );
  }
}
