// The connection to the table: event stream first, polling when there is none, always the newest view.

import { post } from "./access.js";

const QUIET_MS = 25000; // the server says something every 10 s
const POLL_MS = 2000;

export class Live {
  // show(view) gets every new view; online(bool) tells whether the table answers
  constructor({ show, online }) {
    this.show = show;
    this.online = online;
    this.view = null;
    this.number = null;
    this.source = null;
    this.failures = 0;
    this.polling = null;
    this.watchdog = null;
    document.addEventListener("visibilitychange", () => {
      if (!document.hidden) this.wake();
    });
    addEventListener("online", () => this.wake());
    addEventListener("offline", () => this.online(false));
    addEventListener("pagehide", () => this.source?.close());
    addEventListener("pageshow", (e) => e.persisted && this.wake());
  }

  start() {
    this.connect();
  }

  wake() {
    if (!this.source || this.source.readyState !== EventSource.OPEN) this.connect();
    else this.refresh();
  }

  connect() {
    this.source?.close();
    const source = new EventSource("/api/events");
    this.source = source;
    source.addEventListener("view", (e) => {
      this.alive();
      this.adopt(JSON.parse(e.data), Number(e.lastEventId));
    });
    source.addEventListener("change", (e) => {
      this.alive();
      this.merge(JSON.parse(e.data), Number(e.lastEventId));
    });
    source.addEventListener("beat", () => this.alive());
    source.onerror = () => {
      if (source !== this.source) return;
      // Closed for good: the server had no stream to give. Otherwise the browser tries again by itself.
      if (source.readyState === EventSource.CLOSED) this.poll();
      this.refresh();
    };
    this.watch();
  }

  alive() {
    clearTimeout(this.polling);
    this.polling = null;
    this.online(true);
    this.watch();
  }

  watch() {
    clearTimeout(this.watchdog);
    this.watchdog = setTimeout(() => this.connect(), QUIET_MS);
  }

  async refresh() {
    try {
      const answer = await fetch("/api/state", { cache: "no-store" });
      if (!answer.ok) throw new Error(answer.statusText);
      const view = await answer.json();
      this.online(true);
      // An answer that was under way while a newer event arrived is old news.
      if (this.source?.readyState === EventSource.OPEN && this.newer(view)) return;
      this.adopt(view, view.update ?? view.version);
    } catch {
      this.online(false);
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
      rounds += 1;
      // now and then ask for a stream again
      if (rounds % 8 === 0) this.connect();
      else this.polling = setTimeout(round, POLL_MS);
    };
    this.polling = setTimeout(round, POLL_MS);
  }

  merge({ base, set, drop }, number) {
    if (base !== this.number) {
      this.refresh();
      return;
    }
    const view = { ...this.view, ...set };
    for (const key of drop) delete view[key];
    this.adopt(view, number);
  }

  adopt(view, number) {
    this.view = view;
    this.number = number;
    this.show(view);
  }

  // Send a command based on what is shown. A change elsewhere in the game does not disturb it: `same(view)` tells
  // whether what the person looked at is still so, and then it is sent again on top of the fresh view.
  async command(body, same = () => true) {
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
        if (!this.newer(data)) this.adopt(data, data.update ?? data.version);
        return { view: data };
      }
      if (answer.status !== 409 || !data.view) return { failed: "refused", text: data.error?.text, code: data.error?.code };
      if (!this.newer(data.view)) this.adopt(data.view, data.view.update ?? data.view.version);
      if (!same(data.view)) break;
      based = data.view.version;
    }
    return { failed: "stale" };
  }
}
