// "Please check": things on the table that should not be there. Never blocks the game.

import { button, h, replace } from "./dom.js";
import { t } from "./i18n.js";
import { statusText } from "./words.js";

// Problems of the camera are shown like those on the table.
function troubles({ status, phase }) {
  if (!status?.text || !["check", "camera_lost", "out_of_step"].includes(status.chip) || phase === "over") return [];
  const told = statusText(status);
  return [
    {
      code: "status",
      told: status.code,
      turn: null,
      squares: [],
      parts: { told, chip: t(`chip.${status.chip}`), player: told },
    },
  ];
}

export class Issues {
  /** @type {any} */
  root;
  /** @type {any} */
  reveal;
  /** @type {any} */
  after;
  /** @type {any} */
  camera;

  // show(squares) highlights them on the board, null removes that; hide() is called when one was dismissed
  constructor(root, { show, hide, camera }) {
    Object.assign(this, { root, reveal: show, after: hide, camera });
    this.hidden = new Set();
    document.addEventListener("keydown", (e) => e.key === "Escape" && this.showing && this.point(null));
    this.showing = ""; // the notice whose squares are highlighted
  }

  // Whether it appeared or disappeared: then the board's area changes.
  show(view) {
    const key = (i) =>
      `${view.game}/${i.code}/${i.turn}/${JSON.stringify(i.squares)}/${i.parts?.player ?? ""}/${i.parts?.owner ?? ""}/${i.parts?.n ?? ""}`;
    const all = [...view.issues, ...troubles(view)];
    const keys = all.map(key);
    for (const gone of [...this.hidden].filter((k) => !keys.includes(k))) this.hidden.delete(gone); // a later one is new
    const open = all.filter((i) => !this.hidden.has(key(i)));
    const before = this.root.hidden;
    this.root.hidden = !open.length;
    const turned = before !== this.root.hidden,
      issue = open.at(-1);
    if (this.showing && !open.some((i) => key(i) === this.showing)) this.point(null);
    if (!issue || this.shown === key(issue) + open.length) return turned;
    this.shown = key(issue) + open.length;
    const parts = issue.parts ?? {};
    const text = t(`issue.${issue.code}`, {
      ...parts,
      role: t(`role.${parts.feature}`, { fallback: t("figure.follower") }),
      fallback: issue.text,
    });
    const picture = (key) =>
      issue[key] &&
      h(
        "figure",
        {},
        h("img", { src: issue[key], alt: t(`issue.${key}`), width: 64, height: 64 }),
        h("figcaption", { "aria-hidden": "true" }, t(`issue.${key}`)),
      );
    this.root.className = issue.parts ? "notice" : "";
    this.root.dataset.code = issue.told ?? issue.code;
    replace(
      this.root,
      picture("before"),
      picture("now"),
      h(
        "span",
        { class: "issue-text", dir: "auto" },
        h("b", {}, parts.chip ? `${parts.chip}:` : t(issue.parts ? "issue.table" : "issue.title")),
        text,
        open.length > 1 && ` (${t("issue.more", { n: open.length - 1 })})`,
      ),
      issue.squares.length > 0 &&
        button(
          t("issue.show"),
          () => {
            this.point(this.showing === key(issue) ? null : issue.squares, key(issue));
          },
          { data: { key: "issue-show" }, "aria-pressed": String(this.showing === key(issue)) },
        ),
      ["no_board", "board_gone"].includes(issue.told) && button(t("issue.camera"), () => this.camera()),
      button(
        t(issue.parts ? "issue.hide" : "issue.keep"),
        () => {
          this.hidden.add(key(issue));
          this.shown = null;
          this.after();
        },
        issue.parts ? { icon: "close", label: false } : {},
      ),
    );
    return turned;
  }

  // Highlights squares, or stops.
  point(squares, key = "") {
    this.showing = squares ? key : "";
    this.root.querySelector("[data-key='issue-show']")?.setAttribute("aria-pressed", String(!!squares));
    this.reveal(squares);
  }
}
