// A new game: who plays with which colour in which seat, the boxes, the edition, the house rules, how much the page helps.

import { button, h, head, replace } from "../dom.js";
import { badge, letters } from "../figures.js";
import { language, t } from "../i18n.js";

const COLOURS = ["red", "blue", "yellow", "green", "black", "grey", "pink", "white", "orange", "purple"];
const AIDS = ["score", "helper", "coach"];
const MOST = 6;

// A table whose players nobody has named calls them by their colours, in English.
const named = (name, colour) =>
  name.toLowerCase() === colour && COLOURS.includes(colour)
    ? t(`colour.${colour}`).replace(/^./u, (c) => c.toLocaleUpperCase(language))
    : name;

export class Setup {
  /** @type {HTMLElement | null} */
  before = null;
  /** @type {import("../app.js").App} */
  app;
  /** @type {any} */
  choices;
  /** @type {any} */
  root;

  constructor(app, root) {
    Object.assign(this, { app, root });
    root.addEventListener("keydown", (e) => e.key === "Escape" && this.close());
  }

  async open() {
    try {
      this.choices = await (await fetch("/api/setups")).json(); // includes what games have taught in the meantime
    } catch {
      this.app.toast.show(t("toast.offline"));
      return;
    }
    const now = this.app.newest;
    this.players = now.players.map(({ name, colour }) => ({ name: named(name, colour), colour }));
    this.boxes = new Set(now.expansions);
    this.edition = now.edition;
    this.known = {}; // the answers about the box, to find its edition
    this.rules = { ...now.rules };
    this.aid = this.app.aid;
    this.art = this.choices.art.find((a) => (now.art ? a.name === now.art : a.usual))?.name ?? "";
    this.root.hidden = false;
    this.before = /** @type {HTMLElement | null} */ (document.activeElement);
    this.draw();
    this.root.querySelector("h2").focus();
  }

  close() {
    this.root.hidden = true;
    this.before?.focus();
  }

  // Redraws, keeping the focus and the scroll position.
  draw() {
    const top = this.root.querySelector(".setup-body")?.scrollTop ?? 0,
      held = /** @type {any} */ (document.activeElement)?.dataset?.key;
    const busy = this.app.newest.phase === "playing" && this.app.newest.history.length > 0;
    replace(
      this.root,
      head("setup-title", t("setup.title"), t("setup.cancel"), () => this.close()),
      h(
        "div",
        { class: "setup-body", tabindex: 0, role: "group", "aria-labelledby": "setup-title" },
        this.people(),
        this.boxesPart(),
        this.arts(),
        this.editions(),
        this.house(),
        this.aids(),
      ),
      h(
        "footer",
        {},
        busy && h("p", { class: "note warn" }, t("setup.warning")),
        button(t("setup.start"), () => this.start(), {
          icon: "check",
          className: "action main",
          disabled: !this.players.length,
          data: { key: "start" },
        }),
      ),
    );
    this.root.querySelector(".setup-body").scrollTop = top;
    if (held) this.root.querySelector(`[data-key="${CSS.escape(held)}"]`)?.focus({ preventScroll: true });
  }

  part(key, ...content) {
    return h("section", {}, h("h3", {}, t(key)), content);
  }

  get marks() {
    return letters(this.players.map((p, index) => ({ ...p, name: p.name || "?", index })));
  }

  // New letters while somebody types: the fields themselves stay as they are.
  mark() {
    const { marks } = this;
    for (const [n, el] of this.root.querySelectorAll(".seats .badge-figure").entries())
      el.replaceWith(badge({ ...this.players[n], index: n }, marks[n], { size: "large" }));
  }

  people() {
    const { marks } = this;
    const taken = new Set(this.players.map((p) => p.colour));
    return this.part(
      "setup.players",
      h(
        "ol",
        { class: "seats" },
        this.players.map((p, n) =>
          h(
            "li",
            {},
            badge({ ...p, index: n }, marks[n], { size: "large" }),
            h("input", {
              type: "text",
              value: p.name,
              maxlength: 40,
              dir: "auto",
              autocomplete: "off",
              "aria-label": `${t("setup.person", { n: n + 1 })}: ${t("setup.name")}`,
              placeholder: t("setup.person", { n: n + 1 }),
              data: { key: `name-${n}` },
              on: {
                input: (e) => {
                  p.name = e.target.value;
                  this.mark();
                },
              },
            }),
            h(
              "select",
              {
                "aria-label": `${t("setup.person", { n: n + 1 })}: ${t("setup.colour")}`,
                data: { key: `colour-${n}` },
                on: {
                  change: (e) => {
                    p.colour = e.target.value;
                    this.draw();
                  },
                },
              },
              COLOURS.map((c) =>
                h(
                  "option",
                  { value: c, selected: c === p.colour, disabled: taken.has(c) && c !== p.colour },
                  t(`colour.${c}`),
                ),
              ),
            ),
            button(
              t("setup.up", { name: p.name }),
              () => {
                this.players.splice(n - 1, 0, ...this.players.splice(n, 1));
                this.draw();
              },
              { icon: "up", label: false, className: "action", disabled: n === 0, data: { key: `up-${n}` } },
            ),
            button(
              t("setup.remove", { name: p.name }),
              () => {
                this.players.splice(n, 1);
                this.draw();
              },
              {
                icon: "trash",
                label: false,
                className: "action",
                disabled: this.players.length < 2,
                data: { key: `remove-${n}` },
              },
            ),
          ),
        ),
      ),
      this.players.length < MOST &&
        button(
          t("setup.add"),
          () => {
            this.players.push({ name: "", colour: COLOURS.find((c) => !taken.has(c)) });
            this.draw();
            this.root.querySelector(`[data-key="name-${this.players.length - 1}"]`).focus();
          },
          { icon: "plus", className: "action", data: { key: "add-player" } },
        ),
    );
  }

  boxesPart() {
    return this.part(
      "setup.boxes",
      h(
        "div",
        { class: "cards" },
        this.choices.expansions.map((e) =>
          h(
            "button",
            {
              type: "button",
              class: "card",
              "aria-pressed": String(this.boxes.has(e.name)),
              disabled: this.alone(e.name),
              data: { key: `box-${e.name}` },
              on: {
                click: () => {
                  this.choose(e);
                  this.draw();
                },
              },
            },
            h("b", {}, t(`setup.box.${e.name}`)),
            h("span", {}, t("setup.tiles", { n: e.tiles })),
          ),
        ),
      ),
    );
  }

  // Whether it is the only one of the selected boxes that can be played on its own.
  alone(name) {
    const alone = this.choices.expansions.filter((e) => e.alone && this.boxes.has(e.name)).map((e) => e.name);
    return alone.length === 1 && alone[0] === name && name === "base";
  }

  // A box that needs no other replaces the base game; both can be played together.
  choose(box) {
    if (!this.boxes.delete(box.name)) {
      this.boxes.add(box.name);
      if (box.alone && box.name !== "base") this.boxes.delete("base");
    }
    if (!this.choices.expansions.some((e) => e.alone && this.boxes.has(e.name))) this.boxes.add("base");
  }

  // Which pictures the camera reads the tiles with.
  arts() {
    const { art } = this.choices;
    if (!art.length) return null;
    const title = (a) =>
      a.kind === "drawn" || a.kind === "new"
        ? t(`art.${a.kind}`)
        : a.name.startsWith("own")
          ? t("art.own", { n: a.name.slice(4) }).trim()
          : a.name;
    return this.part(
      "setup.art",
      h(
        "div",
        { class: "cards wide" },
        art.map((a) =>
          h(
            "button",
            {
              type: "button",
              class: "card",
              "aria-pressed": String(this.art === a.name),
              data: { key: `art-${a.name}` },
              on: {
                click: () => {
                  this.art = a.name;
                  this.draw();
                },
              },
            },
            h("b", { dir: "auto" }, title(a)),
            h("span", {}, t(`art.${a.kind}.note`, { n: a.kinds, pictures: a.pictures })),
          ),
        ),
      ),
    );
  }

  matters(name) {
    const { only_with: boxes } = this.choices.options[name];
    return !boxes.length || boxes.every((b) => this.boxes.has(b));
  }

  option(name, value) {
    return t(`option.${name}.${value}`, { fallback: String(value) });
  }

  // Which box it is: by its publisher and what it pays.
  asked() {
    const { questions, editions } = this.choices,
      fits = (e, besides) =>
        Object.entries(this.known).every(([name, value]) => name === besides || e.marks[name] === value);
    return h(
      "div",
      { class: "asked" },
      questions.map(({ name, answers }) => {
        const possible = new Set(
          Object.values(editions)
            .filter((e) => fits(e, name))
            .map((e) => e.marks[name]),
        );
        return h(
          "div",
          { role: "group", "aria-label": t(`mark.${name}`) },
          h("p", {}, t(`mark.${name}`)),
          h(
            "div",
            { class: "row tight" },
            answers.map((answer) =>
              h(
                "button",
                {
                  type: "button",
                  class: "filter-chip",
                  "aria-pressed": String(this.known[name] === answer),
                  disabled: !possible.has(answer),
                  data: { key: `mark-${name}-${answer}` },
                  on: {
                    click: () => {
                      if (this.known[name] === answer) delete this.known[name];
                      else this.known[name] = answer;
                      this.draw();
                    },
                  },
                },
                typeof answer === "number" ? t("mark.points", { n: answer }) : answer,
              ),
            ),
          ),
        );
      }),
    );
  }

  editions() {
    const { editions, default: usual } = this.choices,
      marks = Object.entries(this.known);
    const differs = (id) =>
      Object.entries(editions[id].options).filter(
        ([name, o]) => this.matters(name) && o.value !== editions[usual].options[name].value,
      );
    const found = Object.entries(editions).filter(([, e]) => marks.every(([name, value]) => e.marks[name] === value));
    const years = ([from, to]) => t(to ? "setup.years" : "setup.since", { from: String(from), to: String(to) });
    return this.part(
      "setup.edition",
      this.asked(),
      h("p", { role: "status", class: "note" }, t("mark.found", { n: found.length })),
      h(
        "div",
        { class: "cards wide" },
        found.map(([id, e]) =>
          h(
            "button",
            {
              type: "button",
              class: "card",
              "aria-pressed": String(this.edition === id),
              data: { key: `edition-${id}` },
              on: { click: () => this.take(id) },
            },
            h("b", { lang: "en" }, e.title),
            h("span", {}, `${years(e.years)}: `, t(`edition.${id}`, { fallback: e.box })),
            id === usual
              ? h("span", {}, t("setup.edition.same"))
              : differs(id).length > 0 && [
                  h("span", {}, t("setup.edition.note", { other: editions[usual].title })),
                  h(
                    "ul",
                    {},
                    differs(id).map(([name, o]) => h("li", {}, t(`option.${name}`), ": ", this.option(name, o.value))),
                  ),
                ],
          ),
        ),
      ),
    );
  }

  take(id) {
    this.edition = id;
    this.rules = {};
    for (const box of this.choices.expansions.filter((e) => this.choices.editions[id].expansions.includes(e.name)))
      if (!this.boxes.has(box.name)) this.choose(box);
    this.draw();
  }

  house() {
    const printed = this.choices.editions[this.edition].options;
    return this.part(
      "setup.house",
      h(
        "div",
        { class: "options" },
        Object.entries(this.choices.options)
          .filter(([name]) => this.matters(name))
          .map(([name, o]) => {
            const value = String(this.rules[name] ?? printed[name].value),
              own = value !== printed[name].value;
            return h(
              "label",
              { class: own ? "changed" : "" },
              h("span", {}, t(`option.${name}`), own && h("span", { class: "tag" }, t("setup.changed"))),
              h(
                "select",
                {
                  data: { key: `rule-${name}` },
                  on: {
                    change: (e) => {
                      if (e.target.value === printed[name].value) delete this.rules[name];
                      else this.rules[name] = e.target.value;
                      this.draw();
                    },
                  },
                },
                o.values.map((v) =>
                  h(
                    "option",
                    { value: v, selected: v === value },
                    `${this.option(name, v)}${v === printed[name].value ? ` (${t("setup.asprinted")})` : ""}`,
                  ),
                ),
              ),
            );
          }),
      ),
    );
  }

  aids() {
    return this.part(
      "aid.title",
      h(
        "div",
        { class: "cards wide" },
        AIDS.map((aid) =>
          h(
            "button",
            {
              type: "button",
              class: "card",
              "aria-pressed": String(this.aid === aid),
              data: { key: `aid-${aid}` },
              on: {
                click: () => {
                  this.aid = aid;
                  this.draw();
                },
              },
            },
            h("b", {}, t(`aid.${aid}`)),
            h("span", {}, t(`aid.${aid}.note`)),
          ),
        ),
      ),
      h("p", { class: "note" }, t("setup.fixed")),
    );
  }

  async start() {
    const players = this.players.map((p, n) => ({
      name: p.name.trim() || t("setup.person", { n: n + 1 }),
      colour: p.colour,
    }));
    const printed = this.choices.editions[this.edition].options;
    const rules = Object.fromEntries(
      Object.entries(this.rules).filter(([name]) => name in printed && this.matters(name)),
    );
    const setup = {
      players,
      edition: this.edition,
      rules,
      expansions: [...this.boxes],
      aid: this.aid,
      ...(this.art && { art: this.art }),
    };
    if (await this.app.commands.send({ do: "new_game", setup }, { message: "setup.begun", look: (view) => view.game }))
      this.close();
  }
}
