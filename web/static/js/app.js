// Puts the page together: the newest view goes to every part, what people do goes to the table.

import { Bar } from "./bar.js";
import { Board } from "./board.js";
import { byId, replace } from "./dom.js";
import { Feed, sameEvent } from "./feed.js";
import { letters, patternDefinitions } from "./figures.js";
import { Live } from "./live.js";
import { Players } from "./players.js";
import { definitions } from "./tileart.js";

class App {
  constructor() {
    this.kinds = {};
    this.isOnline = true;
    this.players = new Players(byId("players"));
    this.feed = new Feed(byId("feed"), { tap: (e) => this.tapEvent(e) });
    this.bar = new Bar(byId("bar"), {
      questions() {}, left() {}, final() {}, history() {}, undo() {},
      farms: () => { this.board.showFarms(!this.board.farms); this.render(); },
      add: () => { this.board.showGaps(!this.board.gaps); this.render(); },
    });
    this.live = new Live({ show: (view) => this.show(view), online: (on) => this.online(on) });
    this.live.start();
  }

  async show(view) {
    this.view = view;
    if (this.loading) return;
    const box = view.expansions.join();
    if (this.box !== box) {
      this.loading = true;
      try {
        this.kinds = await (await fetch("/api/tiles")).json();
        this.box = box;
        replace(document.querySelector("#definitions defs"), patternDefinitions(), definitions(this.kinds));
        this.board = new Board(byId("board"), { kinds: this.kinds, open: () => {}, gap: () => {} });
      } finally {
        this.loading = false;
      }
    }
    this.render();
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
    this.players.show(view, this.letters);
    this.feed.show(view, this.letters, this.board.marked);
    this.bar.show(view, { online: this.isOnline, farms: this.board.farms, adding: this.board.gaps, waiting: view.questions.length });
  }

  tapEvent(event) {
    const off = sameEvent(event, this.board.marked);
    this.board.point(off ? null : event, { move: !off });
    if (off) this.board.view.fit();
    this.feed.show(this.view, this.letters, this.board.marked);
  }
}

new App();
