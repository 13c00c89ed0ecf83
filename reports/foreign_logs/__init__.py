"""Logs of other harnesses: lmms-eval, VLMEvalKit, MTEB, inspect_ai; each read into the same `ForeignLog`.

`read_logs` tells the format from the content. A log with samples can be compared and X-rayed; MTEB writes means alone.
"""

from video_contrast.reports.foreign_logs.detect import is_foreign, read_logs
from video_contrast.reports.foreign_logs.log import ForeignLog, named_by_text

__all__ = ["ForeignLog", "is_foreign", "named_by_text", "read_logs"]
