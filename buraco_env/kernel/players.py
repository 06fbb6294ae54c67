"""Entries for compiled players: what styles choose in many deals, whole deals played out, candidates compared."""

from __future__ import annotations

from buraco_env.kernel.batch import COMMON_STATE_BYTES, put_result
from buraco_env.kernel.deal import deal
from buraco_env.kernel.hidden import resample
from buraco_env.kernel.jit import copy_record, entry, kernel, prefetch
from buraco_env.kernel.legal import legal_actions
from buraco_env.kernel.play import play
from buraco_env.kernel.score import score
from buraco_env.kernel.state import OVER, Array, Record, team_of
from buraco_env.kernel.styles import choose, value_each


@entry
def choose_for(
    states: Array,  # [N] STATE_DTYPE
    rules: Array,  # [R] RULES_DTYPE
    index: Array,  # [n] int64: the deals asked about
    offsets: Array,  # [N + 1] int64 and
    legal: Array,  # [L] int16: the legal lists of all deals
    weights: Array,  # [R, NUM_WEIGHTS] int64: the style's for each of the rules
    out: Array,  # [n] int64
    work: Array,  # scratch
    lists: Array,  # scratch
) -> None:
    """What a style plays in some deals: fills `out`."""
    n = index.shape[0]
    for number in range(n):
        if number + 1 < n:
            prefetch(states, index[number + 1], 0, COMMON_STATE_BYTES)
        i = index[number]
        s = states[i]
        some = legal[offsets[i] : offsets[i + 1]]
        out[number] = choose(s, rules[s.rules], weights[s.rules], some, some.shape[0], work, lists)


@entry
def values_of(
    states: Array,  # [1] STATE_DTYPE
    rules: Array,  # [1] RULES_DTYPE
    legal: Array,  # [K] int64
    weights: Array,  # [W, NUM_WEIGHTS] int64
    out: Array,  # [W, K] int64
    work: Array,  # scratch
    lists: Array,  # scratch
) -> None:
    """What styles think of each legal action: fills `out`."""
    for number in range(weights.shape[0]):
        value_each(states[0], rules[0], weights[number], legal, legal.shape[0], out[number], work, lists)


@kernel
def _finish(s: Record, r: Record, weights: Array, legal: Array, work: Array, lists: Array) -> int:
    """Play a deal to its end, each team by its style (`weights` [2, NUM_WEIGHTS]): decisions made."""
    decisions = 0
    while int(s.phase) != OVER:
        n = legal_actions(s, r, legal, work, lists, True)
        play(s, r, choose(s, r, weights[team_of(int(s.seat))], legal, n, work, lists))
        decisions += 1
    return decisions


@entry
def play_deals(
    seeds: Array,  # [n] int64
    starters: Array,  # [n] int64
    state: Array,  # [1] STATE_DTYPE, scratch
    rules: Array,  # [1] RULES_DTYPE
    weights: Array,  # [2, NUM_WEIGHTS] int64: the styles of both teams
    results: Array,  # [n] RESULT_DTYPE
    legal: Array,  # [NUM_ACTIONS] int16, scratch
    work: Array,  # scratch
    lists: Array,  # scratch
) -> int:
    """Deal and play out a deal for each seed: fills `results`, gives the number of decisions."""
    s, r, decisions = state[0], rules[0], 0
    for i in range(seeds.shape[0]):
        deal(s, r, seeds[i], starters[i])
        decisions += _finish(s, r, weights, legal, work, lists)
        put_result(s, r, results[i])
    return decisions


@entry
def compare(
    states: Array,  # [3] STATE_DTYPE: the position as the seat sees it, then scratch
    rules: Array,  # [1] RULES_DTYPE
    actions: Array,  # [K] int64: candidates of the seat to move
    seeds: Array,  # [M] int64: one for each deal of the hidden cards
    weights: Array,  # [2, NUM_WEIGHTS] int64: the styles of both teams in play-outs
    differences: Array,  # [M, K] int64
    pool: Array,  # [108] int8, scratch
    legal: Array,  # [NUM_ACTIONS] int16, scratch
    work: Array,  # scratch
    lists: Array,  # scratch
) -> None:
    """Play every candidate out on the same deals of the hidden cards: fills `differences`, the acting team's lead."""
    seat, r = int(states[0].seat), rules[0]
    team = team_of(seat)
    for m in range(seeds.shape[0]):
        copy_record(states[1], states[0])
        resample(states[1], r, seat, seeds[m], pool)
        for k in range(actions.shape[0]):
            copy_record(states[2], states[1])
            play(states[2], r, actions[k])
            _finish(states[2], r, weights, legal, work, lists)
            differences[m, k] = score(states[2], r, team) - score(states[2], r, 1 - team)
