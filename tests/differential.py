"""Play random deals in the kernel and in the reference side by side: `python -m tests.differential --deals 1000`.

State and score are compared after every decision. With `--sparse` the legal list is compared where a duty is open or
at most three cards are left, and at one in ten other decisions; else everywhere. Progress goes to a file, so that a
long run can be stopped and goes on where it was.
"""

import argparse
import dataclasses
import json
import random
import time
from collections import Counter
from pathlib import Path

from buraco_env import Game, rule_names
from tests import reference as ref
from tests.bridge import action_tuple, to_reference

FIELDS = [field.name for field in dataclasses.fields(ref.State) if field.name not in ("rules", "last_turn", "locked")]
SORTED = ("hands",)


def comparable(state: ref.State) -> dict:
    """The fields that must agree; the order of cards in a hand does not count."""
    values = {name: getattr(state, name) for name in FIELDS}
    values["hands"] = [sorted(hand) for hand in state.hands]
    values["locked"] = sorted(state.locked)
    if state.rules["first_meld_min"] == 0:
        del values["opened"]
    values["mortos"] = [list(morto) for morto in state.mortos]
    values["waiting"] = [bool(seat) for seat in state.waiting]
    return values


def check_state(game: Game, state: ref.State, where: str) -> None:
    """The kernel's position is the reference's, and so are the scores."""
    ours, theirs = comparable(to_reference(game)), comparable(state)
    for name, value in theirs.items():
        assert ours[name] == value, f"{where}: {name}: kernel {ours[name]}, reference {value}\n{game}"
    assert game.scores() == ref.scores(state), f"{where}: scores {game.scores()}, {ref.scores(state)}\n{game}"


def check_legal(game: Game, state: ref.State, where: str) -> None:
    """The kernel's legal list is the reference's."""
    ours, theirs = {action_tuple(action): action for action in game.legal_actions()}, ref.legal(state)
    only_ours = sorted(game.describe(ours[name]) for name in set(ours) - theirs)
    assert set(ours) == theirs, f"{where}: kernel only {only_ours}; reference only {theirs - set(ours)}\n{game}"


def is_delicate(state: ref.State) -> bool:
    """A duty is open or few cards are left."""
    return state.top is not None or state.opening is not None or len(state.hand) <= 3


def play_deal(preset: str, seed: int, sparse: bool, counts: Counter, **overrides) -> None:
    """One random deal in both engines."""
    rng = random.Random(seed)
    game = Game(preset, seed=seed, starter=seed % 2, **overrides)
    state = to_reference(game)
    while not game.over:
        where = f"{game.rules} seed {seed} decision {counts['decisions']}"
        if not sparse or is_delicate(state) or rng.random() < 0.1:
            check_legal(game, state, where)
            counts["legal lists"] += 1
        action = rng.choice(game.legal_actions())
        text = game.describe(action)
        game.play(action)
        state = ref.play(state, action_tuple(action))
        check_state(game, state, f"{where} after {text}")
        counts["decisions"] += 1
    assert ref.legal(state) == set()
    counts["deals"] += 1
    counts[f"ended: {game.end_reason}"] += 1


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--deals", type=int, default=1000, help="over all presets together")
    parser.add_argument("--preset", default="classic", help="a preset, or all")
    parser.add_argument("--sparse", action="store_true", help="compare fewer legal lists")
    parser.add_argument("--first-seed", type=int, default=1_000_000)
    parser.add_argument("--progress", type=Path, default=Path("runs/differential.json"))
    args = parser.parse_args()
    presets = rule_names() if args.preset == "all" else [args.preset]
    done = json.loads(args.progress.read_text()) if args.progress.exists() else {}
    key = f"{args.preset} {args.first_seed} {'sparse' if args.sparse else 'full'}"
    counts = Counter(done.get(key, {}))
    start, began = counts["deals"], time.time()
    for number in range(counts["deals"], args.deals):
        preset = presets[number % len(presets)]
        seats = 2 if number // len(presets) % 2 else 4
        play_deal(preset, args.first_seed + number, args.sparse, counts, num_seats=seats)
        if (number + 1) % 50 == 0 or number + 1 == args.deals:
            args.progress.parent.mkdir(parents=True, exist_ok=True)
            args.progress.write_text(json.dumps({**done, key: counts}))
            rate = (number + 1 - start) / (time.time() - began)
            print(f"{number + 1} of {args.deals} deals, {rate:.1f} a second, {dict(counts)}", flush=True)


if __name__ == "__main__":
    main()
