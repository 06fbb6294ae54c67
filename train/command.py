"""How a command line ends when something is wrong: one line, no traceback."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
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
