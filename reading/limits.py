"""Every threshold of this package in one record: weights are in nats, times in seconds, lengths in tiles."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Thresholds of the game reader. "measured" means on the looks of the real game and the generated games of
    tests/reading; "chosen" that any value near it did as well there.
    """

    # belief: looks at one scene are not independent
    new_look_s: float = 2.0  # time constant: a look this long after the last one counts 63 % of a first one (chosen)
    alike: float = 0.5  # correlation of two looks' errors: many looks weigh at most twice one (measured)
    alike_covered: float = 0.7  # the same with a figure on the tile, which occludes the same part in each
    seen_least: float = 0.35  # visible part of a square below which a look says nothing of it
    floor: float = 14.0  # most evidence of one look against a reading (heavy tails)
    left_out: float = -2.5  # log-odds of a tile on a square that a look at the whole board does not report
    turned: float = 4.0  # evidence of a look against the belief from which the tile may be another one now
    under_piece: float = 0.3  # share of the looks under a neutral piece that counts, if others saw the tile (chosen)
    changes: float = 1.8  # weight of looks (two, some seconds apart) after which a change is believed
    laid_stays: float = 2.0  # the same for a tile being gone: laid tiles do not leave unnoticed
    # belief: the set's print
    misprinted: float = 0.05  # share of kinds whose print looks take for a given other one (SenseLimits.mistaken)
    all_printed: float = 0.8  # share of misread tiles that are misread because of their kind's print (chosen)
    misprint_least: float = 0.02  # probability below which a misprint is not considered
    # belief: figures
    same_foot: float = 0.45  # tiles within which a figure of the same paint is the same figure
    moved_foot: float = 0.22  # and beyond which it has been moved
    other_paint: float = -3.5  # log-likelihood of equal paints below which it is another figure
    clear_figure: float = 3.0  # mean log-odds of a figure's looks from which one of at most 0 shows what it stood on,
    # and that of a single look from which it is reported without waiting (chosen)
    faint_figure: float = 1.5  # mean log-odds of looks below which a clear figure beside it is another one (chosen)
    gone: float = 1.8  # weight of looks that missed a figure after which it is gone
    joined: float = 0.5  # tiles between its foot and a neutral piece's within which both may look like one: half of
    # each (chosen)
    flicker: float = 4.0  # log-odds that a figure loses, times the share of looks that missed it in between
    # histories
    width: int = 12  # histories kept
    narrow: int = 4  # least number kept of those that explain equally many logged turns
    worked_out: int = 48  # turns that a search computes in all histories: far-reaching windows keep fewer
    behind: float = 7.0  # nats behind the likeliest at which a history is pruned: 1 in 1,100 (measured: as 9)
    settled_behind: float = 12.0  # the same while turns taken as logged are to come: what the rules say against them is
    # not counted yet (chosen)
    hardly: float = 0.1  # nats by which a look may change a square's evidence before it is weighed again
    clearly: float = 6.0  # nats of a rejected reading or of a tile's presence beyond which more makes no difference
    same_spot: float = 0.005  # tiles by which it may move a figure's foot
    readings: int = 5  # readings of a square that are tried
    worth_trying: float = 9.0  # nats below a square's best reading up to which another one is tried
    open_turns: int = 3  # newest turns that new looks may still reorder
    overtakes: int = 5  # logged turns that another one may have preceded
    late_turns: int = 6  # how many turns back a tile that is found only now may have been laid
    unallowed: float = 5.0  # nats, usually or at most, against what the rules do not allow: people break them seldom
    logged: float = 1.0  # bonus for what is in the log already: it is not changed for less (hysteresis)
    order: float = 6.0  # against an order that looks at bare and covered squares contradict
    found_late: float = 2.5  # against a tile having been found later than one that was laid after it
    covered: float = 0.5  # the same if its square was occluded when the other one was found
    paced: int = 5  # turns needed to know how long turns take at a table
    seldom_short: float = 2.0  # exponent: the share of turns shorter than x usual ones is x to this power
    hasty: float = 0.01  # least duration of a turn that is distinguished, in usual turns
    skipped: float = 3.5  # against a turn that nobody saw
    false_figure: float = 0.5  # against a false detection of a figure, besides its own log-odds
    comes_or_goes: float = 1.5  # against print that appears or disappears
    taken_back: float = 4.5  # against a figure put down and taken up in the same turn
    held: float = 3.0  # against a piece held over an older tile so that looks see a figure there (chosen)
    too_late: float = 2.5  # against a figure put on a tile that a look has seen without it after the next one (chosen)
    vanished: float = 3.0  # against a figure that the rules keep on the board and that is not there
    lingers: float = 1.0  # against a figure that the rules sent home and that is still there
    # A piece that stands only beside a follower of its player's is put down in two of three turns in which the rules
    # allow it, a follower in three of four (recorded games: 129 of 196, 776 of 1040): nothing is against it there
    seldom_piece: float = 1.1  # against a follower of which a player has only one (recorded games: a third as often)
    farmer: float = 0.7  # against a farmer: 3 of 17 figures of the real game, though fields are half of all places
    # policy
    sure: float = 4.0  # margin from which an event is reported without waiting
    agreed: float = 1.8  # margin from which it needs no question once the next turn agrees
    settles: float = 3.0  # margin from which a later look withdraws a question
    patience_turns: int = 2  # later tiles after which further looks will hardly help: then people are asked
    amend: float = 2.0  # margin from which something in the log is amended
    ask_after_s: float = 20.0  # stillness after which people are asked although no tile follows
    newest_gaps: int = 30  # times without frames that are remembered
    notice_s: float = 4.0  # how long something must differ from the game before there is a notice (debounce)
    late_home_turns: int = 1  # turns after which there is a notice of a scored figure that still stands
    began_before: int = 9  # unknown tiles at the first look from which the game began before the camera watched
    start_apart: float = 1.0  # nats by which a tile looks more like the start tile than any other one (chosen)
    board_known: float = 0.5  # share of the known tiles that must agree for a look to be of this board


LIMITS = Limits()
