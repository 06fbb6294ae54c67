"""`python -m buraco_env rules`: what it prints, and that the README's table of presets is what it prints."""

import subprocess
import sys
from pathlib import Path

import pytest

from buraco_env import rules_text
from buraco_env.__main__ import START, main, with_table
from buraco_env.rules import ALLOWED, RULE_FIELDS, Rules, RulesError, rule_names

README = Path(__file__).parent.parent / "README.md"


def printed(capsys, *arguments: str) -> str:
    assert main(["rules", *arguments]) == 0
    return capsys.readouterr().out


def refused(capsys, *arguments: str) -> str:
    """The one line of an error."""
    assert main(["rules", *arguments]) == 2
    output = capsys.readouterr()
    assert output.out == ""
    return output.err


def test_list_has_each_preset_with_its_title(capsys):
    lines = printed(capsys).splitlines()
    assert [line.split()[0] for line in lines] == list(rule_names())
    assert all(Rules.load(name).titles["en"] in line for name, line in zip(rule_names(), lines, strict=True))
    assert "fechado_stbl" in "".join(lines)


def test_every_field_has_a_sentence_for_every_value():
    for field in RULE_FIELDS:
        told = {rules_text.sentence(field, value) for value in ALLOWED[field]}
        assert len(told) == len(ALLOWED[field]), field
        assert all(text.endswith(".") and "{" not in text for text in told)


def test_one_preset_in_words(capsys):
    text = printed(capsys, "fechado")
    assert text.startswith("Closed (fechado)\nFermé / Fechado / Chiuso\n")
    assert "A team needs a clean canasta to go out." in text
    assert "A royal canasta (a clean run of thirteen) gives 500." in text
    assert not any(field in text for field in RULE_FIELDS if "_" in field)


def test_moot_fields_are_left_out(capsys):
    assert "set of" not in printed(capsys, "aberto")
    assert "top card" not in printed(capsys, "aberto")


def test_comparison_prints_only_what_differs(capsys):
    text = printed(capsys, "fechado", "fechado_stbl")
    assert text.splitlines() == [
        "sets",
        "  fechado       Sets of one rank are allowed as well as runs.",
        "  fechado_stcl  Only runs may be melded, no sets.",
    ]


def test_comparison_of_one_game_with_itself(capsys):
    assert printed(capsys, "mini", "mini") == "These are the same game.\n"


def test_toml_starts_a_file_of_ones_own(capsys, tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(printed(capsys, "classic", "--toml").replace("target = 3000", "target = 505"), encoding="utf-8")
    assert "target" in printed(capsys, "classic", str(file))


def test_errors_are_one_line(capsys):
    assert "did you mean 'fechado'" in refused(capsys, "fechdo")
    assert "nowhere.toml" in refused(capsys, "nowhere.toml")
    assert "--toml needs" in refused(capsys, "--toml")


def test_module_runs_without_a_traceback():
    command = [sys.executable, "-m", "buraco_env", "rules", "fechdo"]
    done = subprocess.run(command, capture_output=True, text=True, cwd=README.parent, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("error: unknown rules 'fechdo'")
    assert "Traceback" not in done.stderr


def test_table_names_every_preset():
    assert all(f"`{name}`" in rules_text.markdown() for name in rule_names())


def test_readme_is_updated_between_its_markers(capsys, tmp_path):
    file = tmp_path / "README.md"
    file.write_text("above\n<!-- variants:start -->\nold\n<!-- variants:end -->\nbelow\n", encoding="utf-8")
    printed(capsys, "--update-readme", str(file))
    text = file.read_text(encoding="utf-8")
    assert text.startswith("above\n<!-- variants:start -->\n|")
    assert text.endswith("|\n<!-- variants:end -->\nbelow\n")
    assert "old" not in text
    assert with_table(text, "README.md") == text


def test_readme_without_markers_is_refused():
    with pytest.raises(RulesError, match="has no lines"):
        with_table("nothing here", "README.md")


def test_our_readme_has_the_table_of_today():
    text = README.read_text(encoding="utf-8") if README.exists() else ""
    if START not in text:
        pytest.skip("README.md has no table of variants yet")
    hint = "run: python -m buraco_env rules --update-readme README.md"
    assert text == with_table(text, "README.md"), hint
