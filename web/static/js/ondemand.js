// Rarely used parts: each view, and what a device does besides showing the table, is loaded on demand.

import { firstRun } from "./access.js";
import { byId } from "./dom.js";
import { t } from "./i18n.js";

const LATER = [
  "replay",
  "setup",
  "camera",
  "machine",
  "begin",
  "games",
  "share",
  "speak",
  "stayAwake",
  "round",
  "wake",
]; // these load their module first

export class OnDemand {
  /** @type {import("./sheet.js").Sheet} */ sheet;
  /** @type {import("./sheet.js").Toast} */ toast;
  /** @type {any} */ newest;
  /** @type {any} */ banner;
  /** @type {any} */ speech = null; // reads scores aloud, once switched on
  awake = false; // whether the screen is kept on
  /** @type {any} */ looking;
  /** @type {any} */ preparing;
  /** @type {any} */ watching;
  /** @type {any} */ beginning;
  /** @type {any} */ adjusting;
  /** @type {any} */ playing;

  constructor() {
    for (const name of LATER) {
      const act = this[name].bind(this);
      this[name] = (...args) => act(...args).catch((e) => this.unfetched(e));
    }
  }

  // Loading on demand failed: the table does not respond.
  unfetched(e) {
    if (!(e instanceof TypeError) || !/import|fetch|load/i.test(e.message)) throw e;
    this.toast.show(t("toast.offline"));
  }

  // Starts or stops reading scores aloud.
  async speak() {
    const { Speech } = await import("./lazy/speech.js");
    this.speech ??= new Speech();
    this.speech.toggle();
    this.sheet.render();
  }

  // As chosen on this device before.
  async stayedAwake() {
    if (!("wakeLock" in navigator)) return;
    const { resume } = await import("./lazy/awake.js");
    this.awake = await resume();
  }

  // Keeps the screen of this device on, or stops doing so.
  async stayAwake() {
    const { toggle } = await import("./lazy/awake.js");
    this.awake = await toggle();
    this.toast.show(t(this.awake ? "awake.begins" : "awake.ends"));
    this.sheet.render();
  }

  async replay() {
    const { Replay } = await import("./lazy/replay.js");
    this.looking ??= new Replay(this, byId("replay"));
    this.looking.open();
  }

  async setup() {
    const { Setup } = await import("./lazy/setup.js");
    this.preparing ??= new Setup(this, byId("setup"));
    this.preparing.open();
  }

  async camera() {
    const { Camera } = await import("./lazy/camera.js");
    this.watching ??= new Camera(this, byId("camera"));
    await this.watching.open();
  }

  // After a restart of the table the view that requested it is opened again; on a table that is not set up the guide opens.
  async wake() {
    const [, view, tab] = /^#(machine|begin)-?(\w*)$/.exec(location.hash) ?? [];
    if (view) {
      history.replaceState(null, "", location.pathname + location.search);
      await (view === "machine" ? this.machine(tab) : this.begin());
    } else if (!("guided" in document.body.dataset)) firstRun();
    const { wake } = await import("./lazy/banner.js");
    this.banner = await wake(this, byId("banner"));
  }

  async machine(tab = "aim") {
    const { Machine } = await import("./lazy/machine.js");
    this.adjusting ??= new Machine(this, byId("machine"));
    await this.adjusting.open(tab);
  }

  async begin() {
    const { Begin } = await import("./lazy/begin.js");
    this.beginning ??= new Begin(this, byId("begin"));
    await this.beginning.open();
  }

  // A tournament's clock and its result slip.
  async round() {
    const { Round } = await import("./lazy/round.js");
    this.playing ??= new Round(this, byId("round"));
    this.playing.show(this.newest);
  }

  async games() {
    const { Games } = await import("./lazy/games.js");
    this.sheet.open(new Games(this));
  }

  // The table in words, to follow and enter a game without seeing it.
  async inWords() {
    const { InWords } = await import("./lazy/inwords.js");
    this.sheet.open(new InWords(this));
  }

  async share() {
    const { share } = await import("./lazy/share.js");
    await share(this);
  }
}
