"""The material of a training: rows, frames, captions with negatives and similarities, outputs of frozen towers."""

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np
import torch
from tqdm import tqdm

from video_contrast.console import counted
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.hub import set_of_hub
from video_contrast.launcher import alone
from video_contrast.rows import RetrievalRow
from video_contrast.runner.kinds.loading import Tokens
from video_contrast.runner.processes import Processes
from video_contrast.seeds import digest
from video_contrast.storage import SetFolder
from video_contrast.teacher.batches import Key, Part, StoredFrames, Tokenizer, TrainingData, open_store, write_array
from video_contrast.teacher.negative_recipe import ClipRows, NegativeRecipe
from video_contrast.teacher.negatives import corpus_of, negatives, with_similarities
from video_contrast.teacher.options import DataOptions, TeachOptions
from video_contrast.teacher.two_towers import LoadedCheckpoint, Pairs


@dataclass(frozen=True)
class SplitRows:
    """The rows to learn from, and to stop by."""

    train: ClipRows
    validation: ClipRows
    root: Path  # the folder that their video paths are relative to
    groups: list[str] | None = None  # of each training row (`batches`); None where captions meet at random

    def named(self) -> tuple[tuple[str, ClipRows], ...]:
        """Both with the names that files and counts have."""
        return ("train", self.train), ("validation", self.validation)


def read_splits(dataset: str | Path, options: DataOptions) -> SplitRows:
    """Reads the rows to learn from and to stop by; without a validation split a tenth of the clips is set aside.

    Raises UsageError, VideoContrastError: there is no such set, config or split.
    """
    config, split, validation = options.config, options.split, options.validation
    root, name = Path(dataset), str(dataset)
    on_hub = not root.exists() and name.count("/") == 1 and not name.startswith((".", "~"))
    if on_hub and options.video_root is None:
        raise UsageError(f"--dataset {dataset}: a set of the Hub holds no videos; give --video-root FOLDER")
    if not on_hub and not root.is_dir():
        raise VideoContrastError(f"--dataset {dataset}: no set there; make one with `video-contrast build`")
    if on_hub:
        tables = _of_hub(name, config)
    else:  # only the splits that are asked for are read
        folder = SetFolder.open(root)
        names, both = folder.splits(config), (split, validation)
        tables = {name: folder.retrieval_rows(config, name) if name in both else [] for name in names}
    if split not in tables:
        only = f"only {', '.join(tables)} (--split names one)"
        raise UsageError(f"--dataset {dataset}: config {config!r} has no split {split!r}, {only}")
    rows = tables[split]
    if validation in tables:
        return SplitRows(rows, tables[validation], options.video_root or SetFolder(root).video_root)
    videos = {row["video_id"] for row in rows}
    if not (aside := _set_aside(videos)):
        raise UsageError(
            f"--dataset {dataset}: {counted(len(rows), 'clip')} of {counted(len(videos), 'video')}: to set a tenth "
            f"of a set aside for validation takes two videos; add a split {validation!r} to it"
        )
    own_rows = [row for row in rows if row["video_id"] in aside]
    train = [row for row in rows if row["video_id"] not in aside]
    return SplitRows(train, own_rows, options.video_root or SetFolder(root).video_root)


def _set_aside(videos: set[str]) -> set[str]:
    """About a tenth of the videos, drawn by their names: a video that is added moves no other; empty for one video."""
    digests = {name: digest("teach validation", name) for name in videos}
    aside = {name for name in videos if digests[name][0] < 26}
    if aside and aside != videos:
        return aside
    in_order = sorted(videos, key=lambda name: digests[name])
    return set(in_order[: math.ceil(len(videos) / 10)]) if len(videos) > 1 else set()


def _of_hub(name: str, config: str) -> dict[str, list[RetrievalRow]]:
    import datasets

    with set_of_hub(name, "--dataset"):
        tables = datasets.load_dataset(name, config)
    if any("captions" not in columns for columns in tables.column_names.values()):
        raise UsageError(f"{name}: {config} is not a retrieval config")
    return {split: table.to_list() for split, table in tables.items()}


UNREAD_SHOWN = 5  # clips left out that are named on the screen


def prepare(
    here: Processes,
    checkpoint: LoadedCheckpoint,
    rows: SplitRows,
    *,
    request: TeachOptions,
    recipe: NegativeRecipe,
    frames: int,
    say: Callable[[str], None] | None = print,
) -> TrainingData:
    """Stores frames first, so that no negative is made (or paid for) of a clip that cannot be read; then the captions.

    `here`: the first process makes what is stored, the others read it. `say`: told what takes long, which then shows
    bars; None: nothing is shown.
    """
    folder, progress = request.store or request.output / "store", say is not None
    say = say or (lambda _: None)
    pairs = Pairs(checkpoint.net.to(here.device), request.freeze)
    tokens = Tokens(checkpoint.processor.tokenizer, pairs.model.config)
    images = getattr(checkpoint.processor, "image_processor", None) or checkpoint.processor.video_processor

    def store_of(name: str, clips: ClipRows) -> StoredFrames:
        return open_store(
            folder / f"frames-{name}", clips, rows.root, images, frames=frames,
            accept_damaged=request.accept_damaged, progress=progress,
        )  # fmt: skip

    stores: dict[str, StoredFrames] = {}
    unread: dict[str, str] = {}
    for name, clips in rows.named():
        stores[name] = here.after_first(partial(store_of, name, clips))
        unread |= {clips[number]["id"]: reason for number, reason in stores[name].missing.items()}
    if unread:
        say(f"{counted(len(unread), 'clip')} left out, could not be read (all are named in result.json):")
        for clip, reason in list(unread.items())[:UNREAD_SHOWN]:
            say(f"  {clip}: {reason}")
    rows_read = [row for row in rows.train if row["id"] not in unread]
    documents, corpus = [row["captions"] for row in rows_read], corpus_of(rows_read)

    def part_of(name: str, clips: ClipRows) -> tuple[Part, dict[str, int], dict[str, int]]:
        """The part, its counts of negatives, and what was encoded now."""
        readable = [row for row in clips if row["id"] not in unread]
        with alone():  # generators deal their work out to all processes, of which the others wait or read
            captions, of_negatives = negatives(readable, recipe, folder / f"negatives-{name}", corpus=corpus, say=say)
        path = folder / f"similarities-{name}"
        taught = with_similarities(captions, request.teacher, path, documents=documents, say=say)
        number = {row["id"]: n for n, row in enumerate(clips)}
        numbers = [number[row["id"]] for row in taught]  # of the captions' clips in the store
        for row, clip in zip(taught, numbers, strict=True):
            row["video_id"] = clips[clip]["video_id"]
        groups = [rows.groups[clip] for clip in numbers] if name == "train" and rows.groups else None
        part = Part(stores[name], numbers, taught, groups=groups)
        path = folder / f"frozen-{name}"
        part, now = with_outputs(pairs, part, tokens, path, model=checkpoint.revision, progress=progress)
        return part, of_negatives, now

    parts: dict[str, Part] = {}
    counts: dict[str, dict[str, int]] = {}
    n_encoded = Counter({"clips": 0, "captions": 0})
    for name, clips in rows.named():
        parts[name], counts[name], now = here.after_first(partial(part_of, name, clips))
        n_encoded.update(now)
    return TrainingData(parts["train"], parts["validation"], tokens, counts, unread, dict(n_encoded))


CLIPS, CAPTIONS = 16, 256  # in one forward pass


def with_outputs(
    pairs: Pairs, part: Part, tokens: Tokenizer, path: Path, model: str, *, progress: bool = True
) -> tuple[Part, dict[str, int]]:
    """The part with the stored outputs of every frozen tower, computed in float32 on first use.

    Returns the part, and how many clips and captions were encoded now (0 of what was stored). `path`: where the files
    begin: `PATH-vision-KEY.npy`, `PATH-text-KEY.npy`.
    """
    counts = {"clips": 0, "captions": 0}
    pairs.eval()
    store, device = part.store, pairs.device
    if "vision" in pairs.frozen:
        clips = sorted(set(part.clips))
        outputs, counts["clips"] = _stored(
            path, "vision", digest("vision", model, store.key, *clips).hex(), clips,
            size=CLIPS, run=lambda part_clips: pairs.video_tower(store.pixels(part_clips, device)), progress=progress,
        )  # fmt: skip
        part = replace(part, videos=(outputs, {clip: n for n, clip in enumerate(clips)}))
    if "text" in pairs.frozen:
        texts = list(dict.fromkeys(text for row in part.rows for text in (row["caption"], *row["negatives"])))
        outputs, counts["captions"] = _stored(
            path, "text", digest("text", model, *texts).hex(), texts,
            size=CAPTIONS, run=lambda part_texts: pairs.text_tower(tokens(part_texts, device)), progress=progress,
        )  # fmt: skip
        part = replace(part, texts=(outputs, {text: n for n, text in enumerate(texts)}))
    return part, counts


@torch.no_grad()  # type: ignore[untyped-decorator]  # torch is not followed
def _stored(
    path: Path, side: str, key: str, inputs: Sequence[Key],
    *, size: int, run: Callable[[Sequence[Key]], torch.Tensor], progress: bool,
) -> tuple[np.ndarray, int]:  # fmt: skip
    """The outputs of `run` on `size` inputs at a time, computed on first use; and how many were computed now."""
    file, count = path.with_name(f"{path.name}-{side}-{key[:12]}.npy"), len(inputs)
    n_computed = 0 if file.exists() else count
    if n_computed:
        places = [slice(first, first + size) for first in range(0, count, size)]
        bar = tqdm(places, desc=f"frozen {side}", disable=not progress)
        write_array(file, count, ((place, run(inputs[place]).float().cpu().numpy()) for place in bar))
    return np.load(file, mmap_mode="r"), n_computed
