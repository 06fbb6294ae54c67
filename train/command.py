"""What command lines share: an error of the user is one line, a page says which command made it."""

from __future__ import annotations

import functools
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import ParamSpec, TypeVar

import typer

from agents import AgentError
from buraco_env import RulesError
from train.config import ConfigError

P, R = ParamSpec("P"), TypeVar("R")


def one_line_errors(command: Callable[P, R]) -> Callable[P, R]:
    """The command, but for errors of its user it prints one line and exits with code 2."""

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except (AgentError, ConfigError, RulesError) as error:
            print(f"error: {error}", file=sys.stderr)
            raise typer.Exit(2) from None

    return wrapped


def command_line(module: str) -> str:
    """The command that was given, for others to repeat."""
    return shlex.join(["python", "-m", module, *sys.argv[1:]])


def prepare_output(path: Path | None) -> None:
    """Make a file that will be written, and its folder; ConfigError before the work is done, not after."""
    if path is None:
        return
    if path.is_dir():
        raise ConfigError(f"{path} is a folder; name a file to write")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.open("a", encoding="utf-8").close()
    except OSError as error:
        raise ConfigError(f"{path} can't be written: {error}") from None
