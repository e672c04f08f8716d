// What the server makes of the expansions (web/boxes.py) and serves as boxes.js.

type Outline = { path?: string; scale?: number; upright?: boolean; company: boolean };
type Stroke = { d: string; fill: string; stroke?: string; width?: number };
type Sign = { parts?: Stroke[]; like?: string; at?: number[]; scale?: number; room?: number; ground?: boolean };

export const FIGURES: Record<string, Outline>;
export const SIGNS: Record<string, Sign>;
export const ICONS: Record<string, string>;
export const LAND: Record<string, { rim: string; fill: string; line: string }>;
export const FIELDS: Record<string, string>;
export const CLAIMABLE: string[];
export const AFTER_TILE: string[];
