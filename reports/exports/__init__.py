"""Built sets in the formats of other evaluation tools.

lmms_eval(folder, output)     a task folder for lmms-eval: one YAML a config, its functions, the data
vlmevalkit(folder, output)    one TSV a config for VLMEvalKit's video multiple choice
"""

from video_contrast.reports.exports.lmms_eval import lmms_eval
from video_contrast.reports.exports.vlmevalkit import vlmevalkit

__all__ = ["lmms_eval", "vlmevalkit"]
