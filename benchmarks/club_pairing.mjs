// A pairing program's side of benchmarks/club.py evening: reads the hub's rounds.json and the players, prints the next
// round as CSV. It uses the npm package tournament-pairings (MIT); NODE_PATH says where that is installed.
//   node club_pairing.mjs ROUND PLAYER,PLAYER,... < rounds.json
import { createRequire } from "node:module";
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const require = createRequire(`${process.env.NODE_PATH}/`);
const { Swiss } = await import(pathToFileURL(require.resolve("tournament-pairings")).href);
const round = Number(process.argv[2]),
  names = process.argv[3].split(",");
const { rounds } = JSON.parse(readFileSync(0, "utf-8"));
const players = names.map((id) => ({ id, score: 0, avoid: [], receivedBye: false }));
const find = (name) => players.find((p) => p.id === name);
for (const game of rounds) {
  for (const n of game.winners) find(game.players[n]).score += 1 / game.winners.length;
  if (game.bye) find(game.players[0]).receivedBye = true;
  else for (const [n, name] of game.players.entries()) find(name).avoid.push(...game.players.filter((_, k) => k !== n));
}
let table = 0;
console.log("round,table,player1,player2");
for (const { player1, player2 } of Swiss(players, round)) {
  if (player2 !== null) table += 1;
  console.log(player2 === null ? `${round},,${player1},` : `${round},${table},${player1},${player2}`);
}
