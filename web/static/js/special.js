// Moves of the other boxes, entered by hand: each a button that is there when its box is in play.

import { button } from "./dom.js";
import { t } from "./i18n.js";
import { Picker } from "./picker.js";

const WHEEL_STEPS = [1, 2, 3];

// Buttons for the sheet `add`, for what the player may do now.
export function specials(add, player) {
  const { app } = add, { view, commands, kinds } = app, { board } = view;
  const act = (key, text, does) => button(text, does, { className: "action", data: { key } });
  const send = (move) => commands.send({ player, ...move });
  const flagged = (flag) => board.tiles.filter((p) => kinds[p.tile]?.flags.includes(flag));
  const out = [];
  if (!view.turn.open || !view.board.tiles.some((p) => p.last && p.seq)) {
    out.push(act("discard", t("add.discard"), () => app.sheet.open(new Picker(app, null, { title: t("add.discard.which"),
      done: (tile) => commands.send({ do: "discard", tile }), then: () => app.sheet.open(new add.constructor(app)) }))));
  }
  if (board.wheel && !view.turn.open) for (const n of WHEEL_STEPS) out.push(act(`wheel-${n}`, t("add.wheel", { n }), () => send({ do: "wheel", steps: n })));
  for (const [goods, held] of Object.entries(board.goods?.[player] ?? {})) {
    if (board.bank[goods] > 0) out.push(act(`goods-${goods}`, t("add.goods", { name: view.players[player].name, n: held + 1, goods: t(`goods.${goods}`) }), () => send({ do: "goods", goods, count: held + 1 })));
  }
  if (view.expansions.includes("dragon")) out.push(...beasts(add, player, { act, send, flagged }));
  if (view.expansions.includes("tower")) out.push(...towers(add, player, { act, send, flagged }));
  if (board.wheel && view.turn.open) {
    for (const crown of board.wheel.crowns.filter((c) => c.players.length < c.spaces)) {
      out.push(act(`crown-${crown.segment}`, t("add.crown", { segment: t(`wheel.${crown.segment}`) }),
        () => send({ do: "crown", figure: add.figure, segment: crown.segment })));
    }
  }
  return out;
}

function beasts(add, player, { act, send, flagged }) {
  const { view } = add.app, own = view.board.figures.filter((f) => f.player === player && ["follower", "large"].includes(f.figure));
  const last = view.board.tiles.find((p) => p.last), out = [];
  if (own.length && view.turn.open) {
    out.push(act("fairy", t("add.fairy"), () => add.pick(own.map((f) => f.at), t("add.fairy.where"), (at) => {
      const [beside] = own.filter((f) => f.at.join() === at.join());
      send({ do: "fairy", at, beside: { owner: player, figure: beside.figure, feature: beside.feature, where: beside.where } });
    })));
  }
  if (view.turn.open && flagged("portal").includes(last)) {
    out.push(act("portal", t("add.portal"), () => add.pick(view.board.tiles.map((p) => p.at), t("add.portal.where"), (at) => {
      add.elsewhere = at;
      add.app.sheet.render();
    })));
  }
  return out;
}

function towers(add, player, { act, send, flagged }) {
  const { view } = add.app, out = [], heights = view.board.towers ?? [];
  const closed = new Set(view.board.figures.filter((f) => f.feature === "tower").map((f) => f.at.join()));
  const open = flagged("tower").filter((p) => !closed.has(p.at.join()));
  if (view.turn.open && open.length) out.push(act("tower", t("add.tower"), () => add.pick(open.map((p) => p.at), t("add.tower.where"), (at) => send({ do: "tower", at }))));
  const built = heights.filter((one) => !closed.has(one.at.join()));
  if (view.turn.open && built.length) {
    out.push(act("guard", t("add.guard"), () => add.pick(built.map((one) => one.at), t("add.tower.where"), (at) =>
      send({ do: "deploy", figure: add.figure, at, feature: "tower", where: "I" }))));
  }
  (view.board.prisoners ?? []).filter((p) => p.owner === player).forEach(({ holder, figure }, n) => out.push(act(`ransom-${n}`,
    t("add.ransom", { figure: t(`figure.${figure}`), name: view.players[holder].name }),
    () => send({ do: "ransom", jailer: holder, released: { owner: player, figure } }))));
  return out;
}
