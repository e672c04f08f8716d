// What waits for an answer, in turn.

// What was not put off: first what this device's player is asked, with `all` then what only others are asked. Each has
// the sheet that asks it; question(q) makes that of the camera's.
export function queue(app, all, question) {
  const open = [
    ...app.view.questions
      .filter((q) => !app.later.has(q.id))
      .map((q) => ({ id: q.id, player: q.player, sheet: () => question(q) })),
    ...app.askings
      .filter((a) => !app.later.has(a.code))
      .map((a) => ({ id: a.code, player: a.question.player, sheet: () => a })),
  ].sort((a, b) => (app.passed.get(a.id) ?? 0) - (app.passed.get(b.id) ?? 0));
  const mine = open.filter(({ player }) => app.commands.asks(player));
  return all ? [...mine, ...open.filter((one) => !mine.includes(one))] : mine;
}
