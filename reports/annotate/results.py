"""From a file of answers to figures, to the card of the judged set, and to a set of its own."""

import shutil
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import resolve_under
from video_contrast.hub_cards import write_card
from video_contrast.reports.annotate.judging import judged, valid_items
from video_contrast.reports.annotate.votes import Votes
from video_contrast.reports.annotate.writing import written_rows
from video_contrast.storage import SetDraft, SetFolder, open_set

Task = Literal["judge", "write"]


def result_of(folder: str | Path, votes: str | Path, *, config: str, split: str, task: Task) -> dict[str, Any]:
    """What the answers say: `judged(...)`, or for the writing page the number of items, answers, people and seconds.

    Raises:
        UsageError: no such file of answers.
        VideoContrastError: no item has an answer yet.
    """
    rows = open_set(folder).choice_rows(config, split)
    done = _votes(votes, task).done()
    if task == "judge":
        return judged(rows, done)
    every = [vote for row in rows for vote in done.get(str(row["id"]), ())]
    if not every:
        raise VideoContrastError("no item has an answer yet")
    return {
        "n_items": sum(str(row["id"]) in done for row in rows),
        "n_answers": len(every),
        "n_people": len({vote.annotator for vote in every}),
        "seconds_median": sorted(vote.seconds for vote in every)[len(every) // 2],
    }


def export_set(
    folder: str | Path, votes: str | Path, output: str | Path, *, config: str, split: str = "test", task: Task
) -> Path:
    """Writes a set from the answers: of the writing page `verb_human_mc`, of the judging page the items that people
    got right, under the config's own name. Clips that lie in the set's folder come along.
    """
    from video_contrast.builders.registry import BuiltSet
    from video_contrast.builders.writing import write_set

    root = Path(folder)
    rows = open_set(root).choice_rows(config, split)
    done = _votes(votes, task).done()
    if task == "write":
        name, made = "verb_human_mc", written_rows(rows, done)
        how = {"negatives": f"verb phrases rewritten by people, in the place of the contrast of {config}"}
    else:
        name, made = config, [dict(row) for row in valid_items(rows, done)]
        how = {"negatives": f"the items of {config} on which the majority of judges chose the true caption"}
        how["checks"] = _said(judged(rows, done))
    if not made:
        raise VideoContrastError("no item is left: on none did the majority choose the true caption")
    former = SetFolder(root).record.get("facts", {}) if SetFolder(root).is_built else {}
    facts = {**former, "configs": {name: {**how, **result_of(root, votes, config=config, split=split, task=task)}}}
    present = sorted({r["video_path"] for r in made if resolve_under(root, r["video_path"]).is_file()})
    files: dict[str, Callable[[Any], None]] = {path: partial(_copied, resolve_under(root, path)) for path in present}
    return write_set(BuiltSet(f"{task}_by_people", {name: {split: made}}, facts, files), output)


def record_in_card(folder: str | Path, config: str, found: Mapping[str, Any]) -> None:
    """Puts the figures of judges into a set's record, and renders its card again: reports then show the human line."""
    draft = SetDraft(folder)
    facts = draft.record["configs"][config]["facts"]
    facts["human"] = dict(found)
    facts["checks"] = _said(found)
    write_card(draft.save())


def _copied(source: Path, target: Any) -> None:
    shutil.copyfile(source, target)


def _votes(path: str | Path, task: Task) -> Votes:
    if not Path(path).is_file():
        raise UsageError(f"--votes {path}: no such file")
    return Votes(path, task)


def _said(found: Mapping[str, Any]) -> str:
    alpha = found.get("krippendorff_alpha")
    agreed = "" if alpha is None else f", Krippendorff's alpha {alpha:.2f}"
    return (
        f"{found['n_people']} people judged {found['n_items']} items: majority right in {100 * found['accuracy']:.1f} %"
        f"{agreed}; negatives that cannot be told from the truth {100 * found['false_negative_rate']:.1f} % "
        f"(95 % Wilson interval {100 * found['false_negative_rate_low']:.1f} to "
        f"{100 * found['false_negative_rate_high']:.1f})"
    )
