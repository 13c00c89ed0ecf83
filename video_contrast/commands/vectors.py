"""`video-contrast vectors shrink FILE --output FILE`: the verbs of a file of word vectors."""

from pathlib import Path
from typing import Annotated

from video_contrast.commands.command import command, group
from video_contrast.console import say

EXAMPLE = "video-contrast vectors shrink counter-fitted-vectors.txt --output verbs.npz"

group("vectors", "Word vectors for the verb constraint `word_vectors`.", EXAMPLE)


@command("vectors shrink", EXAMPLE)
def shrink(
    source: Annotated[Path, "vectors in text format: a word and its numbers a line"],
    *,
    output: Annotated[Path, "file to write; its name ends in .npz"],
) -> None:
    """Keep the vectors of English verbs as float16: 3 MB of the 76,427 counter-fitted vectors."""
    from video_contrast.perturbations.contrast.constraints.word_cosine import shrink as keep_verbs

    total, verbs = keep_verbs(source, output)
    say(f"{output}: {verbs} verbs of {total} words")
