"""Action words: what `describe` writes, `parse` reads back; what a person writes instead; what an error says."""

import re

import pytest

from buraco_env import NUM_ACTIONS, Game, IllegalAction, rule_names
from tests.conftest import deals
from tests.positions import random_moments


@pytest.mark.kernel
@pytest.mark.parametrize("preset", rule_names())
def test_every_legal_action_is_described_and_parsed_back(preset: str) -> None:
    for seed in range(deals(6)):
        for game in random_moments(preset, seed, 0.5):
            texts = [game.describe(action) for action in game.legal_actions()]
            assert [game.parse(text) for text in texts] == game.legal_actions()
            assert [game.parse(f"  {text.replace(' ', '  ')} ") for text in texts] == game.legal_actions()


def test_every_id_has_words_also_those_of_empty_slots() -> None:
    game = Game("classic", seed=1)
    assert all(game.describe(action) for action in range(NUM_ACTIONS))


def at_table(hand: str, *melds: str, rules: str = "classic", phase: str = "meld") -> Game:
    return Game.from_position(f"rules {rules}\nphase {phase}\nhand 0: {hand}\nteam 0: {' | '.join(melds)}", seed=1)


CLASSIC = at_table("AH 2H 3H JK 2S KC KD KH 7H 5S", "4H 5H 6H", "4H 5H 6H", "QS QD QC")


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("meld KH KC KD", "meld KC KD KH"),
        ("meld KD KC JK", "meld KC KD JK*"),
        ("meld JK* KD KC", "meld KC KD JK*"),
        ("meld 3H JK 5H 6H", "meld 3H JK* 5H 6H"),
        ("meld 4H 3H 2H", "meld 2H 3H 4H"),
        ("meld 4H 2H 3H", "meld 2H 3H 4H"),
        ("meld 4H 5H 2H", "meld 4H 5H 2H*"),
        ("lay off JK on set Q", "lay off JK* on set Q"),
        ("lay off JK on 4H-6H high", "lay off JK* on 4H-6H high"),
        ("lay off 7H on 4H-6H#2", "lay off 7H on 4H-6H#2"),
    ],
)
def test_stars_and_order_may_be_left_out_where_that_is_clear(written: str, meant: str) -> None:
    assert CLASSIC.describe(CLASSIC.parse(written)) == meant


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("meld 5H JK 6H", r"several ways: .*JK\* 5H 6H"),
        ("lay off JK on 4H-6H", r"several ways: .* high"),
        ("lay off AH on 4H-JH", "names no meld .* 4H-6H, 4H-6H#2, set Q"),
        ("lay off KC on set Q", "no place on set Q"),
        ("lay off 7H", "names no meld"),
        ("lay 7H on 4H-6H", "no action: write draw"),
        ("swap 7H into 4H-6H", "no place on 4H-6H"),
        ("meld 4H* 5H 6H", "no new meld"),
        ("meld 4H 5H 6H 7H", "then lay off"),
        ("meld 4H 5H 7H", "no new meld"),
        ("meld 4h 5H 6H", "write '4H'"),
        ("meld", "no new meld"),
        ("discard 10H", "write 'TH'"),
        ("discard", "not a card"),
        ("discard 7H 8H", "not a card"),
        ("pass", "no action: write draw"),
        ("", "no action: write draw"),
        ("17", "no action: write draw"),
    ],
)
def test_errors_name_what_cannot_be_read(written: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        CLASSIC.parse(written)
    with pytest.raises(IllegalAction, match=told):
        CLASSIC.copy().play(written)


def test_runs_of_one_span_are_told_apart_by_a_number() -> None:
    game = CLASSIC.copy()
    game.play("lay off 7H on 4H-6H#2")
    assert [str(meld) for meld in game.melds(0)][:2] == ["4H 5H 6H", "4H 5H 6H 7H"]
    assert "lay off 3H on 4H-6H" in map(game.describe, game.legal_actions())


def test_sets_of_one_rank_are_told_apart_by_a_number() -> None:
    game = at_table("QS QH 3C 4C", "QC QD QS", "QC QD QH")
    game.play("lay off QH on set Q#2")
    assert [str(meld) for meld in game.melds(0)] == ["QC QD QS", "QC QD QH QH"]


@pytest.mark.parametrize(("end", "cards"), [("low", "AS 2S 3S"), ("high", "QS KS AS")])
def test_an_ace_as_near_to_both_ends_says_where_it_goes(end: str, cards: str) -> None:
    naturals = " ".join(f"{rank}S" for rank in "23456789TJQK")
    game = at_table("AS AS 3C 4C", naturals, rules="online")
    texts = [text for text in map(game.describe, game.legal_actions()) if text.startswith("lay off AS")]
    assert texts, game
    for text in texts:
        after = game.copy()
        after.play(text)
        assert text.endswith((" low", " high"))
        assert cards in str(after.melds(0)[0]) or not text.endswith(end)


def test_an_ace_goes_to_the_nearer_end_unless_it_is_told_otherwise() -> None:
    game = at_table("AS 3C 4C", "2S 3S 4S", "JS QS KS")
    texts = set(map(game.describe, game.legal_actions()))
    assert {"lay off AS on 2S-4S", "lay off AS on JS-KS"} <= texts
    assert not any(re.search(r"AS .*(low|high)$", text) for text in texts)


def test_a_swap_has_its_own_verb_where_wilds_are_fixed() -> None:
    game = at_table("6H 3C 4C", "4H 5H JK* 7H")
    game.play("swap 6H into 4H-7H")
    assert "JK" in game.hand(0) and str(game.melds(0)[0]) == "4H 5H 6H 7H"


@pytest.mark.parametrize("action", [-1, NUM_ACTIONS, True, 1.5, None])
def test_what_is_no_id_cannot_be_described(action: object) -> None:
    with pytest.raises(ValueError, match="no action id: ids are"):
        CLASSIC.describe(action)  # type: ignore[arg-type]
