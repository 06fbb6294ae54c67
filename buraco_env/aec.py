"""Buraco as a PettingZoo AEC environment, `buraco_v0`.

| | |
|---|---|
| Agents | `player_0` … `player_3` (two seats: `player_0`, `player_1`); partners are 0 and 2, 1 and 3 |
| Action space | `Discrete(NUM_ACTIONS)`, the same ids for every rule set; `Game.describe` puts one in words |
| Observation | `{"observation": int8 [OBSERVATION.size], "action_mask": int8 [NUM_ACTIONS]}`; pieces: `OBSERVATION` |
| State | `state()`: int8 [STATE.size], all cards and the public table, for centralised critics in training |
| Episode | one deal; with `episode="match"` deals to the target of the rules, the start rotating |

A turn is several steps: draw a card or take the pile; meld, lay off and swap, one action each; discard. The agent stays
selected until its turn ends. The mask is also `infos[agent]["action_mask"]`, the same array as in the observation; the
mask of an agent that does not decide is all 0 and may be one that can't be written to.

**Rewards** are points times `reward_scale`, the acting team's change to both partners and its negative to both
opponents, at every step. `reward="score_difference"` pays the difference of the deal's scores at its end; `"win"`
pays 1, 0 or -1 at the end (of the match, with `episode="match"`); `"dense"` pays the change of what lies open as it
happens, and hand cards and penalties in the last step: the same sum, and no reward tells of a hidden card.

**Illegal actions**: `illegal="raise"` raises `IllegalAction` with the reason and changes nothing; `illegal="lose"`
ends the deal for all, the offender's team pays `illegal_penalty` points (under `"win"`: 1) to the other, and every
`infos[agent]["illegal"]` is the offender's name.

**End**: `terminations` are set when a team goes out or the stock ends, `truncations` when the deal reaches the turn
cap of the rules (it is scored like an end). A match is truncated after `max_deals` deals: weak players may never
reach the target.
"""

from __future__ import annotations

import operator
from pathlib import Path
from typing import Any, cast

import numpy as np
import pettingzoo
from gymnasium import spaces
from pettingzoo.utils.env import AECEnv

from buraco_env.game import Game, IllegalAction
from buraco_env.kernel import batch as kernel
from buraco_env.kernel.actions import NUM_ACTIONS
from buraco_env.kernel.observe import OBSERVATION, STATE
from buraco_env.kernel.state import STATE_DTYPE, Array, rules_table
from buraco_env.match import Ledger, deal_seed
from buraco_env.render.ansi import table_text
from buraco_env.rules import Rules
from buraco_env.seeds import check_seed, next_seed

REWARDS = kernel.REWARDS
RENDER_MODES = ("human", "ansi")
_NOTHING_LEGAL = np.zeros(NUM_ACTIONS, np.int8)
_NOTHING_LEGAL.setflags(write=False)
_BUFFERS = ("_results", "_offsets", "_offsets_before", "_legal", "_before", "_mask", "_observation")
_MADE_ANEW = ("_calls", "_seat_now", "_reward_now", "_ended")  # by `_make_buffers`


class raw_env(AECEnv[str, dict[str, Array], int]):  # type: ignore[misc]  # noqa: N801 - the name PettingZoo asks for
    """Buraco for PettingZoo; the module's docstring is its page.

    `rules`: a preset's name, a TOML path or a `Rules`, any field overridden by keyword; `render_mode`: None, "human"
    (prints the table), "ansi" (`render` returns it); the other arguments are on the page.
    """

    metadata = {  # noqa: RUF012 - PettingZoo's own type
        "name": "buraco_v0",
        "render_modes": list(RENDER_MODES),
        "is_parallelizable": False,
        "render_fps": 2,
    }

    def __init__(
        self,
        rules: str | Path | Rules = "classic",
        render_mode: str | None = None,
        *,
        reward: str = "score_difference",
        reward_scale: float = 1.0,
        illegal: str = "raise",
        illegal_penalty: int = 1000,
        episode: str = "deal",
        max_deals: int = 100,
        **overrides: Any,
    ) -> None:
        super().__init__()
        _check("render_mode", render_mode, (None, *RENDER_MODES))
        _check("reward", reward, REWARDS)
        _check("illegal", illegal, ("raise", "lose"))
        _check("episode", episode, ("deal", "match"))
        _check_number("illegal_penalty", illegal_penalty, 0)
        _check_number("reward_scale", reward_scale, None)
        _check_number("max_deals", max_deals, 1)
        self.rules = Rules.load(rules, **overrides)
        self.render_mode = render_mode
        self.reward, self.reward_scale = reward, float(reward_scale)
        self.illegal, self.illegal_penalty = illegal, illegal_penalty
        self.episode, self.max_deals = episode, max_deals
        self.match = Ledger(self.rules)
        self.possible_agents = [f"player_{seat}" for seat in range(self.rules.num_seats)]
        self._seat_of = {agent: seat for seat, agent in enumerate(self.possible_agents)}
        self.observation_spaces = {agent: _observation_space() for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(NUM_ACTIONS) for agent in self.possible_agents}
        self.state_space = spaces.Box(-128, 127, (STATE.size,), np.int8)
        self._table = rules_table([self.rules])
        self._states = np.zeros(1, STATE_DTYPE)
        self._make_buffers()
        self._seed = -1  # of the deal; -1: reset has not been called

    def _make_buffers(self) -> None:
        """The arrays of a batch of one."""
        self._actions = np.zeros(1, np.int64)
        self._results = np.zeros(1, kernel.RESULT_DTYPE)
        self._offsets, self._offsets_before = np.zeros(2, np.int64), np.zeros(2, np.int64)
        self._legal, self._before = np.zeros(NUM_ACTIONS, np.int16), np.zeros(NUM_ACTIONS, np.int16)
        self._mask = np.zeros((1, NUM_ACTIONS), np.int8)
        self._observation = np.zeros((1, OBSERVATION.size), np.int8)
        self._options = np.zeros(kernel.NUM_OPTIONS, np.int64)
        self._options[kernel.OPTION_REWARD] = REWARDS.index(self.reward)
        self._seat_now, self._reward_now, self._ended = (
            self._results[name] for name in ("seat", "reward", "end_reason")
        )
        work, lists = kernel.workspace()
        self._calls: list[tuple[Any, ...]] = [
            (
                self._states, self._table, self._actions, self._results, after, legal, legal_before,
                before, self._mask, self._observation, work, lists, self._options, 0,
            )
            for after, legal, before, legal_before in (
                (self._offsets, self._legal, self._offsets_before, self._before),
                (self._offsets_before, self._before, self._offsets, self._legal),
            )
        ]  # fmt: skip
        self._call = 0  # which of the two: the lists take turns in being the ones before

    def _advance(self, action: int) -> None:
        """Let the kernel do an action and look at the position."""
        self._actions[0] = action
        self._call ^= 1
        kernel.advance(*self._calls[self._call])

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """The space of an agent's observations, always the same object."""
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """The space of action ids, always the same object for an agent."""
        return self.action_spaces[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Deal anew: with a seed the same deal as `Game(rules, seed=seed)`, without one the next in a row of deals."""
        if seed is None and self._seed >= 0:
            seed = next_seed(self._seed)
        self._seed = check_seed(seed)
        self.match = Ledger(self.rules)
        self._deal()
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos = {agent: {"action_mask": _NOTHING_LEGAL} for agent in self.agents}
        self._paid = False
        self._skip_agent_selection = None
        self._select()
        if self.render_mode == "human":
            self.render()

    def _deal(self) -> None:
        """Deal: the one deal of the episode, or the next of the match."""
        match = self.match
        in_match = self.episode == "match"
        self._results[0].deal_seed = deal_seed(self._seed, match.deals) if in_match else self._seed
        self._states[0].match_score[:] = match.scores
        self._advance(kernel.NEW_DEAL)
        if match.starter:
            self._states[0].seat = self._states[0].starter = match.starter
            self._advance(kernel.LOOK)

    def _select(self) -> None:
        """The seat that decides is selected, with a fresh mask."""
        self.agent_selection = self.possible_agents[self._seat_now.item()]
        self.infos[self.agent_selection]["action_mask"] = self._mask[0].copy()

    def _check_reset(self, what: str) -> None:
        if self._seed < 0:
            raise RuntimeError(f"{what} before reset(): call reset() first")

    def observe(self, agent: str) -> dict[str, Array]:
        """What an agent knows, in fresh arrays, and its mask: all 0 if it does not decide."""
        self._check_reset("observe()")
        if agent == self.agent_selection and not self._is_over():
            return {"observation": self._observation[0].copy(), "action_mask": self.infos[agent]["action_mask"]}
        if agent not in self._seat_of:
            raise ValueError(f"unknown agent {agent!r}; agents: {', '.join(self.possible_agents)}")
        observation = np.zeros(OBSERVATION.size, np.int8)
        kernel.observe_seat(self._states, self._table, self._seat_of[agent], observation)
        mask = np.zeros(NUM_ACTIONS, np.int8)
        if agent in self.infos:
            self.infos[agent]["action_mask"] = mask
        return {"observation": observation, "action_mask": mask}

    def _is_over(self) -> bool:
        return not self.agents or self.terminations[self.agents[0]] or self.truncations[self.agents[0]]

    def state(self) -> Array:
        """All cards, hidden ones too, and the public table, for critics in training: int8 [STATE.size]."""
        self._check_reset("state()")
        out: Array = np.zeros((1, STATE.size), np.int8)
        kernel.fill_states(self._states, self._table, out)
        return out.reshape(STATE.size)

    def step(self, action: int | None) -> None:
        """Play an action for the selected agent; None, and only None, for one whose deal is over."""
        self._check_reset("step()")
        agent = self.agent_selection
        if not self.agents:
            raise RuntimeError("step() after the end of the episode: call reset()")
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        chosen = self._legal_id(action)
        self._cumulative_rewards[agent] = 0.0
        if chosen < 0:
            self._lose(agent)
            return
        self._advance(chosen)
        points = self._reward_now.item()
        if points or self._paid:
            decides = self.reward != "win" or self.episode == "deal"
            self._pay(points * self.reward_scale if decides else 0.0)
        if self._ended.item():
            self._end_deal(bool(self._results[0]["truncated"]))
        else:
            self.infos[agent]["action_mask"] = _NOTHING_LEGAL
            self._select()
        if self.render_mode == "human":
            self.render()

    def _legal_id(self, action: Any) -> int:
        """The action as an int; -1 if it is illegal and that loses; else IllegalAction."""
        try:
            chosen = operator.index(action)
        except TypeError:
            chosen = -1
        if 0 <= chosen < NUM_ACTIONS and self._mask[0, chosen]:
            return chosen
        if self.illegal == "lose":
            return -1
        if 0 <= chosen < NUM_ACTIONS:
            self._game().play(chosen)
        raise IllegalAction(f"{action!r} is no action: {self.agent_selection} needs an id from 0 to {NUM_ACTIONS - 1}")

    def _game(self) -> Game:
        """A copy of the deal as a `Game`."""
        return Game._of(self.rules, self._table, bytearray(self._states.tobytes()))

    def _pay(self, points: float) -> None:
        """Team 0's change to its seats, the negative to the others."""
        self._paid = points != 0
        for seat, agent in enumerate(self.possible_agents):
            pays = -points if seat & 1 else points
            self.rewards[agent] = pays
            self._cumulative_rewards[agent] += pays

    def _end_deal(self, truncated: bool) -> None:
        """The episode is over with its deal; a match goes on until it is decided."""
        scores = self._results[0]["final_scores"]
        self.match.add((int(scores[0]), int(scores[1])))
        if self.episode == "deal":
            self._finish(truncated)
        elif self.match.over or self.match.deals >= self.max_deals:
            if self.reward == "win":
                self._pay({None: 0.0, 0: 1.0, 1: -1.0}[self.match.winner] * self.reward_scale)
            self._finish(not self.match.over)
        else:
            self.infos[self.agent_selection]["action_mask"] = _NOTHING_LEGAL
            self._deal()
            self._select()

    def _finish(self, truncated: bool) -> None:
        ended = self.truncations if truncated else self.terminations
        for agent in self.agents:
            ended[agent] = True
            self.infos[agent]["action_mask"] = _NOTHING_LEGAL
        self.agent_selection = self.agents[0]

    def _lose(self, agent: str) -> None:
        """The deal ends at an illegal action: the offender's team pays the other."""
        points = 1.0 if self.reward == "win" else self.illegal_penalty * self.reward_scale
        self._pay(points if self._seat_of[agent] & 1 else -points)
        self._finish(False)
        for info in cast(dict[str, dict[str, Any]], self.infos).values():
            info["illegal"] = agent

    def render(self) -> str | None:
        """The table as text: returned ("ansi") or printed ("human"), with the hand of the agent to move."""
        self._check_reset("render()")
        if self.render_mode is None:
            return None
        text = table_text(self._game())
        if self.render_mode == "ansi":
            return text
        print(text)  # noqa: T201 - what the human mode is for
        return None

    def close(self) -> None:
        """Nothing to release."""

    def __getstate__(self) -> dict[str, Any]:
        return {key: value for key, value in self.__dict__.items() if key not in _MADE_ANEW}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_buffers()
        for name in _BUFFERS:
            getattr(self, name)[:] = state[name]
        self._call = state["_call"]


def _observation_space() -> spaces.Dict:
    return spaces.Dict(
        {
            "observation": spaces.Box(-128, 127, (OBSERVATION.size,), np.int8),
            "action_mask": spaces.Box(0, 1, (NUM_ACTIONS,), np.int8),
        }
    )


def _check(name: str, value: object, allowed: tuple[Any, ...]) -> None:
    if value not in allowed:
        raise ValueError(f"{name} = {value!r} is not allowed; allowed: {', '.join(map(str, allowed))}")


def _check_number(name: str, value: object, least: int | None) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float) or (least is not None and value < least):
        allowed = "a number" if least is None else f"a number from {least} on"
        raise ValueError(f"{name} = {value!r} is not allowed; allowed: {allowed}")


def env(rules: str | Path | Rules = "classic", render_mode: str | None = None, **options: Any) -> raw_env:
    """The environment as one uses it. It checks legality and order itself, so nothing is wrapped around it."""
    return raw_env(rules, render_mode, **options)


def register() -> None:
    """Make `pettingzoo.make("aec", "buraco/buraco-v0")` work, where this PettingZoo has a registry."""
    if hasattr(pettingzoo, "register"):
        cast(Any, pettingzoo).register("aec", "buraco/buraco-v0", entry_point="buraco_env.aec:env")
