"""Melds card by card: the shared vectors laid from the hand, then `rules.md` section 3 sentence by sentence."""

import json
from pathlib import Path

import pytest

from buraco_env import Game, Meld, PositionError
from tests.conftest import INTERPRETED
from tests.details import ACE_TO_KING, TWO_TO_ACE, after, at, high, legal, moves, presets, table

pytestmark = pytest.mark.kernel

VECTORS = Path(__file__).parent.parent.parent / "shared" / "meld_vectors.json"
FIXED, SLIDES, RESOLVES = (presets(wild_moves=how) for how in ("fixed", "slides", "resolves"))
MOVING = SLIDES + RESOLVES

# ---------------------------------------------------------------- the shared vectors


def vectors() -> list:
    rows = json.loads(VECTORS.read_text()) if VECTORS.exists() else []
    return [(row["cards"], preset, value) for row in rows for preset, value in row["expected"].items()]


def whole_melds(preset: str, cards: str) -> list[Meld]:
    """Every meld of exactly these cards that a hand which holds them, and three more, can build alone.

    A long run is begun with 6H 7H 8H, in its middle: beginnings elsewhere lead to the same runs.
    """
    bag = sorted(cards.split())
    if "JK" in bag and preset == "aberto":
        return []
    game = at(f"rules {preset} first_meld_min=0; phase meld; mortos taken: 0 0; hand 0: {cards} 6D 7S JD")
    found, seen, todo = [], set(), [game]
    while todo:
        now = todo.pop()
        for action in _growth(now, len(bag) > 9):
            then = now.copy()
            then.play(action)
            [meld] = then.melds(0)
            laid = sorted(card.removesuffix("*") for card in meld.cards)
            if str(meld) in seen or not set(laid) <= set(bag):
                continue
            seen.add(str(meld))
            found += [meld] * (laid == bag)
            todo.append(then)
    return found


def _growth(game: Game, is_long: bool) -> list[int]:
    """The moves that begin the one meld, or lay a card on it."""
    begins = ("lay off", "swap") if game.melds(0) else ("meld 6H 7H 8H",) if is_long else ("meld",)
    return [action for action in game.legal_actions() if game.describe(action).startswith(begins)]


@pytest.mark.skipif(not VECTORS.exists(), reason="the shared vectors are not here")
@pytest.mark.parametrize(("cards", "preset", "value"), vectors())
def test_meld_vector(cards: str, preset: str, value: dict | None) -> None:
    if INTERPRETED and len(cards.split()) > 13:
        pytest.skip("too many ways to lay them for plain Python")
    melds = whole_melds(preset, cards)
    best = max(((meld.is_clean, meld.bonus, meld.points) for meld in melds), default=None)
    assert best == (value and (value["clean"], value["bonus"], value["points"]))


# ---------------------------------------------------------------- fixed


def run_after(preset: str, run: str, card: str, action: str) -> list[str]:
    return table(after(at(f"rules {preset}; phase meld; hand 0: {card} KC QD; team 0: {run}"), action))


@pytest.mark.parametrize("preset", FIXED)
def test_fixed_a_run_is_extended_at_its_ends(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: 3H 9H KC; team 0: 5H JK* 7H 8H")
    assert moves(game) == {"lay off 9H on 5H-8H"}


@pytest.mark.parametrize("preset", FIXED)
def test_fixed_a_swap_gives_the_wild_to_be_laid_elsewhere(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: 6H KC QD; team 0: 5H JK* 7H 8H | TC TD TS")
    game = after(game, "swap 6H into 5H-8H", "lay off JK* on set T")
    assert table(game) == ["5H 6H 7H 8H", "TC TD TS JK*"]


@pytest.mark.parametrize("preset", FIXED)
def test_fixed_a_swapped_wild_may_go_back_to_the_same_run(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: 6H KC QD; team 0: 5H JK* 7H 8H")
    assert table(after(game, "swap 6H into 5H-8H", "lay off JK* on 5H-8H high")) == ["5H 6H 7H 8H JK*"]


@pytest.mark.parametrize("preset", FIXED)
def test_fixed_a_swap_needs_the_very_card(preset: str) -> None:
    assert moves(at(f"rules {preset}; phase meld; hand 0: 6D KC QD; team 0: 5H JK* 7H 8H")) == set()


@pytest.mark.parametrize("preset", FIXED)
def test_fixed_a_wild_at_an_end_is_swapped_too(preset: str) -> None:
    assert run_after(preset, "5H 6H 7H 2S*", "8H", "swap 8H into 5H-8H") == ["5H 6H 7H 8H"]


@pytest.mark.parametrize("preset", FIXED)
def test_fixed_a_swapped_wild_joins_the_canasta_of_its_own_suit_at_home(preset: str) -> None:
    run = "3H 4H 5H 6H 7H 2H* 9H"
    game = at(f"rules {preset}; phase meld; hand 0: 8H KC QD; team 0: {run}")
    assert table(after(game, "swap 8H into 3H-9H", "lay off 2H on 3H-9H")) == ["2H 3H 4H 5H 6H 7H 8H 9H"]


@pytest.mark.parametrize("preset", presets(wild_min_run=4))
def test_fixed_the_player_chooses_the_gap_of_a_new_meld(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: 5H 6H 8H JK KC QD; team 0: 4S 5S 6S")
    assert "5H 6H JK* 8H" in table(after(game, "meld 5H 6H JK* 8H"))


def test_fixed_the_player_chooses_the_end_of_a_new_meld() -> None:
    game = at("rules classic_brazilian; phase meld; hand 0: 5H 6H JK KC QD")
    assert moves(game) == {"meld JK* 5H 6H", "meld 5H 6H JK*"}


@pytest.mark.parametrize("preset", FIXED)
def test_fixed_an_ace_may_stand_at_either_end(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: AH KC QD; team 0: 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH")
    assert {str(after(game, text).melds(0)[0]) for text in moves(game)} == {ACE_TO_KING, TWO_TO_ACE}


def test_fixed_a_second_wild_does_not_come_in() -> None:
    assert moves(at("rules classic; phase meld; hand 0: JK KC QD; team 0: 5H 6H 7H 2S*")) == set()


def test_fixed_a_natural_two_and_one_wild() -> None:
    assert run_after("classic", "2H 3H 4H", "2S", "lay off 2S* on 2H-4H high") == ["2H 3H 4H 2S*"]


# ---------------------------------------------------------------- slides and resolves


@pytest.mark.parametrize("preset", presets(wild_moves="slides", num_jokers=4) + RESOLVES)
@pytest.mark.parametrize(
    ("card", "lies"), [("3H", "3H JK* 5H 6H 7H"), ("8H", "5H 6H 7H 8H JK*"), ("9H", "5H 6H 7H JK* 9H")]
)
def test_moving_a_joker_stands_where_it_is_needed(preset: str, card: str, lies: str) -> None:
    assert run_after(preset, "5H 6H 7H JK*", card, f"lay off {card} on 5H-8H") == [lies]


@pytest.mark.parametrize("preset", MOVING)
@pytest.mark.parametrize("card", ["2H", "AH", "TH", "5H"])
def test_moving_what_no_placement_allows_is_refused(preset: str, card: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: {card} KC QD; team 0: 5H 6H 7H 2S*")
    assert moves(game) == set()


@pytest.mark.parametrize("preset", MOVING)
def test_moving_gap_then_high_then_low_end(preset: str) -> None:
    assert run_after(preset, "JH QH KH 2S*", "AH", "lay off AH on JH-AH") == ["2S* JH QH KH AH"]


@pytest.mark.parametrize("preset", MOVING)
def test_moving_a_two_goes_home_with_the_three(preset: str) -> None:
    assert run_after(preset, "4H 5H 6H 2H*", "3H", "lay off 3H on 4H-7H") == ["2H 3H 4H 5H 6H"]


@pytest.mark.parametrize("preset", MOVING)
def test_moving_a_two_goes_home_with_the_ace_below(preset: str) -> None:
    assert run_after(preset, "3H 4H 5H 2S*", "2H", "lay off 2H on 3H-6H") == ["2H 3H 4H 5H 2S*"]


@pytest.mark.parametrize("preset", presets(wild_moves="slides", num_jokers=4) + RESOLVES)
def test_moving_a_joker_s_canasta_never_becomes_clean(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: 8H KC QD; team 0: 3H 4H 5H 6H 7H JK* 9H")
    assert not after(game, "lay off 8H on 3H-9H").melds(0)[0].is_clean


@pytest.mark.parametrize("preset", MOVING)
def test_moving_there_is_one_action_for_an_ace(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: AH KC QD; team 0: 2H 3H 4H 5H 6H 7H 8H 9H TH JH QH KH")
    assert [table(after(game, text)) for text in moves(game)] == [[TWO_TO_ACE]]


@pytest.mark.parametrize("preset", MOVING)
def test_moving_there_is_one_action_for_a_wild(preset: str) -> None:
    assert moves(at(f"rules {preset}; phase meld; hand 0: 2S KC QD; team 0: 5H 6H 7H")) == {"lay off 2S* on 5H-7H"}


@pytest.mark.parametrize("preset", MOVING)
def test_moving_the_order_of_the_cards_does_not_matter(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: 4H 5H 7H 8H 2S KC JD")
    one = after(game, "meld 4H 5H 2S*", "lay off 7H on 4H-6H", "lay off 8H on 4H-7H")
    two = after(game, "meld 7H 8H 2S*", "lay off 5H on 7H-9H", "lay off 4H on 5H-8H")
    assert table(one) == table(two) == ["4H 5H 2S* 7H 8H"]


@pytest.mark.parametrize("preset", MOVING)
def test_moving_no_swap(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: 6H KC QD; team 0: 5H 2S* 7H 8H")
    after_it = after(game, "lay off 6H on 5H-8H")
    assert (table(after_it), sorted(after_it.hand(0))) == (["5H 6H 7H 8H 2S*"], ["KC", "QD"])


@pytest.mark.parametrize("preset", SLIDES)
def test_slides_a_natural_two_never_becomes_wild(preset: str) -> None:
    assert moves(at(f"rules {preset}; phase meld; hand 0: 6H KC QD; team 0: 2H 3H 4H")) == set()


@pytest.mark.parametrize("preset", SLIDES)
def test_slides_a_two_that_went_home_stays_there(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: 3H 8H KC QD; team 0: 4H 5H 6H 2H*")
    assert moves(after(game, "lay off 3H on 4H-7H")) == set()


@pytest.mark.parametrize("preset", SLIDES)
def test_slides_no_second_two_for_the_first_to_go_home(preset: str) -> None:
    assert moves(at(f"rules {preset}; phase meld; hand 0: 2H KC QD; team 0: 3C 2C* 5C 6C")) == set()


@pytest.mark.parametrize("preset", RESOLVES)
def test_resolves_a_natural_two_becomes_the_wild(preset: str) -> None:
    assert run_after(preset, "2H 3H 4H", "6H", "lay off 6H on 2H-4H") == ["3H 4H 2H* 6H"]


@pytest.mark.parametrize("preset", RESOLVES)
def test_resolves_a_second_two_sends_the_first_home(preset: str) -> None:
    assert run_after(preset, "3C 2C* 5C 6C", "2H", "lay off 2H* on 3C-6C") == ["2C 3C 2H* 5C 6C"]


@pytest.mark.parametrize("preset", RESOLVES)
def test_resolves_a_joker_sends_the_two_home(preset: str) -> None:
    assert run_after(preset, "3C 2C* 5C 6C", "JK", "lay off JK* on 3C-6C") == ["2C 3C JK* 5C 6C"]


@pytest.mark.parametrize("preset", RESOLVES)
def test_resolves_a_two_of_another_suit_cannot_go_home(preset: str) -> None:
    assert moves(at(f"rules {preset}; phase meld; hand 0: 2H KC QD; team 0: 3C 2S* 5C 6C")) == set()


@pytest.mark.parametrize("preset", MOVING)
def test_moving_a_two_of_the_suit_joins_at_home_beside_a_wild(preset: str) -> None:
    assert run_after(preset, "3C 2C* 5C 6C", "2C", "lay off 2C on 3C-6C") == ["2C 3C 2C* 5C 6C"]


def test_resolves_a_clean_canasta_may_become_dirty_through_its_own_two() -> None:
    run = "2H 3H 4H 5H 6H 7H 8H"
    assert run_after("online", run, "TH", "lay off TH on 2H-8H") == ["3H 4H 5H 6H 7H 8H 2H* TH"]


# ---------------------------------------------------------------- how melds are made


@pytest.mark.parametrize("preset", presets(sets=False))
def test_no_sets(preset: str) -> None:
    assert moves(at(f"rules {preset}; phase meld; hand 0: KC KD KH KS 9H")) == set()


@pytest.mark.parametrize("preset", presets(sets_of_twos=True))
def test_a_set_of_twos_takes_a_joker_as_its_one_wild(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: 2C JK JK KC QD; team 0: 2D 2H 2S")
    assert moves(game) == {"lay off 2C on set 2", "lay off JK* on set 2"}
    assert "lay off JK* on set 2" not in moves(after(game, "lay off JK* on set 2"))


@pytest.mark.parametrize("preset", presets(sets_of_twos=True))
def test_two_twos_and_a_joker_are_a_set(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: 2C 2D JK KC QD; team 0: 4H 5H 6H 7H JK*")
    assert moves(game) == {"meld 2C 2D JK*"}


@pytest.mark.parametrize("preset", presets(sets=True, sets_of_twos=False))
def test_no_set_of_twos(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: 2C 2D 2H JK KC QD")
    assert moves(game) == set()


@pytest.mark.parametrize("preset", presets(sets=True))
def test_a_set_takes_twins_and_one_wild(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: KC KC JK 2S 9H 8D; team 0: QC QD QH JK*")
    game = after(game, "meld KC KC 2S*")
    assert "lay off JK* on set K" not in moves(game)
    assert moves(game) == set()


@pytest.mark.parametrize("preset", presets(sets=True))
def test_one_natural_and_wilds_are_no_set(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: KC JK 2S 9H 7D; team 0: TC TD TH JK*")
    assert moves(game) == set()


@pytest.mark.parametrize(("most", "may"), [(0, True), (9, True), (8, True), (7, False), (3, False)])
def test_max_set(most: int, may: bool) -> None:
    cards = "KC KD KH" if most == 3 else "KC KC KD KD KH KH KS"
    game = at(f"rules online max_set={most}; phase meld; hand 0: KS JK 3C 4D; team 0: {cards}")
    assert ("lay off KS on set K" in moves(game)) == ("lay off JK* on set K" in moves(game)) == may


def test_two_sets_of_a_rank_may_lie_side_by_side() -> None:
    game = at("rules online; phase meld; hand 0: KC KD KS 3C 4D; team 0: KC KH KS")
    game = after(game, "meld KC KD KS")
    assert table(game) == ["KC KH KS", "KC KD KS"]


def test_two_runs_of_a_suit_may_lie_side_by_side_and_never_merge() -> None:
    game = at("rules online; phase meld; hand 0: 3H 4H 5H KC QD; team 0: 6H 7H 8H")
    assert table(after(game, "meld 3H 4H 5H")) == ["6H 7H 8H", "3H 4H 5H"]


@pytest.mark.parametrize("preset", presets(wild_min_run=3, num_jokers=4))
def test_no_wilds_in_runs(preset: str) -> None:
    rules = f"{preset} wild_min_run=0"
    game = at(f"rules {rules}; phase meld; hand 0: 5H 6H JK 2S 9D KC; team 0: 7C 8C 9C")
    assert moves(game) == set()


def test_no_wilds_in_runs_leaves_the_natural_two() -> None:
    assert run_after("online wild_min_run=0", "3H 4H 5H", "2H", "lay off 2H on 3H-5H") == ["2H 3H 4H 5H"]


def test_no_wilds_in_runs_leaves_wilds_in_sets() -> None:
    assert "meld KC KD JK*" in moves(at("rules online wild_min_run=0; phase meld; hand 0: KC KD JK 4S 9H"))


def test_four_cards_with_a_wild_inside_where_wilds_move() -> None:
    game = at("rules online wild_min_run=4; phase meld; hand 0: 5H 6H 8H JK KC QD")
    assert moves(game) == {"meld 5H 6H JK* 8H"}


def test_104_cards_hold_no_joker() -> None:
    with pytest.raises(PositionError, match="the deck has only 0 JK"):
        at("rules aberto; phase meld; hand 0: JK KC QD")


def test_without_jokers_the_twos_stay_wild() -> None:
    assert moves(at("rules aberto; phase meld; hand 0: 5H 6H 2S KC")) == {"meld 5H 6H 2S*"}


@pytest.mark.parametrize("preset", MOVING)
def test_a_position_text_lies_as_the_rules_lay_it(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: KC QD; team 0: 3H 4H 5H 2S*")
    assert table(Game.from_position(str(game))) == ["3H 4H 5H 2S*"]


@pytest.mark.parametrize("preset", ["classic", "online", "fechado"])
def test_a_lay_off_names_its_meld(preset: str) -> None:
    game = at(f"rules {preset}; phase meld; hand 0: 2S KC QD; team 0: 5H 6H 7H | 5S 6S 7S")
    assert {text for text in legal(game) if "on 5S-7S" in text} == {"lay off 2S* on 5S-7S" + high(game)}
