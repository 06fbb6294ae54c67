"""The committed conformance cases: both engines agree with them, and the page about them tells the truth."""

import re
from pathlib import Path

import pytest

from buraco_env import rule_names
from tests.conformance import FOLDER, cases_of, kernel_differs, reference_differs
from tests.conformance_cases import by_hand

pytestmark = pytest.mark.kernel

PAGE = Path(__file__).parent.parent / "docs" / "conformance.md"


@pytest.mark.parametrize("preset", rule_names())
def test_the_kernel_agrees_with_every_case(preset: str) -> None:
    assert [(case["name"], kernel_differs(case)) for case in cases_of(preset) if kernel_differs(case)] == []


@pytest.mark.parametrize("preset", rule_names())
def test_the_reference_agrees_with_every_case(preset: str) -> None:
    assert [(case["name"], reference_differs(case)) for case in cases_of(preset) if reference_differs(case)] == []


@pytest.mark.parametrize("preset", rule_names())
def test_every_case_is_whole_and_has_a_name_of_its_own(preset: str) -> None:
    cases = cases_of(preset)
    for case in cases:
        assert list(case) == ["name", "rules", "position", "legal", "plays", "scores", "sections"]
        assert case["rules"].split()[0] == preset and case["position"].startswith(f"rules {case['rules']}\n")
        assert case["legal"] == sorted(case["legal"]) and case["sections"]
        assert 1 <= len(case["plays"]) <= 3 and {play["action"] for play in case["plays"]} <= set(case["legal"])
    assert len({case["name"] for case in cases}) == len({case["position"] for case in cases}) == len(cases)


def test_a_wrong_case_is_noticed() -> None:
    case = cases_of("classic")[0]
    assert kernel_differs(case | {"legal": case["legal"][1:]}).startswith("legal")
    assert reference_differs(case | {"scores": [0, 0]}).startswith("scores")
    play = case["plays"][0]
    other = play | {"position": play["position"].replace("seat 0", "seat 1")}
    assert kernel_differs(case | {"plays": [other]}).startswith(play["action"])
    assert reference_differs(case | {"plays": [other]}).startswith(play["action"])


def test_there_is_a_file_for_each_preset_and_no_other() -> None:
    assert sorted(path.stem for path in FOLDER.iterdir()) == sorted(rule_names())


def test_the_page_tells_how_many_cases_there_are() -> None:
    cases = sum(len(cases_of(preset)) for preset in rule_names())
    assert cases >= 300
    assert re.search(r"holds (\d+) cases", PAGE.read_text(encoding="utf-8"))[1] == str(cases)


def test_the_positions_chosen_by_hand_are_in_the_files() -> None:
    names = {name for name, _, _ in by_hand("classic_brazilian")}
    assert names <= {case["name"] for case in cases_of("classic_brazilian")}
