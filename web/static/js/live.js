// The connection to the table: the event stream, polling if there is none, and always the newest view.

import { post } from "./access.js";
import { pause } from "./dom.js";
import { Stream } from "./stream.js";

const QUIET_MS = 8000; // the server sends something every 5 s
const SEEK_MS = 1200; // how often a lost table is polled, and how long it may take to respond
const POLL_MS = 2000;
const PATIENCE_MS = 10_000; // the longest wait for the response to what is asked for again; a busy table takes up to 6 s
const AGAIN_MS = 300; // the first wait before that, doubled every time
const ASLEEP_MS = 4000; // if a clock jumps by more than this, the tab was frozen

export class Live {
  // show(view) gets every new view; online(bool, at) says whether the table responds, and when it last did
  constructor({ show, online }) {
    this.show = show;
    this.online = online;
    this.view = null;
    this.number = null;
    this.id = "";
    this.polling = null;
    this.watchdog = null;
    this.seeking = false;
    this.missed = 0; // counts the changes heard of that did not follow what is shown; 0 when nothing is missing
    this.catching = false;
    this.heardAt = 0;
    this.seenAt = 0; // when the table last responded, or the time of the state that this device has stored
    this.stream = new Stream("/api/events", {
      heard: (kind, data, id) => this.heard(kind, data, id),
      lost: () => this.seek(),
      full: () => this.poll(),
      whole: () => this.view && this.fresh && !this.missed && [JSON.stringify(this.view), this.id],
    });
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.wake();
    });
    document.addEventListener("resume", () => this.wake(true));
    addEventListener("online", () => this.wake(true));
    addEventListener("offline", () => this.online(false, this.seenAt));
    addEventListener("pageshow", (e) => e.persisted && this.wake(true));
    let last = Date.now();
    setInterval(() => {
      if (Date.now() - last > ASLEEP_MS && !document.hidden) this.wake(true);
      last = Date.now();
    }, 1000);
  }

  // Whether events arrive; a stream whose network is gone looks open for a long time.
  get fresh() {
    return Date.now() - this.heardAt < QUIET_MS;
  }

  start() {
    this.stream.start();
    this.watch();
  }

  wake(stale = false) {
    this.stream.wake(stale);
    if (this.view) this.seek(); // the view is right as soon as the table responds, whatever happens to the stream
  }

  heard(kind, data, id) {
    clearTimeout(this.polling);
    this.polling = null;
    this.seeking = false;
    this.heardAt = this.seenAt = Date.now();
    this.online(true);
    this.watch();
    if (kind !== "beat") this.id = id;
    if (kind === "view") {
      this.missed = 0;
      this.adopt(JSON.parse(data));
    }
    if (kind === "change") this.merge(JSON.parse(data));
  }

  watch() {
    clearTimeout(this.watchdog);
    this.watchdog = setTimeout(() => this.seek(), QUIET_MS);
  }

  // Polls the table until it responds, then requests events again.
  async seek() {
    if (this.seeking || this.polling) return;
    this.seeking = true;
    while (this.seeking) {
      const begun = Date.now();
      if (await this.refresh()) {
        if (this.seeking) this.stream.wake(!this.fresh);
        this.seeking = false;
        this.watch();
        return;
      }
      await pause(Math.max(0, SEEK_MS - (Date.now() - begun)));
    }
  }

  // Fetches the whole view; false if the table does not respond in time.
  async refresh(patience = SEEK_MS) {
    try {
      const answer = await fetch("/api/state", { cache: "no-store", signal: AbortSignal.timeout(patience) });
      if (!answer.ok) throw new Error(answer.statusText);
      const view = await answer.json();
      const kept = Number(answer.headers.get("X-Bastide-Kept")); // what worker.js has stored of a table that does not respond
      if (kept) {
        if (!this.view) {
          this.seenAt = kept;
          this.adopt(view);
        }
        throw new Error("kept");
      }
      this.seenAt = Date.now();
      this.online(true);
      // A response that was in transit while a newer event arrived is outdated.
      if (!(this.stream.flows && this.newer(view))) this.adopt(view);
      return true;
    } catch {
      this.online(false, this.seenAt);
      return false;
    }
  }

  newer(view) {
    return this.view && this.view.game === view.game && this.number > (view.update ?? view.version);
  }

  poll() {
    clearTimeout(this.polling);
    clearTimeout(this.watchdog);
    let rounds = 0;
    const round = async () => {
      await this.refresh();
      if (!this.polling) return; // events have arrived in the meantime
      rounds += 1;
      // from time to time, request a stream again
      this.polling = setTimeout(round, POLL_MS);
      if (rounds % 8 === 0) this.stream.open();
    };
    this.polling = setTimeout(round, POLL_MS);
  }

  merge({ base, set, drop }) {
    if (set.update <= this.number) return; // the response to a command was faster
    if (base !== this.number) {
      this.missed += 1;
      this.catchUp();
      return;
    }
    const view = { ...this.view, ...set };
    for (const key of drop) delete view[key];
    this.adopt(view);
  }

  // Something was missed: fetches the view until it is here, however long the stream has nothing new to say.
  async catchUp() {
    if (this.catching) return;
    this.catching = true;
    let patience = SEEK_MS,
      wait = AGAIN_MS;
    while (this.missed) {
      const { missed } = this;
      if (await this.refresh(patience)) {
        if (this.missed === missed) this.missed = 0; // otherwise more was missed while the view was under way
        continue;
      }
      await pause(wait);
      patience = Math.min(2 * patience, PATIENCE_MS);
      wait = Math.min(2 * wait, PATIENCE_MS);
    }
    this.catching = false;
  }

  adopt(view) {
    this.view = view;
    this.number = view.update ?? view.version;
    this.show(view);
  }

  // Sends a command based on the view on show. Changes elsewhere in the game do not matter: `same(view)` says whether
  // what the person looked at is unchanged, and then it is sent again for the newest view.
  async command(body, same = (/** @type {any} */ _view) => true) {
    let based = this.view.version;
    for (let attempt = 0; attempt < 4; attempt += 1) {
      let answer, data;
      try {
        answer = await post("/api/commands", { ...body, based_on: based });
        data = await answer.json();
      } catch {
        return { failed: "offline" };
      }
      if (answer.ok) {
        if (!this.newer(data)) this.adopt(data);
        return { view: data };
      }
      if (answer.status !== 409 || !data.view)
        return { failed: "refused", text: data.error?.text, code: data.error?.code };
      if (!this.newer(data.view)) this.adopt(data.view);
      if (!same(data.view)) break;
      based = data.view.version;
    }
    return { failed: "stale" };
  }
}
