"""Mortos, the ends of a deal, upcards and scores: `rules.md` sections 2, 4 and 5 sentence by sentence."""

import pytest

from buraco_env import Game, rule_names
from buraco_env.cards import parse_card
from tests.details import ACE_TO_KING, CANASTA, after, at, discards, legal, presets

pytestmark = pytest.mark.kernel

FIVE_CARDS = "3H 4H 5H 6H 7H"

# ---------------------------------------------------------------- mortos (section 4)


@pytest.mark.parametrize("preset", presets(meld_out_morto=True, sets=True))
def test_a_hand_emptied_by_melding_takes_a_morto_and_plays_on(preset: str) -> None:
    game = after(at(f"rules {preset}; phase meld; hand 0: 8H; team 0: {FIVE_CARDS}"), "lay off 8H on 3H-7H")
    assert (game.seat, game.phase, game.morto_taken(0), game.mortos_left) == (0, "meld", 1, game.rules.num_mortos - 1)
    assert len(game.hand(0)) == game.rules.morto_size


@pytest.mark.parametrize("preset", presets(morto_after_discard="next_turn"))
def test_next_turn_the_morto_waits_for_the_seat_s_next_turn(preset: str) -> None:
    game = after(at(f"rules {preset}; phase meld; hand 0: KC; team 0: {FIVE_CARDS}"), "discard KC")
    assert (game.seat, game.phase, game.morto_taken(0), len(game.hand(0))) == (1, "draw", 1, 11)
    assert "waiting: 0" in str(game)


@pytest.mark.parametrize("preset", presets(morto_after_discard="immediate"))
def test_immediate_the_morto_is_played_at_once_without_another_discard(preset: str) -> None:
    game = after(at(f"rules {preset}; phase meld; hand 0: KC; team 0: {FIVE_CARDS}"), "discard KC")
    assert (game.seat, game.phase, game.morto_taken(0)) == (0, "extra", 1)
    assert "end turn" in legal(game) and not discards(game)
    assert after(game, "end turn").seat == 1


def test_immediate_a_card_must_be_kept_unless_the_team_may_go_out() -> None:
    text = "phase extra; mortos taken: 1 0; hand 0: 8H"
    assert legal(at(f"rules classic; {text}; team 0: {FIVE_CARDS}")) == {"end turn"}
    assert "lay off 8H on 2H-7H" in legal(at(f"rules classic; {text}; team 0: 2H {FIVE_CARDS} | KC KC KD KD KH KH KS"))


def test_a_further_morto_in_the_extra_phase_needs_no_discard() -> None:
    game = at(f"rules classic_three_mortos; phase extra; mortos taken: 1 0; hand 0: 8H; team 0: {FIVE_CARDS}")
    game = after(game, "lay off 8H on 3H-7H")
    assert (game.phase, game.morto_taken(0)) == ("extra", 2)
    assert "end turn" in legal(game)


@pytest.mark.parametrize(("taken", "more"), [("1 0", True), ("1 1", True), ("1 2", False), ("2 0", False)])
def test_three_mortos_leave_one_for_the_faster(taken: str, more: bool) -> None:
    game = at(f"rules classic_three_mortos; phase meld; mortos taken: {taken}; hand 0: 8H KC; team 0: {FIVE_CARDS}")
    assert ("lay off 8H on 3H-7H" in legal(game)) == more


def test_a_team_that_has_its_morto_leaves_the_other_alone() -> None:
    game = at(f"rules online; phase meld; mortos taken: 1 0; hand 0: KC; team 0: {CANASTA}")
    game = after(game, "discard KC")
    assert (game.end_reason, game.mortos_left) == ("out", 1)


# ---------------------------------------------------------------- the end of the stock (section 5)


def nearly_out(rules: str, stock: int, mortos: int = 2) -> Game:
    """Two seats, seat 0 to draw, so many cards left in the stock."""
    game = at(f"rules {rules} num_seats=2; hand 0: KC QS")
    jokers, dealt = game.rules.num_jokers, game.rules.morto_size * mortos
    rest = 104 + jokers - 2 - dealt - stock
    return at(f"rules {rules} num_seats=2; hand 0: KC QS; hand 1: + {rest}; mortos: {mortos}; stock: {stock}")


@pytest.mark.parametrize("preset", presets(stock_end="after_turn", num_mortos=2))
def test_after_turn_the_turn_is_played_out(preset: str) -> None:
    game = after(nearly_out(preset, 1), "draw")
    assert game.phase == "meld"
    assert after(game, "discard KC").end_reason == "stock"


@pytest.mark.parametrize("preset", presets(stock_end="at_last_draw"))
def test_at_last_draw_the_deal_ends_at_once_and_the_card_counts(preset: str) -> None:
    game = after(nearly_out(preset, 1), "draw")
    assert (game.phase, game.end_reason, len(game.hand(0))) == ("over", "stock", 3)


@pytest.mark.parametrize("preset", presets(stock_end="mortos_join"))
def test_mortos_join_the_stock_as_soon_as_it_is_empty(preset: str) -> None:
    before = nearly_out(preset, 1)
    game = after(before, "draw")
    assert (game.phase, game.stock_size, game.mortos_left) == ("meld", 22, 0)
    first = next(line for line in str(before).splitlines() if line.startswith("mortos: ")).split()[1]
    assert next(line for line in str(game).splitlines() if line.startswith("stock: ")).split()[-1] == first


def test_mortos_join_and_then_the_turn_is_played_out() -> None:
    game = after(nearly_out("fechado", 1, 0), "draw")
    assert after(game, "discard KC").end_reason == "stock"


def test_mortos_that_joined_can_be_taken_no_more_but_a_team_may_go_out_without() -> None:
    rest = 108 - 1 - 7 - 20
    text = f"rules fechado num_seats=2; phase meld; hand 0: KC; hand 1: + {rest}; mortos: 0; stock: 20"
    game = after(at(f"{text}; team 0: {CANASTA}"), "discard KC")
    assert game.end_reason == "out"
    assert game.scores()[0] == 20 + 30 + 200 + 100 - 100


@pytest.mark.parametrize(("stock", "ends"), [(4, False), (3, True)])
@pytest.mark.parametrize("preset", presets(stock_end="last_two"))
def test_last_two_cards_end_the_deal_after_the_turn(preset: str, stock: int, ends: bool) -> None:
    game = after(nearly_out(preset, stock), "draw", "discard KC")
    assert (game.end_reason == "stock") == ends


def test_the_turn_cap_pays_nobody_for_going_out() -> None:
    game = after(at("rules online; turn 399; phase meld; hand 0: KC QS"), "discard KC")
    assert (game.end_reason, game.turn) == ("turn cap", 400)


def test_the_end_of_the_stock_comes_before_the_turn_cap() -> None:
    game = nearly_out("classic max_turns=1", 1)
    assert after(game, "draw", "discard KC").end_reason == "stock"


# ---------------------------------------------------------------- deals


@pytest.mark.parametrize("upcard", ["none", "bury_wilds", "redeal_joker", "any"])
def test_upcard(upcard: str) -> None:
    games = [Game("classic", seed=seed, upcard=upcard) for seed in range(60)]
    tops = {game.pile[0] for game in games if game.pile}
    assert all(len(game.pile) == (upcard != "none") for game in games)
    assert any(card == "JK" or card[0] == "2" for card in tops) == (upcard == "any")
    buried = {line for game in games for line in str(game).splitlines() if ", bottom" in line}
    assert bool(buried) == (upcard in ("bury_wilds", "redeal_joker"))
    assert upcard != "redeal_joker" or not any("JK" in line.partition(", bottom")[2] for line in buried)


@pytest.mark.parametrize("seats", [2, 4])
@pytest.mark.parametrize("preset", rule_names())
def test_every_card_is_dealt(preset: str, seats: int) -> None:
    game = Game(preset, seed=1, num_seats=seats)
    rules = game.rules
    hands = [len(game.hand(seat)) for seat in range(seats)]
    assert hands == [rules.hand_size] * seats and game.mortos_left == rules.num_mortos
    others = rules.num_mortos * rules.morto_size + len(game.pile) + game.stock_size
    assert sum(hands) + others == 104 + rules.num_jokers


# ---------------------------------------------------------------- scores


def value(rules: str, meld: str) -> int:
    """The bonus of a meld."""
    return at(f"rules {rules}; phase meld; hand 0: 3C 4D; team 0: {meld}").melds(0)[0].bonus


@pytest.mark.parametrize(
    ("meld", "bonus"),
    [
        ("3H 4H 5H 6H 7H 8H 9H JK*", 150),
        ("3H 4H 5H 6H 7H 8H 9H JK* JH", 150),
        ("4H 5H 6H 7H JK* 9H TH JH", 100),
        ("3H JK* 5H 6H 7H 8H 9H TH JH", 150),
        ("3H 4H 5H 6H 7H 8H JK*", 100),
        ("KC KC KD KD KH KH KS JK*", 150),
        ("KC KC KD KD KH KH KS KS JK*", 100),
        ("KC KC KD KD KH KH JK*", 100),
    ],
)
@pytest.mark.parametrize("rules", ["burraco", "online bonus_semi_clean=150", "classic bonus_semi_clean=150"])
def test_semi_clean(rules: str, meld: str, bonus: int) -> None:
    assert value(rules, meld) == bonus


def test_semi_clean_with_the_wild_at_the_low_end() -> None:
    assert value("burraco", "2S* 8H 9H TH JH QH KH AH") == 150


@pytest.mark.parametrize(
    ("rules", "meld", "bonus"),
    [
        ("fechado", ACE_TO_KING.replace("AH ", "", 1) + " AH", 500),
        ("fechado", f"{ACE_TO_KING} AH", 1000),
        ("fechado", f"{ACE_TO_KING} 2S*", 100),
        ("fechado", ACE_TO_KING.replace("AH ", "", 1), 200),
        ("online", f"{ACE_TO_KING} AH", 200),
        ("online bonus_ace_to_ace=700", f"{ACE_TO_KING} AH", 700),
        ("classic bonus_royal=150", ACE_TO_KING, 200),
        ("classic bonus_clean=0 bonus_royal=150", ACE_TO_KING, 150),
        ("fechado bonus_ace_to_ace=0", f"{ACE_TO_KING} AH", 200),
        ("classic bonus_semi_clean=50", "3H 4H 5H 6H 7H 8H 9H JK*", 100),
        ("aberto_sujo", "3H 4H 5H 6H 7H 8H", 0),
    ],
)
def test_the_best_bonus_that_applies(rules: str, meld: str, bonus: int) -> None:
    assert value(rules, meld) == bonus


def scores_of_team_0(rules: str, lines: str) -> int:
    """Its score while seats 0 and 2 hold KC 3C and 2S AH."""
    return at(f"rules {rules}; hand 0: KC 3C; hand 2: 2S AH; {lines}").scores()[0]


@pytest.mark.parametrize(
    ("rules", "lines", "score"),
    [
        ("classic", "", -10 - 5 - 20 - 15 - 100),
        ("fechado", "", -10 - 5 - 10 - 15 - 100),
        ("classic", "mortos taken: 1 0", -50),
        ("classic bonus_morto=40", "mortos taken: 1 0", -50 + 40),
        ("classic penalty_no_morto=0", "", -50),
        ("classic", f"mortos taken: 1 0; team 0: {CANASTA}", -50 + 20 + 30 + 200),
        ("classic", "mortos taken: 1 0; team 0: 4H 5H 6H JK*", -50 + 15 + 30),
        ("fechado", "mortos taken: 1 0; team 0: 4H 5H 6H JK*", -40 + 15 + 20),
    ],
)
def test_scores_from_scratch(rules: str, lines: str, score: int) -> None:
    assert scores_of_team_0(rules, lines) == score


@pytest.mark.parametrize("preset", ["aberto", "fechado", "fechado_stcl", "fechado_sujo", "aberto_sujo", "online"])
def test_an_unused_morto_costs_its_cards_and_its_penalty(preset: str) -> None:
    game = after(at(f"rules {preset}; phase meld; hand 0: KC; hand 2: 3C; team 0: {FIVE_CARDS}"), "discard KC")
    cards = sum(game.rules.points(card) for card in map(parse_card, game.hand(0)))
    assert game.scores()[0] == 25 - 5 - cards - game.rules.penalty_unused_morto


def test_a_morto_counts_as_used_once_its_owner_has_started_a_turn() -> None:
    game = after(at(f"rules fechado; phase meld; hand 0: KC; team 0: {FIVE_CARDS}"), "discard KC")
    for _ in range(3):
        assert "waiting: 0" in str(game)
        game.play("draw")
        game.play("discard " + min(discards(game)))
    assert (game.seat, "waiting" in str(game)) == (0, False)


def test_going_out_pays_its_bonus() -> None:
    game = at(f"rules classic; phase meld; mortos taken: 1 0; hand 0: KC; hand 2: 3D; team 0: {CANASTA}")
    assert after(game, "discard KC").scores()[0] == 50 + 200 + 100 - 5
