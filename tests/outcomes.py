"""Every way a turn can end, by the kernel's legal actions one after another, against whole layouts.

`python -m tests.outcomes --positions 300` compares so many small positions of each preset.
"""

import argparse
import random

from buraco_env import Game, rule_names
from tests import reference_layouts as layouts
from tests.bridge import to_reference
from tests.positions import random_position


def table_key(game: Game, team: int) -> tuple:
    """A team's melds as the brute force over layouts names them."""
    state = to_reference(game)
    runs = [run for melds in state.runs[team].values() for run in melds]
    sets = [meld for melds in state.sets[team].values() for meld in melds]
    return layouts.table_key([*runs, *sets])


def position_key(game: Game) -> tuple:
    """What the rest of the turn depends on, whatever the order in which the melds were laid."""
    s, team = game.record, game.seat % 2
    duties = (int(s.top), int(s.single), int(s.locked), int(s.opening), int(s.opened[team]))
    return game.phase, s.hand[game.seat].tobytes(), sorted(map(str, game.melds(team))), duties


def reachable(game: Game) -> set[tuple]:
    """All ends of this turn: (kind, table, cards left, discard), as `reference_layouts` writes them."""
    team, seat = game.seat % 2, game.seat
    found: set[tuple] = set()
    seen: set[str] = set()
    todo = [game]
    while todo:
        now = todo.pop()
        key = repr(position_key(now))
        if key in seen:
            continue
        seen.add(key)
        for action in now.legal_actions():
            after, words = now.copy(), now.describe(action).split()
            after.play(action)
            card = words[1] if words[0] == "discard" else None
            left = sorted(now.hand(seat))
            if card:
                left.remove(card)
            if words == ["end", "turn"]:
                found.add(("end turn", table_key(after, team), tuple(left), None))
            elif after.end_reason == "out":
                found.add(("out", table_key(after, team), (), card))
            elif after.morto_taken(team) != now.morto_taken(team):
                found.add(("morto discard" if card else "morto direct", table_key(after, team), (), card))
            elif card:
                found.add(("discard", table_key(after, team), tuple(left), card))
            else:
                todo.append(after)
    return found


def check_preset(preset: str, positions: int, seed: int = 17) -> int:
    """Compare the ends of turns in small random positions; gives how many of them had a top card to use."""
    rng, with_duty, checked = random.Random(seed), 0, 0
    while checked < positions:
        pile = rng.choice([0, 0, 0, 1, 2, 3])
        game = random_position(rng, preset, rng.randint(1, 7 - pile), pile, canasta=rng.random() < 0.6)
        if pile:
            if game.parse("take pile") not in game.legal_actions():
                continue
            game.play("take pile")
        with_duty += game.record.top >= 0
        expected = layouts.end_of_turn_outcomes(to_reference(game))
        found = reachable(game)
        assert found == expected, f"{game}\nonly kernel {found - expected}\nonly layouts {expected - found}"
        checked += 1
    return with_duty


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--positions", type=int, default=300)
    parser.add_argument("--seed", type=int, default=17)
    args = parser.parse_args()
    for name in rule_names():
        print(name, args.positions, "positions agree,", check_preset(name, args.positions, args.seed), "with a duty")
