// Puts the page together: the newest view goes to every part, what people do goes to the table.

import { Bar } from "./bar.js";
import { Board } from "./board.js";
import { Commands } from "./commands.js";
import { byId, replace } from "./dom.js";
import { Feed, sameEvent } from "./feed.js";
import { letters, patternDefinitions } from "./figures.js";
import { Final } from "./final.js";
import { Fix } from "./fix.js";
import { t } from "./i18n.js";
import { Issues } from "./issues.js";
import { Add, History, Left } from "./lists.js";
import { Live } from "./live.js";
import { Picker } from "./picker.js";
import { Players } from "./players.js";
import { Question } from "./question.js";
import { Sheet, Toast } from "./sheet.js";
import { definitions } from "./tileart.js";

const ANNOUNCED_MS = 9000;

class App {
  constructor() {
    this.kinds = {};
    this.isOnline = true;
    this.isTv = document.body.classList.contains("tv");
    this.later = new Set(); // questions put off on this device
    this.commands = new Commands(this);
    this.toast = new Toast(byId("toast"));
    this.sheet = new Sheet(byId("sheet"), { resized: (pixels) => this.board?.cover(pixels) });
    this.issues = new Issues(byId("issues"), { show: (squares) => this.board.pointSquares(squares, { move: true }), hide: () => this.render() });
    this.players = new Players(byId("players"));
    this.feed = new Feed(byId("feed"), { tap: (e) => this.tapEvent(e) });
    this.final = new Final(byId("final"), {
      point: (event) => this.point(event), changed: () => this.render(),
      done: () => { this.final.close(); this.render(); },
    });
    this.bar = new Bar(byId("bar"), byId("status"), {
      questions: () => { this.later.clear(); this.ask(); },
      left: () => this.toggle(Left),
      history: () => this.toggle(History),
      add: () => { this.toggle(Add); this.render(); },
      farms: () => { this.board.showFarms(!this.board.farms); this.render(); },
      final: () => { if (this.final.isOpen) this.final.close(); else this.final.open(); this.render(); },
      undo: () => this.commands.undo(),
    });
    this.live = new Live({ show: (view) => this.show(view), online: (on) => this.online(on) });
    this.live.start();
  }

  async show(view) {
    const before = this.view;
    this.view = view;
    if (this.loading) return;
    const box = view.expansions.join();
    if (this.box !== box) {
      this.loading = true;
      try {
        const answer = await fetch("/api/tiles");
        this.kinds = await answer.json();
        this.box = box;
        replace(document.querySelector("#definitions defs"), patternDefinitions(), definitions(this.kinds));
        this.board = new Board(byId("board"), { kinds: this.kinds, open: (at) => this.openTile(at), gap: (at) => this.openGap(at) });
      } finally {
        this.loading = false;
      }
    }
    if (before && before.game !== view.game) this.forget();
    if (this.view.phase === "over" && before?.phase !== "over") this.final.open();
    if (this.view.phase === "playing" && before?.phase === "over") this.final.close();
    if (before?.status?.chip !== this.view.status?.chip && !(this.sheet.content instanceof Add)) {
      this.board.showGaps(this.view.status?.chip === "manual" && this.view.phase === "playing");
    }
    this.render();
    this.ask();
    if (this.isTv) this.announce(before);
  }

  // A screen that nobody touches points at what was just scored, for a while.
  announce(before) {
    const event = this.view.feed.at(-1);
    if (!event || sameEvent(event, before?.feed.at(-1) ?? event)) return;
    clearTimeout(this.announcing);
    this.point(event);
    this.announcing = setTimeout(() => this.point(null), ANNOUNCED_MS);
  }

  // Another game has begun: nothing that was opened belongs to it.
  forget() {
    this.sheet.close();
    this.later.clear();
    this.final.close();
    this.board.point(null);
    this.board.view.fit();
  }

  online(on) {
    if (this.isOnline === on) return;
    this.isOnline = on;
    if (this.board) this.render();
  }

  render() {
    const view = this.view;
    this.letters = letters(view.players);
    this.board.show(view, this.letters);
    this.players.show(view, this.letters, this.final.scores(view), this.final.isOpen ? String(this.final.step !== null) : "");
    byId("feed").hidden = this.final.isOpen;
    document.body.classList.toggle("counting", this.final.isOpen);
    this.feed.show(view, this.letters, this.board.marked);
    this.final.show(view, this.letters);
    this.issues.show(view);
    this.bar.show(view, { online: this.isOnline, farms: this.board.farms, adding: this.sheet.content instanceof Add,
                          waiting: view.questions.length, final: this.final.isOpen });
    this.sheet.render(view);
    const leader = view.players.reduce((a, b) => (b.score > a.score ? b : a));
    document.title = leader.score ? t("title", { leader: `${leader.name} ${leader.score}` }) : "bastide";
  }

  // Show the oldest question that nobody put off, unless something else is open.
  ask() {
    if (this.sheet.content || this.isTv) return;
    const question = this.view.questions.find((q) => !this.later.has(q.id));
    if (question) this.sheet.open(new Question(this, question));
  }

  toggle(Kind) {
    if (this.sheet.content instanceof Kind) this.sheet.close();
    else this.sheet.open(new Kind(this));
  }

  openTile(at) {
    const question = this.view.questions.find((q) => q.kind === "tile" && q.at?.[0] === at[0] && q.at?.[1] === at[1]);
    this.sheet.open(question ? new Question(this, question) : new Fix(this, at));
  }

  openGap(at) {
    this.sheet.open(new Picker(this, at, { title: t("add.at"), done: (tile, rot) => this.commands.send({ do: "tile", tile, at, rot }),
                                                then: () => this.sheet.open(new Add(this)) }));
  }

  point(event) {
    this.board.point(event, { move: !!event });
    if (!event) this.board.view.fit();
  }

  tapEvent(event) {
    this.point(sameEvent(event, this.board.marked) ? null : event);
    this.feed.show(this.view, this.letters, this.board.marked);
  }
}

new App();
