"""Resampling is uniform: an unseen card lands in each place it could be in as often as chance says."""

import numpy as np
from scipy.stats import chisquare

from buraco_env import Game
from buraco_env.cards import NUM_CARD_TYPES, parse_card

SAMPLES = 4000
POSITION = """
rules classic
seat 0
phase draw
hand 0: 3H 4H 7S KD
hand 1: 4C 9D + 6
hand 2: 5C + 2
hand 3: + 5
known 1: 4C 9D
known 2: 5C
team 0: 6C 7C 8C | KH KS 2C*
team 1: 9H TH JH
pile: 9D KD
mortos: 2
stock: 50, bottom 2S
discarded 3: 9D KD
"""


def position() -> str:
    """The position with a stock that holds the rest of the deck."""
    cards = 108 - 4 - 8 - 3 - 5 - 9 - 2 - 22
    return POSITION.replace("stock: 50", f"stock: {cards}")


def places(game: Game) -> np.ndarray:
    """How many of each type are in the other hands, the mortos and the stock: [5, 53]."""
    s = game.record
    mortos = np.bincount(s.morto[: s.mortos_left, : game.rules.morto_size].ravel(), minlength=NUM_CARD_TYPES)
    stock = np.bincount(s.stock[: s.stock_size], minlength=NUM_CARD_TYPES)
    return np.array([*s.hand[1:4], mortos, stock])


def test_each_unseen_card_lands_in_each_place_as_often_as_chance_says() -> None:
    view = Game.from_position(position(), seed=1).view(0)
    known = np.zeros((5, NUM_CARD_TYPES), int)
    for place, card in ((0, "4C"), (0, "9D"), (1, "5C"), (4, "2S")):
        known[place, parse_card(card)] = 1
    counts = np.zeros((5, NUM_CARD_TYPES), int)
    for seed in range(SAMPLES):
        counts += places(view.resample(seed)) - known
    assert (counts >= 0).all(), "known cards stay where they are"
    free = counts.sum(1)
    for card in np.flatnonzero(counts.sum(0)):
        expected = counts[:, card].sum() * free / free.sum()
        assert chisquare(counts[:, card], expected).pvalue > 1e-5, card
    assert (free == SAMPLES * np.array([6, 2, 5, 22, free[4] // SAMPLES])).all(), "sizes stay"


def test_the_true_deal_is_not_favoured() -> None:
    """The card that really is next in the stock comes up there no more often than any other copy of an unseen card."""
    game = Game.from_position("rules mini num_seats=2\nhand 0: 3H 4H\nmortos taken: 1 1", seed=3)
    s = game.record
    card, unseen = int(s.stock[s.stock_size - 1]), game.stock_size + len(game.hand(1))
    view = game.view(0)
    hits = sum(int(view.resample(seed).record.stock[s.stock_size - 1]) == card for seed in range(SAMPLES))
    chance = (int(s.hidden[card]) - int(s.hand[0, card])) / unseen
    assert abs(hits / SAMPLES - chance) < 5 * (chance * (1 - chance) / SAMPLES) ** 0.5
