// An earlier moment of the game, to enter or correct what happened then: the page shows it as it was, and people's input
// is inserted there.

import { t } from "./i18n.js";

export class Then {
  /** @type {import("./app.js").App} */
  app;
  /** @type {number | null} */
  seq;
  after = 0;
  begun = false;
  /** @type {number | null} */
  turn;

  // `seq` is the entry that is entered again, `turn` the one in which something was missed
  constructor(app, { seq = null, turn = null }) {
    Object.assign(this, { app, seq, turn });
  }

  // Goes where a URL of the API leads ("turns/12", "entries/30/before"); false if there is nothing.
  async go(path) {
    try {
      const answer = await fetch(`/api/${path}`, { cache: "no-store" });
      if (!answer.ok) throw new Error(answer.statusText);
      const view = await answer.json();
      if (this.begun && this.app.then !== this) return false; // the person has returned in the meantime
      Object.assign(this, { after: view.after, begun: true });
      this.app.look(this, view);
      return true;
    } catch {
      this.app.toast.show(t("toast.offline"));
      return false;
    }
  }

  // The table knows where in a turn something belongs; a missed tile begins another turn.
  place(body) {
    if (this.seq !== null) return { do: "amend", seq: this.seq, body };
    return { do: "insert", ...(body.do === "tile" ? { after: this.after } : { turn: this.turn }), body };
  }

  // What was entered is part of that moment now; a move that was entered again is done.
  async moved(body, view) {
    if (this.seq !== null) this.app.now();
    else if (body.do === "insert") await this.go(`entries/${view.version}/after`);
    else await this.go(`entries/${this.after}/after`);
  }
}
