export default {
  // the hub
  "hub.title": "All tables", "hub.tab.tables": "Tables", "hub.tab.evening": "Evening", "hub.tab.rounds": "Tournament", "hub.tab.wall": "Wall",
  "hub.tables": { one: "{n} table", other: "{n} tables" }, "hub.none": "No table has been heard yet.",
  "hub.none.note": "Each table is started with --mqtt and this broker.", "hub.gone": "This table is not heard any more.", "hub.back": "All tables",
  "hub.broker": "The broker does not answer: shown is what was heard last", "hub.board": { one: "Board of {n} tile", other: "Board of {n} tiles" },
  "hub.heard": { one: "heard {n} s ago", other: "heard {n} s ago" }, "hub.heard.minutes": { one: "heard {n} minute ago", other: "heard {n} minutes ago" },
  "hub.unheard": "not heard since the hub began", "hub.away": "switched off",
  "hub.turn": "turn {n}", "hub.waiting": "about to begin", "hub.over": "game over", "hub.confirmed": "result confirmed", "hub.unconfirmed": "not confirmed yet",
  "hub.evening": "Games of this evening", "hub.evening.none": "No game has ended yet.", "hub.minutes": { one: "{n} minute", other: "{n} min" },
  "hub.standings": "Standings", "hub.column.rank": "Place", "hub.column.name": "Player", "hub.column.played": "Played", "hub.column.wins": "Wins",
  "hub.column.buchholz": "Buchholz", "hub.column.difference": "Difference",
  "hub.round": "Round {n}", "hub.round.waiting": "not begun", "hub.round.ended": "ended", "hub.running": { one: "{n} game goes on", other: "{n} games go on" },
  "hub.begin": "Begin", "hub.begin.sure": "Begin round {n}? Every table of it starts a new game without aids.",
  "hub.end": "End", "hub.end.sure": { one: "{n} game has no result yet. End the round all the same?", other: "{n} games have no result yet. End the round all the same?" },
  "hub.bye": "bye", "hub.open": "no result yet",
  "hub.load": "Take rounds from a pairing program", "hub.load.note": "A table (CSV) whose first line is round,table,player1,player2. Whoever is named first begins. Tables are called as in the hub, or by their number.",
  "hub.csv": "Rounds as a table", "hub.file": "File with the rounds", "hub.clock": "Minutes for each player (0: no clock)", "hub.take": "Take these rounds",
  // a round at the table
  "round.title": "Round {n}", "round.press": "Next clock", "round.start": "Start the clock", "round.stop": "Stop the clock",
  "round.press.note": "Press when you have counted: the next player's time begins.", "round.slip": "Result of round {n}",
  "round.slip.note": "Each player confirms the result. A correction asks again.", "round.agree": "{name}: {points} is right", "round.agreed": "{name} has confirmed",
  "round.done": "Both agree. The organiser has the result.", "round.time": "{name}: {time} left",
};
