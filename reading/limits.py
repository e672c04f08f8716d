"""Every threshold of this room in one record: weights are natural logarithms (nats), times seconds, lengths tiles."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the reader of games goes by. "measured" means on the looks of the real game and the generated games of
    tests/reading; "chosen" that any value near it did as well there.
    """

    # belief: looks at one scene are not independent
    new_look_s: float = 2.0  # a look this long after the last one says 63 % of what a first one says (chosen)
    alike: float = 0.5  # correlation of two looks' errors: many looks weigh at most twice one (measured)
    alike_covered: float = 0.7  # of two looks at a tile with a figure on it, which hides the same part in each
    seen_least: float = 0.35  # part of a square below which a look says nothing of it
    floor: float = 14.0  # a look never speaks more strongly than this against a reading (heavy tails)
    left_out: float = -2.5  # log-odds of a tile on a square that a look at the whole board leaves out
    turned: float = 4.0  # by which a look must contradict what is believed for a tile to be something else now
    changes: float = 1.8  # weight of looks (two, some seconds apart) that make a change believed
    laid_stays: float = 2.0  # and that make it believed that a tile is gone: laid tiles do not leave silently
    # belief: figures
    same_foot: float = 0.45  # tiles within which a figure of the same paint is the same figure
    moved_foot: float = 0.22  # and beyond which it has been moved
    other_paint: float = -3.5  # log-likelihood of two looks' paints being one below which it is another figure
    gone: float = 1.8  # weight of looks without it that make a figure gone
    flicker: float = 4.0  # log-odds lost for a figure, times the part of the looks between that missed it
    # histories
    width: int = 12  # histories kept
    narrow: int = 4  # and at least, of those that come as far in what was told
    worked_out: int = 48  # turns of histories that a search works out: windows that go back far keep fewer
    behind: float = 12.0  # nats behind the likeliest at which a history is given up: 6 in a million
    hardly: float = 0.1  # nats by which a look may change what is seen of a tile before it is weighed again
    clearly: float = 6.0  # nats by which a reading is behind, or a tile is surely there: more changes nothing
    same_spot: float = 0.005  # and tiles by which it may move a figure's foot
    readings: int = 5  # of a square that are tried
    worth_trying: float = 9.0  # nats below a square's best reading up to which another one is tried
    open_turns: int = 3  # the newest turns that new looks may still re-order
    overtakes: int = 5  # told turns before which another one may have been
    late_turns: int = 6  # how far back a tile may have been laid that is found only now
    logged: float = 1.0  # for what has been told already: it is not changed for less
    order: float = 6.0  # against an order that looks at bare and covered squares contradict
    found_late: float = 2.5  # against a tile having been found later than one that was laid after it
    covered: float = 0.5  # the same where the first one's square was covered as the other was found
    paced: int = 5  # turns that tell how long turns take at a table
    seldom_short: float = 2.0  # power with which the share of turns grows that are shorter than a part of the usual one
    hasty: float = 0.01  # of a usual turn: shorter ones are not told apart
    skipped: float = 3.5  # against a turn that nobody saw
    false_figure: float = 0.5  # against a figure that is none, beside its own log-odds
    comes_or_goes: float = 1.5  # and against print that was not there before, or is not there any more
    taken_back: float = 4.5  # against a figure put down and taken up in the same turn
    vanished: float = 3.0  # against a figure that the rules keep on the board and that is not there
    lingers: float = 1.0  # against a figure that the rules sent home and that is still there
    seldom_piece: float = 1.1  # against a piece of which a player has one only (recorded games: a third as often)
    farmer: float = 0.7  # against a farmer: 3 of 17 figures of the real game, though fields are half of all places
    # policy
    sure: float = 4.0  # margin from which an event is told without waiting
    agreed: float = 1.8  # and from which it needs no question once the next turn agrees
    settles: float = 3.0  # and from which a later look withdraws a question
    maybe: float = 1.2  # margin of nobody below which it is asked whether a figure stands there
    patience_turns: int = 2  # later tiles after which looks will hardly tell more: then it is asked
    amend: float = 2.0  # margin from which something told already is amended
    ask_after_s: float = 20.0  # of stillness after which a doubt is asked though no tile follows
    notice_s: float = 4.0  # how long something must be otherwise than the game says before it is noticed
    late_home_turns: int = 1  # turns after which a scored figure that still stands is noticed
    began_before: int = 9  # unknown tiles at the first look from which the game began without us
    board_known: float = 0.5  # part of the known tiles that must agree for a look to be at this board


LIMITS = Limits()
