"""Negatives that others made may be true of the clip: they are kept with the judge's numbers, counted and told."""

from collections.abc import Sequence
from dataclasses import replace

from video_contrast.builders.assembly.sharding import is_writer
from video_contrast.console import note
from video_contrast.perturbations.contrast import Edit
from video_contrast.perturbations.contrast.given_edits import judged_edits

COUNT = "may_be_true"
DOUBTFUL = 0.5  # an edit of less falsity may be true


def judged(captions: Sequence[str], edits: Sequence[Edit]) -> tuple[list[Edit], list[bool]]:
    """The edits with what the judge says of them in their scores, and whether each may be true with its caption.

    `captions`: the true captions. `edits`: one a caption; those that do not replace a verb by a verb or a thing by a
    thing stay as they are.
    """
    scores = judged_edits(captions, edits)
    scored = [replace(edit, scores={**edit.scores, **own}) for edit, own in zip(edits, scores, strict=True)]
    return scored, [own.get("falsity", 1.0) < DOUBTFUL for own in scores]


def warn(config: str, count: int, total: int) -> None:
    """Says how many negatives may be true."""
    if count and is_writer():
        note(
            f"warning: {config}: {count:,} of {total:,} negatives may be true of the clip as well, by the judge of "
            f"contrasts (falsity below {DOUBTFUL} in their scores)"
        )
