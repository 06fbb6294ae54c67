"""The README says what is: its programs run, its picture is what `render` shows.

`python -m tests.test_readme` draws the picture anew.
"""

import random
import re
from pathlib import Path

import pytest

from buraco_env import Game
from buraco_env.render.ansi import table_text

README = Path(__file__).parent.parent / "README.md"
PICTURE = re.compile(r"(<!-- picture:start -->\n```\n).*?(```\n<!-- picture:end -->)", re.DOTALL)


def picture() -> str:
    """A table in the middle of a deal played at random."""
    game, rng = Game("classic", seed=7), random.Random(4)
    while game.turn < 30 or game.phase != "meld":
        game.play(rng.choice(game.legal_actions()))
    return table_text(game)


def programs() -> list[str]:
    return re.findall(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("program", programs(), ids=lambda text: text.splitlines()[-1][:20])
def test_the_programs_run(program: str) -> None:
    exec(program, {})  # noqa: S102 - our own README


def test_the_picture_is_what_render_shows() -> None:
    assert picture() in README.read_text(encoding="utf-8")


if __name__ == "__main__":
    text = README.read_text(encoding="utf-8")
    README.write_text(PICTURE.sub(lambda match: match[1] + picture() + match[2], text), encoding="utf-8")
