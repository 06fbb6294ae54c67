"""The weights of a scripted player, each with what it counts; in tenths of a point where it says nothing else."""

from __future__ import annotations

# hands of so many cards are told apart; with more each counts as the last step
LONGEST_HAND = 8
_STATUSES = {
    "morto": "where emptying the hand brings a morto",
    "close": "where emptying the hand is going out",
    "stuck": "where the hand may not be emptied yet",
}
WEIGHTS: tuple[tuple[str, str], ...] = (
    ("points", "a point of cards laid, in tenths"),
    ("bonus", "a point of canasta bonus won, in tenths"),
    ("first_canasta", "the first canasta that allows going out"),
    *((f"clean_{n}", f"a meld of {n} on the table without a wild") for n in range(3, 7)),
    *((f"dirty_{n}", f"a meld of {n} on the table with a wild") for n in range(3, 7)),
    *(
        (f"{status}_{n}", f"a hand of {n} when the turn ends, {meaning}")
        for status, meaning in _STATUSES.items()
        for n in range(LONGEST_HAND + 1)
    ),
    ("joker", "a joker kept in hand"),
    ("two", "a two kept in hand"),
    ("natural_two", "a two laid where it is natural, against it"),
    (
        "urgent",
        "more for points, half of it less for wilds kept, in percent, for each step of danger that the deal ends",
    ),
    ("help", "the same for each step of danger that the partner goes out"),
    ("wait", "a card laid while the partner holds two or fewer and the team's morto is to come, against it"),
    ("meld_from", "a meld is laid if it is worth more than this"),
    ("out", "going out, beside its bonus"),
    ("out_theirs", "each card in the other team's hands when going out"),
    ("out_ours", "each card in the partner's hand when going out, against it"),
    ("out_ahead", "each point that our table is ahead when going out, in hundredths of a point"),
    ("out_stock", "each card left in the stock when going out, against it"),
    ("take", "taking the pile"),
    ("take_card", "each card of the pile"),
    ("take_melds", "in percent, what can be laid with the pile and not without"),
    ("take_danger", "each card that stays in hand after that, for each step of danger, against it"),
    ("draw_lays", "in percent, how likely a drawn card is thought to be laid"),
    ("shed", "a point of a card discarded, in tenths"),
    ("shed_danger", "the same for each step of danger"),
    ("shed_wild", "discarding a wild, against it, beside its points and its worth in hand; nothing else counts then"),
    ("feed", "discarding a card that the other table could take, against it"),
    ("feed_gain", "in percent, what the card would be worth on the other table, against it"),
    ("feed_danger", "discarding such a card, for each step of danger, against it"),
    ("feed_pile", "discarding such a card, for each card below it in the pile, against it"),
    ("feed_known", "for each card known in the next hand that could meld with it, against it"),
    ("feed_unseen", "for each unseen card that could meld with it, against it"),
    ("feed_buried", "for each card of the pile that could meld with it, where buried cards justify taking, against it"),
    ("feed_open", "where the pile alone holds two of its rank, against it, for each card that the pile then has"),
    ("feed_dropped", "for each card of its rank that the next seat has discarded"),
    ("fits_ours", "discarding a card that our table could take, against it"),
    ("ours_gain", "in percent, what the card would be worth on our table, against it"),
    ("near", "each card in hand that could meld with the card discarded, against it"),
    ("pair", "discarding one of two alike, against it"),
)
_AT = {name: index for index, (name, _) in enumerate(WEIGHTS)}
CLEAN, DIRTY, MORTO, CLOSE, STUCK = (_AT[name] for name in ("clean_3", "dirty_3", "morto_0", "close_0", "stuck_0"))
(POINTS, BONUS, FIRST_CANASTA, JOKER, TWO, NATURAL_TWO, URGENT, HELP, WAIT, MELD_FROM, OUT,
 OUT_THEIRS, OUT_OURS, OUT_AHEAD,
 OUT_STOCK, TAKE, TAKE_CARD, TAKE_MELDS, TAKE_DANGER, DRAW_LAYS, SHED, SHED_DANGER, SHED_WILD,
 FEED, FEED_GAIN, FEED_DANGER, FEED_PILE, FEED_KNOWN, FEED_UNSEEN, FEED_BURIED, FEED_OPEN,
 FEED_DROPPED, FITS_OURS, OURS_GAIN, NEAR, PAIR) = (
    _AT[name] for name, _ in WEIGHTS if not name[-1].isdigit()
)  # fmt: skip
NUM_WEIGHTS = len(WEIGHTS)
