// La table en mots, en français.

export default {
  "spoken.aloud": "Lire à voix haute",
  "spoken.now": "Maintenant",
  "spoken.turn": "Tour {n}, {name}.",
  "spoken.laid": "Vient d’être posée : {tile}, {place}.",
  "spoken.next": "{name} pose la tuile suivante.",
  "spoken.player": {
    one: "{name} : {n} point, partisans en main : {hand}.",
    many: "{name} : {n} de points, partisans en main : {hand}.",
    other: "{name} : {n} points, partisans en main : {hand}.",
  },
  "spoken.nobody": "personne",
  "spoken.more": { one: "{n} autre", many: "{n} d’autres", other: "{n} autres" },
  "spoken.worth": {
    one: "{n} tuile, {now} maintenant, {then} une fois fini",
    many: "{n} de tuiles, {now} maintenant, {then} une fois fini",
    other: "{n} tuiles, {now} maintenant, {then} une fois fini",
  },
  "spoken.field": {
    one: "{n} ville terminée, {points} points",
    many: "{n} de villes terminées, {points} points",
    other: "{n} villes terminées, {points} points",
  },
  "spoken.open": { one: "{n} bout ouvert.", many: "{n} de bouts ouverts.", other: "{n} bouts ouverts." },
  "spoken.feature": "{whose} : {worth}. {open} {at}",
  "spoken.lay": "Poser une tuile ({name})",
  "spoken.which": "Quelle tuile a été piochée ?",
  "spoken.choose": "Choisir une tuile",
  "spoken.kind": { one: "{name}, reste {n}", many: "{name}, reste {n}", other: "{name}, reste {n}" },
  "spoken.place": "{place}. Elle montre alors : {name}",
  "spoken.claim": "Une figurine sur la tuile qui vient d’être posée ({name})",
  "spoken.stands": "elle y est",
  "spoken.others": "Autres coups",
  "spoken.last": "Décomptes récents",
};
