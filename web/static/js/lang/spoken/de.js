// Der Tisch in Worten, auf Deutsch.

export default {
  "spoken.aloud": "Vorlesen",
  "spoken.now": "Jetzt",
  "spoken.turn": "Zug {n}, {name}.",
  "spoken.laid": "Gerade gelegt: {tile}, {place}.",
  "spoken.next": "{name} legt das nächste Plättchen.",
  "spoken.player": {
    one: "{name}: {n} Punkt, Gefolgsleute in der Hand: {hand}.",
    other: "{name}: {n} Punkte, Gefolgsleute in der Hand: {hand}.",
  },
  "spoken.nobody": "niemand",
  "spoken.more": { one: "{n} weiteres", other: "{n} weitere" },
  "spoken.worth": {
    one: "{n} Plättchen, jetzt {now}, fertig {then}",
    other: "{n} Plättchen, jetzt {now}, fertig {then}",
  },
  "spoken.field": { one: "{n} fertige Stadt, {points} Punkte", other: "{n} fertige Städte, {points} Punkte" },
  "spoken.open": { one: "{n} offenes Ende.", other: "{n} offene Enden." },
  "spoken.feature": "{whose}: {worth}. {open} {at}",
  "spoken.lay": "Ein Plättchen legen ({name})",
  "spoken.which": "Welches Plättchen wurde gezogen?",
  "spoken.choose": "Plättchen wählen",
  "spoken.kind": { one: "{name}, noch {n}", other: "{name}, noch {n}" },
  "spoken.place": "{place}. Es zeigt dann: {name}",
  "spoken.claim": "Eine Figur auf das gerade gelegte Plättchen ({name})",
  "spoken.stands": "sie steht dort",
  "spoken.others": "Andere Züge",
  "spoken.last": "Zuletzt gewertet",
};
