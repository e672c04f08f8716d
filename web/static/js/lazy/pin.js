// Entering the table's PIN, or setting the first one. One dialog at a time; everything that waits for it gets the same result.

import { h, replace } from "../dom.js";
import { dated, has, t } from "../i18n.js";
import { errorText } from "../words.js";

let open = null;

// The new session's state, or null if somebody prefers to watch. `code` says why a PIN is requested: none exists yet, the
// table's is missing, or the administrator's.
export function ask(code, sent) {
  open ??= dialog(code, sent).finally(() => {
    open = null;
  });
  return open;
}

function styled() {
  if (document.querySelector('link[href="/static/css/pin.css"]')) return Promise.resolve();
  return new Promise((done) => {
    const link = h("link", { rel: "stylesheet", href: "/static/css/pin.css", on: { load: done, error: done } });
    document.head.append(link);
  });
}

async function dialog(code, sent) {
  await styled();
  const first = code === "pin_unset",
    admin = code === "admin_needed";
  const {
    set_at_s: at,
    set_from: from,
    admin_pin: other,
  } = first ? {} : await (await fetch("/api/session", { cache: "no-store" })).json();
  return new Promise((done) => {
    const input = h("input", {
      id: "pin",
      name: "pin",
      type: first ? "text" : "password",
      inputmode: "numeric",
      pattern: "[0-9]*",
      minlength: 4,
      maxlength: 12,
      required: true,
      autocomplete: first ? "new-password" : "current-password",
      "aria-describedby": "pin-note pin-error",
    });
    const error = h("p", { id: "pin-error", class: "pin-error", role: "alert" });
    const go = h("button", { type: "submit", class: "action main" }, t(first ? "pin.set" : "pin.enter"));
    const box = h("dialog", { id: "pin-dialog", "aria-labelledby": "pin-title" });
    let state = null;
    const submit = async (event) => {
      event.preventDefault();
      go.disabled = true;
      try {
        const answer = await sent("POST", first ? "/api/pin" : "/api/session", { pin: input.value.trim() });
        const data = await answer.json();
        if (answer.ok && admin && data.right !== "admin") replace(error, t("pin.not_admin"));
        else if (answer.ok) {
          state = data;
          box.close();
          return;
        } else if (data.error.code === "pin_set" || data.error.code === "no_pin") {
          // somebody has set or removed it in the meantime
          document.body.dataset.pin = data.error.code === "pin_set" ? "set" : "unset";
        }
        if (data.error) {
          const wait = Number(answer.headers.get("Retry-After")) || 0,
            key = `pin.${data.error.code}`;
          replace(error, has(key) ? t(key, { n: wait }) : errorText(data.error));
        }
      } catch {
        replace(error, t("toast.offline"));
      } finally {
        go.disabled = false;
      }
      input.select();
      input.focus();
    };
    box.append(
      h(
        "form",
        { method: "dialog", on: { submit } },
        h("h2", { id: "pin-title" }, t(first ? "pin.first" : admin ? "pin.admin" : "pin.title")),
        h(
          "p",
          { id: "pin-note", class: "note" },
          t(first ? "pin.first.note" : !admin ? "pin.note" : other ? "pin.admin.note" : "pin.admin.none"),
          at && h("span", { class: "pin-when" }, t("pin.since", { when: dated(at), from })),
        ),
        h("label", { for: "pin" }, t("pin.label")),
        input,
        error,
        h(
          "div",
          { class: "row" },
          go,
          h("button", { type: "button", class: "action", on: { click: () => box.close() } }, t("pin.watch")),
        ),
      ),
    );
    box.addEventListener("close", () => {
      box.remove();
      done(state);
    });
    document.body.append(box);
    box.showModal();
    input.focus();
  });
}
