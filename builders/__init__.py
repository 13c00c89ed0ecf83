"""Builders: captioned video sets in, contrast sets and robustness sets out.

    build("msrvtt", ["gender_mc"], output="sets/msrvtt", folder="MSRVTT")

registry.py, writing.py    what a builder is, how its set is written, and what is said of it
blocks/    sets of corpora, built block by block on one machine or a cluster
sources/    one file a data set; published ones by their form (`published.py` has what these share)
assembly/    clips, contrasts and distractors become candidates; reasons why clips fall out
robustness/    sets under perturbations of their texts and videos
shapes/    clips drawn on the spot, whose captions are true by construction
clip_edits/    groups of edited clips
dataset_builder.py    every builder as a class of `datasets`
"""

from collections.abc import Mapping
from pathlib import Path
from typing import cast

from video_contrast.addresses import is_remote, local_copy, state_of
from video_contrast.builders.registry import BlockSource, BuiltSet, all_builders, builder, get_builder, names
from video_contrast.errors import UsageError
from video_contrast.files import cache_dir, write_text
from video_contrast.options import checked, options_of
from video_contrast.seeds import digest
from video_contrast.version import __version__

__all__ = ["BuiltSet", "all_builders", "build", "builder", "dataset_dir", "get_builder", "names"]


def build(name: str, configs: str | list[str] | None = None, *, output: str | Path, **options: object) -> Path:
    """Builds configs of a set into the folder `output`, which `datasets.load_dataset` then loads without our code.

    Args:
        name: a builder of `video-contrast list builders`.
        configs: one or several of its configs; all by default.
        output: the folder, or its address (`s3://...`); a former build of the same builder in it is added to.
        **options: the builder's own options (`video-contrast build NAME --help`).

    Returns:
        The folder; an address as it was given.

    Raises:
        UsageError: no such builder, config or option.
        VideoContrastError: the folder cannot take the set, or the input is broken; the message names file and row.
    """
    from video_contrast.builders.assembly.review import PAGE, TICKS, page
    from video_contrast.builders.writing import write_set
    from video_contrast.launcher import is_writer, wait_for_writer
    from video_contrast.storage import SetDraft

    for option, value in zip(options_of(build).values(), (name, configs, output), strict=True):
        checked(option, value, "build")
    builder = get_builder(name)
    if not is_remote(output):
        if "ticks" in options_of(builder.function) and not options.get("ticks") and (Path(output) / TICKS).is_file():
            options["ticks"] = Path(output) / TICKS
        SetDraft(output, name)  # a folder that cannot take the set is refused before the work, not after it
    built = builder.run([configs] if isinstance(configs, str) else configs, options)
    root = options.get("video_root")
    if built.blocks is not None:
        _build_in_blocks(built.blocks, output, options, root=built.video_root or root)
        return cast(Path, output) if is_remote(output) else Path(output)
    if isinstance(root, str | Path) and not built.files and built.video_root is None:
        built.video_root = Path(root)
    # Under torchrun every rank has the whole set by now; one of them writes it.
    if is_writer():
        with local_copy(output) as folder:
            write_set(built, folder)
            if built.review:
                write_text(folder / PAGE, page(built.review, folder, built.video_root))
    wait_for_writer()
    return cast(Path, output) if is_remote(output) else Path(output)


def _build_in_blocks(source: BlockSource, output: str | Path, options: Mapping[str, object], *, root: object) -> None:
    from video_contrast.builders.blocks.block_build import build_blocks
    from video_contrast.launcher import world_size
    from video_contrast.storage import SetFolder

    if world_size() > 1:
        raise UsageError("corpora are built without torchrun: --executor slurm or ray shares them among machines")
    settings = {name: value for name, value in options.items() if name not in ("executor", "workers", "slurm")}
    states = [f"{name}={value}{state_of(value)}" for name, value in sorted(settings.items())]
    key = digest(source.builder, __version__, *source.configs, *states).hex()
    if build_blocks(source, output, key) and isinstance(root, str | Path) and not is_remote(output):
        SetFolder(Path(output)).remember_video_root(Path(root))


def dataset_dir(name: str, **options: object) -> Path:
    """The folder in which `video_contrast.load_dataset(name, ..., **options)` keeps the set."""
    key = digest(name, __version__, *(f"{k}={v}{state_of(v)}" for k, v in sorted(options.items()))).hex()[:12]
    return cache_dir() / "sets" / f"{name}-{key}"
