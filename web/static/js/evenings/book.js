// The evening book: all stored games, or one of them. A separate page, so that the table's stays small.

import { post } from "../access.js";
import { byId, h, replace } from "../dom.js";
import { bookTexts, t } from "../i18n.js";
import { Sheet, Toast } from "../sheet.js";
import { errorText } from "../words.js";
import { Evening } from "./evening.js";
import { Overview } from "./overview.js";

class Book {
  constructor() {
    this.root = byId("book");
    this.toast = new Toast(byId("toast"));
    this.sheet = new Sheet(byId("sheet"), { resized: () => {}, opened: () => {} });
  }

  async asked(address) {
    const answer = await fetch(address);
    const data = await answer.json();
    if (!answer.ok) throw Object.assign(new Error(answer.statusText), { error: data.error });
    return data;
  }

  // Changes something; null if that failed, which has been reported then.
  async change(address, body) {
    try {
      const answer = await post(address, body),
        data = await answer.json();
      if (answer.ok) return data;
      this.toast.show(t("toast.failed", { text: errorText(data.error) }));
    } catch {
      this.toast.show(t("toast.offline"));
    }
    return null;
  }

  async begin() {
    await bookTexts();
    const { game } = document.body.dataset;
    try {
      await (game ? new Evening(this, Number(game)) : new Overview(this)).begin();
    } catch (e) {
      replace(
        this.root,
        h("header", { class: "book-head" }, h("h1", {}, t("book.title"))),
        h("p", { class: "note" }, e.error ? t("toast.failed", { text: errorText(e.error) }) : t("toast.offline")),
        h(
          "p",
          {},
          h("a", { class: "action", href: "/book" }, t("book.title")),
          " ",
          h("a", { class: "action", href: "/" }, t("book.table")),
        ),
      );
      if (!e.error && e.name !== "TypeError") throw e;
    }
  }
}

new Book().begin();
