"""Why two figures differ: two runs, a run and a log of another harness, or certificates, compared stage by stage.

evidence.py   what is known of each side, read from a run, a log or a certificate; what both have in common
inputs.py     the stages set, frames, pixels, prompt
stages.py     the stages model, scores, reading, joining, figure; all of them in order, and what follows from what
comparison.py all of it together, as the screen, JSON and the page show it
shares.py     which share of the difference each stage explains, by exchanging stages
"""

from video_contrast.reports.why_differ.evidence import Side, StageResult, certificate_side, pairs_of
from video_contrast.reports.why_differ.shares import Share, shares
from video_contrast.reports.why_differ.stages import compare, failed_stage, first_different

__all__ = [
    "Share",
    "Side",
    "StageResult",
    "certificate_side",
    "compare",
    "failed_stage",
    "first_different",
    "pairs_of",
    "shares",
]
