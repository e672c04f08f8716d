// The rules' questions about what no camera sees: where a piece walks, who is captured, who goes home.

import { FIELDS } from "./boxes.js";
import { button, h } from "./dom.js";
import { t } from "./i18n.js";
import { different } from "./shapes.js";
import { tileButton } from "./tilebutton.js";
import { figureName, placeName, said } from "./words.js";

const LAST = "last_tile"; // asked last

const spot = (move) => move.path?.[0] ?? move.at;

// Which questions are asked: those with an answer that must be known, and those that only this turn can answer. Who
// claimed something is asked with the camera's questions, or entered by hand.
export const asked = (view) =>
  (view.open_questions ?? [])
    .filter((q) => q.code !== "claim" && q.answers.length && (q.must || q.turn + 1 === view.turn.number))
    .sort((a, b) => Number(a.code === LAST) - Number(b.code === LAST));

export class Asking {
  inThen = true; // may be open while an earlier moment is shown
  answering = false;
  /** @type {(() => void) | null} */
  back;
  /** @type {import("./app.js").App} */
  app;

  // back() returns to where the person came from, after the answer
  constructor(app, question, back = null) {
    Object.assign(this, { app, question, back });
    this.className = "question asking";
  }

  get code() {
    return `${this.app.view.game}/${this.question.id}`;
  }

  title() {
    return t(`question.${this.question.code}`, { fallback: this.question.text });
  }

  still() {
    const now = asked(this.app.view).find((q) => q.id === this.question.id);
    if (now) this.question = now;
    return !!now || this.answering;
  }

  closed() {
    if (!this.app.then) this.app.later.add(this.code);
    this.app.board.choose([]);
    this.app.board.select(null);
  }

  // Where the answers are: marked on the board. Numbered are tiles that may look alike; a walk's next step has a name.
  get spots() {
    return different(this.question.answers.map(spot));
  }

  get numbered() {
    return this.spots.length > 1 && !this.question.answers.some((a) => a.path);
  }

  actions() {
    if (this.app.then)
      return [
        button(t("then.now"), () => this.app.now(), { icon: "next", className: "action main", data: { key: "now" } }),
      ];
    return [button(t("question.later"), () => this.app.sheet.close(), { className: "action", data: { key: "later" } })];
  }

  body() {
    const { question: q, app } = this;
    const { spots } = this;
    app.board.choose(
      spots,
      (at) => {
        const found = q.answers.flatMap((a, n) => (spot(a)?.join() === at.join() ? [n] : []));
        if (found.length === 1) this.answer(found[0]);
      },
      { numbered: this.numbered },
    );
    return [
      h("p", { class: "note", dir: "auto" }, t("question.for", { name: app.view.players[q.player].name })),
      h(
        "div",
        { class: "choices", data: { about: q.id } },
        q.answers.map((move, n) => this.choice(move, n, () => this.answer(n))),
        q.nothing &&
          !app.then &&
          button(t("question.nothing.move"), () => this.answer("nothing"), {
            className: "action candidate",
            data: { key: "choice-nothing" },
          }),
      ),
    ];
  }

  // An answer belongs to the turn that the question is about; at an earlier moment it is what happened then.
  async answer(n) {
    const { app, question } = this,
      { then } = app,
      move = question.answers[n] ?? null;
    this.answering = true; // the view may come before the response does
    const done = await app.commands
      .send(app.then ? move : { do: "answer", question: question.id, choice: n }, { said: move })
      .finally(() => {
        this.answering = false;
      });
    if (!done) return;
    const more = asked(app.view).find((q) => q.code === question.code); // the next step or the next player
    const back = then?.seq === null && app.then !== then;
    if (back || (app.sheet.content && app.sheet.content !== this)) return; // the person has moved on in the meantime
    if (more) app.sheet.open(new Asking(app, more, this.back));
    else if (this.back) this.back();
    else app.sheet.close();
  }

  choice(move, n, act) {
    const { app } = this,
      { players, board } = app.view;
    if (!move.at && !move.figure) {
      const words = said(players, move, this.question.at);
      return button(t(`answer.${move.do}`, { ...words, fallback: t(`add.${move.do}`, words) }), act, {
        className: "action candidate",
        data: { key: `choice-${n}` },
      });
    }
    for (const [k, v] of Object.entries(move)) if (FIELDS[k] === "ref" && v) move = { ...move, ...v }; // the figure it is about
    const tile = move.at && board.tiles.find((p) => p.at[0] === move.at[0] && p.at[1] === move.at[1]);
    const label = figureName(players, move),
      figure = { ...move, player: move.owner ?? move.player };
    if (!tile) return button(label, act, { className: "action candidate", data: { key: `choice-${n}` } });
    return tileButton(app, tile, act, {
      key: `choice-${n}`,
      className: "candidate",
      figure,
      label: placeName(move.at),
      mark: this.numbered ? this.spots.findIndex((at) => at.join() === move.at.join()) + 1 : 0,
      note: label,
    });
  }
}
