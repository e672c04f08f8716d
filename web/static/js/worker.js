// The service worker, served as /sw.js over HTTPS only: while the table's program restarts, or the Pi is off, the page still
// opens with the last state that this device saw. A response of the table itself always takes precedence.

/** @type {any} */
const worker = self;
const SHELF = "bastide-1";
const PATIENCE_MS = 4000; // a Pi that is off does not respond at all
const KEPT = "X-Bastide-Kept"; // when the table sent it, in milliseconds
const PAGES = ["/", "/tv"];
const STATES = ["/api/state", "/api/session", "/api/tiles", "/api/own-tiles"];

const isKept = ({ origin, pathname }) =>
  origin === worker.location.origin &&
  (PAGES.includes(pathname) || STATES.includes(pathname) || pathname.startsWith("/static/"));

async function put(url, answer) {
  if (!answer.ok) return;
  const headers = new Headers(answer.headers);
  headers.set(KEPT, String(Date.now()));
  headers.delete("Content-Encoding"); // the browser has unpacked it
  await (await caches.open(SHELF)).put(url, new Response(await answer.arrayBuffer(), { headers }));
}

// A page is the same whatever the query in its URL.
const shelved = (url) => (PAGES.includes(url.pathname) ? url.pathname : url.href);

async function answered(request, url, waiting) {
  try {
    const answer = await fetch(request, { signal: AbortSignal.timeout(PATIENCE_MS) });
    waiting(put(shelved(url), answer.clone()));
    return answer;
  } catch (e) {
    const found = await (await caches.open(SHELF)).match(shelved(url));
    if (found) return found;
    throw e;
  }
}

worker.addEventListener("install", () => worker.skipWaiting());
worker.addEventListener("activate", (e) =>
  e.waitUntil(
    (async () => {
      for (const name of await caches.keys()) if (name !== SHELF) await caches.delete(name);
      await worker.clients.claim();
    })(),
  ),
);
worker.addEventListener("fetch", (e) => {
  const url = new URL(e.request.url);
  if (e.request.method === "GET" && isKept(url)) e.respondWith(answered(e.request, url, (done) => e.waitUntil(done)));
});
// What the page had loaded before this worker existed.
worker.addEventListener("message", (e) => {
  const urls = e.data.keep.map((text) => new URL(text, worker.location.origin)).filter(isKept);
  e.waitUntil(
    Promise.all(urls.map(async (url) => put(shelved(url), await fetch(url)))).then(
      () => e.source?.postMessage({ kept: urls.length }),
      () => {}, // try again another time
    ),
  );
});
