// The tournament: rounds from a pairing program, how each game stands, standings, and files for the program.

import { post } from "../access.js";
import { h, replace } from "../dom.js";
import { number, t } from "../i18n.js";
import { errorText } from "../words.js";
import { standing } from "./evening.js";

const FILES = ["rounds.csv", "standings.csv", "rounds.json"];

function result(game) {
  if (game.bye) return t("hub.bye");
  if (!game.scores)
    return game.at && game.at !== "done"
      ? h("span", { class: game.at === "playing" ? "" : "warn" }, t(`hub.at.${game.at}`))
      : t("hub.open");
  return `${game.scores.map((s) => number(s)).join(" : ")}${game.confirmed ? "" : ` (${t("hub.unconfirmed")})`}`;
}

export class Rounds {
  told = "";
  /** @type {any} */
  data = null;

  constructor(root) {
    this.form = h("details", { class: "rounds-form" });
    this.list = h("div", {});
    this.error = h("p", { class: "warn", role: "alert" });
    replace(root, this.list, this.error, this.form);
    this.draw();
  }

  async show({ extra }) {
    const told = String(extra.rounds);
    if (told === this.told) return;
    this.told = told;
    try {
      this.take(await (await fetch("/api/tournament", { cache: "no-store" })).json());
    } catch {
      this.told = "";
    }
  }

  take(data) {
    const first = !this.data;
    this.data = data;
    if (first) this.form.open = !data.rounds.length;
    replace(
      this.list,
      data.rounds.map((round) => this.round(round)),
      data.standings.length > 0 && standing(data.standings),
      data.rounds.length > 0 &&
        h(
          "p",
          { class: "files" },
          FILES.map((file) => h("a", { class: "action", href: `/results/${file}`, download: file }, file)),
        ),
    );
  }

  round({ number: n, state, games }) {
    const waiting = games.filter((g) => !g.scores && !g.bye).length;
    return h(
      "section",
      { class: `results-part round ${state}` },
      h(
        "h2",
        {},
        t("hub.round", { n }),
        h("small", {}, state === "open" ? t("hub.running", { n: waiting }) : t(`hub.round.${state}`)),
        state !== "open" &&
          h(
            "button",
            {
              type: "button",
              class: "action",
              on: { click: () => this.ask({ do: "begin", round: n }, t("hub.begin.sure", { n })) },
            },
            t("hub.begin"),
          ),
        state === "open" &&
          h(
            "button",
            {
              type: "button",
              class: "action",
              on: { click: () => this.ask({ do: "end", round: n }, waiting ? t("hub.end.sure", { n: waiting }) : "") },
            },
            t("hub.end"),
          ),
      ),
      state === "open" || games.length <= 12
        ? h(
            "table",
            {},
            h(
              "tbody",
              {},
              games.map((g) =>
                h(
                  "tr",
                  {},
                  h("td", { dir: "auto" }, g.table),
                  h(
                    "td",
                    { class: "people" },
                    g.players.map((p, k) =>
                      h("span", { class: g.scores && g.winners.includes(k) ? "won" : "", dir: "auto" }, p),
                    ),
                  ),
                  h("td", {}, result(g)),
                ),
              ),
            ),
          )
        : null,
    );
  }

  draw() {
    const text = h("textarea", {
      rows: 6,
      spellcheck: "false",
      "aria-label": t("hub.csv"),
      placeholder: "round,table,player1,player2\n1,Table 1,Anna,Ben",
    });
    const file = h("input", {
      type: "file",
      accept: ".csv,.txt,text/csv",
      "aria-label": t("hub.file"),
      on: {
        change: async () => {
          if (file.files[0]) text.value = await file.files[0].text();
        },
      },
    });
    const clock = h("input", { type: "number", min: 0, max: 600, value: 15, inputmode: "numeric" });
    replace(
      this.form,
      h("summary", {}, t("hub.load")),
      h("p", { class: "note" }, t("hub.load.note")),
      text,
      h(
        "p",
        { class: "row" },
        file,
        h("label", {}, t("hub.clock"), " ", clock),
        h(
          "button",
          {
            type: "button",
            class: "action main",
            on: { click: () => this.send({ csv: text.value, clock_s: 60 * Number(clock.value) }) },
          },
          t("hub.take"),
        ),
      ),
    );
  }

  ask(what, sure) {
    if (!sure || confirm(sure)) this.send(what);
  }

  async send(what) {
    try {
      const answer = await post("/api/tournament", what),
        data = await answer.json();
      if (answer.ok) {
        this.take(data);
        if (what.csv !== undefined) this.form.open = false;
      }
      replace(this.error, answer.ok ? null : errorText(data.error));
    } catch {
      replace(this.error, t("toast.offline"));
    }
  }

  tick() {}
}
