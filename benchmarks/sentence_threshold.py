"""What sentence cosine the released language-model contrasts have under an encoder: (encoder, threshold) is one choice.

python benchmarks/sentence_threshold.py ENCODER     # a Hub id or folder; the variable RELEASED_SETS is needed
"""

import os
import sys
from pathlib import Path

import numpy as np

from video_contrast.builders.sources.released import read_released
from video_contrast.perturbations.contrast.candidate import Candidate, Original
from video_contrast.perturbations.contrast.constraints.sentence_cosine import SentenceCosine
from video_contrast.perturbations.contrast.phrases import Phrase

if __name__ == "__main__":
    items = read_released(Path(os.environ["RELEASED_SETS"]) / "msrvtt_lm_contrast_set.tsv")
    nowhere = Phrase(0, 0, "", "", (), 0)
    true = [Original(item.options[item.label], [], nowhere, frozenset()) for item in items]
    made = [Candidate(item.options[item.contrast()], "", 0) for item in items]
    verdicts = SentenceCosine(sentence_model=sys.argv[1]).check(true, made)
    cosines = np.array([verdict.score for verdict in verdicts])
    kept, limit = (cosines < 0.8).mean(), np.quantile(cosines, 0.95)
    print(f"{len(items):,} pairs; below 0.8: {kept:.1%}; 95 % are below {limit:.2f}")
