"""The two human pages: people write contrasts, and people judge them; after the contrast-set paper's two forms.

serve("judge", "sets/shapes", "votes.jsonl", config="verb_mc")    a local page until it is stopped
judged(rows, votes) / written(rows, votes)                        what the answers say
"""

from dataclasses import dataclass

from video_contrast.options import Config, Seed, Split, VideoRoot
from video_contrast.reports.annotate.results import judged
from video_contrast.reports.annotate.tasks import Desk, Task
from video_contrast.reports.annotate.votes import Vote, Votes
from video_contrast.reports.annotate.writing import problem_with, written_rows

__all__ = ["Desk", "PageItems", "Task", "Vote", "Votes", "judged", "problem_with", "written_rows"]


@dataclass(frozen=True, kw_only=True)
class PageItems:
    """Which items of a set a page shows, in which order: options that the commands and the Space of a page share."""

    config: Config = "verb_mc"
    split: Split = "test"
    video_root: VideoRoot = None
    seed: Seed = 0
