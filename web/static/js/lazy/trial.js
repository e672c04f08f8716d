// The self-test: ten tiles and three figures are laid as shown; the report says how they were read, how confidently and
// how fast, and what would improve it.

import { button, h, redraw, s, symbol } from "../dom.js";
import { number, percent, t } from "../i18n.js";
import { tilePicture } from "../tileart.js";
import { figureOn } from "../tilebutton.js";
import { tileName } from "../words.js";
import { adviceText, advices } from "./aim.js";
import { Calibration } from "./calibration.js";

export class Trial extends Calibration {
  begin() {
    return this.send("/api/calibration", { what: "trial", by: "", camera: "" });
  }

  ended(what) {
    if (what !== "trial") return;
    this.said.textContent = t(this.state.done.trial?.ok ? "trial.read" : "calibrate.failed");
    this.root.querySelector(".outcome")?.scrollIntoView({ block: "nearest" }); // on a phone it is below the tiles
  }

  draw() {
    const { camera, running, done, trial } = this.state,
      result = done.trial;
    redraw(
      this.root,
      this.said,
      h("section", {}, h("h3", {}, t("machine.trial")), h("p", { class: "note" }, t("trial.why"))),
      !camera && h("p", { class: "note warn" }, t("camera.none")),
      camera &&
        h(
          "div",
          { class: "trial" },
          trial.tiles.length > 0 && this.shown(trial, result?.ok ? result : null),
          h(
            "div",
            { class: "trial-told" },
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
            result && (result.ok ? this.report(result) : this.stopped(result.error)),
          ),
        ),
    );
  }

  // The layout as a board of its own; misread tiles are outlined.
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

  stopped(error) {
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
