// Scores spoken by the browser's own voice: only what has just been scored; off until switched on.

import { language, listed, t } from "../i18n.js";

const id = (event) => JSON.stringify([event.turn, event.feature, event.reason, event.places, event.points]);

export const possible = () => "speechSynthesis" in window;

// What to say about the events of a view that were not in the previous one.
export function news(before, view) {
  if (!before || before.game !== view.game) return [];
  const known = new Set(before.feed.map(id));
  const newest = before.feed.at(-1)?.turn ?? -1;
  // A corrected earlier turn is not read out again: only events as new as the newest known one.
  return view.feed.filter((e) => e.turn >= newest && !known.has(id(e))).map((e) => spoken(e, view.players));
}

// A score in a sentence: "City: Anna 8 points."
export const spoken = (e, players) =>
  t("speech.event", {
    reason: t(`reason.${e.reason}`, { fallback: e.reason }),
    who:
      listed(e.points.map((p) => t("speech.points", { n: p.points, name: players[p.player].name }))) ||
      t("feed.nobody"),
  });

// What somebody has to attend to: a lost camera, a new question.
function troubles(before, view) {
  if (!before || before.game !== view.game) return [];
  const { chip } = view.status,
    known = new Set(before.questions.map((q) => q.id));
  return [
    chip !== before.status.chip && ["camera_lost", "out_of_step"].includes(chip) && t(`chip.${chip}`),
    view.questions.some((q) => !known.has(q.id)) && t("bar.questions", { n: view.questions.length }),
  ].filter(Boolean);
}

export class Speech {
  constructor() {
    this.on = false;
  }

  // Needs a tap: browsers speak only after one.
  toggle() {
    this.on = !this.on;
    speechSynthesis.cancel();
    this.say(t(this.on ? "speech.begins" : "speech.ends"));
    return this.on;
  }

  heard(before, view) {
    if (!this.on) return;
    if (view.phase !== "over") for (const text of news(before, view).slice(-3)) this.say(text); // the end is told step by step
    for (const text of troubles(before, view)) this.say(text);
    if (before && before.game === view.game && view.phase === "over" && before.phase !== "over")
      this.say(t("chip.ended"));
  }

  // The current step of the reveal, replacing what was being said; resolves when it has been spoken.
  tell(text) {
    speechSynthesis.cancel();
    return this.say(text);
  }

  say(text) {
    const said = new SpeechSynthesisUtterance(text);
    said.lang = language;
    return new Promise((done) => {
      said.onend = said.onerror = () => done(null);
      speechSynthesis.speak(said);
    });
  }
}
