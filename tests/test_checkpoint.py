"""Checkpoints: what is saved comes back, what is damaged or foreign is refused, a kill leaves the last one."""

import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

import agents
from agents.neural import CheckpointError, load_policy, save_policy
from tests.test_agents import SMALL, played, untrained
from train.checkpoint import load_resume, prune, save_checkpoint


@pytest.fixture
def saved(tmp_path):
    """A folder with a checkpoint of an untrained policy."""
    save_policy(tmp_path, untrained(), {"note": "a test"})
    return tmp_path


def save(run, number, seed=0):
    return save_checkpoint(run, number, untrained(seed), {}, {"x": torch.tensor([float(number)])}, {"updates": number})


def test_a_policy_comes_back_as_it_was(saved):
    policy, again = untrained(), load_policy(saved)
    assert again.sizes == SMALL
    assert all(torch.equal(a, b) for a, b in zip(policy.parameters(), again.parameters()))
    assert sorted(os.listdir(saved)) == ["policy.json", "policy.safetensors"]
    views = played(8, 5).views()
    assert (agents.make(f"neural:path={saved}").act(views) == agents.make(str(saved)).act(views)).all()


def test_search_plays_on_with_a_saved_policy(saved):
    views = played(3, 5).views()
    chosen = [agents.make(f"search:playouts=12,player=({spec})").act(views) for spec in (saved, f"neural:path={saved}")]
    assert (chosen[0] == chosen[1]).all()
    for i, action in enumerate(chosen[0]):
        assert action in views[i].legal_actions()


def change(file, **values):
    """Write other values into a JSON file."""
    file.write_text(json.dumps(json.loads(file.read_text()) | values))


class Trap:
    """Unpickling this writes a file."""

    def __reduce__(self):
        return os.mkdir, ("trapped",)


DAMAGES = {
    "cut off": lambda f: (f / "policy.safetensors").write_bytes((f / "policy.safetensors").read_bytes()[:-100]),
    "no tensors": lambda f: (f / "policy.safetensors").write_bytes(b""),
    "other bytes": lambda f: (f / "policy.safetensors").write_bytes(bytes(range(256)) * 40),
    "a pickle": lambda f: (f / "policy.safetensors").write_bytes(pickle.dumps(Trap())),
    "tensors missing": lambda f: (f / "policy.safetensors").unlink(),
    "other tensors": lambda f: save_file({"weight": torch.zeros(3)}, f / "policy.safetensors"),
    "no json": lambda f: (f / "policy.json").write_text("{"),
    "not text": lambda f: (f / "policy.json").write_bytes(b"\xff\xfe\xfa"),
    "a list": lambda f: (f / "policy.json").write_text("[1]"),
    "another format": lambda f: change(f / "policy.json", format="pytorch"),
    "another layout": lambda f: change(f / "policy.json", layout="0123456789abcdef"),
    "no sizes": lambda f: change(f / "policy.json", sizes=None),
    "other sizes": lambda f: change(f / "policy.json", sizes={"trunk": 8, "actions": 8, "slots": 4, "history": 2}),
    "sizes of text": lambda f: change(f / "policy.json", sizes={"trunk": "8", "actions": 8, "slots": 4, "history": 2}),
    "huge sizes": lambda f: change(f / "policy.json", sizes={"trunk": 10**9, "actions": 8, "slots": 4, "history": 2}),
    "nothing": lambda f: (f / "policy.json").unlink(),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_or_foreign_checkpoint_is_refused_in_one_line(saved, damage, monkeypatch):
    monkeypatch.chdir(saved)
    DAMAGES[damage](saved)
    with pytest.raises(CheckpointError) as error:
        agents.make(str(saved))
    assert str(saved) in str(error.value)
    assert "\n" not in str(error.value)
    assert not (saved / "trapped").exists()


def test_the_command_shows_no_traceback(saved):
    DAMAGES["cut off"](saved)
    done = subprocess.run(
        [sys.executable, "-m", "train.evaluate", str(saved), "greedy"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 2
    assert done.stderr.startswith("error: can't read")
    assert len(done.stderr.splitlines()) == 1


def test_the_newest_checkpoint_of_a_run_is_read(tmp_path):
    for number in (9, 10, 100):
        save(tmp_path, number, seed=number)
    assert torch.equal(load_policy(tmp_path).score.weight, untrained(100).score.weight)
    tensors, state = load_resume(tmp_path)
    assert (tensors["x"].item(), state) == (100.0, {"updates": 100})
    prune(tmp_path, keep=2)
    assert sorted(os.listdir(tmp_path / "checkpoints")) == ["000010", "000100"]


@pytest.mark.parametrize("at", ["json.dumps", "os.fsync", "os.replace"])
def test_a_kill_while_saving_leaves_the_checkpoint_before(tmp_path, at, monkeypatch):
    save(tmp_path, 1)

    def killed(*args, **kwargs):
        raise SystemExit("killed")

    with monkeypatch.context() as patch, pytest.raises(SystemExit):
        patch.setattr(at, killed)
        save(tmp_path, 2, seed=2)
    assert load_resume(tmp_path)[1] == {"updates": 1}
    assert torch.equal(load_policy(tmp_path).score.weight, untrained(0).score.weight)
    save(tmp_path, 3)  # the next one is not in the way of what was left
    prune(tmp_path, keep=5)
    assert sorted(os.listdir(tmp_path / "checkpoints")) == ["000001", "000003"]


KILLED = """
import os, sys, threading, time
from pathlib import Path
from tests.test_checkpoint import save
run = Path(sys.argv[1])
save(run, 1)
threading.Timer(float(sys.argv[2]), lambda: os.kill(os.getpid(), 9)).start()
for number in range(2, 100000):
    save(run, number, seed=number)
"""


@pytest.mark.parametrize("after", ["0.05", "0.113"])
def test_a_process_killed_while_saving_leaves_a_readable_checkpoint(tmp_path, after):
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path), after])
    assert done.returncode == -9
    newest = load_resume(tmp_path)[1]["updates"]
    assert newest >= 1
    assert torch.equal(load_policy(tmp_path).score.weight, untrained(newest if newest > 1 else 0).score.weight)


def test_saving_the_same_update_again_changes_nothing(tmp_path):
    assert save(tmp_path, 4) == save(tmp_path, 4, seed=9)
    assert torch.equal(load_policy(tmp_path).score.weight, untrained(0).score.weight)
    assert np.isfinite(load_policy(tmp_path).score.weight.numpy()).all()
