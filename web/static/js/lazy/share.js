// The evening as one picture: the board, the names with their points, the awards. Drawn here, sent nowhere.

import { awards, awardText } from "../awards.js";
import { s } from "../dom.js";
import { hue, letters, meeple } from "../figures.js";
import { listed, t } from "../i18n.js";
import { lineWide } from "../players.js";

const WIDTH = 1200,
  HEIGHT = 1000,
  BOARD = 660,
  ROW = 62,
  FOOT = 52; // the last line and its spacing
const LEAST = 18; // the smallest font size before a text is shortened

// An SVG used as a picture loads nothing, so the fonts are embedded.
async function face(family, file) {
  const bytes = new Uint8Array(await (await fetch(`/static/fonts/${file}.woff2`)).arrayBuffer());
  return `@font-face { font-family: "bastide ${family}"; src: url(data:font/woff2;base64,${btoa(String.fromCharCode(...bytes))}); font-weight: 400 700; }`;
}

const styles = async () =>
  (await Promise.all(["tokens", "board"].map(async (name) => (await fetch(`/static/css/${name}.css`)).text()))).join(
    "\n",
  );

function board(app) {
  const { x, y, width, height } = app.board.view.box,
    world = app.board.svg.firstElementChild.cloneNode(true);
  world.removeAttribute("transform");
  for (const layer of ["photo", "farms", "open", "gaps", "cursor", "worth", "marks", "numbers", "moment", "choices"])
    world.querySelector(`.${layer}`)?.replaceChildren();
  for (const rim of world.querySelectorAll(".last-rim, .asked")) rim.remove();
  for (const tile of world.querySelectorAll(".new")) tile.classList.remove("new"); // otherwise still fading in, forever
  const scale = Math.min((WIDTH - 60) / width, (BOARD - 40) / height) / 100;
  world.setAttribute(
    "transform",
    `translate(${WIDTH / 2 - (x + width / 2) * 100 * scale} ${20 + (BOARD - 40) / 2 - (y + height / 2) * 100 * scale}) scale(${scale})`,
  );
  return world;
}

const text = (x, y, size, content, more = {}) =>
  s(
    "text",
    { x, y, "font-size": size, "font-family": "'bastide sans', system-ui, sans-serif", fill: "#2a2018", ...more },
    content,
  );

// Fits a text into a width: a smaller font first, then fewer letters.
function fitted(x, y, size, room, content, more = {}) {
  const fits = Math.min(size, room / (lineWide(content) * 1.04)),
    letters = [...content];
  if (fits >= LEAST) return text(x, y, fits.toFixed(1), content, more);
  while (letters.length > 1 && lineWide(`${letters.join("")}…`) * 1.04 * LEAST > room) letters.pop();
  return text(x, y, LEAST, `${letters.join("").trimEnd()}…`, more);
}

export function card(app) {
  const { view } = app,
    final = view.final ?? view.projected_final,
    marks = letters(view.players);
  const order = view.players.map((_, n) => n).sort((a, b) => final.totals[b] - final.totals[a]);
  const won = awards(view, final),
    row = Math.min(ROW, (HEIGHT - FOOT - BOARD - 14) / order.length),
    small = row / ROW;
  const fine = [
    view.edition_title ?? view.edition,
    view.expansions.map((e) => t(`setup.box.${e}`)).join(", "),
    t(`aid.${app.aid}`),
  ].join(" · ");
  return s(
    "svg",
    { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, width: WIDTH, height: HEIGHT, xmlns: "http://www.w3.org/2000/svg" },
    s("rect", { width: WIDTH, height: HEIGHT, fill: "#efe6d3" }),
    s("rect", { width: WIDTH, height: BOARD, fill: "#3a322b" }),
    board(app),
    order.map((n, k) =>
      s(
        "g",
        { transform: `translate(50 ${BOARD + 14 + k * row}) scale(${small})` },
        s("g", { transform: "scale(1.3)" }, meeple(view.players[n], marks[n])),
        fitted(60, 34, 32, 520 / small - 84 - 24 * String(final.totals[n]).length, view.players[n].name, {
          "font-weight": final.winners.includes(n) ? 700 : 500,
          class: "card-name",
        }),
        text(520 / small, 36, 40, String(final.totals[n]), {
          "font-weight": 700,
          "text-anchor": "end",
          class: "card-score",
        }),
        s("rect", {
          x: 60,
          y: 46,
          width: 520 / small - 60,
          height: 4,
          rx: 2,
          fill: hue(view.players[n]),
          stroke: "#2a2018",
          "stroke-width": 0.6,
        }),
      ),
    ),
    won.map((one, k) =>
      s(
        "g",
        { transform: `translate(610 ${BOARD + 48 + k * 60})` },
        text(0, 0, 20, t(`award.${one.award}`), { fill: "#65543f" }),
        fitted(
          0,
          29,
          27,
          WIDTH - 610 - 40,
          `${listed(one.players.map((n) => view.players[n].name))}: ${awardText(one)}`,
          { "font-weight": 700, class: "card-award" },
        ),
      ),
    ),
    fitted(50, HEIGHT - 18, 18, WIDTH - 200, fine, { fill: "#65543f", class: "card-foot" }),
    text(WIDTH - 50, HEIGHT - 18, 18, "bastide", { fill: "#65543f", "text-anchor": "end" }),
  );
}

// A picture inside a picture loads nothing: it is embedded.
async function carried(image) {
  const blob = await (await fetch(image.getAttribute("href"))).blob(),
    reader = new FileReader();
  await new Promise((done) => {
    reader.onload = done;
    reader.readAsDataURL(blob);
  });
  image.setAttribute("href", String(reader.result));
}

async function draw(app) {
  const svg = card(app),
    defs = document.querySelector("#definitions defs").cloneNode(true);
  // CSS variables do not work outside the page: the light theme's values are written in
  const css = (await styles())
    .replace(/@media[^{]*\{(?:[^{}]*\{[^{}]*\})*[^{}]*\}/g, "")
    .replace(/:root\s*\{[^}]*\}/, "")
    .replaceAll("var(--mark)", "#ffd76a")
    .replaceAll("var(--font)", "'bastide sans', system-ui, sans-serif")
    .replaceAll("var(--text)", "#2a2018");
  const faces = await Promise.all(["sans-central", "sans-western", "sans"].map((file) => face("sans", file)));
  svg.prepend(defs, s("style", {}, [...faces, css].join("\n")));
  await Promise.all([...svg.querySelectorAll("image")].map(carried));
  const image = new Image(WIDTH, HEIGHT);
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(new XMLSerializer().serializeToString(svg))}`;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = WIDTH;
  canvas.height = HEIGHT;
  canvas.getContext("2d").drawImage(image, 0, 0);
  return new Promise((done) => {
    canvas.toBlob(done, "image/png");
  });
}

// Passes the picture to the device's sharing, or saves it.
export async function share(app) {
  let blob = null;
  try {
    blob = await draw(app);
  } catch {
    // reported below
  }
  if (!blob) return app.toast.show(t("share.failed"));
  const file = new File([blob], "bastide.png", { type: "image/png" });
  if (navigator.canShare?.({ files: [file] })) {
    try {
      return await navigator.share({ files: [file] });
    } catch {
      return null; // the person cancelled
    }
  }
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = "bastide.png";
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  return null;
}
