// Optional layers over the board: farms, unfinished features, the camera's picture.

import { button, redraw, replace, s } from "./dom.js";
import { t } from "./i18n.js";
import { cityTicks, farmBadge, openFeature, overlay } from "./marks.js";

const MOST = 24; // tiles along one side of a picture

export class Overlays {
  /** @type {any} */
  root;
  /** @type {any} */
  changed;
  /** @type {any} */
  failed;

  // board is the board below them; failed() is called if there is no picture; changed() when one was switched
  constructor(root, { failed, changed }) {
    Object.assign(this, { root, failed, changed });
    this.on = { farms: false, open: false, photo: false };
  }

  // At the level "score only" nothing is shown that a player would have to work out.
  allowed(aid) {
    return aid === "score" ? ["photo"] : ["farms", "open", "photo"];
  }

  show(board, view, aid) {
    const allowed = this.allowed(aid);
    for (const name of Object.keys(this.on)) if (!allowed.includes(name)) this.on[name] = false;
    const key = JSON.stringify([allowed, this.on]);
    if (key !== this.shown) {
      this.shown = key;
      const look = { farms: "farm", open: "open", photo: "photo" };
      redraw(
        this.root,
        allowed.map((name) =>
          button(t(`tool.${name}`), () => this.toggle(name), {
            icon: look[name],
            className: "tool",
            data: { key: `tool-${name}` },
            "aria-pressed": String(this.on[name]),
          }),
        ),
      );
    }
    this.drawFarms(board, view);
    this.drawOpen(board, view);
    this.drawPhoto(board, view);
  }

  toggle(name) {
    this.on[name] = !this.on[name];
    if (this.on.farms && this.on.open) this.on[name === "farms" ? "open" : "farms"] = false; // together they would hide each other
    this.changed();
  }

  drawFarms(board, view) {
    const farms = this.on.farms ? view.features.filter((f) => f.kind === "field" && f.owners.length) : [];
    const paid = this.on.farms
      ? (view.final ?? view.projected_final).stages
          .flatMap((stage) => stage.events)
          .filter((e) => e.feature === "field")
      : [];
    replace(
      board.layers.farms,
      farms.map((farm) => overlay(board, farm.places, farm)),
    );
    replace(
      board.layers.worth,
      cityTicks(
        board,
        paid.flatMap((e) => e.cities),
      ),
      farms.map((farm) => farmBadge(board, farm)),
    );
  }

  drawOpen(board, view) {
    const open = this.on.open ? view.features.filter((f) => f.kind !== "field" && f.owners.length && !f.complete) : [];
    replace(
      board.layers.open,
      open.map((f) => openFeature(board, f)),
    );
  }

  // The newest picture from above, instead of the drawn tiles.
  drawPhoto(board, view) {
    if (!this.on.photo) {
      board.svg.classList.remove("photographed");
      this.seen = null;
      replace(board.layers.photo);
      return;
    }
    const { x, y, width, height } = board.view.box,
      at = `${view.game}/${view.history.length}/${x},${y},${width},${height}`;
    if (at === this.seen) return;
    this.seen = at;
    board.svg.classList.add("photographed");
    const box = { x, y, width: Math.min(MOST, width), height: Math.min(MOST, height) };
    const source = view.replayed === undefined ? "/api/picture.jpg" : `/api/turns/${view.replayed}/picture.jpg`;
    const href = `${source}?${new URLSearchParams(Object.entries({ ...box, v: view.version }).map(([k, n]) => [k, String(n)]))}`,
      loaded = new Image();
    loaded.onload = () =>
      at === this.seen &&
      replace(
        board.layers.photo,
        s("image", {
          x: x * 100,
          y: y * 100,
          width: box.width * 100,
          height: box.height * 100,
          preserveAspectRatio: "none",
          href,
        }),
      );
    loaded.onerror = () => at === this.seen && this.missing(board);
    loaded.src = href;
  }

  missing(board) {
    replace(board.layers.photo);
    board.svg.classList.remove("photographed");
    if (board.game.replayed !== undefined) return; // another turn may have one
    this.on.photo = false;
    this.failed();
    this.changed();
  }
}
