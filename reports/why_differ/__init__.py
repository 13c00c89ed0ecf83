"""Why two figures differ: two runs, a run and a log of another harness, or certificates, compared stage by stage.

sides.py   what is known of each side, read from a run, a log or a certificate; what both have in common
stages.py     set, frames, pixels, prompt, model, scores, reading, joining, figure, and what follows from what
tolerances.py by how much numbers of two machines may differ and still be equal
comparison.py all of it together, as the screen, JSON and the page show it; which share of the difference each explains
"""

from video_contrast.reports.why_differ.comparison import shares
from video_contrast.reports.why_differ.sides import certificate_side, pairs_of
from video_contrast.reports.why_differ.stages import compare, failed_stage, first_different

__all__ = ["certificate_side", "compare", "failed_stage", "first_different", "pairs_of", "shares"]
