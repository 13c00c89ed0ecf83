"""Makes the shipped counts from captions of videos: MSR-VTT's training split and YouCook2's training split.

    python -m video_contrast.perturbations.contrast.generators.frames.distil DATA OUTPUT [--hold-out N] [--cache FILE]

DATA holds msrvtt/train_val_videodatainfo.json and youcook2/captioning_train.json. Nothing of a validation or test split
is read into the counts. Needs a parser; 140,000 captions take some 160 CPU-seconds. No caption is kept: only counts of
frames, pairs and word runs that several videos share.
"""

import argparse
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from video_contrast.errors import VideoContrastError
from video_contrast.files import read_json
from video_contrast.perturbations.contrast.generators.frames.counts import FrameCounts, count
from video_contrast.perturbations.contrast.generators.frames.kinds import distil_kinds
from video_contrast.perturbations.contrast.generators.frames.parse import SHALLOW, resolve
from video_contrast.perturbations.contrast.generators.frames.reading import Reading, read
from video_contrast.perturbations.contrast.generators.frames.resource import save

# Videos that an entry needs; rarer ones are slips, and nobody's sentence.
LEAST = {
    "class": 1,
    "related": 1,
    "words3": 4,
    "words2": 3,
    "words1": 3,
    "noun_pairs": 3,
    "verb_pairs": 2,
    "same_noun": 2,
    "tail": 2,
    "company": 2,
}
Videos = Sequence[tuple[str, Sequence[str]]]


def distil(videos: Videos, *, source: str, cache: str | os.PathLike[str] | None = None) -> FrameCounts:
    """Returns the counts of (category, captions) videos, rare entries still in.

    Args:
        videos: training videos only.
        source: what the counts say of where they come from.
        cache: as of `parse.parse`.

    Raises:
        VideoContrastError: no parser is installed; counts by tags alone are too coarse to ship.
    """
    if resolve() == SHALLOW:
        raise VideoContrastError("counts are made with a parser: python -m spacy download en_core_web_sm")
    return count(_readings(videos, cache), source=source)


def _readings(videos: Videos, cache: str | os.PathLike[str] | None) -> Iterator[tuple[str, Sequence[Reading]]]:
    for first in range(0, len(videos), 1000):
        part = videos[first : first + 1000]
        known = read([text for _, texts in part for text in texts], cache=cache)
        for category, texts in part:
            yield category, [known[text] for text in texts]


def msrvtt(folder: str | os.PathLike[str], split: str) -> list[tuple[str, str, list[str]]]:
    """(id, category, captions) of the videos of a split of MSR-VTT, in the order of their numbers."""
    name = "test_videodatainfo.json" if split == "test" else "train_val_videodatainfo.json"
    info = read_json(Path(folder) / "msrvtt" / name)
    categories = {video["video_id"]: str(video["category"]) for video in info["videos"] if video["split"] == split}
    captions: dict[str, list[str]] = {name: [] for name in categories}
    for sentence in info["sentences"]:
        if sentence["video_id"] in captions:
            captions[sentence["video_id"]].append(sentence["caption"])
    names = sorted(categories, key=lambda name: int(name.removeprefix("video")))
    return [(name, categories[name], captions[name]) for name in names]


def youcook2(folder: str | os.PathLike[str]) -> Videos:
    """The sentences of YouCook2's training videos: one video each, although their segments differ in time.

    A video has fewer captions of one moment than it has sentences, so each segment stands as its own clip; frames are
    counted over videos.
    """
    clips = read_json(Path(folder) / "youcook2" / "captioning_train.json")
    return [("youcook2", clips[name]["sentences"]) for name in sorted(clips)]


def _nouns(counts: FrameCounts) -> set[str]:
    """Every noun that the counts know."""
    words = {key.split("\t")[1] for table in ("unit", "place", "nouns", "adjective") for key in counts.tables[table]}
    words |= {key.split("\t")[0] for table in ("agent", "subject", "after") for key in counts.tables[table]}
    words |= {word for word in counts.tables["words1"] if word.isalpha()}
    return {noun for noun in words if noun and noun.replace(" ", "").isalpha()}


def main() -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", help="folder with msrvtt/ and youcook2/")
    parser.add_argument("output", help="the file of counts")
    parser.add_argument("--hold-out", type=int, default=0, help="leave out every N-th MSR-VTT video (for development)")
    parser.add_argument("--cache", help="SQLite file that keeps parses")
    options = parser.parse_args()
    skip = options.hold_out
    training = [video[1:] for n, video in enumerate(msrvtt(options.data, "train")) if not skip or n % skip]
    both = distil(training, source="MSR-VTT train", cache=options.cache)
    cooking = distil(youcook2(options.data), source="YouCook2 train", cache=options.cache)
    for name in ("verbs", "nouns", "verb_pairs", "noun_pairs", "same_noun"):
        cooking.tables[name] = {}  # its sentences follow each other in time: they say nothing of what is true at once
    counts = both.add(cooking).pruned(LEAST)
    counts.tables.update(distil_kinds(_nouns(counts)))
    path = save(counts, options.output)
    print(f"{path}: {counts.videos} videos, {counts.captions} captions, {path.stat().st_size / 1e6:.2f} MB")
    for name, table in counts.tables.items():
        print(f"  {name}: {len(table)}")


if __name__ == "__main__":
    main()
