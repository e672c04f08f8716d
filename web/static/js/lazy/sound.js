// Soft sounds for events on the table, synthesised here; off until switched on, for each device.

const KEPT = "bastide.sound";
const NOTES = [587.33, 783.99, 987.77]; // D5, G5, B5

function kept() {
  try {
    return localStorage.getItem(KEPT) === "on";
  } catch {
    return false;
  }
}

export class Sound {
  /** @type {AudioContext | null} */
  context = null;

  constructor() {
    this.on = kept();
    // browsers stay silent until somebody has touched the page
    for (const kind of ["pointerdown", "keydown"])
      addEventListener(kind, () => this.on && this.wake(), { passive: true });
  }

  toggle() {
    this.on = !this.on;
    try {
      localStorage.setItem(KEPT, this.on ? "on" : "off");
    } catch {
      // kept until the page is closed
    }
    if (this.on) this.chime(1);
    return this.on;
  }

  wake() {
    this.context ??= new AudioContext();
    if (this.context.state === "suspended") this.context.resume();
    return this.context;
  }

  // Something was scored: two notes, or three for more points.
  chime(scores) {
    for (const [n, hz] of NOTES.slice(0, scores > 1 ? 3 : 2).entries()) this.note(hz, n * 0.14, 0.9, 0.09);
  }

  // A tile was placed.
  tock() {
    this.note(196, 0, 0.12, 0.12);
  }

  note(hz, after, length, loud) {
    if (!this.on) return;
    const context = this.wake(),
      begin = context.currentTime + after;
    const tone = new OscillatorNode(context, { type: "sine", frequency: hz }),
      level = new GainNode(context, { gain: 0 });
    level.gain.setValueAtTime(0, begin);
    level.gain.linearRampToValueAtTime(loud, begin + 0.015);
    level.gain.exponentialRampToValueAtTime(0.0001, begin + length);
    tone.connect(level).connect(context.destination);
    tone.start(begin);
    tone.stop(begin + length);
  }
}
