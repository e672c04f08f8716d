// An earlier moment of the game, to enter or correct what happened then: the page shows it as it was, and what people
// do there is put in its place.

import { t } from "./i18n.js";

export class Then {
  /** @type {import("./app.js").App} */
  app;
  /** @type {number | null} */
  seq;
  after = 0;

  // `seq` is the entry that is told anew; without one something that was missed is added
  constructor(app, seq = null) {
    Object.assign(this, { app, seq });
  }

  // Go where an address of the interface leads ("turns/12", "entries/30/before"); false where there is nothing.
  async go(path) {
    try {
      const answer = await fetch(`/api/${path}`, { cache: "no-store" });
      if (!answer.ok) throw new Error(answer.statusText);
      const view = await answer.json();
      this.after = view.after;
      this.app.look(this, view);
      return true;
    } catch {
      this.app.toast.show(t("toast.offline"));
      return false;
    }
  }

  place(body) {
    return this.seq === null ? { do: "insert", after: this.after, body } : { do: "amend", seq: this.seq, body };
  }

  // What was done is part of that moment now; a move that was told anew is done with.
  async moved(body, view) {
    if (this.seq !== null) this.app.now();
    else if (body.do === "insert") await this.go(`entries/${view.version}/after`);
    else await this.go(`entries/${this.after}/after`);
  }
}
