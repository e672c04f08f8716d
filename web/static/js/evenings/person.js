// One player of the book: the numbers, the names under which they played, merging and removing.

import { button, h } from "../dom.js";
import { listed, number, t } from "../i18n.js";
import { day } from "./names.js";

export class Person {
  constructor(overview, key) {
    this.overview = overview;
    this.key = key;
    this.sure = false;
    this.className = "person-sheet";
  }

  get player() {
    return this.overview.data.players.find((p) => p.key === this.key);
  }

  title() {
    return this.player?.name ?? t("book.removed");
  }

  still() {
    return !!this.player;
  }

  async act(body) {
    if ((await this.overview.change(body)) && !this.player) this.overview.book.sheet.close();
  }

  body() {
    const p = this.player,
      { data } = this.overview;
    if (!p) return h("p", { class: "note" }, t("book.removed"));
    const others = data.players.filter((o) => o !== p),
      merged = Object.entries(data.merged)
        .filter(([, into]) => into === this.key)
        .map(([key]) => key);
    const line = (key, value) => h("div", {}, h("dt", {}, t(key)), h("dd", {}, value));
    const chosen = h(
      "select",
      { "aria-label": t("book.merge"), data: { key: "into" } },
      others.map((o) => h("option", { value: o.key }, o.name)),
    );
    return [
      h(
        "section",
        {},
        h(
          "dl",
          { class: "meters" },
          line("book.games", number(p.games)),
          line("book.wins", p.shared ? t("book.wins.shared", { n: p.wins, shared: p.shared }) : number(p.wins)),
          line("book.average", number(p.average)),
          line("book.top", number(p.best)),
          line("book.longest", number(p.longest)),
          line("book.last", day(p.last_s)),
          p.names.length > 1 && line("book.names", listed(p.names)),
        ),
      ),
      h(
        "section",
        {},
        h("h3", {}, t("book.merge")),
        h("p", { class: "note" }, t("book.merge.note")),
        others.length > 0 &&
          h(
            "div",
            { class: "row" },
            chosen,
            button(t("book.merge.go"), () => this.act({ do: "merge", player: this.key, into: chosen.value }), {
              className: "action",
              data: { key: "merge" },
            }),
          ),
        merged.length > 0 &&
          h(
            "div",
            { class: "row" },
            merged.map((key) =>
              button(t("book.part", { name: key }), () => this.act({ do: "part", player: key }), {
                className: "action",
                data: { key: `part-${key}` },
              }),
            ),
          ),
        h("h3", {}, t("book.remove")),
        h("p", { class: "note" }, t("book.remove.note")),
        h(
          "div",
          { class: "row" },
          button(
            t(this.sure ? "book.remove.sure" : "book.remove"),
            () => {
              if (this.sure) return this.act({ do: "remove", player: this.key });
              this.sure = true;
              return this.overview.book.sheet.render();
            },
            { icon: "trash", className: `action${this.sure ? " warn" : ""}`, data: { key: "remove" } },
          ),
        ),
      ),
    ];
  }
}
