// The table in words, in English.

export default {
  "spoken.aloud": "Read it aloud",
  "spoken.now": "Now",
  "spoken.turn": "Turn {n}, {name}.",
  "spoken.laid": "Just laid: {tile}, {place}.",
  "spoken.next": "{name} lays the next tile.",
  "spoken.player": {
    one: "{name}: {n} point, followers in hand: {hand}.",
    other: "{name}: {n} points, followers in hand: {hand}.",
  },
  "spoken.nobody": "nobody",
  "spoken.more": { one: "{n} more", other: "{n} more" },
  "spoken.worth": {
    one: "{n} tile, {now} now, {then} when finished",
    other: "{n} tiles, {now} now, {then} when finished",
  },
  "spoken.field": { one: "{n} finished city, {points} points", other: "{n} finished cities, {points} points" },
  "spoken.open": { one: "{n} open end.", other: "{n} open ends." },
  "spoken.feature": "{whose}: {worth}. {open} {at}",
  "spoken.lay": "Lay a tile ({name})",
  "spoken.which": "Which tile was drawn?",
  "spoken.choose": "Choose a tile",
  "spoken.kind": { one: "{name}, {n} left", other: "{name}, {n} left" },
  "spoken.place": "{place}. It then shows: {name}",
  "spoken.claim": "A figure on the tile just laid ({name})",
  "spoken.stands": "it stands there",
  "spoken.others": "Other moves",
  "spoken.last": "Scored last",
};
