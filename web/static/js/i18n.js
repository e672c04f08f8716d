// All texts that people read. A language is one module in lang/ with the same keys as English.

export const LANGUAGES = { en: "English", de: "Deutsch", fr: "Français" };
const KEPT = "bastide.language";

function kept() {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null; // a browser without storage
  }
}

const wishes = [
  new URLSearchParams(location.search).get("lang"),
  kept(),
  document.documentElement.dataset.language, // the table's own language
  ...(navigator.languages ?? [navigator.language]),
];
export const language =
  wishes.map((l) => (l ?? "").slice(0, 2).toLowerCase()).find((l) => Object.hasOwn(LANGUAGES, l)) ?? "en";
// Regional variants of a language (1 234 or 1'234) are up to the browser.
const locale = (navigator.languages ?? []).find((l) => l.toLowerCase().startsWith(language)) ?? language;
const { default: texts } = await import(`./lang/${language}.js`);

// Some languages put a space before punctuation, where a line must not break. Translators type an ordinary space.
const BINDS = { fr: (text) => text.replace(/ (?=[:;!?»])|(?<=«) /g, "\u00a0") };
export const typeset = BINDS[language] ?? ((text) => text);

function typesetAll(found) {
  for (const [key, text] of Object.entries(found)) {
    if (typeof text === "string") found[key] = typeset(text);
    else typesetAll(text); // plural forms
  }
  return found;
}
typesetAll(texts);

const plurals = new Intl.PluralRules(language);
const lists = new Intl.ListFormat(language, { type: "conjunction" });
const numbers = new Intl.NumberFormat(locale);
const percents = new Intl.NumberFormat(locale, { style: "percent", maximumFractionDigits: 0 });
const changes = new Intl.NumberFormat(locale, { signDisplay: "always" });
const dates = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
const times = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" });

// The text of a key, with {name} filled in. A text that depends on a number is an object of plural forms of {n}.
export function t(key, values = {}) {
  const found = texts[key];
  if (found === undefined) return values.fallback ?? key;
  const text = typeof found === "string" ? found : (found[plurals.select(values.n)] ?? found.other);
  return text.replace(/\{(\w+)\}/g, (_, name) =>
    typeof values[name] === "number" ? numbers.format(values[name]) : (values[name] ?? ""),
  );
}

export const has = (key) => Object.hasOwn(texts, key);

const fetched = new Map();

function more(folder) {
  if (!fetched.has(folder))
    fetched.set(
      folder,
      import(`./lang/${folder}/${language}.js`).then((found) => {
        Object.assign(texts, typesetAll(found.default));
      }),
    );
  return fetched.get(folder);
}

// Texts about the machine, its camera and its files are loaded on demand.
export const machineTexts = () => more("machine");
// So are those of a club evening: the hub's page, and a tournament's round at a table.
export const clubTexts = () => more("club");
export const bookTexts = () => more("book"); // the evening book
export const spokenTexts = () => more("spoken"); // the table in words
export const listed = (names) => lists.format(names);
export const number = (n) => numbers.format(n);
export const percent = (p) => percents.format(p);
export const signed = (n) => changes.format(n);
export const dated = (seconds) => dates.format(new Date(seconds * 1000));
export const clock = (seconds) => times.format(new Date(seconds * 1000));

// Switches the language: the page is reloaded in it.
export function speak(code) {
  try {
    localStorage.setItem(KEPT, code);
  } catch {
    // kept until the page is closed
  }
  document.cookie = `bastide_lang=${code}; path=/; max-age=31536000; SameSite=Lax`; // for the page's first response
  const url = new URL(location.href);
  if (url.searchParams.has("lang") || !kept()) url.searchParams.set("lang", code);
  location.assign(url);
  if (url.href === location.href) location.reload();
}

document.documentElement.lang = language;
if (kept()) document.cookie = `bastide_lang=${language}; path=/; max-age=31536000; SameSite=Lax`;
/** @type {NodeListOf<HTMLElement>} */
const labelled = document.querySelectorAll("[data-t]");
for (const el of labelled) el.setAttribute("aria-label", t(el.dataset.t));
