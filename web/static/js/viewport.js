// Pan and zoom: the board is fitted automatically until somebody takes over with fingers, wheel or keys.

import { byId, calm } from "./dom.js";

const TAP_PX = 9;
const HARDLY = 0.7; // how much smaller a board may become in order to keep clear of the chip
const TOP_PX = 60; // the height of the switches for farms, open features and the photo
const CLOSE_PX = 125; // the size of a tile among its neighbours when something is being placed beside them
const SEEN_PX = 64; // if it is at least this large, the view does not zoom in
export const TOUCH_PX = 50; // the smallest square for a finger: 44 pixels and the space between two

export class Viewport {
  /** @type {any} */
  resized;
  /** @type {any} */
  svg;
  /** @type {any} */
  layer;
  /** @type {any} */
  tap;

  constructor(svg, layer, { tap }) {
    Object.assign(this, { svg, layer, tap });
    this.scale = 1;
    this.x = 0;
    this.y = 0;
    this.target = { scale: 1, x: 0, y: 0 };
    this.free = false; // a person has taken over
    this.box = { x: 0, y: 0, width: 1, height: 1 }; // the extent of the board, in tile steps
    this.inset = 0; // pixels at the bottom that a sheet covers
    this.above = false; // whether everything has to fit above the sheet
    this.touched = false; // whether single squares are tapped: then none is smaller than a finger
    this.around = null; // the square that stays visible if not everything fits
    /** @type {[number, number][] | null} */
    this.focused = null; // the squares that were centred
    this.turn = 0; // quarter turns clockwise by which the board is rotated
    this.pointers = new Map();
    new ResizeObserver(() => {
      if (!this.free) this.again(false);
      this.resized?.();
    }).observe(svg);
    svg.addEventListener("pointerdown", (e) => this.down(e));
    svg.addEventListener("pointermove", (e) => this.move(e));
    svg.addEventListener("pointerup", (e) => this.up(e));
    svg.addEventListener("pointercancel", (e) => this.pointers.delete(e.pointerId));
    svg.addEventListener(
      "wheel",
      (e) => {
        e.preventDefault();
        this.zoom(Math.exp(-e.deltaY * 0.0015), e.offsetX, e.offsetY);
      },
      { passive: false },
    );
  }

  get size() {
    return { width: this.svg.clientWidth || 1, height: this.svg.clientHeight || 1 };
  }

  get clear() {
    return Math.max(80, this.size.height - this.inset);
  }

  // Pixels at the top and bottom covered by switches and messages.
  get covered() {
    const message = byId("issues"),
      said = message?.hidden === false ? message.offsetHeight + 12 : 0;
    if (document.body.classList.contains("tv")) return [said, 0];
    return [TOP_PX + said, 0];
  }

  // How far the zoom's buttons extend over the board from the left and top, and the chip from the bottom.
  get buttons() {
    const zoom = this.svg.parentElement?.querySelector(".zoom"),
      chip = byId("status");
    const right = zoom?.offsetWidth ? zoom.offsetLeft + zoom.offsetWidth + 6 : 0,
      under = zoom?.offsetWidth ? zoom.offsetTop + zoom.offsetHeight + 6 : 0;
    const below = chip?.offsetHeight && chip.offsetTop > this.size.height / 2;
    return {
      right,
      under,
      chip: below ? { left: chip.offsetLeft - 6, top: chip.offsetTop - 6 } : { left: Infinity, top: Infinity },
    };
  }

  show(box) {
    this.box = box;
    if (!this.free) this.fit();
  }

  fit(smooth = true) {
    this.free = false;
    this.focused = null;
    this.frame(this.box, this.touched ? 1.1 : 0.32, 190, smooth, this.touched ? TOUCH_PX : 0);
  }

  // As before, after its available area has changed.
  again(smooth = true) {
    if (this.focused) this.focus(this.focused, smooth);
    else this.fit(smooth);
  }

  // Everything, however small it becomes.
  whole() {
    this.frame(this.box, 0.32, 190, true);
    this.free = true;
  }

  // A square with its surroundings, above the sheet; nothing moves if it is visible and large enough.
  near([x, y]) {
    const to = this.target,
      [top] = this.covered,
      side = to.scale * 100;
    const [over, down] = this.seen([x, y]),
      left = over * side + to.x,
      up = down * side + to.y;
    const seen =
      left - side >= 0 &&
      left + 2 * side <= this.size.width &&
      up - side >= Math.min(top, TOP_PX) &&
      up + 2 * side <= this.clear;
    if (seen && side >= SEEN_PX) return;
    const above = this.above;
    this.focused = null;
    this.above = true;
    this.frame({ x: x - 1, y: y - 1, width: 3, height: 3 }, 0.1, CLOSE_PX, true, TOUCH_PX);
    this.above = above;
  }

  // Zooms in on a place that was too small to be meant.
  closer([x, y]) {
    this.frame({ x: x - 2, y: y - 2, width: 5, height: 5 }, 0, CLOSE_PX, true, TOUCH_PX * 1.2);
    this.free = true;
  }

  // Centres some squares, closer than the whole board but not too close.
  focus(squares, smooth = true) {
    if (!squares.length) return this.fit();
    this.focused = squares;
    const xs = squares.map((p) => p[0]),
      ys = squares.map((p) => p[1]);
    const x = Math.min(...xs),
      y = Math.min(...ys);
    this.frame({ x, y, width: Math.max(...xs) - x + 1, height: Math.max(...ys) - y + 1 }, 1.1, 125, smooth);
  }

  // Converts a square of the board to one of the rotated board, and back.
  seen([x, y]) {
    for (let n = 0; n < this.turn; n += 1) [x, y] = [-y - 1, x];
    return [x, y];
  }

  unturned([x, y]) {
    for (let n = 0; n < this.turn; n += 1) [x, y] = [y, -x - 1];
    return [x, y];
  }

  // Shows the board from another side of the table.
  look(turn) {
    this.turn = turn;
    this.svg.style.setProperty("--turn", String(turn));
    if (this.placed) this.fit(false);
  }

  // `least` is the minimal number of pixels of a square; if there is no room for all, the square that matters is centred.
  frame(area, margin, most, smooth, least = 0) {
    const a = this.seen([area.x, area.y]),
      b = this.seen([area.x + area.width - 1, area.y + area.height - 1]);
    const box = {
      x: Math.min(a[0], b[0]),
      y: Math.min(a[1], b[1]),
      width: Math.abs(a[0] - b[0]) + 1,
      height: Math.abs(a[1] - b[1]) + 1,
    };
    const [top, bottom] = this.covered;
    const whole = (this.above ? this.clear : this.size.height - bottom) - top;
    const sized = (width, height) =>
      Math.max(Math.min(width / (box.width + 2 * margin), height / (box.height + 2 * margin), most), least);
    let from = 0,
      height = whole,
      side = sized(this.size.width, height);
    // keep tiles clear of the zoom's buttons and the chip, if there is room beside them
    const { right, under, chip } = this.buttons;
    const left = (this.size.width - box.width * side) / 2,
      over = top + (height - box.height * side) / 2;
    if (left < right && over < under && sized(this.size.width - right, height) * box.width <= this.size.width - right) {
      from = right;
      side = sized(this.size.width - right, height);
    }
    const low = top + whole - chip.top;
    if (!this.above && low > 0 && left + box.width * side > chip.left && over + box.height * side > chip.top) {
      const smaller = sized(this.size.width - from, whole - low);
      if (smaller > side * HARDLY) [side, height] = [smaller, whole - low];
    }
    const width = this.size.width - from;
    const around = this.around ? this.seen(this.around) : [box.x + box.width / 2 - 0.5, box.y + box.height / 2 - 0.5];
    const middle = (begin, long, room, at) => {
      const half = room / side / 2,
        low = begin - margin + half,
        high = begin + long + margin - half;
      return low > high ? begin + long / 2 : Math.min(high, Math.max(low, at + 0.5));
    };
    const x = from + width / 2 - middle(box.x, box.width, width, around[0]) * side;
    const y = top + height / 2 - middle(box.y, box.height, height, around[1]) * side;
    this.go({ scale: side / 100, x, y }, smooth);
  }

  // Makes sure that a square is not hidden by a sheet.
  reveal(square) {
    const [x, y] = this.seen(square);
    const { width } = this.size,
      height = this.clear;
    const to = this.target; // the end of a movement in progress
    const cx = (x + 0.5) * 100 * to.scale + to.x,
      cy = (y + 0.5) * 100 * to.scale + to.y;
    const half = 50 * to.scale + 12;
    const [top] = this.covered,
      beside = Math.min(TOP_PX, width / 4); // the zoom's buttons
    const dx = Math.min(0, width - half - cx) + Math.max(0, half + beside - cx);
    const dy = Math.min(0, height - half - cy) + Math.max(0, Math.min(half + top, height - half) - cy);
    if (dx || dy) this.go({ scale: to.scale, x: to.x + dx, y: to.y + dy }, true);
  }

  go(target, smooth) {
    cancelAnimationFrame(this.running);
    this.target = target;
    const from = { scale: this.scale, x: this.x, y: this.y };
    if (!smooth || calm() || document.hidden || !this.placed) {
      this.placed = true;
      return this.set(target);
    }
    const began = performance.now();
    const step = (now) => {
      const f = Math.min(1, (now - began) / 320),
        e = 1 - (1 - f) ** 3;
      this.set({
        scale: from.scale + (target.scale - from.scale) * e,
        x: from.x + (target.x - from.x) * e,
        y: from.y + (target.y - from.y) * e,
      });
      if (f < 1) this.running = requestAnimationFrame(step);
    };
    this.running = requestAnimationFrame(step);
  }

  jump(target) {
    cancelAnimationFrame(this.running);
    this.target = target;
    this.set(target);
  }

  set({ scale, x, y }) {
    Object.assign(this, { scale, x, y });
    this.layer.setAttribute(
      "transform",
      `translate(${x.toFixed(2)} ${y.toFixed(2)}) scale(${scale.toFixed(4)}) rotate(${90 * this.turn})`,
    );
  }

  zoom(factor, x = this.size.width / 2, y = this.size.height / 2) {
    const scale = Math.min(3, Math.max(0.12, this.scale * factor));
    const f = scale / this.scale;
    this.free = true;
    this.jump({ scale, x: x - (x - this.x) * f, y: y - (y - this.y) * f });
  }

  pan(dx, dy) {
    this.free = true;
    this.jump({ scale: this.scale, x: this.x + dx, y: this.y + dy });
  }

  // The square under a point of the window.
  square(clientX, clientY) {
    const at = this.svg.getBoundingClientRect();
    return this.unturned([
      Math.floor((clientX - at.left - this.x) / this.scale / 100),
      Math.floor((clientY - at.top - this.y) / this.scale / 100),
    ]);
  }

  down(e) {
    if (e.button > 0) return;
    this.pointers.set(e.pointerId, { x: e.clientX, y: e.clientY, x0: e.clientX, y0: e.clientY });
    if (this.pointers.size > 1) this.pinched = true;
    else this.pinched = this.dragged = false;
  }

  move(e) {
    const p = this.pointers.get(e.pointerId);
    if (!p) return;
    const others = [...this.pointers.entries()].filter(([id]) => id !== e.pointerId).map(([, q]) => q);
    if (others.length) {
      const [o] = others,
        at = this.svg.getBoundingClientRect();
      const before = Math.hypot(p.x - o.x, p.y - o.y),
        after = Math.hypot(e.clientX - o.x, e.clientY - o.y);
      this.pan((e.clientX - p.x) / 2, (e.clientY - p.y) / 2);
      if (before > 0) this.zoom(after / before, (e.clientX + o.x) / 2 - at.left, (e.clientY + o.y) / 2 - at.top);
    } else if (this.dragged || Math.hypot(e.clientX - p.x0, e.clientY - p.y0) > TAP_PX) {
      if (!this.dragged) this.svg.setPointerCapture(e.pointerId);
      this.dragged = true;
      this.pan(e.clientX - p.x, e.clientY - p.y);
    }
    p.x = e.clientX;
    p.y = e.clientY;
  }

  up(e) {
    const p = this.pointers.get(e.pointerId);
    this.pointers.delete(e.pointerId);
    if (p && !this.dragged && !this.pinched) this.tap(this.square(e.clientX, e.clientY), e);
  }
}
