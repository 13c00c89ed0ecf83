"""What frozen towers say, computed once: a frozen tower runs once a clip or caption, however long the training is."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from tqdm import tqdm

from video_contrast.files import write_json
from video_contrast.seeds import digest
from video_contrast.teacher.batches import Key, Part, Tokenizer
from video_contrast.teacher.stored_frames import is_whole, write_array
from video_contrast.teacher.two_towers import Pairs

CLIPS, CAPTIONS = 16, 256  # in one forward pass


def with_outputs(
    pairs: Pairs, part: Part, tokens: Tokenizer, path: Path, model: str, *, progress: bool = True
) -> tuple[Part, dict[str, int]]:
    """The part with the stored outputs of every frozen tower, computed in float32 on first use.

    Returns the part, and how many clips and captions were encoded now (0 of what was stored).

    Args:
        pairs: the model, with its frozen towers.
        tokens: captions and a device to the text tower's arguments.
        path: where the files begin: `PATH-vision-KEY.npy`, `PATH-text-KEY.npy`.
    """
    counts = {"clips": 0, "captions": 0}
    pairs.eval()
    store, device = part.store, pairs.device
    if "vision" in pairs.frozen:
        clips = sorted(set(part.clips))
        outputs, counts["clips"] = _stored(
            path, "vision", digest("vision", model, store.key, *clips).hex(), clips,
            size=CLIPS, run=lambda some: pairs.video_tower(store.pixels(some, device)), progress=progress,
        )  # fmt: skip
        part = replace(part, videos=(outputs, {clip: n for n, clip in enumerate(clips)}))
    if "text" in pairs.frozen:
        texts = list(dict.fromkeys(text for row in part.rows for text in (row["caption"], *row["negatives"])))
        outputs, counts["captions"] = _stored(
            path, "text", digest("text", model, *texts).hex(), texts,
            size=CAPTIONS, run=lambda some: pairs.text_tower(tokens(some, device)), progress=progress,
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
    if is_whole(file, key):
        return np.load(file, mmap_mode="r"), 0
    places = [slice(first, first + size) for first in range(0, count, size)]
    bar = tqdm(places, desc=f"frozen {side}", disable=not progress)
    write_array(file, count, ((place, run(inputs[place]).float().cpu().numpy()) for place in bar))
    write_json(file.with_suffix(".json"), {"key": key, "outputs": count})
    return np.load(file, mmap_mode="r"), count
