// The lens in detail: which parts of the picture have been measured, how well each view fits, the
// field of view beside the data sheet; and every earlier calibration, to restore, download and upload.

import { post } from "../access.js";
import { button, h, redraw, s, symbol } from "../dom.js";
import { dated, number, t } from "../i18n.js";
import { errorText } from "../words.js";
import { adviceText, advices } from "./aim.js";
import { Live } from "./live.js";
import { fileInput, upload } from "./upload.js";

const mm = (value) => t("lens.mm", { n: number(value) }),
  px = (value) => t("lens.px", { n: number(value) }),
  angles = ([across, down]) => t("lens.angles", { a: number(across), b: number(down) });

export class Lens extends Live {
  url = "/api/lens";
  told = "";
  over = h("div", { class: "lens-over" });
  input = fileInput("lens-file", ".json,application/json", (file) => this.bring(file));

  title() {
    return t("machine.lens");
  }

  draw() {
    const { state } = this;
    if (!state.camera && !state.history.length) return this.none(t("calibrate.none"));
    this.overlay();
    const told = JSON.stringify({ ...state, picture: null, board: null });
    if (told === this.told && this.root.firstChild) return;
    this.told = told;
    redraw(
      this.root,
      this.said,
      h(
        "section",
        {},
        h("h3", {}, this.title()),
        h("p", { class: "note" }, t("lens.why")),
        h(
          "div",
          { class: "row" },
          h(
            "a",
            { class: "action", href: "/api/sheets/charuco.pdf", download: "", data: { key: "sheet-charuco" } },
            symbol("share"),
            h("span", {}, t("begin.sheet.charuco")),
          ),
        ),
      ),
      state.camera &&
        h(
          "div",
          { class: "aim" },
          h("div", { class: "lens-picture" }, this.photo, this.over),
          h("div", { class: "aim-about" }, this.progress(), this.result(), this.sheet()),
        ),
      state.views.length > 0 && this.views(),
      this.history(),
    );
  }

  // The coverage is drawn over the live picture; the board being held right now has an outline of its own.
  overlay() {
    const { size, views, coverage, board } = this.state,
      [width, height] = size;
    if (!width) return;
    const rows = coverage.length,
      columns = coverage[0]?.length ?? 0,
      points = (outline) => outline.map((p) => p.join()).join(" ");
    const empty = coverage.flatMap((row, y) => row.flatMap((n, x) => (n ? [] : [[x, y]])));
    redraw(
      this.over,
      s(
        "svg",
        {
          viewBox: `0 0 ${width} ${height}`,
          role: "img",
          "aria-label": t("lens.covered", { n: rows * columns - empty.length, all: rows * columns || 24 }),
        },
        empty.map(([x, y]) =>
          s("rect", {
            class: "lens-empty",
            x: (x * width) / columns,
            y: (y * height) / rows,
            width: width / columns,
            height: height / rows,
          }),
        ),
        views.filter((v) => !v.left_out).map((v) => s("polygon", { class: "lens-view", points: points(v.outline) })),
        board && s("polygon", { class: "lens-now", points: points(board) }),
      ),
    );
  }

  progress() {
    const { views, enough, least, board, error, coverage } = this.state,
      n = views.filter((v) => !v.left_out).length,
      cells = coverage.flat(),
      missing = cells.filter((count) => !count).length;
    return [
      h(
        "p",
        { class: `aim-sum ${n >= enough ? "good" : ""}`, role: "status" },
        symbol(n >= enough ? "check" : board ? "eye" : "look"),
        h("span", {}, t(n >= enough ? "lens.enough" : board ? "lens.hold" : "lens.show", { n, all: enough })),
      ),
      n > 0 && h("p", {}, t("lens.covered", { n: cells.length - missing, all: cells.length })),
      n > 0 && missing > 0 && h("p", { class: "note" }, t("lens.missing")),
      n > 0 && n < least && h("p", { class: "note" }, t("lens.least", { n: least })),
      error && h("div", { class: "outcome bad" }, symbol("alert"), h("p", {}, adviceText(error))),
    ];
  }

  result() {
    const { lens, good_px: good, busy, saved } = this.state;
    if (busy) return h("p", { class: "note", role: "status" }, t("lens.computing"));
    if (!lens) return null;
    const fits = lens.rms_px <= good;
    const row = (key, value, right = null) =>
      h(
        "div",
        { class: right === null ? "" : right ? "good" : "bad" },
        h("dt", {}, t(`lens.${key}`)),
        h(
          "dd",
          {},
          right !== null && symbol(right ? "check" : "alert"),
          h("span", {}, value),
          right !== null && h("span", { class: "sr" }, t(right ? "check.is.ok" : "check.is.warn")),
        ),
      );
    return [
      h(
        "dl",
        { class: "meters" },
        row("residual", `${px(lens.rms_px)} (${t("lens.good", { n: number(good) })})`, fits),
        row("on_table", lens.rms_mm === null ? t("lens.no_table") : mm(lens.rms_mm)),
        row("fov", angles(lens.fov_deg)),
        row(
          "stated",
          lens.sheet ? `${angles(lens.sheet.fov_deg)}, ${lens.sheet.title}` : t("lens.no_sheet"),
          lens.sheet ? lens.sheet.fits : null,
        ),
        row("focal", t("lens.focal.is", { n: number(lens.focal_px), p: number(lens.focal_percent) })),
      ),
      lens.advice.length > 0 && advices(lens.advice),
      saved && h("div", { class: "outcome good" }, symbol("check"), h("p", {}, t("lens.saved"))),
      h(
        "div",
        { class: "row" },
        button(t("lens.keep"), () => this.send({ do: "keep" }), {
          icon: "check",
          className: "action main",
          disabled: saved,
          data: { key: "lens-keep" },
        }),
      ),
    ];
  }

  // Which data sheet to compare with, if the camera does not say what it is.
  sheet() {
    const { cameras, chosen } = this.state;
    return h(
      "label",
      { class: "wide-label" },
      h("span", {}, t("calibrate.camera")),
      h(
        "select",
        { data: { key: "lens-camera" }, on: { change: (e) => this.send({ do: "compare", name: e.target.value }) } },
        h("option", { value: "", selected: !chosen }, t("calibrate.camera.own")),
        cameras.map((c) => h("option", { value: c.name, selected: chosen === c.name, lang: "en" }, c.title)),
      ),
    );
  }

  views() {
    const { views, least } = this.state,
      used = views.filter((v) => v.used && v.rms_px !== null),
      worst = Math.max(...used.map((v) => v.rms_px));
    return h(
      "section",
      {},
      h("h4", {}, t("lens.views", { n: views.length })),
      h(
        "ul",
        { class: "used lens-views" },
        views.map((v) =>
          h(
            "li",
            { class: v.left_out ? "gone" : "" },
            h("b", {}, t("lens.view", { n: v.number })),
            h(
              "span",
              {},
              v.rms_px === null ? t(v.left_out ? "lens.left_out" : "lens.waits") : `${px(v.rms_px)}, ${mm(v.rms_mm)}`,
            ),
            !v.left_out && v.rms_px !== null && !v.used && h("span", { class: "tag" }, t("lens.not_used")),
            v.used && v.rms_px === worst && used.length > 1 && h("span", { class: "tag" }, t("lens.worst")),
            button(
              t(v.left_out ? "lens.take_back" : "lens.leave_out"),
              () => this.send({ do: v.left_out ? "take_back" : "leave_out", view: v.number }),
              {
                className: "action",
                "aria-label": `${t("lens.view", { n: v.number })}: ${t(v.left_out ? "lens.take_back" : "lens.leave_out")}`,
                data: { key: `view-${v.number}` },
              },
            ),
          ),
        ),
      ),
      h("p", { class: "note" }, t("lens.mm.where")),
      h(
        "div",
        { class: "row" },
        button(t("lens.drop_worst"), () => this.send({ do: "drop_worst" }), {
          icon: "trash",
          className: "action",
          disabled: used.length <= least,
          data: { key: "lens-worst" },
        }),
        button(t("lens.clear"), () => this.send({ do: "clear" }), {
          icon: "undo",
          className: "action",
          data: { key: "lens-clear" },
        }),
      ),
    );
  }

  history() {
    const { history } = this.state;
    const fit = (one) =>
      one.rms_mm !== undefined
        ? t("calibrate.fit", { mm: one.rms_mm, corner: one.worst_corner_mm })
        : one.rms_px !== undefined
          ? `${t("calibrate.lens", { n: one.rms_px })}, ${angles(one.fov_deg)}`
          : t(one.confused.length ? "calibrate.same" : "calibrate.allapart");
    return h(
      "section",
      {},
      h("h4", {}, t("lens.history")),
      history.length === 0 && h("p", { class: "note" }, t("lens.history.none")),
      h(
        "ul",
        { class: "used" },
        history.map((one) =>
          h(
            "li",
            {},
            h("b", {}, t(`kind.${one.kind}`)),
            h("span", {}, fit(one)),
            one.now && h("span", { class: "tag" }, t("lens.now")),
            h(
              "span",
              { class: "note" },
              `${dated(Date.parse(one.made) / 1000)}, ${one.size.join(" × ")}${one.model ? `, ${one.model}` : ""}`,
            ),
            h(
              "div",
              { class: "row" },
              !one.now &&
                button(t("lens.back"), () => this.send({ do: "back", name: one.name }), {
                  icon: "undo",
                  className: "action",
                  data: { key: `back-${one.name}` },
                }),
              button(t("lens.export"), () => this.take(one.name), {
                icon: "share",
                className: "action",
                data: { key: `export-${one.name}` },
              }),
            ),
          ),
        ),
      ),
      h("h4", {}, t("lens.import")),
      h("p", { class: "note" }, t("lens.import.why")),
      h("div", { class: "row" }, h("label", { class: "action", for: "lens-file" }, t("lens.choose")), this.input),
    );
  }

  // A file for this device, without a URL from which others could fetch it.
  async take(name) {
    try {
      const answer = await post(this.url, { do: "export", name }),
        data = await answer.json();
      if (!answer.ok) return this.app.toast.show(t("toast.failed", { text: errorText(data.error) }));
      const href = URL.createObjectURL(new Blob([data.text], { type: "application/json" })),
        link = h("a", { href, download: data.name });
      link.click();
      setTimeout(() => URL.revokeObjectURL(href), 60_000);
    } catch {
      this.app.toast.show(t("toast.offline"));
    }
  }

  async bring(file) {
    if (file.size > this.state.most)
      return this.app.toast.show(t("toast.failed", { text: errorText({ code: "no_calibration" }) }));
    const error = await upload(this.url, file, { sent: () => {}, stopped: () => this.left });
    if (error) {
      return this.app.toast.show(
        error.code === "offline" ? t("toast.offline") : t("toast.failed", { text: errorText(error) }),
      );
    }
    if (await this.send({ do: "import" })) this.app.toast.show(t("lens.imported"));
  }
}
