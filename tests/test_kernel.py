"""The kernel against the slow, obvious reference: legal lists, states, scores, and whole turns."""

import random
from collections import Counter

import numpy as np
import pytest

from buraco_env import BatchEnv, Game, rule_names
from tests import reference as ref
from tests.bridge import action_tuple, to_reference
from tests.conftest import deals
from tests.differential import check_legal, check_state, play_deal
from tests.outcomes import check_preset
from tests.positions import random_position

pytestmark = pytest.mark.kernel


@pytest.mark.parametrize("part", range(4))
def test_random_classic_deals_agree_with_the_reference_at_every_decision(part: int) -> None:
    counts: Counter[str] = Counter()
    for number in range(deals(50)):
        play_deal("classic", 50 * part + number, False, counts)
    print(dict(counts))
    assert counts["legal lists"] == counts["decisions"]


@pytest.mark.parametrize("seats", [2, 4])
@pytest.mark.parametrize("preset", rule_names())
def test_random_deals_of_every_preset_agree_with_the_reference(preset: str, seats: int) -> None:
    counts: Counter[str] = Counter()
    for number in range(deals(40)):
        play_deal(preset, 9000 + number, True, counts, num_seats=seats)


def count_branches(game: Game, counts: Counter) -> None:
    """Note which branch of the guard decides about each action here."""
    s, legal = game.record, set(game.legal_actions())
    if game.phase == "draw":
        counts["take pile refused"] += bool(game.pile) and 1 not in legal
        counts["take pile allowed"] += 1 in legal
        return
    unguarded = game.copy()
    unguarded._advance(-1, unguarded=True)
    team = game.seat % 2
    for action in unguarded._legal:
        words = game.describe(action)
        if words.startswith(("discard", "end")):
            counts["last card discarded"] += len(game.hand(game.seat)) == 1 and action in legal
            continue
        if action not in legal:
            counts["meld refused: the top card would stay" if s.top >= 0 else "meld refused: stranded"] += 1
            continue
        after = game.copy()
        after.play(action)
        counts["top card used"] += s.top >= 0 and after.record.top < 0
        counts["top card still waiting"] += after.record.top >= 0
        counts["went out by melding"] += after.end_reason == "out"
        counts["morto taken by melding"] += after.morto_taken(team) != game.morto_taken(team)
        counts["one card left, turn goes on"] += len(after.hand(game.seat)) == 1 and not after.over


def play_out_turn(game: Game, rng: random.Random, counts: Counter) -> None:
    """Compare legal lists and states to the end of the turn; take the pile where that is legal."""
    state, turn, seat = to_reference(game), game.turn, game.seat
    while not game.over and game.turn == turn:
        check_legal(game, state, str(game.rules))
        count_branches(game, counts)
        counts["positions"] += 1
        counts["a top card waiting"] += game.record.top >= 0
        counts["a one-card pile"] += game.phase == "draw" and len(game.pile) == 1
        few = game.phase != "draw" and len(game.hand(seat)) <= 3
        counts["morto gone, no canasta, three cards or fewer"] += bool(
            few and not ref.may_take_morto(state) and not ref.has_canasta_to_close(state)
        )
        legal = game.legal_actions()
        action = 1 if 1 in legal and rng.random() < 0.9 else rng.choice(legal)
        game.play(action)
        state = ref.play(state, action_tuple(action))
        check_state(game, state, str(game.rules))


WANTED = {"positions": 1500, "a top card waiting": 300, "a one-card pile": 100}
WANTED["morto gone, no canasta, three cards or fewer"] = 300


def test_small_classic_positions_agree_with_the_reference(capsys: pytest.CaptureFixture[str]) -> None:
    rng, counts = random.Random(11), Counter()
    while any(counts[name] < deals(count) for name, count in WANTED.items()):
        how = {"morto_gone": rng.random() < 0.6, "canasta": rng.random() < 0.5}
        game = random_position(rng, "classic", rng.randint(1, 6), rng.choice([0, 1, 1, 2, 3, 6]), **how)
        play_out_turn(game, rng, counts)
    with capsys.disabled():
        print("\nguard:", ", ".join(f"{name} {count}" for name, count in sorted(counts.items())))


@pytest.mark.parametrize("preset", rule_names())
def test_every_turn_that_whole_layouts_allow_can_be_played_and_no_other(preset: str) -> None:
    check_preset(preset, deals(100))


@pytest.mark.parametrize("preset", rule_names())
def test_batches_conserve_cards_and_always_have_a_legal_action(preset: str) -> None:
    batch = BatchEnv(deals(200), [preset, *([] if preset == "classic_two_player" else [preset])], seed=5)
    copies = np.full(53, 2)
    copies[52] = batch.rules[0].num_jokers
    for _ in range(60):
        batch.step(batch.sample())
        s = batch.records
        total = s["hand"].sum(1) + s["melded"] + s["pile_count"]
        for deal in range(0, len(s), 7):
            stock = np.bincount(s["stock"][deal, : s["stock_size"][deal]], minlength=53)
            size = batch.rules[0].morto_size
            mortos = np.bincount(s["morto"][deal, : s["mortos_left"][deal], :size].ravel(), minlength=53)
            assert (total[deal] + stock + mortos == copies).all()
        assert (np.diff(batch.offsets) > 0).all()


def test_one_deal_at_a_time_and_a_thousand_at_once_give_the_same_bytes() -> None:
    size = deals(1000)
    many = BatchEnv(size, ["classic", "online", "fechado"], seed=3)
    picks = [0, size // 2, size - 1]
    games = [Game(many.game(i).rules, seed=int(many.deal_seed[i])) for i in picks]
    rng = np.random.default_rng(1)
    for _ in range(60):
        counts = np.diff(many.offsets)
        actions = many.legal[many.offsets[:-1] + rng.integers(0, 1 << 30, size) % counts].astype(np.int64)
        seeds = many.deal_seed.copy()
        for i, game in zip(picks, games):
            assert game.legal_actions() == many.legal[many.offsets[i] : many.offsets[i + 1]].tolist()
            assert (game.observation() == many.observation[i]).all()
            assert (game.action_mask() == many.action_mask[i]).all()
            assert (game.state() == many.state[i]).all()
            mine, theirs = game.record.copy(), many.records[i].copy()
            mine["rules"] = theirs["rules"]
            assert mine.tobytes() == theirs.tobytes()
            game.play(int(actions[i]))
        many.step(actions)
        for number, i in enumerate(picks):
            if many.deal_seed[i] != seeds[i]:
                assert games[number].over and games[number].scores() == tuple(many.final_scores[i])
                games[number] = Game(many.game(i).rules, seed=int(many.deal_seed[i]))
