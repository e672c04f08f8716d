// The table is restarting: in the same process, perhaps on another port. The page waits for it and comes back.

import { t } from "../i18n.js";

const FIRST_MS = 1500,
  EVERY_MS = 700,
  PATIENCE_MS = 90_000;

/** @param {import("../app.js").App} app @param {number} [port] @param {string} [view] */
export function begunAgain(app, port, view = "") {
  app.toast.show(t("again.wait"));
  const url = new URL(location.href),
    began = performance.now();
  if (port) url.port = String(port);
  if (view) url.hash = view;
  const back = () => {
    if (url.origin === location.origin && url.href.split("#")[0] === location.href.split("#")[0]) {
      history.replaceState(null, "", url);
      location.reload();
    } else location.assign(url);
  };
  const look = async () => {
    try {
      // Another port is another origin, whose responses cannot be read; that it responds is enough.
      await fetch(new URL("/api/session", url), { cache: "no-store", mode: port ? "no-cors" : "same-origin" });
      back();
    } catch {
      if (performance.now() - began > PATIENCE_MS) app.toast.show(t("again.late"));
      else setTimeout(look, EVERY_MS);
    }
  };
  setTimeout(look, FIRST_MS);
}
