"""What scoring edited clips costs beside scoring their source clips: frames encoded and frames decoded, by kind.

    python benchmarks/clip_edits.py                              100 clips of the shapes world, five partners each
    python benchmarks/clip_edits.py --clips TABLE --video-root DIR       your own

Each kind is built and scored alone, in a store of its own, by the packaged bag of frames (which looks at frames one by
one) with 8 frames a clip; then the kinds whose edits reuse frames together, and all kinds. The source clips are scored
as they are, for comparison. Two minutes.
"""

from __future__ import annotations

import csv
import os
import tempfile
from collections.abc import Sequence
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

from parts.command_line import parser_of

import video_contrast
from video_contrast.builders.clip_edits.kinds import MODULES

REUSING = ("order", "count", "reversal", "place", "needle")


def shapes_clips(root: Path, clips: int) -> Path:
    """Draws clips of the shapes world and writes the table of their captions."""
    video_contrast.build("shapes", ["retrieval"], output=root, items=1, gallery=clips)
    rows = video_contrast.open_set(root).retrieval_rows("retrieval", "test")
    with (root / "clips.csv").open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([("video", "caption"), *((row["video_path"], row["captions"][0]) for row in rows)])
    return root / "clips.csv"


def cost(dataset: Path, configs: Sequence[str], root: Path, store: Path) -> tuple[int, int, int]:
    """Scores configs of a set in an empty store: edited clips, frames encoded, frames decoded."""
    run = video_contrast.score(
        "bag-of-frames", dataset, list(configs), video_root=root, store=store, frames=8, accept="all", progress=False
    )
    counters = run.record["counters"]
    clips = counters["visual_encodings_in_all"]
    return clips, counters.get("frame_encodings", 8 * clips), counters["frames_decoded"]


def main() -> None:
    """Prints a line a kind."""
    parser = parser_of(__doc__)
    parser.add_argument("--clips", type=Path, help="a table of videos and captions")
    parser.add_argument("--video-root", type=Path, help="where its videos lie")
    parser.add_argument("--video-column", help="its column of videos, where it is not called so")
    parser.add_argument("--partners", type=int, default=5, help="of each clip [default: 5]")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        table = arguments.clips or shapes_clips(place / "world", 100)
        root = arguments.video_root or place / "world"
        columns = {"video_column": arguments.video_column} if arguments.video_column else {}
        sources = video_contrast.build("captions", ["retrieval"], output=place / "sources", captions=table, **columns)
        edits = video_contrast.build(
            "clip_edits",
            output=place / "edits",
            captions=table,
            video_root=root,
            partners=arguments.partners,
            **columns,
        )
        built = [kind for kind in MODULES if kind in video_contrast.open_set(edits).configs]
        clips, encoded, decoded = cost(sources, ["retrieval"], root, place / "store")
        print(f"{'':34} {'clips':>6} {'encoded':>8} {'ratio':>6} {'decoded':>8} {'ratio':>6}")
        print(f"{'source clips':34} {clips:6} {encoded:8} {1:6.2f} {decoded:8} {1:6.2f}", flush=True)
        together = [kind for kind in REUSING if kind in built]
        for number, kinds in enumerate([*([kind] for kind in built), together, built]):
            n_edited, frames, read = cost(edits, kinds, root, place / f"store-{number}")
            words = "all kinds" if kinds == built else ", ".join(kinds)
            print(
                f"{words:34} {n_edited:6} {frames:8} {frames / encoded:6.2f} {read:8} {read / decoded:6.2f}", flush=True
            )


if __name__ == "__main__":
    main()
