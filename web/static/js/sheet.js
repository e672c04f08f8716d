// The single sheet that slides over the lower part of the board; it is redrawn with every view.

import { button, byId, closer, h, replace, whenFree } from "./dom.js";
import { t } from "./i18n.js";

export class Sheet {
  /** @type {any} */
  root;
  /** @type {any} */
  resized;
  /** @type {any} */
  opened;

  // resized(pixels) says how much of the board the sheet covers, opened(content) what is in it now (null: nothing)
  constructor(root, { resized, opened }) {
    Object.assign(this, { root, resized, opened });
    this.content = null;
    new ResizeObserver(() => this.measure()).observe(root);
    document.addEventListener("keydown", (e) => {
      if (e.key === "Escape") this.close();
    });
  }

  // A content has title(), body() -> elements, and may have actions() for its head, still(view) -> bool, closed(), className.
  open(content) {
    if (this.content && this.content !== content) this.content.closed?.();
    this.content = content;
    this.opened(content);
    this.before ??= document.activeElement;
    this.root.hidden = false;
    this.render();
    this.root.querySelector("h2")?.focus({ preventScroll: true });
    this.measure();
  }

  // The game has changed.
  follow(view) {
    whenFree(this.root, () => this.render(view));
  }

  render(view) {
    if (!this.content) return;
    if (view && this.content.still && !this.content.still(view)) {
      this.close();
      return;
    }
    const inside = this.root.contains(document.activeElement);
    const held = /** @type {any} */ (document.activeElement?.closest?.("#sheet [data-key]"))?.dataset.key;
    const top = this.drawn === this.content ? (this.root.querySelector(".sheet-body")?.scrollTop ?? 0) : 0; // keep the scroll position
    this.drawn = this.content;
    this.root.className = this.content.className ?? "";
    replace(
      this.root,
      h(
        "header",
        {},
        h("h2", { id: "sheet-title", tabindex: -1 }, this.content.title()),
        h(
          "div",
          { class: "sheet-acts" },
          this.content.actions?.() ?? [],
          closer(t("sheet.close"), () => this.close()),
        ),
      ),
      h(
        "div",
        { class: "sheet-body", tabindex: 0, role: "region", "aria-labelledby": "sheet-title", data: { key: "body" } },
        this.content.body(),
      ),
    );
    if (top) this.root.querySelector(".sheet-body").scrollTop = top;
    // The focused element has been redrawn: restore the focus, or focus the sheet's title if it is gone.
    if (inside)
      (this.root.querySelector(`[data-key="${CSS.escape(held ?? "")}"]`) ?? this.root.querySelector("h2")).focus({
        preventScroll: true,
      });
  }

  close() {
    if (!this.content) return;
    const content = this.content;
    this.content = null;
    this.root.hidden = true;
    content.closed?.();
    this.measure();
    if (this.before?.isConnected) this.before.focus({ preventScroll: true });
    this.before = null;
    this.opened(null);
  }

  measure() {
    const pixels =
      this.root.hidden || this.root.offsetLeft >= this.root.parentElement.clientWidth ? 0 : this.root.offsetHeight; // beside the board it covers nothing
    // Not on the body: all its elements would inherit it, and the board's thousands be restyled with every sheet.
    byId("toast").style.setProperty("--covered", `${pixels}px`);
    this.resized(pixels);
  }
}

// A short message with one action.
export class Toast {
  constructor(root) {
    this.root = root;
  }

  hide() {
    this.root.hidden = true;
  }

  show(text, act = null, label = "") {
    clearTimeout(this.timer);
    this.root.hidden = false;
    replace(
      this.root,
      h("span", {}, text),
      act &&
        button(label, () => {
          this.root.hidden = true;
          act();
        }),
    );
    this.timer = setTimeout(
      () => {
        this.root.hidden = true;
      },
      act ? 9000 : 6000,
    );
  }
}
