// Small helpers to make elements. Text always goes in as text, never as markup.

const SVG = "http://www.w3.org/2000/svg";

/** @param {any} el @param {Record<string, any> | null} props @param {any[]} children */
function fill(el, props, children) {
  for (const [key, value] of Object.entries(props || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (key === "class") el.setAttribute("class", value);
    else if (key === "on") for (const [type, act] of Object.entries(value)) el.addEventListener(type, act);
    else if (key === "style") for (const [name, v] of Object.entries(value)) el.style.setProperty(name, v);
    else if (key === "data") Object.assign(el.dataset, value);
    else el.setAttribute(key, value === true ? "" : String(value));
  }
  for (const child of children.flat(Infinity)) {
    if (child !== null && child !== undefined && child !== false) el.append(child);
  }
  return el;
}

/** @type {(tag: string, props?: Record<string, any>, ...children: any[]) => any} */
export const h = (tag, props, ...children) => fill(document.createElement(tag), props, children);
/** @type {(tag: string, props?: Record<string, any>, ...children: any[]) => any} */
export const s = (tag, props, ...children) => fill(document.createElementNS(SVG, tag), props, children);

/** For what is no button by itself: Enter and Space do what a click does.
 * @param {() => void} act @returns {(e: KeyboardEvent) => void} */
export const onPress = (act) => (e) => {
  if (e.key !== "Enter" && e.key !== " ") return;
  e.preventDefault();
  e.stopPropagation();
  act();
};

/** Resolves after so many milliseconds.
 * @param {number} ms @returns {Promise<any>} */
export const pause = (ms) => new Promise((done) => setTimeout(done, ms));

export function replace(el, ...children) {
  el.replaceChildren(...children.flat(Infinity).filter((c) => c !== null && c !== undefined && c !== false));
}

// A pressed element stays until the finger is lifted: a button that is replaced in between would never receive its tap.
const HELD_MS = 1500,
  LIFTED_MS = 120;
/** @type {{ target: any } | null} */
let held = null;
const waiting = new Map();

function release(mine = held) {
  if (mine !== held) return; // another press has begun
  held = null;
  const acts = [...waiting.values()];
  waiting.clear();
  for (const act of acts) act();
}

addEventListener(
  "pointerdown",
  (e) => {
    const mine = { target: e.target };
    held = mine;
    setTimeout(() => release(mine), HELD_MS);
  },
  true,
);
addEventListener(
  "pointerup",
  () => {
    const mine = held;
    setTimeout(() => release(mine), LIFTED_MS);
  },
  true,
);
addEventListener("pointercancel", () => release(), true);
addEventListener(
  "click",
  () => {
    held = null;
    setTimeout(() => held || release(), 0);
  },
  true,
);

/** @param {any} el @param {() => void} act */
export function whenFree(el, act) {
  waiting.delete(el);
  if (held && el.contains(held.target)) waiting.set(el, act);
  else act();
}

// Redraws something without losing the focus in it.
export const redraw = (el, ...children) => whenFree(el, () => drawn(el, children));

function drawn(el, children) {
  const active = /** @type {HTMLElement} */ (document.activeElement);
  const key = el.contains(active) ? /** @type {any} */ (active.closest("[data-key]"))?.dataset.key : null;
  replace(el, ...children);
  if (key) el.querySelector(`[data-key="${CSS.escape(key)}"]`)?.focus({ preventScroll: true });
}

/** @type {(id: string) => any} */
export const byId = (id) => document.getElementById(id);

/**
 * A button with a drawn symbol; the name is always there for those who do not see it.
 * @param {string} name
 * @param {(e: Event) => void} act
 * @param {Record<string, any>} more
 */
export function button(name, act, { icon, className = "", label = true, ...more } = {}) {
  return h(
    "button",
    {
      type: "button",
      class: className,
      "aria-label": name,
      title: label ? undefined : name,
      on: { click: act },
      ...more,
    },
    icon && symbol(icon),
    label && h("span", {}, name),
  );
}

const SYMBOLS = {
  undo: "M9 7H15a5 5 0 0 1 0 10H8M9 7l3.5-3.5M9 7l3.5 3.5",
  plus: "M12 5v14M5 12h14",
  minus: "M5 12h14",
  fit: "M4 9V4h5M20 9V4h-5M4 15v5h5M20 15v5h-5",
  close: "M6 6l12 12M18 6L6 18",
  turn: "M19 12a7 7 0 1 1-2.6-5.4M19 3v4.4h-4.4",
  list: "M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01",
  flag: "M6 21V4M6 4h11l-2.5 4L17 12H6",
  tiles: "M4 4h7v7H4zM13 4h7v7h-7zM4 13h7v7H4zM13 13h7v7h-7z",
  next: "M9 5l7 7-7 7",
  up: "M5 15l7-7 7 7",
  back: "M15 5l-7 7 7 7",
  check: "M5 13l4.5 4.5L19 7",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  hand: "M7 12V6.5a1.5 1.5 0 0 1 3 0V11V4.5a1.5 1.5 0 0 1 3 0V11V5.5a1.5 1.5 0 0 1 3 0V12.5V8.5a1.5 1.5 0 0 1 3 0V15a6 6 0 0 1-6 6h-1.5c-2 0-3.4-.9-4.5-2.5L4 14c-.8-1.3 1-2.6 2.1-1.4z",
  eye: "M2.5 12S6 5.5 12 5.5 21.5 12 21.5 12 18 18.5 12 18.5 2.5 12 2.5 12zM12 9.2a2.8 2.8 0 1 0 0 5.6 2.8 2.8 0 0 0 0-5.6z",
  ask: "M8.5 9a3.5 3.5 0 1 1 5 3.2c-1 .5-1.5 1.2-1.5 2.3M12 18.5h.01",
  alert: "M12 4L2.8 20h18.4zM12 10v4.5M12 17.3h.01",
  dots: "M5 12h.01M12 12h.01M19 12h.01",
  lost: "M4 4l16 16M5 9.5a10 10 0 0 1 3-2M12 6.5c3 0 5.4 1.2 7.5 3M8.5 13.2a5 5 0 0 1 3-1.2M12 18h.01",
  look: "M10.5 4a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM15.5 15.5L21 21M7.5 10.5l2.2 2.2 3.8-4",
  pen: "M4 20l1-4.5L16.5 4l3.5 3.5L8.5 19zM14 6.5l3.5 3.5",
  open: "M4 18c3-7 5 0 8-7s5 0 8-7M4 18h.01M20 4h.01",
  photo: "M4 7h4l1.5-2.5h5L16 7h4v12H4zM12 9.8a3.2 3.2 0 1 0 0 6.4 3.2 3.2 0 0 0 0-6.4z",
  share: "M12 15V4M8 8l4-4 4 4M5 13v7h14v-7",
  play: "M8 5l11 7-11 7z",
  stop: "M7 5v14M17 5v14",
  clock: "M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7v5l3.5 2",
  voice: "M4 9.5v5h4l5 4v-13l-5 4zM16 9a4 4 0 0 1 0 6M18.5 6.5a8 8 0 0 1 0 11",
  farm: "M4 20V11l4-4 4 4v9M12 13h8v7H4M8 20v-4",
};

// The head of a view that covers others: its title, which gets the focus, and the button that closes it.
export const head = (id, title, name, close) =>
  h("header", {}, h("h2", { id, tabindex: -1 }, title), closer(name, close));

/** @param {string} name @param {() => void} act */
export const closer = (name, act) =>
  button(name, act, { icon: "close", label: false, className: "close", data: { key: "close" } });

export function symbol(name) {
  return s(
    "svg",
    { viewBox: "0 0 24 24", class: "symbol", "aria-hidden": "true" },
    s("path", {
      d: SYMBOLS[name],
      fill: "none",
      stroke: "currentColor",
      "stroke-width": 2.2,
      "stroke-linecap": "round",
      "stroke-linejoin": "round",
    }),
  );
}

export const calm = () => matchMedia("(prefers-reduced-motion: reduce)").matches;
