// The initial view overlaid on the live one, half transparent and as edges, so that whoever bumped the table or
// the camera can push it back until both match; with the remaining distance in millimetres and degrees.

import { button, h, redraw, replace, s, symbol } from "../dom.js";
import { number, t } from "../i18n.js";
import { sentence, statusText } from "../words.js";
import { Part } from "./part.js";

const EVERY_MS = 800,
  LAYERS = ["ghost", "edges", "arrows"];

export class Ghost extends Part {
  /** @type {any} */
  state = null;
  on = { ghost: true, edges: true, arrows: true };
  live = h("img", { class: "aim-picture", alt: t("camera.picture") });
  layers = h("div", { class: "ghost-layers" });
  about = h("div", { class: "aim-about" });
  tools = h("div", { class: "row", role: "group", "aria-label": t("camera.layers") });

  enter() {
    this.stage = h("div", { class: "ghost-stage", hidden: true }, this.live, this.layers);
    replace(
      this.root,
      h("section", {}, h("h3", {}, t("machine.ghost")), h("p", { class: "note" }, t("ghost.why"))),
      h("div", { class: "aim" }, this.stage, h("div", { class: "aim-about" }, this.about, this.tools)),
    );
    replace(this.about, h("p", { class: "note" }, t("camera.waiting")));
    this.look();
  }

  async look() {
    try {
      const state = await (await fetch("/api/ghost", { cache: "no-store" })).json();
      if (this.left) return;
      await this.load(state);
      this.state = state;
      this.draw();
    } catch {
      if (!this.left) replace(this.about, h("p", { class: "note" }, t("toast.offline")));
    }
    this.lookAgainIn(EVERY_MS);
  }

  // The live picture is replaced once the next one has loaded.
  async load({ picture }) {
    if (!picture || picture === this.shown) return;
    const next = new Image();
    next.src = `/api/camera/${picture}.jpg`;
    try {
      await next.decode();
    } catch {
      return; // another has replaced it
    }
    this.live.src = next.src;
    this.shown = picture;
  }

  draw() {
    const { camera, reference, size, moved } = this.state;
    this.stage.hidden = !this.shown;
    if (!camera || reference === null) {
      replace(this.layers);
      replace(this.tools);
      redraw(this.about, h("p", { class: "note" }, t(camera ? "ghost.none" : "camera.none")));
      return;
    }
    const told = JSON.stringify([reference, this.on]);
    if (this.layers.dataset.told !== told) {
      this.layers.dataset.told = told;
      this.arrows = s("svg", { viewBox: `0 0 ${size[0]} ${size[1]}`, "aria-hidden": "true" });
      replace(
        this.layers,
        this.on.ghost && h("img", { src: `/api/ghost/${reference}.jpg`, alt: "", class: "ghost-view" }),
        this.on.edges && h("img", { src: `/api/ghost/${reference}.png`, alt: "" }),
        this.arrows,
      );
      replace(
        this.tools,
        LAYERS.map((name) =>
          button(
            t(`ghost.${name}`),
            () => {
              this.on[name] = !this.on[name];
              this.draw();
              this.tools.querySelector(`[data-key="layer-${name}"]`).focus();
            },
            { className: "action", "aria-pressed": String(this.on[name]), data: { key: `layer-${name}` } },
          ),
        ),
      );
    }
    replace(this.arrows, this.on.arrows && moved && !moved.back && moved.arrows_px.map((a) => this.arrow(a)));
    redraw(this.about, this.leftToDo(moved));
  }

  // From where something is to where it belongs.
  arrow([x1, y1, x2, y2]) {
    const length = Math.hypot(x2 - x1, y2 - y1),
      head = Math.min(14, length / 2);
    if (length < 2) return "";
    const angle = Math.atan2(y2 - y1, x2 - x1),
      side = (turn) => `${x2 - head * Math.cos(angle + turn)},${y2 - head * Math.sin(angle + turn)}`;
    return s("polyline", { points: `${x1},${y1} ${x2},${y2} ${side(0.5)} ${x2},${y2} ${side(-0.5)}` });
  }

  leftToDo(moved) {
    if (!moved) return h("p", { class: "aim-sum", role: "status" }, symbol("look"), h("span", {}, t("ghost.unsure")));
    const row = (key, value) => h("div", {}, h("dt", {}, t(`ghost.${key}`)), h("dd", {}, h("span", {}, value)));
    return [
      h(
        "p",
        { class: `aim-sum ${moved.back ? "good" : "bad"}`, role: "status" },
        symbol(moved.back ? "check" : "alert"),
        h("span", {}, moved.back ? t("ghost.back") : sentence(statusText(moved.advice))),
      ),
      h(
        "dl",
        { class: "meters" },
        row("across", t("lens.mm", { n: number(moved.x_mm || 0) })),
        row("down", t("lens.mm", { n: number(moved.y_mm || 0) })),
        row("turn", `${number(Math.round(10 * moved.turn_deg) / 10 || 0)}°`),
        row("furthest", t("lens.mm", { n: number(moved.furthest_mm) })),
      ),
    ];
  }
}
