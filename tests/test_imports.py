"""One way down: a file imports only from the layers below it, and a heavy library only where it belongs."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent

# Highest first; names on one line don't import each other.
PACKAGES = ["train", "agents", "buraco_env"]
GAME = [
    "__main__",
    "__init__",
    "buraco_v0",
    "aec single batch_env",
    "render match",
    "game",
    "position refusal scratch seeds",
    "notation",
    "kernel rules_text",
    "rules",
    "cards",
]
KERNEL = [
    "__init__",
    "players",
    "batch",
    "styles",
    "observe candidates hidden",
    "legal",
    "guard",
    "moves",
    "play",
    "score",
    "melds",
    "deal",
    "actions",
    "state",
    "layout jit weights",
]
ENVIRONMENTS = [f"buraco_env/{name}.py" for name in ("aec", "single", "batch_env", "__init__")]
ONLY_IN = {
    "numba": ["buraco_env/kernel/jit.py"],
    "llvmlite": ["buraco_env/kernel/jit.py"],
    "torch": ["agents/neural.py", "train/"],
    "pettingzoo": ENVIRONMENTS,
    "gymnasium": ENVIRONMENTS,
}

FILES = sorted(file for package in PACKAGES for file in (ROOT / package).rglob("*.py"))
LIBRARIES = {"buraco_env", "agents", "train", *ONLY_IN}


def imports(file: Path) -> Iterator[str]:
    """The dotted names that a file imports, wherever it does: `buraco_env.kernel.play`."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        if isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}:{node.lineno}: write the whole name of what is imported"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def modules(file: Path) -> Iterator[list[str]]:
    """What a file imports, cut to modules of ours and the libraries that have their place."""
    for name in imports(file):
        parts = name.split(".")
        if parts[0] not in LIBRARIES:
            continue
        while len(parts) > 1 and parts[0] in PACKAGES and not is_module(parts):
            parts.pop()
        yield parts


def is_module(parts: list[str]) -> bool:
    path = ROOT.joinpath(*parts)
    return path.is_dir() or path.with_suffix(".py").exists()


def layer(layers: list[str], name: str) -> int:
    """How high a module stands."""
    found = [height for height, names in enumerate(reversed(layers)) if name in names.split()]
    assert found, f"{name} has no place in the map of layers {layers}"
    return found[0]


def goes_down(layers: list[str], importer: str, imported: str) -> bool:
    """Whether an import between two modules of one package goes down, or stays inside the importer's own folder."""
    return importer == imported or layer(layers, importer) > layer(layers, imported)


def allowed(own: list[str], other: list[str]) -> bool:
    """Whether the module `own` may import `other`, both as lists of names from a package down."""
    if own[0] != other[0]:
        return goes_down(PACKAGES, own[0], other[0])
    if own[0] != "buraco_env":
        return True
    own, other = [*own[1:], "__init__"], [*other[1:], "__init__"]
    if own[0] == other[0] == "kernel":
        return goes_down(KERNEL, own[1], other[1])
    return goes_down(GAME, own[0], other[0])


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_imports_go_down(file):
    own = list(file.relative_to(ROOT).with_suffix("").parts)
    own = own[:-1] if own[-1] == "__init__" and len(own) > 1 else own
    for other in modules(file):
        if other[0] in PACKAGES:
            assert allowed(own, other), f"{'.'.join(own)} imports {'.'.join(other)}"


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file.relative_to(ROOT)))
def test_library_is_imported_only_in_its_place(file):
    path = file.relative_to(ROOT).as_posix()
    for library, *_ in modules(file):
        assert path.startswith(tuple(ONLY_IN.get(library, [""]))), f"{path} imports {library}"


def test_the_map_refuses_what_goes_up():
    assert allowed(["agents", "greedy"], ["buraco_env"])
    assert allowed(["buraco_env", "game"], ["buraco_env", "kernel", "batch"])
    assert allowed(["buraco_env", "kernel", "play"], ["buraco_env", "cards"])
    assert not allowed(["buraco_env", "game"], ["agents"])
    assert not allowed(["buraco_env", "notation"], ["buraco_env", "game"])
    assert not allowed(["buraco_env", "kernel", "play"], ["buraco_env", "kernel", "legal"])
    assert not allowed(["buraco_env", "kernel", "play"], ["buraco_env", "notation"])
    assert not allowed(["buraco_env", "kernel", "observe"], ["buraco_env", "kernel", "hidden"])
