// What a person in front of the screen would object to; called by screens.py.
({ tv }) => {
  const faults = [],
    say = (what, el) =>
      faults.push(`${what}: ${(el.textContent || el.className.baseVal || el.className || el.id).trim().slice(0, 50)}`);
  const inside = (r, b, slack = 1.5) =>
    r.left >= b.left - slack && r.right <= b.right + slack && r.top >= b.top - slack && r.bottom <= b.bottom + slack;
  const screen = { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
  const shown = (el) =>
    el.checkVisibility({ opacityProperty: true, visibilityProperty: true }) && getComputedStyle(el).fontSize !== "0px";
  const hidden = (el) => {
    for (let e = el; e && e !== document.body; e = e.parentElement) {
      const s = getComputedStyle(e);
      if (s.clipPath !== "none") return true;
    }
    return false;
  };
  // what is left of a rectangle in everything that scrolls or cuts around it, and whether something cut it for good
  const clip = (el, r) => {
    let cut = false;
    const left = { left: r.left, top: r.top, right: r.right, bottom: r.bottom };
    for (let e = el; e && e !== document.documentElement; e = e.parentElement) {
      const s = getComputedStyle(e),
        b = e.getBoundingClientRect(),
        lower = (r.bottom - r.top) * 0.22; // a line is higher than its letters
      for (const [axis, from, to] of [
        ["overflowX", "left", "right"],
        ["overflowY", "top", "bottom"],
      ]) {
        if (s[axis] === "visible") continue;
        const slack = axis === "overflowY" ? lower : 1.5;
        const out = left[from] < b[from] - slack || left[to] > b[to] + slack;
        if (out && ["hidden", "clip"].includes(s[axis]) && e !== document.body) cut = true;
        left[from] = Math.max(left[from], b[from]);
        left[to] = Math.min(left[to], b[to]);
      }
      if (s.position === "fixed") break; // nothing around it cuts it
      if (left.right - left.left < 2 || left.bottom - left.top < 2) break; // scrolled away
    }
    return { cut, left, empty: left.right - left.left < 2 || left.bottom - left.top < 2 };
  };
  const texts = [],
    walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    const el = node.parentElement;
    if (
      !node.data.trim() ||
      el.closest("noscript, script, #definitions, .board, .tile-picture, .proof-picture, title") ||
      !shown(el) ||
      hidden(el)
    )
      continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    for (const r of range.getClientRects()) if (r.width > 1 && r.height > 1) texts.push({ el, r });
  }
  const name = (el) => el.closest(".name-text");
  const covers = (a, b) => a.contains(b) || b.contains(a);
  for (const one of texts) {
    const { cut, left, empty } = clip(one.el, one.r);
    one.seen = left;
    const long = one.el.matches(".bar-turn") && one.el.textContent.length > 22 && one.el.clientWidth > 110; // the turn of somebody with a very long name
    if (cut && !name(one.el) && !long) say("cut", one.el);
    if (empty) {
      one.gone = true;
      continue;
    }
    if (!inside(left, screen)) say("off the screen", one.el);
    // what lies over it, but for sheets and messages that are meant to
    const y = (left.top + left.bottom) / 2;
    for (const x of [left.left + 2, (left.left + left.right) / 2, left.right - 2]) {
      const top = document.elementFromPoint(Math.min(x, innerWidth - 1), Math.min(y, innerHeight - 1));
      if (
        !top ||
        covers(top, one.el) ||
        (top.closest("#sheet, .full, #toast, dialog") && !one.el.closest("#sheet, .full, #toast, dialog"))
      )
        continue;
      let solid = false; // letters reach out of their line: only what has a ground hides something
      for (let e = top; e && !e.contains(one.el) && !solid; e = e.parentElement)
        solid =
          e instanceof SVGElement || e.tagName === "IMG" || getComputedStyle(e).backgroundColor !== "rgba(0, 0, 0, 0)";
      if (!solid) continue;
      if (top.closest(".chip, button, a") && top.closest(".chip, button, a") === one.el.closest(".chip, button, a"))
        continue;
      say(`covered by ${top.id || top.className.baseVal || top.className || top.tagName}`, one.el);
      one.gone = true;
      break;
    }
  }
  // letters over letters, or over signs that mean something
  const signs = [
    ...document.querySelectorAll(
      ".crown, .player .badge-figure:not(:has(~ .asks)), #bar .symbol, .tool .symbol, .zoom button, #issues img",
    ),
  ]
    .filter((el) => shown(el))
    .map((el) => ({ el, r: el.getBoundingClientRect() }))
    .map((one) => ({ ...one, ...(({ left, empty }) => ({ seen: left, gone: empty }))(clip(one.el, one.r)) }));
  const tight = ({ seen: r }, isText) => {
    const h = (r.bottom - r.top) * (isText ? 0.22 : 0.06),
      w = 1.5;
    return { left: r.left + w, right: r.right - w, top: r.top + h, bottom: r.bottom - h };
  };
  const items = [
    ...texts.filter((o) => !o.gone && !o.el.closest("#toast")).map((o) => ({ ...o, box: tight(o, true), text: true })),
    ...signs.filter((o) => !o.gone).map((o) => ({ ...o, box: tight(o, false) })),
  ];
  const floor = (el) => el.closest("#sheet, .full, #toast, dialog") ?? document.body;
  for (let i = 0; i < items.length; i += 1)
    for (let j = i + 1; j < items.length; j += 1) {
      const a = items[i],
        b = items[j];
      if ((!a.text && !b.text) || a.el === b.el || covers(a.el, b.el) || floor(a.el) !== floor(b.el)) continue;
      const w = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left),
        h = Math.min(a.box.bottom, b.box.bottom) - Math.max(a.box.top, b.box.top);
      if (w > 1.5 && h > 1.5)
        say(`over "${(b.el.textContent || b.el.className.baseVal || b.el.className).trim().slice(0, 30)}"`, a.el);
    }
  // names can be read: whole, or enough of a very long one
  for (const el of document.querySelectorAll(".player .name-text")) {
    if (!shown(el)) {
      say("no name", el);
      continue;
    }
    const all = [...el.textContent].length,
      size = parseFloat(getComputedStyle(el).fontSize);
    const part = Math.min(1, el.clientWidth / el.scrollWidth) * Math.min(1, (el.clientHeight / el.scrollHeight) * 1.12);
    const whole = el.scrollWidth <= el.clientWidth + 1 && el.scrollHeight <= el.clientHeight * 1.12 + 1;
    if (!whole && (all <= 16 || all * part < 12)) say(`name cut (${Math.round(all * part)} of ${all})`, el);
    if (size < (tv ? innerHeight / 36 : 12.5)) say(`name too small (${size} px)`, el);
  }
  const scores = [...document.querySelectorAll(".player .score")];
  for (const el of scores) {
    const size = parseFloat(getComputedStyle(el).fontSize);
    if (size < (tv ? innerHeight / 16 : 26)) say(`score too small (${size} px)`, el);
    if (!inside(el.getBoundingClientRect(), screen)) say("score off the screen", el);
  }
  if (document.documentElement.scrollWidth > innerWidth || document.documentElement.scrollHeight > innerHeight)
    faults.push("the page is larger than the screen");
  // nobody scrolls sideways to read on
  for (const el of document.querySelectorAll("#feed, .sheet-body, .setup-body, #issues, #final, #reveal"))
    if (shown(el) && el.scrollWidth > el.clientWidth + 2) say(`wider than its place (${el.scrollWidth} px)`, el);
  // the board has room
  const table = document.getElementById("table").getBoundingClientRect(),
    sheet = document.getElementById("sheet");
  const under = sheet.hidden ? { left: 0, right: 0, top: 0, bottom: 0 } : sheet.getBoundingClientRect();
  const over =
    Math.max(0, Math.min(table.right, under.right) - Math.max(table.left, under.left)) *
    Math.max(0, Math.min(table.bottom, under.bottom) - Math.max(table.top, under.top));
  const share = (table.width * table.height - over) / (innerWidth * innerHeight);
  const result = document.querySelector(".told #final:not([hidden]), #reveal:not([hidden])"); // what is looked at then
  if (sheet.hidden ? share < (result ? 0.1 : 0.27) : sheet.matches(".question") && share < 0.14)
    faults.push(`the board has ${Math.round(100 * share)} % of the screen`);
  if (!sheet.hidden && document.querySelector("#sheet.question") && over / (table.width * table.height) > 0.5)
    faults.push(`the question covers ${Math.round((100 * over) / (table.width * table.height))} % of the board`);
  // no tile lies under a button of the zoom while the board is shown as a whole
  const buttons = [...document.querySelectorAll(".zoom button")].filter(shown).map((el) => el.getBoundingClientRect());
  if (sheet.hidden && !document.querySelector(".walk-stage"))
    for (const tile of document.querySelectorAll(".tiles .tile")) {
      const r = tile.getBoundingClientRect();
      if (
        buttons.some(
          (b) => b.left < r.right - 3 && b.right > r.left + 3 && b.top < r.bottom - 3 && b.bottom > r.top + 3,
        )
      )
        say("under a button of the zoom", tile);
    }
  // nothing empty beside what is full: a panel ends where its content or the screen does
  const side = [
    ...document.querySelectorAll("#players, #feed:not([hidden]), #final:not([hidden]), #reveal:not([hidden])"),
  ]
    .filter(shown)
    .map((e) => e.getBoundingClientRect());
  const used =
    side.reduce((sum, r) => sum + r.width * r.height, 0) +
    table.width * table.height +
    document.getElementById("bar").offsetWidth * document.getElementById("bar").offsetHeight;
  if (used < 0.93 * innerWidth * innerHeight)
    faults.push(`${Math.round(100 - (100 * used) / (innerWidth * innerHeight))} % of the screen are empty`);
  // the square that a question is about is to be seen
  const about = document.querySelector(".cursor-rim.light");
  if (about && document.querySelector("#sheet.question:not([hidden])")) {
    const r = about.getBoundingClientRect(),
      x = (r.left + r.right) / 2,
      y = (r.top + r.bottom) / 2,
      top = document.elementFromPoint(x, y);
    if (!top?.closest(".board"))
      faults.push(`the question's own square is under ${top?.closest("[id]")?.id ?? "the edge of the screen"}`);
  }
  return [...new Set(faults)];
};
