// The bottom bar: the camera's status, whose turn it is, and everything a person can start.

import { button, h, redraw, symbol } from "./dom.js";
import { clock, t } from "./i18n.js";

const LOOKS = {
  watching: "eye",
  hand: "hand",
  reading: "turn",
  settling: "turn",
  check: "alert",
  manual: "hand",
  ended: "flag",
  camera_lost: "lost",
  offline: "lost",
  out_of_step: "alert",
  paused: "stop",
  past: "clock",
};

// A tap on it shows the camera's view.
export function chip(view, { online, since }, act, place) {
  const state = online ? (view.status?.chip ?? "manual") : "offline";
  const text = since ? t("chip.offline.since", { time: clock(since / 1000) }) : t(`chip.${state}`, { fallback: state });
  return h(
    "span",
    { role: "status", class: "chip-line" },
    h(
      "button",
      {
        type: "button",
        class: `chip ${state}`,
        title: t("chip.more"),
        data: { key: `chip-${place}` },
        on: { click: act },
      },
      symbol(LOOKS[state] ?? "eye"),
      h("span", {}, text),
    ),
  );
}

export class Bar {
  /** @type {any} */
  acts;
  /** @type {any} */
  status;
  /** @type {any} */
  root;

  constructor(root, status, acts) {
    Object.assign(this, { root, status, acts });
  }

  // Unchanged parts are not redrawn: a screen reader would announce them again.
  show(view, now) {
    const key = JSON.stringify([
      now,
      view.status,
      view.phase,
      view.turn,
      view.left.total,
      !view.history.length,
      view.players.map((p) => p.name),
    ]);
    if (key === this.shown) return;
    this.shown = key;
    this.draw(view, now);
  }

  draw(view, now) {
    const { aid, adding, waiting, final } = now;
    const over = view.phase === "over",
      acts = this.acts;
    const { number, player } = view.turn;
    const both = (key, values) => [
      h("span", { class: "long" }, t(key, values)),
      h("span", { class: "short", "aria-hidden": "true" }, t(`${key}.short`, values)),
    ];
    const act = (key, does, icon, more = {}, values = {}) => {
      const el = button(t(key, values), does, { icon, label: false, data: { key }, ...more });
      el.removeAttribute("aria-label"); // its text is sufficient
      el.append(...both(key, values));
      return el;
    };
    redraw(this.status, chip(view, now, acts.camera, "board"));
    redraw(
      this.root,
      chip(view, now, acts.camera, "bar"),
      h(
        "span",
        { class: "bar-turn", dir: "auto" },
        over
          ? ""
          : t("bar.turn", { n: Math.max(1, number), name: view.players[number ? player : view.next_tile.player].name }),
      ),
      h("span", { class: "aid", title: t(`aid.${aid}.note`) }, t(`aid.${aid}`)),
      waiting > 0 && act("bar.questions", acts.questions, "ask", { className: "questions" }, { n: waiting }),
      act("bar.left", acts.left, "tiles", {}, { n: view.left.total }),
      (over || aid !== "score") &&
        act(over ? "bar.final" : "bar.now", acts.final, "flag", { "aria-pressed": String(final) }),
      act("bar.history", acts.history, "list"),
      !over && act("bar.add", acts.add, "plus", { "aria-pressed": String(adding) }),
      act("bar.undo", acts.undo, "undo", { disabled: view.history.length === 0 }),
      act("bar.more", acts.menu, "dots"),
    );
  }
}
