// Everything that is not needed every turn: looking back, a new game, files, the language, whose device this is.

import { device, named, signOut } from "./access.js";
import { button, h } from "./dom.js";
import { LANGUAGES, language, speak, t } from "./i18n.js";
import { THEMES, dress, remember, theme } from "./screen.js";

export class Menu {
  /** @type {any} */
  join;

  constructor(app) {
    this.app = app;
    this.join = h("div", {}); // made once, so that redrawing the sheet does not request it again
    this.className = "menu";
    /** @type {any} */
    this.device = null; // what the table knows about it
    this.learn();
  }

  async learn() {
    if (document.body.dataset.pin !== "set") return;
    this.device = await device().catch(() => null);
    if (this.app.sheet.content === this) this.app.sheet.render();
  }

  async leave() {
    const answer = await signOut().catch(() => null);
    this.app.toast.show(t(answer?.ok ? "menu.signed_out" : "toast.offline"));
    if (answer) this.learn();
  }

  title() {
    return t("menu.title");
  }

  body() {
    const { app } = this,
      { view, commands } = app;
    const go = (key, icon, act) =>
      button(
        t(key),
        () => {
          app.sheet.close();
          act();
        },
        { icon, className: "action", data: { key } },
      );
    const pick = (label, options, chosen, act) =>
      h(
        "div",
        { class: "player-choice", role: "group", "aria-label": label },
        options.map(([value, name]) =>
          h(
            "button",
            {
              type: "button",
              class: "action",
              dir: "auto",
              lang: Object.hasOwn(LANGUAGES, value) ? value : undefined,
              "aria-pressed": String(value === chosen),
              data: { key: `pick-${value}` },
              on: { click: () => act(value) },
            },
            name,
          ),
        ),
      );
    const link = (key, href, more = {}) => h("a", { class: "action", href, data: { key }, ...more }, t(key));
    return [
      h(
        "section",
        {},
        h(
          "div",
          { class: "row stack" },
          go("menu.replay", "clock", () => app.replay()),
          go("menu.new", "plus", () => app.setup()),
          go("menu.games", "list", () => app.games()),
          link("menu.book", "/book"),
          go("menu.words", "list", () => app.inWords()),
          go("menu.camera", "eye", () => app.camera()),
          go("menu.machine", "fit", () => app.machine()),
          go("menu.begin", "next", () => app.begin()),
          link("menu.tv", "/tv", { target: "_blank", rel: "noopener" }),
          link("menu.overlay", "/overlay", { target: "_blank", rel: "noopener" }),
        ),
        h("h3", {}, t("menu.share")),
        h(
          "div",
          { class: "row" },
          go("share.png", "share", () => app.share()),
          link("share.csv", "/api/export/scores.csv", { download: "" }),
          link("share.game", "/api/export/game.json", { download: "" }),
        ),
      ),
      h(
        "section",
        {},
        h("h3", {}, t("join.title")),
        this.joining(),
        "speechSynthesis" in window &&
          button(t(app.speech?.on ? "speech.off" : "speech.on"), () => app.speak(), {
            className: "action",
            data: { key: "speech" },
          }),
        "AudioContext" in window &&
          button(
            t("sound.title"),
            () => {
              app.moments?.sound.toggle();
              app.sheet.render();
            },
            {
              icon: "voice",
              className: "action",
              "aria-pressed": String(!!app.moments?.sound.on),
              data: { key: "sound" },
            },
          ),
        "wakeLock" in navigator
          ? button(t(app.awake ? "awake.off" : "awake.on"), () => app.stayAwake(), {
              className: "action",
              "aria-pressed": String(!!app.awake),
              data: { key: "awake" },
            })
          : h("p", { class: "note" }, t("awake.note")),
      ),
      h(
        "section",
        {},
        h("h3", {}, t("menu.screen")),
        pick(
          t("menu.theme"),
          THEMES.map((name) => [`theme-${name}`, t(`theme.${name || "device"}`)]),
          `theme-${theme()}`,
          (value) => {
            dress(value.slice("theme-".length));
            app.sheet.render();
          },
        ),
        button(t("menu.turn"), () => this.turn(), { icon: "turn", className: "action", data: { key: "menu.turn" } }),
        h("p", { class: "note" }, t("menu.turn.note")),
      ),
      h(
        "section",
        {},
        h("h3", {}, t("menu.language")),
        pick(t("menu.language"), Object.entries(LANGUAGES), language, speak),
        app.ownTiles.there && [
          h("h3", {}, t("menu.tiles")),
          pick(
            t("menu.tiles"),
            [
              ["own", t("menu.tiles.own")],
              ["drawn", t("menu.tiles.drawn")],
            ],
            app.ownTiles.chosen,
            (look) => {
              app.ownTiles.choose(look);
              app.sheet.render();
            },
          ),
        ],
        h("h3", {}, t("menu.who")),
        pick(
          t("menu.who"),
          [["", t("menu.table")], ...view.players.map((p) => [p.name, p.name]), ["-", t("menu.aside")]],
          commands.aside ? "-" : commands.who,
          (name) => {
            if (name === "-") commands.lookOn();
            else commands.who = name;
            named(commands.who).catch(() => {});
            app.sheet.render();
          },
        ),
        h("p", { class: "note" }, t("menu.who.note")),
        this.device?.failed > 0 && h("p", { class: "note warn" }, t("menu.failed", { n: this.device.failed })),
        this.device?.token &&
          h(
            "div",
            { class: "row" },
            button(t("menu.signout"), () => this.leave(), { className: "action", data: { key: "signout" } }),
          ),
      ),
      h(
        "section",
        {},
        h("h3", {}, t("menu.rules")),
        h(
          "p",
          {},
          h("b", {}, view.edition_title ?? view.edition),
          " · ",
          view.expansions.map((e) => t(`setup.box.${e}`)).join(", "),
        ),
        Object.entries(view.rules)
          .filter(([name]) => `option.${name}` !== t(`option.${name}`))
          .map(([name, value]) =>
            h(
              "p",
              {},
              t(`option.${name}`),
              ": ",
              t(`option.${name}.${value}`),
              h("span", { class: "tag" }, t("setup.changed")),
            ),
          ),
        h("p", {}, t("aid.title"), ": ", h("b", {}, t(`aid.${app.aid}`))),
        h("p", { class: "note" }, t(`aid.${app.aid}.note`), " ", t("setup.fixed")),
        h("div", { class: "row" }, link("menu.doctor", "/doctor")),
      ),
    ];
  }

  // Rotates the board to the next side of the table.
  turn() {
    const { view } = this.app.board;
    view.look((view.turn + 1) % 4);
    remember(view.turn);
  }

  joining() {
    if (!this.join.firstChild)
      import("./lazy/join.js").then(({ joinCard }) => this.join.firstChild || this.join.append(joinCard()));
    return this.join;
  }
}
