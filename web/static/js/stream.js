// The table's event stream. All tabs of a browser share one: one tab leads and holds it, the others listen to that tab.
// A browser opens at most six connections to a table, and each stream occupies one permanently.
// (Web Locks could elect a leader too, but are not available without TLS.)

const HELLO_MS = 150; // a leading tab responds sooner than that
const HUNG_MS = 2500; // a stream that is not open by then is requested again

const kinds = ["view", "change", "beat"];

export class Stream {
  /** @type {any} */
  whole;
  /** @type {any} */
  heard;
  /** @type {any} */
  lost;
  /** @type {any} */
  url;
  /** @type {any} */
  full;

  // heard(kind, data, id): an event, data as text. lost(): no events until further notice. full(): the server has no
  // stream available. whole(): what this tab shows, as [data, id], or null.
  constructor(url, { heard, lost, full, whole }) {
    this.url = url;
    this.heard = heard;
    this.lost = lost;
    this.full = full;
    this.whole = whole;
    this.name = Math.random().toString(36).slice(2);
    this.claim = 0; // when this tab took the lead; 0 while it listens
    this.last = "";
    this.source = null;
    this.opened = 0;
    this.channel = "BroadcastChannel" in window ? new BroadcastChannel(`bastide${url}`) : null;
    if (this.channel) this.channel.onmessage = (e) => this.told(e.data);
    addEventListener("pagehide", () => this.leave());
  }

  start() {
    this.ask();
  }

  get leads() {
    return this.claim > 0;
  }

  // Whether events can be expected without further action.
  get flows() {
    return !this.leads || this.source?.readyState === EventSource.OPEN;
  }

  // Is there a leader? If not, this tab becomes it.
  ask() {
    if (!this.channel) return this.lead();
    this.say({ do: "hello" });
    clearTimeout(this.asking);
    this.asking = setTimeout(() => this.lead(), HELLO_MS);
  }

  // The tab was asleep, or the network down: `stale` if open connections cannot be trusted any more.
  wake(stale) {
    if (!this.leads) this.ask();
    else if (stale || (!this.flows && Date.now() - this.opened > HUNG_MS)) this.open();
  }

  lead() {
    clearTimeout(this.asking);
    this.claim = Date.now();
    this.say({ do: "lead", claim: this.claim });
    this.open();
  }

  leave() {
    if (this.leads) this.say({ do: "left" });
    this.close();
    this.claim = 0;
  }

  close() {
    clearTimeout(this.asking);
    this.source?.close();
    this.source = null;
  }

  say(message) {
    this.channel?.postMessage({ ...message, name: this.name });
  }

  told(message) {
    if (message.do === "hello" && this.leads) {
      // A tab that has heard nothing for long does not respond, so whoever asks becomes the leader.
      const [data, id] = this.whole() || [];
      if (data) this.say({ do: "event", kind: "view", data, id });
      else if (Date.now() - this.opened < HUNG_MS) this.say({ do: "lead", claim: this.claim });
    } else if (message.do === "lead" && this.leads) {
      // There are two leaders: the later one stays, the other one listens.
      const mine = this.claim > message.claim || (this.claim === message.claim && this.name > message.name);
      if (mine) this.say({ do: "lead", claim: this.claim });
      else {
        this.claim = 0;
        this.close();
      }
    } else if (message.do === "lead") {
      clearTimeout(this.asking);
    } else if (message.do === "left" && !this.leads) {
      clearTimeout(this.asking);
      this.asking = setTimeout(() => this.lead(), Math.random() * HELLO_MS);
    } else if (message.do === "event" && !this.leads) {
      clearTimeout(this.asking);
      if (message.id) this.last = message.id;
      this.heard(message.kind, message.data, message.id);
    } else if (message.do === "lost" && !this.leads) {
      this.lost();
    }
  }

  open() {
    this.source?.close();
    this.opened = Date.now();
    const source = new EventSource(
      this.last ? `${this.url}${this.url.includes("?") ? "&" : "?"}after=${encodeURIComponent(this.last)}` : this.url,
    );
    this.source = source;
    for (const kind of kinds) {
      source.addEventListener(kind, (e) => {
        if (source !== this.source) return;
        if (kind !== "beat") this.last = e.lastEventId;
        this.heard(kind, e.data, e.lastEventId);
        this.say({ do: "event", kind, data: e.data, id: e.lastEventId });
      });
    }
    source.onerror = () => {
      if (source !== this.source) return;
      this.say({ do: "lost" });
      // Closed for good: the server had no stream available. Otherwise the browser reconnects by itself.
      if (source.readyState === EventSource.CLOSED) this.full();
      else this.lost();
    };
  }
}
