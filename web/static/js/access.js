// Requests that change something: sent with the session's token, and with a PIN where one is needed.

let token = null;

async function learn() {
  const state = await (await fetch("/api/session", { cache: "no-store" })).json();
  token = state.token;
  return state;
}

// What this device may do: its right, its name, and for administrators the number of wrong PINs tried.
export const device = learn;

// Tells the table whose device this is, so that what is done here is signed with it. Does nothing if nobody is signed in.
export async function named(name) {
  if (token === null && document.body.dataset.pin === "set") await learn();
  if (token !== null) await sent("PUT", "/api/session", { name });
}

// Ends the session, on the table too.
export async function signOut() {
  const answer = await sent("DELETE", "/api/session", {});
  if (answer.ok) token = null;
  return answer;
}

export function sent(method, url, body) {
  const raw = body instanceof Blob; // a chunk of a file
  return fetch(url, {
    method,
    body: raw ? body : JSON.stringify(body),
    headers: {
      "Content-Type": raw ? "application/octet-stream" : "application/json",
      ...(token && { "X-CSRF-Token": token }),
    },
  });
}

async function refusal(answer) {
  return (
    await answer
      .clone()
      .json()
      .catch(() => ({}))
  ).error?.code;
}

// Sends; if a PIN is missing, asks for it and sends again. Whoever signs in with the table's PIN is asked for the
// administrator's if that is what is needed. Returns the last response.
export async function post(url, body, method = "POST") {
  if (token === null && document.body.dataset.pin === "set") await learn();
  let answer = await sent(method, url, body);
  if (answer.status === 403 && (await refusal(answer)) === "no_token") {
    // another tab has signed in again
    await learn();
    answer = await sent(method, url, body);
  }
  for (let asked = ""; [401, 403].includes(answer.status); ) {
    const code = await refusal(answer);
    if (code === asked || !["pin_needed", "pin_unset", "admin_needed"].includes(code) || !(await entered(code))) break;
    asked = code;
    answer = await sent(method, url, body);
  }
  return answer;
}

// The name chosen on this device before it was signed in.
function chosenName() {
  try {
    return localStorage.getItem("bastide.who") ?? "";
  } catch {
    return "";
  }
}

// Whether somebody has entered the right PIN or the administrator's, or has set the first one.
export async function entered(code) {
  const { ask } = await import("./lazy/pin.js");
  const state = await ask(code, sent);
  if (state) {
    token = state.token;
    document.body.dataset.pin = "set";
    const who = chosenName();
    if (who && !state.name) await named(who).catch(() => {});
  }
  return !!state;
}

// A table without a PIN says so as soon as somebody opens it who could set one.
export function firstRun() {
  if (document.body.dataset.pin !== "unset" || document.body.classList.contains("tv")) return;
  try {
    if (sessionStorage.getItem("bastide.watching")) return;
    sessionStorage.setItem("bastide.watching", "1");
  } catch {
    // a browser without storage asks every time
  }
  entered("pin_unset");
}
