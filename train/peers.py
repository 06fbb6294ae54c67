"""Decisions a CPU second of other environments: `python -m train.peers` lists them, with a NAME it times one.

Here is also how any environment is timed, so that ours is timed alike. A decision is a real action of an agent, drawn
from the legal ones; cards that chance deals and steps of agents that are done cost time and don't count.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any, TypeAlias

import numpy as np

CORES: set[int] = os.sched_getaffinity(0) if hasattr(os, "sched_getaffinity") else set()
Work: TypeAlias = Callable[[], float]  # does something, and says how many of what is counted that was


@dataclass(frozen=True)
class Effort:
    """How long is measured: seconds of each repeat, and repeats."""

    seconds: float
    repeats: int


def stay_on(cores: set[int]) -> None:
    """Run on these cores alone, where the system lets us choose."""
    with suppress(AttributeError, OSError):
        os.sched_setaffinity(0, cores)


def pin() -> None:
    """Stay on one of the cores that the process was given."""
    stay_on({max(CORES, default=0)})


def rates(works: Sequence[Work], effort: Effort, clock: Callable[[], float] = time.process_time) -> list[list[float]]:
    """How many of what each work counts go into a second, for each repeat; several works take turns."""
    found: list[list[float]] = [[] for _ in works]
    for work in works:
        work()
    for _ in range(effort.repeats):
        for work, into in zip(works, found):
            begin, count = clock(), 0.0
            while not count or clock() - begin < effort.seconds:
                count += work()
            into.append(count / (clock() - begin))
    return found


def aec_work(env: Any) -> Work:
    """Whole episodes of a PettingZoo AEC environment: `last`, a random index of the mask's `flatnonzero`, `step`."""
    rnd, flat = random.Random(1).random, np.flatnonzero
    env.reset(seed=1)

    def work() -> int:
        steps = 0
        env.reset()
        for _ in env.agent_iter():
            observation, _, terminated, truncated, info = env.last()
            if terminated or truncated:
                env.step(None)
                continue
            legal = flat((observation if isinstance(observation, dict) else info)["action_mask"])
            env.step(int(legal[int(rnd() * len(legal))]))
            steps += 1
        return steps

    return work


def pettingzoo_null() -> Work:
    """Four agents, 200 decisions an episode, nothing computed: as fast as the AEC interface gets."""
    return aec_work(_null_env())


def pettingzoo_null_wrapped() -> Work:
    """The same in the three wrappers that PettingZoo's classic games wear."""
    wrappers = import_module("pettingzoo.utils.wrappers")
    env = wrappers.TerminateIllegalWrapper(_null_env(), illegal_reward=-1)
    return aec_work(wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(env)))


def _null_env() -> Any:
    """An AEC environment whose agents take turns and see the same two arrays at every step."""
    spaces = import_module("gymnasium.spaces")
    seen = {"observation": np.zeros(600, np.int8), "action_mask": np.arange(512) % 16 == 0}
    observations = spaces.Dict({name: spaces.Box(0, 1, array.shape, np.int8) for name, array in seen.items()})
    actions = spaces.Discrete(512)

    class Null(import_module("pettingzoo").AECEnv):  # type: ignore[misc]
        metadata = {"name": "null_v0", "render_modes": [], "is_parallelizable": False}  # noqa: RUF012
        possible_agents = [f"player_{seat}" for seat in range(4)]  # noqa: RUF012
        render_mode = None

        def observation_space(self, agent: str) -> Any:
            return observations

        def action_space(self, agent: str) -> Any:
            return actions

        def observe(self, agent: str) -> Any:
            return seen

        def reset(self, seed: int | None = None, options: Any = None) -> None:
            self.agents, self.count, self.agent_selection = self.possible_agents[:], 0, "player_0"
            self.rewards = dict.fromkeys(self.agents, 0.0)
            self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
            self.terminations = dict.fromkeys(self.agents, False)
            self.truncations = dict.fromkeys(self.agents, False)
            self.infos: dict[str, Any] = {agent: {} for agent in self.agents}

        def step(self, action: Any) -> None:
            if self.terminations[self.agent_selection]:
                self._was_dead_step(action)
                return
            self._cumulative_rewards[self.agent_selection] = 0.0
            self.count += 1
            self.agent_selection = self.possible_agents[self.count % 4]
            self._accumulate_rewards()
            if self.count == 200:
                self.terminations = dict.fromkeys(self.agents, True)

    return Null()


def pettingzoo_game(name: str) -> Callable[[], Work]:
    """A classic card game of PettingZoo, as its `env()` comes."""
    return lambda: aec_work(import_module(f"pettingzoo.classic.{name}").env())


def rlcard_gin_rummy() -> Work:
    """RLCard's own interface: a step returns the next player's observation and legal actions."""
    env, rnd = import_module("rlcard").make("gin-rummy", config={"seed": 1}), random.Random(1).random

    def work() -> int:
        steps = 0
        state, _ = env.reset()
        while not env.is_over():
            legal = list(state["legal_actions"])
            state, _ = env.step(legal[int(rnd() * len(legal))])
            steps += 1
        env.get_payoffs()
        return steps

    return work


def openspiel_gin_rummy() -> Work:
    """OpenSpiel from Python: observation, legal actions and step of every decision."""
    game = import_module("pyspiel").load_game("gin_rummy")
    start, rnd = game.new_initial_state(), random.Random(1).random
    look = import_module("open_spiel.python.observation").make_observation(game).set_from
    return lambda: _openspiel_deal(start.clone(), rnd, look)


def _openspiel_deal(state: Any, rnd: Callable[[], float], look: Callable[[Any, int], None] | None) -> int:
    """Play a deal at random; how many decisions it had."""
    decisions = 0
    while not state.is_terminal():
        if state.is_chance_node():
            cards = state.chance_outcomes()  # all equally likely in these games
            state.apply_action(cards[int(rnd() * len(cards))][0])
            continue
        if look:
            look(state, state.current_player())
        legal = state.legal_actions()
        state.apply_action(legal[int(rnd() * len(legal))])
        decisions += 1
    return decisions


def openspiel_compiled(name: str) -> Callable[[], Work]:
    """OpenSpiel's random bots against each other, all in C++ and without observations.

    They don't say how many decisions they make: a deal counts as the mean of 500 random deals played from Python.
    """

    def make() -> Work:
        spiel, rnd = import_module("pyspiel"), random.Random(1)
        game = spiel.load_game(name)
        start = game.new_initial_state()
        bots = [spiel.make_uniform_random_bot(seat, seat + 1) for seat in range(game.num_players())]
        mean = sum(_openspiel_deal(start.clone(), rnd.random, None) for _ in range(500)) / 500

        def work() -> float:
            for _ in range(10):
                spiel.evaluate_bots(start.clone(), bots, rnd.getrandbits(30) + 1)
            return 10 * mean

        return work

    return make


def pgx_sparrow_mahjong(deals: int = 1024, steps: int = 20) -> Work:
    """Pgx on jax's CPU backend: `steps` random actions in each of `deals` deals, compiled as one loop."""
    os.environ["JAX_PLATFORMS"] = "cpu"
    jax, env = import_module("jax"), import_module("pgx").make("sparrow_mahjong")
    split, choose = jax.random.split, jax.random.categorical
    play = jax.vmap(import_module("pgx.experimental.wrappers").auto_reset(env.step, env.init))

    def advance(carry: Any, _: None) -> Any:
        state, key, total = carry
        key, chosen, dealt = split(key, 3)
        action = choose(chosen, jax.numpy.where(state.legal_action_mask, 0.0, -1e9))
        state = play(state, action, split(dealt, deals))
        return (state, key, total + state.observation.sum()), None  # XLA leaves out what nobody reads

    loop = jax.jit(lambda carry: jax.lax.scan(advance, carry, None, length=steps)[0])
    kept = jax.jit(jax.vmap(env.init))(split(jax.random.PRNGKey(0), deals)), jax.random.PRNGKey(1)

    def work() -> int:
        nonlocal kept
        state, key, total = loop((*kept, jax.numpy.zeros((), kept[0].observation.sum().dtype)))
        total.block_until_ready()
        kept = state, key
        return deals * steps

    return work


@dataclass(frozen=True)
class Peer:
    """An environment to compare with: what to install, the modules it then has, and what makes its work."""

    install: str
    modules: tuple[str, ...]
    make: Callable[[], Work]


def _classic(name: str, install: str = "'pettingzoo[classic]'") -> Peer:
    return Peer(install, (f"pettingzoo.classic.{name}", "rlcard"), pettingzoo_game(name))


PEERS = {
    "pettingzoo_null": Peer("pettingzoo", ("pettingzoo",), pettingzoo_null),
    "pettingzoo_null_wrapped": Peer("pettingzoo", ("pettingzoo",), pettingzoo_null_wrapped),
    "pettingzoo_leduc_holdem": _classic("leduc_holdem_v4"),
    "pettingzoo_texas_holdem": _classic("texas_holdem_v4"),
    "pettingzoo_gin_rummy": _classic("gin_rummy_v4", "'pettingzoo[classic]==1.26.1'"),  # the last to have it
    "rlcard_gin_rummy": Peer("rlcard", ("rlcard",), rlcard_gin_rummy),
    "openspiel_gin_rummy": Peer("open_spiel", ("pyspiel",), openspiel_gin_rummy),
    "openspiel_cpp_gin_rummy": Peer("open_spiel", ("pyspiel",), openspiel_compiled("gin_rummy")),
    "openspiel_cpp_spades": Peer("open_spiel", ("pyspiel",), openspiel_compiled("spades")),
    "pgx_sparrow_mahjong": Peer("pgx", ("pgx", "jax"), pgx_sparrow_mahjong),
}


def missing(peer: Peer) -> str:
    """How to install a peer that is not installed; else nothing."""
    return "" if all(map(_importable, peer.modules)) else f"not installed (pip install {peer.install})"


def _importable(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:  # of a package above it
        return False


def main(arguments: list[str] | None = None) -> None:
    """Print the decisions a CPU second of one peer, a JSON list with one number for each repeat; or list the peers."""
    parser = argparse.ArgumentParser(prog="python -m train.peers", description="Time another environment.")
    parser.add_argument("name", nargs="?", choices=PEERS, metavar="NAME", help="a peer; without it they are listed")
    parser.add_argument("--seconds", type=float, default=1.0, help="CPU seconds of one repeat")
    parser.add_argument("--repeats", type=int, default=5)
    options = parser.parse_args(arguments)
    if options.name:
        pin()
        print(json.dumps(rates([PEERS[options.name].make()], Effort(options.seconds, options.repeats))[0]))
        return
    for name, peer in PEERS.items():
        print(f"{name}: {missing(peer) or 'installed'}")


if __name__ == "__main__":
    main()
