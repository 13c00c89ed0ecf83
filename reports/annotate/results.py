"""From a file of answers to figures, to the card of the judged set, and to a set of its own."""

from functools import partial
from pathlib import Path
from typing import TypedDict

from video_contrast.console import counted
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import copy_file, resolve_under
from video_contrast.hub_cards import write_card
from video_contrast.reports.annotate.judging import JudgedFigures, judged, valid_items
from video_contrast.reports.annotate.votes import Task, Votes
from video_contrast.reports.annotate.writing import written_rows
from video_contrast.rows import Row
from video_contrast.storage import SetDraft, SetFolder, open_set
from video_contrast.storage.set_draft import FileWriter


class WritingFigures(TypedDict):
    """How much people have written."""

    n_items: int
    n_answers: int
    n_people: int
    seconds_median: float


def result_of(
    folder: str | Path, votes: str | Path, *, config: str, split: str, task: Task
) -> JudgedFigures | WritingFigures:
    """Returns the figures of a file of answers.

    Raises UsageError: no such file of answers; VideoContrastError: no item has an answer yet.
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
    got right, under the config's own name. Clips that lie in the set's folder are copied.

    Raises UsageError: no such file of answers; VideoContrastError: no item is left.
    """
    from video_contrast.builders.registry import BuiltSet
    from video_contrast.builders.writing import write_set

    root = Path(folder)
    rows = open_set(root).choice_rows(config, split)
    done = _votes(votes, task).done()
    rows_left: list[Row]
    if task == "write":
        name, rows_left = "verb_human_mc", [*written_rows(rows, done)]
        how = {"negatives": f"verb phrases rewritten by people, in the place of the contrast of {config}"}
    else:
        name, rows_left = config, [*valid_items(rows, done)]
        who = "one judge" if _single(judged(rows, done)) else "the majority of judges"
        how = {"negatives": f"the items of {config} on which {who} chose the true caption"}
        how["checks"] = _sentence(judged(rows, done))
    if not rows_left:
        raise VideoContrastError("no item is left: on none did the judges choose the true caption")
    former = SetFolder(root).record.get("facts", {}) if SetFolder(root).is_built else {}
    facts = {**former, "configs": {name: {**how, **result_of(root, votes, config=config, split=split, task=task)}}}
    present = sorted({r["video_path"] for r in rows_left if resolve_under(root, r["video_path"]).is_file()})
    files: dict[str, FileWriter] = {path: partial(copy_file, resolve_under(root, path)) for path in present}
    return write_set(BuiltSet(f"{task}_by_people", {name: {split: rows_left}}, facts, files), output)


def record_in_card(folder: str | Path, config: str, figures: JudgedFigures) -> None:
    """Puts the figures of judges into a set's record, and renders its card again: reports then show the human line.

    `figures`: of `judged`.
    """
    draft = SetDraft(folder)
    facts = draft.record["configs"][config]["facts"]
    facts["human"] = dict(figures)
    facts["checks"] = _sentence(figures)
    write_card(draft.save())


def _votes(path: str | Path, task: Task) -> Votes:
    if not Path(path).is_file():
        raise UsageError(f"--votes {path}: no such file")
    return Votes(path, task)


def _single(figures: JudgedFigures) -> bool:
    """Whether every item has one answer: that is no majority."""
    return figures["n_votes"] == figures["n_items"]


def _sentence(figures: JudgedFigures) -> str:
    alpha = figures["krippendorff_alpha"]
    agreed = "" if alpha is None else f", Krippendorff's alpha {alpha:.2f}"
    low, high = figures["false_negative_rate_low"], figures["false_negative_rate_high"]
    interval = "" if low is None or high is None else f" (95 % interval {100 * low:.1f} to {100 * high:.1f})"
    people = f"{figures['n_people']} {'person' if figures['n_people'] == 1 else 'people'}"
    vote = "single answers" if _single(figures) else "majority"
    return (
        f"{people} judged {counted(figures['n_items'], 'item')}: "
        f"{vote} right in {100 * figures['accuracy']:.1f} %{agreed}; negatives that cannot be told from the truth "
        f"{100 * figures['false_negative_rate']:.1f} %{interval}"
    )
