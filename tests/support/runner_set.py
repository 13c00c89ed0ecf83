"""A small set of real mp4 clips for tests of the runner: coloured noise that moves, with captions about it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from video_contrast import seeds
from video_contrast.builders.registry import BuiltSet
from video_contrast.builders.writing import write_set
from video_contrast.rows import multiple_choice_row, retrieval_row
from video_contrast.video import write_video

WORDS = ("red", "green", "blue", "grey", "dark", "light", "warm")


def clip(number: int, n_frames: int = 12, size: int = 48) -> np.ndarray:
    """uint8[T, size, size, 3]: a bright bar that crosses a coloured, textured field."""
    rng = seeds.stream("runner test clip", number)
    field = rng.integers(0, 160, (size // 8, size // 8, 3)).repeat(8, 0).repeat(8, 1).astype(np.uint8)
    frames = np.repeat(field[None], n_frames, 0)
    for t in range(n_frames):
        at = (t * size) // n_frames
        frames[t, :, at : at + 6] = 230
    return frames


def write(folder: Path, n_clips: int = 7, n_frames: int | Sequence[int] = 12, *, longest: str = "") -> Path:
    """A set with the configs `verb_mc`, `random_mc` and `retrieval` of the same clips.

    Args:
        folder: is made.
        n_clips: how many clips.
        n_frames: of a clip, eight a second; of several numbers the clips have one after the other.
        longest: a false caption of the first clip.
    """
    lengths = [n_frames] if isinstance(n_frames, int) else n_frames
    choice, random, search = [], [], []
    for n in range(n_clips):
        path = f"clips/{n:02d}.mp4"
        write_video(folder / path, clip(n, lengths[n % len(lengths)]), 8)
        word = WORDS[n % len(WORDS)]
        true = f"a {word} bar number {n} moves to the right"
        wrong = (longest if n == 0 else "") or f"a {word} bar number {n} stays in the middle"
        others = [f"a bar number {(n + k) % n_clips} is {WORDS[(n + k) % len(WORDS)]}" for k in (1, 2)]
        where = {"video_id": f"video{n}", "video_path": path, "cluster": f"source{n // 2}"}
        label = n % 3
        options = [(others[0], "random"), (wrong, "verb_lexical")]
        options.insert(label, (true, "true"))
        choice.append(
            multiple_choice_row(
                id=f"verb{n}", candidates=[c for c, _ in options], kinds=[k for _, k in options], label=label,
                replaced=others[1], start=0.0 if n == 0 else None, end=1.0 if n == 0 else None, **where,
            )
        )  # fmt: skip
        random.append(
            multiple_choice_row(
                id=f"random{n}", candidates=[true, *others], kinds=["true", "random", "random"], label=0, **where
            )
        )
        where.pop("cluster")
        search.append(retrieval_row(id=f"clip{n}", captions=[true, f"{word} and moving, {n}"][: 1 + n % 2], **where))
    made = {"verb_mc": {"test": choice}, "random_mc": {"test": random}, "retrieval": {"test": search}}
    return write_set(BuiltSet("captions", made, {"summary": "clips made for a test"}), folder)
