// Machine and camera: for whoever set the table up. Aiming, calibration, backup, devices; the check-up has its own page.

import { button, h, head, replace } from "../dom.js";
import { machineTexts, t } from "../i18n.js";
import { Aim } from "./aim.js";
import { Backup } from "./backup.js";
import { Calibrate } from "./calibrate.js";
import { Cameras } from "./cameras.js";
import { Devices } from "./devices.js";
import { Ghost } from "./ghost.js";
import { Lens } from "./lens.js";
import { panelStyle } from "./panel.js";
import { Settings } from "./settings.js";
import { Teach } from "./teach.js";
import { Trial } from "./trial.js";
import { Updates } from "./updates.js";

const TABS = {
  cameras: Cameras,
  aim: Aim,
  calibrate: Calibrate,
  lens: Lens,
  ghost: Ghost,
  tiles: Teach,
  trial: Trial,
  settings: Settings,
  backup: Backup,
  devices: Devices,
  updates: Updates,
};

export class Machine {
  /** @type {import("../app.js").App} */
  app;
  /** @type {any} */
  root;
  /** @type {any} */
  before = null;
  /** @type {any} */
  tab = null;

  constructor(app, root) {
    Object.assign(this, { app, root });
    this.tools = h("div", { class: "row camera-layers" });
    this.body = h("div", {
      class: "setup-body machine-body",
      tabindex: 0,
      role: "group",
      "aria-labelledby": "machine-title",
    });
    root.addEventListener("keydown", (e) => e.key === "Escape" && this.close());
  }

  async open(name = "aim") {
    await Promise.all([panelStyle(), machineTexts()]);
    this.before = document.activeElement;
    this.app.sheet.close();
    this.tools.setAttribute("role", "group");
    this.tools.setAttribute("aria-label", t("machine.parts"));
    replace(
      this.root,
      head("machine-title", t("machine.title"), t("sheet.close"), () => this.close()),
      this.body,
      h("footer", {}, this.tools),
    );
    this.root.hidden = false;
    this.show(name);
    this.root.querySelector("h2").focus();
  }

  show(name) {
    this.tab?.leave();
    replace(this.body);
    this.tab = new TABS[name](this.app, this.body);
    replace(
      this.tools,
      Object.keys(TABS).map((one) =>
        button(
          t(`machine.${one}`),
          () => {
            this.show(one);
            this.tools.querySelector(`[data-key="machine-${one}"]`).focus();
          },
          { className: "action", "aria-pressed": String(one === name), data: { key: `machine-${one}` } },
        ),
      ),
      h("a", { class: "action", href: "/doctor", data: { key: "machine-doctor" } }, t("menu.doctor")),
    );
    this.body.scrollTop = 0;
    this.tools.querySelector('[aria-pressed="true"]').scrollIntoView({ block: "nearest", inline: "center" });
    this.tab.enter();
  }

  close() {
    this.tab?.leave();
    this.tab = null;
    this.root.hidden = true;
    this.before?.focus?.();
  }
}
