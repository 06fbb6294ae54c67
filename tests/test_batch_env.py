"""`BatchEnv`: many deals side by side, arrays in, arrays out."""

import copy
import pickle

import numpy as np
import pytest

from buraco_env import FEATURES, NUM_ACTIONS, OBSERVATION, STATE, BatchEnv, Game, IllegalAction, RulesError
from buraco_env.kernel.weights import NUM_WEIGHTS
from tests.conftest import deals

pytestmark = pytest.mark.kernel

ARRAYS = ["seat", "observation", "action_mask", "offsets", "reward", "terminated", "truncated", "final_scores"]
ARRAYS += ["end_reason", "deal_seed", "state", "records"]
N = deals(50) + 1


def batch_at(steps: int, rules="classic", size: int = N, **options) -> BatchEnv:
    batch = BatchEnv(size, rules, seed=4, **options)
    for _ in range(steps):
        batch.step(batch.sample())
    return batch


def everything(batch: BatchEnv) -> list[bytes]:
    names = [*ARRAYS, "legal", "features"]
    return [getattr(batch, name).tobytes() for name in names]


def test_shapes_and_kinds() -> None:
    batch = batch_at(3)
    shapes = {"observation": (N, OBSERVATION.size), "action_mask": (N, NUM_ACTIONS), "state": (N, STATE.size)}
    for name, shape in shapes.items():
        assert getattr(batch, name).shape == shape and getattr(batch, name).dtype == np.int8
    assert batch.final_scores.shape == (N, 2) and batch.offsets.shape == (N + 1,)
    assert batch.legal.shape == (batch.offsets[-1],) and batch.features.shape == (batch.offsets[-1], FEATURES.size)
    for name in ("seat", "reward", "terminated", "truncated", "end_reason", "deal_seed"):
        assert getattr(batch, name).shape == (N,)


def test_arrays_are_the_same_objects_for_life() -> None:
    batch = batch_at(0)
    arrays = {name: getattr(batch, name) for name in ARRAYS}
    before = arrays["observation"].copy()
    for _ in range(5):
        batch.step(batch.sample())
    batch.reset(3)
    batch.restore(batch.records.copy())
    batch.step(batch.sample())
    assert all(getattr(batch, name) is array for name, array in arrays.items())
    assert (before != arrays["observation"]).any()


@pytest.mark.parametrize("rules", ["classic", ["online", "fechado", "mini"]])
def test_offsets_legal_mask_features_and_games_say_the_same(rules) -> None:
    batch = batch_at(0, rules)
    for _ in range(deals(50) + 1):
        batch.step(batch.sample())
        assert (np.diff(batch.offsets) > 0).all() and batch.action_mask.sum() == len(batch.legal)
        for i in range(0, N, 10):
            legal, game = batch.legal[batch.offsets[i] : batch.offsets[i + 1]].tolist(), batch.game(i)
            assert legal == game.legal_actions() == np.flatnonzero(batch.action_mask[i]).tolist()
            assert (batch.observation[i] == game.observation()).all() and (batch.state[i] == game.state()).all()
            assert batch.seat[i] == game.seat


@pytest.mark.parametrize("threads", [2, 3, N + 5])
def test_threads_change_nothing(threads: int) -> None:
    one, several = batch_at(0, ["classic", "online"]), batch_at(0, ["classic", "online"], threads=threads)
    for _ in range(deals(100)):
        one.step(one.sample())
        several.step(several.sample())
        assert everything(one) == everything(several)


def test_a_packed_mask_has_a_bit_for_each_action() -> None:
    plain, packed = batch_at(0), batch_at(0, action_mask="packed")
    for _ in range(deals(100)):
        plain.step(plain.sample())
        packed.step(packed.sample())
        bits = np.unpackbits(packed.action_mask, axis=1, count=NUM_ACTIONS, bitorder="little")
        assert packed.action_mask.dtype == np.uint8 and (bits == plain.action_mask).all()


def test_random_play_is_what_sample_and_step_play() -> None:
    stepped, played = batch_at(deals(60)), batch_at(0)
    played.play_random(deals(60))
    assert everything(stepped) == everything(played)


@pytest.mark.parametrize("options", [{"threads": 0}, {"threads": "2"}, {"threads": True}, {"action_mask": "bits"}])
def test_options_of_another_kind_are_refused(options: dict) -> None:
    with pytest.raises(ValueError, match=f"{next(iter(options))} = .* is not allowed; allowed: "):
        BatchEnv(3, **options)


def test_an_illegal_action_names_its_deal_and_changes_nothing() -> None:
    batch = batch_at(20)
    before = everything(batch)
    for wrong in (-1, -2, NUM_ACTIONS, 10**12, int(np.flatnonzero(batch.action_mask[1] == 0)[0])):
        actions = batch.sample().copy()
        actions[1] = wrong
        with pytest.raises(IllegalAction, match="deal 1: "):
            batch.step(actions)
        assert everything(batch) == before


@pytest.mark.parametrize(
    "actions", [np.zeros(N), np.zeros(N + 1, int), np.zeros((N, 1), int), 3, [True] * N, ["draw"] * N]
)
def test_actions_of_another_form_are_refused(actions) -> None:
    with pytest.raises(ValueError, match=f"actions must be {N} ints"):
        batch_at(0).step(actions)


@pytest.mark.parametrize("reward", ["score_difference", "dense", "win"])
def test_rewards_of_a_deal_sum_to_its_difference(reward: str) -> None:
    batch, ended = batch_at(0, ["mini", "online", "classic"], reward=reward), 0
    paid = np.zeros(N)
    for _ in range(deals(400)):
        batch.step(batch.sample())
        paid += batch.reward
        difference = batch.final_scores[:, 0] - batch.final_scores[:, 1]
        over = batch.terminated | batch.truncated
        assert (over == (batch.end_reason > 0)).all() and not batch.final_scores[~over].any()
        wanted = np.sign(difference) if reward == "win" else difference
        assert (paid[over] == wanted[over]).all() and (reward == "dense" or not paid[~over].any())
        paid[over] = 0
        ended += over.sum()
    assert ended or deals(50) == 1


def test_a_deal_that_ends_is_followed_by_the_next_which_replays_as_a_game() -> None:
    batch = batch_at(0, "mini", size=3)
    seeds, games = batch.deal_seed.copy(), [Game("mini", seed=int(seed)) for seed in batch.deal_seed]
    for _ in range(deals(300)):
        actions = batch.sample().copy()
        batch.step(actions)
        for i, game in enumerate(games):
            game.play(int(actions[i]))
            assert game.over == (batch.deal_seed[i] != seeds[i])
            if game.over:
                assert game.scores() == tuple(batch.final_scores[i])
                games[i] = Game("mini", seed=int(batch.deal_seed[i]))
        seeds = batch.deal_seed.copy()
        assert [str(batch.game(i)) for i in range(3)] == [str(game) for game in games]


def test_truncated_at_the_turn_cap() -> None:
    batch = BatchEnv(2, "classic", seed=1, max_turns=1)
    while not batch.end_reason.all():
        batch.step(batch.legal[batch.offsets[1:] - 1])
    assert batch.truncated.all() and not batch.terminated.any() and (batch.end_reason == 3).all()


def test_the_same_seed_is_the_same_batch_and_another_is_not() -> None:
    one, two = batch_at(30), batch_at(30)
    assert everything(one) == everything(two)
    one.reset(5)
    assert (one.deal_seed != two.deal_seed).all() and len(set(one.deal_seed)) == N


def test_deals_of_given_seeds() -> None:
    batch = batch_at(10, size=3)
    batch.deal([7, 7, 8])
    assert str(batch.game(0)) == str(batch.game(1)) == str(Game("classic", seed=7))
    assert str(batch.game(2)) == str(Game("classic", seed=8))


@pytest.mark.parametrize("seeds", [[1, 2], [1, 2, -3], [1, 2, 3.0], [1, 2, 1 << 64], ["1", "2", "3"]])
def test_seeds_of_another_form_are_refused(seeds) -> None:
    with pytest.raises(ValueError, match="seeds must be 3 ints from 0"):
        batch_at(0, size=3).deal(seeds)


def test_restored_records_go_on_exactly() -> None:
    batch = batch_at(40, reward="dense")
    saved, stream = batch.records.copy(), batch._stream.copy()
    runs = []
    for _ in range(2):
        batch.restore(saved)
        batch._stream[:] = stream
        assert (batch.records == saved).all() and not batch.reward.any()
        for _ in range(30):
            batch.step(batch.sample())
        runs.append(everything(batch))
    assert runs[0] == runs[1]


def test_records_of_another_batch_are_refused() -> None:
    batch = batch_at(0, size=3)
    with pytest.raises(ValueError, match="records must be 3 deals"):
        batch.restore(batch_at(0, size=4).records)
    with pytest.raises(ValueError, match="records must be 3 deals"):
        batch.restore([1])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="of the same rules"):
        batch.restore(batch_at(0, ["mini"] * 9, size=3).records)


def test_a_game_of_a_batch_is_independent() -> None:
    batch = batch_at(10)
    before, game = everything(batch), batch.game(N - 1)
    game.play(game.legal_actions()[0])
    assert everything(batch) == before
    text = str(game)
    batch.step(batch.sample())
    assert str(game) == text


@pytest.mark.parametrize("i", [-1, N])
def test_a_deal_that_is_not_there_is_named(i: int) -> None:
    with pytest.raises(IndexError, match=f"deal {i} is not in this batch; deals: 0 to {N - 1}"):
        batch_at(0).game(i)


INDICES = [None, [0], [1, 0, 0], np.arange(N) % 2 == 0, np.array([], int), []]


@pytest.mark.parametrize("index", INDICES, ids=["all", "one", "twice", "a mask", "none", "an empty list"])
def test_views_are_what_the_seats_to_move_know(index) -> None:
    batch = batch_at(15, ["classic", "online"])
    views = batch.views(index)
    whole = np.arange(N) if index is None else np.arange(N)[np.asarray(index, bool if len(index) == N else int)]
    assert len(views) == len(whole) and views.offsets[-1] == len(views.legal) == len(views.features)
    assert views.action_mask.shape == (len(whole), NUM_ACTIONS)
    for i, deal in enumerate(whole):
        game, view = batch.game(deal), views[i]
        mine = slice(views.offsets[i], views.offsets[i + 1])
        assert views.seat[i] == view.seat == game.seat and views.rules[i] == game.rules
        assert views.legal[mine].tolist() == view.legal_actions() == game.legal_actions()
        assert (views.observation[i] == game.observation()).all() and (view.observation == game.observation()).all()
        assert (views.action_mask[i] == game.action_mask()).all()
        assert (views.features[mine] == batch.features[batch.offsets[deal] : batch.offsets[deal + 1]]).all()


@pytest.mark.parametrize("index", [[-1], [N], [0.5], ["0"], [[0]]])
def test_views_of_deals_that_are_not_there_are_refused(index) -> None:
    with pytest.raises(IndexError, match=f"deals: 0 to {N - 1}"):
        batch_at(0).views(index)


def test_every_deal_draws_one_of_the_rules() -> None:
    batch = batch_at(0, ["classic", "online", "fechado"], size=30)
    assert {batch.game(i).rules.name for i in range(30)} == {"classic", "online", "fechado"}
    again = batch_at(0, ["classic", "online", "fechado"], size=30)
    assert (again.records == batch.records).all()


def test_what_is_switched_on_late_is_as_if_it_had_been_on_from_the_start() -> None:
    early = batch_at(0)
    everything(early)
    late = batch_at(0, observation=False, action_mask=False)
    for _ in range(deals(100) + 1):
        early.step(early.sample())
        late.step(late.sample())
    reward = late.reward.copy()
    for _ in range(3):
        assert everything(late) == everything(early) and (late.reward == reward).all()
        early.step(early.sample())
        late.step(late.sample())
        reward = early.reward.copy()


def test_views_kept_beyond_a_step_show_nobody_else_his_cards() -> None:
    batch = batch_at(9)
    views = batch.views()
    assert (views.observation == batch.observation).all() and len(views[1].hand)
    batch.step(batch.sample())
    for look in (lambda: views.observation, lambda: views.features, lambda: views.legal, lambda: views[1]):
        with pytest.raises(RuntimeError, match="of an earlier step"):
            look()


@pytest.mark.parametrize(
    "weights", [np.zeros(3, np.int64), np.zeros(NUM_WEIGHTS), np.zeros((1, NUM_WEIGHTS), np.int64)]
)
def test_weights_of_another_shape_or_type_are_refused(weights: np.ndarray) -> None:
    with pytest.raises(ValueError, match="weights must be int64"):
        batch_at(0).views().choose(lambda rules: weights)


@pytest.mark.parametrize("duplicate", [copy.deepcopy, lambda batch: pickle.loads(pickle.dumps(batch))])
def test_a_copy_goes_on_alike_and_alone(duplicate) -> None:
    batch = batch_at(25, ["mini", "classic"], reward="dense")
    before = everything(batch)
    other = duplicate(batch)
    for _ in range(20):
        other.step(other.sample())
    assert everything(batch) == before
    for _ in range(20):
        batch.step(batch.sample())
    assert everything(batch) == everything(other)


def test_the_lists_grow_when_a_step_needs_room() -> None:
    small, large = batch_at(0, "online"), batch_at(0, "online")
    everything(small)
    small._legal = small._legal[: NUM_ACTIONS + len(small.legal)].copy()
    room = len(small._legal)
    for _ in range(deals(400)):
        small.step(small.sample())
        large.step(large.sample())
        assert (small.offsets == large.offsets).all() and (small.legal == large.legal).all()
    assert everything(small) == everything(large)
    assert len(small._legal) > room or deals(50) == 1


def test_samples_are_legal_and_reach_every_action() -> None:
    batch, seen = batch_at(12), [set() for _ in range(N)]
    for _ in range(200):
        for found, action in zip(seen, batch.sample().tolist()):
            found.add(action)
    assert all(found <= set(np.flatnonzero(batch.action_mask[i])) for i, found in enumerate(seen))
    assert sum(map(len, seen)) > 0.98 * len(batch.legal)


@pytest.mark.parametrize("size", [0, -1, 1.5, "4", True])
def test_a_batch_needs_deals(size) -> None:
    with pytest.raises(ValueError, match=r"num_deals = .* is not allowed"):
        BatchEnv(size)


def test_a_batch_needs_rules() -> None:
    with pytest.raises(ValueError, match="rules"):
        BatchEnv(2, [])
    with pytest.raises(RulesError, match="did you mean 'online'"):
        BatchEnv(2, ["classic", "onlin"])
    with pytest.raises(ValueError, match="reward = 'sparse' is not allowed; allowed: score_difference, dense, win"):
        BatchEnv(2, reward="sparse")
