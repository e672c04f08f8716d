"""Rounds from a table, results back into one, and standings as the World Championship counts them."""

from __future__ import annotations

import pytest

from bastide.club.tournament import BadRounds, Game, buchholz, read_rounds, rounds_csv, standings, standings_csv

FOUR = """round,table,player1,player2,score1,score2
1,Table 1,Anna,Ben,80,60
1,Table 2,Cleo,Dirk,70,71
2,Table 1,Anna,Dirk,90,50
2,Table 2,Ben,Cleo,65,65
3,Table 1,Anna,Cleo,40,44
3,Table 2,Ben,Dirk,,
"""


def test_standings_by_hand():
    """Wins: Anna 2, Cleo 1.5, Dirk 1, Ben 0.5. Anna met Ben 0.5, Dirk 1, Cleo 1.5: without the weakest 2.5."""
    rows = {s.name: s for s in standings(read_rounds(FOUR))}
    assert [(s.rank, s.name, s.played, s.wins) for s in rows.values()] == \
        [(1, "Anna", 3, 2.0), (2, "Cleo", 3, 1.5), (3, "Dirk", 2, 1.0), (4, "Ben", 2, 0.5)]
    assert rows["Anna"].buchholz == 2.5 and rows["Cleo"].buchholz == 1.0 + 2.0
    assert rows["Dirk"].buchholz == 2.0 and rows["Ben"].buchholz == 2.0
    assert [rows[n].difference for n in ("Anna", "Cleo", "Dirk", "Ben")] == [20 + 40 - 4, -1 + 4, 1 - 40, -20]
    assert rows["Anna"].points == 210


def test_buchholz_leaves_out_the_weakest_once():
    assert buchholz([]) == 0 == buchholz([3]) and buchholz([1, 1, 2]) == 3


def test_ties_are_broken_by_buchholz_then_by_difference_and_else_share_a_rank():
    games = read_rounds("round;table;player1;player2;score1;score2\n1;1;A;B;10;5\n1;2;C;D;12;5\n1;3;E;F;10;5\n")
    assert [(s.rank, s.name) for s in standings(games)] == \
        [(1, "C"), (2, "A"), (2, "E"), (4, "B"), (4, "F"), (6, "D")]


def test_a_bye_is_a_win_without_an_opponent():
    games = read_rounds("round,table,player1,player2\n1,,Anna,\n")
    assert games[0].bye and games[0].winners == (0,)
    assert standings(games)[0][:6] == (1, "Anna", 1, 1.0, 0.0, 0)


def test_what_is_exported_can_be_read_again():
    games = read_rounds(FOUR)
    again = read_rounds(rounds_csv(games))
    assert again == games
    assert rounds_csv(games).splitlines()[0] == "round,table,player1,player2,score1,score2,winner,confirmed"
    assert standings_csv(standings(games)).splitlines()[1] == "1,Anna,3,2,2.5,56,210"


@pytest.mark.parametrize("text", ["\ufeff" + FOUR, FOUR.replace(",", ";"), FOUR.replace(",", "\t"),
                                  FOUR.replace("\n", "\r\n"), FOUR.replace("player1", "Player 1").upper()
                                  .replace("ANNA", "Anna").replace("TABLE 1", "Table 1")])
def test_tables_of_other_programs_are_read(text):
    assert len(read_rounds(text)) == 6


@pytest.mark.parametrize(("text", "said"), [
    ("", "empty"), ("round,table,player1\n", "player2"), ("round,table,player1,player2\n", "no game"),
    ("round,table,player1,player2\nx,1,A,B\n", "line 2: round"), ("round,table,player1,player2\n1,,A,B\n", "table is"),
    ("round,table,player1,player2\n1,1,A,A\n", "twice"),
    ("round,table,player1,player2\n1,1,A,B\n1,2,A,C\n", "A plays twice"),
    ("round,table,player1,player2\n1,1,A,B\n1,1,C,D\n", "two games"),
    ("round,table,player1,player2,score1,score2\n1,1,A,B,4,\n", "line 2: the scores"),
    (f"round,table,player1,player2\n1,1,{'A' * 41},B\n", "40 letters"),
    ("round,table,player1,player2\n1,1,,B\n", "player1")])
def test_a_wrong_table_is_refused_with_the_line(text, said):
    with pytest.raises(BadRounds, match=said):
        read_rounds(text)


def test_a_name_is_no_formula():
    game = Game(round=1, table="1", players=("=cmd()", "B"))
    assert "'=cmd()" in rounds_csv([game])
