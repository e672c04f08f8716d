// Keeps the screen on while the page is visible, if the browser allows it.

let lock = null;
let wanted = false;
const KEPT = "bastide.awake";

async function hold() {
  if (!wanted || document.hidden || (lock && !lock.released)) return;
  try {
    lock = await navigator.wakeLock.request("screen");
  } catch {
    lock = null; // low battery; requested again when the page becomes visible
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

// As chosen on this device before, and by default if the page is installed as an app; returns whether it stays on.
export async function resume() {
  const chosen = localStorage.getItem(KEPT);
  wanted = chosen ? chosen === "yes" : matchMedia("(display-mode: standalone)").matches;
  await hold();
  return wanted && !!lock;
}
