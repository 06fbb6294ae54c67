"""The details of `rules.md` section 7 about melds, 1 to 7 and 21: one position, one claim."""

import pytest

from tests.details import ACE_TO_KING, TWO_TO_ACE, after, at, high, legal, moves, presets, table

pytestmark = pytest.mark.kernel

FIXED, SLIDES, RESOLVES = (presets(wild_moves=how) for how in ("fixed", "slides", "resolves"))
MOVING = SLIDES + RESOLVES
EVERY = FIXED + MOVING
FOUR_WITH_A_WILD = presets(wild_min_run=4)
FOURTEEN = presets(max_run=14)

# ---------------------------------------------------------------- 1: search placements before refusing


def test_1_a_two_that_cannot_stand_low_stands_high() -> None:
    game = at("rules classic; phase meld; hand 0: 2S 3H 4H 5H KC KD")
    assert table(after(game, "meld 3H 4H 5H", "lay off 2S* on 3H-5H high")) == ["3H 4H 5H 2S*"]


@pytest.mark.parametrize("preset", presets(wild_low_end="ace_only"))
def test_1_the_wild_does_not_stand_lowest(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: 2S KC KD; team 0: 3H 4H 5H")
    assert "lay off 2S* on 3H-5H low" not in legal(game)


@pytest.mark.parametrize("preset", presets(wild_low_end="ace_only"))
def test_1_the_wild_stands_lowest_as_the_ace(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: 2S KC QD; team 0: 2H 3H 4H")
    assert table(after(game, "lay off 2S* on 2H-4H low")) == ["2S* 2H 3H 4H"]


def test_1_where_the_low_end_is_free_the_player_chooses() -> None:
    game = at("rules classic_brazilian; phase meld; hand 0: 2S KC QD; team 0: 3H 4H 5H")
    assert moves(game) == {"lay off 2S* on 3H-5H low", "lay off 2S* on 3H-5H high"}


@pytest.mark.parametrize("preset", MOVING)
def test_1_where_wilds_move_it_stands_high(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: 2S KC QD; team 0: 3H 4H 5H")
    assert table(after(game, "lay off 2S* on 3H-5H")) == ["3H 4H 5H 2S*"]


@pytest.mark.parametrize("preset", FOUR_WITH_A_WILD)
def test_1_three_cards_with_a_wild_are_too_few_in_classic(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: 2S JK 3H 4H KC QD; team 0: 8S 9S TS")
    assert not {text for text in moves(game) if text.startswith("meld")}


# ---------------------------------------------------------------- 2: king, ace, two


@pytest.mark.parametrize("preset", presets(wild_min_run=3))
def test_2_king_ace_and_two_lie_with_the_two_as_queen(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: KH AH 2H 9C 8D")
    assert moves(game) == {"meld 2H* KH AH"}


@pytest.mark.parametrize("preset", FOUR_WITH_A_WILD)
def test_2_king_ace_and_two_are_no_meld_where_a_wild_needs_four(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: KH AH 2H 9C 8D; team 0: 8S 9S TS")
    assert not {text for text in moves(game) if text.startswith("meld")}


@pytest.mark.parametrize("preset", EVERY)
def test_2_a_run_up_to_the_ace_takes_no_two_behind_it(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: 2H 3H 9C 8D; team 0: JH QH KH AH")
    assert moves(game) <= {"lay off 2H* on JH-AH", "lay off 2H* on JH-AH low"}


@pytest.mark.parametrize("preset", EVERY)
def test_2_a_run_from_the_ace_takes_no_king(preset: str) -> None:
    assert moves(at(f"rules {preset}; phase meld; hand 0: KH 9C 8D; team 0: AH 2H 3H")) == set()


@pytest.mark.parametrize("preset", EVERY)
def test_2_king_ace_two_three_is_no_meld(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: KH AH 2H 3H 9C 8D; team 0: 8S 9S TS")
    assert not {text for text in moves(game) if "KH" in text and "3H" in text}


# ---------------------------------------------------------------- 3: the two at home

THREE_TO_EIGHT = "3H 4H 5H 6H 7H 8H"


@pytest.mark.parametrize("preset", EVERY)
def test_3_a_two_laid_at_home_makes_a_clean_canasta(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: 2H KC QD; team 0: {THREE_TO_EIGHT}")
    [meld] = after(game, "lay off 2H on 3H-8H").melds(0)
    assert (str(meld), meld.is_clean, meld.bonus) == (f"2H {THREE_TO_EIGHT}", True, 200)


@pytest.mark.parametrize("preset", FIXED)
def test_3_under_fixed_the_two_may_also_lie_as_a_wild_at_the_high_end(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: 2H KC QD; team 0: {THREE_TO_EIGHT}")
    [meld] = after(game, "lay off 2H* on 3H-8H high").melds(0)
    assert (str(meld), meld.is_clean, meld.bonus) == (f"{THREE_TO_EIGHT} 2H*", False, 100)


@pytest.mark.parametrize("preset", EVERY)
def test_3_a_two_of_its_own_suit_never_lies_as_a_wild_at_home(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: 2H KC QD; team 0: {THREE_TO_EIGHT}")
    assert moves(game) == {"lay off 2H on 3H-8H"} | ({"lay off 2H* on 3H-8H high"} if preset in FIXED else set())


@pytest.mark.parametrize("preset", EVERY)
def test_3_a_two_of_another_suit_makes_it_dirty(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: 2S KC QD; team 0: {THREE_TO_EIGHT}")
    [meld] = after(game, "lay off 2S* on 3H-8H" + high(game)).melds(0)
    assert (str(meld), meld.is_clean, meld.is_canasta) == (f"{THREE_TO_EIGHT} 2S*", False, True)


def test_3_a_two_of_another_suit_lies_at_the_high_end_alone_in_classic() -> None:
    game = at(f"rules classic; phase meld; hand 0: 2S KC QD; team 0: {THREE_TO_EIGHT}")
    assert moves(game) == {"lay off 2S* on 3H-8H high"}


# ---------------------------------------------------------------- 4: the two that goes home, or back to the hand

WITH_A_GAP = "3H 4H 5H 6H 7H 2H* 9H"


@pytest.mark.parametrize("preset", EVERY)
def test_4_before_it_the_canasta_is_dirty(preset: str) -> None:
    [meld] = at(f"rules {preset}; phase meld; hand 0: 8H KC QD; team 0: {WITH_A_GAP}").melds(0)
    assert (meld.is_clean, meld.bonus) == (False, 100)


@pytest.mark.parametrize("preset", MOVING)
def test_4_the_two_goes_home_where_wilds_move(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: 8H KC QD; team 0: {WITH_A_GAP}")
    [meld] = after(game, "lay off 8H on 3H-9H").melds(0)
    assert (str(meld), meld.is_clean, meld.bonus) == ("2H 3H 4H 5H 6H 7H 8H 9H", True, 200)


@pytest.mark.parametrize("preset", FIXED)
def test_4_the_two_returns_to_the_hand_where_wilds_are_fixed(preset: str) -> None:
    game = after(
        at(f"rules {preset}; phase meld; hand 0: 8H KC QD; team 0: {WITH_A_GAP}"),
        "swap 8H into 3H-9H",
    )
    assert (table(game), sorted(game.hand(0))) == (["3H 4H 5H 6H 7H 8H 9H"], ["2H", "KC", "QD"])


@pytest.mark.parametrize("preset", MOVING)
def test_4_a_two_of_another_suit_stays_wild(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: 8H KC QD; team 0: 3H 4H 5H 6H 7H 2S* 9H")
    assert table(after(game, "lay off 8H on 3H-9H")) == ["3H 4H 5H 6H 7H 8H 9H 2S*"]


# ---------------------------------------------------------------- 5: a wild at the end becomes a gap


@pytest.mark.parametrize("preset", EVERY)
def test_5_a_wild_laid_off_becomes_the_gap(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: 2S 8H KC QD; team 0: 4H 5H 6H")
    assert table(after(game, "lay off 2S* on 4H-6H" + high(game), "lay off 8H on 4H-7H")) == ["4H 5H 6H 2S* 8H"]


@pytest.mark.parametrize("preset", MOVING)
def test_5_the_same_wild_becomes_the_gap_below(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: 4H KC QD; team 0: 6H 7H 8H 2S*")
    assert table(after(game, "lay off 4H on 6H-9H")) == ["4H 2S* 6H 7H 8H"]


@pytest.mark.parametrize("preset", FIXED)
def test_5_a_fixed_wild_does_not_go_to_the_other_end(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: 4H KC QD; team 0: 6H 7H 8H 2S*")
    assert moves(game) == set()


# ---------------------------------------------------------------- 6: two gaps


@pytest.mark.parametrize("preset", presets(wild_min_run=3))
def test_6_two_gaps_are_never_filled_by_one_wild(preset: str) -> None:
    assert moves(at(f"rules {preset}; phase meld; hand 0: TC KD QD; team 0: 6C 2S* 8C")) == set()


@pytest.mark.parametrize("preset", MOVING)
def test_6_the_seven_first_and_then_the_ten(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: 7C TC KD QD; team 0: 6C 2S* 8C")
    assert table(after(game, "lay off 7C on 6C-8C", "lay off TC on 6C-9C")) == ["6C 7C 8C 2S* TC"]


def test_6_under_fixed_the_seven_frees_the_wild_for_the_ten() -> None:
    game = at("rules classic_brazilian; phase meld; hand 0: 7C TC KD QD; team 0: 6C 2S* 8C")
    done = after(game, "swap 7C into 6C-8C", "lay off 2S* on 6C-8C high", "lay off TC on 6C-9C")
    assert table(done) == ["6C 7C 8C 2S* TC"]


# ---------------------------------------------------------------- 7: fourteen cards


@pytest.mark.parametrize(
    ("preset", "before", "dirty"),
    [
        ("aberto", 500, 100),
        ("aberto_sujo", 500, 100),
        ("fechado", 500, 100),
        ("fechado_stcl", 500, 100),
        ("fechado_sujo", 500, 100),
        ("online", 200, 100),
        ("burraco", 200, 150),
    ],
)
def test_7_a_wild_on_thirteen_clean_cards_makes_them_dirty(preset: str, before: int, dirty: int) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: 2S KC QD; team 0: {TWO_TO_ACE}")
    done = after(game, "lay off 2S* on 2H-AH")
    assert [meld.bonus for meld in [*game.melds(0), *done.melds(0)]] == [before, dirty]
    assert table(done) == [f"{ACE_TO_KING} 2S*"]


@pytest.mark.parametrize("preset", FIXED)
def test_7_thirteen_cards_take_no_wild_where_thirteen_is_the_most(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: JK AH KC QD; team 0: {TWO_TO_ACE}")
    assert moves(game) == set()


@pytest.mark.parametrize("preset", FOURTEEN)
def test_7_fifteen_cards_never(preset: str) -> None:
    jokers = "" if preset == "aberto" else " JK"
    hand = f"2C 2H AH 3H 7H KH{jokers} KC QD"
    game = at(f"rules {preset}; phase meld; hand 0: {hand}; team 0: {ACE_TO_KING} 2S*")
    assert not {text for text in moves(game) if " on " in text}


@pytest.mark.parametrize("preset", presets(ace_to_ace="allowed"))
def test_7_aces_at_both_ends_where_allowed(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: AH KC QD; team 0: {TWO_TO_ACE}")
    assert table(after(game, "lay off AH on 2H-AH low")) == [f"{ACE_TO_KING} AH"]


@pytest.mark.parametrize("preset", presets(ace_to_ace="wild_only"))
def test_7_wild_only_refuses_aces_at_both_ends(preset: str) -> None:
    assert moves(at(f"rules {preset}; phase meld; hand 0: AH KC QD; team 0: {TWO_TO_ACE}")) == set()


@pytest.mark.parametrize("preset", presets(ace_to_ace="wild_only"))
def test_7_wild_only_refuses_a_wild_inside(preset: str) -> None:
    inside = TWO_TO_ACE.replace("7H", "JK*")
    assert moves(at(f"rules {preset}; phase meld; hand 0: AH KC QD; team 0: {inside}")) == set()


def test_7_wild_only_refuses_to_swap_the_wild_of_fourteen_for_an_ace() -> None:
    rules = "classic max_run=14 ace_to_ace=wild_only"
    game = at(f"rules {rules}; phase meld; hand 0: AH KC QD; team 0: {ACE_TO_KING} JK*")
    assert moves(game) == set()


def test_7_ace_to_ace_allowed_swaps_the_wild_of_fourteen_for_an_ace() -> None:
    rules = "classic max_run=14 ace_to_ace=allowed"
    game = at(f"rules {rules}; phase meld; hand 0: AH KC QD; team 0: {ACE_TO_KING} JK*")
    assert table(after(game, "swap AH into AH-AH")) == [f"{ACE_TO_KING} AH"]


def test_7_forbidden_refuses_fourteen_cards_even_where_the_length_is_allowed() -> None:
    rules = "classic max_run=14 ace_to_ace=forbidden"
    assert moves(at(f"rules {rules}; phase meld; hand 0: AH JK KC QD; team 0: {TWO_TO_ACE}")) == set()


# ---------------------------------------------------------------- 21: the wild may not lie lowest on the way


@pytest.mark.parametrize("preset", FOUR_WITH_A_WILD)
def test_21_ten_to_ace_with_a_wild_jack_is_never_grown_from_queen_to_ace(preset: str) -> None:
    assert moves(at(f"rules {preset}; phase meld; hand 0: TC 2H 9D 8S; team 0: QC KC AC")) == set()


@pytest.mark.parametrize("preset", FOUR_WITH_A_WILD)
def test_21_laid_as_a_new_meld_the_five_cards_are_legal(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: TC 2H QC KC AC 9D 8S; team 0: 4S 5S 6S")
    assert "TC 2H* QC KC AC" in table(after(game, "meld TC 2H* QC KC", "lay off AC on TC-KC"))


def test_21_where_a_wild_may_lie_lowest_it_can_be_grown() -> None:
    game = at("rules classic_brazilian; phase meld; hand 0: TC 2H 9D 8S; team 0: QC KC AC")
    assert table(after(game, "lay off 2H* on QC-AC low", "lay off TC on JC-AC")) == ["TC 2H* QC KC AC"]


@pytest.mark.parametrize("preset", MOVING)
def test_21_where_wilds_move_it_can_be_grown(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: TC 2H 9D 8S; team 0: QC KC AC")
    assert table(after(game, "lay off 2H* on QC-AC", "lay off TC on JC-AC")) == ["TC 2H* QC KC AC"]
