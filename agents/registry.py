"""Agents by their specs: `steady`, `search:ms=100,style=steady`, `my_package.my_file:MyAgent:key=value`, `runs/x`."""

from __future__ import annotations

import importlib
import inspect
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from agents.base import STYLES, Agent, AgentError, nearest, title_of


class Entry(NamedTuple):
    """An agent that comes with the kit: where its class is, what it does in a line, options that its name settles."""

    where: str
    line: str
    settled: dict[str, Any] = {}  # noqa: RUF012 - never changed


AGENTS = {
    "random": Entry("agents.random:Random", "plays any legal action"),
    **{style: Entry("agents.scripted:Scripted", title_of(style), {"style": style}) for style in STYLES},
    "scripted": Entry("agents.scripted:Scripted", "plays a style from a TOML file of weights"),
    "search": Entry("agents.search:Search", "plays every action out, on the same deals of the hidden cards"),
    "partners": Entry("agents.partners:Partners", "two agents as partners, in the lower and the upper seat"),
    "human": Entry("agents.human:Human", "a person at the terminal, who is asked"),
    "neural": Entry("agents.neural:Neural", "plays a trained network: a checkpoint or the folder of a run"),
}


def names() -> list[str]:
    """The names of the agents that come with the kit."""
    return list(AGENTS)


def make(spec: str) -> Agent:
    """The agent of a spec: `name:option=value,option=value`, `module:Class:option=value`, or the folder of a run.

    Raises AgentError with one line that names the nearest known name or option.
    """
    where, settled, text = _split(spec)
    maker = _load(where)
    agent = maker(**settled, **_options(spec, _open_parameters(maker, settled), text))
    if not isinstance(agent, Agent):
        raise AgentError(f"agent {spec!r}: {where} has no reset(seed) and act(views)")
    return agent


def options_of(name: str) -> list[str]:
    """The options of an agent with their defaults: `temperature=0.0`, or `path` where one must be given."""
    required = inspect.Parameter.empty
    return [
        option.name if option.default is required else f"{option.name}={option.default}"
        for option in _open_parameters(_load(AGENTS[name].where), AGENTS[name].settled).values()
    ]


def _split(spec: str) -> tuple[str, dict[str, Any], str]:
    """Where the class of a spec is, as `module:Class`, the options that its name settles, and the text of others."""
    name, _, rest = spec.partition(":")
    if name in AGENTS:
        return AGENTS[name].where, AGENTS[name].settled, rest
    if Path(spec).is_dir():
        return AGENTS["neural"].where, {}, f"path={spec}"
    outside = re.fullmatch(r"([\w.]+:[A-Za-z_]\w*)(?::(.*))?", spec)
    if outside:
        return outside[1], {}, outside[2] or ""
    if "/" in spec or "\\" in spec:
        raise AgentError(f"no agent {spec!r}: no such folder; a trained agent is the folder of a run or a checkpoint")
    raise AgentError(f"no agent {name!r}; {nearest(name, AGENTS)}")


def _load(where: str) -> Callable[..., Any]:
    """The class that `module:Class` names."""
    module_name, _, class_name = where.partition(":")
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise AgentError(f"no agent {where!r}: {error}; an outside agent is module:Class") from error
    if not hasattr(module, class_name):
        classes = [name for name, value in vars(module).items() if inspect.isclass(value)]
        raise AgentError(f"no agent {where!r}: {module_name} has no {class_name}; {nearest(class_name, classes)}")
    return getattr(module, class_name)  # type: ignore[no-any-return]


def _open_parameters(maker: Callable[..., Any], settled: dict[str, Any]) -> dict[str, inspect.Parameter]:
    """The options that are left to choose."""
    parameters = inspect.signature(maker, eval_str=True).parameters
    return {name: parameter for name, parameter in parameters.items() if name not in settled}


def _options(spec: str, parameters: dict[str, inspect.Parameter], text: str) -> dict[str, Any]:
    """The options in a text `key=value,key=value`, each as the class declares its type."""
    given = dict(_pair(spec, part) for part in _parts(text) if part)
    for name in given:
        if name not in parameters:
            raise AgentError(f"agent {spec!r} has no option {name!r}; {nearest(name, parameters)}")
    for name, parameter in parameters.items():
        if parameter.default is inspect.Parameter.empty and name not in given:
            raise AgentError(f"agent {spec!r} needs an option: {name}=…")
    return {name: _convert(spec, name, value, parameters[name].annotation) for name, value in given.items()}


def _parts(text: str) -> list[str]:
    """The options of a text, cut at commas before `key=`, but not within brackets: `lower=(search:ms=9,threads=2)`."""
    parts, depth = [""], 0
    for piece in re.split(r"(,(?=\w+=)|[()])", text):
        depth += (piece == "(") - (piece == ")")
        if piece == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += piece
    return parts


def _pair(spec: str, part: str) -> tuple[str, str]:
    name, equals, value = part.partition("=")
    if not equals:
        raise AgentError(f"agent {spec!r}: {part!r} is no option; options are key=value,key=value")
    value = value.strip()
    return name.strip(), value[1:-1] if value.startswith("(") and value.endswith(")") else value


def _convert(spec: str, name: str, value: str, kind: Any) -> Any:
    """The value of an option, read as an int, a float, a bool or text."""
    if kind is bool and value.lower() in ("true", "false", "yes", "no", "1", "0"):
        return value.lower() in ("true", "yes", "1")
    try:
        if kind in (int, float):
            return kind(value)
    except ValueError:
        pass
    else:
        if kind is not bool:
            return value
    raise AgentError(f"agent {spec!r}: {name}={value!r} should be a value of type {kind.__name__}")
