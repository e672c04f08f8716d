// Assembles the page: passes every new view to all parts, and people's commands to the table.

import { announce } from "./announce.js";
import { Bar } from "./bar.js";
import { Board } from "./board.js";
import { Commands } from "./commands.js";
import { byId, pause, replace } from "./dom.js";
import { Feed, sameEvent } from "./feed.js";
import { letters, patternDefinitions } from "./figures.js";
import { Final } from "./final.js";
import { t } from "./i18n.js";
import { Issues } from "./issues.js";
import { Live } from "./live.js";
import { Overlays } from "./overlays.js";
import { OwnTiles } from "./owntiles.js";
import { Players } from "./players.js";
import { queue } from "./queue.js";
import { OnDemand } from "./ondemand.js";
import { Sheet, Toast } from "./sheet.js";
import { definitions } from "./tileart.js";

const AGAIN_MS = 2000;
const OLD_MS = 15_000;
const OPENING = ["ask", "toggle", "openTile", "openMove", "addTo", "tellAnew", "openGap", "layAt", "proof", "settle"]; // these need the sheets

/** @type {typeof import("./sheets.js")} */
let sheets; // loaded after the board
const is = (content, name) => !!sheets && content instanceof sheets[name];

export class App extends OnDemand {
  /** @type {Promise<void> | null} */ fetching = null; // the sheets, while they load
  /** @type {any} */ said;
  /** @type {import("./lazy/reveal.js").Reveal | null} */ reveal = null; // the reveal of the final scoring, once it has begun
  /** @type {import("./lazy/moments.js").Moments | null} */ moments = null; // the animation of scores

  constructor() {
    super();
    this.kinds = {};
    this.pictures = "/api"; // the URL prefix of the table's pictures
    this.isOnline = true;
    this.since = 0; // when the table last responded, in milliseconds, if that is long ago
    this.isTv = document.body.classList.contains("tv");
    this.later = new Set(); // questions put off on this device
    this.passed = new Map(); // how often each was put behind the others
    this.past = null; // the view of an earlier turn on show
    /** @type {import("./then.js").Then | null} */
    this.then = null; // an earlier moment into which something is entered
    this.ownTiles = new OwnTiles({ changed: () => this.board && this.redraw() });
    this.commands = new Commands(this);
    this.toast = new Toast(byId("toast"));
    this.sheet = new Sheet(byId("sheet"), {
      resized: (pixels) => this.board?.cover(pixels),
      opened: (content) => content?.inThen || this.now(),
    });
    this.issues = new Issues(byId("issues"), {
      show: (squares) => (squares ? this.board.pointSquares(squares, { move: true }) : this.point(null)),
      hide: () => this.render(),
      camera: () => this.camera(),
    });
    this.players = new Players(byId("players"));
    this.overlays = new Overlays(byId("tools"), {
      failed: () => this.toast.show(t("tool.nophoto")),
      changed: () => this.render(),
    });
    this.feed = new Feed(byId("feed"), {
      proof: (e) => this.proof(e),
      fix: (e) => this.mend(e),
      begin: () => this.begin(),
    });
    this.final = new Final(byId("final"), {
      point: (event) => this.point(event),
      changed: () => this.render(),
      proof: (e) => this.proof(e),
      fix: (e) => this.mend(e),
      share: () => this.share(),
      again: () => this.reveal?.go(0),
      done: () => {
        this.final.close();
        this.render();
      },
    });
    this.bar = new Bar(byId("bar"), byId("status"), {
      questions: () => {
        this.sheet.close();
        this.later.clear();
        this.ask({ all: true });
      },
      left: () => this.toggle("Left"),
      history: () => this.toggle("History"),
      menu: () => this.toggle("Menu"),
      add: () => this.toggle("Add"),
      final: () => {
        if (this.revealing) return this.reveal?.focus();
        if (this.final.isOpen) this.final.close();
        else this.final.open();
        this.render();
      },
      undo: () => this.commands.undo(),
      camera: () => this.camera(),
    });
    const seats = byId("players"); // the layout beside the board begins below them
    new ResizeObserver(() => document.body.style.setProperty("--seats", `${seats.offsetHeight}px`)).observe(seats);
    for (const name of OPENING) {
      const act = this[name].bind(this);
      this[name] = (...args) => (sheets ? act(...args) : this.fetching?.then(() => act(...args)));
    }
    this.live = new Live({ show: (view) => this.show(view), online: (on, at) => this.online(on, at) });
    this.live.start();
    this.wake();
  }

  // The view on show: the table now, or at an earlier time.
  /** @returns {import("./views").View & Partial<import("./views").PastView>} */
  get view() {
    return this.past ?? this.newest;
  }

  // The game is over, but the reveal has not reached its end yet.
  get revealing() {
    return !this.past && !!this.newest.reveal && !this.newest.reveal.told;
  }

  get aid() {
    return this.newest.aid ?? "coach";
  }

  // No camera is watching: people enter the tiles.
  get byHand() {
    return ["manual", "paused"].includes(this.newest.status?.chip) && this.newest.phase === "playing" && !this.past;
  }

  /** @param {import("./views").View} view */
  async show(view) {
    const before = this.newest;
    this.newest = view;
    if (this.loading) return;
    while (this.box !== this.newest.expansions.join()) {
      const box = this.newest.expansions.join(); // another game may begin while its tiles load
      this.loading = true;
      try {
        const answer = await fetch(`/api/tiles?expansions=${box}`).catch(() => null);
        if (!answer?.ok) {
          await pause(AGAIN_MS); // nothing can be drawn without them
          continue;
        }
        this.kinds = await answer.json();
        this.box = box;
        this.define();
        this.board = new Board(byId("board"), {
          kinds: this.kinds,
          open: (at) => this.openTile(at),
          gap: (at) => this.openGap(at),
          touched: () => this.issues.showing && this.issues.point(null),
        });
      } finally {
        this.loading = false;
      }
    }
    view = this.newest;
    this.ownTiles.follow(view);
    this.speech?.heard(before, view);
    this.said?.heard(before, view);
    if (before && before.game !== view.game) this.forget();
    if (view.reveal && !this.reveal) this.unveil();
    const told = view.reveal?.told && !before?.reveal?.told && !this.past,
      walked = byId("reveal").contains(document.activeElement);
    if (told) this.final.open();
    if (before?.phase === "over" && !view.reveal?.told && this.final.isOpen) this.final.close();
    if (before?.status?.chip !== view.status?.chip && !is(this.sheet.content, "Add")) this.board.showGaps(this.byHand);
    this.render();
    if (told && walked) byId("final").querySelector("h2").focus({ preventScroll: true });
    this.fetching ??= this.fetchSheets();
    this.ask();
    if (!before)
      import("./lazy/moments.js").then(({ Moments }) => {
        this.moments = new Moments(this);
      });
    this.moments?.follow(before, view);
    if (this.isTv && view.phase === "playing") announce(this, before);
    if (!before) this.hears(); // only once the table is shown, so as not to delay it
  }

  define() {
    replace(document.querySelector("#definitions defs"), patternDefinitions(), definitions(this.kinds));
  }

  // The tiles look different on this device from now on.
  redraw() {
    this.define();
    this.board.redress();
    this.sheet.render();
  }

  async unveil() {
    this.reveal ??= new (await import("./lazy/reveal.js")).Reveal(this, byId("reveal"));
    this.render();
  }

  // Announces the contents of each new view to screen readers.
  async hears() {
    this.said = new (await import("./lazy/said.js")).Said(this);
  }

  // Loads, after the board, what people may open. If the table does not respond, tries again.
  async fetchSheets() {
    while (!sheets) sheets = await import("./sheets.js").catch(() => pause(AGAIN_MS));
    document.body.dataset.ready = "";
    this.render();
    if (location.protocol === "https:" && "serviceWorker" in navigator)
      Promise.all([this.stayedAwake(), import("./lazy/kept.js").then(({ keep }) => keep())]).catch(() => {}); // a browser without storage
  }

  // Another game has begun: whatever was open belongs to the old one.
  forget() {
    this.sheet.close();
    this.looking?.close();
    this.later.clear();
    this.final.close();
    this.board.point(null);
    this.board.view.fit();
    this.board.showGaps(this.byHand);
  }

  online(on, at = 0) {
    const since = !on && at && Date.now() - at > OLD_MS ? at : 0; // what is shown is old, and the page says so
    if (this.isOnline === on && this.since === since) return;
    this.isOnline = on;
    this.since = since;
    if (this.board) this.render();
  }

  render() {
    if (this.loading) return; // the tiles of other boxes are still loading
    const { view } = this;
    this.letters = letters(view.players);
    this.board.show(view, this.letters);
    this.overlays.show(this.board, view, this.aid);
    this.reveal?.follow(view);
    const { revealing } = this,
      walk = (revealing && this.reveal) || this.final;
    this.players.show(view, this.letters, {
      shown: walk.scores(view),
      pending: walk.pending(view),
      projected: this.aid !== "score",
      race: revealing,
      settle: this.past || this.isTv || view.phase === "over" ? null : (n) => this.settle(n),
      asked: this.past ? [] : [...view.questions, ...this.askings.map((a) => a.question)].map((q) => q.player),
      mode: this.past ? "past" : revealing ? "reveal" : this.final.isOpen ? String(this.final.step !== null) : "",
    });
    byId("feed").hidden = this.final.isOpen || revealing;
    document.body.classList.toggle("counting", this.final.isOpen || revealing);
    document.body.classList.toggle("revealing", revealing);
    document.body.classList.toggle("told", !!view.final && this.final.isOpen);
    this.reveal?.show(view, this.letters);
    this.feed.show(view, this.letters, this.board.marked);
    this.final.show(view, this.letters);
    if (this.issues.show(view) && !this.board.view.free) this.board.view.fit();
    this.bar.show(this.past ? { ...view, status: { chip: "past" } } : view, {
      online: this.isOnline,
      since: this.since,
      aid: this.aid,
      adding: is(this.sheet.content, "Add"),
      waiting: view.questions.length + this.askings.length,
      final: this.final.isOpen || revealing,
      past: !!this.past,
    });
    this.sheet.follow(view);
    if (this.newest.round || this.playing) this.round();
    this.beginning?.changed();
    const leader = view.players.reduce((a, b) => (b.score > a.score ? b : a));
    Object.assign(document.body.dataset, { version: this.newest.version, game: this.newest.game });
    document.title = leader.score ? t("title", { leader: `${leader.name} ${leader.score}` }) : "bastide";
  }

  // The rules' questions besides those of the camera. The camera answers what it saw itself; the turn's sheet has those too.
  get askings() {
    return this.past || !sheets
      ? []
      : sheets
          .asked(this.newest)
          .filter((q) => !q.seen)
          .map((q) => new sheets.Asking(this, q));
  }

  // The queue of questions; with `all` also those for other players, when the badge is tapped.
  waiting({ all = false } = {}) {
    return queue(this, all, (q) => new sheets.Question(this, q));
  }

  // Shows the first question of the queue, unless something else is open.
  ask({ all = false } = {}) {
    if (this.sheet.content || this.isTv || this.past) return;
    const [next] = this.waiting({ all });
    if (next) this.sheet.open(next.sheet());
  }

  toggle(name) {
    if (is(this.sheet.content, name)) this.sheet.close();
    else this.sheet.open(new sheets[name](this));
    if (name === "Add") this.render();
  }

  openTile(at) {
    if (this.past) return;
    const question = this.view.questions.find((q) => q.kind === "tile" && q.at?.[0] === at[0] && q.at?.[1] === at[1]);
    this.sheet.open(question ? new sheets.Question(this, question) : new sheets.Fix(this, at));
  }

  // Asks what makes the score of a player uncertain, also what nobody is asked about by itself.
  settle(player) {
    const { questions, doubts } = this.newest,
      all = [...questions, ...doubts];
    const found = all.find((q) => q.player === player) ?? all[0];
    if (found) this.sheet.open(new sheets.Question(this, found));
  }

  openMove(entry) {
    if (entry.kind === "tile") this.openTile(entry.at);
    else this.sheet.open(new sheets.Move(this, entry.seq));
  }

  // Shows the page as it was at an earlier moment, to enter something there.
  look(then, view) {
    this.then = then;
    this.past = view;
    this.board.showGaps(then.seq === null);
    this.render();
  }

  // Returns from there; with `keep` what was entered there stays open.
  now({ keep = false } = {}) {
    if (!this.then) return;
    this.then = this.past = null;
    this.board.choose([]);
    this.board.showGaps(this.byHand);
    if (!keep && this.sheet.content?.inThen) this.sheet.close();
    this.render();
    this.ask();
  }

  // Enters what was missed in a turn, or an entry again.
  async addTo(turn) {
    this.sheet.close(); // it is about the present
    if (await new sheets.Then(this, { turn }).go(`turns/${turn}`)) this.sheet.open(new sheets.Add(this));
  }

  async tellAnew(entry) {
    this.sheet.close();
    if (await new sheets.Then(this, { seq: entry.seq }).go(`entries/${entry.seq}/before`))
      this.sheet.open(new sheets.Add(this));
  }

  openGap(at) {
    if ((this.past && !this.then) || this.view.phase === "over") return;
    if (this.board.gaps) this.layAt(at);
    else if (this.aid === "coach") this.sheet.open(new sheets.Gap(this, at));
  }

  layAt(at) {
    const move = (tile, rot) => ({ do: "tile", tile, at, rot }),
      { content } = this.sheet;
    const picker = new sheets.Picker(this, at, {
      title: t("add.at"),
      done: (tile, rot) => this.commands.send(move(tile, rot)),
      command: move,
      next: () => {
        this.sheet.open(new sheets.Add(this));
        this.render();
      },
    });
    this.sheet.open(picker);
    // the tile about to be placed elsewhere moves here
    if (
      is(content, "Picker") &&
      content.at &&
      content.chosen &&
      !content.current &&
      picker.fitting[content.chosen.tile].length
    )
      picker.choose(content.chosen.tile);
  }

  point(event) {
    if (this.revealing) event ??= this.newest.reveal.event; // whatever was on show before
    if (event) this.issues.showing = "";
    this.board.point(event, { move: !!event });
    if (!event) this.board.view.fit();
    this.feed.show(this.view, this.letters, this.board.marked);
  }

  proof(event) {
    if (is(this.sheet.content, "Proof") && sameEvent(event, this.sheet.content.event)) this.sheet.close();
    else this.sheet.open(new sheets.Proof(this, event, { last: event.player === null || event.player === undefined }));
  }

  // The tile placed in the turn of a score.
  completing(event) {
    return this.view.board.tiles.find((p) => p.turn === event.turn && p.seq);
  }

  mend(event) {
    const tile =
      this.completing(event) ??
      this.view.board.tiles.find((p) => event.places.some(([x, y]) => p.at[0] === x && p.at[1] === y && p.seq));
    if (tile) this.openTile(tile.at);
  }

  addByHand() {
    if (!is(this.sheet.content, "Add")) this.toggle("Add");
  }
}

new App();
