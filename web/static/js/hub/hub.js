// The hub's page: all tables, one of them in full, the evening, the tournament; or the wall. The part behind # selects which.

import { byId, h, replace } from "../dom.js";
import { LANGUAGES, clubTexts, language, speak, t } from "../i18n.js";
import { Card } from "./cards.js";
import { Evening } from "./evening.js";
import { Hall } from "./hall.js";
import { Rounds } from "./rounds.js";
import { Table } from "./table.js";
import { Wall } from "./wall.js";

await clubTexts();
const isWall = document.body.classList.contains("at-wall"),
  root = byId("hub");
document.title = `bastide: ${t("hub.title")}`;

class Overview {
  cards = new Map();

  constructor(place) {
    this.grid = h("div", { class: "cards" });
    replace(place, this.grid);
  }

  show(hall, keys) {
    const tables = hall.sorted;
    for (const table of tables) {
      const known = this.cards.get(table.key);
      if (!known) this.cards.set(table.key, new Card(table));
      else if (!keys || keys.has(table.key)) known.show(table);
    }
    for (const key of this.cards.keys()) if (!hall.tables.has(key)) this.cards.delete(key);
    const els = tables.length
      ? tables.map((table) => this.cards.get(table.key).el)
      : [h("p", { class: "nothing" }, t("hub.none"), h("br"), h("small", {}, t("hub.none.note")))];
    if (els.length !== this.grid.children.length || els.some((el, n) => el !== this.grid.children[n]))
      replace(this.grid, els);
  }

  tick() {
    for (const card of this.cards.values()) card.tick();
  }
}

/** @type {any} */
let part = null;

function choose() {
  const [what, value] = location.hash.slice(1).split("=");
  document.body.classList.toggle("watching", what === "table");
  if (isWall) part ??= new Wall(hall, root);
  else if (what === "table") part = new Table(root, decodeURIComponent(value ?? ""));
  else if (what === "evening") part = new Evening(root);
  else if (what === "rounds") part = new Rounds(root);
  else part = new Overview(root);
  top(what || "tables");
  changed(null);
}

function top(now) {
  if (isWall) return;
  replace(
    byId("top"),
    h(
      "nav",
      { "aria-label": t("hub.title") },
      ["tables", "evening", "rounds"].map((name) =>
        h(
          "a",
          {
            href: name === "tables" ? "#" : `#${name}`,
            "aria-current": now === name || (now === "table" && name === "tables") ? "page" : undefined,
          },
          t(`hub.tab.${name}`),
        ),
      ),
      h("a", { href: "/wall", class: "to-wall" }, t("hub.tab.wall")),
    ),
    h("span", { id: "link", class: "warn", role: "status" }),
    h(
      "select",
      { "aria-label": t("menu.language"), on: { change: (e) => speak(e.target.value) } },
      Object.entries(LANGUAGES).map(([code, name]) => h("option", { value: code, selected: code === language }, name)),
    ),
  );
}

function changed(keys) {
  if (!part) return;
  if (part instanceof Table) {
    if (!keys || keys.has(part.key)) part.show(hall.tables.get(part.key));
  } else part.show(hall, keys);
  const link = byId("link"),
    said = !hall.online ? t("chip.offline") : hall.extra.broker ? "" : t("hub.broker");
  if (link && link.textContent !== said) link.textContent = said;
}

const hall = new Hall((keys) => changed(keys));
addEventListener("hashchange", choose);
choose();
setInterval(() => part?.tick(), 1000);
