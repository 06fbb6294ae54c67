"""The conformance suite: `python -m tests.conformance` checks the kernel against `conformance/*.json`.

With `--write` it makes the files. A case is a position with every card placed; what it claims (legal actions, results,
scores) is what the reference says, and the kernel has to agree before it is written. The format: `docs/conformance.md`.
"""

import argparse
import json
import sys
from collections.abc import Iterator
from pathlib import Path

from buraco_env import Game, rule_names
from tests import reference as ref
from tests.bridge import action_tuple, to_reference
from tests.conformance_cases import SECTIONS, Found, by_hand, find
from tests.conformance_text import plain, taken_pile, text_of
from tests.differential import check_legal, check_state

FOLDER = Path(__file__).parent.parent / "conformance"
FOUND_BY_PLAY = 20  # cases of a preset that are found in play, besides those chosen by hand


def cases_of(preset: str) -> list[dict]:
    """The committed cases of a preset."""
    return json.loads((FOLDER / f"{preset}.json").read_text(encoding="utf-8"))


# ---------------------------------------------------------------- checking


def kernel_differs(case: dict) -> str:
    """What the kernel says otherwise than a case; nothing if it agrees."""
    game = Game.from_position(case["position"])
    legal = sorted(map(game.describe, game.legal_actions()))
    if legal != case["legal"]:
        return f"legal: {sorted(set(legal) ^ set(case['legal']))}"
    if list(game.scores()) != case["scores"]:
        return f"scores: {game.scores()}"
    for play in case["plays"]:
        after = game.copy()
        after.play(play["action"])
        if plain(str(after)) != play["position"]:
            return f"{play['action']}: {plain(str(after))}"
    return ""


def reference_differs(case: dict) -> str:
    """What the reference says otherwise than a case; nothing if it agrees."""
    game = Game.from_position(case["position"])
    state, names = to_reference(game), {text: action_tuple(game.parse(text)) for text in case["legal"]}
    if set(names.values()) != ref.legal(state) or len(names) != len(set(names.values())):
        return f"legal: {ref.legal(state) ^ set(names.values())}"
    if list(ref.scores(state)) != case["scores"]:
        return f"scores: {ref.scores(state)}"
    for play in case["plays"]:
        text = _result(state, names[play["action"]], case)
        if text != play["position"]:
            return f"{play['action']}: {text}"
    return ""


def _result(state: ref.State, action: tuple, case: dict) -> str:
    """The position text after an action, by the reference."""
    taken = state.pile if action == ("take pile",) else taken_pile(case["position"])
    return text_of(ref.play(state, action), case["rules"], taken)


# ---------------------------------------------------------------- writing


def make_case(name: str, sections: tuple[str, ...], found: Found) -> dict:
    """A case as the reference decides it; an AssertionError where the kernel does not agree."""
    game = Game.from_position(plain(str(found.game)))
    state = to_reference(game)
    check_legal(game, state, name)
    check_state(game, state, name)
    texts = {game.describe(action): action_tuple(action) for action in game.legal_actions()}
    case = {"name": name, "rules": str(game.rules), "position": plain(str(game)), "legal": sorted(texts)}
    words = [game.describe(action) for action in found.plays]
    case["plays"] = [{"action": text, "position": _result(state, texts[text], case)} for text in words]
    case |= {"scores": list(ref.scores(state)), "sections": list(sections)}
    assert not kernel_differs(case), f"{name}: {kernel_differs(case)}\n{game}"
    return case


def _sections(shows: list[str]) -> tuple[str, ...]:
    found = {section for tag in shows for section in SECTIONS[tag]}
    return tuple(sorted(found, key=lambda section: [int(number) for number in section.split(".")]))


def make_cases(preset: str) -> Iterator[dict]:
    """Every case of a preset."""
    for name, sections, found in by_hand(preset):
        yield make_case(name, sections, found)
    for found in find(preset, FOUND_BY_PLAY):
        yield make_case(", ".join(found.shows), _sections(found.shows), found)


def write(preset: str) -> int:
    """Write the file of a preset; the number of its cases."""
    cases, seen = [], {}
    for case in make_cases(preset):
        seen[case["name"]] = seen.get(case["name"], 0) + 1
        case["name"] += f" ({seen[case['name']]})" if seen[case["name"]] > 1 else ""
        cases.append(case)
    FOLDER.mkdir(exist_ok=True)
    text = json.dumps(cases, indent=1, ensure_ascii=False)
    (FOLDER / f"{preset}.json").write_text(text + "\n", encoding="utf-8")
    return len(cases)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="make the files anew")
    args = parser.parse_args()
    if args.write:
        for preset in rule_names():
            print(f"{preset}: {write(preset)} cases written", flush=True)
        return 0
    differing = 0
    for preset in rule_names():
        wrong = [(case["name"], text) for case in cases_of(preset) if (text := kernel_differs(case))]
        print(f"{preset}: {len(cases_of(preset)) - len(wrong)} of {len(cases_of(preset))} cases agree")
        for name, text in wrong:
            print(f"  {name}: {text}")
        differing += len(wrong)
    return int(differing > 0)


if __name__ == "__main__":
    sys.exit(main())
