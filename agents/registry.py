"""Agents by their specs: `steady`, `search:ms=100,style=steady`, `my_package.my_file:MyAgent:key=value`, `runs/x`."""

from __future__ import annotations

import importlib
import inspect
import os.path
import re
from collections.abc import Callable
from contextlib import suppress
from types import NoneType, UnionType
from typing import Any, NamedTuple, Union, get_args, get_origin, get_type_hints

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
    "search": Entry("agents.search:Search", "plays the likeliest actions out, on the same deals of the hidden cards"),
    "partners": Entry("agents.partners:Partners", "two agents as partners, in the lower and the upper seat"),
    "human": Entry("agents.human:Human", "a person at the terminal, who is asked"),
    "neural": Entry("agents.neural:Neural", "plays a trained network: a checkpoint or the folder of a run"),
}

BOOLS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}
READERS: dict[Any, Callable[[str], Any]] = {  # of the types that are read, in the order in which a union tries them
    int: int,
    float: float,
    bool: lambda text: BOOLS[text.lower()],
    NoneType: lambda text: {"none": None}[text.lower()],
}
STARRED = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)  # a subclass of Agent inherits both
LONGEST_REASON = 160


def names() -> list[str]:
    """The names of the agents that come with the kit."""
    return list(AGENTS)


def make(spec: str) -> Agent:
    """The agent of a spec: `name:option=value,option=value`, `module:Class:option=value`, or the folder of a run.

    Raises AgentError with one line that names the nearest known name or option.
    """
    where, settled, text = _split(spec)
    maker = _load(where)
    options = _options(spec, _open_parameters(maker, settled), text)
    try:
        agent = maker(**settled, **options)
    except AgentError:
        raise
    except (Exception, SystemExit) as error:  # of a class that anybody may have written
        raise AgentError(f"agent {spec!r} can't be made: {reason(error)}") from error
    if not isinstance(agent, Agent):
        raise AgentError(f"agent {spec!r}: {where} has no reset(seed) and act(views)")
    return agent


def reason(error: BaseException) -> str:
    """What went wrong in somebody else's code, in one short line."""
    text = " ".join(str(error).split())
    text = text if len(text) <= LONGEST_REASON else text[:LONGEST_REASON] + "…"
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def options_of(name: str) -> list[str]:
    """The options of an agent with their defaults: `temperature=0.0`, or `path` where one must be given."""
    required = inspect.Parameter.empty
    return [
        option.name if option.default is required else f"{option.name}={option.default}"
        for option in _open_parameters(_load(AGENTS[name].where), AGENTS[name].settled).values()
    ]


def _split(spec: str) -> tuple[str, dict[str, Any], str]:
    """Where the class of a spec is, as `module:Class`, the options that its name settles, and the text of others."""
    if not spec.strip():
        raise AgentError(f"an empty spec names no agent; {nearest('', AGENTS)}")
    name, _, rest = spec.partition(":")
    if name in AGENTS:
        return AGENTS[name].where, AGENTS[name].settled, rest
    if os.path.isdir(spec):
        return AGENTS["neural"].where, {"path": spec}, ""
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
    except (Exception, SystemExit) as error:  # of a module that anybody may have written
        raise AgentError(f"no agent {where!r}: {reason(error)}; an outside agent is module:Class") from error
    if not hasattr(module, class_name):
        classes = [name for name, value in vars(module).items() if inspect.isclass(value)]
        raise AgentError(f"no agent {where!r}: {module_name} has no {class_name}; {nearest(class_name, classes)}")
    maker = getattr(module, class_name)
    try:
        inspect.signature(maker)
    except (TypeError, ValueError):  # nothing that can be called, or built in with options that nobody can know
        kind = type(maker).__name__
        raise AgentError(f"no agent {where!r}: it is no class with reset(seed) and act(views), but a {kind}") from None
    return maker  # type: ignore[no-any-return]


def _open_parameters(maker: Callable[..., Any], settled: dict[str, Any]) -> dict[str, inspect.Parameter]:
    """The options that are left to choose."""
    parameters = inspect.signature(maker).parameters.items()
    hints = _hints(maker)
    return {
        name: option.replace(annotation=hints.get(name, inspect.Parameter.empty))
        for name, option in parameters
        if name not in settled and option.kind not in STARRED
    }


def _hints(maker: Callable[..., Any]) -> dict[str, Any]:
    """The declared types of options, none where one of them is a name that only a type checker knows."""
    try:
        return get_type_hints(maker.__init__ if inspect.isclass(maker) else maker)
    except Exception:  # a type in quotes may hold any code
        return {}


def _options(spec: str, parameters: dict[str, inspect.Parameter], text: str) -> dict[str, Any]:
    """The options in a text `key=value,key=value`, each as the class declares its type."""
    given: dict[str, str] = {}
    for name, value in (_pair(spec, part) for part in _parts(spec, text) if part):
        if name not in parameters:
            raise AgentError(f"agent {spec!r} has no option {name!r}; {nearest(name, parameters)}")
        if name in given:
            raise AgentError(f"agent {spec!r} is given {name!r} twice; an option has one value")
        given[name] = value
    for name, parameter in parameters.items():
        if parameter.default is inspect.Parameter.empty and name not in given:
            raise AgentError(f"agent {spec!r} needs an option: {name}=…")
    return {name: _convert(spec, parameters[name], value) for name, value in given.items()}


def _parts(spec: str, text: str) -> list[str]:
    """The options of a text, cut at commas before `key=`, but not within brackets: `lower=(search:ms=9,threads=2)`."""
    parts, depth = [""], 0
    for piece in re.split(r"(,(?=\w+=)|[()])", text):
        depth += (piece == "(") - (piece == ")")
        if depth < 0:
            raise AgentError(f"agent {spec!r} closes a bracket that it has not opened: ')' after {parts[-1]!r}")
        if piece == "," and depth == 0:
            parts.append("")
        else:
            parts[-1] += piece
    if depth:
        raise AgentError(f"agent {spec!r} opens a bracket and does not close it: {parts[-1]!r}")
    return parts


def _pair(spec: str, part: str) -> tuple[str, str]:
    name, equals, value = part.partition("=")
    if not equals:
        raise AgentError(f"agent {spec!r}: {part!r} is no option; options are key=value,key=value")
    value = value.strip()
    return name.strip(), value[1:-1] if value.startswith("(") and value.endswith(")") else value


def _convert(spec: str, option: inspect.Parameter, value: str) -> Any:
    """The value of an option, read as an int, a float, a bool or None where its type allows it, else its text."""
    kinds = _kinds(option)
    for kind, read in READERS.items():
        if kind in kinds:
            with suppress(ValueError, KeyError):
                return read(value)
    if any(kind not in READERS for kind in kinds):
        return value
    wanted = " or ".join("none" if kind is NoneType else kind.__name__ for kind in kinds)
    raise AgentError(f"agent {spec!r}: {option.name}={value!r} should be a value of type {wanted}")


def _kinds(option: inspect.Parameter) -> tuple[Any, ...]:
    """The types of an option, several in a union; that of its default where none is declared."""
    if option.annotation is inspect.Parameter.empty:
        return (str if option.default is None else type(option.default),)
    is_union = get_origin(option.annotation) in (Union, UnionType)
    return get_args(option.annotation) if is_union else (option.annotation,)
