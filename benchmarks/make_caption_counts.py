"""Makes the counts that the package ships: captions of MSR-VTT's training split and of YouCook2's.

    python benchmarks/make_caption_counts.py DATA OUTPUT [--hold-out N] [--cache parses.sqlite] [--processes N]

DATA holds msrvtt/train_val_videodatainfo.json and youcook2/captioning_train.json. Nothing of a validation or test split
is read. No caption is kept: only what several videos say. `--hold-out N` leaves out every N-th training video: the
votes that the judge is trained on are of these.
"""

from pathlib import Path

from parts.measuring import parser_of

from video_contrast.files import read_json
from video_contrast.perturbations.contrast.caption_counts import CaptionCounts, count
from video_contrast.perturbations.english import iterate


def msrvtt(folder: str | Path, split: str) -> dict[str, list[str]]:
    """The captions of the videos of a split ("train", "validate", "test"), in the order of their numbers."""
    name = "test_videodatainfo.json" if split == "test" else "train_val_videodatainfo.json"
    info = read_json(Path(folder) / name)
    names = [video["video_id"] for video in info["videos"] if video["split"] == split]
    captions: dict[str, list[str]] = {name: [] for name in sorted(names, key=lambda name: int(name[5:]))}
    for sentence in info["sentences"]:
        if sentence["video_id"] in captions:
            captions[sentence["video_id"]].append(sentence["caption"])
    return captions


def youcook2(folder: str | Path, split: str) -> dict[str, list[str]]:
    """The steps of each video of a split ("train", "val")."""
    clips = read_json(Path(folder) / f"captioning_{split}.json")
    return {name: [text.strip() for text in clips[name]["sentences"] if text.strip()] for name in sorted(clips)}


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument("data", type=Path, help="folder with msrvtt/ and youcook2/")
    parser.add_argument("output", help="the file of counts")
    parser.add_argument("--hold-out", type=int, default=0, help="leave out every N-th video")
    parser.add_argument("--cache", help="SQLite file that keeps parses")
    parser.add_argument("--processes", type=int, default=1)
    options = parser.parse_args()
    data, total = options.data, CaptionCounts()
    read = {"MSR-VTT train": msrvtt(data / "msrvtt", "train"), "YouCook2 train": youcook2(data / "youcook2", "train")}
    for source, videos in read.items():
        counted = [texts for n, texts in enumerate(videos.values()) if not options.hold_out or n % options.hold_out]
        every = [text for texts in counted for text in texts]
        sentences = iterate(every, num_proc=options.processes, cache=options.cache)
        total += count(([next(sentences) for _ in texts] for texts in counted), source=source)
    total = total.pruned()
    path = total.save(options.output)
    print(f"{path}: {total.videos} videos, {total.captions} captions, {path.stat().st_size / 1e6:.2f} MB")
    for name, table in total.tables.items():
        print(f"  {name}: {len(table)}")


if __name__ == "__main__":
    main()
