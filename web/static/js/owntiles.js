// Whether this device draws the board with the owner's own tiles: by default it does if there are pictures.

import { dressed } from "./tileart.js";

const KEPT = "bastide.tiles";

export class OwnTiles {
  /** @type {() => void} */
  changed;
  /** @type {any} */
  pictures = null;
  set = "";
  chosen = "own";

  constructor({ changed }) {
    this.changed = changed;
    try {
      this.chosen = localStorage.getItem(KEPT) ?? "own";
    } catch {
      // the default
    }
  }

  get there() {
    return Object.keys(this.pictures?.tiles ?? {}).length > 0;
  }

  // Another game may use another set.
  follow({ game, art, expansions }) {
    const set = JSON.stringify([game, art, expansions]);
    if (set === this.set) return;
    this.set = set;
    this.load();
  }

  async load() {
    const { set } = this,
      before = this.pictures?.tag ?? "";
    try {
      const answer = await fetch("/api/own-tiles");
      if (!answer.ok || set !== this.set) return;
      this.pictures = await answer.json();
    } catch {
      return; // the drawings are used
    }
    if (this.pictures.tag !== before && this.chosen === "own") this.dress();
  }

  choose(look) {
    this.chosen = look;
    try {
      localStorage.setItem(KEPT, look);
    } catch {
      // kept until the page is closed
    }
    this.dress();
  }

  dress() {
    dressed(this.chosen === "own" && this.there ? this.pictures : null);
    this.changed();
  }
}
