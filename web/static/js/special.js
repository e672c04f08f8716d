// Moves of the other boxes, entered by hand: each a button that is there when its box is in play.

import { asked } from "./asking.js";
import { button } from "./dom.js";
import { t } from "./i18n.js";
import { Picker } from "./picker.js";

const WHEEL_STEPS = [1, 2, 3];
const FOLLOWERS = new Set(["follower", "large"]);

const act = (key, text, does) => button(text, does, { className: "action", data: { key } });

// Buttons for the sheet of a turn: what comes `before` its tile, `after` it, at `any` time, and the
// questions that are `open`.
export function specials(add, player) {
  const { app } = add,
    { view } = app;
  const send = (move) => app.commands.send({ player, ...move });
  const flagged = (flag) => view.board.tiles.filter((p) => app.kinds[p.tile]?.flags.includes(flag));
  const about = { add, player, send, flagged, laid: !!add.laid };
  return {
    open: asked(view).map((q) =>
      button(
        t("add.ask", { name: view.players[q.player].name, question: t(`question.${q.code}`, { fallback: q.text }) }),
        () => add.ask(q),
        { icon: "ask", className: "action main", data: { key: `ask-${q.id}` } },
      ),
    ),
    before: first(about),
    after: [...beasts(about), ...towers(about), ...crowns(about)],
    any: [...ransoms(about), ...goods(about)],
  };
}

// What happens when a tile is drawn.
function first({ add }) {
  const { app } = add;
  const out = [
    act("discard", t("add.discard"), () =>
      app.sheet.open(
        new Picker(app, null, {
          title: t("add.discard.which"),
          done: (tile) => app.commands.send({ do: "discard", tile }),
          next: () => app.sheet.open(new add.constructor(app)),
        }),
      ),
    ),
  ];
  if (app.view.board.wheel)
    for (const n of WHEEL_STEPS)
      out.push(act(`wheel-${n}`, t("add.wheel", { n }), () => app.commands.send({ do: "wheel", steps: n })));
  return out;
}

// Who has a turn, or will have the next one, may buy back.
function ransoms({ add, player }) {
  const { view, commands } = add.app,
    payers = new Set([player, view.next_tile.player]);
  return (view.board.prisoners ?? [])
    .filter((p) => payers.has(p.owner))
    .map(({ holder, owner, figure }) =>
      act(
        `ransom-${owner}-${holder}-${figure}`,
        t("add.ransom", {
          owner: view.players[owner].name,
          figure: t(`figure.${figure}`),
          name: view.players[holder].name,
        }),
        () => commands.send({ do: "ransom", player: owner, jailer: holder, released: { owner, figure } }),
      ),
    );
}

// The tokens are counted on the table: one more or one less than the rules have given.
function goods({ add, player, send }) {
  const { board, players } = add.app.view;
  return Object.entries(board.goods?.[player] ?? {}).flatMap(([kind, held]) => {
    const count = (n, key) =>
      act(key, t("add.goods", { name: players[player].name, n, goods: t(`goods.${kind}`) }), () =>
        send({ do: "goods", goods: kind, count: n }),
      );
    return [
      board.bank[kind] > 0 && count(held + 1, `goods-${kind}`),
      held > 0 && count(held - 1, `goods-${kind}-less`),
    ].filter(Boolean);
  });
}

function beasts({ add, player, send, flagged, laid }) {
  const { view } = add.app,
    out = [];
  if (!view.expansions.includes("dragon") || !laid) return out;
  const own = view.board.figures.filter((f) => f.player === player && FOLLOWERS.has(f.figure) && f.feature !== "crown");
  if (own.length) {
    out.push(
      act("fairy", t("add.fairy"), () =>
        add.pick(
          own.map((f) => f.at),
          t("add.fairy.where"),
          (at) => {
            const [one, ...more] = own.filter((f) => f.at.join() === at.join()); // with several it is asked who is meant
            send({
              do: "fairy",
              at,
              ...(more.length
                ? {}
                : { beside: { owner: player, figure: one.figure, feature: one.feature, where: one.where } }),
            });
          },
        ),
      ),
    );
  }
  if (flagged("portal").some((p) => p.at.join() === add.laid.at.join())) {
    out.push(
      act("portal", t("add.portal"), () =>
        add.pick(
          view.board.tiles.map((p) => p.at),
          t("add.portal.where"),
          (at) => {
            add.elsewhere = at;
            add.app.sheet.render();
          },
        ),
      ),
    );
  }
  return out;
}

function towers({ add, send, flagged, laid }) {
  const { view } = add.app,
    out = [],
    heights = view.board.towers ?? [];
  if (!view.expansions.includes("tower") || !laid) return out;
  const closed = new Set(view.board.figures.filter((f) => f.feature === "tower").map((f) => f.at.join()));
  const open = flagged("tower").filter((p) => !closed.has(p.at.join())),
    built = heights.filter((one) => !closed.has(one.at.join()));
  if (open.length)
    out.push(
      act("tower", t("add.tower"), () =>
        add.pick(
          open.map((p) => p.at),
          t("add.tower.where"),
          (at) => send({ do: "tower", at }),
        ),
      ),
    );
  if (built.length) {
    out.push(
      act("guard", t("add.guard"), () =>
        add.pick(
          built.map((one) => one.at),
          t("add.tower.where"),
          (at) => send({ do: "deploy", figure: add.figure, at, feature: "tower", where: "I" }),
        ),
      ),
    );
  }
  return out;
}

function crowns({ add, send, laid }) {
  const { wheel } = add.app.view.board;
  return !wheel || !laid
    ? []
    : wheel.crowns
        .filter((c) => c.players.length < c.spaces)
        .map((c) =>
          act(`crown-${c.segment}`, t("add.crown", { segment: t(`wheel.${c.segment}`) }), () =>
            send({ do: "crown", figure: add.figure, segment: c.segment }),
          ),
        );
}
