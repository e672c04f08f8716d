// All cameras available to the table, each with a live preview; choosing one needs no shell.

import { post } from "../access.js";
import { button, h, redraw, replace, symbol } from "../dom.js";
import { t } from "../i18n.js";
import { errorText, sentence } from "../words.js";
import { begunAgain } from "./again.js";
import { checkName, findingText, todoText } from "./checks.js";
import { Part, refusal } from "./part.js";

const EVERY_MS = 900,
  ICON = { ok: "check", warn: "alert", fail: "close", opening: "clock" };

export class Cameras extends Part {
  waits = false; // for a table that restarts

  // `after` waits for a table that restarts; without it this is a part of Machine and camera, with a title.
  constructor(app, root, after = null) {
    super(app, root);
    this.after = after;
    this.pictures = new Map(); // one element per camera, so that its picture does not blink while the next one loads
    this.cards = h("ul", { class: "camera-cards" });
    this.about = h("div", {});
    this.address = h("input", {
      id: "camera-address",
      type: "text",
      inputmode: "url",
      autocomplete: "off",
      spellcheck: "false",
      placeholder: "http://192.168.178.30:8080/video",
      maxlength: 500,
    });
    this.wrong = h("p", { class: "note warn", role: "alert" });
  }

  enter() {
    replace(
      this.root,
      h(
        "section",
        {},
        !this.after && h("h3", {}, t("cameras.title")),
        h("p", { class: "note" }, t("cameras.why")),
        this.about,
      ),
      this.cards,
      h(
        "form",
        { class: "camera-address", on: { submit: (e) => this.offer(e) } },
        h("h3", {}, t("cameras.phone")),
        h("label", { class: "note", for: "camera-address" }, t("cameras.phone.why")),
        h("div", { class: "row" }, this.address, h("button", { type: "submit", class: "action" }, t("cameras.try"))),
        this.wrong,
      ),
    );
    replace(this.cards, h("li", { class: "note" }, t("camera.waiting")));
    this.look();
  }

  async look() {
    clearTimeout(this.timer);
    if (this.left || this.waits) return;
    if (await this.send({ do: "look" })) this.lookAgainIn(EVERY_MS);
  }

  async send(body) {
    try {
      const answer = await post("/api/cameras", body);
      const data = await answer.json();
      if (this.left) return false;
      if (answer.ok) {
        if (data.restarting) this.restart();
        else this.draw(data);
        return true;
      }
      if (body.do === "offer") replace(this.wrong, errorText(data.error));
      else this.refuse(errorText(data.error));
    } catch {
      this.refuse(t("toast.offline"));
    }
    return body.do === "offer";
  }

  refuse(text) {
    if (!this.seen) replace(this.cards); // none is loading
    replace(
      this.about,
      refusal(text, () => this.look(), "cameras-again"),
    );
  }

  restart() {
    this.waits = true;
    clearTimeout(this.timer);
    if (this.after) this.after();
    else begunAgain(this.app, undefined, "machine-cameras");
  }

  async offer(event) {
    event.preventDefault();
    replace(this.wrong);
    if (!this.address.value.trim()) return;
    const before = this.seen?.cameras.length;
    await this.send({ do: "offer", address: this.address.value.trim() });
    if (this.seen?.cameras.length > before) this.address.value = "";
    this.look();
  }

  draw(state) {
    const before = this.told;
    this.seen = state;
    this.told = JSON.stringify({ ...state, cameras: state.cameras.map((c) => ({ ...c, picture: !!c.picture })) });
    if (before === this.told) {
      for (const camera of state.cameras) this.picture(camera);
      return;
    }
    redraw(
      this.about,
      state.fixed && h("p", { class: "note warn" }, t("cameras.fixed")),
      !state.chosen && state.cameras.length > 0 && h("p", { class: "note" }, t("cameras.none")),
    );
    redraw(
      this.cards,
      state.cameras.length
        ? state.cameras.map((c) => this.card(c, state))
        : h("li", { class: "camera-card" }, h("p", {}, t("cameras.nothing"))),
    );
  }

  picture(camera) {
    let img = this.pictures.get(camera.id);
    if (!img) {
      img = h("img", { class: "aim-picture", alt: "" });
      this.pictures.set(camera.id, img);
    }
    img.hidden = !camera.picture;
    const address = `/api/cameras/${camera.picture}.jpg`;
    if (camera.picture && !img.dataset.coming) {
      const next = new Image();
      img.dataset.coming = "1";
      next.onload = () => {
        img.src = next.src;
        delete img.dataset.coming;
      };
      next.onerror = () => delete img.dataset.coming;
      next.src = address;
    }
    return img;
  }

  card(camera, { fixed }) {
    const name = camera.name || t(`cameras.kind.${camera.kind}`, { fallback: camera.address });
    const wrong = camera.checks.filter((c) => c.state !== "ok");
    return h(
      "li",
      { class: `camera-card ${camera.state}`, data: { camera: camera.id } },
      h(
        "div",
        { class: "camera-frame" },
        this.picture(camera),
        !camera.picture && h("p", {}, t(camera.state === "fail" ? "cameras.no_picture" : "cameras.opening")),
      ),
      h("h4", {}, h("span", {}, name), camera.used && h("span", { class: "tag" }, t("cameras.used"))),
      h("p", { class: "note address" }, camera.address, camera.size && ` · ${camera.size[0]} × ${camera.size[1]}`),
      h(
        "ul",
        { class: "camera-checks" },
        camera.state === "ok" && h("li", { class: "ok" }, symbol(ICON.ok), h("span", {}, t("cameras.good"))),
        wrong.map((c) =>
          h(
            "li",
            { class: c.state },
            symbol(ICON[c.state]),
            h(
              "span",
              {},
              c.what === "camera" ? "" : `${checkName(c)}: `,
              sentence(findingText(c)),
              c.do && ` ${sentence(todoText(c))}`,
            ),
          ),
        ),
      ),
      h(
        "div",
        { class: "row" },
        !camera.used &&
          button(t("cameras.take"), () => this.send({ do: "choose", camera: camera.id }), {
            icon: "check",
            className: `action${camera.state === "ok" ? " main" : ""}`,
            disabled: fixed,
            data: { key: `take-${camera.id}` },
          }),
        camera.typed &&
          button(t("cameras.forget"), () => this.send({ do: "forget", camera: camera.id }), {
            icon: "trash",
            className: "action",
            data: { key: `forget-${camera.id}` },
          }),
      ),
    );
  }
}
