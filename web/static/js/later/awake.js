// The screen stays on while the page is looked at, where the browser lets a page ask for that.

let lock = null;
let wanted = false;
const KEPT = "bastide.awake";

async function hold() {
  if (!wanted || document.hidden || (lock && !lock.released)) return;
  try {
    lock = await navigator.wakeLock.request("screen");
  } catch {
    lock = null; // low battery; asked for again when the page is looked at again
  }
}

document.addEventListener("visibilitychange", hold);

// Whether the screen stays on from now on.
export async function toggle() {
  wanted = !wanted;
  localStorage.setItem(KEPT, wanted ? "yes" : "no");
  if (wanted) await hold();
  else {
    await lock?.release();
    lock = null;
  }
  return wanted && !!lock;
}

// As somebody chose on this device before, and where the page is installed as an app also without; whether it stays on.
export async function resume() {
  const chosen = localStorage.getItem(KEPT);
  wanted = chosen ? chosen === "yes" : matchMedia("(display-mode: standalone)").matches;
  await hold();
  return wanted && !!lock;
}
