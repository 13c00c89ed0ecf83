"""What frozen towers say, computed once: a frozen tower runs once a clip or caption, however long the training is."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from tqdm import tqdm

from video_contrast.files import write_json
from video_contrast.seeds import digest
from video_contrast.teacher.feed import Part, Tokenizer
from video_contrast.teacher.pairs import Pairs
from video_contrast.teacher.store import is_whole, write_array

CLIPS, CAPTIONS = 16, 256  # in one forward pass


def with_outputs(
    pairs: Pairs, part: Part, tokens: Tokenizer, path: Path, model: str, *, progress: bool = True
) -> tuple[Part, dict[str, int]]:
    """The part with the stored outputs of every frozen tower, computed in float32 on first use.

    Args:
        pairs: the model, with its frozen towers.
        part: clips and captions.
        tokens: captions and a device to the text tower's arguments.
        path: where the files begin: `PATH-vision-KEY.npy`, `PATH-text-KEY.npy`.
        model: digest of the model's weights.
        progress: show bars.

    Returns:
        The part, and how many clips and captions were encoded now (0 of what was stored).
    """
    counts = {"clips": 0, "captions": 0}
    pairs.eval()
    device = pairs.device
    if "vision" in pairs.frozen:
        clips = sorted(set(part.clips))

        def videos(numbers: Sequence[int]) -> torch.Tensor:
            return pairs.video_tower(part.store.pixels([clips[n] for n in numbers], device))

        key = digest("vision", model, part.store.key, *clips).hex()
        file = path.with_name(f"{path.name}-vision-{key[:12]}.npy")
        bar = tqdm(_ranges(len(clips), CLIPS), desc="frozen vision", disable=not progress)
        outputs, counts["clips"] = _stored(file, key, videos, count=len(clips), batches=bar)
        at = {clip: n for n, clip in enumerate(clips)}
        part = replace(part, videos=(outputs, at))
    if "text" in pairs.frozen:
        texts = list(dict.fromkeys(text for row in part.rows for text in (row["caption"], *row["negatives"])))

        def words(numbers: Sequence[int]) -> torch.Tensor:
            return pairs.text_tower(tokens([texts[n] for n in numbers], device))

        key = digest("text", model, *texts).hex()
        file = path.with_name(f"{path.name}-text-{key[:12]}.npy")
        bar = tqdm(_ranges(len(texts), CAPTIONS), desc="frozen text", disable=not progress)
        outputs, counts["captions"] = _stored(file, key, words, count=len(texts), batches=bar)
        part = replace(part, texts=(outputs, {text: n for n, text in enumerate(texts)}))
    return part, counts


def _ranges(count: int, size: int) -> list[range]:
    return [range(begin, min(begin + size, count)) for begin in range(0, count, size)]


@torch.no_grad()  # type: ignore[untyped-decorator]  # torch is not followed
def _stored(
    file: Path, key: str, run: Callable[[Sequence[int]], torch.Tensor], *, count: int, batches: Iterable[range]
) -> tuple[np.ndarray, int]:
    """The outputs of `run` on consecutive batches, computed on first use; and how many were computed now."""
    if is_whole(file, key):
        return np.load(file, mmap_mode="r"), 0
    parts = ((slice(part.start, part.stop), run(part).float().cpu().numpy()) for part in batches)
    write_array(file, count, parts)
    write_json(file.with_suffix(".json"), {"key": key, "outputs": count})
    return np.load(file, mmap_mode="r"), count
