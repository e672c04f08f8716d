// The camera's view: its picture with the squares, accepted and rejected readings, figures, motion.

import { post } from "../access.js";
import { button, h, head, replace, s } from "../dom.js";
import { hue } from "../figures.js";
import { percent, t } from "../i18n.js";
import { tilePicture } from "../tileart.js";
import { placeName, tileName } from "../words.js";
import { panelStyle } from "./panel.js";

const EVERY_MS = 1000;
const LAYERS = ["near", "squares", "readings", "figures", "motion"];

// The part of the picture that contains the board, with a margin of one square.
function around({ tiles, open, size }) {
  const points = [...tiles, ...open].flatMap((q) => q.corners);
  if (!points.length) return [0, 0, ...size];
  const xs = points.map((p) => p[0]),
    ys = points.map((p) => p[1]);
  const x = Math.max(0, Math.min(...xs) - 20),
    y = Math.max(0, Math.min(...ys) - 20);
  return [x, y, Math.min(size[0], Math.max(...xs) + 20) - x, Math.min(size[1], Math.max(...ys) + 20) - y];
}

export class Camera {
  /** @type {import("../app.js").App} */
  app;
  /** @type {any} */
  root;
  /** @type {any} */
  before = null;

  constructor(app, root) {
    Object.assign(this, { app, root });
    this.on = { near: innerWidth < 760, squares: true, readings: true, figures: true, motion: true };
    this.seen = null; // the response on show
    this.chosen = null; // a square somebody tapped: "x,y"
    this.picture = h("div", { class: "camera-picture" });
    this.about = h("div", { class: "camera-about", "aria-live": "polite" });
    this.tools = h("div", { class: "row camera-layers", role: "group", "aria-label": t("camera.layers") });
    this.acts = h("div", { class: "row" });
    root.addEventListener("keydown", (e) => e.key === "Escape" && this.close());
  }

  async open() {
    await panelStyle();
    this.before = document.activeElement;
    this.app.sheet.close();
    replace(
      this.root,
      head("camera-title", t("camera.title"), t("sheet.close"), () => this.close()),
      h(
        "div",
        { class: "camera-body" },
        this.picture,
        h(
          "div",
          { class: "camera-side", tabindex: 0, role: "group", "aria-labelledby": "camera-title" },
          this.tools,
          this.about,
        ),
      ),
      h("footer", {}, this.acts),
    );
    this.root.hidden = false;
    this.root.querySelector("h2").focus();
    this.drawTools();
    this.look();
  }

  close() {
    clearTimeout(this.timer);
    this.root.hidden = true;
    this.before?.focus?.();
  }

  // Polls while somebody looks; the picture and the drawing on it change together.
  async look() {
    clearTimeout(this.timer);
    if (this.root.hidden) return;
    try {
      const seen = await (await fetch("/api/camera", { cache: "no-store" })).json();
      if (this.root.hidden) return;
      if (seen.picture && seen.picture !== this.seen?.picture) await this.load(seen);
      else this.draw(seen);
    } catch {
      this.say(t("toast.offline"));
    }
    this.timer = setTimeout(() => this.look(), EVERY_MS);
  }

  async load(seen) {
    const href = `/api/camera/${seen.picture}.jpg`,
      image = new Image();
    image.src = href;
    try {
      await image.decode();
      this.draw({ ...seen, href });
    } catch {
      // another one has replaced it and will be requested by the next poll
    }
  }

  say(text) {
    if (this.said !== text) replace(this.about, h("p", { class: "note" }, text));
    this.said = text;
    this.told = null;
  }

  drawTools() {
    replace(
      this.tools,
      LAYERS.map((name) =>
        button(
          t(`camera.layer.${name}`),
          () => {
            this.on[name] = !this.on[name];
            this.drawTools();
            if (this.seen) this.draw(this.seen);
            this.tools.querySelector(`[data-key="layer-${name}"]`).focus();
          },
          { className: "action", "aria-pressed": String(this.on[name]), data: { key: `layer-${name}` } },
        ),
      ),
    );
  }

  draw(seen) {
    if (seen.picture && !seen.href) seen.href = this.seen?.href;
    this.seen = seen;
    this.drawActs(seen);
    if (!seen.camera) {
      replace(this.picture, h("p", { class: "camera-none" }, t("camera.none")));
      return this.say(t("camera.none.note"));
    }
    if (!seen.href) {
      replace(this.picture, h("p", { class: "camera-none" }, t("camera.waiting")));
      return this.say("");
    }
    const [width, height] = seen.size;
    replace(
      this.picture,
      s(
        "svg",
        {
          viewBox: (this.on.near ? around(seen) : [0, 0, width, height]).join(" "),
          class: `camera-svg${seen.tiles.length ? "" : " pointing"}`,
          role: "group",
          "aria-label": t("camera.picture"),
          on: { click: (e) => !seen.tiles.length && this.point(e) },
        },
        s("image", { href: seen.href, width, height }),
        this.on.squares && [
          seen.open.map((q) => this.polygon(q.corners, "open-square")),
          seen.tiles.map((q) => this.polygon(q.corners, "laid-square")),
        ],
        this.on.motion && seen.moving.map((p) => this.polygon(p, "moving")),
        this.on.figures && seen.figures.map((f) => this.figure(f)),
        this.on.readings && seen.readings.map((r) => this.reading(r)),
        seen.tiles.map((q) => this.target(q)),
        seen.readings.filter((r) => !r.taken).map((r) => this.target(r)),
      ),
    );
    return this.tell(seen);
  }

  polygon(points, look) {
    const list = points.map((p) => p.join()).join(" ");
    return [s("polygon", { points: list, class: `${look} casing` }), s("polygon", { points: list, class: look })];
  }

  // How a square was read, or that it was rejected: solid with a tick, or dashed with a cross.
  reading(r) {
    const [[x, y], [x2, y2]] = r.corners,
      side = Math.hypot(x2 - x, y2 - y),
      taken = r.taken && r.legal;
    const cx = r.corners.reduce((a, p) => a + p[0], 0) / 4,
      cy = r.corners.reduce((a, p) => a + p[1], 0) / 4;
    const text = r.taken
      ? `${taken ? "✓" : "!"} ${percent(r.options[0]?.[2] ?? 0)}`
      : `✗ ${percent(Math.max(0, r.like))}`;
    return s(
      "g",
      { class: taken ? "read taken" : "read refused" },
      this.polygon(r.corners, "read-rim"),
      r.taken && s("line", { x1: cx, y1: cy, x2: r.up[0], y2: r.up[1], class: "read-up" }),
      s("text", { x: cx, y: cy - side * 0.28, "font-size": Math.max(10, side / 5), class: "read-text" }, text),
    );
  }

  figure(f) {
    const player = f.player === null ? null : this.app.newest.players[f.player],
      points = f.outline.map((p) => p.join()).join(" ");
    const x = f.outline.reduce((a, p) => a + p[0], 0) / f.outline.length,
      ys = f.outline.map((p) => p[1]),
      y = Math.max(...ys),
      size = Math.max(10, (y - Math.min(...ys)) / 2.6);
    return s(
      "g",
      { class: f.why ? "silhouette refused" : "silhouette" },
      s("polygon", { points, class: "casing" }),
      s("polygon", { points, class: "rim", stroke: player ? hue(player) : "#fff" }),
      s(
        "text",
        { x, y: y + size, class: "read-text", "font-size": size },
        f.why && !player ? "✗" : `${f.why ? "✗" : "✓"} ${player ? this.app.letters[f.player] : ""} ${percent(f.sure)}`,
      ),
    );
  }

  target(q) {
    const key = q.at.join();
    return s("polygon", {
      points: q.corners.map((p) => p.join()).join(" "),
      class: `camera-target${key === this.chosen ? " chosen" : ""}`,
      on: {
        click: () => {
          this.chosen = this.chosen === key ? null : key;
          if (this.seen) this.draw(this.seen);
        },
      },
    });
  }

  // No board was found: a tap on a tile starts the search there.
  async point(event) {
    const svg = event.currentTarget,
      at = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    try {
      const answer = await post("/api/camera", { point: [Math.round(at.x), Math.round(at.y)] });
      this.say(t(answer.ok ? "camera.pointed" : "camera.none"));
    } catch {
      this.app.toast.show(t("toast.offline"));
    }
  }

  // In words: the square that was tapped, otherwise the last reading.
  tell(seen) {
    const at = this.chosen ?? seen.readings.at(-1)?.at.join(),
      read = seen.readings.findLast((r) => r.at.join() === at);
    const lies = this.app.newest.board.tiles.find((p) => p.at.join() === at),
      { kinds, newest } = this.app;
    const entry = lies && newest.history.find((e) => e.seq === lies.seq);
    const figures = seen.figures.filter((f) => f.at.join() === at);
    const told = JSON.stringify([
      at,
      read,
      lies,
      entry,
      figures.map((f) => [f.player, f.why]),
      seen.tiles.length,
      seen.watching,
    ]);
    if (told === this.told) return;
    this.told = told;
    this.said = null;
    const option = ([tile, rot, p], n) =>
      h(
        "li",
        {},
        h("span", { class: "move-tile" }, tilePicture(tile, rot)),
        h("b", {}, percent(p)),
        " ",
        h("span", {}, tileName(kinds, tile, rot)),
        n === 0 && h("span", { class: "tag" }, t("camera.best")),
      );
    replace(
      this.about,
      h("p", {}, t("camera.count", { n: seen.tiles.length })),
      at && h("h3", {}, placeName(at.split(",").map(Number))),
      lies &&
        h(
          "p",
          {},
          t("camera.lies"),
          " ",
          tileName(kinds, lies.tile, lies.rot),
          entry &&
            ` (${entry.source === "camera" ? t("fix.camera", { p: percent(entry.confidence) }) : t("fix.byhand")})`,
        ),
      read && !read.taken && h("p", { class: "note" }, t("camera.refused", { p: percent(Math.max(0, read.like)) })),
      read?.taken && !read.legal && h("p", { class: "note warn" }, t("fix.illegal")),
      read?.options.length > 0 && h("ol", { class: "camera-options" }, read.options.map(option)),
      figures.map((f) =>
        h(
          "p",
          {},
          f.why
            ? t(`camera.figure.${f.why}`)
            : t(f.lying > 0.5 ? "camera.figure.lying" : "camera.figure.standing", {
                name: newest.players[f.player].name,
              }),
          f.player !== null && ` (${percent(f.sure)})`,
        ),
      ),
      h("p", { class: "note" }, t(seen.tiles.length ? "camera.tap" : "camera.point")),
    );
  }

  drawActs(seen) {
    const key = JSON.stringify([seen.camera, seen.watching]);
    if (key === this.acted) return;
    this.acted = key;
    replace(
      this.acts,
      seen.camera && h("p", { class: "note" }, t(seen.watching ? "camera.watches" : "camera.rests")),
      seen.camera &&
        button(t(seen.watching ? "camera.pause" : "camera.watch"), () => this.turn(!seen.watching), {
          icon: seen.watching ? "stop" : "eye",
          className: "action main",
          data: { key: "camera-switch" },
        }),
      button(
        t("camera.byhand"),
        () => {
          this.close();
          this.app.addByHand();
        },
        { icon: "plus", className: "action", data: { key: "camera-add" } },
      ),
    );
  }

  async turn(on) {
    try {
      const answer = await post("/api/camera", { watching: on });
      if (!answer.ok) this.app.toast.show(t("toast.failed", { text: t("camera.none") }));
    } catch {
      this.app.toast.show(t("toast.offline"));
    }
    this.look();
  }
}
