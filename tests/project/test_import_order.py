"""Imports point one way: no room imports a room above it, and no file is in a circle with another."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import video_contrast

# A layer may import itself and the layers above it in this list. Rooms of one layer do not import each other.
ORDER: tuple[tuple[str, ...], ...] = (
    ("ground",),
    ("metrics", "perturbations"),
    ("hub_cards", "audit"),
    ("builders", "runner"),
    ("teacher",),
    ("reports",),
    ("commands",),
)
ROOMS = ("audit", "builders", "hub_cards", "metrics", "perturbations", "reports", "runner", "teacher")
# Of the folder video_contrast/, these see every room: the public functions and the command line.
TOP = ("commands", "api", "cli", "demo", "__init__", "__main__")


def sources(repository: Path) -> dict[str, Path]:
    """Module name -> file, for every module of the package."""
    found: dict[str, Path] = {}
    for room in (*ROOMS, "video_contrast"):
        for path in (repository / room).rglob("*.py"):
            parts = list(path.relative_to(repository).with_suffix("").parts)
            if room != "video_contrast":
                parts.insert(0, "video_contrast")
            if parts[-1] == "__init__" and len(parts) > 2:
                parts.pop()
            found[".".join(parts)] = path
    return found


def imports(path: Path, modules: dict[str, Path]) -> Iterator[str]:
    """The modules of the package that a file imports, wherever in the file it does so."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name.split(".")[0] == "video_contrast":
                # `from package import name`: the module of that name, else the package that defines it
                target = name if name in modules else name.rpartition(".")[0] or name
                yield target if target in modules else "video_contrast.__init__"


@pytest.fixture(scope="module")
def graph(repository: Path) -> dict[str, set[str]]:
    modules = sources(repository)
    return {name: {to for to in imports(path, modules) if to != name} for name, path in modules.items()}


def room_of(module: str) -> str:
    first = module.split(".")[1]
    if first in ROOMS:
        return first
    return "commands" if first in TOP else "ground"


def test_no_arrow_points_back(graph: dict[str, set[str]]) -> None:
    layer = {room: at for at, rooms in enumerate(ORDER) for room in rooms}
    wrong = [
        f"{name} -> {to}"
        for name, targets in sorted(graph.items())
        for to in sorted(targets)
        if room_of(name) != room_of(to) and layer[room_of(to)] >= layer[room_of(name)]
    ]
    assert not wrong, "\n".join(wrong)


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that import each other: Tarjan's strongly connected components of two or more."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    groups: list[list[str]] = []

    def visit(name: str) -> None:
        index[name] = low[name] = len(index)
        stack.append(name)
        for to in sorted(graph.get(name, ())):
            if to not in index:
                visit(to)
                low[name] = min(low[name], low[to])
            elif to in stack:
                low[name] = min(low[name], index[to])
        if low[name] == index[name]:
            at = stack.index(name)
            group = stack[at:]
            del stack[at:]
            if len(group) > 1:
                groups.append(sorted(group))

    for name in sorted(graph):
        if name not in index:
            visit(name)
    return groups


def test_no_circle(graph: dict[str, set[str]]) -> None:
    """An import inside a function or under TYPE_CHECKING counts as well."""
    found = [", ".join(name.removeprefix("video_contrast.") for name in group) for group in circles(graph)]
    assert not found, "modules that import each other:\n" + "\n".join(found)


def test_a_circle_would_be_seen() -> None:
    assert circles({"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}) == [["a", "b", "c"]]


def test_the_graph_is_that_of_the_installed_package(graph: dict[str, set[str]]) -> None:
    assert len(graph) > 200
    assert Path(video_contrast.__file__).name == "__init__.py"
    assert "video_contrast.seeds" in graph["video_contrast.perturbations.text"]
