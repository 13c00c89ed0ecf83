"""Verb contrasts (contrast-set paper, 3.2 and A.3): generators propose, constraints accept.

contrasts(captions, ids, siblings=..., train_captions=...)   -> edits, counts
Pipeline(generator, constraints, counts=...)                 the same in two steps; .run(...), .record()
count(captions)                                              the verbs of a training corpus
"""

from collections.abc import Iterable, Sequence
from typing import Any

from video_contrast.perturbations.contrast.constraints import constraint_names
from video_contrast.perturbations.contrast.counts import WordCounts, count_words
from video_contrast.perturbations.contrast.edit import Edit
from video_contrast.perturbations.contrast.generators import GENERATORS
from video_contrast.perturbations.contrast.pipeline import Outcome, Pipeline, run_pipeline
from video_contrast.perturbations.contrast.target import VERB

__all__ = ["GENERATORS", "Edit", "Pipeline", "WordCounts", "constraint_names", "contrasts", "count"]


def count(captions: Iterable[str], *, tagger: str = "auto", num_proc: int = 1) -> WordCounts:
    """Counts the verbs of training captions: what `frequency` and `lexical` read.

    Args:
        captions: the training captions; read once.
        tagger: see `language.tag`.
        num_proc: processes that share the tagging.

    >>> counts = count(["a man is running", "two dogs run on grass", "a man has a hat"], tagger="hanta")
    >>> counts.uses["run"], counts.uses["have"], counts.limit
    (2, 0, 2.0)
    """
    return count_words(captions, VERB, tagger=tagger, num_proc=num_proc)


def contrasts(captions: Sequence[str], ids: Sequence[str], **arguments: Any) -> Outcome:  # each of its own type
    """Verb contrasts in one call: arguments as of `pipeline.run_pipeline`, results as of `Pipeline.run`.

    >>> train = ["a man is singing", "a man is dancing", "a man is eating"] * 3
    >>> edits, counts = contrasts(["a woman is walking"], ["1"], train_captions=train,
    ...                           siblings=[["she walks"]], tagger="hanta")
    >>> edits[0].old, edits[0].text != "a woman is walking", counts["edited"]
    ('walking', True, 1)
    """
    return run_pipeline(VERB, captions, ids, **arguments)
