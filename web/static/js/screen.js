// How this device shows the table: light or dark, and from which side of the table the board is seen.

const THEME = "bastide_theme",
  TURN = "bastide.turn",
  YEAR_S = 31_536_000;
export const THEMES = ["", "light", "dark"]; // empty: like the device

// The server reads it too, so that the page begins in the right theme.
export const keep = (name, value) => {
  document.cookie = `${name}=${value}; path=/; max-age=${value ? YEAR_S : 0}; SameSite=Lax`;
};

export const theme = () => document.documentElement.dataset.theme ?? "";

export function dress(name) {
  if (name) document.documentElement.dataset.theme = name;
  else delete document.documentElement.dataset.theme;
  keep(THEME, name);
}

// Quarter turns clockwise, from 0 to 3; the URL may set them for a screen without input.
export function turned() {
  const asked = new URLSearchParams(location.search).get("turn");
  try {
    return (Number(asked ?? localStorage.getItem(TURN)) || 0) & 3;
  } catch {
    return (Number(asked) || 0) & 3;
  }
}

export function remember(turn) {
  try {
    localStorage.setItem(TURN, String(turn));
  } catch {
    // kept while the page is open
  }
}
