export default {
  // die Zentrale
  "hub.title": "Alle Tische", "hub.tab.tables": "Tische", "hub.tab.evening": "Abend", "hub.tab.rounds": "Turnier", "hub.tab.wall": "Leinwand",
  "hub.tables": { one: "{n} Tisch", other: "{n} Tische" }, "hub.none": "Noch kein Tisch hat sich gemeldet.",
  "hub.none.note": "Jeder Tisch wird mit --mqtt und diesem Broker gestartet.", "hub.gone": "Dieser Tisch meldet sich nicht mehr.", "hub.back": "Alle Tische",
  "hub.broker": "Der Broker antwortet nicht: zu sehen ist der letzte Stand", "hub.board": { one: "Spielfeld mit {n} Plättchen", other: "Spielfeld mit {n} Plättchen" },
  "hub.heard": { one: "vor {n} s gemeldet", other: "vor {n} s gemeldet" }, "hub.heard.minutes": { one: "vor {n} Minute gemeldet", other: "vor {n} Minuten gemeldet" },
  "hub.unheard": "seit dem Start der Zentrale nicht gemeldet", "hub.away": "ausgeschaltet",
  "hub.turn": "Zug {n}", "hub.waiting": "beginnt gleich", "hub.over": "Spiel zu Ende", "hub.confirmed": "Ergebnis bestätigt", "hub.unconfirmed": "noch nicht bestätigt",
  "hub.evening": "Spiele dieses Abends", "hub.evening.none": "Noch kein Spiel ist zu Ende.", "hub.minutes": { one: "{n} Minute", other: "{n} Min." },
  "hub.standings": "Tabelle", "hub.column.rank": "Platz", "hub.column.name": "Name", "hub.column.played": "Spiele", "hub.column.wins": "Siege",
  "hub.column.buchholz": "Buchholz", "hub.column.difference": "Differenz",
  "hub.round": "Runde {n}", "hub.round.waiting": "nicht begonnen", "hub.round.ended": "beendet", "hub.running": { one: "{n} Spiel läuft", other: "{n} Spiele laufen" },
  "hub.begin": "Beginnen", "hub.begin.sure": "Runde {n} beginnen? Jeder ihrer Tische beginnt ein neues Spiel ohne Hilfen.",
  "hub.end": "Beenden", "hub.end.sure": { one: "{n} Spiel hat noch kein Ergebnis. Die Runde trotzdem beenden?", other: "{n} Spiele haben noch kein Ergebnis. Die Runde trotzdem beenden?" },
  "hub.bye": "spielfrei", "hub.open": "noch kein Ergebnis",
  "hub.load": "Runden aus einem Auslosungsprogramm übernehmen", "hub.load.note": "Eine Tabelle (CSV) mit der ersten Zeile round,table,player1,player2. Wer zuerst genannt ist, beginnt. Tische heißen wie hier, oder nur ihre Nummer.",
  "hub.csv": "Runden als Tabelle", "hub.file": "Datei mit den Runden", "hub.clock": "Minuten je Spieler (0: ohne Uhr)", "hub.take": "Diese Runden übernehmen",
  // eine Runde am Tisch
  "round.title": "Runde {n}", "round.press": "Uhr weitergeben", "round.start": "Uhr starten", "round.stop": "Uhr anhalten",
  "round.press.note": "Nach dem Werten drücken: dann läuft die Zeit des Nächsten.", "round.slip": "Ergebnis der Runde {n}",
  "round.slip.note": "Jeder bestätigt das Ergebnis. Nach einer Korrektur wird neu gefragt.", "round.agree": "{name}: {points} stimmt", "round.agreed": "{name} hat bestätigt",
  "round.done": "Alle sind einverstanden. Die Turnierleitung hat das Ergebnis.", "round.time": "{name}: noch {time}",
};
