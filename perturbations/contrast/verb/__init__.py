"""Verb contrasts (contrast-set paper, 3.2 and A.3): generators propose, constraints accept.

contrasts(captions, ids, siblings=..., train_captions=...)   -> edits, counts
VerbPipeline(generator, constraints, counts=...)             the same in two steps; .run(...), .record()
count(captions)                                              the verbs of a training corpus
"""

from collections.abc import Iterable

from video_contrast.perturbations.contrast.verb.counts import WordCounts, count_words
from video_contrast.perturbations.contrast.verb.pipeline import VerbPipeline, contrasts
from video_contrast.perturbations.contrast.verb.settings import GENERATORS, Settings, constraint_names
from video_contrast.perturbations.contrast.verb.target import VERB

__all__ = ["GENERATORS", "Settings", "VerbPipeline", "WordCounts", "constraint_names", "contrasts", "count"]


def count(captions: Iterable[str], *, tagger: str = "auto", num_proc: int = 1) -> WordCounts:
    """Counts the verbs of training captions: what `frequency` and `lexical` read.

    >>> counts = count(["a man is running", "two dogs run on grass", "a man has a hat"], tagger="hanta")
    >>> counts.uses["run"], counts.uses["have"], counts.limit
    (2, 0, 2.0)
    """
    return count_words(captions, VERB, tagger=tagger, num_proc=num_proc)
