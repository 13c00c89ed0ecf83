"""Captions a CPU-second of every text perturbation that needs no checkpoint, with a random stream a caption.

    python benchmarks/text_perturbations.py [--captions FILE] [--rounds N]

FILE holds one caption a line; without it, sentences made here are used. They are parsed once, before the clock starts
(their own speed is printed first). The rounds of all perturbations are interleaved and the median is printed, so a
busy machine slows all of them alike. WordNet swaps are left out where NLTK has no WordNet.
"""

import platform
import statistics
import time
from functools import partial
from pathlib import Path

from parts.measuring import in_turn, parser_of

from video_contrast.errors import VideoContrastError
from video_contrast.perturbations.english import PARSER, parse
from video_contrast.perturbations.registry import TEXT
from video_contrast.perturbations.text import names, perturb_captions, shift
from video_contrast.seeds import Streams

SUBJECTS = ("a man", "two young women", "a little girl", "the old dog", "a group of people", "someone in a red shirt")
DOINGS = ("is singing a song", "runs through the field", "are playing football", "opens a wooden door", "is cooking")
PLACES = ("", "in a kitchen", "on a big stage in front of a crowd", "near the river while his friend is watching")
TARGETS = {"ChangeChar": 60_000, "DropText": 50_000}


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("--captions", type=Path, help="one a line")
    parser.add_argument("--rounds", type=int, default=7, help="whose median is printed [default: 7]")
    options = parser.parse_args()
    if options.captions is not None:
        captions = [line for line in options.captions.read_text(encoding="utf-8").splitlines() if line.strip()]
    else:
        captions = 25 * [f"{who} {what} {where}".strip() for who in SUBJECTS for what in DOINGS for where in PLACES]
    ids = [f"clip{n}" for n in range(len(captions))]

    started = time.process_time()
    sentences = parse(captions)
    unique = len(set(captions))
    print(f"{platform.processor() or platform.machine()}, Python {platform.python_version()}")
    print(f"{len(captions)} captions, {unique} different; parser {PARSER}")
    print(
        f"parsing: {unique / (time.process_time() - started):,.0f} captions a CPU-second, once a caption (with loading)"
    )

    def run(name: str) -> list[str]:
        return perturb_captions(captions, name, ids=ids, sentences=sentences)

    free = [name for name in names() if not TEXT[name].batched]
    unchanged = {}
    for name in list(free):
        try:
            unchanged[name] = shift(captions, run(name))["unchanged_share"]  # also fills caches
        except VideoContrastError as error:
            free.remove(name)
            print(f"left out: {name} ({error})")

    def draw_streams() -> None:
        at = Streams().at
        for identifier in ids:
            at(0, "keyboard", "1", identifier, 0)

    calls = {name: partial(run, name) for name in free} | {"a stream a caption": draw_streams}
    spent = in_turn(calls, options.rounds)
    print("\n| perturbation | category | captions a CPU-second | aim | unchanged |\n|---|---|---|---|---|")
    for name, seconds in spent.items():
        speed = len(captions) / statistics.median(seconds)
        category = TEXT[name].category if name in TEXT else ""
        aim = f"{TARGETS[category]:,}" if category in TARGETS else ""
        share = f"{unchanged[name]:.1%}" if name in unchanged else ""
        print(f"| {name} | {category} | {speed:,.0f} | {aim} | {share} |")


if __name__ == "__main__":
    main()
