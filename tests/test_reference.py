"""The reference engine against `rules.md`: one position, one claim; then both of its opinions on random positions."""

import json
import random
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from tests import reference as ref
from tests.reference import PRESETS, RANKS, Run, Set_, State, card_at, legal, meld_value, play, scores
from tests.reference_layouts import end_of_turn_outcomes, random_position, reachable_outcomes

VECTORS = Path(__file__).parent.parent.parent / "shared" / "meld_vectors.json"
FIXED, SLIDES, RESOLVES = "classic", "fechado_sujo", "online"


def meld(text: str) -> Run | Set_:
    """ "4H 5H 2S* 7H" as a run, "KH KS JK*" as a set."""
    cards = text.split()
    naturals = [card for card in cards if card[-1] != "*"]
    wild = next((card[:-1] for card in cards if card[-1] == "*"), None)
    if len({card[0] for card in naturals}) == 1:
        return Set_(naturals[0][0], tuple(naturals), wild)
    suit, first = naturals[0][1], next(i for i, card in enumerate(cards) if card[-1] != "*")
    for low in (1, *range(2, 13)):
        run = Run(suit, low, low + len(cards) - 1, wild, low + cards.index(wild + "*") if wild else 0)
        if card_at(suit, low + first) == naturals[0] and run.all_cards() == [card.strip("*") for card in cards]:
            return run
    raise ValueError(text)


def position(preset: str, hand: str, *melds: str, pile: str = "", mortos: int = 2, taken=(0, 0), **fields) -> State:
    """Seat 0 to act in phase meld, with these melds of its team on the table; field names of rules are overrides."""
    overrides = {name: fields.pop(name) for name in list(fields) if name in PRESETS[preset]}
    rules = PRESETS[preset] | overrides
    seats = rules["num_seats"]
    hands = [hand.split(), *[["9C", "9D"] for _ in range(seats - 1)]]
    runs, sets = ref.no_runs(), ref.no_sets()
    for one in map(meld, melds):
        (runs[0][one.suit] if isinstance(one, Run) else sets[0][one.rank]).append(one)
    stock = [rank + "D" for rank in RANKS]
    left = [["8D", "TD", "QD"] for _ in range(mortos)]
    fields = {"phase": "meld", "opened": [bool(melds), False], **fields}
    return State(rules, hands, runs, sets, pile.split(), stock, left, list(taken), [False] * seats, **fields)


def closing(preset: str, hand: str, *melds: str, **fields) -> State:
    """The same where the team can take no more mortos."""
    return position(preset, hand, *melds, **{"mortos": 1, "taken": (1, 0), **fields})


def drawing(preset: str, hand: str, *melds: str, **fields) -> State:
    return position(preset, hand, *melds, phase="draw", **fields)


def table(state: State) -> list[str]:
    return [str(one) for one in ref.melds_of(state, 0)]


def after(state: State, *actions: tuple) -> State:
    """The state after these actions, each of which must be legal."""
    for action in actions:
        assert action in legal(state), (action, sorted(legal(state), key=repr))
        state = play(state, action)
    return state


# ---------------------------------------------------------------- melds (sections 2, 3)


def vector_rows() -> list:
    if not VECTORS.exists():
        return []
    return [
        (row["cards"], preset, value)
        for row in json.loads(VECTORS.read_text())
        for preset, value in row["expected"].items()
    ]


@pytest.mark.skipif(not VECTORS.exists(), reason="the shared vectors are not here")
@pytest.mark.parametrize(("cards", "preset", "value"), vector_rows())
def test_meld_vector(cards, preset, value):
    assert meld_value(cards.split(), PRESETS[preset]) == value


@pytest.mark.parametrize(
    ("preset", "cards", "lies"),
    [
        ("online", "3H 4H 2H 6H", "3H 4H 2H* 6H"),
        ("online", "3C 2H 2C 5C 6C", "2C 3C 2H* 5C 6C"),
        ("online", "AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH", "2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH AH"),
        (
            "online",
            "AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH JK",
            "AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH JK*",
        ),
        ("online", "AH JK 3H 4H 5H 6H 7H 8H 9H TH JH QH KH", "AH JK* 3H 4H 5H 6H 7H 8H 9H TH JH QH KH"),
        ("online", "QH KH JK", "QH KH JK*"),
        ("online", "KH AH 2S", "2S* KH AH"),
        ("online", "AH 2H JK", "AH 2H JK*"),
        ("fechado_sujo", "2H 3H 4H 5H", "2H 3H 4H 5H"),
    ],
)
def test_table_order_where_wilds_move(preset, cards, lies):
    assert ref.canonical(meld(lies).suit, cards.split(), PRESETS[preset]) == meld(lies)


@pytest.mark.parametrize("preset", PRESETS)
def test_a_layout_is_a_function_of_the_cards(preset):
    """No tie is left to the order in which placements are found."""
    rng = random.Random(preset)
    for _ in range(300):
        low = rng.randint(1, 12)
        cards = [card_at("H", p) for p in range(low, min(low + rng.randint(2, 13), 14) + 1)]
        cards[rng.randrange(len(cards))] = rng.choice(["2H", "2S", "JK"])
        found = {ref.canonical("H", cards, PRESETS[preset]) for _ in range(3) if not rng.shuffle(cards)}
        assert len(found) == 1


@pytest.mark.parametrize(
    ("cards", "bonus"),
    [
        ("3H 4H 5H 6H 7H 8H 9H JK JH", 150),
        ("3H 4H 5H 6H 7H JK 9H TH", 100),
        ("KC KC KD KD KH KH KS JK", 150),
        ("KC KC KD KD KH KH KS KS JK", 100),
        ("KC KC KD KD KH KH JK", 100),
    ],
)
def test_semi_clean(cards, bonus):
    assert meld_value(cards.split(), PRESETS["burraco"])["bonus"] == bonus


# ---------------------------------------------------------------- details that engines get wrong (section 7)


def test_1_search_placements_before_refusing():
    assert meld_value(["2S", "3H", "4H", "5H"], PRESETS["classic"]) == {"clean": False, "bonus": 0, "points": 35}
    state = after(position("classic", "2S 3H 4H 5H KC KD"), ("meld run", "H", 3, 5, 0, None))
    assert ("lay wild", "H", 0, "high", "2S") in legal(state)
    assert ("lay wild", "H", 0, "low", "2S") not in legal(state)


def test_2_king_ace_two_never_wraps():
    state = position("online", "KH AH 2H 9C 9D 9S")
    assert [a for a in legal(state) if a[0] == "meld run"] == [("meld run", "H", 12, 14, 12, "2H")]
    assert not [a for a in legal(position("classic", "KH AH 2H 9C 9D 8S")) if a[0] == "meld run"]


@pytest.mark.parametrize("preset", PRESETS)
def test_3_two_at_home_makes_a_clean_canasta(preset):
    state = after(position(preset, "2H KC QC", "3H 4H 5H 6H 7H 8H"), ("lay", "H", 0, 2))
    assert table(state) == ["2H 3H 4H 5H 6H 7H 8H"]
    assert ref.melds_of(state, 0)[0].wild is None


def test_3_under_fixed_the_two_may_also_be_laid_as_a_wild():
    state = position("classic", "2H 2S KC QC", "3H 4H 5H 6H 7H 8H")
    assert {a for a in legal(state) if a[0] in ("lay", "lay wild")} == {
        ("lay", "H", 0, 2),
        ("lay wild", "H", 0, "high", "2H"),
        ("lay wild", "H", 0, "high", "2S"),
    }


@pytest.mark.parametrize("preset", [SLIDES, RESOLVES])
def test_4_where_wilds_move_the_two_goes_home(preset):
    state = after(position(preset, "8H KC QC", "3H 4H 5H 6H 7H 2H* 9H"), ("lay", "H", 0, 8))
    assert table(state) == ["2H 3H 4H 5H 6H 7H 8H 9H"]


def test_4_under_fixed_the_two_returns_to_the_hand():
    state = after(position("classic", "8H KC QC", "3H 4H 5H 6H 7H 2H* 9H"), ("lay", "H", 0, 8))
    assert table(state) == ["3H 4H 5H 6H 7H 8H 9H"]
    assert sorted(state.hand) == ["2H", "KC", "QC"]


@pytest.mark.parametrize("preset", [FIXED, SLIDES, RESOLVES])
def test_5_a_wild_laid_off_can_become_a_gap(preset):
    state = after(position(preset, "8H JK KC QC", "4H 5H 6H"), ("lay wild", "H", 0, "high", "JK"), ("lay", "H", 0, 8))
    assert table(state) == ["4H 5H 6H JK* 8H"]


@pytest.mark.parametrize("preset", [SLIDES, RESOLVES])
def test_6_two_gaps_need_a_second_card_first(preset):
    state = position(preset, "7C TC KD QD", "6C 2S* 8C")
    assert ("lay", "C", 0, 10) not in legal(state)
    assert table(after(state, ("lay", "C", 0, 7), ("lay", "C", 0, 10))) == ["6C 7C 8C 2S* TC"]


def test_6_under_fixed_the_wild_stays_where_it_was_laid():
    assert ("lay", "C", 0, 10) not in legal(position("classic_brazilian", "TC KD QD", "6C 2S* 8C"))


def test_7_ace_to_king_takes_a_wild_and_becomes_dirty():
    run = "AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH"
    state = position("aberto_sujo", "JK KC QC", "2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH AH")
    assert ref.bonus(ref.melds_of(state, 0)[0], state.rules) == 500
    state = after(state, ("lay wild", "H", 0, "high", "JK"))
    assert table(state) == [run + " JK*"]
    assert ref.bonus(ref.melds_of(state, 0)[0], state.rules) == 100


@pytest.mark.parametrize("preset", ["fechado", "online", "aberto_sujo", "burraco"])
def test_7_fifteen_cards_never(preset):
    state = position(preset, "AH 2H 2S KC QC", "AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH JK*")
    assert not [a for a in legal(state) if a[0].startswith("lay")]


def test_7_wild_only_asks_for_the_wild_at_an_end():
    run = "AH 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH"
    assert meld_value([*run.split(), "AH"], PRESETS["burraco"]) is None
    assert meld_value([*run.replace("7H", "JK").split(), "AH"], PRESETS["burraco"]) is None
    assert meld_value([*run.replace("7H", "JK").split(), "AH"], PRESETS["online"])["bonus"] == 100
    assert ("lay", "H", 0, 1) not in legal(position("burraco", "AH KC QS", "2H 3H 4H 5H 6H JK* 8H 9H TH JH QH KH AH"))


@pytest.mark.parametrize(("preset", "may"), [("fechado", False), ("classic", True), ("online", True)])
def test_8_buried_cards_and_the_top_card(preset, may):
    state = drawing(preset, "3C 4D 9S", pile="5H 6H 7H")
    assert (("take pile",) in legal(state)) == may


def test_9_use_top_first_uses_the_top_card_itself():
    state = after(drawing("fechado", "8H 9C KC QS", "4H 5H 6H 7H 8H", pile="TH JH 9H"), ("take pile",))
    assert legal(state) == {("lay", "H", 0, 9)}
    assert ("lay", "H", 0, 10) in legal(play(state, ("lay", "H", 0, 9)))


def test_9_eight_first_and_then_nine_will_not_do():
    assert ("take pile",) not in legal(drawing("fechado", "8H 3C KC QS", "4H 5H 6H 7H", pile="2C 9H"))


def test_9_buried_cards_may_not_meld_with_the_top_card():
    state = drawing("fechado_sujo", "9C 3C QS KS", pile="9D 9H")
    assert ("take pile",) not in legal(state)
    assert ("take pile",) in legal(drawing("fechado_sujo", "9C 9S QS KS", pile="9D 9H"))


def test_10_the_top_card_may_be_used_after_other_melds():
    state = after(drawing("classic", "6H KC QS", "3H 4H 5H", pile="7H"), ("take pile",))
    assert legal(state) == {("lay", "H", 0, 6)}
    state = after(state, ("lay", "H", 0, 6))
    assert legal(state) == {("lay", "H", 0, 7)}
    assert ("discard", "KC") in legal(play(state, ("lay", "H", 0, 7)))


def test_10_holding_the_top_card_is_not_using_it():
    """7H needs the sixes of hand; a meld of sixes would leave it unusable."""
    state = position("classic", "6H 6C 6D 7H KC QS", "3H 4H 5H", top="7H")
    assert ("meld set", "6", ("6C", "6D", "6H"), None) not in legal(state)
    assert not [a for a in legal(state) if a[0] == "discard"]


def test_11_a_one_card_pile_may_not_be_discarded_again():
    assert ("discard", "7H") not in legal(after(drawing("online", "KC QS", pile="7H"), ("take pile",)))
    assert ("discard", "7H") in legal(after(drawing("online", "7H QS", pile="7H"), ("take pile",)))


def test_11_a_meld_of_that_card_lifts_the_restriction():
    state = after(drawing("online", "7H QS KC", "4H 5H 6H", pile="7H"), ("take pile",), ("lay", "H", 0, 7))
    assert ("discard", "7H") in legal(state)


@pytest.mark.parametrize("fields", [{}, {"mortos": 1, "taken": (1, 0)}])
def test_12_aberto_sujo_keeps_a_card_to_discard(fields):
    state = position("aberto_sujo", "9H TH", "2H 3H 4H 5H 6H 7H 8H", **fields)
    state = after(state, ("lay", "H", 0, 9))
    assert legal(state) == {("discard", "TH")}


def test_13_no_canasta_and_the_morto_taken_leaves_two_cards():
    state = closing("online", "7H 8H KC", "4H 5H 6H")
    assert ("lay", "H", 0, 7) in legal(state)
    assert ("lay", "H", 0, 8) not in legal(play(state, ("lay", "H", 0, 7)))


def test_13_the_last_lay_off_may_complete_the_canasta():
    state = closing("online", "9H TH", "4H 5H 6H 7H 8H")
    assert play(after(state, ("lay", "H", 0, 9)), ("lay", "H", 0, 10)).end_reason == "out"
    assert ("lay", "H", 0, 9) not in legal(closing("online", "9H TH", "5H 6H 7H 8H"))


def test_14_a_playable_wild_is_not_the_last_discard():
    assert ("discard", "JK") not in legal(position("online", "JK", "4H 5H 6H"))
    assert ("discard", "JK") in legal(position("online", "JK", "4H 5H 2S*"))


def test_14_the_guard_decides_what_is_playable():
    """Going out by melding is forbidden here, so laying the joker off is no way out."""
    canastas = ("4H 5H 6H 7H 8H 9H TH", "4C 5C 6C")
    assert ("discard", "JK") in legal(closing("online", "JK", *canastas, meld_out_close=False))
    assert ("discard", "JK") not in legal(closing("online", "JK", *canastas))


@pytest.mark.parametrize(("hand", "melds"), [("JK", False), ("KC", True)])
def test_14_burraco_does_not_close_with_a_wild(hand, melds):
    state = closing("burraco", hand, "4H 5H 6H 7H 8H 9H TH")
    assert bool(legal(state)) == melds
    assert ("discard", hand) in legal(position("burraco", hand, "4H 5H 6H 7H 8H 9H TH"))


@pytest.mark.parametrize(
    ("hand", "first", "may"),
    [
        ("AC AD AS 9H 9S", ("meld set", "A", ("AC", "AD", "AS"), None), False),
        ("AC AD JK 9H 8S", ("meld set", "A", ("AC", "AD"), "JK"), True),
        ("TC JC QC KC AC 9H 8S", ("meld run", "C", 10, 12, 0, None), True),
        ("TC JC QC KC 9H 8S", ("meld run", "C", 10, 12, 0, None), False),
    ],
)
def test_15_the_first_meld_must_be_able_to_reach_fifty(hand, first, may):
    assert (first in legal(position("classic_italian", hand))) == may


def test_15_below_fifty_only_the_first_meld_may_grow():
    state = position("classic_italian", "TC JC QC KC AC AD AH AS 9H 8S")
    state = after(state, ("meld run", "C", 10, 12, 0, None))
    assert state.opening == ("C", "run", 0)
    assert legal(state) == {("lay", "C", 0, 13)}
    state = after(state, ("lay", "C", 0, 13), ("lay", "C", 0, 14))
    assert state.opening is None and state.opened[0]
    assert ("meld set", "A", ("AD", "AH", "AS"), None) in legal(state)


def test_15_the_minimum_may_not_be_left_to_the_morto():
    """T J Q K empties the hand at 40 points, with a morto to come."""
    assert ("meld run", "C", 10, 12, 0, None) not in legal(position("classic_italian", "TC JC QC KC"))


def test_15_a_wild_that_reached_the_minimum_may_be_swapped_out():
    """A duty that has been met stays met (detail 20)."""
    state = position("classic_italian", "4H 5H 6H 7H 8H JK KC QD")
    state = after(state, ("meld run", "H", 4, 6, 0, None), ("lay", "H", 0, 7), ("lay wild", "H", 0, "high", "JK"))
    state = after(state, ("lay", "H", 0, 8))
    assert ("discard", "JK") in legal(state)


def test_17_a_pile_that_would_strand_the_player():
    assert ("take pile",) not in legal(drawing("fechado", "KC", "4H 5H 6H", pile="7H", mortos=1, taken=(1, 0)))
    assert ("take pile",) in legal(drawing("fechado", "KC", "4H 5H 6H", pile="7H"))
    assert ("take pile",) in legal(drawing("fechado", "KC", "4H 5H 6H", pile="3C 7H", mortos=1, taken=(1, 0)))


def test_19_an_empty_stock_with_an_untakeable_pile_ends_the_deal():
    """Seat 1 can't use the top card that seat 0 discards."""
    state = closing("fechado", "KC KD", "4H 5H 6H", stock_end="at_last_draw")
    state.stock = []
    state = after(state, ("discard", "KC"))
    assert (state.phase, state.end_reason) == ("over", "stock")
    state = drawing("fechado", "3C 4C", pile="KC")
    state.stock = []
    assert legal(state) == set()


def test_20_an_empty_pile_cannot_be_taken():
    assert legal(drawing("online", "KC QS")) == {("draw",)}


def test_20_a_swap_with_the_top_card_melds_it():
    state = after(drawing("classic", "KC QS", "4H 5H 2S* 7H", pile="6H"), ("take pile",), ("lay", "H", 0, 6))
    assert state.top is None and "2S" in state.hand


def test_20_copies_of_a_card_are_the_same_card():
    state = after(position("classic", "7H 7H KC", "4H 5H 6H", top="7H"), ("lay", "H", 0, 7))
    assert state.top is None and ("discard", "7H") in legal(state)


def test_20_a_top_card_that_was_swapped_out_again_has_been_used():
    state = position("classic", "JK 7H KC 9C", "4H 5H 6H", top="JK")
    state = after(state, ("lay wild", "H", 0, "high", "JK"), ("lay", "H", 0, 7))
    assert ("discard", "JK") in legal(state)


def test_21_a_wild_may_not_lie_lowest_on_the_way():
    state = position("classic", "TC 2H 9D 8S", "QC KC AC")
    assert not [a for a in legal(state) if a[0].startswith("lay")]
    state = after(position("classic", "TC 2H QC KC AC 9D 8S"), ("meld run", "C", 10, 13, 11, "2H"), ("lay", "C", 0, 14))
    assert table(state) == ["TC 2H* QC KC AC"]


def test_22_nobody_goes_out_in_the_extra_phase_without_meld_out_close():
    canasta = "4H 5H 6H 7H 8H 9H TH"
    state = closing("classic", "JH", canasta, phase="extra")
    assert legal(state) == {("lay", "H", 0, 11), ("end turn",)}
    state = closing("classic", "JH", canasta, phase="extra", meld_out_close=False)
    assert legal(state) == {("end turn",)}


def test_22_a_full_run_table_takes_no_new_run():
    state = position("online", "9H TH JH KC", "3H 4H 5H", max_runs_per_suit=1)
    assert not [a for a in legal(state) if a[0] == "meld run"]


def test_22_a_full_run_table_counts_in_looking_ahead():
    state = drawing("classic", "9H TH KC QS", "3H 4H 5H", pile="JH", max_runs_per_suit=1)
    assert ("take pile",) not in legal(state)


def test_23_seat_0_starts_unless_told_otherwise():
    assert ref.deal(PRESETS["classic"], random.Random(1)).seat == 0
    assert ref.deal(PRESETS["classic"], random.Random(1), starter=2).seat == 2


# ---------------------------------------------------------------- one action for one thing


def test_slides_a_natural_two_never_becomes_wild_again():
    assert ("lay", "H", 0, 6) not in legal(position(SLIDES, "6H KC QS", "2H 3H 4H"))
    assert table(after(position(RESOLVES, "6H KC QS", "2H 3H 4H"), ("lay", "H", 0, 6))) == ["3H 4H 2H* 6H"]


def test_resolves_a_second_two_comes_in_when_the_first_goes_home():
    action = ("lay wild", "C", 0, "high", "2H")
    assert table(after(position(RESOLVES, "2H KC QS", "3C 2C* 5C 6C"), action)) == ["2C 3C 2H* 5C 6C"]
    assert action not in legal(position(SLIDES, "2H KC QS", "3C 2C* 5C 6C"))


@pytest.mark.parametrize("preset", [SLIDES, RESOLVES])
def test_a_two_joins_at_home_beside_the_wild(preset):
    state = after(position(preset, "2C KC QS", "3C 2C* 5C 6C"), ("lay", "C", 0, 2))
    assert table(state) == ["2C 3C 2C* 5C 6C"]


def test_an_ace_may_stand_at_either_end_where_wilds_are_fixed():
    state = position("classic", "AH KC QS", "2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH")
    assert {a for a in legal(state) if a[0] == "lay"} == {("lay", "H", 0, 1), ("lay", "H", 0, 14)}
    state = position("online", "AH KC QS", "2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH")
    assert {a for a in legal(state) if a[0] == "lay"} == {("lay", "H", 0, 14)}


def test_a_second_ace_is_named_by_the_end_that_was_free():
    state = position("online", "AH KC QS", "2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH AH")
    assert {a for a in legal(state) if a[0] == "lay"} == {("lay", "H", 0, 1)}


def test_wild_runs_are_of_the_smallest_size():
    hand = "4H 5H 6H JK KC QS"
    runs = {a for a in legal(position("classic", hand)) if a[0] == "meld run"}
    assert runs == {("meld run", "H", 4, 6, 0, None)}
    runs = {a for a in legal(position("classic", "4H 5H 7H JK KC QS")) if a[0] == "meld run"}
    assert runs == {("meld run", "H", 4, 7, 6, "JK")}
    runs = {a for a in legal(position("classic_brazilian", "4H 5H JK KC QS")) if a[0] == "meld run"}
    assert runs == {("meld run", "H", 3, 5, 3, "JK"), ("meld run", "H", 4, 6, 6, "JK")}
    runs = {a for a in legal(position("online", "4H 5H JK KC QS")) if a[0] == "meld run"}
    assert runs == {("meld run", "H", 4, 6, 6, "JK")}


def test_sets_of_twos_take_a_joker_and_no_two():
    state = position("classic", "2C JK KC QS", "2D 2H 2S")
    assert {a for a in legal(state) if a[0].startswith("lay")} == {
        ("lay set", "2", 0, "2C"),
        ("lay wild set", "2", 0, "JK"),
    }


def test_max_set():
    state = position("classic", "KD JK 3C 4C", "KC KH KS", max_set=3)
    assert not [a for a in legal(state) if a[0].startswith("lay")]


# ---------------------------------------------------------------- mortos (section 4)


def test_a_hand_emptied_by_melding_takes_the_morto_and_plays_on():
    state = after(position("classic", "7H", "4H 5H 6H"), ("lay", "H", 0, 7))
    assert (state.phase, state.seat, state.hand, state.taken) == ("meld", 0, ["8D", "TD", "QD"], [1, 0])


def test_next_turn_the_morto_waits():
    state = after(position("online", "KC", "4H 5H 6H"), ("discard", "KC"))
    assert (state.seat, state.phase, state.waiting) == (1, "draw", [True, False, False, False])
    state = replace(state, rules=PRESETS["fechado"])
    assert scores(state)[0] == 15 - 3 * 10 - 2 * 10 - 100
    for _ in range(3):
        state = play(play(state, ("draw",)), ("discard", "9C"))
    assert state.seat == 0 and not any(state.waiting)


def test_immediate_the_morto_is_played_at_once_without_another_discard():
    state = after(position("classic", "KC", "4H 5H 6H"), ("discard", "KC"))
    assert (state.seat, state.phase, state.waiting[0]) == (0, "extra", False)
    assert legal(state) == {("end turn",)}
    assert after(state, ("end turn",)).seat == 1


def test_a_further_morto_in_the_extra_phase_needs_no_discard():
    state = position("classic_three_mortos", "7H", "4H 5H 6H", phase="extra", taken=(1, 0))
    state = after(state, ("lay", "H", 0, 7))
    assert (state.phase, state.taken) == ("extra", [2, 0])
    assert ("end turn",) in legal(state)


def test_the_rule_is_per_team():
    """The partner has taken the team's morto: emptying my hand is going out, and needs a canasta."""
    assert legal(closing("classic", "7H", "4H 5H 6H")) == set()
    state = after(closing("classic", "7H", "4H 5H 6H", "KC KC KD KD KH KH KS"), ("lay", "H", 0, 7))
    assert (state.end_reason, state.out_team) == ("out", 0)


@pytest.mark.parametrize(("preset", "may"), [("classic", True), ("classic_fechado", False), ("fechado", False)])
def test_close_with(preset, may):
    state = closing(preset, "KC", "4H 5H 6H 7H 8H 9H 2S*")
    assert (("discard", "KC") in legal(state)) == may


# ---------------------------------------------------------------- the end of the stock (section 5)


def last_card(preset: str, cards: int = 1) -> State:
    state = drawing(preset, "KC QS")
    state.stock = ["3C", "4C", "5C"][:cards]
    return play(state, ("draw",))


def test_after_turn_the_turn_is_played_out():
    state = last_card("classic")
    assert state.last_turn and state.phase == "meld"
    assert play(state, ("discard", "KC")).end_reason == "stock"


def test_at_last_draw_the_deal_ends_at_once():
    state = last_card("online")
    assert (state.phase, state.end_reason, state.hand) == ("over", "stock", ["KC", "QS", "3C"])


def test_mortos_join_first_card_of_the_first_morto_first():
    state = drawing("fechado", "KC QS")
    state.stock, state.mortos = ["3C"], [["4C", "5C", "6C"], ["7C", "8C", "9C"]]
    state = play(state, ("draw",))
    assert state.mortos == [] and not state.last_turn
    drawn = []
    for _ in range(6):
        state = play(play(state, ("discard", state.hand[0])), ("draw",))
        drawn.append(state.hand[-1])
    assert drawn == ["4C", "5C", "6C", "7C", "8C", "9C"]
    assert play(state, ("discard", state.hand[0])).end_reason == "stock"


@pytest.mark.parametrize(("cards", "ends"), [(3, True), (4, False)])
def test_last_two(cards, ends):
    state = drawing("burraco", "KC QS")
    state.stock = ["3C"] * cards
    assert (play(play(state, ("draw",)), ("discard", "KC")).end_reason == "stock") == ends


def test_turn_cap_unless_the_stock_ends_on_the_same_turn():
    state = position("online", "KC QS", turn=399)
    ended = play(state, ("discard", "KC"))
    assert (ended.end_reason, ended.turn, ended.out_team) == ("turn cap", 400, None)
    state = position("classic", "KC QS", turn=399)
    state.stock = []
    assert play(state, ("discard", "KC")).end_reason == "stock"


# ---------------------------------------------------------------- scores


def test_scores_from_scratch():
    state = closing("classic", "KC", "4H 5H 6H 7H 8H 9H 2S*", "AC AD AH")
    melded = 5 * 4 + 10 * 2 + 20 + 3 * 15
    assert scores(state) == (melded + 100 - 10 - 20, -2 * 20 - 100)
    ended = play(state, ("discard", "KC"))
    assert scores(ended) == (melded + 100 - 20 + 100, -2 * 20 - 100)


def test_bonus_morto():
    assert scores(closing("classic", "KC", bonus_morto=50))[0] == 50 - 10 - 20


# ---------------------------------------------------------------- whole deals


@pytest.mark.parametrize("num_seats", [2, 4])
@pytest.mark.parametrize("preset", PRESETS)
def test_18_19_a_random_deal_ends_and_keeps_all_cards(preset, num_seats):
    rules = PRESETS[preset] | {"num_seats": num_seats, "max_turns": 120}
    rng = random.Random(preset)
    state = ref.deal(rules, rng)
    deck = Counter(ref.full_deck(rules))
    while state.phase != "over":
        actions = sorted(legal(state), key=repr)
        assert actions, "a player is stranded"
        assert len(ref.table_moves(state)) == len(set(ref.table_moves(state)))
        before = repr(state)
        after_it = play(state, rng.choice(actions))
        assert repr(state) == before
        state = after_it
        melded = [card for team in (0, 1) for one in ref.melds_of(state, team) for card in one.all_cards()]
        assert Counter(sum(state.hands + state.mortos, state.pile + state.stock + melded)) == deck
    assert legal(state) == set()
    assert state.end_reason in ("out", "stock", "turn cap")


@pytest.mark.parametrize(("upcard", "cards"), [("none", 0), ("any", 1), ("bury_wilds", 1), ("redeal_joker", 1)])
def test_upcard(upcard, cards):
    for seed in range(100):
        state = ref.deal(PRESETS["classic"] | {"upcard": upcard}, random.Random(seed))
        assert len(state.pile) == cards
        assert len(state.stock) == 108 - 4 * 11 - 2 * 11 - cards
        assert upcard == "any" or not any(map(ref.is_wild, state.pile))


def test_upcard_a_wild_goes_to_the_bottom_and_the_next_is_turned():
    stock = ["3C", "4C", "2H"]
    assert ref._turn_up(stock, "redeal_joker") == ["4C"]
    assert stock == ["2H", "3C"]
    assert ref._turn_up(["3C", "JK"], "redeal_joker") is None
    assert ref._turn_up(["3C", "JK"], "bury_wilds") == ["3C"]
    assert ref._turn_up(["3C", "JK"], "any") == ["JK"]


# ---------------------------------------------------------------- both opinions

WORDS = {
    "num_jokers": [0, 4],
    "max_runs_per_suit": [1, 2, 6],
    "mortos_per_team": [1, 2],
    "pile_take": ["free", "use_top_this_turn", "use_top_first"],
    "pile_justify": ["hand_and_table", "whole_pile"],
    "single_card_rediscard": ["allowed", "twin_only"],
    "sets": [False, True],
    "sets_of_twos": [False, True],
    "max_set": [0, 3, 5, 8],
    "max_run": [13, 14],
    "ace_to_ace": ["forbidden", "wild_only", "allowed"],
    "wild_min_run": [0, 3, 4],
    "wild_low_end": ["any", "ace_only"],
    "wild_moves": ["fixed", "slides", "resolves"],
    "close_with": ["any", "clean"],
    "meld_out_morto": [False, True],
    "meld_out_close": [False, True],
    "morto_after_discard": ["next_turn", "immediate"],
    "final_discard_wild": ["allowed", "only_if_unplayable", "forbidden_closing"],
    "first_meld_min": [0, 50],
}


def assert_both_agree(state: State) -> None:
    by_layouts = end_of_turn_outcomes(state)
    assert by_layouts == reachable_outcomes(state), (table(state), state)
    assert bool(by_layouts) == bool(legal(state)), "stranded, or offered what leads nowhere"


@pytest.mark.parametrize("preset", PRESETS)
def test_single_actions_reach_all_layouts_and_no_others(preset):
    for seed in range(100):
        assert_both_agree(random_position(PRESETS[preset], random.Random(f"{preset} {seed}")))


@pytest.mark.parametrize("seed", range(20))
def test_they_agree_where_fields_are_overridden(seed):
    rng = random.Random(seed)
    for _ in range(30):
        changed = {field: rng.choice(values) for field, values in WORDS.items() if rng.random() < 0.6}
        assert_both_agree(random_position(PRESETS[rng.choice(list(PRESETS))] | changed, rng, most_cards=6))


@pytest.mark.parametrize("preset", [name for name in PRESETS if PRESETS[name]["pile_take"] != "free"])
def test_17_the_pile_may_be_taken_exactly_when_the_turn_can_be_completed(preset):
    rng = random.Random(preset)
    found = Counter()
    while found.total() < 60:
        state = random_position(PRESETS[preset], rng)
        if state.phase == "extra" or state.opening or state.top or len(state.hand) < 2:
            continue
        pile = [state.hand.pop() for _ in range(rng.randint(1, min(3, len(state.hand) - 1)))]
        state = replace(state, phase="draw", pile=pile, single=None)
        may = ("take pile",) in legal(state)
        assert may == bool(end_of_turn_outcomes(ref._take_pile(state)))
        found[may] += 1
    assert min(found.values()) > 5
