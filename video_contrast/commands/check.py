"""`video-contrast check DATASET [--video-root R]`: are the tables valid, and are the videos there and readable?"""

from pathlib import Path
from typing import Annotated

from video_contrast.audit.check import MANIFEST, Checked, CheckOptions
from video_contrast.audit.check import check as check_set
from video_contrast.commands.command import command
from video_contrast.console import AsJson, counted, print_json, say
from video_contrast.errors import VideoContrastError
from video_contrast.files import write_json
from video_contrast.storage import SetFolder
from video_contrast.storage.run_notes import remark_lines

SHOWN = 10  # names printed of each kind; the manifest holds all


@command("check", "video-contrast check sets/shapes")
def check(
    dataset: Annotated[Path, "folder of the set, or a table"],
    *,
    options: CheckOptions,
    manifest: Annotated[Path | None, "where the manifest goes; default: manifest.json in the set"] = None,
    as_json: AsJson = False,
) -> None:
    """Validate a set's tables and videos; write a manifest with the sha256 of every video.

    Missing, unreadable, damaged and changed videos are named, and what a file cannot tell. Exit code 1 if anything is
    wrong.
    """
    result = check_set(dataset, progress=True, options=options)
    beside = dataset.with_suffix(f".{MANIFEST}") if dataset.is_file() else dataset / MANIFEST
    place = write_json(manifest or beside, result.manifest()) if result.looked else None
    if as_json:
        entry = {name: value for name, value in vars(result).items() if name not in ("videos", "short", "looked")}
        print_json(entry | {"readable": result.readable, "too_short": result.short, "manifest": place})
    else:
        _print(result, dataset, place)
    if not result.ok:
        counts = [
            (len(result.problems), f"{counted(len(result.problems), 'problem')} in the tables"),
            (len(result.missing), f"{counted(len(result.missing), 'video')} missing"),
            (len(result.unreadable), f"{len(result.unreadable)} unreadable"),
            (len(result.damaged), f"{len(result.damaged)} damaged"),
            (len(result.changed), f"{len(result.changed)} changed"),
            (len(result.short), f"{counted(len(result.short), 'clip')} beyond the end of the video"),
        ]
        raise VideoContrastError(f"{dataset}: " + ", ".join(text for n, text in counts if n))


def _print(result: Checked, folder: Path, manifest: Path | None) -> None:
    for config, splits in result.rows.items():
        say(f"{config}: " + ", ".join(f"{split} {counted(rows, 'row')}" for split, rows in splits.items()))
    for problem in result.problems:
        print(f"problem: {problem}")
    if manifest:
        say(f"videos: {result.readable} readable, manifest in {manifest}")
    elif result.rows:
        say(f"videos: none of them lies in {folder}; give --video-root to check them")
    _names("missing", result.missing)
    facts = SetFolder(folder).record.get("facts", {}) if SetFolder(folder).is_built else {}
    if facts.get("videos") and (result.missing or (result.rows and not result.looked)):
        say(f"the videos: {facts['videos']}")  # where the set's builder says that they come from
    _names("unreadable", list(map(": ".join, result.unreadable.items())))
    _names("damaged", list(map(": ".join, result.damaged.items())))
    _names("changed", [f"{path}: its sha256 is not the expected one" for path in result.changed])
    _names("too short", result.short)
    for line in remark_lines(result.remarks):
        say(line)


def _names(what: str, names: list[str]) -> None:
    for name in names[:SHOWN]:
        print(f"{what}: {name}")
    if len(names) > SHOWN:
        print(f"{what}: and {len(names) - SHOWN} more, see the manifest")
