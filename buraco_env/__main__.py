"""`python -m buraco_env rules`: the presets in words, what differs between them, and the README's table of them."""

import argparse
import sys
from pathlib import Path

from buraco_env import rules_text
from buraco_env.rules import Rules, RulesError

START, END = "<!-- variants:start -->", "<!-- variants:end -->"


def main(arguments: list[str] | None = None) -> int:
    """Run a command line; the exit code."""
    options = _parser().parse_args(arguments)
    try:
        print(_rules(options))
    except (RulesError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m buraco_env", description="Buraco: the game and its environments.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    rules = commands.add_parser("rules", help="list the presets, explain one, or compare some")
    rules.add_argument("games", nargs="*", metavar="RULES", help="a preset's name or the path of a .toml file")
    form = rules.add_mutually_exclusive_group()
    form.add_argument("--toml", action="store_true", help="print RULES as TOML, to start a variant of your own")
    form.add_argument("--markdown", action="store_true", help="print the table of all presets")
    form.add_argument("--update-readme", type=Path, metavar="FILE", help="write that table between its markers in FILE")
    return parser


def _rules(options: argparse.Namespace) -> str:
    """What `rules` prints."""
    games = [Rules.load(name) for name in options.games]
    if options.markdown:
        return rules_text.markdown()
    if options.update_readme:
        return _update_readme(options.update_readme)
    if options.toml and not games:
        raise RulesError("--toml needs the name of the rules to print, as in: rules classic --toml")
    if options.toml:
        return "\n".join(rules.to_toml() for rules in games)
    if not games:
        return rules_text.listing()
    return rules_text.describe(games[0]) if len(games) == 1 else rules_text.compare(games)


def _update_readme(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    path.write_text(with_table(text, str(path)), encoding="utf-8")
    return f"wrote the table of presets to {path}"


def with_table(readme: str, source: str) -> str:
    """The README's text with the table of presets between its markers."""
    before, start, rest = readme.partition(START)
    _, end, after = rest.partition(END)
    if not (start and end):
        raise RulesError(f"{source} has no lines {START} and {END} to write the table between")
    return f"{before}{START}\n{rules_text.markdown()}\n{END}{after}"


if __name__ == "__main__":
    sys.exit(main())
