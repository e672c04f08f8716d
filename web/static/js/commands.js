// What people do to the game, with the messages that follow.

import { t } from "./i18n.js";
import { errorText } from "./words.js";

const KEPT = "bastide.who";
const ABOUT = new Set(["seq", "turn", "kind", "source", "confidence", "asked", "amended", "notation"]); // an entry's, not its move's

export class Commands {
  constructor(app) {
    this.app = app;
    this.underWay = new Set();
    try {
      this.name = localStorage.getItem(KEPT) ?? "";
    } catch {
      this.name = "";
    }
  }

  // Whose hands are on this device: corrections are signed with it.
  get who() {
    return this.name;
  }

  set who(name) {
    this.name = name;
    try {
      localStorage.setItem(KEPT, name);
    } catch {
      // remembered until the page is left
    }
  }

  get view() {
    return this.app.view;
  }

  // Send; when somebody else changed the game meanwhile, go on only if entry `seq` (or what `look` sees) is still
  // what it was.
  async send(body, { seq = null, message = "toast.changed", undo = null, look = (view) => view.history.find((e) => e.seq === seq) } = {}) {
    const before = this.view.players.map((p) => p.score);
    const shown = JSON.stringify(look(this.view));
    const same = (view) => JSON.stringify(look(view)) === shown;
    const asked = JSON.stringify(body);
    if (this.underWay.has(asked)) return false; // tapped twice
    this.underWay.add(asked);
    const result = await this.app.live.command(this.who ? { ...body, who: this.who } : body, same).finally(() => this.underWay.delete(asked));
    if (result.failed) {
      const text = result.failed === "refused" ? t("toast.failed", { text: errorText(result) }) : t(`toast.${result.failed}`);
      this.app.toast.show(text);
      return false;
    }
    const changes = result.view.players.filter((p, n) => p.score !== before[n])
      .map((p) => t("toast.score", { name: p.name, from: before[p.index], to: p.score }));
    const text = changes.length && message === "toast.changed" ? t("toast.changed.scores", { scores: changes.join(", ") }) : t(message);
    this.app.toast.show(text, undo && (() => this.send(undo)), t("toast.undo"));
    return true;
  }

  // What commands would come to; nothing is changed. An empty list when the table does not say.
  async preview(commands) {
    try {
      const answer = await fetch("/api/preview", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ commands }) });
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
    return this.send({ do: "retract", seq: entry.seq }, { seq: entry.seq, message: "toast.removed" });
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
    // Only what the person saw as the last move is taken back.
    return this.send({ do: "undo" }, { message: "toast.undone", look: (view) => [view.history.at(-1), view.turn] });
  }
}
