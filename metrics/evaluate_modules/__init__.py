"""The `evaluate` modules of the package: where they are, and three ways to load them.

`evaluate.load(metric_path("video_contrast_mc"))` always works. After `register()` the bare name does, in this process;
after `install()` (the command `video-contrast metrics install`) in every script, without importing this package.

A metric's Space has no package: the files that its script needs lie beside it, with relative imports. `evaluate` copies
the files that a script imports and not those that these import in turn, so the script imports all of them.
"""

import hashlib
import os
import re
import shutil
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from video_contrast.errors import VideoContrastError, check_names, libraries_named
from video_contrast.files import write_text
from video_contrast.version import __version__


@dataclass(frozen=True)
class Module:
    """One `evaluate` module: its folder beside this file bears its name."""

    name: str
    kind: str  # "metric", "measurement" or "comparison"
    summary: str
    needs: str

    @property
    def folder(self) -> Path:
        """The folder with its script, card and Space app."""
        return Path(__file__).resolve().parent / self.name


_TABLE = Path(__file__).with_name("modules.tsv").read_text(encoding="utf-8")
MODULES = {row.partition("\t")[0]: Module(*row.split("\t")) for row in _TABLE.splitlines()}


def module(name: str) -> Module:
    """The module of that name. Raises UsageError: there is none; the message suggests the nearest name."""
    check_names("metric", [name], MODULES)
    return MODULES[name]


def metric_path(name: str) -> str:
    """The folder of a module, for `evaluate.load(metric_path(name))`.

    Raises UsageError: unknown name.

    >>> metric_path("video_contrast_mc").endswith("video_contrast_mc")
    True
    """
    return str(module(name).folder)


def write_space(name: str, output: str | os.PathLike[str]) -> Path:
    """Writes the files of a module's Space, which needs nothing of this package, to a folder.

    `evaluate.load(path of the script)` works there and so does `python app.py`; uploaded as a Space `user/name` it is
    loaded by `evaluate.load("user/name")`. Raises VideoContrastError: the script needs two files of one name.
    """
    source, folder = module(name).folder, Path(output)
    folder.mkdir(parents=True, exist_ok=True)
    sources: dict[str, Path] = {}
    _add_sources(source / f"{name}.py", sources)
    others = [path.stem for path in sources.values() if path.stem != name]
    every = "".join(f"from .{other} import __name__ as _{other}\n" for other in others)
    files = {path.name: path.read_text(encoding="utf-8") for path in source.iterdir() if path.suffix in (".md", ".txt")}
    for file, path in sources.items():
        text = _IMPORT.sub(lambda match: f"{match[1]}.{match[2].rpartition('.')[2]}", path.read_text(encoding="utf-8"))
        files[file] = text.replace("import evaluate\n", f"import evaluate\n\n{every}", 1) if path.stem == name else text
    page = Path(__file__).with_name("space_app.py").read_text(encoding="utf-8")
    for file, text in (files | {"app.py": page + _APP.format(script=f"{name}.py")}).items():
        (folder / file).write_text(text, encoding="utf-8")
    return folder


def register() -> ExitStack:
    """Makes `evaluate.load("video_contrast_mc")`, and the other bare names, find the modules of this package.

    In this process, from now on, offline and without a look at the Hub. Calling it again changes nothing. It wraps one
    function of `evaluate`; all names but ours go on to it as they are. Use what it returns in a `with` block, or call
    its `close()`, to take the names away again.
    """
    with libraries_named():
        import evaluate.loading

    factory = evaluate.loading.evaluation_module_factory
    original = getattr(factory, "without_video_contrast", factory)

    def with_ours(path: str, *arguments: object, **options: object) -> object:
        return original(metric_path(path) if path in MODULES else path, *arguments, **options)

    with_ours.without_video_contrast = original  # type: ignore[attr-defined]
    evaluate.loading.evaluation_module_factory = with_ours
    undo = ExitStack()
    undo.callback(setattr, evaluate.loading, "evaluation_module_factory", original)
    return undo


@dataclass(frozen=True)
class Installed:
    """The result of `install` for one module: `status` is "installed", "refreshed" or "up to date"."""

    name: str
    path: Path
    status: str


def install(names: Iterable[str] | None = None, cache: str | os.PathLike[str] | None = None) -> list[Installed]:
    """Puts modules where `evaluate.load` looks for bare names when the Hub has none: its cache of modules.

    What is put there is a pointer to the package, so that an upgrade takes effect at once. It bears the package's
    version; after an upgrade the next `install` replaces it, and without one changes nothing. Modules that others put
    there under the same name are left alone.

    `names`: which modules; None: all. `cache`: the modules folder; None: that of `evaluate` (`HF_MODULES_CACHE`, or
    `modules` in `HF_HOME`). Raises UsageError: unknown name; OSError: the cache cannot be written.
    """
    root = (Path(cache) if cache is not None else modules_cache()) / "evaluate_modules"
    paths = []
    for each in [module(name) for name in (MODULES if names is None else names)]:
        place = root / "metrics" / f"evaluate-{each.kind}--{each.name}"
        class_name = each.name.title().replace("_", "")
        text = _POINTER.format(version=__version__, name=each.name, class_name=class_name)
        script = place / hashlib.sha256(text.encode()).hexdigest() / f"{each.name}.py"
        pointers = [path for path in place.glob(f"*/{each.name}.py") if path.read_bytes().startswith(_OURS.encode())]
        older = [path.parent for path in pointers if path != script]
        status = "refreshed" if older or script.exists() else "installed"
        if not older and script in pointers and script.read_bytes() == text.encode():
            status = "up to date"
        write_text(script, text)
        for folder in (root, root / "metrics", place, script.parent):
            (folder / "__init__.py").touch()
        # `evaluate` takes the newest of several: ours, since the user has just asked for it.
        os.utime(script)
        for path in older:
            shutil.rmtree(path)
        paths.append(Installed(each.name, script.parent, status))
    return paths


def modules_cache() -> Path:
    """The folder of modules that `evaluate` downloads: its own rules, without the seconds that importing it takes."""
    cache = os.environ.get("XDG_CACHE_HOME", "~/.cache")
    home = os.environ.get("HF_HOME", os.path.join(cache, "huggingface"))  # noqa: PTH118  as evaluate.config does
    return Path(os.environ.get("HF_MODULES_CACHE") or Path(home).expanduser() / "modules")


_OURS = '"""Put here by video-contrast '  # tells our pointers from what others put there
_POINTER = (
    _OURS
    + '''{version}: hands out the module `{name}` of the installed package."""

from video_contrast.metrics.evaluate_modules import main_class

{class_name} = main_class("{name}")
'''
)


def main_class(name: str) -> type[object]:
    """The class of a module's script, as part of this package."""
    from evaluate import EvaluationModule

    script = import_module(f"video_contrast.metrics.evaluate_modules.{module(name).name}.{name}")
    types = (value for value in vars(script).values() if isinstance(value, type))
    return next(own for own in types if issubclass(own, EvaluationModule))


_IMPORT = re.compile(r"^( *from )(video_contrast(?:\.\w+)+)(?= import\b)", re.M)
_APP = """

demo = page(Path(__file__).with_name("{script}"))

if __name__ == "__main__":
    demo.launch()
"""


def _add_sources(path: Path, sources: dict[str, Path]) -> None:
    if sources.setdefault(path.name, path) != path:
        raise VideoContrastError(f"{path} and {sources[path.name]}: a Space cannot hold two files of one name")
    for match in _IMPORT.finditer(path.read_text(encoding="utf-8")):
        spec = find_spec(match[2])
        assert spec is not None and spec.origin is not None
        if Path(spec.origin) not in sources.values():
            _add_sources(Path(spec.origin), sources)
