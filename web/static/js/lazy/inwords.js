// The table in words: whose turn it is, who has what, every open feature with its owner and value, where a drawn tile
// fits; and a plain button for everything that can be done in a turn. To follow and enter a whole game with a screen
// reader, and to have it read aloud.

import { button, h } from "../dom.js";
import { language, listed, spokenTexts, t } from "../i18n.js";
import { Add } from "../add.js";
import { CLAIMABLE } from "../boxes.js";
import { where } from "../shapes.js";
import { figureChoice } from "../tilebutton.js";
import { featureAt, gapName, placeName, segmentName, segmentSaid, tileName } from "../words.js";

const BASE = ["city", "road", "cloister", "field"];
const KINDS = [...BASE, ...CLAIMABLE.filter((kind) => !BASE.includes(kind))];
const SQUARES = 6; // squares of a large feature that are named
const CLAIMED = new Set(KINDS);

export class InWords {
  constructor(app) {
    this.app = app;
    this.className = "in-words";
    this.tile = "";
    this.places = null; // where the tile fits, once the table has responded
    this.figure = "follower";
    this.ready = false;
    spokenTexts().then(() => {
      this.ready = true;
      if (app.sheet.content === this) app.sheet.render();
    });
  }

  title() {
    return t("menu.words");
  }

  actions() {
    return "speechSynthesis" in window
      ? [button(t("spoken.aloud"), () => this.aloud(), { className: "action", data: { key: "aloud" } })]
      : [];
  }

  closed() {
    if ("speechSynthesis" in window) speechSynthesis.cancel();
  }

  still(view) {
    if (this.tile && this.version !== view.version) this.ask();
    return true;
  }

  // -- what there is to hear ------------------------------------------------------------------------------------------

  // Whose turn it is and who has what, in sentences.
  standing() {
    const { view, aid } = this.app,
      playing = view.phase === "playing",
      { laid } = this;
    return [
      playing && view.turn.number
        ? t("spoken.turn", { n: view.turn.number, name: view.players[view.turn.player].name })
        : !playing && t("chip.ended"),
      playing &&
        laid &&
        view.turn.open &&
        t("spoken.laid", { tile: tileName(this.app.kinds, laid.tile, laid.rot), place: placeName(laid.at) }),
      playing && t("spoken.next", { name: view.players[view.next_tile.player].name }),
      aid !== "score" && t("left.title", { n: view.left.total }),
    ].filter(Boolean);
  }

  scores() {
    const { view, aid } = this.app;
    return view.players.map((p) =>
      [
        t("spoken.player", { name: p.name, n: p.score, hand: p.supply.follower ?? 0 }),
        aid !== "score" && view.phase === "playing" && t("player.projected", { n: p.projected }),
      ]
        .filter(Boolean)
        .join(" "),
    );
  }

  // Every feature that is not finished, those with figures first.
  features(kind) {
    const { view } = this.app;
    return view.features
      .filter((f) => f.kind === kind && (!f.complete || kind === "field") && (f.weights.length || kind !== "field"))
      .sort((a, b) => b.weights.length - a.weights.length || b.points_complete - a.points_complete)
      .map((f) => this.feature(f));
  }

  feature(f) {
    const { players } = this.app.view,
      squares = [...new Map(f.places.map(([x, y]) => [`${x},${y}`, [x, y]])).values()];
    const whose = f.owners.length ? listed(f.owners.map((n) => players[n].name)) : t("spoken.nobody");
    const at = listed([
      ...squares.slice(0, SQUARES).map(placeName),
      ...(squares.length > SQUARES ? [t("spoken.more", { n: squares.length - SQUARES })] : []),
    ]);
    const worth =
      f.kind === "field"
        ? t("spoken.field", { n: f.cities, points: f.points_now })
        : t("spoken.worth", { n: f.tiles, now: f.points_now, then: f.points_complete });
    return t("spoken.feature", { whose, worth, open: f.kind === "field" ? "" : t("spoken.open", { n: f.open }), at })
      .replace(/ {2,}/g, " ")
      .trim();
  }

  aloud() {
    speechSynthesis.cancel();
    const said = [
      ...this.standing(),
      ...this.scores(),
      ...KINDS.flatMap((kind) => {
        const found = this.features(kind);
        return found.length ? [`${t(`final.category.${kind}`)}:`, ...found] : [];
      }),
    ];
    for (const text of said) {
      const one = new SpeechSynthesisUtterance(text);
      one.lang = language;
      speechSynthesis.speak(one);
    }
  }

  // -- what there is to do --------------------------------------------------------------------------------------------

  // The tile of the open turn.
  get laid() {
    const { board, next_tile: next } = this.app.view;
    return next.waiting ? undefined : board.tiles.find((p) => p.last && p.seq);
  }

  async ask() {
    const { tile } = this;
    this.version = this.app.view.version;
    try {
      const { places } = await (await fetch(`/api/fits?tile=${encodeURIComponent(tile)}`)).json();
      if (tile !== this.tile) return;
      this.places = places;
    } catch {
      this.app.toast.show(t("toast.offline"));
    }
    if (this.app.sheet.content === this) this.app.sheet.render();
  }

  lay() {
    const { app } = this,
      { kinds, view } = app;
    const left = (id) => view.left.kinds[id] ?? 0;
    const known = Object.entries(kinds)
      .filter(([id, kind]) => kind.count && left(id) > 0)
      .map(([id]) => [tileName(kinds, id), id])
      .sort((a, b) => a[0].localeCompare(b[0], language));
    const choice = h(
      "select",
      {
        id: "spoken-tile",
        data: { key: "spoken-tile" },
        on: {
          change: (e) => {
            this.tile = e.target.value;
            this.places = null;
            if (this.tile) this.ask();
            else app.sheet.render();
          },
        },
      },
      h("option", { value: "" }, t("spoken.choose")),
      known.map(([name, id]) =>
        h(
          "option",
          { value: id, selected: id === this.tile },
          app.aid === "score" ? name : t("spoken.kind", { name, n: left(id) }),
        ),
      ),
    );
    return h(
      "section",
      {},
      h("h3", {}, t("spoken.lay", { name: view.players[view.next_tile.player].name })),
      h("label", { for: "spoken-tile" }, t("spoken.which")),
      choice,
      this.places &&
        (this.places.length
          ? h(
              "ul",
              { class: "spoken-list" },
              this.places.flatMap(({ at, rots }) =>
                rots.map((rot) =>
                  h(
                    "li",
                    {},
                    button(
                      t("spoken.place", { place: gapName(app.board, at), name: tileName(kinds, this.tile, rot) }),
                      () => this.put({ do: "tile", tile: this.tile, at, rot }, "[data-key^='claim-']"),
                      { className: "action", data: { key: `put-${at.join()}-${rot}` } },
                    ),
                  ),
                ),
              ),
            )
          : h("p", {}, t("gap.none"))),
    );
  }

  // Sends a move to the table; the focus goes to what comes next.
  async put(move, next) {
    if (!(await this.app.commands.send(move))) return;
    this.tile = "";
    this.places = null;
    this.app.sheet.render();
    this.app.sheet.root.querySelector(`${next}:not(:disabled)`)?.focus();
  }

  claim() {
    const { app, laid } = this,
      { view, kinds } = app;
    if (!laid || view.phase !== "playing" || !view.turn.open) return null;
    const { player } = laid,
      kind = kinds[laid.tile];
    const free = kind.segments.filter((g) => CLAIMED.has(g.kind) && g.path);
    const stands = view.history.filter((e) => e.kind === "deploy" && e.turn === laid.turn);
    return h(
      "section",
      {},
      h("h3", {}, t("spoken.claim", { name: view.players[player].name })),
      figureChoice(app, player, this.figure, (kindOf) => {
        this.figure = kindOf;
        app.sheet.render();
      }),
      h(
        "ul",
        { class: "spoken-list" },
        free.map((g, n) => {
          const place = where(g, laid.rot),
            found = featureAt(view, laid.at, g.kind, place),
            name = segmentName(g, laid.rot);
          const own = stands.some((e) => e.feature === g.kind && e.where === place && e.at.join() === laid.at.join());
          return h(
            "li",
            {},
            button(
              [found ? segmentSaid(view, found, name) : name, own && t("spoken.stands")].filter(Boolean).join(", "),
              () =>
                this.put(
                  {
                    do: "deploy",
                    player,
                    figure: this.figure,
                    at: laid.at,
                    feature: g.kind,
                    where: place,
                  },
                  "[data-key='spoken-tile']",
                ),
              {
                className: "action",
                disabled: own || (this.figure === "follower" && !!found?.weights.length),
                "aria-pressed": String(own),
                data: { key: `claim-${n}` },
              },
            ),
          );
        }),
      ),
    );
  }

  body() {
    if (!this.ready) return h("p", { class: "note" }, t("wait"));
    const { app } = this,
      { view } = app,
      last = view.feed.slice(-3).reverse(),
      playing = view.phase === "playing" && !app.past;
    const list = (title, lines) =>
      lines.length > 0 &&
      h(
        "section",
        {},
        h("h3", {}, title),
        h(
          "ul",
          { class: "spoken-list" },
          lines.map((line) => h("li", { dir: "auto" }, line)),
        ),
      );
    return [
      list(t("spoken.now"), this.standing()),
      app.revealing &&
        h(
          "section",
          {},
          h("p", {}, t("reveal.intro")),
          button(t("reveal.begin"), () => app.reveal?.next(), {
            icon: "next",
            className: "action main",
            data: { key: "spoken-reveal" },
          }),
        ),
      playing && this.claim(),
      playing && this.lay(),
      playing &&
        h(
          "div",
          { class: "row" },
          button(t("add.end"), () => app.commands.send({ do: "end_turn" }), {
            icon: "check",
            className: "action",
            disabled: !view.turn.open,
            data: { key: "spoken-end" },
          }),
          button(t("bar.undo"), () => app.commands.undo(), {
            icon: "undo",
            className: "action",
            data: { key: "spoken-undo" },
          }),
          button(t("spoken.others"), () => app.sheet.open(new Add(app)), {
            icon: "plus",
            className: "action",
            data: { key: "spoken-others" },
          }),
        ),
      list(t("players"), this.scores()),
      list(
        t("spoken.last"),
        last.map((e) =>
          t("speech.event", {
            reason: t(`reason.${e.reason}`, { fallback: e.reason }),
            who:
              listed(e.points.map((p) => t("speech.points", { n: p.points, name: view.players[p.player].name }))) ||
              t("feed.nobody"),
          }),
        ),
      ),
      KINDS.map((kind) => {
        const found = this.features(kind);
        return (found.length > 0 || BASE.includes(kind)) && list(t(`final.category.${kind}`), found);
      }),
    ];
  }
}
