"""`video-contrast perturb text`: one caption a line in, one a line out."""

import sys
from pathlib import Path
from typing import Annotated, Literal

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.options import Seed

EXAMPLE = "echo 'a little girl does gymnastics' | video-contrast perturb text --name keyboard"
_LINES = 10_000  # captions that are in memory at a time


def text(
    *,
    name: Annotated[str, "one of `video-contrast list perturbations`, without 'text:'"],
    profile: Annotated[Literal["paper", "released"], "correct English, or with the released slips"] = "paper",
    seed: Seed = 0,
    ids: Annotated[
        Path | None, "item ids, one a line; else the line numbers, from 0. Equal ids give what `map` gives"
    ] = None,
    model: Annotated[
        list[str] | None, "checkpoint (Hub name or folder) in place of the named one; repeat where it needs two"
    ] = None,
) -> None:
    """Perturb captions: one a line from standard input, one a line to standard output."""
    import warnings

    from video_contrast.perturbations.text import perturb_captions

    captions = _lines(sys.stdin.buffer.read(), "standard input")
    names: list[str] = [str(line) for line in range(len(captions))]
    if ids is not None:
        try:
            names = _lines(ids.read_bytes(), str(ids))
        except OSError as error:
            raise VideoContrastError(f"cannot read --ids {ids}: {error.strerror or error}") from error
        if len(names) != len(captions):
            raise UsageError(f"--ids {ids} has {len(names)} lines, but {len(captions)} captions came in")
    models = {name: tuple(model)} if model else None
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.showwarning = _note  # type: ignore[assignment]
        # An unknown name or profile is an error even where no caption comes in.
        perturb_captions([], name, ids=[], seed=seed, profile=profile, models=models)
        for first in range(0, len(captions), _LINES):
            part = slice(first, first + _LINES)
            done = perturb_captions(captions[part], name, ids=names[part], seed=seed, profile=profile, models=models)
            sys.stdout.buffer.write("".join(caption + "\n" for caption in done).encode())
            sys.stdout.buffer.flush()


def _lines(content: bytes, where: str) -> list[str]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise VideoContrastError(f"{where} is not UTF-8 text in line {line}: convert it first") from error
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def _note(message: object, *_: object) -> None:
    print(f"note: {message}", file=sys.stderr)
