// All evenings: the players, the house records, every game with its result, who beat whom.

import { button, h, redraw, replace, symbol } from "../dom.js";
import { featureIcon } from "../feed.js";
import { badge, patternDefinitions } from "../figures.js";
import { listed, number, percent, t } from "../i18n.js";
import { day, named } from "./names.js";
import { Person } from "./person.js";

const FEW = 5; // games until a rating means something
const MATRIX = 8; // players in the table of who beat whom
const SHOWN = 20; // games shown at first
const ICONS = { road: "road", city: "city", farm: "field" };

export class Overview {
  constructor(book) {
    this.book = book;
    this.all = false;
  }

  async begin() {
    document.title = `${t("book.title")} · bastide`;
    replace(document.querySelector("#definitions defs"), patternDefinitions());
    this.take(await this.book.asked("/api/book"));
  }

  take(data) {
    this.data = data;
    this.draw();
    if (this.book.sheet.content) this.book.sheet.render();
  }

  name(key) {
    return this.data.players.find((p) => p.key === key)?.name ?? t("book.removed");
  }

  draw() {
    const { data } = this;
    redraw(
      this.book.root,
      h(
        "header",
        { class: "book-head" },
        h("h1", { tabindex: -1 }, t("book.title")),
        h(
          "nav",
          { class: "row" },
          h("a", { class: "action", href: "/" }, symbol("back"), h("span", {}, t("book.table"))),
        ),
      ),
      data.games.some((g) => g.over)
        ? h(
            "div",
            { class: "book-parts" },
            h("div", { class: "book-column" }, this.players(), this.games()),
            h("div", { class: "book-column" }, this.records(), this.pairs()),
          )
        : [h("p", { class: "book-none" }, t("book.none")), this.games()],
      h(
        "div",
        { class: "row book-files" },
        h("a", { class: "action", href: "/api/book/book.csv", download: "" }, t("book.csv")),
        h("a", { class: "action", href: "/api/book/book.json", download: "" }, t("book.json")),
      ),
    );
  }

  players() {
    const { players, removed } = this.data;
    return h(
      "section",
      { class: "book-part" },
      h("h2", {}, t("book.players")),
      h(
        "div",
        { class: "scroll", tabindex: 0, role: "group", "aria-label": t("book.players") },
        h(
          "table",
          { class: "standings" },
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              h("th", { scope: "col" }, t("book.player")),
              ["games", "wins", "average", "top", "streak", "rating"].map((one) =>
                h("th", { scope: "col", class: one }, t(`book.${one}`)),
              ),
            ),
          ),
          h(
            "tbody",
            {},
            players.map((p) =>
              h(
                "tr",
                {},
                h(
                  "th",
                  { scope: "row" },
                  h(
                    "button",
                    {
                      type: "button",
                      class: "person",
                      dir: "auto",
                      data: { key: `person-${p.key}` },
                      on: { click: () => this.book.sheet.open(new Person(this, p.key)) },
                    },
                    p.name,
                  ),
                ),
                h("td", {}, number(p.games)),
                h(
                  "td",
                  {},
                  h("b", {}, number(p.wins)),
                  p.ranked > 0 && h("span", { class: "note" }, ` ${percent(p.wins / p.ranked)}`),
                ),
                h("td", { class: "average" }, number(p.average)),
                h("td", { class: "top" }, number(p.best)),
                h(
                  "td",
                  { class: "streak" },
                  p.streak > 1 ? h("b", {}, t("book.running", { n: p.streak })) : number(p.longest),
                ),
                h(
                  "td",
                  {},
                  p.rating === null
                    ? "–"
                    : h(
                        "span",
                        { class: p.ranked < FEW ? "note" : "" },
                        p.ranked < FEW ? `(${number(p.rating)})` : number(p.rating),
                      ),
                ),
              ),
            ),
          ),
        ),
      ),
      h(
        "p",
        { class: "note" },
        t("book.rating.note", { n: FEW }),
        removed.length > 0 && ` ${t("book.removed.note", { n: removed.length })}`,
        removed.map((key) =>
          button(t("book.back.one", { name: key }), () => this.change({ do: "bring_back", player: key }), {
            className: "action",
            data: { key: `back-${key}` },
          }),
        ),
      ),
    );
  }

  async change(body) {
    const data = await this.book.change("/api/book", body);
    if (data) this.take(data);
    return !!data;
  }

  records() {
    return h(
      "section",
      { class: "book-part" },
      h("h2", {}, t("book.records")),
      h(
        "ul",
        { class: "records" },
        this.data.records.map((r) =>
          h(
            "li",
            {},
            h(
              "a",
              { href: `/book/${r.game}`, class: "record" },
              r.record in ICONS ? featureIcon(ICONS[r.record]) : symbol(r.record === "turn" ? "clock" : "flag"),
              h("span", { class: "record-what" }, t(`record.${r.record}`)),
              h("b", { class: "record-n" }, t(`record.${r.record}.n`, { n: r.n })),
              h("span", { class: "record-who", dir: "auto" }, listed(r.players.map((key) => this.name(key)))),
              h("span", { class: "note" }, day(r.created_s)),
            ),
          ),
        ),
      ),
    );
  }

  games() {
    const kept = this.data.games.filter((g) => g.tiles > 0),
      shown = this.all ? kept : kept.slice(0, SHOWN);
    return (
      kept.length > 0 &&
      h(
        "section",
        { class: "book-part book-games" },
        h("h2", {}, t("book.evenings")),
        h(
          "ol",
          { class: "evenings" },
          shown.map((g) => h("li", {}, this.row(g))),
        ),
        shown.length < kept.length &&
          button(
            t("book.all", { n: kept.length }),
            () => {
              this.all = true;
              this.draw();
            },
            { className: "action", data: { key: "all" } },
          ),
      )
    );
  }

  row(g) {
    const seats = g.players.map((p, index) => ({ ...p, index, name: named(p) })).sort((a, b) => a.rank - b.rank);
    return h(
      "a",
      { href: `/book/${g.game}`, class: `evening-row${g.over ? "" : " open"}`, data: { key: `game-${g.game}` } },
      h(
        "span",
        { class: "evening-when" },
        h("span", {}, day(g.began_s || g.created_s)),
        !g.over && h("span", { class: "tag" }, t("book.unfinished")),
        g.over && !g.counts && h("span", { class: "tag" }, t("book.uncounted")),
      ),
      h(
        "span",
        { class: "evening-seats" },
        seats.map((p) =>
          h(
            "span",
            { class: `seat${g.over && p.rank === 1 ? " won" : ""}` },
            badge(p, [...p.name][0]?.toUpperCase() ?? "", { size: "small" }),
            h("span", { class: "seat-name", dir: "auto" }, p.name),
            h("b", {}, number(p.score)),
            g.over && p.rank === 1 && h("span", { class: "sr" }, t("book.won")),
          ),
        ),
      ),
      h(
        "span",
        { class: "note evening-boxes" },
        g.expansions
          .filter((e) => g.expansions.length === 1 || e !== "base")
          .map((e) => t(`setup.box.${e}`))
          .join(", "),
      ),
    );
  }

  pairs() {
    const known = this.data.players
      .filter((p) => p.ranked > 0)
      .sort((a, b) => b.games - a.games)
      .slice(0, MATRIX);
    if (known.length < 2) return null;
    const met = new Map(
      this.data.pairs.flatMap((p) => [
        [p.players.join("\n"), p.ahead],
        [[...p.players].reverse().join("\n"), [...p.ahead].reverse()],
      ]),
    );
    return h(
      "section",
      { class: "book-part book-pairs" },
      h("h2", {}, t("book.pairs")),
      h("p", { class: "note" }, t("book.pairs.note")),
      h(
        "div",
        { class: "scroll", tabindex: 0, role: "group", "aria-label": t("book.pairs") },
        h(
          "table",
          { class: "pairs" },
          h(
            "thead",
            {},
            h(
              "tr",
              {},
              h("td", {}),
              known.map((p) => h("th", { scope: "col", dir: "auto" }, p.name)),
            ),
          ),
          h(
            "tbody",
            {},
            known.map((p) =>
              h(
                "tr",
                {},
                h("th", { scope: "row", dir: "auto" }, p.name),
                known.map((q) => {
                  const ahead = met.get(`${p.key}\n${q.key}`);
                  return h(
                    "td",
                    {
                      class: !ahead || p === q ? "" : ahead[0] > ahead[1] ? "more" : ahead[0] < ahead[1] ? "less" : "",
                    },
                    p === q || !ahead ? "–" : `${ahead[0]} : ${ahead[1]}`,
                  );
                }),
              ),
            ),
          ),
        ),
      ),
    );
  }
}
