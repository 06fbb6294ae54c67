"""Styles that are tuned: what `train.tune` and `train.imitate` write plays, and leaves other rules alone."""

import numpy as np
import pytest
import typer

from agents.scripted import style_text, weights_of
from buraco_env import Rules
from tests.test_styles import NAMES
from train import imitate, tune

CLASSIC, FECHADO, ONLINE = (Rules.load(name) for name in ("classic", "fechado", "online"))


def test_a_style_changed_for_some_rules_stays_as_it_is_for_others(tmp_path) -> None:
    path, changed = str(tmp_path / "mine.toml"), weights_of("steady", FECHADO) + 1
    (tmp_path / "mine.toml").write_text(style_text("steady", [FECHADO], changed, 'mine, "all" of it'), encoding="utf-8")
    assert (weights_of(path, FECHADO) == changed).all()
    for rules in (CLASSIC, ONLINE):
        assert (weights_of(path, rules) == weights_of("steady", rules)).all()


def test_tuning_writes_what_it_found_for_these_rules_alone(tmp_path, monkeypatch) -> None:
    path = tmp_path / "runs" / "mine.toml"
    monkeypatch.setattr(tune.Climb, "lead", lambda *_: (9.0, 1.0))  # every move wins
    tune.main(start="greedy", rules="classic,mini", minutes=0.0005, pairs=20, title="mine", seed=1, out=path)
    moved = weights_of(str(path), CLASSIC) - weights_of("greedy", CLASSIC)
    assert moved.any() and (weights_of(str(path), ONLINE) == weights_of("greedy", ONLINE)).all()


def test_rules_that_need_other_weights_are_not_tuned_together(tmp_path, capsys) -> None:
    with pytest.raises(typer.Exit):
        tune.main(rules="classic,fechado", out=tmp_path / "mine.toml")
    assert "tune one by one: classic: use_top_this_turn, fechado: use_top_first" in capsys.readouterr().err
    assert not (tmp_path / "mine.toml").exists()


def test_a_climb_takes_a_move_that_wins() -> None:
    """A style that shuns canastas has one weight to mend."""
    poor, bonus = weights_of("steady", CLASSIC).copy(), NAMES.index("bonus")
    poor[bonus] = -200
    climb = tune.Climb(poor, [CLASSIC], 100, seed=1)
    climb.moves[bonus] = 200
    assert climb.try_weight(bonus) > 0 and climb.weights[bonus] == 0


def test_imitation_moves_weights_towards_what_play_outs_find(tmp_path) -> None:
    """Rows that say exactly how wrong a style is bring the weights that explain them."""
    rng, right = np.random.default_rng(1), weights_of("steady", CLASSIC)
    start = right + rng.integers(-40, 40, len(right))
    rows = rng.normal(size=(3000, len(right)))
    found = imitate.fit(start, rows, rows @ (right - start), ridge=1e-6, step=1.0)
    assert np.abs(found - right).max() < 0.3 * np.abs(start - right).max()
    path = tmp_path / "mine.toml"
    imitate.main(start="steady", rules="mini", minutes=0.05, rounds=1, play_outs=4, title="m", seed=1, out=path)
    assert (weights_of(str(path), ONLINE) == weights_of("steady", ONLINE)).all()
