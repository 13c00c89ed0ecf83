"""The two human pages: people write contrasts, and people judge them; after the contrast-set paper's two forms."""

from video_contrast.reports.annotate.results import judged
from video_contrast.reports.annotate.tasks import Desk, PageItems, Task, Vote, Votes, problem_with, written_rows

__all__ = ["Desk", "PageItems", "Task", "Vote", "Votes", "judged", "problem_with", "written_rows"]
