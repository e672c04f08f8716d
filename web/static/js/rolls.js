// Scores that roll from the old to the new value, and racing bars beside them.

import { calm } from "./dom.js";

const ROLL_MS = 900;

export class Rolls {
  /** @type {any} */
  root;
  /** @type {number[]} */
  scores = [];
  /** @type {Map<number, { from: number, begun: number }>} */
  under = new Map(); // what is rolling, by player
  frame = 0;

  // The rows of `root` have been drawn with these scores; with `fresh` they are another game's and nothing rolls.
  follow(root, scores, fresh) {
    const now = performance.now(),
      still = fresh || calm() || document.hidden;
    scores.forEach((to, n) => {
      const was = this.scores[n];
      if (still || was === undefined) this.under.delete(n);
      else if (was !== to) this.under.set(n, { from: this.value(n, now), begun: now });
    });
    Object.assign(this, { root, scores });
    this.paint(now);
  }

  value(n, now) {
    const roll = this.under.get(n),
      to = this.scores[n];
    if (!roll) return to;
    const done = Math.min(1, (now - roll.begun) / ROLL_MS);
    return roll.from + (to - roll.from) * (1 - (1 - done) ** 3);
  }

  paint(now) {
    const values = this.scores.map((_, n) => this.value(n, now)),
      most = Math.max(1, ...values);
    values.forEach((value, n) => {
      const row = this.root.querySelector(`.player[data-player="${n}"]`);
      const number = row?.querySelector(".score-number"),
        bar = row?.querySelector(".race i");
      if (number) number.textContent = String(Math.round(value));
      bar?.style.setProperty("inline-size", `${Math.max(0, (100 * value) / most).toFixed(2)}%`);
    });
    for (const [n, roll] of this.under) if (now - roll.begun >= ROLL_MS) this.under.delete(n);
    cancelAnimationFrame(this.frame);
    if (this.under.size) this.frame = requestAnimationFrame((then) => this.paint(then));
  }
}
