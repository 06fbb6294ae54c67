"""`python -m train.tournament`: what is played, and what is refused before anything is."""

import pytest
import typer

from train import tournament
from train.endings import main as endings
from train.evaluate import compare

NOTHING_SAID = dict.fromkeys(("agent", "rules", "match", "matches", "partners"))


@pytest.fixture
def page(tmp_path):
    """Plays a tournament with these options, and gives the page it wrote."""

    def play(**options) -> str:
        out = tmp_path / "folder" / "page.md"
        tournament.main(**{**NOTHING_SAID, "pairs": 4, "workers": 1, "out": out} | options)
        return out.read_text(encoding="utf-8")

    return play


def test_a_pairing_stands_in_both_rows(page) -> None:
    text = page(agent=["random", "greedy"], rules=["mini"], partners=False)
    found = compare("random", "greedy", "mini", 4, workers=1)
    rows = [line.split(" | ") for line in text.splitlines() if line.startswith(("| random", "| greedy"))]
    assert rows[0][2] == tournament.cell(found) and rows[1][1] == tournament.turned(found)
    assert "4 pairs each" in text and "(4 deals)" in text and "answer in time: none" in text
    assert "Matches" not in text  # only where no agent and no rules are named


def test_matches_alone_and_partners_alone(page) -> None:
    text = page(match=["greedy random mini 4", "random greedy mini 3"], tables=False)
    assert text.count("| mini |") == 2 and "Partners" not in text and "## mini" not in text
    text = page(agent=["greedy", "steady"], rules=["mini"], tables=False, partners=True)
    assert "### Partners in mini" in text and "| greedy and steady |" in text and "\n## mini" not in text


def test_where_nobody_has_a_partner_none_is_mixed(page) -> None:
    assert "Partners" not in page(agent=["greedy", "steady"], rules=["classic_two_player"])
    assert "Partners" not in page(agent=["greedy", "random"], rules=["mini"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"agent": ["gredy"]}, "no agent 'gredy'; did you mean 'greedy'?"),
        ({"rules": ["clasic"]}, "unknown rules 'clasic'"),
        ({"agent": ["greedy", "greedy"]}, "'greedy' is named twice"),
        ({"match": ["greedy random mini"]}, "match 'greedy random mini' is not allowed; allowed: A B RULES PAIRS"),
        ({"rules": ["classic_two_player"], "partners": True}, "--partners needs rules for four"),
    ],
)
def test_what_can_not_be_played_is_refused_first(page, capsys, options: dict, message: str) -> None:
    with pytest.raises(typer.Exit):
        page(**options)
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("command", [tournament.main, endings])
def test_a_folder_is_no_page(tmp_path, capsys, command) -> None:
    with pytest.raises(typer.Exit):
        command(**(NOTHING_SAID if command is tournament.main else {}), out=tmp_path)
    assert f"{tmp_path} is a folder" in capsys.readouterr().err
