"""Draws changed captions to be read by a person: is the new text well-formed, and is every new word of the right sense?

    python benchmarks/readings.py CAPTIONS... [--count 50] [--seed 2026] [--names tense,reverse_neg]

CAPTIONS are files with one caption a line. Of each file and perturbation `--count` changed captions are drawn with a
fixed seed and printed under their originals; the share unchanged is that of the whole file.
"""

import random
from pathlib import Path

from parts.command_line import parser_of

from video_contrast.perturbations.text import perturb_captions, shift

NAMES = "active_to_passive,tense,reverse_neg,swap_syn_wordnet"


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("captions", type=Path, nargs="*", help="files with one caption a line")
    parser.add_argument("--count", type=int, default=50, help="of each file and perturbation [default: 50]")
    parser.add_argument("--seed", type=int, default=2026, help="of the draw [default: 2026]")
    parser.add_argument("--names", default=NAMES, help=f"perturbations [default: {NAMES}]")
    options = parser.parse_args()
    if not options.captions:
        print("left out: give CAPTIONS, files with one caption a line")
    for path in options.captions:
        captions = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        ids = [f"{n}" for n in range(len(captions))]
        for name in options.names.split(","):
            models = {name: "rules"} if name == "active_to_passive" else None
            changed = perturb_captions(captions, name, ids=ids, models=models)
            pairs = [(a, b) for a, b in zip(captions, changed, strict=True) if a != b]
            share = shift(captions, changed)["unchanged_share"]
            print(f"== {path.name} {name}: {len(captions)} captions, {100 * share:.1f} % unchanged")
            for before, after in random.Random(options.seed).sample(pairs, min(options.count, len(pairs))):
                print(f"{before}\n    {after}")


if __name__ == "__main__":
    main()
