"""What sentence cosine the released language-model contrasts have under an encoder: (encoder, threshold) is one choice.

python benchmarks/sentence_threshold.py ENCODER     # RELEASED_SETS is the folder of the released sets
"""

import os
from pathlib import Path

import numpy as np
from parts.command_line import parser_of

from video_contrast.builders.sources.released import read_released
from video_contrast.perturbations.contrast.candidate import Candidate, Original
from video_contrast.perturbations.contrast.constraints.sentence_cosine import SentenceCosine
from video_contrast.perturbations.contrast.phrases import Phrase


def main() -> None:
    """Prints the share of the released pairs below .8, and the cosine that 95 % are below."""
    parser = parser_of(__doc__)
    parser.add_argument("encoder", nargs="?", help="a Hub id or folder")
    encoder = parser.parse_args().encoder
    if "RELEASED_SETS" not in os.environ or encoder is None:
        print("left out: give ENCODER, a Hub id or folder, and set RELEASED_SETS to the folder of the released sets")
        return
    items = read_released(Path(os.environ["RELEASED_SETS"]) / "msrvtt_lm_contrast_set.tsv")
    nowhere = Phrase(0, 0, "", "", (), 0)
    true = [Original(item.candidates[item.label], [], nowhere, frozenset()) for item in items]
    negatives = [Candidate(item.candidates[item.contrast()], "", 0) for item in items]
    verdicts = SentenceCosine(sentence_model=encoder).check(true, negatives)
    cosines = np.array([verdict.score for verdict in verdicts])
    below, limit = (cosines < 0.8).mean(), np.quantile(cosines, 0.95)
    print(f"{len(items):,} pairs; below 0.8: {below:.1%}; 95 % are below {limit:.2f}")


if __name__ == "__main__":
    main()
