"""Agents: specs and their errors, what greedy picks, chance that depends on the view alone, the network's pieces."""

import re
import subprocess
import sys
from itertools import pairwise

import numpy as np
import pytest
import torch

import agents
from agents.base import STYLES, best, segments, uniform
from agents.neural import Neural, Policy, Sizes, gumbel, log_softmax
from agents.registry import AGENTS
from buraco_env import OBSERVATION, BatchEnv, Game

SMALL = Sizes(trunk=16, actions=8, slots=4, history=2)


class LastLegal:
    """An agent from outside the package: the highest legal id, or the lowest."""

    def __init__(self, lowest: bool = False):
        self.lowest = lowest

    def reset(self, seed):
        pass

    def act(self, views):
        return views.legal[views.offsets[:-1] if self.lowest else views.offsets[1:] - 1].astype(np.int64)


class NoAgent:
    """Has no `act`."""


class Raising(LastLegal):
    """Can't be made."""

    def __init__(self):
        raise RuntimeError("no luck\n" + 400 * "x")


class Bare(agents.Agent):
    """Inherits the `__init__` of a protocol."""

    def reset(self, seed):
        pass

    def act(self, views):
        return views.legal[views.offsets[:-1]].astype(np.int64)


class Typed(Bare):
    """Options of every kind: declared, in quotes, in a union, told by a default, not told."""

    def __init__(
        self,
        loose,
        quoted: "int" = 0,
        maybe: float | None = None,
        either: "int | str" = 0,
        number=7,
        flag=False,
        nothing=None,
        **others: int,
    ):
        self.options = {name: value for name, value in locals().items() if name not in ("self", "others", "__class__")}


class Unknown(Bare):
    """One of its types is a name that only a type checker knows."""

    def __init__(self, rules: "Rulez | None" = None, depth: int = 1):  # noqa: F821
        self.options = {"rules": rules, "depth": depth}


def views_of(text: str, **fields):
    """A position as a batch of one: (game, views)."""
    game = Game.from_position(text, seed=1)
    batch = BatchEnv(1, game.rules)
    batch.restore(np.array([game.record], batch.records.dtype))
    return game, batch.views()


def chosen(agent: str, text: str) -> str:
    """What an agent does in a position, in words."""
    game, views = views_of(text)
    return game.describe(int(agents.make(agent).act(views)[0]))


def played(deals: int, steps: int, rules="classic", seed=3) -> BatchEnv:
    """A batch in the middle of play."""
    batch = BatchEnv(deals, rules, seed)
    for _ in range(steps):
        batch.step(batch.sample())
    return batch


def untrained(seed=0, sizes=SMALL) -> Policy:
    """A policy with random weights, none of them zero."""
    torch.manual_seed(seed)
    policy = Policy(sizes)
    torch.nn.init.normal_(policy.score.weight)
    return policy


def test_every_name_is_listed_and_the_plain_ones_can_be_made():
    assert agents.names() == list(AGENTS)
    for name in set(AGENTS) - {"neural", "human", "partners"}:
        assert isinstance(agents.make(name), agents.Agent)


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("gredy", "no agent 'gredy'; did you mean 'greedy'?"),
        ("zzz", "known: greedy, "),
        ("greedy:style=wild", "no option 'style'; there are none"),
        ("neural", "needs an option: path="),
        ("neural:pth=x", "no option 'pth'; did you mean 'path'?"),
        ("neural:path=x,temperature=warm", "temperature='warm' should be a value of type float"),
        ("neural:path=x,temperature=-1", "temperature=-1.0 should be 0"),
        ("neural:path=nowhere", "no checkpoint in nowhere"),
        ("random:seven", "'seven' is no option"),
        ("runs/nowhere", "no such folder"),
        ("tests.test_agents:LastLegl", "did you mean 'LastLegal'?"),
        ("tests.test_agentz:LastLegal", "No module named 'tests.test_agentz'"),
        ("tests.test_agents:NoAgent", "has no reset(seed) and act(views)"),
        ("tests.test_agents:LastLegal:lowest=perhaps", "should be a value of type bool"),
        ("", "an empty spec names no agent; known: greedy, "),
        ("search:ms=1,ms=2", "agent 'search:ms=1,ms=2' is given 'ms' twice"),
        ("partners:lower=(steady,upper=steady", "opens a bracket and does not close it: 'lower=(steady,upper=steady'"),
        ("partners:lower=steady),upper=greedy", "closes a bracket that it has not opened: ')' after 'lower=steady'"),
        ("tests.test_agents:Typed:loose=1,maybe=x", "maybe='x' should be a value of type float or none"),
        ("tests.test_agents:Typed:loose=1,number=x", "number='x' should be a value of type int"),
        ("tests.test_agents:Typed:loose=1,other=2", "no option 'other'"),
        ("tests.test_agents:Raising", "agent 'tests.test_agents:Raising' can't be made: RuntimeError: no luck xxx"),
        (".x:Y", "no agent '.x:Y': TypeError: "),
        ("math:pi", "no agent 'math:pi': it is no class with reset(seed) and act(views), but a float"),
        ("builtins:int", "no agent 'builtins:int': it is no class with reset(seed) and act(views), but a type"),
        ("os:environ", "no agent 'os:environ': it is no class with reset(seed) and act(views), but a _Environ"),
    ],
)
def test_a_wrong_spec_is_refused_in_one_line(spec, message):
    with pytest.raises(agents.AgentError) as error:
        agents.make(spec)
    assert message in str(error.value)
    assert "\n" not in str(error.value) and len(str(error.value)) < 300


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("def", "SyntaxError: invalid syntax"),
        ("import nowhere_at_all", "ModuleNotFoundError: No module named 'nowhere_at_all'"),
        ("raise SystemExit(3)", "SystemExit: 3"),
    ],
)
def test_a_module_that_cannot_be_imported_is_refused_in_one_line(source, message, tmp_path, monkeypatch):
    (tmp_path / "unfit.py").write_text(source)
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(agents.AgentError) as error:
        agents.make("unfit:Agent:depth=3")
    assert str(error.value).startswith(f"no agent 'unfit:Agent': {message}") and "\n" not in str(error.value)


def test_an_agent_without_an_init_of_its_own_has_no_options():
    assert isinstance(agents.make("tests.test_agents:Bare"), agents.Agent)


def test_an_option_is_read_as_its_type_says():
    given = {"loose": "5", "quoted": "5", "maybe": "0.5", "either": "5", "number": "5", "flag": "yes", "nothing": "5"}
    meant = {"loose": "5", "quoted": 5, "maybe": 0.5, "either": 5, "number": 5, "flag": True, "nothing": "5"}
    text = ",".join(f"{name}={value}" for name, value in given.items())
    assert agents.make(f"tests.test_agents:Typed:{text}").options == meant
    assert agents.make("tests.test_agents:Typed:loose=x,either=x,maybe=None").options["either"] == "x"
    assert agents.make("tests.test_agents:Unknown:depth=5").options == {"rules": None, "depth": 5}


def test_types_are_read_where_annotations_are_kept_as_text(tmp_path, monkeypatch):
    lines = "from __future__ import annotations", "from tests.test_agents import Bare", "class Mine(Bare):"
    init = " def __init__(self, share: float | None): self.share = share"
    (tmp_path / "kept.py").write_text("\n".join([*lines, init]))
    monkeypatch.syspath_prepend(tmp_path)
    assert agents.make("kept:Mine:share=0.5").share == 0.5
    assert agents.make("kept:Mine:share=none").share is None


def test_the_folder_of_a_run_may_have_any_name(tmp_path):
    folder = tmp_path / "lr=3,seed=2 (old"
    folder.mkdir()
    with pytest.raises(agents.AgentError, match=r"no checkpoint in .*old"):
        agents.make(str(folder))


def test_an_agent_from_outside_with_options():
    views = played(4, 3).views()
    assert (agents.make("tests.test_agents:LastLegal").act(views) == views.legal[views.offsets[1:] - 1]).all()
    lowest = agents.make("tests.test_agents:LastLegal:lowest=yes")
    assert (lowest.act(views) == views.legal[views.offsets[:-1]]).all()


def test_the_command_lists_all_agents_with_their_options():
    listed = subprocess.run([sys.executable, "-m", "agents"], capture_output=True, text=True, check=True).stdout
    assert len(listed.splitlines()) == len(AGENTS) + 2
    assert re.search(r"^neural:path,temperature=0.0 +plays a trained network", listed, re.MULTILINE)


@pytest.mark.parametrize("agent", ["random", *STYLES])
@pytest.mark.parametrize("rules", ["classic", "online", "aberto_sujo", ["fechado", "mini"]])
def test_an_agent_plays_legal_actions_to_the_end(agent, rules):
    batch, player, ended = BatchEnv(64, rules, seed=5), agents.make(agent), 0
    player.reset(1)
    while ended < 64:
        actions = player.act(batch.views())
        assert actions.shape == (64,)
        assert actions.dtype == np.int64
        batch.step(actions)  # an illegal one raises
        ended += int((batch.end_reason > 0).sum())


HEAD = "rules classic\nseat 0   starter 0   turn 8\n"


@pytest.mark.parametrize(
    ("position", "action"),
    [
        ("phase draw\nhand 0: 4H 5H 7C 9D KS\npile: 3C 6H", "take pile"),
        ("phase draw\nhand 0: 4H 5C 7C 9D KS\npile: 3C 6H", "draw"),
        ("phase meld\nhand 0: 4H 5H 6H QC QD QS 9D KS", "meld QC QD QS"),
        ("phase meld\nteam 0: 3D 4D 5D 6D 7D 8D\nhand 0: 9D QC QD QS 7H KS", "lay off 9D"),
        ("phase meld\nhand 0: 4H 8C JD KS 2S JK", "discard 4H"),
        ("phase meld\nhand 0: 8C KD AS JK", "discard 8C"),
        ("phase meld\nhand 0: JK JK 2S", "discard 2S"),
        ("phase extra\nhand 0: 4H 8C JD KS\nmortos taken: 1 0\nmortos: 1", "end turn"),
    ],
)
def test_greedy_takes_melds_and_throws_away_as_described(position, action):
    assert chosen("greedy", HEAD + position).startswith(action)


def test_greedy_does_not_swap_for_nothing():
    position = HEAD + "phase meld\nteam 0: 4H 5H 2S* 7H\nhand 0: 6H 9C KD"
    game, _ = views_of(position)
    assert any(game.describe(action).startswith("swap 6H") for action in game.legal_actions())
    assert chosen("greedy", position) == "discard 6H"


@pytest.mark.parametrize("agent", ["random", "greedy", "neural"])
def test_a_choice_depends_on_the_view_and_the_seed_alone(agent):
    batch = played(96, 40)
    player = Neural.of(untrained(), temperature=1.0) if agent == "neural" else agents.make(agent)
    player.reset(7)
    together = player.act(batch.views())
    for lot in (np.arange(5, 60), np.array([95, 3, 3, 40]), np.array([17])):
        assert (player.act(batch.views(lot)) == together[lot]).all()
    player.reset(7)
    assert (player.act(batch.views()) == together).all()
    player.reset(8)
    assert (player.act(batch.views()) == together).all() == (agent == "greedy")


def test_random_takes_every_action_about_equally_often():
    batch = BatchEnv(2000, "classic", seed=1)
    for seed in range(3):
        batch.reset(seed)
        batch.step(batch.sample())
        views = batch.views()
        player = agents.make("random")
        player.reset(seed)
        place = [
            (list(views.legal[a:b]).index(action) + 0.5) / (b - a)
            for (a, b), action in zip(pairwise(views.offsets), player.act(views))
        ]
        assert np.mean(place) == pytest.approx(0.5, abs=0.03)
        assert np.std(place) == pytest.approx(0.285, abs=0.02)


def test_uniform_numbers_look_uniform():
    observation = played(4000, 1).observation
    numbers = uniform(observation, 1)
    assert len(np.unique(numbers)) == 4000
    assert np.histogram(numbers, 10, (0, 1))[0].min() > 320
    assert abs(np.corrcoef(numbers, uniform(observation, 2))[0, 1]) < 0.06


def ragged(n=200, seed=0):
    """Offsets of n segments, and a generator."""
    rng = np.random.default_rng(seed)
    return np.concatenate(([0], np.cumsum(rng.integers(1, 9, n)))), rng


def test_best_is_the_first_highest_of_each_segment():
    offsets, rng = ragged()
    scores = rng.integers(0, 4, offsets[-1])
    slow = [a + int(np.argmax(scores[a:b])) for a, b in pairwise(offsets)]
    assert best(scores, offsets).tolist() == slow


def test_segments_gather_the_chosen_lists():
    offsets, rng = ragged()
    index = rng.integers(0, 200, 50)
    at, chosen_offsets = segments(offsets, index)
    slow = [list(range(offsets[i], offsets[i + 1])) for i in index]
    assert at.tolist() == [place for places in slow for place in places]
    assert np.diff(chosen_offsets).tolist() == [len(places) for places in slow]
    assert [len(part) for part in segments(offsets, index[:0])] == [0, 1]


def test_log_softmax_agrees_with_a_loop_and_so_does_its_gradient():
    offsets, rng = ragged()
    bounds = torch.from_numpy(offsets)
    logits = torch.from_numpy(rng.normal(0, 30, offsets[-1])).requires_grad_()
    weights = torch.from_numpy(rng.normal(size=offsets[-1]))
    fast = log_softmax(logits, bounds)
    slow = torch.cat([torch.log_softmax(logits[a:b], 0) for a, b in pairwise(offsets)])
    assert torch.allclose(fast, slow)
    gradients = [torch.autograd.grad((each * weights).sum(), logits)[0] for each in (fast, slow)]
    assert torch.allclose(*gradients)


def test_log_softmax_of_half_precision_is_computed_in_single():
    offsets = torch.tensor([0, 2, 3])
    log_probs = log_softmax(torch.tensor([80.0, 60.0, -5.0]).bfloat16(), offsets)
    assert log_probs.dtype == torch.float32
    assert log_probs.isfinite().all()


def test_gumbel_noise_draws_from_the_probabilities():
    share = np.array([0.6, 0.3, 0.1])
    n = 20_000
    keys = np.random.default_rng(0).integers(2**64, size=n, dtype=np.uint64)
    legal = np.tile(np.array([0, 500, 3165], np.int16), n)
    drawn = best(np.tile(np.log(share), n) + gumbel(np.repeat(keys, 3), legal), np.arange(0, 3 * n + 1, 3)) % 3
    assert np.bincount(drawn) / n == pytest.approx(share, abs=0.015)


def test_the_network_reads_all_it_is_given():
    batch = played(400, 60, ["classic", "online"])
    views, policy = batch.views(), untrained()

    def logits(**changed):
        parts = {
            name: torch.from_numpy(np.array(getattr(views, name)))
            for name in ("observation", "legal", "features", "offsets")
        }
        with torch.no_grad():
            return policy(**(parts | changed))

    plain = logits()
    for name in ("hand", "known", "runs", "sets", "pile_top", "open_score", "rules", "history"):
        piece = OBSERVATION[name]
        changed = views.observation.copy()
        size = 6 if name == "history" else None  # this network reads two actions
        changed[:, piece.slice][:, :size] = np.roll(changed[:, piece.slice][:, :size], 1, axis=0)
        assert not torch.equal(logits(observation=torch.from_numpy(changed)), plain), name
    assert not torch.equal(logits(features=torch.from_numpy(views.features[::-1].copy())), plain)
    assert not torch.equal(logits(legal=torch.from_numpy(views.legal[::-1].copy())), plain)


def test_an_empty_table_and_forced_moves():
    batch = BatchEnv(3, "classic", seed=1)
    player = Neural.of(untrained())
    assert np.isin(player.act(batch.views()), [0, 1]).all()
    forced = np.flatnonzero(np.diff(batch.offsets) == 1)
    assert (player.act(batch.views(forced)) == batch.legal[batch.offsets[forced]]).all()
