// The bottom line: what the camera is doing, whose turn it is, and everything a person can start.

import { button, h, replace, symbol } from "./dom.js";
import { t } from "./i18n.js";

const LOOKS = { watching: "eye", hand: "hand", reading: "turn", settling: "turn", check: "alert", manual: "hand",
                ended: "flag", camera_lost: "lost", offline: "lost" };

export function chip(view, online) {
  const state = online ? view.status?.chip ?? "manual" : "offline";
  const text = t(`chip.${state}`, { fallback: state });
  const more = online && view.status?.text;
  return h("span", { class: `chip ${state}`, role: "status", title: more || undefined }, symbol(LOOKS[state] ?? "eye"), text);
}

export class Bar {
  constructor(root, acts) {
    Object.assign(this, { root, acts });
  }

  show(view, { online, farms, adding, waiting }) {
    const over = view.phase === "over", acts = this.acts;
    const { number, player } = view.turn;
    replace(this.root,
      chip(view, online),
      h("span", { class: "bar-turn" }, over ? t("bar.over") : t("bar.turn", { n: number, name: view.players[player].name })),
      waiting > 0 && button(t("bar.questions", { n: waiting }), acts.questions, { icon: "ask", className: "questions" }),
      button(t("bar.left", { n: view.left.total }), acts.left, { icon: "tiles" }),
      button(t("bar.farms"), acts.farms, { icon: "farm", "aria-pressed": String(farms) }),
      button(t(over ? "bar.final" : "bar.now"), acts.final, { icon: "flag", className: "final" }),
      button(t("bar.history"), acts.history, { icon: "list" }),
      !over && button(t("bar.add"), acts.add, { icon: "plus", "aria-pressed": String(adding) }),
      button(t("bar.undo"), acts.undo, { icon: "undo", disabled: view.history.length === 0 }));
  }
}
