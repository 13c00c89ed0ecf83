"""Builders: captioned video sets in, contrast sets and robustness sets out.

build("msrvtt", ["gender_mc"], output="sets/msrvtt", data_dir="MSRVTT")
load_dataset("shapes", "verb_mc")    builds into the cache on first use
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from video_contrast.builders.registry import BuiltSet, all_builders, builder, chosen_configs, get_builder

if TYPE_CHECKING:
    import datasets

__all__ = ["BuiltSet", "all_builders", "build", "builder", "get_builder", "load_dataset"]


def build(name: str, configs: list[str] | None = None, *, output: str | Path, **options: Any) -> Path:
    """Builds configs of a set into the folder `output`, which `datasets.load_dataset` then loads without our code.

    Args:
        name: a builder of `video-contrast list builders`.
        configs: which of its configs; all by default.
        output: the folder; a former build of the same builder in it is added to.
        **options: the builder's own options (`video-contrast build NAME --help`).

    Raises:
        UsageError: no such builder, config or option.
        VideoContrastError: the input is broken; the message names file and row.
    """
    from video_contrast.builders.assembly.sharding import is_writer, wait_for_writer
    from video_contrast.builders.writing import write_set
    from video_contrast.options import bind

    chosen = get_builder(name)
    wanted = chosen_configs(chosen, configs)
    built = chosen.function(**bind(chosen.function, {"configs": wanted, **options}, f"build {name}"))
    # Under torchrun every rank has the whole set by now; one of them writes it.
    if is_writer():
        write_set(built, output)
    wait_for_writer()
    return Path(output)


def load_dataset(name: str, config: str, split: str | None = None, **options: Any) -> "datasets.Dataset":
    """A config of a set as a `datasets` object, built into the cache on first use.

    The folder in the cache is named by builder, options and version, so changed options build anew.
    Clips stay files: `video_path` is relative to the folder, given by `dataset_dir(name, **options)`.
    """
    import datasets

    root = dataset_dir(name, **options)
    chosen = get_builder(name)
    if not (root / chosen_configs(chosen, [config])[0]).is_dir():
        build(name, [config], output=root, **options)
    return datasets.load_dataset(str(root), config, split=split)


def dataset_dir(name: str, **options: Any) -> Path:
    """Where `load_dataset(name, ..., **options)` keeps the set."""
    from video_contrast.files import cache_dir
    from video_contrast.seeds import digest
    from video_contrast.version import __version__

    key = digest(name, __version__, *(f"{k}={v}{_state(v)}" for k, v in sorted(options.items()))).hex()[:12]
    return cache_dir() / "sets" / f"{name}-{key}"


def _state(value: Any) -> str:
    """Size and time of a file that an option names, so that an edited table is not taken for the old one."""
    if not isinstance(value, str | Path) or not str(value):
        return ""
    try:
        found = Path(value).stat() if Path(value).is_file() else None
    except (OSError, ValueError):
        return ""
    return f" ({found.st_size} bytes, {found.st_mtime_ns})" if found else ""
