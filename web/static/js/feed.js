// What was scored and why; a tap highlights it on the board.

import { button, h, redraw, s } from "./dom.js";
import { badge } from "./figures.js";
import { listed, number, signed, t } from "./i18n.js";

const ICONS = {
  road: "M3 20C9 20 6 12 12 12S15 4 21 4",
  city: "M4 20V8h3V5h3v3h4V5h3v3h3v12zM10 20v-5h4v5",
  cloister: "M12 3v5M10 5h4M6 20v-8l6-4 6 4v8zM10.5 20v-4h3v4",
  field: "M12 21V11M12 13c-4 0-6-2-6-6 4 0 6 2 6 6zM12 15c4 0 6-2 6-6-4 0-6 2-6 6z",
  other: "M12 3l2.6 5.6 6.1.7-4.5 4.2 1.2 6-5.4-3-5.4 3 1.2-6-4.5-4.2 6.1-.7z",
};

export function featureIcon(kind) {
  return s(
    "svg",
    { viewBox: "0 0 24 24", class: `feature-icon ${kind}`, "aria-hidden": "true" },
    s("path", { d: ICONS[kind] ?? ICONS.other }),
  );
}

const itemText = (i) =>
  t("formula.term", {
    each: number(i.each),
    count: t(`item.${i.what}`, { n: i.count, fallback: t("item.other", { n: i.count, what: i.what }) }),
  });

// "5 tiles × 2 + 1 pennant × 2 = 12"; `extras` has what single players get on top.
export function formula(event) {
  const common = event.items.filter((i) => i.player === undefined),
    items = common.length ? common : event.items;
  return `${items.map(itemText).join(" + ") || "0"} = ${number(items.reduce((sum, i) => sum + i.points, 0))}`;
}

export function extras(event, players) {
  if (event.items.every((i) => i.player !== undefined)) return [];
  return event.items
    .filter((i) => i.player !== undefined)
    .map((i) => t("formula.extra", { name: players[i.player].name, terms: itemText(i) }));
}

export const reason = (event) =>
  t(`reason.${event.reason}`, { of: t(`sign.${event.items[0]?.what}`, { fallback: "" }), fallback: event.reason });

// Who has the majority and why, in one line; empty if only one player stands in the feature.
export function majority(event, players) {
  const name = (n) => players[n].name;
  if (event.majority.length < 2) return "";
  const shares = listed(event.majority.map((m) => t("majority.share", { name: name(m.player), n: m.weight })));
  const winners = event.points.map((p) => name(p.player));
  if (winners.length === 1) return t("majority.most", { shares, name: winners[0] });
  return t(winners.length === 2 ? "majority.tie2" : "majority.tie", { shares, names: listed(winners) });
}

export function gains(event, players, letters) {
  if (!event.points.length) return h("span", { class: "gains" }, t("feed.nobody"));
  return h(
    "span",
    { class: "gains" },
    event.points.map((p) =>
      h(
        "span",
        { class: "gain" },
        badge(players[p.player], letters[p.player], { size: "small" }),
        h("span", { class: "gain-name", dir: "auto" }, players[p.player].name),
        h("b", {}, signed(p.points)),
      ),
    ),
  );
}

export const sameEvent = (a, b) =>
  a &&
  b &&
  a.feature === b.feature &&
  a.turn === b.turn &&
  a.reason === b.reason &&
  JSON.stringify(a.places) === JSON.stringify(b.places);

// The newest event has [Proof] and [Fix] beside its number; a tap on any other one opens its proof.
export function card(event, view, letters, { big = false, shown = false, proof, fix = null }) {
  const why = majority(event, view.players),
    key = `${event.turn}/${event.feature}/${event.reason}/${JSON.stringify(event.places[0])}`;
  const text = h(
    "span",
    { class: "event-text" },
    h(
      "span",
      { class: "event-head" },
      h("span", { class: "reason" }, reason(event)),
      h("span", { class: "when" }, t("feed.turn", { n: event.turn + 1 })),
    ),
    gains(event, view.players, letters),
    h("span", { class: "formula" }, formula(event)),
    extras(event, view.players).map((e) => h("span", { class: "formula", dir: "auto" }, e)),
    why && h("span", { class: "why", dir: "auto" }, why),
    big &&
      fix &&
      h(
        "span",
        { class: "event-acts" },
        button(t("proof.open"), () => proof(event), {
          icon: "look",
          className: "action",
          "aria-pressed": String(shown),
          data: { key: `proof-${key}` },
        }),
        button(t("proof.fix"), () => fix(event), { icon: "pen", className: "action", data: { key: `fix-${key}` } }),
      ),
  );
  if (big && fix) return h("div", { class: `event big${shown ? " shown" : ""}` }, featureIcon(event.feature), text);
  return h(
    "button",
    {
      type: "button",
      class: `event${big ? " big" : ""}${shown ? " shown" : ""}`,
      "aria-pressed": String(shown),
      data: { key },
      on: { click: () => proof(event) },
    },
    featureIcon(event.feature),
    text,
  );
}

export class Feed {
  /** @type {any} */
  root;
  /** @type {any} */
  proof;
  /** @type {any} */
  fix;
  /** @type {any} */
  begin;

  constructor(root, { proof, fix, begin }) {
    Object.assign(this, { root, proof, fix, begin });
  }

  show(view, letters, shown) {
    const key = JSON.stringify([view.game, view.feed, shown, view.players.map((p) => [p.name, p.colour])]);
    if (key === this.shown) return;
    this.shown = key;
    const events = [...view.feed].reverse();
    if (!events.length) {
      redraw(
        this.root,
        h(
          "li",
          { class: "nothing" },
          h("p", {}, t("feed.none")),
          h("p", { class: "note" }, t("feed.none.note")),
          h(
            "div",
            { class: "row" },
            button(t("menu.begin"), this.begin, { icon: "next", className: "action", data: { key: "feed-begin" } }),
          ),
        ),
      );
      return;
    }
    redraw(
      this.root,
      events.map((e, n) =>
        h(
          "li",
          {},
          card(e, view, letters, {
            big: n === 0,
            shown: !!sameEvent(e, shown),
            proof: this.proof,
            fix: n === 0 ? this.fix : null,
          }),
        ),
      ),
    );
  }
}
