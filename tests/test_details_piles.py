"""The details of `rules.md` section 7 about the pile, 8 to 11, 17 and 20: one position, one claim."""

import pytest

from buraco_env import IllegalAction
from tests.details import CANASTA, after, at, discards, legal, moves, presets, table

pytestmark = pytest.mark.kernel

# ---------------------------------------------------------------- 8: what buried cards are good for

BURIED = "phase draw; hand 0: 3C 4D 9S; team 0: TD JD QD; pile: 5H 6H 7H"


@pytest.mark.parametrize("preset", presets(pile_take="use_top_first"))
def test_8_buried_cards_do_not_justify_taking_a_closed_pile(preset: str) -> None:
    assert legal(at(f"rules {preset}; {BURIED}")) == {"draw"}


@pytest.mark.parametrize("preset", presets(pile_justify="whole_pile"))
def test_8_buried_cards_may_help_where_the_whole_pile_counts(preset: str) -> None:
    assert "meld 5H 6H 7H" in legal(after(at(f"rules {preset}; {BURIED}"), "take pile"))


@pytest.mark.parametrize("preset", presets(pile_take="free"))
def test_8_a_free_pile_has_no_condition(preset: str) -> None:
    game = after(at(f"rules {preset}; {BURIED.replace('7H', 'KH')}"), "take pile")
    assert discards(game) == {"3C", "4D", "9S", "5H", "6H", "KH"}


def test_8_the_refusal_says_why() -> None:
    with pytest.raises(IllegalAction, match="top card 7H would have to be melded first of all"):
        at(f"rules fechado; {BURIED}").play("take pile")


@pytest.mark.parametrize("preset", presets(pile_take="use_top_first"))
def test_8_cards_of_the_hand_justify_it(preset: str) -> None:
    game = at(f"rules {preset}; phase draw; hand 0: 8H 9H 3C 4D; pile: 5H 6H 7H")
    assert legal(after(game, "take pile")) == {"meld 7H 8H 9H"}


# ---------------------------------------------------------------- 9: the top card first

CLOSED = presets(pile_take="use_top_first")
FOUR_TO_EIGHT = "team 0: 4H 5H 6H 7H 8H"


@pytest.mark.parametrize("preset", CLOSED)
def test_9_the_first_action_uses_the_top_card_itself(preset: str) -> None:
    game = at(f"rules {preset}; phase draw; hand 0: 8H 3H KC QS; {FOUR_TO_EIGHT}; pile: TH JH 9H")
    assert legal(after(game, "take pile")) == {"lay off 9H on 4H-8H"}


@pytest.mark.parametrize("preset", CLOSED)
def test_9_afterwards_the_buried_cards_are_free(preset: str) -> None:
    game = at(f"rules {preset}; phase draw; hand 0: 8H 3H KC QS; {FOUR_TO_EIGHT}; pile: TH JH 9H")
    game = after(game, "take pile", "lay off 9H on 4H-8H", "lay off TH on 4H-9H", "lay off JH on 4H-TH")
    assert table(game) == ["4H 5H 6H 7H 8H 9H TH JH"]


@pytest.mark.parametrize("preset", CLOSED)
def test_9_eight_first_and_then_nine_will_not_do(preset: str) -> None:
    game = at(f"rules {preset}; phase draw; hand 0: 8H 3C KC QS; team 0: 4H 5H 6H 7H; pile: 4C 9H")
    assert legal(game) == {"draw"}


@pytest.mark.parametrize("preset", ["fechado", "fechado_sujo"])
def test_9_buried_cards_make_no_set_with_the_top_card(preset: str) -> None:
    assert legal(at(f"rules {preset}; phase draw; hand 0: 9C 3C QS KS; pile: 9D 9H")) == {"draw"}


@pytest.mark.parametrize("preset", ["fechado", "fechado_sujo"])
def test_9_cards_held_before_make_a_set_with_the_top_card(preset: str) -> None:
    game = at(f"rules {preset}; phase draw; hand 0: 9C 9S QS KS; pile: 9D 9H")
    assert legal(after(game, "take pile")) == {"meld 9C 9H 9S"}


def test_9_without_sets_three_nines_justify_nothing() -> None:
    assert legal(at("rules fechado_stcl; phase draw; hand 0: 9C 9S QS KS; pile: 9D 9H")) == {"draw"}


@pytest.mark.parametrize("preset", CLOSED)
def test_9_a_card_held_before_may_be_used_though_its_twin_is_buried(preset: str) -> None:
    game = at(f"rules {preset}; phase draw; hand 0: 8H TH KC QS; pile: TH 9H")
    assert legal(after(game, "take pile")) == {"meld 8H 9H TH"}


@pytest.mark.parametrize("preset", CLOSED)
def test_9_a_wild_held_before_may_help(preset: str) -> None:
    game = at(f"rules {preset}; phase draw; hand 0: 8H 2S KC QS; pile: TH 9H")
    assert legal(after(game, "take pile")) == {"meld 8H 9H 2S*"}


@pytest.mark.parametrize("preset", CLOSED)
def test_9_a_buried_wild_may_not_help(preset: str) -> None:
    assert legal(at(f"rules {preset}; phase draw; hand 0: 8H 3C KC QS; pile: 2S 9H")) == {"draw"}


@pytest.mark.parametrize("preset", CLOSED)
def test_9_a_wild_as_top_card_must_be_melded_too(preset: str) -> None:
    game = at(f"rules {preset}; phase draw; hand 0: 3C KC QS; {FOUR_TO_EIGHT}; pile: 5D 2S")
    assert legal(after(game, "take pile")) == {"lay off 2S* on 4H-8H"}


# ---------------------------------------------------------------- 10: the top card this turn

OPEN_PILE = presets(pile_take="use_top_this_turn")
SIX_FIRST = "phase draw; hand 0: 6H KC QS; team 0: 3H 4H 5H; pile: 7H"


@pytest.mark.parametrize("preset", OPEN_PILE)
def test_10_the_top_card_may_wait_for_another_lay_off(preset: str) -> None:
    game = after(at(f"rules {preset}; {SIX_FIRST}"), "take pile", "lay off 6H on 3H-5H", "lay off 7H on 3H-6H")
    assert discards(game) == {"KC", "QS"}


@pytest.mark.parametrize("preset", OPEN_PILE)
def test_10_discarding_is_illegal_until_it_is_used(preset: str) -> None:
    game = after(at(f"rules {preset}; {SIX_FIRST}"), "take pile", "lay off 6H on 3H-5H")
    assert legal(game) == {"lay off 7H on 3H-6H"}


def test_10_every_action_keeps_it_usable() -> None:
    game = at("rules classic; phase draw; hand 0: 6H 6C 6D KC QS; team 0: 3H 4H 5H; pile: 7H")
    assert legal(after(game, "take pile")) == {"lay off 6H on 3H-5H"}


def test_10_another_meld_may_come_first() -> None:
    game = at("rules classic; phase draw; hand 0: 6H 9C 9D 9S KC QS; team 0: 3H 4H 5H; pile: 7H")
    assert "meld 9C 9D 9S" in legal(after(game, "take pile"))


def test_10_a_pair_and_a_wild_may_come_first_and_the_top_card_join_them() -> None:
    game = at("rules classic; phase draw; hand 0: 4C 4D 2S KC QS; pile: 4H")
    assert table(after(game, "take pile", "meld 4C 4D 2S*", "lay off 4H on set 4")) == ["4C 4D 4H 2S*"]


def test_10_holding_it_is_not_using_it() -> None:
    game = at("rules classic; phase draw; hand 0: 7H 9C KC QS; team 0: 3D 4D 5D; pile: 7H")
    assert legal(game) == {"draw"}


def test_10_only_the_whole_pile_lends_its_buried_cards() -> None:
    text = "phase draw; hand 0: 3C 4D 9S; pile: 5H 6H 7H"
    assert legal(at(f"rules classic pile_justify=hand_and_table; {text}")) == {"draw"}


def test_10_with_barred_buried_cards_other_melds_may_still_come_first() -> None:
    rules = "classic pile_justify=hand_and_table"
    game = at(f"rules {rules}; phase draw; hand 0: 6H 9C 9D 9S KC QS; team 0: 3H 4H 5H; pile: 9H 7H")
    assert moves(after(game, "take pile")) == {"meld 9C 9D 9S", "lay off 6H on 3H-5H"}


# ---------------------------------------------------------------- 11: a pile of one card


@pytest.mark.parametrize("preset", presets(pile_take="free"))
def test_11_it_may_not_be_discarded_again(preset: str) -> None:
    assert discards(after(at(f"rules {preset}; hand 0: KC QS; pile: 7H"), "take pile")) == {"KC", "QS"}


@pytest.mark.parametrize("preset", presets(pile_take="free"))
def test_11_it_may_with_a_twin_in_hand(preset: str) -> None:
    assert discards(after(at(f"rules {preset}; hand 0: 7H QS; pile: 7H"), "take pile")) == {"7H", "QS"}


@pytest.mark.parametrize("preset", presets(pile_take="free"))
def test_11_melding_the_twin_lifts_the_restriction(preset: str) -> None:
    game = at(f"rules {preset}; hand 0: 7H QS KC; team 0: 4H 5H 6H; pile: 7H")
    assert discards(after(game, "take pile", "lay off 7H on 4H-6H")) == {"7H", "QS", "KC"}


@pytest.mark.parametrize("preset", presets(pile_take="free"))
def test_11_a_pile_of_two_may_be_discarded_again(preset: str) -> None:
    assert discards(after(at(f"rules {preset}; hand 0: KC QS; pile: 9C 7H"), "take pile")) == {"KC", "QS", "9C", "7H"}


def test_11_another_field_value_allows_it() -> None:
    game = at("rules online single_card_rediscard=allowed; hand 0: KC QS; pile: 7H")
    assert discards(after(game, "take pile")) == {"KC", "QS", "7H"}


def test_11_under_a_duty_the_twin_may_go_once_the_top_card_is_melded() -> None:
    game = at("rules classic; hand 0: 7H QS KC; team 0: 4H 5H 6H; pile: 7H")
    assert discards(after(game, "take pile", "lay off 7H on 4H-6H")) == {"7H", "QS", "KC"}


def test_11_the_next_turn_knows_nothing_of_it() -> None:
    game = after(at("rules online num_seats=2; hand 0: KC QS; hand 1: 3C 4D; pile: 7H"), "take pile", "discard KC")
    game = after(game, "draw", "discard 3C", "draw")
    assert "7H" in discards(game)


def test_11_it_counts_in_the_guard() -> None:
    """Laying off KC would leave 7H alone, with no canasta and the morto gone."""
    game = at("rules online; mortos taken: 1 0; hand 0: KC; team 0: TC JC QC; pile: 7H")
    assert legal(after(game, "take pile")) == {"discard KC"}


# ---------------------------------------------------------------- 17: the duty, the guard and the morto

STRANDED = "phase draw; hand 0: KC; team 0: 4H 5H 6H; pile: 7H"


@pytest.mark.parametrize("preset", CLOSED + OPEN_PILE)
def test_17_a_pile_after_which_no_card_could_be_kept_is_not_taken(preset: str) -> None:
    gone = "2 0" if preset == "classic_three_mortos" else "1 0"
    assert legal(at(f"rules {preset}; mortos taken: {gone}; {STRANDED}")) == {"draw"}


@pytest.mark.parametrize("preset", CLOSED + OPEN_PILE)
def test_17_with_a_morto_to_come_it_is(preset: str) -> None:
    assert "take pile" in legal(at(f"rules {preset}; {STRANDED}"))


@pytest.mark.parametrize("preset", CLOSED + OPEN_PILE)
def test_17_with_a_canasta_it_is(preset: str) -> None:
    gone = "2 0" if preset == "classic_three_mortos" else "1 0"
    text = f"mortos taken: {gone}; phase draw; hand 0: KC; team 0: {CANASTA}; pile: JH"
    assert "take pile" in legal(at(f"rules {preset}; {text}"))


@pytest.mark.parametrize("preset", CLOSED + OPEN_PILE)
def test_17_with_a_buried_card_to_keep_it_is(preset: str) -> None:
    gone = "2 0" if preset == "classic_three_mortos" else "1 0"
    text = f"mortos taken: {gone}; {STRANDED.replace('7H', '3C 7H')}"
    game = after(at(f"rules {preset}; {text}"), "take pile", "lay off 7H on 4H-6H")
    assert discards(game) == {"3C", "KC"}


@pytest.mark.parametrize("preset", presets(pile_take="free"))
def test_17_without_a_duty_two_cards_are_enough(preset: str) -> None:
    game = after(at(f"rules {preset}; mortos taken: 1 0; {STRANDED}"), "take pile")
    assert legal(game) == {"discard KC"}


def test_17_the_card_that_completes_the_canasta_may_be_the_top_card() -> None:
    text = "mortos taken: 1 0; phase draw; hand 0: KC; team 0: 4H 5H 6H 7H 8H 9H; pile: TH"
    game = after(at(f"rules fechado; {text}"), "take pile", "lay off TH on 4H-9H", "discard KC")
    assert game.end_reason == "out"


# ---------------------------------------------------------------- 20: empty piles, swaps, copies


@pytest.mark.parametrize("preset", presets())
def test_20_an_empty_pile_cannot_be_taken(preset: str) -> None:
    assert legal(at(f"rules {preset}; hand 0: KC QS")) == {"draw"}


def test_20_a_swap_that_lays_the_top_card_melds_it() -> None:
    game = at("rules classic; hand 0: KC QS; team 0: 4H 5H 2S* 7H; pile: 6H")
    assert discards(after(game, "take pile", "swap 6H into 4H-7H")) == {"2S", "KC", "QS"}


def test_20_a_copy_of_the_top_card_fulfils_the_duty() -> None:
    game = at("rules classic; hand 0: 7H KC QS; team 0: 4H 5H 6H; pile: 9D 7H")
    assert "7H" in discards(after(game, "take pile", "lay off 7H on 4H-6H"))


def test_20_a_top_card_swapped_out_again_has_been_used() -> None:
    game = at("rules classic; hand 0: 7H KC QS; team 0: 4H 5H 6H; pile: 9D JK")
    game = after(game, "take pile", "lay off JK* on 4H-6H high", "swap 7H into 4H-7H")
    assert "JK" in discards(game)


def test_20_a_swap_may_free_the_wild_that_uses_the_top_card() -> None:
    game = at("rules classic; hand 0: 6H 9C 8D 4S; team 0: 4H 5H 2S* 7H; pile: 3S 9D")
    game = after(game, "take pile", "swap 6H into 4H-7H", "meld 9C 9D 2S*")
    assert table(game) == ["4H 5H 6H 7H", "9C 9D 2S*"]


def test_20_no_swap_in_sets() -> None:
    assert moves(at("rules classic; phase meld; hand 0: KH QS 3C; team 0: KC KD 2S*")) == {"lay off KH on set K"}


# ---------------------------------------------------------------- section 1: a turn


def test_the_whole_pile_is_taken() -> None:
    game = after(at("rules online; hand 0: KC QS; pile: 9C 7H 3D"), "take pile")
    assert (sorted(game.hand(0)), game.pile) == (["3D", "7H", "9C", "KC", "QS"], [])


def test_a_turn_draws_once() -> None:
    game = after(at("rules online; hand 0: KC QS; pile: 9C"), "draw")
    assert not {"draw", "take pile"} & legal(game)


def test_nothing_is_melded_before_drawing() -> None:
    assert legal(at("rules online; hand 0: KC KD KS 9H; pile: 9C")) == {"draw", "take pile"}


def test_a_discard_ends_the_turn_and_lies_on_top() -> None:
    game = after(at("rules online; hand 0: KC QS; pile: 9C"), "draw", "discard QS")
    assert (game.seat, game.phase, game.pile) == (1, "draw", ["9C", "QS"])
