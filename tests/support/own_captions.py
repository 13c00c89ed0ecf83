"""Captions of our own, and the files in which the owners of data sets publish theirs: for tests that run anywhere."""

import csv
import json
import re
from pathlib import Path

LM = "msrvtt_lm_contrast_set.tsv"
_DATA = Path(__file__).parent.parent / "data"
# An item a clip: what four people might say of it. The first 20 clips are those of MSR-VTT's training split, the next
# 20 of validation, the others of test.
CAPTIONS = [line.split("|") for line in (_DATA / "captions.txt").read_text(encoding="utf-8").splitlines()]
SPLITS = ["train"] * 20 + ["validate"] * 20 + ["test"] * 50


def write_msrvtt(folder: Path) -> Path:
    """MSR-VTT's annotations, the lists of its splits, and a released contrast set (here, "is" became "is not")."""
    videos = [
        {"category": 0, "url": f"https://www.youtube.com/watch?v=aaaaaa{n // 2:05d}", "video_id": f"video{n}",
         "start time": 10.0 * n, "end time": 10.0 * n + 8, "split": split, "id": n}
        for n, split in enumerate(SPLITS)
    ]  # fmt: skip
    for name, splits in (("test", {"test"}), ("train_val", {"train", "validate"})):
        kept = [video for video in videos if video["split"] in splits]
        sentences = [
            {"caption": caption, "video_id": video["video_id"], "sen_id": 4 * int(str(video["id"])) + k}
            for video in kept
            for k, caption in enumerate(CAPTIONS[int(str(video["id"]))])
        ]
        content = {"info": {"year": "2016"}, "videos": kept, "sentences": sentences}
        (folder / f"{name}_videodatainfo.json").write_text(json.dumps(content), encoding="utf-8")
    test = [n for n, split in enumerate(SPLITS) if split == "test"]
    in_both = "".join(f"video{n}\n" for n in [0, 1, *test[:15]])
    (folder / "MSRVTT_train.9k.csv").write_text(f"video_id\n{in_both}", encoding="utf-8")
    _write(folder / "MSRVTT_JSFUSION_test.csv", ["key", "vid_key", "video_id", "sentence"],
           [[f"ret{k}", f"msr{n}", f"video{n}", CAPTIONS[n][0]] for k, n in enumerate(test[:40])])  # fmt: skip
    rows = []
    for n in test:
        others = [CAPTIONS[(n + k) % len(CAPTIONS)][0] for k in (7, 19, 31)]
        candidates = [re.sub(" (is|are) ", r" \1 not ", CAPTIONS[n][0]), *others]
        candidates.insert(n % 5, CAPTIONS[n][0])
        rows.append([f"video{n}", *candidates, str(n % 5)])
    _write(folder / LM, ["clip", *(f"ending{k}" for k in range(5)), "label"], rows, delimiter="\t")
    return folder


def write_youcook2_list(path: Path, videos: int = 6, steps: int = 5) -> Path:
    """YouCook2's list of validation segments: steps of one video, one after the other."""
    rows = [
        [str(20 * step + 15), str(20 * step), "101", CAPTIONS[steps * video + step][0], f"cook{video}"]
        for video in range(videos)
        for step in range(steps)
    ]
    return _write(path, ["end", "start", "task", "text", "video_id"], rows)


def _write(path: Path, header: list[str], rows: list[list[str]], delimiter: str = ",") -> Path:
    with path.open("w", encoding="utf-8", newline="") as handle:
        csv.writer(handle, delimiter=delimiter).writerows([header, *rows])
    return path
