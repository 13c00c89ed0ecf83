"""The facts that a reader of a run's figures has to know: missing clips, its self-test, what was left out."""

from collections.abc import Collection, Mapping

from video_contrast.console import counted
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import Json
from video_contrast.storage.certificates import certified_lines
from video_contrast.storage.run_file_fields import RunRecord

WITH_ITS_GROUP = "left out with its group"  # of an edited clip: the reason is another clip's
UNSEEN = "unseen at this sampling"  # how the reasons begin of edits that too few frames are sampled to show
_FILES = 5  # that are named, of those with something wrong


class TooManyMissing(VideoContrastError):
    """More clips are missing than was allowed."""

    exit_code = 3


def check_share(share: float | None) -> None:
    """Checks the value of `--max-missing`. Raises UsageError: it is no share from 0 to below 1."""
    if share is not None and not 0 <= share < 1:
        raise UsageError(f"--max-missing must be a share from 0 to below 1, not {share:g}")


def more_missing_than(share: float, record: RunRecord) -> bool:
    """Whether more than a share of a run's clips is missing; any is, where the record does not say of how many."""
    return record.get("n_missing", 0) > share * record.get("n_clips", 0)


def missing_clips(record: RunRecord) -> str:
    """The missing clips of a run in words: "3 of 7 clips"."""
    of_all = f"{record['n_missing']:,} of " if "n_clips" in record else ""
    return of_all + counted(record.get("n_clips", record["n_missing"]), "clip")


def are_missing(record: RunRecord) -> str:
    """The count of missing clips as the beginning of a sentence: "3 of 7 clips are missing"."""
    return f"{missing_clips(record)} {'is' if record['n_missing'] == 1 else 'are'} missing"


def remark_lines(remarks: Mapping[str, Collection[str]]) -> list[str]:
    """A line for each thing that should be known of videos (remark -> paths), with how many they are."""
    return [
        f"{counted(len(paths), 'video')} ({min(paths)}{', ...' * (len(paths) > 1)}): {remark}"
        for remark, paths in remarks.items()
    ]


def first_reason(record: RunRecord) -> tuple[str, str] | None:
    """The first missing clip with a reason of its own, and that reason; videos come before edits that are unseen."""
    reasons = [(clip, why.removeprefix(f"{clip}: ")) for clip, why in record.get("missing", {}).items()]
    own = [(clip, why) for clip, why in reasons if why != WITH_ITS_GROUP] or reasons
    return min(own, key=lambda reason: reason[1].startswith(UNSEEN), default=None)


def self_test_lines(record: RunRecord) -> list[str]:
    """Failed and doubtful checks, and a model that is blind to the order of frames; [] for runs without a self-test."""
    test: Json = record.get("self_test", {})
    if test.get("left_out"):
        return ["self-test: left out (--accept all)"]
    lines = []
    for verdict in test.get("verdicts", ()):
        if verdict["state"] in ("fail", "doubt"):
            remark = " (accepted)" if verdict["check"] in test["accepted"] else ""
            lines.append(f"self-test: {verdict['state']}{remark}: {verdict['check']}: {verdict['says']}")
        elif verdict["check"] == "reversal" and verdict["says"].startswith("order-blind"):
            says = f"{verdict['says']}, so contrasts that need the order of frames (rises, falls) can only be guessed"
            lines.append(f"self-test: {says}")
    return lines


def remarks(record: RunRecord) -> list[str]:
    """The parts of a run that were left out, halved or missing; nothing where all went as asked."""
    lines = [f"left out: {name}: {why}" for name, why in record.get("skipped", {}).items()]
    lines += [f"note: {note}" for note in record.get("notes", ())]
    lines += self_test_lines(record) + certified_lines(record)
    if n_unseen := record.get("n_unseen"):
        lines.append(f"{counted(n_unseen, 'edited clip')} left out: too few frames are sampled to show the edit")
    if record.get("n_missing"):
        lines.append(f"{missing_clips(record)} missing; every figure is over the clips that all conditions have:")
        lines += _files(record["missing"])
    if record.get("damaged"):
        lines.append(f"{counted(len(record['damaged']), 'damaged video')} scored all the same (--accept-damaged):")
        lines += _files(record["damaged"])
    return lines + remark_lines(record.get("remarks", {}))


def _files(reasons: Mapping[str, str]) -> list[str]:
    """A line a file with what is wrong with it, the first few; a reason that names the file does so once."""
    lines = [f"  {path}: {why.removeprefix(f'{path}: ')}" for path, why in list(reasons.items())[:_FILES]]
    return lines + ([f"  and {len(reasons) - _FILES} more (run.json)"] if len(reasons) > _FILES else [])
