"""What a reader of the code may count on: documented public functions, short files, calls that name their arguments."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

ROOMS = ("audit", "builders", "hub_cards", "metrics", "perturbations", "reports", "runner", "teacher", "video_contrast")
LONGEST = 400  # lines a file
POSITIONAL = 4  # arguments of a call that may go without a name
VARIADIC = ("stream", "digest")  # take the parts of a stream's name, however many there are
Function = ast.FunctionDef | ast.AsyncFunctionDef
# What these decorators register has one signature for all, documented where the decorator is.
CONTRACTS = ("text_perturbation", "video_perturbation", "kind", "edit_kind")
# Kernels with one signature for all, documented at the top of their file.
KERNELS = ("torch_kernels.py",)
# The parameters of builders and commands are options, documented where they are declared: `tests/commands/test_cli.py`.
OPTIONS = ("builder(",)


def files(repository: Path) -> Iterator[Path]:
    for room in ROOMS:
        yield from sorted((repository / room).rglob("*.py"))


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


def documented_methods(repository: Path) -> dict[str, set[str]]:
    """Class -> its methods whose parameters it or a class above it documents, so that overriding ones need not."""
    classes = {
        node.name: node
        for path in files(repository)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.ClassDef)
    }

    def of(name: str) -> set[str]:
        node = classes[name]
        own = {m.name for m in node.body if isinstance(m, Function) and "Args:" in (ast.get_docstring(m) or "")}
        above = (getattr(base, "id", getattr(base, "attr", "")) for base in node.bases)
        return own.union(*(of(base) for base in above if base in classes))

    return {name: of(name) for name in classes}


def test_public_functions_of_three_parameters_document_them(repository: Path) -> None:
    bare = []
    documented = documented_methods(repository)
    for path in files(repository):
        for name, function in public_functions(ast.parse(path.read_text(encoding="utf-8"))):
            owner, _, method = name.rpartition(".")
            if method in documented.get(owner, ()):
                continue
            doc = ast.get_docstring(function) or ""
            exempt = any(ast.unparse(mark).startswith((*CONTRACTS, *OPTIONS)) for mark in function.decorator_list)
            exempt |= path.parent.name == "commands" or path.name in KERNELS
            if len(parameters(function)) >= 3 and not exempt and not re.search(r"^Args:$", doc, re.M):
                bare.append(f"{path.relative_to(repository)}: {name}")
    assert not bare, f"{len(bare)} public functions without Args:\n" + "\n".join(bare)


def test_files_are_short(repository: Path) -> None:
    long = {str(p.relative_to(repository)): len(p.read_text(encoding="utf-8").splitlines()) for p in files(repository)}
    assert not [f"{name}: {lines}" for name, lines in long.items() if lines > LONGEST]


def test_a_class_name_means_one_thing(repository: Path) -> None:
    places: dict[str, list[str]] = {}
    for path in files(repository):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(str(path.relative_to(repository)))
    assert not {name: found for name, found in places.items() if len(found) > 1}


def test_calls_name_their_arguments(repository: Path) -> None:
    """`f(a, b, c, d, e)` tells nobody what `e` is. Only calls of our own functions: libraries have their ways."""
    wrong = []
    for path in files(repository):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        own = {node.name for node in ast.walk(tree) if isinstance(node, Function | ast.ClassDef)}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("video_contrast"):
                own |= {alias.asname or alias.name for alias in node.names}
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or len(node.args) <= POSITIONAL:
                continue
            name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
            named = isinstance(node.func, ast.Name) or ast.unparse(node.func).split(".")[0] in (own | {"self"})
            counted = name not in VARIADIC and not any(isinstance(argument, ast.Starred) for argument in node.args)
            if name in own and named and counted:
                wrong.append(f"{path.relative_to(repository)}:{node.lineno}: {name} with {len(node.args)}")
    assert not wrong, f"{len(wrong)} calls with more than {POSITIONAL} positional arguments:\n" + "\n".join(wrong)
