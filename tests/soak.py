"""A long run of random play with every step checked: `python -m tests.soak --decisions 1000000`.

Every card type is conserved, no count is negative, every deal ends, what the steps of a deal paid is the difference of
its scores from scratch, and the reference's scores of sampled positions are the kernel's.
"""

import argparse
import time

import numpy as np

from buraco_env import BatchEnv, rule_names
from tests import reference as ref
from tests.bridge import to_reference

DEALS = 512
NEVER_NEGATIVE = (
    "hand",
    "known",
    "discarded",
    "pile_count",
    "melded",
    "bottom_count",
    "hidden",
    "hand_size",
    "stock_size",
)


def cards_in(rows: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """How many of each type lie in the first `sizes` cards of each row: [N, 53]."""
    inside = np.arange(rows.shape[1]) < sizes[:, None]
    deal = np.broadcast_to(np.arange(len(rows))[:, None], rows.shape)
    return np.bincount(deal[inside] * 53 + rows[inside], minlength=len(rows) * 53).reshape(-1, 53)


def check_cards(batch: BatchEnv) -> None:
    """Two of each type and the rules' jokers, over hands, melds, pile, stock and mortos."""
    s, rules = batch.records, batch.rules[0]
    mortos = s["morto"][:, :, : rules.morto_size].reshape(len(s), -1)
    total = s["hand"].sum(1, dtype=int) + s["melded"] + s["pile_count"]
    total += cards_in(s["stock"], s["stock_size"]) + cards_in(mortos, s["mortos_left"] * rules.morto_size)
    assert (total == [2] * 52 + [rules.num_jokers]).all(), rules
    assert (s["hand"].sum(2, dtype=int) == s["hand_size"]).all(), rules
    assert (cards_in(s["pile"], s["pile_size"]) == s["pile_count"]).all(), rules
    for name in NEVER_NEGATIVE:
        assert (s[name] >= 0).all(), (rules, name)


def soak(preset: str, decisions: int) -> tuple[int, int]:
    """Play so many decisions; gives them and how many deals ended."""
    batch = BatchEnv(DEALS, preset, seed=3, reward="dense")
    paid, since, ended = np.zeros(DEALS, int), np.zeros(DEALS, int), 0
    for step in range(decisions // DEALS + 1):
        batch.step(batch.sample())
        paid += batch.reward
        since += 1
        over = batch.end_reason > 0
        difference = batch.final_scores[:, 0] - batch.final_scores[:, 1]
        assert (paid[over] == difference[over]).all(), (preset, step)
        paid[over], since[over], ended = 0, 0, ended + int(over.sum())
        assert since.max() < 60 * batch.rules[0].max_turns, "a deal does not end"
        assert (np.diff(batch.offsets) > 0).all(), "nothing is legal"
        check_cards(batch)
        if step % 50 == 0:
            game = batch.game(step % DEALS)
            assert game.scores() == ref.scores(to_reference(game)), game
    return (step + 1) * DEALS, ended


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--decisions", type=int, default=1_000_000, help="of each preset")
    args = parser.parse_args()
    for name in rule_names():
        began = time.time()
        done, deals = soak(name, args.decisions)
        print(f"{name}: {done} decisions, {deals} deals ended, {time.time() - began:.0f} s", flush=True)
