// The queue of questions.

// Questions that were not put off: first those for this device's player, with `all` then those only for others. Each has
// the sheet that asks it; question(q) makes the sheet of a camera's question.
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
