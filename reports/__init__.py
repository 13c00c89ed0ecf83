"""Reports: from stored scores to a page that people read.

    write_report(["runs/temporal"], "report.html")    one self-contained HTML file

write.py, page.*    the page; runs.py    the runs that it is about, and what they got right
summary.py, robustness.py, behaviour.py, sets.py    its sections; finding.py    its first sentence; gallery.py    its
failures; layout.py, figures.py    tables and plots
compare.py, foreign_logs/    two runs on the same items, and logs of other harnesses
table_lines.py, table_formats.py    tables of results, as text, markdown and LaTeX
xray_input.py, xray_page.py    X-rays of sets: what is read, and their page
reproduce.py, human_and_published.py, paper_analyses.py, published/    the papers' tables and analyses
annotate/, exports/    pages for people; sets in the formats of other tools
"""

from typing import Any

__all__ = ["write_report"]


def write_report(*args: Any, **options: Any) -> Any:  # the types are those of the function it calls
    """See `video_contrast.reports.write.write_report`; imported at first use, since it needs numpy and pyarrow."""
    from video_contrast.reports.write import write_report as write

    return write(*args, **options)
