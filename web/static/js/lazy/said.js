// Announcements for screen readers: the moves and scores of each new view and who is next, once. And the link to the
// table in words, the first element that the keyboard reaches.

import { h, replace } from "../dom.js";
import { spokenTexts, t } from "../i18n.js";
import { moveName } from "../words.js";
import { news } from "./speech.js";

const MOST = 3; // moves announced at once; earlier ones are in the list of moves

export class Said {
  constructor(app) {
    this.app = app;
    this.line = h("p", { class: "sr", role: "status", "aria-live": "polite", id: "said" });
    document.body.append(this.line);
    document.getElementById("feed")?.setAttribute("aria-live", "off"); // redrawn every time: this line announces what is new
    spokenTexts().then(() => {
      if (!app.isTv)
        document.body.prepend(
          h(
            "button",
            { type: "button", class: "skip", id: "skip", on: { click: () => app.inWords() } },
            t("menu.words"),
          ),
        );
    });
  }

  // `before` and `view` are the table before and now.
  heard(before, view) {
    if (!before || before.game !== view.game || view.version === before.version) return;
    const known = new Set(before.history.map((e) => e.seq)),
      own = this.app.commands.underWay.size > 0; // own moves are announced where they are made
    const moves = own
      ? []
      : view.history
          .filter((e) => !known.has(e.seq))
          .slice(-MOST)
          .map((e) => t("said.move", { name: view.players[e.player]?.name ?? "", move: moveName(this.app, e) }));
    const next =
      view.next_tile.player !== before.next_tile.player &&
      view.phase === "playing" &&
      t("spoken.next", { name: view.players[view.next_tile.player].name });
    const over = view.phase === "over" && before.phase !== "over" && t("chip.ended");
    const told = [...moves, ...news(before, view), next, over].filter(Boolean);
    if (told.length) this.say(told.join(" "));
  }

  say(text) {
    replace(this.line, text);
  }
}
