"""Built sets in the formats of other evaluation tools, each a function of an `Export` that returns the files it wrote.

lmms_eval     a task folder for lmms-eval: one YAML a config, its functions, the data
vlmevalkit    one TSV a config for VLMEvalKit's video multiple choice
inspect_ai    a file of tasks for `inspect eval`, with the samples of each
mteb          a file of task classes for `mteb.evaluate`: multiple choice, and retrieval both ways
"""

from video_contrast.reports.exports.inspect_ai import inspect_ai
from video_contrast.reports.exports.lmms_eval import lmms_eval
from video_contrast.reports.exports.mteb import mteb
from video_contrast.reports.exports.tables import Export
from video_contrast.reports.exports.vlmevalkit import vlmevalkit

__all__ = ["FORMATS", "Export", "inspect_ai", "lmms_eval", "mteb", "vlmevalkit"]

FORMATS = {"lmms-eval": lmms_eval, "vlmevalkit": vlmevalkit, "inspect-ai": inspect_ai, "mteb": mteb}
