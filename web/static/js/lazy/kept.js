// Over HTTPS this device stores the page and the last state (worker.js), so that both are available while the table restarts.

const WHAT = /^\/(static\/|api\/(state|session|tiles|own-tiles)\b)/;

export async function keep() {
  await navigator.serviceWorker.register("/sw.js");
  const { active } = await navigator.serviceWorker.ready;
  navigator.serviceWorker.addEventListener("message", (e) => {
    if (e.data.kept) document.body.dataset.kept = String(e.data.kept);
  });
  navigator.serviceWorker.startMessages();
  const fetched = performance.getEntriesByType("resource").map(({ name }) => new URL(name));
  const here = fetched.filter(({ origin, pathname }) => origin === location.origin && WHAT.test(pathname));
  active.postMessage({ keep: [location.pathname, "/api/state", ...here.map(({ href }) => href)] });
}
