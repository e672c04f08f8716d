// People's commands to the game, and the messages that follow them.

import { t } from "./i18n.js";
import { errorText, moveName } from "./words.js";

const KEPT = "bastide.who",
  ASIDE = "bastide.aside";
const ROUND = new Set(["clock", "confirm"]); // of a tournament: the result is shown where it is done
const CORRECTIONS = new Set([
  "amend",
  "insert",
  "retract",
  "shift",
  "answer",
  "undo",
  "new_game",
  "open_game",
  ...ROUND,
]);
const ABOUT = new Set(["seq", "turn", "kind", "source", "confidence", "asked", "amended", "notation"]); // of an entry, not of its move

export class Commands {
  constructor(app) {
    this.app = app;
    this.underWay = new Set();
    try {
      this.name = localStorage.getItem(KEPT) ?? "";
      this.aside = localStorage.getItem(ASIDE) === "yes"; // the device of a spectator, who is asked nothing
    } catch {
      this.name = "";
      this.aside = false;
    }
  }

  // Whether questions for a player open on this device: on the player's own, and on the table's, which is nobody's.
  asks(player) {
    if (this.aside) return false;
    const mine = this.view.players.findIndex((p) => p.name === this.name);
    return mine < 0 || player === null || player === undefined || player === mine;
  }

  // The player whose device this is: corrections are signed with the name.
  get who() {
    return this.name;
  }

  set who(name) {
    this.name = name;
    this.aside = false;
    try {
      localStorage.setItem(KEPT, name);
      localStorage.removeItem(ASIDE);
    } catch {
      // kept until the page is closed
    }
  }

  // From now on this device only watches.
  lookOn() {
    this.who = "";
    this.aside = true;
    try {
      localStorage.setItem(ASIDE, "yes");
    } catch {
      // kept until the page is closed
    }
  }

  get view() {
    return this.app.newest;
  }

  // Sends; if somebody else has changed the game in the meantime, continues only if entry `seq` (or what `look` sees) is
  // still the same.
  async send(
    body,
    {
      seq = null,
      message = "",
      said = null,
      undo = null,
      look = (view) => view.history.find((e) => e.seq === seq),
    } = {},
  ) {
    const { then } = this.app,
      was = this.view,
      before = was.players.map((p) => p.score);
    if (then && !CORRECTIONS.has(body.do)) body = then.place(body); // it happened at an earlier time
    const shown = JSON.stringify(look(this.view));
    const same = (view) => JSON.stringify(look(view)) === shown;
    const asked = JSON.stringify(body);
    if (this.underWay.has(asked)) return false; // tapped twice
    this.underWay.add(asked);
    document.body.dataset.sending = "";
    const result = await this.app.live.command(this.who ? { ...body, who: this.who } : body, same).finally(() => {
      this.underWay.delete(asked);
      setTimeout(() => this.underWay.size || delete document.body.dataset.sending, 0); // by then its consequences have been handled
    });
    if (result.failed) {
      const text =
        result.failed === "refused" ? t("toast.failed", { text: errorText(result) }) : t(`toast.${result.failed}`);
      this.app.toast.show(text);
      return false;
    }
    const changes = result.view.players
      .filter((p, n) => p.score !== before[n])
      .map((p) => t("toast.score", { name: p.name, from: before[p.index], to: p.score }));
    if (ROUND.has(body.do)) return true;
    this.app.toast.show(
      [message ? t(message) : this.said(body, was, result.view, said), ...changes].join(" · "),
      undo && (() => this.send(undo)),
      t("toast.undo"),
    );
    await then?.moved(body, result.view);
    return true;
  }

  // What has happened, in words.
  said(body, before, after, answer = null) {
    const { app } = this,
      name = (n) => after.players[n]?.name ?? "";
    if (body.do === "end_turn") return t("said.end_turn", { name: name(after.turn.player) });
    const old = before.history.find((e) => e.seq === body.seq),
      kind = (body.do === "shift" ? old : body.body)?.kind ?? body.body?.do, // of what is in the history only now
      fresh = (e) => e.kind === kind && !before.history.some((o) => o.seq === e.seq),
      entry = after.history.find((e) => e.seq === body.seq || fresh(e));
    const move =
      body.body ??
      (body.do === "retract" || body.do === "shift"
        ? old
        : body.do === "undo"
          ? before.history.findLast((e) => !after.history.some((o) => o.seq === e.seq))
          : body.do === "answer"
            ? answer
            : body);
    if (!move) return t(body.do === "undo" ? "toast.undone" : "said.answer");
    const player =
      (body.do === "shift" ? entry?.player : move.player) ??
      entry?.player ??
      after.history.findLast((e) => e.kind === move.do)?.player;
    const key =
      {
        amend: "said.amend",
        insert: "said.insert",
        retract: "said.retract",
        shift: "said.shift",
        undo: "said.retract",
        answer: "said.answered",
      }[body.do] ?? "said.move";
    return t(key, { name: name(player), move: moveName(app, move), n: (entry?.turn ?? 0) + 1 });
  }

  // What commands would result in; nothing is changed. An empty list if the table does not respond.
  async preview(commands) {
    try {
      const answer = await fetch("/api/preview", {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ commands }),
      });
      return answer.ok ? (await answer.json()).previews : [];
    } catch {
      return [];
    }
  }

  body(entry) {
    return { do: entry.kind, ...Object.fromEntries(Object.entries(entry).filter(([key]) => !ABOUT.has(key))) };
  }

  amendment(entry, changes) {
    return { do: "amend", seq: entry.seq, body: { ...this.body(entry), ...changes } };
  }

  amend(entry, changes) {
    return this.send(this.amendment(entry, changes), { seq: entry.seq, undo: this.amendment(entry, {}) });
  }

  remove(entry) {
    return this.send({ do: "retract", seq: entry.seq }, { seq: entry.seq });
  }

  // It happened in another turn.
  shift(entry, turn) {
    return { do: "shift", seq: entry.seq, turn };
  }

  addition(tile, figure) {
    return { do: "insert", after: tile.seq, body: { do: "deploy", at: tile.at, ...figure } };
  }

  addFigure(tile, figure) {
    return this.send(this.addition(tile, figure), { seq: tile.seq });
  }

  answer(question, choice, body) {
    return this.send({ do: "answer", question: question.id, choice, ...(body ? { body } : {}) });
  }

  undo() {
    // Takes back only what the person saw as the last move.
    return this.send({ do: "undo" }, { look: (view) => [view.history.at(-1), view.turn] });
  }
}
