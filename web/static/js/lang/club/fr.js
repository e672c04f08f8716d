export default {
  // le centre
  "hub.title": "Toutes les tables", "hub.tab.tables": "Les tables", "hub.tab.evening": "Soirée", "hub.tab.rounds": "Tournoi", "hub.tab.wall": "Écran mural",
  "hub.tables": { one: "une table", many: "{n} tables en tout", other: "{n} tables en tout" }, "hub.none": "Aucune table ne s'est encore annoncée.",
  "hub.none.note": "Chaque table est lancée avec --mqtt et ce broker.", "hub.gone": "Cette table ne s'annonce plus.", "hub.back": "Toutes les tables",
  "hub.broker": "Le broker ne répond pas : voici le dernier état connu", "hub.board": { one: "Plateau de {n} tuile", many: "Plateau de {n} tuiles", other: "Plateau de {n} tuiles" },
  "hub.heard": { one: "entendue il y a {n} s", many: "entendue il y a {n} s", other: "entendue il y a {n} s" }, "hub.heard.minutes": { one: "entendue il y a {n} minute", many: "entendue il y a {n} minutes", other: "entendue il y a {n} minutes" },
  "hub.unheard": "pas entendue depuis le démarrage du centre", "hub.away": "éteinte",
  "hub.turn": "tour {n}", "hub.waiting": "va commencer", "hub.over": "partie terminée", "hub.confirmed": "résultat confirmé", "hub.unconfirmed": "pas encore confirmé",
  "hub.evening": "Parties de la soirée", "hub.evening.none": "Aucune partie n'est terminée.", "hub.minutes": { one: "{n} minute de jeu", many: "{n} min de jeu", other: "{n} min de jeu" },
  "hub.standings": "Classement", "hub.column.rank": "Rang", "hub.column.name": "Nom", "hub.column.played": "Jouées", "hub.column.wins": "Victoires",
  "hub.column.buchholz": "Buchholz", "hub.column.difference": "Écart",
  "hub.round": "Ronde {n}", "hub.round.waiting": "pas commencée", "hub.round.ended": "terminée", "hub.running": { one: "{n} partie en cours", many: "{n} parties en cours", other: "{n} parties en cours" },
  "hub.begin": "Commencer", "hub.begin.sure": "Commencer la ronde {n} ? Chacune de ses tables commence une nouvelle partie sans aides.",
  "hub.end": "Terminer", "hub.end.sure": { one: "{n} partie n'a pas encore de résultat. Terminer la ronde quand même ?", many: "{n} parties n'ont pas encore de résultat. Terminer la ronde quand même ?", other: "{n} parties n'ont pas encore de résultat. Terminer la ronde quand même ?" },
  "hub.bye": "exempt", "hub.open": "pas encore de résultat",
  "hub.load": "Reprendre les rondes d'un programme d'appariement", "hub.load.note": "Un tableau (CSV) dont la première ligne est round,table,player1,player2. Le premier nommé commence. Les tables s'appellent comme ici, ou par leur numéro.",
  "hub.csv": "Les rondes en tableau", "hub.file": "Fichier des rondes", "hub.clock": "Minutes par joueur (0 : sans pendule)", "hub.take": "Reprendre ces rondes",
  // une ronde à la table
  "round.title": "Ronde {n}", "round.press": "Passer la pendule", "round.start": "Lancer la pendule", "round.stop": "Arrêter la pendule",
  "round.press.note": "Appuyez après avoir compté : le temps du joueur suivant commence.", "round.slip": "Résultat de la ronde {n}",
  "round.slip.note": "Chaque joueur confirme le résultat. Une correction le redemande.", "round.agree": "{name} : {points}, c'est juste", "round.agreed": "{name} a confirmé",
  "round.done": "Tous sont d'accord. L'organisateur a le résultat.", "round.time": "{name} : reste {time}",
};
