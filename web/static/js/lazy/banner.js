// The banner at the top: problems of the machine, and an unfinished set-up.

import { device, post } from "../access.js";
import { button, h, redraw, symbol } from "../dom.js";
import { machineTexts, t } from "../i18n.js";
import { errorText } from "../words.js";
import { checkName, findingText, todoText } from "./checks.js";

const READ = "bastide.banner",
  EVERY_MS = 20_000,
  ACTS = ["balance", "ghost"], // those with a button
  ICON = { warn: "alert", fail: "alert" };

export class Banner {
  /** @type {import("../app.js").App} */
  app;
  /** @type {any} */
  root;

  constructor(app, root) {
    Object.assign(this, { app, root });
    this.hidden = new Set(); // what somebody has read, kept until the tab is closed
    try {
      for (const code of JSON.parse(sessionStorage.getItem(READ) ?? "[]")) this.hidden.add(code);
    } catch {
      // a browser without storage shows it on each page
    }
    // The layout below begins under it.
    new ResizeObserver(() => document.body.style.setProperty("--banner", `${root.offsetHeight}px`)).observe(root);
    document.addEventListener("visibilitychange", () => this.look());
  }

  async look() {
    clearTimeout(this.timer);
    if (document.hidden) return;
    try {
      const { lines, guide } = await (await fetch("/api/health", { cache: "no-store" })).json();
      const guides = guide && !document.body.classList.contains("tv") && (await this.mayGuide());
      if (lines.length || guides) await machineTexts();
      this.draw(lines ?? [], guides ? guide : null);
    } catch {
      // the page says elsewhere that the table cannot be reached
    }
    this.timer = setTimeout(() => this.look(), EVERY_MS);
  }

  // Set up by an administrator, or by anybody if there is none.
  async mayGuide() {
    if (document.body.dataset.pin === "unset") return true;
    return (await device()).right === "admin";
  }

  draw(lines, guide) {
    const left = lines.filter((line) => !this.hidden.has(line.code)),
      [worst] = left;
    this.root.hidden = !worst && !guide;
    this.root.className = worst ? worst.state : "guide";
    redraw(this.root, worst ? this.line(worst, left.length - 1) : guide && this.guide(guide));
  }

  line(worst, more) {
    return [
      symbol(ICON[worst.state]),
      h(
        "p",
        {},
        h("b", {}, `${checkName(worst)}: `),
        `${findingText(worst)}. ${worst.do && !ACTS.includes(worst.todo) ? `${todoText(worst)}.` : ""}`,
      ),
      worst.todo === "balance" &&
        button(t("do.balance"), () => this.measure(), { className: "action", data: { key: "banner-balance" } }),
      worst.todo === "ghost" &&
        button(t("banner.ghost"), () => this.app.machine("ghost"), {
          className: "action",
          data: { key: "banner-ghost" },
        }),
      more > 0 &&
        h("a", { class: "action", href: "/doctor", data: { key: "banner-more" } }, t("banner.more", { n: more })),
      button(
        t("banner.hide"),
        () => {
          this.hidden.add(worst.code);
          try {
            sessionStorage.setItem(READ, JSON.stringify([...this.hidden]));
          } catch {
            // kept until the page is closed
          }
          this.look();
        },
        { icon: "close", label: false, className: "close", data: { key: "banner-hide" } },
      ),
    ];
  }

  guide({ proved, all }) {
    return [
      symbol("flag"),
      h("p", {}, t("begin.goes_on", { n: proved, all })),
      button(t("begin.next"), () => this.app.begin(), { className: "action main", data: { key: "banner-begin" } }),
    ];
  }

  async measure() {
    try {
      const answer = await post("/api/camera", { measure: true });
      if (!answer.ok) this.app.toast.show(t("toast.failed", { text: errorText((await answer.json()).error) }));
      this.look();
    } catch {
      this.app.toast.show(t("toast.offline"));
    }
  }
}

// Opens the guide at once for whoever sets the table up, unless somebody has closed it on this page before.
export async function wake(app, root) {
  const banner = new Banner(app, root);
  banner.look();
  let read = false;
  try {
    read = !!sessionStorage.getItem("bastide.guided");
    sessionStorage.setItem("bastide.guided", "1");
  } catch {
    // in a browser without storage it opens every time
  }
  const guided = "guided" in document.body.dataset && !document.body.classList.contains("tv");
  if (guided && !read && document.getElementById("begin")?.hidden && (await banner.mayGuide())) await app.begin();
  return banner;
}
