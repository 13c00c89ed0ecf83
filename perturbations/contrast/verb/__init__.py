"""Verb contrasts (contrast-set paper, 3.2 and A.3): generators propose, constraints accept.

contrasts(captions, ids, siblings=..., train_captions=...)   -> edits, counts
VerbPipeline(generator, constraints, counts=...)             the same in two steps; .run(...), .record()
count(captions)                                              the verbs of a training corpus
"""

from video_contrast.perturbations.contrast.verb.counts import VerbCounts, count
from video_contrast.perturbations.contrast.verb.pipeline import VerbPipeline, contrasts
from video_contrast.perturbations.contrast.verb.settings import GENERATORS, Settings, constraint_names

__all__ = ["GENERATORS", "Settings", "VerbCounts", "VerbPipeline", "constraint_names", "contrasts", "count"]
