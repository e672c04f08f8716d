// What else may happen in a turn, as the rules offer it (/api/moves): a button, or a square to tap and then a place.
// Nothing here knows a box: what a move is called stands in the language files under its code.

import { asked } from "./asking.js";
import { button } from "./dom.js";
import { t } from "./i18n.js";
import { Picker } from "./picker.js";
import { said } from "./words.js";

// What the sheet of a turn has places of its own for: tiles on the board, figures on the tile, the ends.
const OWN = new Set(["tile", "discard", "deploy", "end_turn", "end_game"]);
const NAMELESS = new Set(["do", "player", "part", "figure"]); // what does not tell the answers of one move apart

const act = (key, text, does, more = {}) => button(text, does, { className: "action", data: { key }, ...more });
const values = (answer) => (answer && typeof answer === "object" ? Object.values(answer).flatMap(values) : [answer]);
const keyOf = (code, answer) =>
  [code, ...Object.entries(answer).flatMap(([k, v]) => (NAMELESS.has(k) ? [] : values(v)))]
    .filter((v) => v !== null)
    .join("-");

/** @type {{ game: any, key: string, moves: any[] }} */
let known = { game: null, key: "", moves: [] };
let asking = "";

// The moves of the view that is shown. While newer ones are on their way the last ones stand there and wait.
function offered(app) {
  const { view } = app;
  if (view.moves) return { moves: view.moves, fresh: true }; // an earlier moment brings its own
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
    before: [discard(app, add), ...of("before")],
    after: of("after"),
    any: of("any"),
  };
}

function buttons(add, { code, when, answers }, player, more) {
  const { app } = add;
  // Whose turn it is, and which part of it, the table knows best: at an earlier moment it may be another than now.
  const send = ({ part: _part, player: whose, ...answer }) =>
    app.commands.send(when === "before" ? answer : { player: whose, ...answer });
  // everybody's answers may be among them, and every figure's: those of who is chosen, and of what
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

// What several answers have in common: the rest is asked.
const common = ([first, ...rest]) =>
  Object.fromEntries(
    Object.entries(first).filter(([k, v]) => rest.every((a) => JSON.stringify(a[k]) === JSON.stringify(v))),
  );

// A tile that fitted nowhere: any kind, for that is for people to say.
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
