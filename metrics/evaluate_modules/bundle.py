"""The files of a metric's Space: the module's folder, with the code that it computes with written out.

In the package a module's script imports that code, so there is one copy of it. A Space has no package and `evaluate`
copies one helper file beside the script and no more, so there the script imports from `_core.py`, which is written out
from the same sources: the modules that it needs, one after another. All Spaces have the page of `space_app`.
"""

import ast
from importlib.util import find_spec
from pathlib import Path

from video_contrast.errors import VideoContrastError

_PACKAGE = "video_contrast."
_APP = """

demo = page(Path(__file__).resolve().parent)

if __name__ == "__main__":
    demo.launch()
"""


def space_files(folder: Path) -> dict[str, str]:
    """The files of a Space, by name: those of a module's folder, the code that its script needs, and the page."""
    files = {
        path.name: path.read_text(encoding="utf-8")
        for path in sorted(folder.iterdir())
        if path.suffix in (".py", ".md", ".txt")
    }
    script = folder / f"{folder.name}.py"
    ours = _own_imports(script)
    lines = files[script.name].splitlines(keepends=True)
    names = ", ".join(alias.name for node in ours for alias in node.names)
    lines[ours[0].lineno - 1 : ours[-1].end_lineno] = [f"from ._core import {names}\n"]
    page = written_out(Path(__file__).with_name("space_app.py")) + _APP
    return files | {script.name: "".join(lines), "_core.py": written_out(script, body=False), "app.py": page}


def written_out(path: Path, *, body: bool = True) -> str:
    """The source of a module without imports from this package: what it imports stands in it.

    `body`: whether its own code stands there too. Raises VideoContrastError: two of the modules that it needs define
    the same name differently, or a module imports from the package in a way that cannot be written out (`import a.b`,
    `import x as y`).
    """
    parts: list[str] = []
    libraries: set[str] = set()
    defined: dict[str, str] = {}
    seen: set[Path] = set()
    for source in [path] if body else [_needed(node, path) for node in _own_imports(path)]:
        _collect(source, parts, libraries=libraries, defined=defined, seen=seen)
    head = '"""Written out from the sources of the package video-contrast. Do not edit it here."""'
    imports = "\n".join(
        sorted(
            libraries, key=lambda line: (not line.startswith("from __future__"), not line.startswith("import"), line)
        )
    )
    return "\n\n\n".join([head + "\n\n" + imports, *parts]) + "\n"


def _own_imports(path: Path) -> list[ast.ImportFrom]:
    """The imports of a module from this package."""
    imports = (node for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.ImportFrom))
    return [node for node in imports if (node.module or "").startswith(_PACKAGE)]


def _collect(
    path: Path | None, parts: list[str], libraries: set[str], defined: dict[str, str], seen: set[Path]
) -> None:
    if path is None or path in seen:
        return
    seen.add(path)
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines()
    dropped: set[int] = set()
    for position, node in enumerate(ast.parse(source).body):
        span = range(node.lineno - 1, node.end_lineno or node.lineno)
        if isinstance(node, ast.ImportFrom | ast.Import):
            dropped.update(span)
            needed = _needed(node, path)
            if needed is None:
                libraries.add(ast.unparse(node))
            else:
                _collect(needed, parts, libraries=libraries, defined=defined, seen=seen)
        elif position == 0 and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            dropped.update(span)
        else:
            for name in _names(node):
                text = ast.unparse(node)
                if name != "__all__" and defined.setdefault(name, text) != text:
                    raise VideoContrastError(
                        f"{path.name} defines {name!r}, which another module of the bundle does too"
                    )
    body = "\n".join(line for i, line in enumerate(lines) if i not in dropped).strip("\n")
    if body and not body.startswith("__all__"):
        parts.append(f"# {path.stem}\n\n{body}")


def _needed(node: ast.ImportFrom | ast.Import, path: Path) -> Path | None:
    """The file of a module of this package, or None for an import from elsewhere."""
    if isinstance(node, ast.Import):
        if any(alias.name.startswith(_PACKAGE) for alias in node.names):
            raise VideoContrastError(f"{path.name}: write `from {node.names[0].name} import ...`, to be bundled")
        return None
    if not (node.module or "").startswith(_PACKAGE):
        return None
    if any(alias.asname for alias in node.names):
        raise VideoContrastError(f"{path.name}: a name imported from {node.module} cannot be renamed, to be bundled")
    spec = find_spec(node.module or "")
    if spec is None or spec.origin is None:
        raise VideoContrastError(f"{path.name}: {node.module} has no source file")
    return Path(spec.origin)


def _names(node: ast.stmt) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    return [inner.id for target in targets for inner in ast.walk(target) if isinstance(inner, ast.Name)]
