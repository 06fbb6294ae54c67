"""`BatchEnv`: N deals at once, arrays in, arrays out."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache, cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from buraco_env.game import Game, IllegalAction, View, check_weights
from buraco_env.kernel import batch as kernel
from buraco_env.kernel import players
from buraco_env.kernel.actions import NUM_ACTIONS
from buraco_env.kernel.candidates import FEATURES
from buraco_env.kernel.deal import MAX_SEED
from buraco_env.kernel.observe import OBSERVATION, STATE
from buraco_env.kernel.state import STATE_DTYPE, Array, rules_row, rules_table
from buraco_env.kernel.weights import NUM_WEIGHTS
from buraco_env.rules import Rules
from buraco_env.scratch import scratch
from buraco_env.seeds import check_seed

REWARDS = kernel.REWARDS
_LEGAL_PER_DEAL = 12  # room at first; it grows when a step needs more


class _Share:
    """The deals `first` to `stop` that one thread plays; where there are several, each has lists of its own."""

    def __init__(self, first: int, stop: int) -> None:
        self.first, self.stop, self.deals = first, stop, slice(first, stop)
        self.bounds = slice(first, stop + 1)
        self.offsets = np.zeros(stop - first + 1, np.int64)
        self.legal = np.zeros(0, np.int16)


def _room(deals: int) -> int:
    """Room for the lists of so many deals."""
    return deals * _LEGAL_PER_DEAL + NUM_ACTIONS


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """The threads of this process that help to play: a fork needs its own."""
    return ThreadPoolExecutor(os.cpu_count(), thread_name_prefix="buraco")


class Views:
    """What the seats to move in some deals may know, as arrays; `views[i]` is one as a `View`.

    After the batch's next step they are refused, but for small arrays that were read before.

    observation [n, OBS] int8; action_mask [n, NUM_ACTIONS] int8; legal [L] int16, those of view i are
    `legal[offsets[i]:offsets[i + 1]]`; features [L, FEATURES] int8; seat [n]; rules: n `Rules`.
    """

    def __init__(self, env: BatchEnv, index: Array) -> None:
        self._batch, self._version, self.index = env, env._version, index

    @property
    def _env(self) -> BatchEnv:
        """The batch; RuntimeError after its next step, which may give another seat's cards to whoever kept these."""
        if self._batch._version != self._version:
            raise RuntimeError("these views are of an earlier step: ask the batch for new ones")
        return self._batch

    def __len__(self) -> int:
        return len(self.index)

    @cached_property
    def seat(self) -> Array:
        return self._env.seat[self.index]

    @cached_property
    def offsets(self) -> Array:
        ends = np.cumsum(self._env.offsets[self.index + 1] - self._env.offsets[self.index])
        return np.concatenate(([0], ends))

    @cached_property
    def _rows(self) -> Array:
        starts = self._env.offsets[self.index] - self.offsets[:-1]
        return np.repeat(starts, np.diff(self.offsets)) + np.arange(self.offsets[-1])

    @cached_property
    def legal(self) -> Array:
        return self._env.legal[self._rows]

    @property
    def observation(self) -> Array:
        return self._env.observation[self.index]

    @property
    def action_mask(self) -> Array:
        mask = np.zeros((len(self), NUM_ACTIONS), np.int8)
        mask[np.repeat(np.arange(len(self)), np.diff(self.offsets)), self.legal] = 1
        return mask

    @property
    def features(self) -> Array:
        rows: Array = self._env.features[self._rows]
        return rows

    @property
    def rules(self) -> list[Rules]:
        return [self._env.rules[row] for row in self._env.records["rules"][self.index]]

    def only(self, places: Array) -> Views:
        """The views at some places of these."""
        return Views(self._env, self.index[places])

    def choose(self, weights: Callable[[Rules], Array]) -> Array:
        """What a scripted player plays in each view: [n] int64; `weights` gives its [NUM_WEIGHTS] int64 for rules.

        `buraco_env.kernel.weights` says what the numbers mean.
        """
        env, buffers, chosen = self._env, scratch(), np.zeros(len(self), np.int64)
        players.choose_for(
            env.records, env._table, self.index, env.offsets, env._legal, env._weights_of(weights), chosen,
            buffers.work, buffers.lists,
        )  # fmt: skip
        return chosen

    def __getitem__(self, i: int) -> View:
        return self._env.game(int(self.index[i])).view(int(self.seat[i]))


class BatchEnv:
    """N deals side by side; a deal that ends is followed by the next at once.

    `rules`: a preset, path or `Rules`, or a list of which every deal draws one. `reward`: what `reward` holds after a
    step, team 0 less team 1 in points: "score_difference" of a deal at its end; "dense", the change of what lies open
    as it happens and hands and penalties at the end, with the same sum; "win", 1, 0 or -1 at the end.

    `action_mask`: True, False, or "packed" for a bit an action instead of a byte, which `np.unpackbits(mask, axis=1,
    count=NUM_ACTIONS, bitorder="little")` turns into the mask. `threads`: how many play at once; the results are the
    same, and it pays with a thousand deals or more a thread.

    Arrays are the same objects for life, to be read only: `step` writes what has changed. `legal` and `features` are
    views of a growing buffer: read them anew after each step. `features` and `state` cost nothing until first read.

    seat [N] that decides; observation [N, OBSERVATION.size] int8; action_mask [N, NUM_ACTIONS] int8;
    offsets [N + 1], legal [L]: the legal ids of deal i are `legal[offsets[i]:offsets[i + 1]]`, ascending;
    features [L, FEATURES.size] int8; state [N, STATE.size] int8: all cards and the public table, for a critic;
    reward [N]; terminated, truncated [N] bool, final_scores [N, 2], end_reason [N] (0 none, 1 out, 2 stock, 3 turn
    cap) of deals that ended in this step, and of these `results` [N] has turns, clean and dirty canastas and mortos of
    both teams too; deal_seed [N]: deal i replays as `Game(rules, seed=deal_seed[i])`.
    """

    def __init__(
        self,
        num_deals: int,
        rules: str | Path | Rules | Sequence[str | Path | Rules] = "classic",
        seed: int | None = None,
        *,
        reward: str = "score_difference",
        observation: bool = True,
        action_mask: bool | str = True,
        threads: int = 1,
        **overrides: Any,
    ) -> None:
        if isinstance(num_deals, bool) or not isinstance(num_deals, int | np.integer) or num_deals < 1:
            raise ValueError(f"num_deals = {num_deals!r} is not allowed; allowed: 1 or more")
        if reward not in REWARDS:
            raise ValueError(f"reward = {reward!r} is not allowed; allowed: {', '.join(REWARDS)}")
        if not isinstance(action_mask, bool) and not (isinstance(action_mask, str) and action_mask == "packed"):
            raise ValueError(f"action_mask = {action_mask!r} is not allowed; allowed: True, False, 'packed'")
        if isinstance(threads, bool) or not isinstance(threads, int | np.integer) or threads < 1:
            raise ValueError(f"threads = {threads!r} is not allowed; allowed: 1 or more")
        several = rules if isinstance(rules, list | tuple) else [rules]
        if not several:
            raise ValueError("rules = [] is not allowed; give one, or a list of which every deal draws one")
        self.rules = [Rules.load(one, **overrides) for one in several]  # type: ignore[arg-type]
        self.num_deals = num_deals = int(num_deals)
        self._table = rules_table(self.rules)
        self.records: Array = np.zeros(num_deals, STATE_DTYPE)
        self.results: Array = np.zeros(num_deals, kernel.RESULT_DTYPE)
        self.offsets: Array = np.zeros(num_deals + 1, np.int64)
        self._offsets_before = np.zeros(num_deals + 1, np.int64)
        self._legal, self._before = np.zeros(0, np.int16), np.zeros(0, np.int16)
        bounds = np.linspace(0, num_deals, min(threads, num_deals) + 1).astype(int).tolist()
        self._shares = [_Share(first, stop) for first, stop in pairwise(bounds)]
        self._observation = np.zeros((num_deals if observation else 0, OBSERVATION.size), np.int8)
        width = -(-NUM_ACTIONS // 8) if action_mask == "packed" else NUM_ACTIONS
        self._action_mask = np.zeros((num_deals if action_mask else 0, width), np.int8)
        self._state = np.zeros((0, STATE.size), np.int8)
        self._features = np.zeros((0, FEATURES.size), np.int8)
        self._options = np.zeros(kernel.NUM_OPTIONS, np.int64)
        self._options[kernel.OPTION_REWARD] = REWARDS.index(reward)
        self._options[kernel.OPTION_REDEAL] = 1
        self._options[kernel.OPTION_PACKED] = action_mask == "packed"
        self._version = 0  # raised by whatever may change who decides: views are of one
        self._actions = np.zeros(num_deals, np.int64)
        self._sampled = np.zeros(num_deals, np.int64)
        self._stream = np.zeros(1, kernel.STREAM_DTYPE)
        self._name_views()
        self.reset(seed)

    def _name_views(self) -> None:
        self.seat, self.reward = self.results["seat"], self.results["reward"]
        self.terminated, self.truncated = self.results["terminated"], self.results["truncated"]
        self.final_scores, self.end_reason = self.results["final_scores"], self.results["end_reason"]
        self.deal_seed = self.results["deal_seed"]
        self._packed = self._action_mask.view(np.uint8)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._name_views()

    def reset(self, seed: int | None = None) -> None:
        """Deal all deals anew from seeds derived from `seed`, and start the stream of `sample` again."""
        start = check_seed(seed)
        kernel.start_stream(self._stream[0], start)
        seeds = np.zeros(self.num_deals, np.int64)
        kernel.derive_seeds(start, seeds)
        self.deal(seeds)

    def deal(self, seeds: Array) -> None:
        """Start all deals anew from these deal seeds [N]."""
        seeds = np.asarray(seeds)
        fits = seeds.shape == (self.num_deals,) and seeds.dtype.kind in "iu"
        if not fits or seeds.min() < 0 or seeds.max() > MAX_SEED:
            raise ValueError(f"seeds must be {self.num_deals} ints from 0 to {MAX_SEED}, not {seeds}")
        self.deal_seed[:] = seeds
        self._actions[:] = kernel.NEW_DEAL
        self._advance()

    def restore(self, records: Array) -> None:
        """Go on from saved `records` (a copy of the attribute, taken earlier)."""
        records = np.asarray(records)
        if records.dtype != STATE_DTYPE or records.shape != (self.num_deals,):
            raise ValueError(f"records must be {self.num_deals} deals saved from a batch, not {records.dtype}")
        if int(records["rules"].max()) >= len(self.rules):
            raise ValueError("records must have been saved from a batch of the same rules")
        self.records[:] = records
        self._look()

    def step(self, actions: Array) -> None:
        """Play one legal action [N] in each deal; an illegal one raises IllegalAction, and nothing changes."""
        actions = np.asarray(actions)
        if actions.shape != (self.num_deals,) or actions.dtype.kind not in "iu":
            raise ValueError(f"actions must be {self.num_deals} ints, not {actions.dtype}{actions.shape}")
        self._actions[:] = actions
        bad = kernel.first_illegal(self._actions, self.offsets, self._legal)
        if bad >= 0:
            try:
                self.game(bad).play(int(actions[bad]))
            except IllegalAction as error:
                raise IllegalAction(f"deal {bad}: {error}") from None
            raise IllegalAction(f"deal {bad}: {actions[bad]} is not in its list")
        self._advance()

    def _look(self) -> None:
        self._actions[:] = kernel.LOOK
        self._advance()

    def play_random(self, steps: int = 1) -> None:
        """Play so many random legal actions in each deal, drawn as by `sample`; rewards are those of the last."""
        if isinstance(steps, bool) or not isinstance(steps, int | np.integer) or steps < 0:
            raise ValueError(f"steps = {steps!r} is not allowed; allowed: 0 or more")
        for _ in range(steps):
            kernel.sample(self._stream[0], self.offsets, self._legal, self._actions)
            self._advance()

    def _advance(self) -> None:
        """Do `_actions` and fill what follows; an interrupt leaves each deal as it is before its action or after."""
        self._version += 1
        try:
            self._play()
        except BaseException:
            self._action_mask[:] = 0
            self.offsets[:] = 0
            self._actions[:] = kernel.LOOK
            self._play()
            raise
        if len(self._state):
            self._fill_state()
        if len(self._features):
            self._fill_features()

    def _play(self) -> None:
        """Do `_actions` and look at what follows, in all shares."""
        self._offsets_before[:] = self.offsets
        self._before, self._legal = self._legal, self._before
        if len(self._shares) == 1:
            share = self._shares[0]
            share.offsets, share.legal = self.offsets, self._legal
            self._advance_share(share)
            self._legal = share.legal
        else:
            self._each_share(self._advance_share)
            self._join_lists()

    def _each_share(self, work: Callable[[_Share], None]) -> None:
        """Do the work of every share, all at once."""
        others = [_pool(os.getpid()).submit(work, share) for share in self._shares[1:]]
        try:
            work(self._shares[0])
        finally:
            wait(others)  # nobody goes on writing behind an interrupt
        for other in others:
            other.result()

    def _advance_share(self, share: _Share) -> None:
        """Do the actions of a share; where its list is full, make room and go on."""
        deals, buffers, done = share.deals, scratch(), 0
        while True:
            if len(share.legal) > NUM_ACTIONS:
                done = kernel.advance(
                    self.records[deals], self._table, self._actions[deals], self.results[deals],
                    share.offsets, share.legal, self._before, self._offsets_before[share.bounds],
                    self._action_mask[deals], self._observation[deals],
                    buffers.work, buffers.lists, self._options, done,
                )  # fmt: skip
            if done == share.stop - share.first:
                return
            more = np.zeros(max(len(share.legal), _room(share.stop - share.first)), np.int16)
            share.legal = np.concatenate((share.legal, more))

    def _join_lists(self) -> None:
        """Put the lists of all shares one after the other."""
        used = sum(int(share.offsets[-1]) for share in self._shares)
        if len(self._legal) < used:
            self._legal = np.zeros(2 * used, np.int16)
        for share in self._shares:
            at, count = self.offsets[share.first], share.offsets[-1]
            self.offsets[share.first + 1 : share.stop + 1] = share.offsets[1:] + at
            self._legal[at : at + count] = share.legal[:count]

    def _fill_state(self) -> None:
        self._each_share(lambda share: kernel.fill_states(*self._of(share), self._state[share.deals]))

    def _fill_features(self) -> None:
        used = int(self.offsets[-1])
        if len(self._features) < used:
            self._features = np.zeros((used + used // 4, FEATURES.size), np.int8)
        self._each_share(
            lambda share: kernel.fill_features(
                *self._of(share), self.offsets[share.bounds], self._legal, self._features
            )
        )

    def _of(self, share: _Share) -> tuple[Array, Array]:
        """The records of a share and the rules."""
        return self.records[share.deals], self._table

    @property
    def legal(self) -> Array:
        """The legal ids of all deals, one after the other: [L] int16."""
        return self._legal[: self.offsets[-1]]

    @property
    def observation(self) -> Array:
        """What the deciding seats know: [N, OBSERVATION.size] int8."""
        if not len(self._observation):
            self._observation = np.zeros((self.num_deals, OBSERVATION.size), np.int8)
            self._look_again()
        return self._observation

    @property
    def action_mask(self) -> Array:
        """1 for each legal action: [N, NUM_ACTIONS] int8, or packed [N, NUM_ACTIONS / 8 rounded up] uint8."""
        if not len(self._action_mask):
            self._action_mask = np.zeros((self.num_deals, NUM_ACTIONS), np.int8)
            self._look_again()
        return self._packed if self._options[kernel.OPTION_PACKED] else self._action_mask

    @property
    def features(self) -> Array:
        """Each legal action and what it leads to: [L, FEATURES.size] int8."""
        if not len(self._features):
            self._fill_features()
        return self._features[: self.offsets[-1]]

    @property
    def state(self) -> Array:
        """All cards and the public table, for a critic in training: [N, STATE.size] int8."""
        if not len(self._state):
            self._state = np.zeros((self.num_deals, STATE.size), np.int8)
            self._fill_state()
        return self._state

    def _look_again(self) -> None:
        """Fill an array that was just switched on; what the last step paid stays."""
        results, version = self.results.copy(), self._version
        self._look()
        self.results[:], self._version = results, version

    def _weights_of(self, weights: Callable[[Rules], Array]) -> Array:
        """What a scripted player weighs for each of the rules: [R, NUM_WEIGHTS] int64."""
        rows = [weights(rules) for rules in self.rules]
        for row in rows:
            check_weights(row, (NUM_WEIGHTS,))
        return rows[0][None] if len(rows) == 1 else np.stack(rows)

    def sample(self) -> Array:
        """A random legal action for each deal: [N] int64, overwritten by the next call."""
        kernel.sample(self._stream[0], self.offsets, self._legal, self._sampled)
        return self._sampled

    def game(self, i: int) -> Game:
        """Deal i as a `Game`, independent of the batch."""
        if not 0 <= i < self.num_deals:
            raise IndexError(f"deal {i} is not in this batch; deals: 0 to {self.num_deals - 1}")
        rules = self.rules[int(self.records["rules"][i])]
        game = Game._of(rules, rules_row(rules), bytearray(self.records[i].tobytes()))
        game.record.rules = 0
        return game

    def views(self, index: Array | None = None) -> Views:
        """What the seats to move in these deals (by default all) may know."""
        return Views(self, np.arange(self.num_deals) if index is None else self._checked(index))

    def _checked(self, index: Any) -> Array:
        """Deals as an array of their numbers; a mask [N] of bools picks those that are true."""
        found = np.asarray(index)
        if found.dtype == bool and found.shape == (self.num_deals,):
            return np.flatnonzero(found)
        if found.size == 0:
            return np.zeros(0, np.int64)
        if found.dtype.kind in "iu" and found.ndim == 1:
            deals = found.astype(np.int64)
            if int(deals.view(np.uint64).max()) < self.num_deals:  # one below 0 is huge so
                return deals
        raise IndexError(f"{index!r} are not deals of this batch; deals: 0 to {self.num_deals - 1}, or a mask")
