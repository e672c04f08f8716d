// What is made only on request: the link for Board Game Stats, the luck of the draw, the time-lapse.

import { button, h } from "../dom.js";
import { badge } from "../figures.js";
import { percent, signed, t } from "../i18n.js";

const LOOK_MS = 2000;

// The game as one play of Board Game Stats. The program itself contacts nobody: whoever opens the link does.
export class Handing {
  constructor(evening) {
    this.evening = evening;
    this.className = "handing";
    this.stamp = 0;
  }

  title() {
    return t("hand.title");
  }

  async name(place) {
    const { evening } = this;
    const data = await evening.book.change("/api/book", { do: "place", place });
    if (!data) return;
    await evening.load();
    this.stamp += 1; // the code has changed
    evening.sheet.render();
  }

  body() {
    const { evening } = this,
      field = h("input", {
        type: "text",
        maxlength: 60,
        autocomplete: "off",
        dir: "auto",
        "aria-label": t("hand.place"),
        data: { key: "place" },
        value: evening.town || undefined,
      });
    return [
      h("img", {
        class: "handing-code",
        src: `${evening.pictures}/handover.svg?${this.stamp}`,
        alt: t("hand.code"),
        width: 420,
        height: 420,
      }),
      h(
        "div",
        { class: "handing-text" },
        h("p", {}, t("hand.why")),
        h(
          "div",
          { class: "row" },
          h(
            "a",
            {
              class: "action main",
              href: evening.handover,
              target: "_blank",
              rel: "noopener noreferrer",
              data: { key: "hand-link" },
            },
            t("hand.link"),
          ),
        ),
        h("p", { class: "note" }, t("hand.private")),
        h("label", { class: "hand-place" }, h("span", {}, t("hand.place")), field),
        h(
          "div",
          { class: "row" },
          button(t("hand.place.go"), () => this.name(field.value), { className: "action", data: { key: "place-go" } }),
        ),
      ),
    ];
  }
}

// What each player drew compared with the average tile of the box; shown only on request.
export function luckPart(evening) {
  const { luck, last, letters } = evening;
  if (!luck) {
    return h(
      "section",
      { class: "book-part" },
      h(
        "div",
        { class: "row" },
        button(
          t("luck.ask"),
          async () => {
            try {
              evening.luck = (await evening.book.asked(`${evening.pictures}/luck`)).luck;
            } catch {
              evening.toast.show(t("toast.offline"));
            }
            evening.draw();
          },
          { icon: "tiles", className: "action", data: { key: "luck" } },
        ),
      ),
    );
  }
  const most = Math.max(1, ...luck.map((one) => Math.abs(one.points)));
  return h(
    "section",
    { class: "book-part luck" },
    h("h2", {}, t("luck.title")),
    h(
      "ul",
      {},
      luck.map((one, n) =>
        h(
          "li",
          {},
          badge(last.players[n], letters[n]),
          h("span", { class: "luck-name", dir: "auto" }, last.players[n].name),
          h(
            "span",
            { class: "luck-bar", "aria-hidden": "true" },
            h("span", {
              class: one.points < 0 ? "luck-less" : "luck-more",
              style: { "--part": String(Math.abs(one.points) / most) },
            }),
          ),
          h("b", {}, signed(Math.round(one.points))),
          h("span", { class: "note" }, t("luck.than", { n: one.drawn, share: percent(one.above) })),
        ),
      ),
    ),
    h("p", { class: "note" }, t("luck.what")),
  );
}

// The table in half a minute, made on the table's own machine.
export function film(evening) {
  const address = `${evening.pictures}/film.webm`;
  const there = evening.film === "there";
  if (!evening.row.tiles) return null;
  const make = async () => {
    const data = await evening.book.change(`${evening.pictures}/film`, {});
    if (!data) return;
    evening.film = "making";
    evening.draw();
    const look = async () => {
      const state = await evening.book
        .asked("/api/book")
        .then(({ games }) => games.find((g) => g.game === evening.game)?.film)
        .catch(() => "making");
      if (state === "making") return setTimeout(look, LOOK_MS);
      evening.film = state;
      if (state !== "there") evening.toast.show(t("film.failed"));
      return evening.draw();
    };
    setTimeout(look, LOOK_MS);
  };
  return h(
    "section",
    { class: "book-part film" },
    h("h2", {}, t("film.title")),
    there &&
      h("video", {
        src: address,
        controls: true,
        playsinline: true,
        preload: "metadata",
        "aria-label": t("film.title"),
      }),
    h(
      "div",
      { class: "row" },
      there && h("a", { class: "action", href: `${address}?download=1`, download: "" }, t("film.keep")),
      evening.film === "making"
        ? h("p", { role: "status" }, t("film.making"))
        : button(t(there ? "film.again" : "film.make"), make, {
            icon: "play",
            className: "action",
            data: { key: "film" },
          }),
    ),
    !there && h("p", { class: "note" }, t("film.note")),
  );
}
