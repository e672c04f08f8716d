// On a screen without input, points at what was just scored, for a while.

import { calm } from "./dom.js";
import { sameEvent } from "./feed.js";

const ANNOUNCED_MS = 9000,
  MOMENT_MS = 2300;
/** @type {any} */
let under;

export function announce(app, before) {
  const event = app.view.feed.at(-1);
  if (!event || sameEvent(event, before?.feed.at(-1) ?? event)) return;
  clearTimeout(under);
  under = setTimeout(
    () => {
      app.point(event);
      under = setTimeout(() => app.point(null), ANNOUNCED_MS);
    },
    calm() || !app.moments ? 0 : MOMENT_MS,
  ); // the feature glows first
}
