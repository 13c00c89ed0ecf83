"""Verb contrasts by models (contrast-set paper, 3.2 and A.3): generators propose, constraints accept.

contrasts(captions, ids, generator="t5", siblings=...)   -> edits, counts
Pipeline(generator, constraints)                         the same in two steps; .run(...), .record()
"""

from collections.abc import Sequence
from typing import Any

from video_contrast.perturbations.contrast.constraints import constraint_names
from video_contrast.perturbations.contrast.edit import Edit
from video_contrast.perturbations.contrast.generators import GENERATORS
from video_contrast.perturbations.contrast.pipeline import Outcome, Pipeline, run_pipeline
from video_contrast.perturbations.contrast.target import VERB

__all__ = ["GENERATORS", "Edit", "Pipeline", "constraint_names", "contrasts"]


def contrasts(captions: Sequence[str], ids: Sequence[str], **arguments: Any) -> Outcome:  # each of its own type
    """Verb contrasts in one call: arguments as of `pipeline.run_pipeline`, results as of `Pipeline.run`."""
    return run_pipeline(VERB, captions, ids, **arguments)
