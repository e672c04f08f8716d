// Tap a tile: what was read, what else it may be, who stands on it. Two taps mend a wrong tile.

import { button, h } from "./dom.js";
import { percent, t } from "./i18n.js";
import { Picker } from "./picker.js";
import { distinct, playerChoice, segmentPicker, sureness, tileButton } from "./tilebutton.js";

const SHOWN = 3;

export class Fix {
  constructor(app, at) {
    Object.assign(this, { app, at });
    this.candidates = null;
    this.player = null;
    this.className = "fix";
    this.fetchCandidates();
  }

  get placed() {
    return this.app.view.board.tiles.find((p) => p.at[0] === this.at[0] && p.at[1] === this.at[1]);
  }

  get entry() {
    return this.placed && this.app.view.history.find((e) => e.seq === this.placed.seq && e.kind === "tile");
  }

  // The newest follower that was put on this tile; it may have gone home since.
  get follower() {
    return this.app.view.history.findLast((e) => e.kind === "deploy" && e.at[0] === this.at[0] && e.at[1] === this.at[1]);
  }

  still() {
    const now = this.placed;
    if (now && this.looked !== `${now.seq}/${now.tile}/${now.rot}`) this.fetchCandidates();
    return !!now;
  }

  async fetchCandidates() {
    const placed = this.placed;
    if (!placed) return;
    this.looked = `${placed.seq}/${placed.tile}/${placed.rot}`;
    if (placed.seq === null || placed.seq === undefined) return;
    try {
      const answer = await fetch(`/api/candidates/${placed.seq}`);
      this.candidates = answer.ok ? (await answer.json()).candidates : [];
    } catch {
      this.candidates = [];
    }
    this.app.sheet.render();
  }

  title() {
    const entry = this.entry;
    return entry ? t("fix.title", { name: this.app.view.players[entry.player].name, n: entry.turn + 1 }) : t("fix.start");
  }

  closed() {
    this.app.board.select(null);
  }

  actions() {
    const { placed, entry, app } = this;
    if (!entry) return [];
    return [
      button(t("fix.rotate"), () => app.commands.amend(entry, { rot: (placed.rot + 1) % 4 }), { icon: "turn", className: "action", data: { key: "rotate" } }),
      button(t("fix.other"), () => app.sheet.open(new Picker(app, this.at, {
        current: placed, done: (tile, rot) => app.commands.amend(this.entry, { tile, rot }), back: () => app.openTile(this.at) })),
      { icon: "tiles", className: "action", data: { key: "other" } }),
      button(t("fix.remove"), () => this.remove(), { icon: "trash", className: "action", data: { key: "remove" } })];
  }

  async remove() {
    const follower = this.follower;
    if (!await this.app.commands.remove(this.entry)) return;
    if (follower) await this.app.commands.remove(follower);
    this.app.sheet.close();
  }

  body() {
    const placed = this.placed, entry = this.entry;
    if (!placed) return [];
    this.app.board.select(this.at);
    if (!entry) return h("p", { class: "note" }, t("fix.start.note"));
    return [this.evidence(entry), this.standing(placed, entry), this.alternatives(placed, entry)];
  }

  evidence(entry) {
    const how = entry.source === "camera" ? t("fix.camera", { p: percent(entry.confidence) }) : t("fix.byhand");
    const crop = h("img", { src: `/api/crops/${entry.seq}.jpg`, alt: t("fix.crop"), class: "crop",
                            on: { error: () => crop.replaceWith(h("div", { class: "crop none" }, t("fix.nocrop"))) } });
    return h("figure", { class: "evidence" }, crop,
      h("figcaption", {}, how, entry.amended && h("span", { class: "tag" }, t("fix.amended")),
        this.placed.asked && h("span", { class: "tag warn" }, t("fix.asked"))));
  }

  standing(placed, entry) {
    const follower = this.follower;
    const player = this.player ?? follower?.player ?? entry.player;
    const pick = (feature, where) => {
      if (!follower) return this.app.commands.addFollower({ seq: entry.seq, at: this.at }, player, feature, where);
      return this.app.commands.amend(follower, { player, feature, where });
    };
    return h("section", { class: "standing" },
      h("div", { class: "read-tile" }, segmentPicker(this.app, placed.tile, placed.rot, follower, pick)),
      h("div", { class: "standing-tools" },
        h("p", { class: "note" }, t("fix.tap")),
        playerChoice(this.app, player, (n) => {
          this.player = n;
          if (follower && follower.player !== n) this.app.commands.amend(follower, { player: n });
          this.app.sheet.render();
        }),
        h("div", { class: "row" },
          button(t("fix.nofollower"), () => this.app.commands.remove(follower), { className: "action", disabled: !follower, data: { key: "nofollower" } }))));
  }

  alternatives(placed, entry) {
    const app = this.app;
    const better = this.candidates && distinct(app, this.candidates, placed).slice(0, SHOWN);
    return h("section", { class: "alternatives" },
      h("h3", {}, t("fix.better")),
      h("div", { class: "choices" },
        !better && h("p", { class: "note" }, t("fix.searching")),
        better && !better.length && h("p", { class: "note" }, t("fix.nothing")),
        better?.map((c) => tileButton(app, c, () => app.commands.amend(entry, { tile: c.tile, rot: c.rot }),
          { note: sureness(c.probability), className: "candidate" }))));
  }
}

