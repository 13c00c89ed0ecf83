"""Analyses of the contrast-set paper on stored sets and scores; no model runs, except a sentence encoder on request.

stored_hits          which items a run got right
rarity               table 4: rare names
semantic_proximity   table 5: accuracy by the similarity of caption and contrast
verb_distribution    figure 3: the verbs of two sets
judges               accuracy and agreement of people
"""

from video_contrast.reports.paper_analyses.judges import judges
from video_contrast.reports.paper_analyses.rarity import count_names, rare_ids
from video_contrast.reports.paper_analyses.semantic_proximity import cosines, proximity, sentence_encoder
from video_contrast.reports.paper_analyses.stored_hits import contrasts_of, read_hits
from video_contrast.reports.paper_analyses.verb_distribution import compare_verbs, plot_verbs, verb_counts

__all__ = [
    "compare_verbs",
    "contrasts_of",
    "cosines",
    "count_names",
    "judges",
    "plot_verbs",
    "proximity",
    "rare_ids",
    "read_hits",
    "sentence_encoder",
    "verb_counts",
]
