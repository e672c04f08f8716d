// A line of the check-up in words. The texts must have been loaded (`machineTexts`).

import { has, t } from "../i18n.js";
import { statusText } from "../words.js";

const KIND = /\((\w+)\)/;

// Whether it is about the table's machine, not about a program on it.
export const known = ({ what }) => has(`check.${what.split(" ")[0]}`);

// "Calibration (table)"; programs keep their names.
export function checkName({ what }) {
  const kind = KIND.exec(what)?.[1],
    name = t(`check.${what.split(" ")[0]}`, { fallback: what });
  return kind ? `${name} (${t(`kind.${kind}`, { fallback: kind })})` : name;
}

/** @param {Record<string, any>} line */
export function findingText({ code, parts = {}, text }) {
  const why =
    code === "camera.says" && parts.status ? statusText({ code: parts.status, parts, text: parts.why }) : parts.why;
  return t(`doctor.${code}`, { ...parts, why, fallback: text });
}

export const todoText = ({ todo, parts, do: text }) => t(`do.${todo}`, { ...parts, fallback: text });
