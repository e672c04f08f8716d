// What else may happen in a turn, as the rules offer it (/api/moves): a button, or a square to tap and then a place.
// Nothing here knows a box: the name of a move is in the language files under its code.

import { asked } from "./asking.js";
import { button } from "./dom.js";
import { t } from "./i18n.js";
import { Picker } from "./picker.js";
import { said } from "./words.js";

// Moves with an entry of their own: tiles on the board, figures on the tile, the ends.
const OWN = new Set(["tile", "discard", "deploy", "end_turn", "end_game"]);
const NAMELESS = new Set(["do", "player", "part", "figure"]); // fields that do not distinguish the answers of one move

const act = (key, text, does, more = {}) => button(text, does, { className: "action", data: { key }, ...more });
const values = (answer) => (answer && typeof answer === "object" ? Object.values(answer).flatMap(values) : [answer]);
const keyOf = (code, answer) =>
  [code, ...Object.entries(answer).flatMap(([k, v]) => (NAMELESS.has(k) ? [] : values(v)))]
    .filter((v) => v !== null)
    .join("-");

/** @type {{ game: any, key: string, moves: any[] }} */
let known = { game: null, key: "", moves: [] };
let asking = "";

// The moves of the view on show. While newer ones load, the last ones stay and are disabled.
function offered(app) {
  const { view } = app;
  if (view.moves) return { moves: view.moves, fresh: true }; // an earlier moment has its own
  const key = `${view.game}/${view.version}`;
  if (known.key !== key && asking !== key) {
    asking = key;
    fetch("/api/moves", { cache: "no-store" })
      .then((answer) => (answer.ok ? answer.json() : { moves: [] }))
      .catch(() => ({ moves: [] }))
      .then(({ moves }) => {
        if (asking !== key) return;
        known = { game: view.game, key, moves };
        app.sheet.render();
      });
  }
  return { moves: known.game === view.game ? known.moves : [], fresh: known.key === key };
}

// Buttons for the sheet of a turn: what comes `before` its tile, `after` it, at `any` time, and the
// questions that are `open`.
export function offers(add, player) {
  const { app } = add,
    { view } = app,
    { moves, fresh } = offered(app);
  const of = (when) =>
    moves
      .filter((move) => move.when === when && !move.question && !OWN.has(move.code))
      .flatMap((move) => buttons(add, move, player, { disabled: !fresh }));
  return {
    open: asked(view).map((q) =>
      button(
        t("add.ask", { name: view.players[q.player].name, question: t(`question.${q.code}`, { fallback: q.text }) }),
        () => add.ask(q),
        { icon: "ask", className: "action main", data: { key: `ask-${q.id}` } },
      ),
    ),
    before: [...of("before"), discard(app, add)],
    after: of("after"),
    any: of("any"),
  };
}

function buttons(add, { code, when, answers }, player, more) {
  const { app } = add;
  // The table knows best whose turn and which part it is: at an earlier moment it may not be the current one.
  const send = ({ part: _part, player: whose, ...answer }) =>
    app.commands.send(when === "before" ? answer : { player: whose, ...answer });
  // there may be everybody's answers, and every figure's: keep those of the selected player and figure
  const one = new Set(answers.map((a) => a.player)).size < 2;
  const own = answers.filter((a) => (one || a.player === player) && (!a.figure || a.figure === add.figure));
  if (!own.length) return [];
  if (!own.every((a) => a.at))
    return own.map((a) => act(keyOf(code, a), t(`add.${code}`, said(app.view.players, a)), () => send(a), more));
  const pick = () =>
    add.pick([...new Map(own.map((a) => [a.at.join(), a.at])).values()], t(`add.${code}.where`), (at) => {
      const here = (list) => list.filter((a) => a.at.join() === at.join());
      const [first, ...rest] = here(own);
      if (rest.length && first.where) add.stand(code, at, here(answers));
      else send(rest.length ? common([first, ...rest]) : first);
    });
  return [act(code, t(`add.${code}`), pick, more)];
}

// What several answers have in common; the rest is asked.
const common = ([first, ...rest]) =>
  Object.fromEntries(
    Object.entries(first).filter(([k, v]) => rest.every((a) => JSON.stringify(a[k]) === JSON.stringify(v))),
  );

// A tile that fitted nowhere may be of any kind: people say which.
function discard(app, add) {
  const open = () =>
    app.sheet.open(
      new Picker(app, null, {
        title: t("add.discard.which"),
        done: (tile) => app.commands.send({ do: "discard", tile }),
        next: () => app.sheet.open(new add.constructor(app)),
      }),
    );
  return act("discard", t("add.discard"), open);
}
