"""The loops over many deals: the only functions of the kernel that Python calls.

`advance` is one entry for dealing, playing and looking, so that all of it is compiled once. Arrays that are not wanted
have no rows. L is the number of legal actions of all deals together.
"""

from __future__ import annotations

import numpy as np

from buraco_env.cards import NUM_CARD_TYPES
from buraco_env.kernel.actions import ARGS, K_DISCARD, K_TAKE, KIND, NUM_ACTIONS
from buraco_env.kernel.candidates import fitting_discards, put_features
from buraco_env.kernel.deal import deal, mix_seed, random_below, seed_stream
from buraco_env.kernel.guard import MAX_DEPTH
from buraco_env.kernel.hidden import conceal, resample
from buraco_env.kernel.jit import entry, kernel, prefetch
from buraco_env.kernel.legal import legal_actions
from buraco_env.kernel.melds import is_legal_run, packed_run, run_bonus, run_points, set_bonus, set_points, set_size
from buraco_env.kernel.observe import OBSERVATION, full_state, observe, update_observation
from buraco_env.kernel.play import play
from buraco_env.kernel.score import meld_score, score
from buraco_env.kernel.state import (
    END_TURN_CAP,
    NUM_TEAMS,
    OVER,
    RUNS_PER_SUIT,
    SET_WILD,
    STATE_DTYPE,
    Array,
    Record,
    team_of,
)

# what `advance` may be asked to do with a deal instead of an action
LOOK, NEW_DEAL = -1, -2
# OPTIONS: what a step pays; whether a deal that ended is followed by the next at once; whether the guard is left out;
# whether a mask has a bit for each action, the lowest first, instead of a byte
REWARDS = ("score_difference", "dense", "win")
REWARD_SCORE_DIFFERENCE, REWARD_DENSE, REWARD_WIN = range(len(REWARDS))
OPTION_REWARD, OPTION_REDEAL, OPTION_UNGUARDED, OPTION_PACKED, NUM_OPTIONS = range(5)

RESULT_DTYPE = np.dtype(
    (
        np.record,
        [
            ("deal_seed", "i8"),
            ("reward", "i4"),  # team 0 less team 1, of this step
            ("final_scores", "i4", (2,)),  # of the deal that ended in this step
            ("seat", "i1"),  # that decides
            ("terminated", "?"),
            ("truncated", "?"),
            ("end_reason", "i1"),  # of the deal that ended in this step, 0: none did
            ("turns", "i2"),  # that it had
            ("clean", "i1", (2,)),  # canastas of both teams
            ("dirty", "i1", (2,)),
            ("mortos", "i1", (2,)),  # taken
        ],
    )
)
STATE_BYTES, COMMON_STATE_BYTES = STATE_DTYPE.itemsize, STATE_DTYPE.fields["discarded"][1]  # type: ignore[index]
OBSERVATION_BYTES, PUBLIC_BYTE = OBSERVATION.size, OBSERVATION["pile"].slice.start
OWN_BYTES = OBSERVATION["known"].slice.start + NUM_CARD_TYPES
STREAM_DTYPE = np.dtype((np.record, [("rng", "u4", (4,))]))


def workspace() -> tuple[Array, Array]:
    """Scratch records and lists for looking ahead: one pair for each thread."""
    return np.zeros(MAX_DEPTH, STATE_DTYPE), np.empty((MAX_DEPTH, NUM_ACTIONS), np.int16)


@kernel
def _new_deal(s: Record, rules: Array, seed: int) -> None:
    """A fresh deal; of several rules the seed draws one. The match's score stays."""
    row = mix_seed(seed, 2) % rules.shape[0] if rules.shape[0] > 1 else 0
    s.rules = row
    deal(s, rules[row], seed, 0)


@kernel
def _lead(s: Record) -> int:
    return int(s.open_score[0]) - int(s.open_score[1])


@kernel
def _play_one(s: Record, r: Record, action: int, reward: int, result: Record) -> None:
    """Play an action: what it pays and, if the deal is over, the scores."""
    lead = _lead(s)
    play(s, r, action)
    pays = _lead(s) - lead if reward == REWARD_DENSE else 0
    if int(s.phase) == OVER:
        put_result(s, r, result)
        difference = int(result.final_scores[0]) - int(result.final_scores[1])
        if reward == REWARD_DENSE:
            pays = difference - lead
        elif reward == REWARD_WIN:
            pays = int(difference > 0) - int(difference < 0)
        else:
            pays = difference
    result.reward = pays


@kernel
def put_result(s: Record, r: Record, result: Record) -> None:
    """Note how a deal that is over ended: scores, reason, turns, canastas, mortos."""
    result.end_reason = s.end_reason
    result.turns = s.turn
    for team in range(NUM_TEAMS):
        result.final_scores[team] = score(s, r, team)
        result.clean[team] = s.clean[team]
        result.dirty[team] = s.dirty[team]
        result.mortos[team] = s.taken[team]
    result.truncated = int(s.end_reason) == END_TURN_CAP
    result.terminated = int(s.end_reason) != END_TURN_CAP


@kernel
def _clear_result(result: Record) -> None:
    result.reward = 0
    result.final_scores[0] = 0
    result.final_scores[1] = 0
    result.terminated = False
    result.truncated = False
    result.end_reason = 0


@kernel
def _pack_mask(mask: Array, before: Array, legal: Array) -> None:
    """A mask of bits: those of the list before are cleared, those of this one set."""
    for index in range(before.shape[0]):
        mask[int(before[index]) >> 3] = 0
    for index in range(legal.shape[0]):
        action = int(legal[index])
        bits = int(mask[action >> 3]) & 255 | 1 << (action & 7)
        mask[action >> 3] = (bits ^ 128) - 128  # as a signed byte


@kernel
def _is_for_another_seat(action: int) -> bool:
    """After the action another seat decides, or may decide, or there is another deal: all of an observation changes."""
    return action < 0 or ARGS[action, KIND] == K_DISCARD


@kernel
def _prefetch(states: Array, observation: Array, i: int, anew: bool) -> None:
    """Have the processor fetch what playing in deal i and observing it will need."""
    prefetch(states, i, 0, STATE_BYTES if anew else COMMON_STATE_BYTES)
    if observation.shape[0]:
        prefetch(observation, i, 0, OBSERVATION_BYTES if anew else OWN_BYTES)
        if not anew:
            prefetch(observation, i, PUBLIC_BYTE, OBSERVATION_BYTES)


@entry
def advance(
    states: Array,  # [N] STATE_DTYPE
    rules: Array,  # [R] RULES_DTYPE
    actions: Array,  # [N] int64: legal ids, or LOOK, or NEW_DEAL with the seed in results.deal_seed
    results: Array,  # [N] RESULT_DTYPE
    offsets: Array,  # [N + 1] int64
    legal: Array,  # [capacity] int16
    before: Array,  # [capacity] int16 and
    offsets_before: Array,  # [N + 1] int64: the lists of the step before, which clear the mask
    mask: Array,  # [N or 0, NUM_ACTIONS] int8, or with fewer columns bits
    observation: Array,  # [N or 0, OBSERVATION.size] int8
    work: Array,  # [MAX_DEPTH] STATE_DTYPE
    lists: Array,  # [MAX_DEPTH, NUM_ACTIONS] int16
    options: Array,  # [NUM_OPTIONS] int64
    first: int,
) -> int:
    """Do `actions` in the deals from `first` on, and look at them: N, or the deal at which the lists are full."""
    n = states.shape[0]
    packed = int(options[OPTION_PACKED])
    for i in range(first, n):
        at = offsets[i]
        if at + NUM_ACTIONS > legal.shape[0]:
            return i
        if i + 1 < n:
            _prefetch(states, observation, i + 1, _is_for_another_seat(actions[i + 1]))
        s, result = states[i], results[i]
        action = actions[i]
        _clear_result(result)
        seat = int(s.seat)
        anew = _is_for_another_seat(action)
        if action == NEW_DEAL:
            _new_deal(s, rules, int(result.deal_seed))
        elif action >= 0:
            _play_one(s, rules[s.rules], action, options[OPTION_REWARD], result)
            if s.phase == OVER and options[OPTION_REDEAL]:
                s.match_score[0] = 0
                s.match_score[1] = 0
                anew = True
                _new_deal(s, rules, mix_seed(int(s.deal_seed), 1))
        result.deal_seed = s.deal_seed
        result.seat = s.seat
        r = rules[s.rules]
        count = legal_actions(s, r, legal[at:], work, lists, options[OPTION_UNGUARDED] == 0)
        offsets[i + 1] = at + count
        if mask.shape[0] and packed:
            _pack_mask(mask[i], before[offsets_before[i] : offsets_before[i + 1]], legal[at : at + count])
        elif mask.shape[0]:
            for index in range(offsets_before[i], offsets_before[i + 1]):
                mask[i, before[index]] = 0
            for index in range(at, at + count):
                mask[i, legal[index]] = 1
        if observation.shape[0]:
            if anew or seat != s.seat:
                observe(s, r, int(s.seat), observation[i])
            else:
                update_observation(s, r, seat, observation[i], ARGS[action, KIND] > K_TAKE)
    return int(n)


@entry
def fill_states(states: Array, rules: Array, rows: Array) -> None:
    """The full state of every deal: fills `rows` [N, STATE.size] int8."""
    for i in range(states.shape[0]):
        full_state(states[i], rules[states[i].rules], rows[i])


@entry
def fill_features(states: Array, rules: Array, offsets: Array, legal: Array, rows: Array) -> None:
    """The features of every legal action: fills `rows` [L, FEATURES.size] int8."""
    n = states.shape[0]
    for i in range(n):
        if i + 1 < n:
            prefetch(states, i + 1, 0, COMMON_STATE_BYTES)
        s = states[i]
        r, team = rules[s.rules], team_of(int(s.seat))
        mine, theirs = fitting_discards(s, r, team), fitting_discards(s, r, 1 - team)
        for index in range(offsets[i], offsets[i + 1]):
            put_features(s, r, legal[index], mine, theirs, rows[index])


@entry
def first_illegal(actions: Array, offsets: Array, legal: Array) -> int:
    """The first deal whose action [N] is not in its legal list; -1: all are legal."""
    for i in range(actions.shape[0]):
        found = False
        for index in range(offsets[i], offsets[i + 1]):
            found |= legal[index] == actions[i]
        if not found:
            return i
    return -1


@entry
def sample(stream: Record, offsets: Array, legal: Array, out: Array) -> None:
    """A random legal id for each deal: fills `out` [N] int64 (-1 where there is none)."""
    for i in range(out.shape[0]):
        count = offsets[i + 1] - offsets[i]
        out[i] = legal[offsets[i] + random_below(stream, count)] if count else -1


@entry
def conceal_for(states: Array, rules: Array, seat: int) -> None:
    """Wipe from the deal what a seat can't know. This and what follows: of one deal, `states` [1]."""
    s = states[0]
    conceal(s, rules[s.rules], seat)


@entry
def resample_for(states: Array, rules: Array, seat: int, seed: int, pool: Array) -> None:
    """Deal anew what a seat can't know; `pool` [108] int8 is scratch."""
    s = states[0]
    resample(s, rules[s.rules], seat, seed, pool)


@entry
def meld_values(states: Array, rules: Array, team: int, slots: Array, out: Array) -> None:
    """Points and bonus of a team's melds: fills `out` [n, 2]; `slots` [n]: run slots, or -1 - slot for a set."""
    s = states[0]
    r = rules[s.rules]
    for index in range(slots.shape[0]):
        slot = slots[index]
        if slot >= 0:
            run = packed_run(s, team, slot)
            out[index, 0] = run_points(r, run, slot // RUNS_PER_SUIT)
            out[index, 1] = run_bonus(r, run)
        else:
            out[index, 0] = set_points(r, s, team, -1 - slot)
            out[index, 1] = set_bonus(r, set_size(s, team, -1 - slot), s.set[team, -1 - slot, SET_WILD])


@entry
def count_open(states: Array, rules: Array) -> None:
    """Set what lies open of each team, and the cards nobody knows of in public, as play would have counted them."""
    s = states[0]
    r = rules[s.rules]
    for card in range(s.hidden.shape[0]):
        seen = int(s.melded[card]) + int(s.pile_count[card]) + int(s.bottom_count[card])
        for seat in range(int(r.num_seats)):
            seen += int(s.known[seat, card])
        s.hidden[card] = int(r.copies[card]) - seen
    for team in range(NUM_TEAMS):
        out = int(r.bonus_out) if s.out_team == team else 0
        s.open_score[team] = meld_score(s, r, team) + int(r.bonus_morto) * int(s.taken[team]) + out


@entry
def stands(rules: Array, row: int, suit: int, run: int) -> bool:
    """A packed run of three cards or more is legal on the table, its wild where the rules would have it."""
    return is_legal_run(rules[row], suit, run)


@entry
def start_stream(stream: Record, seed: int) -> None:
    """Seed a stream for `sample`."""
    seed_stream(stream, seed)


@entry
def derive_seeds(seed: int, out: Array) -> None:
    """Different deal seeds from one: fills `out` [N] int64."""
    for i in range(out.shape[0]):
        out[i] = mix_seed(seed, i + 3)


@entry
def observe_seat(states: Array, rules: Array, seat: int, out: Array) -> None:
    """The observation of any seat: fills `out` [OBSERVATION.size]."""
    s = states[0]
    observe(s, rules[s.rules], seat, out)


@entry
def score_of(states: Array, rules: Array, out: Array) -> None:
    """Both teams' scores as if the deal ended here: fills `out` [2]."""
    s = states[0]
    out[0] = score(s, rules[s.rules], 0)
    out[1] = score(s, rules[s.rules], 1)
