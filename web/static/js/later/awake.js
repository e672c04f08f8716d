// The screen stays on while the page is looked at, where the browser lets a page ask for that.

let lock = null;
let wanted = false;

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
  if (wanted) await hold();
  else {
    await lock?.release();
    lock = null;
  }
  return wanted && !!lock;
}
