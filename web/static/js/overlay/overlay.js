// Scores and the last event for streaming software. It follows the table and can change nothing.
// /overlay?bg=transparent&show=scores,event&lang=de&scale=1.5&key=...

const options = new URLSearchParams(location.search);
const key = options.get("key") ?? "";
const asked = (url) => (key ? `${url}?key=${encodeURIComponent(key)}` : url);
const LANGUAGES = ["en", "de", "fr"];
const language =
  [options.get("lang"), ...(navigator.languages ?? [])]
    .map((l) => (l ?? "").slice(0, 2).toLowerCase())
    .find((l) => LANGUAGES.includes(l)) ?? "en";
const { default: texts } = await import(asked(`/static/js/lang/${language}.js`));
const show = new Set((options.get("show") ?? "scores,event").split(","));
const scale = Math.min(6, Math.max(0.3, Number(options.get("scale")) || 1));
const background = options.get("bg") ?? "transparent";
const HUES = {
  red: ["#c8342b", "#fff"],
  blue: ["#2f6fc1", "#fff"],
  green: ["#2f8a3a", "#fff"],
  yellow: ["#e6b91e", "#221806"],
  black: ["#1e1c1b", "#fff"],
  grey: ["#8b9099", "#111"],
  pink: ["#d873a5", "#111"],
  white: ["#f4f1ea", "#111"],
  orange: ["#d9761f", "#111"],
  purple: ["#7a4aa0", "#fff"],
};
const QUIET_MS = 15000,
  SEEK_MS = 1500;

document.documentElement.lang = language;
document.documentElement.style.setProperty("--scale", String(scale));
if (CSS.supports("color", background)) document.body.style.background = background;

const text = (name, otherwise) => (typeof texts[name] === "string" ? texts[name] : otherwise);
const signed = new Intl.NumberFormat(language, { signDisplay: "always" });

function el(name, className, ...children) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...children.filter((c) => c !== null && c !== undefined));
  return made;
}

// The shortest prefix that distinguishes a name from all others, as a letter beside the colour.
const letter = (player, players) => {
  const first = [...player.name][0]?.toLocaleUpperCase(language) ?? "?";
  return players.some((p) => p !== player && [...p.name][0]?.toLocaleUpperCase(language) === first)
    ? String(player.index + 1)
    : first;
};

function draw(view, lost) {
  const root = document.getElementById("overlay");
  const players = view.players.map((p) => {
    const badge = el("span", "badge", letter(p, view.players));
    const [hue, on] = HUES[p.colour] ?? HUES.grey;
    badge.style.setProperty("--hue", hue);
    badge.style.setProperty("--on", on);
    const name = el("span", "name", p.name);
    name.dir = "auto";
    const more =
      view.phase === "playing" && p.projected !== p.score ? el("span", "projected", `(${p.projected})`) : null;
    return el(
      "div",
      `card player${p.active ? " active" : ""}`,
      badge,
      name,
      el("span", "score", `${p.uncertain ? "~" : ""}${p.score}`, more),
    );
  });
  const event = view.feed.at(-1);
  const gains =
    event?.points.map((p) => el("b", "", `${view.players[p.player].name} ${signed.format(p.points)}`)) ?? [];
  root.replaceChildren(
    ...(show.has("scores") ? players : []),
    ...(show.has("event") && event
      ? [
          el(
            "div",
            "card event",
            text(`reason.${event.reason}`, event.reason),
            ...gains,
            el(
              "div",
              "why",
              event.formula
                .replaceAll(" x ", " × ")
                .replace(/[a-z]+/gi, "")
                .replace(/\s+/g, " ")
                .trim(),
            ),
          ),
        ]
      : []),
    ...(lost ? [el("div", "card lost", text("chip.offline", "…"))] : []),
  );
}

let view = null,
  source = null,
  watchdog = null,
  seeking = null;

function heard() {
  clearTimeout(watchdog);
  clearTimeout(seeking);
  watchdog = setTimeout(seek, QUIET_MS);
}

async function seek() {
  clearTimeout(seeking);
  try {
    const answer = await fetch(asked("/api/overlay"), { cache: "no-store", signal: AbortSignal.timeout(SEEK_MS) });
    if (!answer.ok) throw new Error(answer.statusText);
    view = await answer.json();
    draw(view, false);
    follow();
  } catch {
    if (view) draw(view, true);
    seeking = setTimeout(seek, SEEK_MS);
  }
}

function follow() {
  source?.close();
  const mine = new EventSource(asked("/api/overlay/events"));
  source = mine;
  heard();
  mine.addEventListener("view", (e) => {
    heard();
    view = JSON.parse(e.data);
    draw(view, false);
  });
  mine.addEventListener("change", (e) => {
    heard();
    const { base, set, drop } = JSON.parse(e.data);
    if (base !== view?.update) return void seek();
    view = { ...view, ...set };
    for (const name of drop) delete view[name];
    draw(view, false);
  });
  mine.addEventListener("beat", heard);
  mine.onerror = () => {
    if (mine !== source) return;
    clearTimeout(watchdog);
    seeking = setTimeout(seek, SEEK_MS);
  };
}

follow();

export {};
