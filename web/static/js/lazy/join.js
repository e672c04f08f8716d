// How other devices reach this page: its address, also as a QR code.

import { h, replace } from "../dom.js";
import { t } from "../i18n.js";

export function joinCard() {
  const where = h("p", { class: "note" }, t("join.searching"));
  const card = h("div", { class: "join" }, where);
  fetch("/api/join")
    .then((answer) => answer.json())
    .then(({ addresses }) => {
      if (!addresses.length) {
        replace(where, t("join.machine"));
        return;
      }
      card.prepend(
        h("img", { src: "/api/join.svg", alt: t("join.code", { address: addresses[0] }), width: 176, height: 176 }),
      );
      replace(
        where,
        addresses.map((a) => h("span", { class: "address", style: { display: "block" } }, a)),
      );
    })
    .catch(() => replace(where, t("toast.offline")));
  return card;
}
