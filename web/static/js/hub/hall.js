// The state of all tables as the hub sends it: everything once, then the changes.

const AGAIN_MS = 1500,
  QUIET_MS = 15000;

export class Hall {
  /** @type {Map<string, any>} */
  tables = new Map();
  extra = { broker: true, played: 0, rounds: 0 };
  online = true;
  /** @type {any} */
  source = null;
  number = 0;
  /** @type {any} */
  seeking = null;
  /** @type {any} */
  watchdog = null;
  /** @type {(keys: Set<string> | null) => void} */
  changed;

  // changed(keys) is called when these tables, or all (null), have changed
  constructor(changed) {
    this.changed = changed;
    addEventListener("online", () => this.seek());
    document.addEventListener("visibilitychange", () => !document.hidden && !this.online && this.seek());
    this.seek();
  }

  async seek() {
    clearTimeout(this.seeking);
    this.source?.close();
    try {
      const answer = await fetch("/api/hall", { cache: "no-store", signal: AbortSignal.timeout(8000) });
      if (!answer.ok) throw new Error(answer.statusText);
      this.take(await answer.json());
      this.follow();
    } catch {
      this.lost();
    }
  }

  lost() {
    clearTimeout(this.watchdog);
    if (this.online) {
      this.online = false;
      this.changed(null);
    }
    clearTimeout(this.seeking);
    this.seeking = setTimeout(() => this.seek(), AGAIN_MS * (0.5 + Math.random())); // so that not all screens reconnect at once
  }

  heard() {
    clearTimeout(this.watchdog);
    this.watchdog = setTimeout(() => this.seek(), QUIET_MS);
  }

  take({ number, tables, ...extra }) {
    const now = performance.now();
    this.number = number;
    this.online = true;
    this.tables = new Map(
      tables.map((row) => [
        row.key,
        {
          key: row.key,
          state: row.state,
          here: row.here,
          heard: row.heard_s === null ? null : now - row.heard_s * 1000,
          since: now - row.since_s * 1000,
        },
      ]),
    );
    Object.assign(this.extra, extra);
    this.changed(null);
  }

  follow() {
    const mine = new EventSource(`/api/hall/events?after=${this.number}`);
    this.source = mine;
    this.heard();
    mine.addEventListener("change", (e) => {
      if (mine !== this.source) return;
      this.heard();
      this.change(JSON.parse(e.data));
    });
    mine.addEventListener("beat", () => this.heard());
    mine.addEventListener("again", () => this.seek());
    mine.onerror = () => {
      if (mine !== this.source) return;
      mine.close();
      this.lost();
    };
  }

  change({ number, tables, gone = [], ...extra }) {
    if (number !== this.number + 1) return number > this.number ? this.seek() : undefined;
    const now = performance.now(),
      keys = new Set(gone);
    this.number = number;
    for (const key of gone) this.tables.delete(key);
    for (const row of tables) {
      const known = this.tables.get(row.key) ?? { key: row.key, state: null, here: true, heard: null, since: now };
      if (row.state) {
        if (known.state?.game !== row.state.game) known.since = now;
        known.state = row.state;
      }
      if (row.set || row.more || row.drop) this.patch(known, row);
      if (row.heard) known.heard = now;
      if (row.here !== undefined) known.here = row.here;
      if (!known.state) return this.seek();
      if (row.state || row.set || row.more || row.drop || row.here !== undefined || !this.tables.has(row.key))
        keys.add(row.key);
      this.tables.set(row.key, known);
    }
    const told = Object.keys(extra).some((name) => this.extra[name] !== extra[name]);
    Object.assign(this.extra, extra);
    if (keys.size || told) this.changed(told ? null : keys);
  }

  patch(known, { set = /** @type {any} */ ({}), more = [], drop = [] }) {
    const state = { ...known.state, ...set };
    for (const name of drop) delete state[name];
    if (set.board && !set.board.tiles) state.board = { ...set.board, tiles: [...known.state.board.tiles, ...more] };
    known.state = state;
  }

  // Present tables first, each group by name; Table 2 comes before Table 10.
  get sorted() {
    const names = new Intl.Collator(undefined, { numeric: true });
    return [...this.tables.values()].sort(
      (a, b) =>
        Number(b.here) - Number(a.here) || names.compare(a.state.table, b.state.table) || names.compare(a.key, b.key),
    );
  }
}

// Whether a table has been silent for too long: each sends something every ten seconds.
const SILENT_MS = 35000;
export const silent = (table) => !table.here || (table.heard !== null && performance.now() - table.heard > SILENT_MS);

// A table in the form that the page's other parts know: a view.
export function viewOf({ state }) {
  const last = state.board.tiles.length - 1;
  return {
    phase: state.phase,
    game: state.game,
    turn: state.turn,
    left: { total: state.left, kinds: {} },
    players: state.players.map((p, index) => ({
      ...p,
      index,
      supply: p.figures,
      projected: p.projected ?? p.score,
      active: state.phase === "playing" && index === state.turn.player,
    })),
    board: {
      tiles: state.board.tiles.map(([x, y, tile, rot], n) => ({
        at: [x, y],
        tile,
        rot,
        last: n === last,
        asked: false,
      })),
      figures: state.board.figures.map(([player, figure, x, y, feature, where, sx, sy, lying]) => ({
        player,
        figure,
        at: [x, y],
        feature,
        where,
        spot: [sx, sy],
        lying,
      })),
    },
  };
}
