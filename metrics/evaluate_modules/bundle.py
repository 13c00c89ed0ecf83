"""The files of a metric's Space: the module's folder, and the files of this package that its script needs.

A Space has no package: the files lie beside the script, and their imports from the package become relative. `evaluate`
copies the files that a script imports and not those that these import in turn, so the script imports all of them. All
Spaces have the page of `space_app`.
"""

import re
from importlib.util import find_spec
from pathlib import Path

from video_contrast.errors import VideoContrastError

_IMPORT = re.compile(r"^( *from )(video_contrast(?:\.\w+)+)(?= import\b)", re.M)
_APP = """

demo = page(Path(__file__).with_name("{script}"))

if __name__ == "__main__":
    demo.launch()
"""


def space_files(folder: Path) -> dict[str, str]:
    """The files of a Space, by name: those of a module's folder, the code that its script needs, and the page.

    Raises VideoContrastError: the script needs two files of one name.
    """
    script = folder / f"{folder.name}.py"
    sources: dict[str, Path] = {}
    _add_sources(script, sources)
    files = {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir() if path.suffix in (".md", ".txt")}
    for name, path in sources.items():
        text = path.read_text(encoding="utf-8")
        files[name] = _IMPORT.sub(lambda match: f"{match[1]}.{match[2].rpartition('.')[2]}", text)
    names = (name.removesuffix(".py") for name in sources if name != script.name)
    every = "".join(f"from .{name} import __name__ as _{name}\n" for name in names)
    files[script.name] = files[script.name].replace("import evaluate\n", f"import evaluate\n\n{every}", 1)
    page = Path(__file__).with_name("space_app.py").read_text(encoding="utf-8")
    return files | {"app.py": page + _APP.format(script=script.name)}


def _add_sources(path: Path, sources: dict[str, Path]) -> None:
    """Adds a file, and the files of this package that it imports, by name."""
    if sources.setdefault(path.name, path) != path:
        raise VideoContrastError(f"{path} and {sources[path.name]}: a Space cannot hold two files of one name")
    for match in _IMPORT.finditer(path.read_text(encoding="utf-8")):
        spec = find_spec(match[2])
        assert spec is not None and spec.origin is not None
        if Path(spec.origin) not in sources.values():
            _add_sources(Path(spec.origin), sources)
