// Every text a person reads comes from here. A language is one module in lang/ with the same keys as English.

import en from "./lang/en.js";

const languages = { en };
const chosen = languages[(navigator.language || "en").slice(0, 2)] ? navigator.language.slice(0, 2) : "en";
const plurals = new Intl.PluralRules(chosen);
const lists = new Intl.ListFormat(chosen, { type: "conjunction" });

// The text of a key, with {name} filled in. A text that depends on a number is an object of plural forms of {n}.
export function t(key, values = {}) {
  const found = languages[chosen][key] ?? en[key];
  if (found === undefined) return values.fallback ?? key;
  const text = typeof found === "string" ? found : found[plurals.select(values.n)] ?? found.other;
  return text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
}

export const has = (key) => key in en;
export const listed = (names) => lists.format(names);
export const percent = (p) => new Intl.NumberFormat(chosen, { style: "percent", maximumFractionDigits: 0 }).format(p);
export const signed = (n) => new Intl.NumberFormat(chosen, { signDisplay: "always" }).format(n);

document.documentElement.lang = chosen;
