"""Small random positions: few cards in hand, some melds on the table, cards that are near each other."""

import random

from buraco_env import Game, PositionError
from buraco_env.cards import RANKS, SUITS

WILDS = ["JK", "2C", "2D", "2H", "2S"]


def random_meld(rng: random.Random, most: int) -> str:
    """A run or a set as text, most often legal; at most `most` cards."""
    size = rng.randint(3, most)
    wild = rng.choice(WILDS) + "*" if rng.random() < 0.4 else ""
    if rng.random() < 0.35:
        rank = rng.choice(RANKS)
        cards = rng.sample([rank + suit for suit in SUITS] * 2, min(size, 7))
        return " ".join(sorted(cards)[:-1] + [wild] if wild else sorted(cards))
    suit, low = rng.choice(SUITS), rng.randint(1, 15 - size)
    cards = [RANKS[(position - 1) % 13] + suit for position in range(low, low + size)]
    if wild:
        cards[rng.choice([0, size - 1, rng.randrange(size)])] = wild
    return " ".join(cards)


def near_cards(rng: random.Random, melds: list[str], count: int) -> list[str]:
    """Cards that have to do with each other and with the melds: their suits and ranks, and wilds."""
    words = [word.rstrip("*") for meld in melds for word in meld.split()]
    suits = [word[1] for word in words if word != "JK"] or [rng.choice(SUITS)]
    ranks = [word[0] for word in words if word != "JK"] or [rng.choice(RANKS)]
    focus = rng.randrange(13)
    cards = []
    for _ in range(count):
        kind = rng.random()
        if kind < 0.2:
            cards.append(rng.choice(WILDS))
        elif kind < 0.6:
            cards.append(RANKS[(focus + rng.randint(-3, 3)) % 13] + rng.choice(suits))
        else:
            cards.append(rng.choice(ranks) + rng.choice(SUITS))
    return cards


def random_position(rng: random.Random, preset: str, hand: int, pile: int = 0, **how) -> Game:
    """A position with `hand` cards in the hand of the seat to move; with a `pile` it is in the draw phase.

    `melds`: most melds of its team; `most`: most cards of one; `morto_gone`: its team has taken its mortos;
    `canasta`: False: none of its melds is one. Other keywords override rules.
    """
    overrides = {key: value for key, value in how.items() if key not in ("melds", "most", "morto_gone", "canasta")}
    for attempt in range(100_000):
        hand += attempt % 300 == 299  # where so few cards can't complete a turn
        most = how.get("most", 9) if how.get("canasta", True) else 6
        melds = [random_meld(rng, most) for _ in range(rng.randint(0, how.get("melds", 4)))]
        cards = near_cards(rng, melds, hand)
        rules = " ".join([preset, *(f"{key}={value}" for key, value in overrides.items())])
        gone = how.get("morto_gone", rng.random() < 0.5)
        lines = [f"rules {rules}", "seat 0", f"hand 0: {' '.join(cards)}", f"team 0: {' | '.join(melds)}"]
        if pile:
            lines += ["phase draw", f"pile: {' '.join(near_cards(rng, [*melds, ' '.join(cards)], pile))}"]
        else:
            lines += ["phase meld"]
        if gone:
            lines.append("mortos taken: 1 0" if preset != "classic_three_mortos" else "mortos taken: 2 0")
        try:
            game = Game.from_position("\n".join(lines), seed=rng.randrange(1 << 30))
        except PositionError:
            continue
        if not game.over:
            return game
    raise AssertionError(f"no such position in {preset}: {how}")


def random_moments(preset: str, seed: int, chance: float, **overrides):
    """A random deal, stopped now and then: yields the game itself, to be copied before it is changed."""
    rng, game = random.Random(seed), Game(preset, seed=seed, **overrides)
    while not game.over:
        if rng.random() < chance:
            yield game
        game.play(rng.choice(game.legal_actions()))
    yield game
