// The signed-in devices, for administrators: each by name, signed out with a tap; and where wrong PINs came from.

import { post } from "../access.js";
import { button, h, redraw, symbol } from "../dom.js";
import { dated, t } from "../i18n.js";
import { errorText } from "../words.js";
import { Part } from "./part.js";
import { Pins } from "./pins.js";

export class Devices extends Part {
  constructor(app, root) {
    super(app, root);
    this.pins = new Pins(app, () => this.look());
  }

  enter() {
    super.enter();
    this.pins.look();
  }

  look() {
    return this.ask({ do: "look" });
  }

  async ask(what) {
    try {
      const answer = await post("/api/sessions", what),
        data = await answer.json();
      if (this.left) return;
      if (answer.ok) return this.draw(data);
      if (data.error.code === "no_session") return this.look();
      this.failed(t("devices.title"), t("toast.failed", { text: errorText(data.error) }), "devices-again");
    } catch {
      this.app.toast.show(t("toast.offline"));
    }
  }

  draw({ sessions, failed }) {
    const others = sessions.filter((d) => !d.mine);
    redraw(
      this.root,
      h(
        "section",
        {},
        h("h3", {}, t("devices.title")),
        h("p", { class: "note" }, t("devices.why")),
        sessions.length
          ? h(
              "ul",
              { class: "used devices" },
              sessions.map((d) => this.device(d)),
            )
          : h("p", {}, t("devices.none")),
        others.length > 1 &&
          h(
            "div",
            { class: "row apart" },
            button(t("devices.end.others"), () => this.ask({ do: "end_others" }), {
              icon: "trash",
              className: "action",
              data: { key: "devices-end-others" },
            }),
          ),
      ),
      h(
        "section",
        {},
        h("h3", {}, t("devices.failed")),
        failed.length
          ? h(
              "ul",
              { class: "used" },
              failed.map((f) =>
                h(
                  "li",
                  {},
                  symbol("alert"),
                  h("span", {}, t("devices.failed.from", { n: f.count, address: f.address, when: dated(f.last_s) })),
                  f.known && h("span", { class: "tag" }, t("devices.failed.known")),
                ),
              ),
            )
          : h("p", {}, t("devices.failed.none")),
      ),
      this.pins.root,
    );
  }

  device(d) {
    const name = [d.name, d.kind].filter(Boolean).join(", ") || t("devices.nameless");
    return h(
      "li",
      {},
      h("b", { dir: "auto" }, name),
      h("span", { class: "tag" }, t(`devices.${d.right}`)),
      d.mine && h("span", { class: "tag" }, t("devices.mine")),
      h(
        "span",
        { class: "note" },
        t("devices.since", { since: dated(d.since_s), seen: dated(d.seen_s), address: d.address }),
      ),
      !d.mine &&
        button(t("devices.end"), () => this.ask({ do: "end", session: d.session }), {
          className: "action",
          "aria-label": t("devices.end.one", { name }),
          data: { key: `device-${d.session}` },
        }),
    );
  }
}
