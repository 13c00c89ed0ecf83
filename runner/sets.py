"""Reading a set to score: a folder, a packaged builder or the Hub; its rows become items, grouped by their recipe.

A perturbed set holds rows under several recipes (`text_perturbation`, `video_perturbation`). Every recipe is a
condition of its own, so a config's rows are split into groups, and every group is scored as one set.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from video_contrast.errors import UsageError, VideoContrastError, unknown_name
from video_contrast.files import read_json
from video_contrast.rows import Layout, layout_of, validate_rows
from video_contrast.runner.conditions import CLEAN, Condition, from_recipe
from video_contrast.video.clip import Clip


@dataclass(frozen=True)
class Item:
    """A row of a set."""

    id: str
    clip: Clip
    texts: tuple[str, ...]
    label: int = 0
    kinds: tuple[str, ...] = ()
    cluster: str = ""
    replaced: str | None = None


@dataclass(frozen=True)
class Group:
    """The rows of one config that share a recipe."""

    config: str
    layout: Layout
    own: Condition
    items: tuple[Item, ...]


@dataclass(frozen=True)
class LoadedSet:
    """What is to be scored.

    Attributes:
        root: the set's folder, under which its videos lie by default; None for the Hub.
        fingerprints: config -> digest of the rows' content.
    """

    name: str
    split: str
    root: Path | None
    groups: tuple[Group, ...]
    fingerprints: dict[str, str]


def load_set(dataset: str | Path, configs: Sequence[str] | None, split: str, limit: int | None = None) -> LoadedSet:
    """Loads configs of a set.

    Args:
        dataset: a folder written by a builder (or laid out like one), the name of a builder that needs no data
            ("shapes", built into the cache on first use), or a Hub id.
        configs: which; all that have the split where None.
        split: which split.
        limit: keep the first `limit` clips of each config (a trial run).

    Raises:
        UsageError: no such folder, config or split.
        VideoContrastError: a row is invalid.
    """
    name = str(dataset)
    root = _root(name, configs)
    if root is not None:
        return _loaded(name, root, configs, split, limit)
    with _reached(name):
        return _loaded(name, None, configs, split, limit)


def _loaded(name: str, root: Path | None, configs: Sequence[str] | None, split: str, limit: int | None) -> LoadedSet:
    known = _configs(name, root, split)
    for config in configs or ():
        if known and config not in known:
            raise unknown_name(f"config of {name} with a split {split!r}:", config, known)
    groups: list[Group] = []
    fingerprints: dict[str, str] = {}
    for config in configs or known:
        rows = _rows(name, root, config, split)
        validate_rows(rows, f"{name}, config {config}, split {split}")
        fingerprints[config] = fingerprint(rows)
        groups.extend(_grouped(config, rows[:limit] if limit else rows))
    if not groups:
        raise UsageError(f"--dataset {name}: has no rows in the split {split!r}")
    return LoadedSet(name, split, root, tuple(groups), fingerprints)


def fingerprint(rows: Iterable[Mapping[str, Any]]) -> str:
    """A digest of a table's content, the same for a folder and for the Hub."""
    whole = hashlib.sha256()
    for row in rows:
        whole.update(json.dumps(row, sort_keys=True, ensure_ascii=False, default=str).encode("utf-8", "surrogatepass"))
        whole.update(b"\n")
    return whole.hexdigest()[:32]


def _root(name: str, configs: Sequence[str] | None) -> Path | None:
    path = Path(name).expanduser()
    if path.is_dir():
        return path
    if path.exists():
        raise UsageError(f"--dataset {name} is a file; give the folder of a set, or a Hub id")
    if "/" not in name:
        from video_contrast.builders import all_builders, build
        from video_contrast.builders import dataset_dir as cached

        if name in all_builders():
            built = cached(name)
            if not all((built / config).is_dir() for config in configs or ["."]) or not (built / "set.json").exists():
                build(name, list(configs) if configs else None, output=built)
            return built
    if name.startswith((".", "/", "~")) or name.count("/") != 1:
        raise UsageError(f"--dataset {name}: no such folder")
    return None


@contextmanager
def _reached(name: str) -> Iterator[None]:
    """Asks the Hub once and quickly; where it cannot be reached the cache is read, without asking it again."""
    from huggingface_hub import errors as hub

    from video_contrast.runner.hub import commit, offline

    try:
        reached = commit(name, repo_type="dataset") is not None
    except hub.GatedRepoError as error:
        raise VideoContrastError(
            f"--dataset {name} is gated: accept its terms at https://huggingface.co/datasets/{name} and run "
            "`hf auth login`"
        ) from error
    except hub.RepositoryNotFoundError as error:
        raise VideoContrastError(
            f"--dataset {name}: no such folder here, and no such public data set on the Hub (private ones need "
            "`hf auth login`)"
        ) from error
    except hub.HfHubHTTPError as error:
        raise VideoContrastError(f"--dataset {name} cannot be fetched from the Hub: {error}") from error
    with nullcontext() if reached else offline():
        yield


def _configs(name: str, root: Path | None, split: str) -> list[str]:
    if root is not None and (root / "set.json").exists():
        record = read_json(root / "set.json")
        found = [config for config, entry in record["configs"].items() if split in entry["splits"]]
        if not found:
            splits = sorted({s for entry in record["configs"].values() for s in entry["splits"]})
            raise unknown_name(f"split of {name}", split, splits)
        return found
    import datasets

    try:
        return list(datasets.get_dataset_config_names(str(root) if root else name))
    except Exception as error:  # many classes, all of them "cannot be read": the message is the library's
        raise VideoContrastError(_why(name, error)) from error


def _rows(name: str, root: Path | None, config: str, split: str) -> list[dict[str, Any]]:
    files = sorted((root / config).glob(f"{split}-*-of-*.parquet")) if root and (root / "set.json").exists() else []
    if files:
        import pyarrow.parquet as pq

        return [row for file in files for row in pq.ParquetFile(file).read().to_pylist()]
    import datasets

    try:
        loaded = datasets.load_dataset(str(root) if root else name, config, split=split)
    except Exception as error:
        raise VideoContrastError(_why(f"{name} ({config}, {split})", error)) from error
    return [dict(row) for row in loaded]


def _why(name: str, error: Exception) -> str:
    hub = type(error).__name__ in ("ConnectionError", "OfflineModeIsEnabled", "LocalEntryNotFoundError")
    if hub or any(word in str(error) for word in ("offline", "Couldn't reach", "LocalEntryNotFoundError")):
        return (
            f"--dataset {name}: no such folder here, it is not in the cache, and there is no network (or "
            f"HF_HUB_OFFLINE is set); get it with `hf download {name} --repo-type dataset` or give a folder"
        )
    return f"--dataset {name} cannot be loaded: {error}"


def _grouped(config: str, rows: list[dict[str, Any]]) -> list[Group]:
    layout = layout_of(rows[0])
    found: dict[Condition, list[Item]] = {}
    for row in rows:
        own = from_recipe(row.get("video_perturbation"), row.get("text_perturbation")) or CLEAN
        found.setdefault(own, []).append(_item(row, layout))
    return [Group(config, layout, own, tuple(items)) for own, items in found.items()]


def _item(row: Mapping[str, Any], layout: Layout) -> Item:
    clip = Clip(row["video_id"], row["video_path"], row["start"], row["end"])
    if layout == "retrieval":
        return Item(row["id"], clip, tuple(row["captions"]), cluster=row["video_id"])
    return Item(
        row["id"], clip, tuple(row["candidates"]), row["label"], tuple(row["kinds"]), row["cluster"], row["replaced"]
    )
