"""Reports: from stored scores to a page that people read.

write_report(["runs/temporal"], "report.html")    one self-contained HTML file
"""

from typing import Any

__all__ = ["write_report"]


def write_report(*args: Any, **options: Any) -> Any:
    """See `video_contrast.reports.write.write_report`; imported at first use, since it needs numpy and pyarrow."""
    from video_contrast.reports.write import write_report as write

    return write(*args, **options)
