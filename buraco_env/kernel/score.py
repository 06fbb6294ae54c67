"""The reckoning: what each team would score if the deal ended here, from scratch."""

from __future__ import annotations

from buraco_env.cards import JOKER
from buraco_env.kernel.jit import kernel, lowest_bit
from buraco_env.kernel.melds import packed_run, run_bonus, run_points, set_bonus, set_points, set_size
from buraco_env.kernel.state import RUN_SLOTS, RUNS_PER_SUIT, SET_SLOTS, SET_WILD, Record, team_of


@kernel
def points_of(r: Record, cards: int, twice: int) -> int:
    """Points of the cards in a mask of types, those in `twice` counted twice."""
    points = 0
    while cards:
        card = lowest_bit(cards)
        cards &= cards - 1
        points += int(r.points[card]) * (1 + (twice >> card & 1))
    return points


@kernel
def meld_score(s: Record, r: Record, team: int) -> int:
    """Points of all cards on a team's table and the bonuses of its canastas."""
    total = 0
    for slot in range(RUN_SLOTS):
        run = packed_run(s, team, slot)
        if run:
            total += run_points(r, run, slot // RUNS_PER_SUIT) + run_bonus(r, run)
    for slot in range(SET_SLOTS):
        size = set_size(s, team, slot)
        if size:
            total += set_points(r, s, team, slot) + set_bonus(r, size, int(s.set[team, slot, SET_WILD]))
    return total


@kernel
def hand_points(s: Record, r: Record, seat: int) -> int:
    """Points of the cards in a hand."""
    total = 0
    for card in range(JOKER + 1):
        total += int(s.hand[seat, card]) * int(r.points[card])
    return total


@kernel
def score(s: Record, r: Record, team: int) -> int:
    """A team's score of the deal if it ended here: melds, bonuses, less hands and penalties."""
    total = meld_score(s, r, team) + int(r.bonus_morto) * int(s.taken[team])
    if int(s.out_team) == team:
        total += int(r.bonus_out)
    if int(s.taken[team]) == 0:
        total -= int(r.penalty_no_morto)
    for seat in range(int(r.num_seats)):
        if team_of(seat) == team:
            total -= hand_points(s, r, seat) + int(r.penalty_unused_morto) * int(s.waiting[seat])
    return total
