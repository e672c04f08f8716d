// An earlier moment of the game, to enter or correct what happened then: the page shows it as it was, and what people
// do there is put in its place.

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

  // `seq` is the entry that is told anew, `turn` the one in which something was missed
  constructor(app, { seq = null, turn = null }) {
    Object.assign(this, { app, seq, turn });
  }

  // Go where an address of the interface leads ("turns/12", "entries/30/before"); false where there is nothing.
  async go(path) {
    try {
      const answer = await fetch(`/api/${path}`, { cache: "no-store" });
      if (!answer.ok) throw new Error(answer.statusText);
      const view = await answer.json();
      if (this.begun && this.app.then !== this) return false; // the person has gone back meanwhile
      Object.assign(this, { after: view.after, begun: true });
      this.app.look(this, view);
      return true;
    } catch {
      this.app.toast.show(t("toast.offline"));
      return false;
    }
  }

  // The table knows where in a turn something belongs; a tile that was missed begins another turn.
  place(body) {
    if (this.seq !== null) return { do: "amend", seq: this.seq, body };
    return { do: "insert", ...(body.do === "tile" ? { after: this.after } : { turn: this.turn }), body };
  }

  // What was done is part of that moment now; a move that was told anew is done with.
  async moved(body, view) {
    if (this.seq !== null) this.app.now();
    else if (body.do === "insert") await this.go(`entries/${view.version}/after`);
    else await this.go(`entries/${this.after}/after`);
  }
}
