// What the server makes of the expansions (web/boxes.py) and serves as boxes.js.

import type { Figure, Land, Sign } from "./views";

export const FIGURES: Record<string, Figure>;
export const SIGNS: Record<string, Sign>;
export const ICONS: Record<string, string>;
export const LAND: Record<string, Land>;
export const FIELDS: Record<string, string>;
export const CLAIMABLE: string[];
export const AROUND: string[]; // kinds of features that count the tiles around them
export const AFTER_TILE: string[];
export const OWN_TURN: string[]; // events that may happen at any moment of the turn of their player
