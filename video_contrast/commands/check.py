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
    checked = check_set(dataset, progress=True, options=options)
    beside = dataset.with_suffix(f".{MANIFEST}") if dataset.is_file() else dataset / MANIFEST
    place = write_json(manifest or beside, checked.manifest()) if checked.looked else None
    if as_json:
        shown = {name: value for name, value in vars(checked).items() if name not in ("videos", "short", "looked")}
        print_json(shown | {"readable": checked.readable, "too_short": checked.short, "manifest": place})
    else:
        _print(checked, dataset, place)
    if not checked.ok:
        counts = [
            (len(checked.problems), f"{counted(len(checked.problems), 'problem')} in the tables"),
            (len(checked.missing), f"{counted(len(checked.missing), 'video')} missing"),
            (len(checked.unreadable), f"{len(checked.unreadable)} unreadable"),
            (len(checked.damaged), f"{len(checked.damaged)} damaged"),
            (len(checked.changed), f"{len(checked.changed)} changed"),
            (len(checked.short), f"{counted(len(checked.short), 'clip')} beyond the end of the video"),
        ]
        raise VideoContrastError(f"{dataset}: " + ", ".join(text for n, text in counts if n))


def _print(checked: Checked, folder: Path, manifest: Path | None) -> None:
    for config, splits in checked.rows.items():
        say(f"{config}: " + ", ".join(f"{split} {counted(rows, 'row')}" for split, rows in splits.items()))
    for problem in checked.problems:
        print(f"problem: {problem}")
    if manifest:
        say(f"videos: {checked.readable} readable, manifest in {manifest}")
    elif checked.rows:
        say(f"videos: none of them lies in {folder}; give --video-root to check them")
    _names("missing", checked.missing)
    facts = SetFolder(folder).record.get("facts", {}) if SetFolder(folder).is_built else {}
    if facts.get("videos") and (checked.missing or (checked.rows and not checked.looked)):
        say(f"the videos: {facts['videos']}")  # where the set's builder says that they come from
    _names("unreadable", list(map(": ".join, checked.unreadable.items())))
    _names("damaged", list(map(": ".join, checked.damaged.items())))
    _names("changed", [f"{path}: its sha256 is not the expected one" for path in checked.changed])
    _names("too short", checked.short)
    for line in remark_lines(checked.remarks):
        say(line)


def _names(what: str, names: list[str]) -> None:
    for name in names[:SHOWN]:
        print(f"{what}: {name}")
    if len(names) > SHOWN:
        print(f"{what}: and {len(names) - SHOWN} more, see the manifest")
