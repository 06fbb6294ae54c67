"""The details of `rules.md` section 7 about hands and turns, 12 to 16, 18, 19, 22 and 23: one position, one claim."""

import random
from collections import Counter

import pytest

from buraco_env import Game, IllegalAction, Match, PositionError, Rules, rule_names
from buraco_env.match import Ledger
from tests.details import CANASTA, after, at, discards, legal, moves, presets, table

pytestmark = pytest.mark.kernel

GONE = "phase meld; mortos taken: 1 0"  # the team can take no further morto
DIRTY = "4H 5H 6H 7H 8H 9H 2S*"

# ---------------------------------------------------------------- 12: always a card to discard


@pytest.mark.parametrize("mortos", ["0 0", "1 0"])
def test_12_aberto_sujo_never_melds_the_last_card(mortos: str) -> None:
    game = at(f"rules aberto_sujo; phase meld; mortos taken: {mortos}; hand 0: 3H JH; team 0: {CANASTA}")
    assert legal(after(game, "lay off JH on 4H-TH")) == {"discard 3H"}


@pytest.mark.parametrize("mortos", ["0 0", "1 0"])
def test_12_the_other_presets_of_that_text_do(mortos: str) -> None:
    game = at(f"rules fechado_sujo; phase meld; mortos taken: {mortos}; hand 0: 3H JH; team 0: {CANASTA}")
    assert "lay off 3H on 4H-JH" in legal(after(game, "lay off JH on 4H-TH"))


def test_12_a_new_meld_of_all_three_cards_is_refused() -> None:
    assert moves(at("rules aberto_sujo; phase meld; hand 0: 9C TC JC; team 0: 4H 5H 6H")) == set()


def test_12_without_a_canasta_two_cards_must_be_left_once_the_morto_is_gone() -> None:
    assert legal(at(f"rules aberto_sujo; {GONE}; hand 0: 7H KC; team 0: 4H 5H 6H")) == {"discard 7H", "discard KC"}


def test_12_going_out_is_by_the_last_discard() -> None:
    game = after(at(f"rules aberto_sujo; {GONE}; hand 0: KC; team 0: {DIRTY}"), "discard KC")
    assert game.end_reason == "out"


def test_12_burraco_takes_a_morto_by_melding_but_does_not_go_out_so() -> None:
    assert legal(at(f"rules burraco; {GONE}; hand 0: JH; team 0: {CANASTA}")) == {"discard JH"}
    assert "lay off JH on 4H-TH" in legal(at(f"rules burraco; phase meld; hand 0: JH; team 0: {CANASTA}"))


# ---------------------------------------------------------------- 13: nobody is stranded


@pytest.mark.parametrize("preset", ["online", "burraco", "fechado", "aberto", "classic", "mini"])
def test_13_no_canasta_and_no_morto_leaves_two_cards(preset: str) -> None:
    game = at(f"rules {preset}; {GONE}; hand 0: 7H 8H KC; team 0: 4H 5H 6H")
    assert discards(after(game, "lay off 7H on 4H-6H")) == {"8H", "KC"}
    assert moves(after(game, "lay off 7H on 4H-6H")) == set()


@pytest.mark.parametrize("preset", ["online", "fechado", "classic", "mini"])
def test_13_two_lay_offs_of_which_the_second_completes_the_canasta(preset: str) -> None:
    game = at(f"rules {preset}; {GONE}; hand 0: 9H TH; team 0: 4H 5H 6H 7H 8H")
    assert after(game, "lay off 9H on 4H-8H", "lay off TH on 4H-9H").end_reason == "out"


def test_13_six_cards_are_no_canasta() -> None:
    assert moves(at(f"rules online; {GONE}; hand 0: 9H TH; team 0: 5H 6H 7H 8H")) == set()


def test_13_the_canasta_may_be_completed_so_that_the_last_card_is_discarded() -> None:
    game = at(f"rules online; {GONE}; hand 0: TH KC; team 0: 4H 5H 6H 7H 8H 9H")
    assert after(game, "lay off TH on 4H-9H", "discard KC").end_reason == "out"


def test_13_the_refusal_says_why() -> None:
    with pytest.raises(IllegalAction, match="the turn could not be completed after it"):
        at(f"rules online; {GONE}; hand 0: 7H KC; team 0: 4H 5H 6H").play("lay off 7H on 4H-6H")


def test_13_a_card_is_kept_after_the_discard() -> None:
    with pytest.raises(PositionError, match="the turn could not be completed from here"):
        at(f"rules online; {GONE}; hand 0: KC; team 0: 4H 5H 6H")


@pytest.mark.parametrize("preset", presets(close_with="clean"))
def test_13_a_wild_may_not_dirty_the_only_clean_canasta(preset: str) -> None:
    game = at(f"rules {preset}; {GONE}; hand 0: 2S KC; team 0: {CANASTA}")
    assert moves(game) == set()


# ---------------------------------------------------------------- going out (section 1, close_with)


@pytest.mark.parametrize("preset", presets(close_with="any"))
def test_a_dirty_canasta_goes_out_where_any_will_do(preset: str) -> None:
    gone = "2 0" if preset == "classic_three_mortos" else "1 0"
    game = at(f"rules {preset}; phase meld; mortos taken: {gone}; hand 0: KC; team 0: {DIRTY}")
    assert after(game, "discard KC").end_reason == "out"


@pytest.mark.parametrize("preset", presets(close_with="clean"))
def test_a_dirty_canasta_does_not_go_out_where_it_must_be_clean(preset: str) -> None:
    with pytest.raises(PositionError, match="the turn could not be completed from here"):
        at(f"rules {preset}; {GONE}; hand 0: KC; team 0: {DIRTY}")


@pytest.mark.parametrize("preset", presets(close_with="clean"))
def test_a_clean_canasta_goes_out_everywhere(preset: str) -> None:
    assert after(at(f"rules {preset}; {GONE}; hand 0: KC; team 0: {CANASTA}"), "discard KC").end_reason == "out"


def test_the_rule_is_per_team_the_partner_has_taken_the_morto() -> None:
    game = at("rules classic; seat 2; phase meld; mortos taken: 1 0; hand 2: KC; team 0: KC KD KD KH KH KS KS")
    assert after(game, "lay off KC on set K").end_reason == "out"


def test_the_other_team_s_canasta_does_not_count() -> None:
    with pytest.raises(PositionError):
        at(f"rules classic; {GONE}; hand 0: KC; team 1: {CANASTA}")


def test_a_set_is_a_canasta_too() -> None:
    game = at(f"rules classic_fechado; {GONE}; hand 0: 3C; team 0: KC KC KD KD KH KH KS")
    assert after(game, "discard 3C").end_reason == "out"


# ---------------------------------------------------------------- 14: a wild as the last discard


def test_14_a_wild_that_a_lay_off_could_use_is_not_the_last_discard() -> None:
    assert legal(at("rules online; phase meld; hand 0: JK; team 0: 4H 5H 6H")) == {"lay off JK* on 4H-6H"}


@pytest.mark.parametrize("wild", ["JK", "2C", "2S"])
def test_14_a_wild_with_no_place_may_be(wild: str) -> None:
    assert discards(at(f"rules online; phase meld; hand 0: {wild}; team 0: 4H 5H 2S*")) == {wild}


def test_14_any_two_is_a_wild_even_one_that_could_lie_at_home() -> None:
    assert legal(at("rules online; phase meld; hand 0: 2H; team 0: 3H 4H JK*")) == {"lay off 2H on 3H-5H"}


@pytest.mark.parametrize("preset", ["online", "online close_with=clean"])
def test_14_going_out_counts_as_using_it(preset: str) -> None:
    game = at(f"rules {preset}; {GONE}; hand 0: JK; team 0: {CANASTA} | KC KD KS")
    assert discards(game) == set()


def test_14_what_the_guard_refuses_is_no_use() -> None:
    """The joker on the only clean canasta would make it dirty: nobody could go out."""
    game = at(f"rules online close_with=clean; {GONE}; hand 0: JK; team 0: {CANASTA}")
    assert legal(game) == {"discard JK"}


def test_14_where_the_last_card_is_not_melded_to_go_out_the_wild_is_discarded() -> None:
    game = at(f"rules online meld_out_close=false; {GONE}; hand 0: JK; team 0: {CANASTA}")
    assert legal(game) == {"discard JK"}


def test_14_with_another_card_in_hand_a_wild_may_go() -> None:
    assert "JK" in discards(at("rules online; phase meld; hand 0: JK KC; team 0: 4H 5H 6H"))


def test_14_burraco_does_not_go_out_with_a_wild() -> None:
    with pytest.raises(PositionError):
        at(f"rules burraco; {GONE}; hand 0: JK; team 0: {CANASTA}")


def test_14_burraco_keeps_another_card_for_going_out() -> None:
    game = at(f"rules burraco; {GONE}; hand 0: JK JH; team 0: {CANASTA}")
    assert moves(game) == {"lay off JK* on 4H-TH"}


def test_14_burraco_takes_a_morto_with_a_wild() -> None:
    game = after(at("rules burraco; phase meld; hand 0: JK; team 0: 4H 5H 6H"), "discard JK")
    assert game.morto_taken(0) == 1


@pytest.mark.parametrize("preset", presets(final_discard_wild="allowed"))
def test_14_elsewhere_a_wild_may_be_the_last_discard(preset: str) -> None:
    assert "2S" in discards(at(f"rules {preset}; phase meld; hand 0: 2S; team 0: {CANASTA}"))


# ---------------------------------------------------------------- 15: the first meld


@pytest.mark.parametrize("hand", ["AC AD AS 9H 9S", "TC JC QC KC 9H 8S", "3C 4C 5C 6C", "7H 8H 9H TH"])
def test_15_a_start_that_cannot_reach_fifty_is_refused(hand: str) -> None:
    assert moves(at(f"rules classic_italian; phase meld; hand 0: {hand} QD")) == set()


@pytest.mark.parametrize(
    ("hand", "melds"),
    [
        ("AC AD JK 9H 8S", ["meld AC AD JK*"]),
        ("AC AD 2S 9H 8S", ["meld AC AD 2S*"]),
        ("TC JC QC KC AC 9H 8S", ["meld TC JC QC", "lay off KC on TC-QC", "lay off AC on TC-KC"]),
        ("AC AD AH AS 9H 8S", ["meld AC AD AH", "lay off AS on set A"]),
        ("7C 8C 9C TC JK 3H 8S", ["meld 7C 8C 9C", "lay off TC on 7C-9C", "lay off JK* on 7C-TC high"]),
    ],
)
def test_15_fifty_points_reached_step_by_step(hand: str, melds: list[str]) -> None:
    assert discards(after(at(f"rules classic_italian; phase meld; hand 0: {hand}"), *melds))


def test_15_below_fifty_nothing_but_lay_offs_on_that_meld() -> None:
    game = at("rules classic_italian; phase meld; hand 0: TC JC QC KC AC AD AH AS 9H 8S")
    assert legal(after(game, "meld TC JC QC")) == {"lay off KC on TC-QC"}


def test_15_afterwards_anything() -> None:
    game = at("rules classic_italian; phase meld; hand 0: TC JC QC KC AC 3D 4D 5D 8S")
    game = after(game, "meld TC JC QC", "lay off KC on TC-QC", "lay off AC on TC-KC")
    assert "meld 3D 4D 5D" in legal(game)


def test_15_it_is_one_meld_not_two_together() -> None:
    assert moves(at("rules classic_italian; phase meld; hand 0: TC JC QC KD KH KS 9H 8S")) == set()


def test_15_the_partner_s_meld_opens_for_the_team() -> None:
    game = at("rules classic_italian; seat 2; phase meld; hand 2: 3C 4C 5C KD; team 0: TC JC QC KC AC")
    assert moves(game) == {"meld 3C 4C 5C"}


def test_15_the_other_team_has_its_own_minimum() -> None:
    game = at("rules classic_italian; phase meld; hand 0: 3C 4C 5C KD; team 1: TC JC QC KC AC")
    assert moves(game) == set()


def test_15_the_minimum_is_not_left_to_the_morto() -> None:
    assert moves(at("rules classic_italian; phase meld; hand 0: TC JC QC KC")) == set()


def test_15_the_pile_is_taken_where_the_first_meld_can_be_completed() -> None:
    game = at("rules classic_italian; hand 0: TC JC QC AC 8S; pile: KC")
    done = after(game, "take pile", "meld TC JC QC", "lay off KC on TC-QC", "lay off AC on TC-KC")
    assert discards(done) == {"8S"}


def test_15_the_pile_is_not_taken_where_it_cannot() -> None:
    assert legal(at("rules classic_italian; hand 0: TC JC QC 9H 8S; pile: KC")) == {"draw"}


def test_15_what_reached_the_minimum_may_be_swapped_out() -> None:
    game = at("rules classic_italian; phase meld; hand 0: 4H 5H 6H 7H 8H JK KC QD")
    steps = ["meld 4H 5H 6H", "lay off 7H on 4H-6H", "lay off JK* on 4H-7H high", "swap 8H into 4H-8H"]
    assert "JK" in discards(after(game, *steps))


def test_15_another_minimum_by_override() -> None:
    game = at("rules online first_meld_min=50; phase meld; hand 0: AC AD AS 9H 8S")
    assert moves(game) == set()


# ---------------------------------------------------------------- 16 and 23: matches


@pytest.mark.parametrize(("scores", "winner"), [((3000, 3100), 1), ((3100, 3000), 0), ((3000, 3000), None)])
def test_16_both_at_the_target_the_higher_total_wins_and_a_tie_goes_on(scores: tuple, winner: int | None) -> None:
    ledger = Ledger(Rules.load("classic"))
    ledger.add(scores)
    assert ledger.winner == winner


@pytest.mark.parametrize("preset", presets(tie="starter"))
def test_16_a_tie_is_won_by_the_team_that_started(preset: str) -> None:
    ledger = Ledger(Rules.load(preset))
    ledger.add((2100, 2100))
    assert ledger.winner == 0


@pytest.mark.parametrize("preset", rule_names())
def test_23_seat_0_starts_a_deal_unless_told_otherwise(preset: str) -> None:
    assert (Game(preset, seed=1).seat, Game(preset, seed=1, starter=1).seat) == (0, 1)


@pytest.mark.parametrize("seats", [2, 4])
def test_23_a_match_rotates_the_start(seats: int) -> None:
    match, rng = Match("mini", seed=1, num_seats=seats, target=100_000, max_turns=4), random.Random(1)
    starters = []
    for deal in range(5):
        while match.deals < deal:
            match.play(rng.choice(match.game.legal_actions()))
        starters.append(match.starter)
    assert starters == [deal % seats for deal in range(5)]


# ---------------------------------------------------------------- 18 and 19: cards and ends


def cards_of(text: str) -> Counter[str]:
    """Every card of a full position text."""
    found: Counter[str] = Counter()
    for line in text.splitlines():
        key, _, value = line.partition(":")
        if key.split(" ")[0] in ("hand", "team", "pile", "stock") or key == "mortos":
            value = value.partition(", bottom")[0].replace("/", " ").replace("|", " ").replace("*", " ")
            found.update(word for word in value.split() if not word.isdigit())
    return found


@pytest.mark.parametrize("seats", [2, 4])
@pytest.mark.parametrize("preset", rule_names())
def test_18_every_card_twice_and_jokers_four_times(preset: str, seats: int) -> None:
    game, rng = Game(preset, seed=3, num_seats=seats), random.Random(preset)
    for _ in range(60):
        if not game.over:
            game.play(rng.choice(game.legal_actions()))
        found = cards_of(str(game))
        assert found.pop("JK", 0) == game.rules.num_jokers
        assert len(found) == 52 and set(found.values()) == {2}


def test_19_an_empty_stock_with_an_untakeable_pile_ends_the_deal() -> None:
    game = at("rules fechado num_seats=2; hand 0: 3C 4C; hand 1: + 105; mortos: 0; pile: KC; stock: 0")
    assert (game.phase, game.end_reason, legal(game)) == ("over", "stock", set())


# ---------------------------------------------------------------- 22: the extra phase, and a full run table

EXTRA = "phase extra; mortos taken: 1 0; hand 0: JH"


def test_22_in_the_extra_phase_the_team_may_go_out_by_melding() -> None:
    game = at(f"rules classic; {EXTRA}; team 0: {CANASTA}")
    assert legal(game) == {"lay off JH on 4H-TH", "end turn"}
    assert after(game, "lay off JH on 4H-TH").end_reason == "out"


def test_22_but_not_without_meld_out_close() -> None:
    assert legal(at(f"rules classic meld_out_close=false; {EXTRA}; team 0: {CANASTA}")) == {"end turn"}


SIX_RUNS = "AH 2H 3H | AH 2H 3H | 4H 5H 6H | 4H 5H 6H | 7H 8H 9H | 7H 8H 9H"
FIVE_RUNS = SIX_RUNS.removesuffix(" | 7H 8H 9H")


@pytest.mark.parametrize(("runs", "may"), [(FIVE_RUNS, True), (SIX_RUNS, False)])
def test_22_a_full_run_table_takes_no_new_run(runs: str, may: bool) -> None:
    game = at(f"rules classic; phase meld; hand 0: JH QH KH 3C 9D; team 0: {runs}")
    assert (moves(game) == {"meld JH QH KH"}) == may


@pytest.mark.parametrize(("runs", "may"), [(FIVE_RUNS, True), (SIX_RUNS, False)])
@pytest.mark.parametrize("preset", ["classic", "fechado"])
def test_22_it_counts_in_looking_ahead(preset: str, runs: str, may: bool) -> None:
    game = at(f"rules {preset}; hand 0: JH KH 3C 9D; pile: QH; team 0: {runs}")
    assert ("take pile" in legal(game)) == may


def test_22_another_suit_is_not_full() -> None:
    game = at(f"rules classic; phase meld; hand 0: JS QS KS 3C 9D; team 0: {SIX_RUNS}")
    assert moves(game) == {"meld JS QS KS"}
    assert len(table(after(game, "meld JS QS KS"))) == 7
