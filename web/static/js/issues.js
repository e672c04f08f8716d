// "Please check": what lies on the table and should not. Never in the way of the game.

import { button, h, replace } from "./dom.js";
import { t } from "./i18n.js";

export class Issues {
  /** @type {any} */
  root;
  /** @type {any} */
  reveal;
  /** @type {any} */
  after;

  constructor(root, { show, hide }) {
    Object.assign(this, { root, reveal: show, after: hide });
    this.hidden = new Set();
  }

  show(view) {
    const key = (i) => `${view.game}/${i.code}/${i.turn}/${JSON.stringify(i.squares)}`;
    const open = view.issues.filter((i) => !this.hidden.has(key(i)));
    this.root.hidden = !open.length;
    if (!open.length) return;
    const issue = open.at(-1);
    if (this.shown === key(issue) + open.length) return;
    this.shown = key(issue) + open.length;
    replace(this.root,
      h("span", { class: "issue-text" }, h("b", {}, t("issue.title")), t(`issue.${issue.code}`, { fallback: issue.text }),
        open.length > 1 && ` (${t("issue.more", { n: open.length - 1 })})`),
      issue.squares.length > 0 && button(t("issue.show"), () => this.reveal(issue.squares)),
      button(t("issue.hide"), () => {
        this.hidden.add(key(issue));
        this.shown = null;
        this.after();
      }, { icon: "close", label: false }));
  }
}
