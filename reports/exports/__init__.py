"""Built sets in the formats of other evaluation tools.

lmms_eval(folder, output)     a task folder for lmms-eval: one YAML a config, its functions, the data
vlmevalkit(folder, output)    one TSV a config for VLMEvalKit's video multiple choice
inspect_ai(folder, output)    a file of tasks for `inspect eval`, with the samples of each
mteb(folder, output)          a file of task classes for `mteb.evaluate`: multiple choice, and retrieval both ways
"""

from video_contrast.reports.exports.inspect_ai import inspect_ai
from video_contrast.reports.exports.lmms_eval import lmms_eval
from video_contrast.reports.exports.mteb import mteb
from video_contrast.reports.exports.vlmevalkit import vlmevalkit

__all__ = ["inspect_ai", "lmms_eval", "mteb", "vlmevalkit"]
