// A part that uses the camera while somebody looks at it: the table is polled,
// and the response to every action is the new state.

import { post } from "../access.js";
import { h, replace } from "../dom.js";
import { t } from "../i18n.js";
import { errorText } from "../words.js";
import { Part } from "./part.js";

export class Live extends Part {
  url = "";
  every = 900;
  /** @type {any} */
  state = null;
  photo = h("img", { class: "aim-picture", alt: t("camera.picture"), hidden: true });

  look() {
    return this.send({ do: "look" });
  }

  async send(body) {
    clearTimeout(this.timer);
    try {
      const answer = await post(this.url, body),
        data = await answer.json();
      if (this.left) return false;
      if (answer.ok) {
        this.state = data;
        this.show();
        this.draw();
      } else if (this.state) this.app.toast.show(t("toast.failed", { text: errorText(data.error) }));
      else return this.refuse(errorText(data.error));
      this.lookAgainIn(this.every);
      return answer.ok;
    } catch {
      if (this.left) return false;
      if (this.state) this.app.toast.show(t("toast.offline"));
      this.lookAgainIn(3 * this.every);
      return false;
    }
  }

  // Without the right to look, nothing can be shown.
  refuse(text) {
    this.failed(this.title(), t("toast.failed", { text }), "live-again");
    return false;
  }

  title() {
    return "";
  }

  // A picture is replaced once the next one has loaded: nothing blinks.
  show() {
    const { picture } = this.state;
    if (!picture || this.photo.dataset.coming) return;
    const next = new Image();
    this.photo.dataset.coming = "1";
    const ended = () => delete this.photo.dataset.coming;
    next.onload = () => {
      this.photo.src = next.src;
      this.photo.hidden = false;
      ended();
    };
    next.onerror = ended;
    next.src = `${this.url}/${picture}.jpg`;
  }

  none(why) {
    replace(this.root, h("section", {}, h("h3", {}, t("camera.none")), h("p", { class: "note" }, why)));
  }

  draw() {}
}
