// The check-up in the reader's language. The page is complete without this module: it is read when something does not work.

import { dated, machineTexts, t } from "../i18n.js";
import { checkName, findingText, todoText } from "../lazy/checks.js";

const rows = (/** @type {any} */ selector, act) => {
  for (const el of document.querySelectorAll(selector)) act(el);
};

await machineTexts();
document.title = `bastide: ${t("doctor.title")}`;
rows("[data-say]", (el) => {
  el.textContent = t(el.dataset.say, { ...el.dataset, n: Number(el.dataset.n ?? 0), all: Number(el.dataset.all ?? 0) });
});
rows("[data-line]", (el) => {
  const line = JSON.parse(el.dataset.line);
  el.querySelector("h2").textContent = checkName(line);
  el.querySelector(".found").textContent = findingText(line);
  const todo = el.querySelector(".do");
  if (todo) todo.textContent = todoText(line);
});
rows("[data-at]", (el) => {
  el.textContent = t("doctor.when", {
    when: dated(Number(el.dataset.at)),
  });
});
