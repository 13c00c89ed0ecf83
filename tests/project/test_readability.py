"""What a reader of the code may count on: documented public functions, functions that are not tangled."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOMS = ("audit", "builders", "hub_cards", "metrics", "perturbations", "reports", "runner", "teacher", "video_contrast")
BESIDE = ("benchmarks", "tools")  # that no user imports
TANGLED = 20  # decisions a function may take, comprehensions and conditions counted
Function = ast.FunctionDef | ast.AsyncFunctionDef
# What these decorators register has one signature for all, documented where the decorator is.
CONTRACTS = ("text_perturbation", "video_perturbation", "kind")
# Kernels with one signature for all, documented at the top of their file.
KERNELS = ("torch_kernels.py", "edits.py")
# The parameters of builders and commands are options, documented where they are declared: `tests/commands/test_cli.py`.
OPTIONS = ("builder(",)


Trees = dict[Path, ast.Module]


def files(repository: Path) -> Iterator[Path]:
    for room in ROOMS:
        yield from sorted((repository / room).rglob("*.py"))


@pytest.fixture(scope="module")
def trees(repository: Path) -> Trees:
    """Every file of the package, parsed once; the paths are those within the repository."""
    return {path.relative_to(repository): ast.parse(path.read_text(encoding="utf-8")) for path in files(repository)}


def classes(tree: ast.AST) -> Iterator[ast.ClassDef]:
    """The classes of a file, those inside of functions and classes too."""
    for part in ("body", "orelse", "handlers", "finalbody", "cases"):
        for node in getattr(tree, part, []):
            if isinstance(node, ast.ClassDef):
                yield node
            yield from classes(node)


def public_functions(tree: ast.Module) -> Iterator[tuple[str, Function]]:
    """Functions of a module and methods of its public classes, without properties and dunder methods."""
    for node in tree.body:
        if isinstance(node, Function) and not node.name.startswith("_"):
            yield node.name, node
        elif isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            for inner in node.body:
                if isinstance(inner, Function) and not inner.name.startswith("_"):
                    yield f"{node.name}.{inner.name}", inner


def parameters(function: Function) -> list[str]:
    arguments = function.args
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    return [argument.arg for argument in every if argument.arg not in ("self", "cls")]


def documented_methods(trees: Trees) -> dict[str, set[str]]:
    """Class -> its methods whose parameters it or a class above it documents, so that overriding ones need not."""
    named = {node.name: node for tree in trees.values() for node in classes(tree)}

    def of(name: str) -> set[str]:
        node = named[name]
        own = {m.name for m in node.body if isinstance(m, Function) and "Args:" in (ast.get_docstring(m) or "")}
        above = (getattr(base, "id", getattr(base, "attr", "")) for base in node.bases)
        return own.union(*(of(base) for base in above if base in named))

    return {name: of(name) for name in named}


def exported_names(trees: Trees) -> set[str]:
    """What the `__init__` of a package lists in `__all__`: its public surface."""
    names: set[str] = set()
    for path, tree in trees.items():
        for node in tree.body:
            if (
                path.name == "__init__.py"
                and isinstance(node, ast.Assign)
                and ast.unparse(node.targets[0]) == "__all__"
            ):
                names |= {cell.value for cell in ast.walk(node.value) if isinstance(cell, ast.Constant)}
    return names


def test_exported_functions_of_three_parameters_document_them(trees: Trees) -> None:
    """What stays inside of a room says in a sentence what its signature does not."""
    bare = []
    documented = documented_methods(trees)
    exported = exported_names(trees)
    assert len(exported) > 100
    for path, tree in trees.items():
        for name, function in public_functions(tree):
            owner, _, method = name.rpartition(".")
            if method in documented.get(owner, ()) or not {owner or method} & exported:
                continue
            doc = ast.get_docstring(function) or ""
            exempt = any(ast.unparse(mark).startswith((*CONTRACTS, *OPTIONS)) for mark in function.decorator_list)
            exempt |= path.parent.name == "commands" or path.name in KERNELS
            if len(parameters(function)) >= 3 and not exempt and not re.search(r"^Args:$", doc, re.M):
                bare.append(f"{path}: {name}")
    assert not bare, f"{len(bare)} exported functions without Args:\n" + "\n".join(bare)


def test_a_class_name_means_one_thing(trees: Trees) -> None:
    places: dict[str, list[str]] = {}
    for path, tree in trees.items():
        for node in classes(tree):
            places.setdefault(node.name, []).append(str(path))
    assert not {name: found for name, found in places.items() if len(found) > 1}


def complexity(function: Function) -> int:
    """Cyclomatic complexity: branches, loops, comprehensions with their conditions, and parts of conditions."""
    decisions = (ast.If, ast.For, ast.While, ast.ExceptHandler, ast.IfExp, ast.comprehension, ast.match_case)
    nodes = list(ast.walk(function))
    branches = sum(isinstance(node, decisions) for node in nodes)
    joined = sum(len(node.values) - 1 for node in nodes if isinstance(node, ast.BoolOp))
    filtered = sum(len(node.ifs) for node in nodes if isinstance(node, ast.comprehension))
    return 1 + branches + joined + filtered


def test_functions_are_not_tangled(trees: Trees, repository: Path) -> None:
    beside = {path: ast.parse(path.read_text("utf-8")) for room in BESIDE for path in (repository / room).rglob("*.py")}
    tangled = {
        f"{path}: {node.name}"
        for path, tree in (trees | beside).items()
        for node in ast.walk(tree)
        if isinstance(node, Function) and complexity(node) > TANGLED
    }
    assert not sorted(tangled), "split these, or take decisions out of them"
