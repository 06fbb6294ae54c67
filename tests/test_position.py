"""Position text: written and read back it is the same game; what can't be is refused with the line that is wrong."""

import random
from collections import Counter

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from buraco_env import Game, PositionError, rule_names
from buraco_env.cards import NUM_CARD_TYPES, card_text
from tests.conftest import deals
from tests.positions import random_moments

NOT_IN_THE_TEXT = {"deal_seed", "rng", "last", "last_next"}


def same_future(game: Game, again: Game, rng: random.Random, steps: int) -> None:
    """Play both on with the same actions."""
    for _ in range(steps):
        assert again.legal_actions() == game.legal_actions()
        if game.over:
            return
        action = rng.choice(game.legal_actions())
        game.play(action)
        again.play(action)
    assert str(again) == str(game)


@pytest.mark.kernel
@pytest.mark.parametrize("seats", [2, 4])
@pytest.mark.parametrize("preset", rule_names())
def test_a_game_written_and_read_back_is_the_same_game(preset: str, seats: int) -> None:
    for seed in range(deals(2)):
        rng = random.Random(seed)
        for game in random_moments(preset, 60 + seed, 0.03, num_seats=seats):
            again = Game.from_position(str(game))
            assert str(again) == str(game)
            assert (again.action_mask() == game.action_mask()).all()
            assert all((again.observation(seat) == game.observation(seat)).all() for seat in range(seats))
            assert (again.state() == game.state()).all()
            assert (again.scores(), again.end_reason, again.rules) == (game.scores(), game.end_reason, game.rules)
            for name in set(game.record.dtype.names) - NOT_IN_THE_TEXT:
                assert (again.record[name] == game.record[name]).all(), name
            same_future(game.copy(), again, rng, 20)


def test_lines_may_come_in_any_order() -> None:
    for game in random_moments("classic", 5, 0.1):
        lines = str(game).splitlines()
        random.Random(1).shuffle(lines)
        assert str(Game.from_position("\n".join(lines))) == str(game)


SAMPLE = """
rules classic target=2000
seat 0   starter 2   turn 31     (turns finished so far)
phase meld
hand 0: 3H 4H 5H JK 2S KD
hand 1: 4C 4D + 7              (two known cards and seven unknown ones)
team 0: 6C 7C 8C | KH KS 2C*
team 1:
mortos: 1                      (or the cards: 3H 4C … / 5D …)
mortos taken: 1 0              waiting: 2 (seat 2 took one by discarding and has not played since)
taken: 9D 4C KD, use KD        (the pile taken this turn and the card that must be melded)
known 1: 9D
discarded 0: 3C 8D
stock: 54, bottom 2D           (or all its cards, the next to be drawn last)
scores: 1250 980
"""


def test_the_sample_of_the_design_is_read() -> None:
    """As it stands there it can't be: a pile lies there and is taken, KD is in no hand, and 12 cards are no stock."""
    game = Game.from_position(SAMPLE, seed=0)
    assert (game.seat, game.starter, game.turn, game.phase) == (0, 2, 31, "meld")
    assert [len(game.hand(seat)) for seat in range(4)] == [6, 9, 11, 11]
    assert {"4C", "4D", "9D"} <= set(game.hand(1))
    assert (game.mortos_left, game.morto_taken(0), game.stock_size, game.pile) == (1, 1, 54, [])
    view = game.view(1)
    assert (view.must_use, view.known(1), view.discarded(0)) == ("KD", ["9D"], ["3C", "8D"])
    assert game.rules.target == 2000 and "waiting: 2" in str(game)
    assert "scores: 1250 980" in str(game) and "bottom 2D" in str(game)


def test_the_opening_meld_is_read() -> None:
    text = "rules classic_italian\nphase meld\nhand 0: AS JK 3C 4D\nteam 0: AC AD AH\nopening: AC AD AH"
    game = Game.from_position(text, seed=0)
    assert [game.describe(action) for action in game.legal_actions()] == ["lay off AS on set A", "lay off JK* on set A"]
    assert str(Game.from_position(str(game))) == str(game)


@pytest.mark.parametrize("text", ["", "hand 2: 3H 4H", "mortos: 1\nmortos taken: 0 1", "known 3: 7H JK\npile: 9D"])
def test_what_is_left_out_is_dealt_by_the_seed(text: str) -> None:
    assert str(Game.from_position(text, seed=4)) == str(Game.from_position(text, seed=4))
    assert str(Game.from_position(text, seed=4)) != str(Game.from_position(text, seed=5))
    assert_conserved(Game.from_position(text, seed=4))


def test_absent_hands_are_as_large_as_they_are_dealt_and_hold_what_is_known() -> None:
    game = Game.from_position("rules mini\nknown 3: 7H JK", seed=1)
    assert [len(game.hand(seat)) for seat in range(4)] == [5] * 4
    assert Counter(["7H", "JK"]) <= Counter(game.hand(3))


def test_a_seat_that_waits_holds_a_whole_morto() -> None:
    game = Game.from_position("rules fechado morto_size=7\nmortos taken: 1 0   waiting: 2", seed=1)
    assert [len(game.hand(seat)) for seat in range(4)] == [11, 11, 7, 11]


def test_the_pile_taken_lies_in_an_absent_hand() -> None:
    game = Game.from_position("rules fechado\nphase meld\ntaken: 9D 4C KD, use KD\nteam 0: TD JD QD", seed=1)
    assert Counter(["9D", "4C", "KD"]) <= Counter(game.hand(0)) and game.view(1).known(0) == ["4C", "9D", "KD"]


@pytest.mark.parametrize(("hand", "turn", "reason"), [("", 5, "out"), ("3H", 400, "turn cap"), ("3H", 5, "stock")])
def test_a_deal_that_is_over_says_why_if_the_text_does_not(hand: str, turn: int, reason: str) -> None:
    game = Game.from_position(f"phase over\nturn {turn}\nhand 0: {hand}", seed=1)
    assert (game.over, game.end_reason, game.legal_actions()) == (True, reason, [])


# the text, and what its error says: the line, and what is wrong with it
IMPOSSIBLE = [
    ("hand 0: 7H 7H\npile: 7H", "'hand 0: 7H 7H'", "only 2 7H"),
    ("pile: 7H 7H 7H", "'pile: 7H 7H 7H'", "only 2 7H, this is number 3"),
    ("rules aberto\nhand 0: JK 3H", "'hand 0: JK 3H'", "only 0 JK"),
    ("hand 0: 7h", "'hand 0: 7h'", "write '7H'"),
    ("hand 0: 7H + x", "'hand 0: 7H [+] x'", "NUMBER"),
    ("hand 0: + 999", "'hand 0: [+] 999'", "108 unseen cards are left for all"),
    ("hand 0: 7H + 12345678901234567890", "'hand 0: ", "NUMBER"),
    ("hand 0:", "'hand 0:'", "empty"),
    ("hand 0: + 0", "'hand 0:'", "empty"),
    ("hand 4: 7H", "'hand 4: 7H'", "no such item"),
    ("team 2: 3H 4H 5H", "'team 2: 3H 4H 5H'", "no such item"),
    ("rules classic num_seats=2\nhand 2: 7H", "'hand 2: 7H'", "no such item"),
    ("hands: 7H", "'hands: 7H'", "no such item"),
    ("hand 0 7H", "'hand 0 7H'", "KEY: VALUE"),
    ("rules clasic", "rules line", "did you mean 'classic'"),
    ("rules classic targt=5", "rules line", "did you mean 'target'"),
    ("rules classic target=-5", "rules line", "target = '-5'"),
    ("seat 4", "'seat 4'", "0 to 3"),
    ("seat -1", "'seat -1'", "0 to 3"),
    ("seat x", "'seat x'", "0 to 3"),
    ("seat", "'seat '", "0 to 3"),
    ("seat 0\nseat 0", "'seat 0'", "given twice"),
    ("pile: 3H\npile: 4H", "'pile: 4H'", "given twice"),
    ("starter 4", "'starter 4'", "0 to 3"),
    ("turn 400", "'turn 400'", "0 to 399"),
    ("turn 99999999999999999999", "'turn 9+'", "0 to 399"),
    ("phase play", "'phase play'", "draw, meld, extra, over"),
    ("phase draw now", "'phase draw now'", "draw, meld"),
    ("phase over out", "'phase over out", "over out TEAM"),
    ("phase over stock 1", "'phase over stock 1'", "over out TEAM"),
    ("phase over out 0", "'phase over out 0'", "empty hand"),
    ("phase over out 1\nhand 0:", "'phase over out 1'", "that team"),
    ("phase over turn cap", "'phase over turn cap'", "turn cap is 400"),
    ("phase over stock\nhand 1:", "'hand 1:'", "empty"),
    ("phase extra", "'phase extra'", "morto must have been taken"),
    ("rules fechado\nphase extra\nmortos taken: 1 0", "'phase extra'", "morto"),
    ("phase meld\nhand 0: 7H\nmortos taken: 1 0", "'phase meld'", "turn could not be completed"),
    ("team 0: 4H 5H", "'4H 5H'", "no meld"),
    ("team 0: 4H JK* 2S*", "JK[*] 2S[*]'", "no meld"),
    ("team 0: 4H 5H 3S*", "3S[*]'", "no meld"),
    ("team 0: 4H 5H *", "not a card", "7H"),
    ("team 0: AC AD JK", "'AC AD JK'", "write JK[*]"),
    ("team 0: 4H 5H 7H", "'4H 5H 7H'", "do not allow the run"),
    ("team 0: KH AH 2H", "'KH AH 2H'", "do not allow the run"),
    ("team 0: 4H 5H 6S", "'4H 5H 6S'", "do not allow the run"),
    ("team 0: 4H JK* 6H", "'4H JK[*] 6H'", "do not allow the run"),
    ("team 0: JK* 4H 5H 6H", "'JK[*] 4H 5H 6H'", "do not allow the run"),
    ("rules online\nteam 0: JK* 4H 5H 6H", "'JK[*] 4H 5H 6H'", "its wild stands elsewhere"),
    ("rules fechado\nteam 0: 2H* 3H 4H", "'2H[*] 3H 4H'", "do not allow the run"),
    ("rules online\nteam 0: 2C 2D 2H", "'2C 2D 2H'", "do not allow the set"),
    ("team 0: 2C 2D 2H*", "'2C 2D 2H[*]'", "do not allow the set"),
    ("rules aberto\nteam 0: KC KD KH", "'KC KD KH'", "do not allow the set"),
    ("rules classic max_set=3\nteam 0: KC KD KH KS", "do not allow the set", "KC KD KH KS"),
    ("mortos taken: 2 0", "'mortos taken: 2 0'", "0 to 1 of 2"),
    ("mortos taken: 1", "'mortos taken: 1'", "two whole numbers"),
    ("mortos taken: 1 -1", "'mortos taken: 1 -1'", "0 to 1 of 2"),
    ("mortos taken: 1 0\nmortos: 2", "'mortos: 2'", "1 of 2 mortos are left"),
    ("mortos: 1", "'mortos: 1'", "2 of 2 mortos are left"),
    ("mortos: 1000000000", "'mortos: 1000000000'", "mortos"),
    ("mortos taken: 1 0\nmortos: 3H 4H", "'mortos: 3H 4H'", "has 11 cards"),
    ("rules fechado\nwaiting: 2", "'waiting: 2'", "taken 0 mortos"),
    ("rules fechado\nmortos taken: 0 1   waiting: 1 3", "'waiting: 1 3'", "taken 1 mortos"),
    ("rules fechado\nmortos taken: 1 0   waiting: 0", "'waiting: 0'", "started its turn"),
    ("rules fechado\nmortos taken: 1 0   waiting: 7", "'waiting: 7'", "no seat"),
    ("rules fechado\nmortos taken: 1 0   waiting: 2\nhand 2: 7H", "'waiting: 2'", "of 11 cards, not 1"),
    ("known 1: 9D\nhand 1: 3H 4H", "'hand 1: 3H 4H'", "not in the hand: 9D"),
    ("known 1: 9D 9D 9D", "'known 1'", "only 2 9D"),
    ("known 1: 9D 9D 9D 9D 9D", "'known 1: ", "too many"),
    ("discarded 1:" + " 9D" * 200, "'discarded 1: ", "too many"),
    ("stock: 12", "'stock: 12'", "would have to hold 42 cards"),
    ("stock: 3H 4H", "'stock: 3H 4H'", "would have to hold"),
    ("stock: 2, bottom 3H 4H 5H", "'stock: 2, bottom", "fewer cards"),
    ("stock: 3H 4H, bottom 5H", "'stock: 3H 4H, bottom 5H'", "not at the bottom"),
    ("stock: 99999999999999999999", "'stock: 9+'", "not a card"),
    ("phase draw\ntaken: 9D, use 9D", "'taken: 9D, use 9D'", "meld phase"),
    ("phase meld\npile: 3H\ntaken: 9D, use 9D", "'taken: 9D, use 9D'", "empty"),
    ("phase meld\ntaken: 9D KD, use 9D", "'taken: 9D KD, use 9D'", "the last of the pile"),
    ("rules online\nphase meld\ntaken: 9D KD, use KD", "'taken: 9D KD, use KD'", "such a duty"),
    ("phase meld\ntaken: 9D KD", "'taken: 9D KD'", "no duty or restriction"),
    ("phase meld\nhand 0: 3H 4H\ntaken: KD", "'hand 0: 3H 4H'", "not in the hand: KD"),
    ("phase meld\ntaken: KD KD KD", "'taken: KD KD KD'", "not so many"),
    ("phase meld\nopening: AC AD AH", "'opening: AC AD AH'", "only meld"),
    ("phase meld\nteam 0: AC AD AH\nopening: AC AD AH", "'opening: ", "the minimum is 0"),
    ("rules classic_italian\nteam 0: AC AD AH\nopening: AC AD AH", "'opening: ", "in the turn"),
    ("scores: 5", "'scores: 5'", "two whole numbers"),
    ("scores: 99999999999 0", "'scores: 99999999999 0'", "two whole numbers"),
    ("last: 0 dance", "'last: 0 dance'", "no public action"),
    ("last: 9 draw", "'last: 9 draw'", "no public action"),
    ("rules fechado\nphase meld\nstock: 0\nhand 0: + 53", "'stock: 0'", "mortos join"),
]


@pytest.mark.parametrize(
    ("text", "line", "told"), IMPOSSIBLE, ids=[text.replace("\n", "; ")[:60] for text, *_ in IMPOSSIBLE]
)
def test_what_cannot_be_is_refused_with_its_line(text: str, line: str, told: str) -> None:
    with pytest.raises(PositionError, match=line) as refused:
        Game.from_position(text, seed=1)
    refused.match(told)


def assert_conserved(game: Game) -> None:
    """Every card type is there as often as the deck has it, on one place each."""
    s, rules = game.record, game.rules
    mortos = s.morto[: s.mortos_left, : rules.morto_size].ravel()
    places = Counter(s.stock[: s.stock_size].tolist()) + Counter(mortos.tolist())
    cards = Counter({card_text(card): count for card, count in places.items()})
    for seat in range(rules.num_seats):
        cards.update(game.hand(seat))
    for team in (0, 1):
        for meld in game.melds(team):
            cards.update(card.removesuffix("*") for card in meld.cards)
    cards.update(game.pile)
    expected = {card_text(card): 2 for card in range(NUM_CARD_TYPES - 1)} | {"JK": rules.num_jokers}
    assert cards == Counter(expected), game


BASES = [
    str(game)
    for preset in ("classic", "classic_italian", "fechado", "online")
    for game in random_moments(preset, 3, 0.05)
]
WORDS = "0 1 2 3 7H 7H JK 2S 2S* JK* AH KH QH | / + : , use bottom waiting: over out stock draw meld extra -1 99 x"


def mutate(rng: random.Random, text: str) -> str:
    """A text with a few words or lines taken out, doubled, exchanged or put in."""
    lines = text.splitlines()
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(lines))
        words = lines[at].split(" ")
        place = rng.randrange(len(words))
        kind = rng.randrange(7)
        if kind == 0 and len(lines) > 1:
            lines.pop(at)
        elif kind == 1:
            lines.append(lines[at])
        elif kind == 2:
            lines[at] = " ".join(words[:place] + words[place + 1 :])
        elif kind == 3:
            lines[at] = " ".join([*words[:place], rng.choice(WORDS.split()), *words[place:]])
        elif kind == 4:
            lines[at] = " ".join([*words[:place], rng.choice(WORDS.split()), *words[place + 1 :]])
        elif kind == 5:
            other = rng.choice(lines).split(" ")
            lines[at] = " ".join([*words[:place], *other[rng.randrange(len(other)) :]])
        else:
            rng.shuffle(words[1:])
    return "\n".join(lines)


@settings(max_examples=deals(300))
@given(st.sampled_from(BASES), st.integers(0, 1 << 30))
def test_a_changed_text_is_refused_or_a_position_that_can_be(base: str, seed: int) -> None:
    text = mutate(random.Random(seed), base)
    try:
        game = Game.from_position(text, seed=1)
    except PositionError:
        return
    assert_conserved(game)
    assert game.over or game.legal_actions(), text
    assert str(Game.from_position(str(game))) == str(game)
    same_future(game.copy(), game.copy(), random.Random(1), 10)


@settings(max_examples=deals(300))
@given(st.text(max_size=80))
@example("hand 0: \N{ARABIC-INDIC DIGIT THREE}")
@example("turn \N{SUPERSCRIPT TWO}")
@example("(((")
def test_any_text_at_all_is_read_or_refused(text: str) -> None:
    try:
        Game.from_position(text, seed=1)
    except PositionError:
        return
