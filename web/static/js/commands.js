// What people do to the game, with the messages that follow.

import { t } from "./i18n.js";

export class Commands {
  constructor(app) {
    this.app = app;
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
    const result = await this.app.live.command(body, same);
    if (result.failed) {
      this.app.toast.show(result.failed === "refused" ? t("toast.failed", { text: result.text })
        : t(`toast.${result.failed}`));
      return false;
    }
    const changes = result.view.players.filter((p, n) => p.score !== before[n])
      .map((p) => t("toast.score", { name: p.name, from: before[p.index], to: p.score }));
    const text = changes.length && message === "toast.changed" ? t("toast.changed.scores", { scores: changes.join(", ") }) : t(message);
    this.app.toast.show(text, undo && (() => this.send(undo)), t("toast.undo"));
    return true;
  }

  body(entry) {
    const { seq, turn, kind, source, confidence, asked, amended, ...rest } = entry;
    return { do: kind, ...rest };
  }

  amend(entry, changes) {
    const old = this.body(entry);
    return this.send({ do: "amend", seq: entry.seq, body: { ...old, ...changes } },
      { seq: entry.seq, undo: { do: "amend", seq: entry.seq, body: old } });
  }

  remove(entry) {
    return this.send({ do: "retract", seq: entry.seq }, { seq: entry.seq, message: "toast.removed" });
  }

  addFollower(tile, player, feature, where) {
    return this.send({ do: "insert", after: tile.seq,
      body: { do: "deploy", player, figure: "follower", at: tile.at, feature, where } }, { seq: tile.seq });
  }

  answer(question, choice, body) {
    return this.send({ do: "answer", question: question.id, choice, ...(body ? { body } : {}) });
  }

  undo() {
    // Only what the person saw as the last move is taken back.
    return this.send({ do: "undo" }, { message: "toast.undone", look: (view) => [view.history.at(-1), view.turn] });
  }
}
