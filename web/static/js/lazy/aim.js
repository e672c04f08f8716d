// Aiming the camera: measurements of its newest picture, polled, as numbers and as advice.

import { post } from "../access.js";
import { h, replace, symbol } from "../dom.js";
import { has, number, t } from "../i18n.js";
import { errorText } from "../words.js";
import { Part, refusal } from "./part.js";

const EVERY_MS = 900,
  TILT_DEG = 3,
  DARK = 70,
  BRIGHT = 205;

// An advice of `calibration/` in the reader's language; its words are texts of their own.
/** @param {Record<string, any>} advice */
export function adviceText({ code, parts, text }) {
  /** @type {Record<string, any>} */
  const said = { ...parts };
  if (said.where !== undefined) said.where = t(`where.${String(said.where).replaceAll(" ", "-")}`);
  for (const key of ["a", "b", "colour"])
    if (said[key] !== undefined) said[key] = t(`colour.${said[key]}`, { fallback: said[key] });
  if (said.colours !== undefined)
    said.colours = String(said.colours)
      .split(",")
      .map((c) => t(`colour.${c}`, { fallback: c }))
      .join(", ");
  const key = `advice.${code}`;
  return has(key) ? t(key, said) : errorText({ code, text });
}

export const advices = (list) =>
  h(
    "ul",
    { class: "advice" },
    list.map((a) =>
      h("li", { class: a.bad ? "bad" : "" }, symbol(a.bad ? "alert" : "ask"), h("span", {}, adviceText(a))),
    ),
  );

export class Aim extends Part {
  open = false; // the numbers, once somebody opens them

  // With `single` people follow one sentence at a time; the numbers are available on demand.
  constructor(app, root, single = false) {
    super(app, root);
    this.single = single;
    this.picture = h("img", { class: "aim-picture", alt: t("camera.picture"), hidden: true });
    this.about = h("div", { class: "aim-about" });
  }

  enter() {
    replace(
      this.root,
      h("section", {}, !this.single && h("h3", {}, t("machine.aim")), h("p", { class: "note" }, t("aim.note"))),
      h("div", { class: "aim" }, this.picture, this.about),
    );
    replace(this.about, h("p", { class: "note" }, t("camera.waiting")));
    this.look();
  }

  async look() {
    try {
      const answer = await post("/api/aim", {});
      const data = await answer.json();
      if (this.left) return;
      if (!answer.ok) return this.refuse(data.error);
      if (data.aim && data.look !== this.shown) {
        this.shown = data.look;
        this.draw(data.aim);
      }
      const { picture } = await (await fetch("/api/camera", { cache: "no-store" })).json();
      if (picture && !this.left) {
        this.picture.src = `/api/camera/${picture}.jpg`;
        this.picture.hidden = false;
      }
    } catch {
      replace(this.about, h("p", { class: "note" }, t("toast.offline")));
    }
    this.lookAgainIn(EVERY_MS);
  }

  refuse(error) {
    this.shown = null;
    replace(
      this.about,
      refusal(t("toast.failed", { text: errorText(error) }), () => this.look(), "aim-again"),
    );
  }

  draw(aim) {
    const row = (key, value, good) =>
      h(
        "div",
        { class: good === null ? "" : good ? "good" : "bad" },
        h("dt", {}, t(`aim.${key}`)),
        h(
          "dd",
          {},
          good !== null && symbol(good ? "check" : "alert"),
          h("span", {}, value),
          good !== null && h("span", { class: "sr" }, t(good ? "check.is.ok" : "check.is.warn")),
        ),
      );
    const [across, down] = aim.tiles ?? [],
      [needAcross, needDown] = aim.needed,
      unknown = t("aim.unknown");
    const meters = (list) =>
      this.single
        ? h(
            "details",
            {
              open: this.open,
              on: {
                toggle: (e) => {
                  this.open = e.currentTarget.open;
                },
              },
            },
            h("summary", {}, t("aim.numbers")),
            list,
          )
        : list;
    const bad = (code) => aim.advice.some((a) => a.code === `aim.${code}`);
    replace(
      this.about,
      h(
        "p",
        { class: `aim-sum ${aim.good ? "good" : "bad"}`, role: "status" },
        symbol(aim.good ? "check" : "alert"),
        t(aim.good ? "aim.good" : aim.tiles ? "aim.bad" : "aim.nothing"),
      ),
      aim.advice.length > 0 && advices(this.single ? aim.advice.slice(0, 1) : aim.advice),
      meters(
        h(
          "dl",
          { class: "meters" },
          row(
            "view",
            aim.tiles ? t("aim.tiles", { across, down, a: needAcross, b: needDown }) : unknown,
            aim.tiles ? across >= needAcross - 0.05 && down >= needDown - 0.05 : null,
          ),
          row(
            "tile",
            aim.tile_px === null ? unknown : t("aim.px", { n: aim.tile_px }),
            aim.tile_px === null ? null : !bad("resolution"),
          ),
          row("height", aim.height_mm === null ? unknown : t("aim.cm", { n: aim.height_mm / 10 }), null),
          row(
            "tilt",
            aim.tilt_deg === null ? unknown : t("aim.deg", { n: aim.tilt_deg }),
            aim.tilt_deg === null ? null : aim.tilt_deg <= TILT_DEG,
          ),
          row(
            "sharp",
            aim.edge_px === null
              ? unknown
              : // rounded up, so that a value shown as the limit is within it
                t("aim.edge", { n: Math.ceil(10 * aim.edge_px - 1e-6) / 10, most: number(aim.sharp_px) }),
            aim.edge_px === null || (aim.edge_px > aim.sharp_px && !aim.tiles && !bad("focus"))
              ? null
              : aim.edge_px <= aim.sharp_px,
          ),
          row(
            "glare",
            aim.glare.length ? t("aim.spots", { n: aim.glare.length }) : t("aim.noglare"),
            !aim.glare.length,
          ),
          row(
            "light",
            t("aim.level", { n: number(aim.level) }),
            aim.level >= DARK && aim.level <= BRIGHT && !bad("bright"),
          ),
        ),
      ),
    );
  }
}
