"""`python -m train.bench`: what is measured has a name and a bar, the guard's arithmetic, and README from the record.

Nothing here depends on how fast anything is.
"""

import json
import subprocess
import sys

import pytest
import typer

from train import bench, figures, peers
from train.bench import quotient, spread
from train.config import ConfigError
from train.figures import Figure, change, comparable, section, with_section
from train.peers import Effort, Peer

# A second time, so that none changes unnoticed: other programs read them.
NAMES = [
    *("batch_decisions_per_s", "batch_features_decisions_per_s", "batch_random_decisions_per_s"),
    *("batch_256_decisions_per_s", "batch_65536_decisions_per_s", "loss_256_to_65536", "two_core_scaling"),
    *("aec_decisions_per_s", "scripted_deals_per_s", "scripted_decision_us", "mixed_agents_add"),
    *("copy_us", "resample_us"),
    *("compile_cold_s", "start_warm_s", "compile_all_s", "bytes_per_deal", "bytes_per_deal_packed"),
]
QUICK = Effort(seconds=0.001, repeats=1)


def a_record(*figures: Figure) -> dict:
    return {"machine": "a box", "commit": "abc", "date": "2030-01-02", "figures": [vars(one) for one in figures]}


def a_figure(name: str, value: float, unit: str = "1/s", ratio: float | None = None) -> Figure:
    return Figure(name, value, unit, value - 1, value + 1, ratio)


@pytest.fixture
def unpinned(monkeypatch):
    """The process of the tests keeps its cores."""
    monkeypatch.setattr(bench, "pin", lambda: None)


def test_every_figure_has_one_job_and_a_goal():
    assert [name for group in bench.JOBS for name in group] == list(bench.GOALS) == NAMES


def test_an_aim_is_better_than_its_bar(monkeypatch):
    monkeypatch.setattr(figures, "WORSE", 0)
    for name, goal in bench.GOALS.items():
        if goal.bar and goal.aim:
            assert change(goal.unit, comparable(goal.unit, goal.bar, 1), comparable(goal.unit, goal.aim, 1))[1], name


def test_unknown_figure_names_the_nearest(capsys):
    with pytest.raises(typer.Exit):
        bench.main(only=["copyus"])
    assert capsys.readouterr().err == "error: no figure 'copyus'; did you mean 'copy_us'?\n"


@pytest.mark.parametrize("options", [{"record": True, "only": ["copy_us"]}, {"each": True, "record": True}])
def test_a_record_has_every_figure(options, capsys):
    with pytest.raises(typer.Exit):
        bench.main(**options)
    assert "leave out --" in capsys.readouterr().err


def test_peers_are_compared_with_the_batch_and_env():
    assert bench.chosen(["copy_us"], peers=True) == {"copy_us", bench.BATCH, bench.AEC}
    assert bench.chosen([], peers=False) == set(bench.GOALS)


def test_ratios_are_of_medians_and_pairs():
    assert spread([3, 1, 2]) == (2, 1, 3)
    assert quotient([2, 6, 8], [1, 2, 8]) == (3, 1, 3)


def test_what_is_compared_does_not_depend_on_the_machine():
    for unit, twice_as_fast in (("1/s", 2.0), ("s", 0.5), ("us", 0.5), ("B", 1), ("x", 1)):
        assert comparable(unit, 10 * twice_as_fast, speed=8) == comparable(unit, 10, speed=4)
    assert comparable("1/s", 10, speed=4) == 2.5
    assert comparable("us", 10, speed=4) == 40
    assert comparable("%", 30, speed=4) == 70


@pytest.mark.parametrize(
    ("unit", "ratio", "percent", "word"),
    [
        ("1/s", 80, -20, "slower"),
        ("1/s", 86, -14, ""),
        ("1/s", 150, 50, ""),
        ("us", 120, 20, "slower"),
        ("s", 114, 14, ""),
        ("s", 50, -50, ""),
        ("x", 70, -30, "slower"),
        ("%", 70, -30, "slower"),  # of what is kept
        ("B", 120, 20, "larger"),
    ],
)
def test_what_got_worse_is_marked(unit, ratio, percent, word):
    assert change(unit, ratio, 100) == (pytest.approx(percent), word)


def test_without_a_record_nothing_is_marked():
    assert change("1/s", 80, None) == change("1/s", None, 80) == (None, "")


def test_json_and_table_of_a_run(tmp_path, capsys, unpinned, monkeypatch):
    record, out = tmp_path / "bench.json", tmp_path / "out.json"
    record.write_text(json.dumps(a_record(a_figure("bytes_per_deal", 1, "B", ratio=1.0))), encoding="utf-8")
    monkeypatch.setattr(figures, "RECORD", record)
    bench.main(only=["bytes_per_deal"], seconds=QUICK.seconds, repeats=QUICK.repeats, json_file=out)
    (found,) = json.loads(out.read_text(encoding="utf-8"))
    assert list(found) == ["name", "value", "unit", "low", "high"]
    assert Figure(**found).record() == found
    assert found["name"] == "bytes_per_deal"
    printed = capsys.readouterr().out
    assert all(text in printed for text in ("bytes_per_deal", "8,192", "4,096", "larger"))


def test_a_record_is_read_back(tmp_path, monkeypatch):
    monkeypatch.setattr(figures, "RECORD", tmp_path / "bench.json")
    assert figures.recorded() == {}
    found = [a_figure("copy_us", 0.5, "us", ratio=3.5), a_figure("peer:other", 10.0, ratio=1.0)]
    figures.write_record(found)
    assert [Figure(**one) for one in figures.recorded()["figures"]] == found
    assert set(figures.recorded()) == {"machine", "commit", "date", "figures"}


def test_preset_figures_carry_the_name_of_the_preset(monkeypatch):
    monkeypatch.setattr(bench, "rule_names", lambda: ("mini",))
    monkeypatch.setattr(bench, "batch_work", lambda rules: lambda: len(rules))
    assert [one.name for one in bench.measure_presets(QUICK, print)] == ["preset:mini", "family:classic"]


def test_a_missing_and_a_broken_peer_say_why(monkeypatch):
    absent = Peer("other-game", ("other_game_that_nobody_has.inner",), lambda: lambda: 1)
    broken = Peer("broken", ("json",), lambda: lambda: 1)  # the process that times it does not know the name
    monkeypatch.setattr(bench, "PEERS", {"absent": absent, "broken": broken})
    found, why_not = bench.measure_peers(QUICK, print)
    assert found == []
    assert why_not["absent"] == "not installed (pip install other-game)"
    assert why_not["broken"].startswith("failed: ")


@pytest.mark.parametrize("name", ["pettingzoo_null", "pettingzoo_null_wrapped"])
def test_what_is_installed_anyway_is_measured(name):
    value, low, high = bench.peer_job(name)(QUICK)[0]
    assert 0 < low <= value <= high


def test_peers_are_listed():
    command = [sys.executable, "-m", "train.peers"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=bench.ROOT, check=True)
    assert [line.split(":")[0] for line in done.stdout.splitlines()] == list(peers.PEERS)
    assert "pettingzoo_null: installed" in done.stdout


def test_works_take_turns_and_are_counted():
    order = []
    found = peers.rates(
        [lambda: order.append("a") or 2, lambda: order.append("b") or 3], Effort(0, 2), lambda: 0.0 + len(order)
    )
    assert order == ["a", "b", "a", "b", "a", "b"]  # the first of each is not measured
    assert found == [[2, 2], [3, 3]]


def test_the_section_of_a_record():
    ours = a_figure(bench.BATCH, 1000.0), a_figure(bench.AEC, 50.0), a_figure("preset:mini", 7.0)
    text = section(a_record(*ours, a_figure("peer:other", 10.0)))
    assert text.startswith("## Speed\n\n| ")
    assert "| 1,000 | 999 | 1,001 | 1/s |" in text
    assert "| other | 10 | 100 x | 5 x |" in text
    assert "a box; commit `abc`, 2030-01-02" in text
    assert "Other environments" not in section(a_record(*ours))
    assert section({}) == ""


def test_readme_is_written_between_its_markers(tmp_path, monkeypatch):
    readme, record = tmp_path / "README.md", tmp_path / "bench.json"
    monkeypatch.setattr(figures, "README", readme)
    monkeypatch.setattr(figures, "RECORD", record)
    empty = f"above\n{figures.SPEED_START}\n{figures.SPEED_END}\nbelow\n"
    readme.write_text(empty.replace(figures.SPEED_END, "old\n" + figures.SPEED_END), encoding="utf-8")
    bench.main(update_readme=True)
    assert readme.read_text(encoding="utf-8") == empty
    record.write_text(json.dumps(a_record(a_figure("copy_us", 0.5, "us"))), encoding="utf-8")
    bench.main(update_readme=True)
    text = readme.read_text(encoding="utf-8")
    assert text.startswith(f"above\n{figures.SPEED_START}\n## Speed\n")
    assert text.endswith(f"\n{figures.SPEED_END}\nbelow\n")
    assert "old" not in text


def test_readme_without_markers_is_refused():
    with pytest.raises(ConfigError, match="has no lines"):
        with_section("nothing here", {})


def test_our_readme_says_what_was_recorded():
    text = figures.README.read_text(encoding="utf-8")
    assert text == with_section(text, figures.recorded()), "run: python -m train.bench --update-readme"
