// One game of the book: result, board with a bar to scrub through the turns, chart, categories, awards, every score with
// its proof, time-lapse, files. Nothing here changes the table.

import { awardList } from "../awards.js";
import { Board } from "../board.js";
import { chart, totals } from "../chart.js";
import { button, h, redraw, replace, symbol } from "../dom.js";
import { card, gains, reason } from "../feed.js";
import { badge, letters, patternDefinitions } from "../figures.js";
import { listed, number, t } from "../i18n.js";
import { Proof } from "../proof.js";
import { Scrub } from "../scrub.js";
import { definitions } from "../tileart.js";
import { moment, named } from "./names.js";
import { film, Handing, luckPart } from "./handing.js";

const STEP_MS = 500;

export class Evening {
  constructor(book, game) {
    this.book = book;
    this.game = game;
    this.pictures = `/api/book/games/${game}`;
    this.sheet = book.sheet;
    this.toast = book.toast;
    this.luck = null; // shown on request
  }

  async begin() {
    await this.load();
    const answer = await fetch(`/api/tiles?expansions=${this.last.expansions.join()}`);
    this.kinds = await answer.json();
    replace(document.querySelector("#definitions defs"), patternDefinitions(), definitions(this.kinds));
    document.title = `${t("book.game", { n: this.game })} · bastide`;
    this.frame();
    this.board = new Board(this.place, { kinds: this.kinds, open: () => {}, gap: () => {} });
    this.draw();
    this.go(this.frames.length);
  }

  async load() {
    const data = await this.book.asked(this.pictures);
    const players = data.view.players.map((p, n) => ({ ...p, name: named(data.row.players[n]) }));
    this.row = data.row;
    this.last = { ...data.view, players };
    this.frames = data.frames;
    this.film = data.film;
    this.handover = data.handover;
    this.town = data.place;
    this.letters = letters(players);
    this.aid = this.last.aid;
  }

  // The view that the board and a proof are about.
  get view() {
    return this.shown ?? this.last;
  }

  get final() {
    return this.last.final ?? this.last.projected_final;
  }

  // As it was when turn n was over; after the last one comes the end.
  at(n) {
    if (n >= this.frames.length) return this.last;
    const { turn, scores, board } = this.frames[n];
    const tiles = this.last.board.tiles
      .filter((p) => p.turn === null || p.turn <= turn)
      .map((p) => ({ ...p, last: p.turn === turn, asked: false }));
    return {
      ...this.last,
      board: { ...this.last.board, ...board, tiles },
      phase: "playing",
      final: null,
      feed: this.last.feed.filter((e) => e.turn <= turn && e.player !== null),
      players: this.last.players.map((p, k) => ({ ...p, score: scores[k] })),
    };
  }

  // What never changes while the page is open.
  frame() {
    this.place = h("div", { class: "evening-board" });
    this.scrub = new Scrub((n) => this.go(n), STEP_MS);
    this.said = h("p", { class: "scrub-said", dir: "auto" });
    this.scores = h("ul", { class: "scrub-scores" });
    this.side = h("div", { class: "evening-side" });
    replace(
      this.book.root,
      h(
        "header",
        { class: "book-head" },
        h("h1", { tabindex: -1 }, moment(this.row.began_s || this.row.created_s)),
        h(
          "nav",
          { class: "row" },
          h(
            "a",
            { class: "action", href: "/book", data: { key: "book" } },
            symbol("back"),
            h("span", {}, t("book.title")),
          ),
          h("a", { class: "action", href: "/" }, t("book.table")),
        ),
      ),
      h(
        "div",
        { class: "evening-page" },
        h(
          "div",
          { class: "evening-main" },
          this.place,
          this.frames.length > 0 &&
            h("div", { class: "scrub-bar", role: "group", "aria-label": t("replay.title") }, this.scrub.parts),
          this.said,
          this.scores,
        ),
        this.side,
      ),
    );
  }

  go(n) {
    this.shown = this.at(n);
    this.board.show(this.shown, this.letters);
    const frame = this.frames[n],
      name = frame && this.last.players[frame.player].name;
    const text = frame
      ? t("book.turn", { n: frame.turn + 1, all: this.frames.at(-1).turn + 1, name })
      : t(this.row.over ? "book.end" : "book.unfinished");
    this.scrub.show(n, this.frames.length, text);
    const scored = frame ? this.shown.feed.filter((e) => e.turn === frame.turn) : [];
    replace(
      this.said,
      h("b", {}, text),
      scored.map((e) => h("span", {}, " · ", reason(e), " ", gains(e, this.last.players, this.letters))),
    );
    replace(
      this.scores,
      this.shown.players.map((p, k) =>
        h(
          "li",
          {},
          badge(p, this.letters[k], { size: "small" }),
          h("span", { class: "seat-name", dir: "auto" }, p.name),
          h("b", {}, number(p.score)),
        ),
      ),
    );
  }

  // What a proof requires of its host.
  point(event) {
    this.board.point(event, { move: !!event });
    if (!event) this.board.view.fit();
  }

  completing() {
    return null; // nothing is corrected here
  }

  proof(event) {
    this.scrub.to(this.frames.length);
    this.sheet.open(new Proof(this, event, { last: event.player === null || event.player === undefined }));
  }

  draw() {
    const { last, final, row } = this,
      seats = last.players.map((p, n) => ({ p, n, ...row.players[n] })).sort((a, b) => a.rank - b.rank || a.n - b.n);
    const proof = (e) => this.proof(e),
      names = row.winners.map((n) => last.players[n].name);
    redraw(
      this.side,
      h(
        "section",
        { class: "book-part" },
        row.over
          ? h(
              "p",
              { class: "winner" },
              row.winners.map((n) => badge(last.players[n], this.letters[n], { size: "large" })),
              h(
                "span",
                { dir: "auto" },
                t(names.length === 1 ? "final.wins" : "final.share", { name: names[0], names: listed(names) }),
              ),
            )
          : h("p", { class: "winner" }, t("book.unfinished")),
        h(
          "ol",
          { class: "podium" },
          seats.map(({ p, n, score, rank }) =>
            h(
              "li",
              { class: row.over && rank === 1 ? "won" : "" },
              h("span", { class: "podium-rank" }, row.over ? `${rank}.` : ""),
              badge(p, this.letters[n]),
              h("span", { class: "podium-name", dir: "auto" }, p.name),
              h("b", {}, number(score)),
            ),
          ),
        ),
        h(
          "p",
          { class: "note" },
          [
            last.edition_title,
            row.expansions.map((e) => t(`setup.box.${e}`)).join(", "),
            t("setup.tiles", { n: row.tiles }),
            row.ended_s - row.began_s > 60 && t("book.minutes", { n: Math.round((row.ended_s - row.began_s) / 60) }),
          ]
            .filter(Boolean)
            .join(" · "),
        ),
      ),
      this.files(),
      h("section", { class: "book-part" }, h("h2", {}, t("final.chart")), chart(last, this.letters, final)),
      h(
        "section",
        { class: "book-part" },
        h(
          "div",
          { class: "scroll", tabindex: 0, role: "group", "aria-label": t("final.title") },
          totals(last, this.letters, final),
        ),
      ),
      h("div", { class: "book-part" }, awardList(last, this.letters, final, proof)),
      luckPart(this),
      film(this),
      h(
        "details",
        { class: "book-part" },
        h("summary", {}, h("h2", {}, t("book.scores", { n: last.feed.length }))),
        h(
          "ol",
          { class: "book-feed" },
          last.feed.map((e) => h("li", {}, card(e, last, this.letters, { proof }))),
        ),
      ),
      this.housekeeping(),
    );
  }

  files() {
    const link = (key, name) => h("a", { class: "action", href: `${this.pictures}/${name}`, download: "" }, t(key));
    return h(
      "section",
      { class: "book-part" },
      h("h2", {}, t("final.shareit")),
      h(
        "div",
        { class: "row" },
        this.handover &&
          button(t("hand.open"), () => this.sheet.open(new Handing(this)), {
            icon: "share",
            className: "action main",
            data: { key: "hand" },
          }),
        button(t("share.png"), () => this.share(), { icon: "photo", className: "action", data: { key: "share" } }),
        link("share.csv", "scores.csv"),
        link("share.game", "game.json"),
        link("book.jcz", "game.jcz"),
      ),
    );
  }

  async share() {
    this.scrub.to(this.frames.length);
    const { share } = await import("../lazy/share.js");
    await share({ view: this.last, board: this.board, aid: this.aid, toast: this.toast });
  }

  housekeeping() {
    const { row } = this;
    return h(
      "section",
      { class: "book-part" },
      h("h2", {}, t("book.keep")),
      h(
        "div",
        { class: "row" },
        row.over &&
          button(
            t(row.counts ? "book.count.not" : "book.count"),
            async () => {
              if (await this.book.change("/api/book", { do: "count", game: this.game, counts: !row.counts })) {
                row.counts = !row.counts;
                this.draw();
              }
            },
            { className: "action", "aria-pressed": String(!row.counts), data: { key: "count" } },
          ),
        button(t("book.reopen"), () => this.sheet.open(new Reopening(this)), {
          icon: "undo",
          className: "action",
          data: { key: "reopen" },
        }),
      ),
    );
  }
}

// Puts it back on the table for everybody: viewing does not do that, so it asks first.
class Reopening {
  constructor(evening) {
    this.evening = evening;
    this.className = "left";
  }

  title() {
    return t("book.reopen");
  }

  body() {
    return [
      h("p", {}, t("book.reopen.note")),
      h(
        "div",
        { class: "row" },
        button(
          t("book.reopen.go"),
          async () => {
            if (await this.evening.book.change("/api/commands", { do: "open_game", game: this.evening.game }))
              location.assign("/");
          },
          { className: "action main", data: { key: "reopen-go" } },
        ),
      ),
    ];
  }
}
