"""The map of CONTRIBUTING: each question leads to a file that is there, and to a name that is defined in it."""

import ast
import re
from pathlib import Path


def defined_names(path: Path) -> set[str]:
    """What a file defines: functions, classes, methods and values of a module or class; the words of a template."""
    text = path.read_text(encoding="utf-8")
    if path.suffix != ".py":
        return set(re.findall(r"\w+", text))
    names: set[str] = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            names.add(node.name)
        for body in node.body if isinstance(node, ast.Module | ast.ClassDef) else ():
            targets = body.targets if isinstance(body, ast.Assign) else [getattr(body, "target", None)]
            names |= {
                name.id for target in targets if target for name in ast.walk(target) if isinstance(name, ast.Name)
            }
    return names


def test_every_line_of_the_map_names_a_file_and_what_it_defines(repository: Path) -> None:
    text = (repository / "CONTRIBUTING.md").read_text(encoding="utf-8")
    table = text[text.index("| where is ...") : text.index("- Randomness")]
    lines = [line for line in table.splitlines()[2:] if line.startswith("|") and not line.startswith("| **")]
    places = [re.fullmatch(r"\| [^|]+ \| `([\w./]+)` \| `(\w+)` \|", line) for line in lines]
    assert len(lines) > 60 and not [line for line, place in zip(lines, places, strict=True) if not place]
    wrong = [
        f"{file}: {name}"
        for file, name in (place.groups() for place in places if place)
        if not (repository / file).is_file() or name not in defined_names(repository / file)
    ]
    assert not wrong
