// Calibrating the table and the players' colours: one button each, and the quality of the result.

import { button, h, redraw, replace, symbol } from "../dom.js";
import { dated, number, t } from "../i18n.js";
import { adviceText, advices } from "./aim.js";
import { Calibration } from "./calibration.js";

const WAYS = ["", "mat", "cards", "charuco", "tiles"];
const fitted = (d) => ({ mm: Math.round(100 * d.rms_mm) / 100, corner: Math.round(10 * d.worst_corner_mm) / 10 });

export class Calibrate extends Calibration {
  by = "";
  camera = "";

  constructor(app, root, parts = ["table", "colours", "supply", "used"]) {
    super(app, root);
    this.parts = parts;
  }

  ended(what) {
    this.said.textContent = t(this.state.done[what]?.ok ? "calibrate.done" : "calibrate.failed");
  }

  draw() {
    const { camera, running, done } = this.state;
    if (!camera) {
      replace(
        this.root,
        h(
          "section",
          {},
          h("h3", {}, t("camera.none")),
          h("p", { class: "note" }, t("calibrate.none")),
          h(
            "div",
            { class: "row" },
            button(t("machine.cameras"), () => this.app.machine("cameras"), {
              icon: "eye",
              className: "action main",
              data: { key: "calibrate-cameras" },
            }),
          ),
        ),
      );
      return;
    }
    const go = (what) =>
      button(
        t(running === what ? "calibrate.running" : `calibrate.${what}.go`),
        () => this.send("/api/calibration", { what, by: what === "table" ? this.by : "", camera: this.camera }),
        {
          icon: running === what ? "clock" : "check",
          className: "action main",
          disabled: !!running,
          data: { key: `go-${what}` },
        },
      );
    const title = (what) => t(`calibrate.${what}`);
    redraw(
      this.root,
      this.said,
      this.parts.includes("table") &&
        h(
          "section",
          {},
          h("h3", {}, title("table")),
          h("p", { class: "note" }, t("calibrate.table.why")),
          h(
            "div",
            { class: "cards" },
            WAYS.map((by) =>
              h(
                "button",
                {
                  type: "button",
                  class: "card",
                  "aria-pressed": String(this.by === by),
                  data: { key: `by-${by}` },
                  on: {
                    click: () => {
                      this.by = by;
                      this.draw();
                    },
                  },
                },
                h("b", {}, t(`calibrate.by.${by || "any"}`)),
                h("span", {}, t(`calibrate.by.${by || "any"}.note`)),
              ),
            ),
          ),
          h(
            "label",
            { class: "wide-label" },
            h("span", {}, t("calibrate.camera")),
            h(
              "select",
              {
                data: { key: "camera" },
                on: {
                  change: (e) => {
                    this.camera = e.target.value;
                  },
                },
              },
              h("option", { value: "", selected: !this.camera }, t("calibrate.camera.own")),
              this.state.cameras.map((c) =>
                h("option", { value: c.name, selected: this.camera === c.name, lang: "en" }, c.title),
              ),
            ),
          ),
          h("div", { class: "row" }, go("table")),
          done.table && this.result(done.table, (d) => this.tableResult(d)),
        ),
      this.parts.includes("colours") &&
        h(
          "section",
          {},
          h("h3", {}, title("colours")),
          h("p", { class: "note" }, t("calibrate.colours.why")),
          h("div", { class: "row" }, go("colours")),
          done.colours && this.result(done.colours, (d) => this.distances(d)),
        ),
      this.parts.includes("supply") &&
        h(
          "section",
          {},
          h("h3", {}, title("supply")),
          h("p", { class: "note" }, t("calibrate.supply.why")),
          h(
            "div",
            { class: "row" },
            this.app.newest.players.map((p) =>
              button(
                t(running === "supply" && this.whose === p.colour ? "calibrate.running" : "calibrate.supply.go", {
                  name: p.name,
                }),
                () => {
                  this.whose = p.colour;
                  this.send("/api/calibration", { what: "supply", by: p.colour, camera: this.camera });
                },
                { icon: "check", className: "action", disabled: !!running, data: { key: `supply-${p.colour}` } },
              ),
            ),
          ),
          done.supply && this.result(done.supply, (d) => this.supplied(d)),
        ),
      this.parts.includes("used") && h("section", {}, h("h3", {}, t("calibrate.used")), this.used()),
    );
  }

  result(done, told) {
    if (!done.ok) return h("div", { class: "outcome bad" }, symbol("alert"), h("p", {}, adviceText(done.error)));
    const { bad } = told(done);
    return h(
      "div",
      { class: `outcome ${bad ? "bad" : "good"}` },
      symbol(bad ? "alert" : "check"),
      h("div", {}, told(done).content, done.advice.length > 0 && advices(done.advice)),
    );
  }

  tableResult(d) {
    return {
      bad: d.worst_corner_mm > 5,
      content: [
        h("p", {}, h("b", {}, t("calibrate.fit", { ...fitted(d) }))),
        h(
          "p",
          {},
          t("calibrate.hangs", {
            by: t(`calibrate.by.${d.method}`),
            cm: Math.round(d.height_mm / 10),
            deg: Math.round(10 * d.tilt_deg) / 10,
            n: Math.round(10 * d.seconds) / 10,
          }),
        ),
      ],
    };
  }

  // One player's pieces: the paint as the camera sees it, and their shape.
  supplied(d) {
    const shape = d.shapes[d.colour],
      seen = d.followers.length;
    return {
      bad: d.confused.some((pair) => pair.split("-").includes(d.colour)),
      content: h(
        "p",
        { class: "supplied" },
        h("span", {
          class: "swatch",
          style: { background: `rgb(${d.paints[d.colour].join()})` },
          "aria-hidden": "true",
        }),
        t(shape ? `calibrate.supply.${shape}` : "calibrate.supply.unknown", {
          n: seen,
          colour: t(`colour.${d.colour}`, { fallback: d.colour }),
        }),
      ),
    };
  }

  distances(d) {
    const { confused, near } = this.state.limits,
      name = (c) => t(`colour.${c}`, { fallback: c });
    const rows = Object.entries(d.distances).sort((a, b) => a[1] - b[1]),
      verdict = (n) => (n < confused ? "same" : n < near ? "near" : "apart");
    return {
      bad: d.confused.length > 0,
      content: h(
        "table",
        { class: "distances" },
        h("caption", {}, t("calibrate.distances", { n: number(confused) })),
        h(
          "tbody",
          {},
          rows.map(([pair, n]) =>
            h(
              "tr",
              { class: verdict(n) },
              h("th", { scope: "row" }, pair.split("-").map(name).join(" – ")),
              h("td", {}, number(Math.round(10 * n) / 10)),
              h("td", {}, t(`calibrate.${verdict(n)}`)),
            ),
          ),
        ),
      ),
    };
  }

  used() {
    const { used } = this.state;
    if (!used.length) return h("p", { class: "note" }, t("calibrate.nothing"));
    const fit = (u) =>
      u.rms_mm !== undefined
        ? t("calibrate.fit", { ...fitted(u) })
        : u.rms_px !== undefined
          ? t("calibrate.lens", { n: u.rms_px })
          : t(u.confused.length ? "calibrate.same" : "calibrate.allapart");
    return h(
      "ul",
      { class: "used" },
      used.map((u) =>
        h(
          "li",
          {},
          h("b", {}, t(`kind.${u.kind}`)),
          h("span", {}, fit(u)),
          h("span", { class: "note" }, dated(Date.parse(u.made) / 1000), u.here ? "" : ` · ${u.file}`),
          u.here &&
            button(t("calibrate.forget"), () => this.send(`/api/calibration/${u.kind}`, undefined, "DELETE"), {
              icon: "trash",
              className: "action",
              data: { key: `forget-${u.kind}` },
            }),
        ),
      ),
    );
  }
}
