"""Figures of a file of answers, the card of the judged set, and a set of the answers."""

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from video_contrast.console import counted
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import copy_file, resolve_under
from video_contrast.metrics.checks import Figures
from video_contrast.reports.annotate.tasks import UNCLEAR, PageTask, Vote, Votes, written_rows
from video_contrast.reports.layout import ends
from video_contrast.rows import MultipleChoiceRow, Row
from video_contrast.storage import SetDraft, SetFolder, open_set
from video_contrast.storage.set_draft import FileWriter


def judged(rows: Iterable[MultipleChoiceRow], votes: Mapping[str, Sequence[Vote]]) -> Figures:
    """The figures of a judged set; shares from 0 to 1.

    Raises VideoContrastError: no item was judged. `rows`: the rows that were shown. `votes`: item -> its answers that
    stand (`Votes.standing()`).
    """
    from video_contrast.metrics import agreement, majority_vote, share_interval

    items = _answered(rows, votes)
    every = [vote for row in items for vote in votes[str(row["id"])]]
    people = sorted({vote.annotator for vote in every})
    answers = {(vote.item, vote.annotator): vote.answer for vote in every}
    table = [[answers.get((str(row["id"]), name)) for name in people] for row in items]
    videos = [row["cluster"] for row in items]
    majority = majority_vote(table, [row["label"] for row in items], clusters=videos, interval=True)
    false = [  # people could not tell the contrast from the truth; a random option that they chose is a plain error
        choice in (None, UNCLEAR) or (choice != row["label"] and row["kinds"][choice] != "random")
        for row, choice in zip(items, majority["majority"], strict=True)
    ]
    wrong = share_interval(false, videos)
    agreements = agreement(table) if len(every) > len(items) else {}  # with one vote an item there is none
    return {
        "n_items": len(items),
        "n_votes": len(every),
        "n_people": len(people),
        "n_ties": majority["n_ties"],  # items without a majority
        "accuracy": majority["accuracy"],  # of the majority; a tie counts its share
        "low": majority["accuracy_low"],  # over videos; None below five
        "high": majority["accuracy_high"],
        "individual_accuracy": majority["individual_accuracy"],
        **{name: agreements.get(name) for name in ("pairwise", "fleiss_kappa", "krippendorff_alpha")},
        "seconds_median": sorted(vote.seconds for vote in every)[len(every) // 2],
        "not_clear": sum(vote.answer == UNCLEAR for vote in every) / len(every),  # of the votes
        # items whose negative cannot be told from the truth: a contrast or "not clear" won
        "false_negative_rate": wrong.estimate,
        "false_negative_rate_low": wrong.bounds[0],
        "false_negative_rate_high": wrong.bounds[1],
        "ceiling": 1 - wrong.estimate / 2,  # the accuracy that this leaves for pairs
    }


def _answered(rows: Iterable[MultipleChoiceRow], votes: Mapping[str, Sequence[Vote]]) -> list[MultipleChoiceRow]:
    with_votes = [row for row in rows if votes.get(str(row["id"]))]
    if not with_votes:
        raise VideoContrastError("no item has an answer yet")
    return with_votes


def result_of(folder: str | Path, votes: str | Path, *, config: str, split: str, task: PageTask) -> Figures:
    """Returns the figures of a file of answers; of written ones, how much people have written.

    Raises UsageError: no such file of answers; VideoContrastError: no item has an answer yet.
    """
    rows = open_set(folder).choice_rows(config, split)
    votes_of = _votes(votes, task).standing()
    if task == "judge":
        return judged(rows, votes_of)
    items = _answered(rows, votes_of)
    every = [vote for row in items for vote in votes_of[str(row["id"])]]
    people = {vote.annotator for vote in every}
    median = sorted(vote.seconds for vote in every)[len(every) // 2]
    return {"n_items": len(items), "n_answers": len(every), "n_people": len(people), "seconds_median": median}


def export_set(
    folder: str | Path, votes: str | Path, output: str | Path, *, config: str, split: str = "test", task: PageTask
) -> Path:
    """Writes a set from the answers: of the writing page `verb_human_mc`, of the judging page the items that people
    got right, under the config's own name. Clips that lie in the set's folder are copied.

    Raises UsageError: no such file of answers; VideoContrastError: no item is left.
    """
    from video_contrast.builders.registry import BuiltSet
    from video_contrast.builders.writing import write_set
    from video_contrast.metrics import majority_vote

    figures = result_of(folder, votes, config=config, split=split, task=task)
    rows, votes_of = open_set(folder).choice_rows(config, split), _votes(votes, task).standing()
    rows_left: list[Row]
    if task == "write":
        name, rows_left = "verb_human_mc", [*written_rows(rows, votes_of)]
        how = {"negatives": f"verb phrases rewritten by people, in the place of the contrast of {config}"}
    else:
        items = _answered(rows, votes_of)
        majority = majority_vote([[vote.answer for vote in votes_of[str(row["id"])]] for row in items])["majority"]
        right = [row for row, choice in zip(items, majority, strict=True) if choice == row["label"]]
        name, rows_left = config, [*right]
        who = "one judge" if _single(figures) else "the majority of judges"
        negatives = f"the items of {config} on which {who} chose the true caption"
        how = {"negatives": negatives, "checks": _sentence(figures)}
    if not rows_left:
        raise VideoContrastError("no item is left: on none did the judges choose the true caption")
    root = Path(folder)
    former = SetFolder(root).record.get("facts", {}) if SetFolder(root).is_built else {}
    present = sorted({r["video_path"] for r in rows_left if resolve_under(root, r["video_path"]).is_file()})
    files: dict[str, FileWriter] = {path: partial(copy_file, resolve_under(root, path)) for path in present}
    facts = {**former, "configs": {name: {**how, **figures}}}
    return write_set(BuiltSet(f"{task}_by_people", {name: {split: rows_left}}, facts, files), output)


def record_in_card(folder: str | Path, config: str, figures: Figures) -> None:
    """Puts figures of judges (`judged`) into a set's record and card: reports then show the human line."""
    from video_contrast.hub_cards import write_card

    draft = SetDraft(folder)
    facts = draft.record["configs"][config]["facts"]
    facts["human"] = dict(figures)
    facts["checks"] = _sentence(figures)
    write_card(draft.save())


def _votes(path: str | Path, task: PageTask) -> Votes:
    if not Path(path).is_file():
        raise UsageError(f"--votes {path}: no such file")
    return Votes(path, task)


def _single(figures: Figures) -> bool:
    """Whether every item has one answer: that is no majority."""
    return bool(figures["n_votes"] == figures["n_items"])


def _sentence(figures: Figures) -> str:
    alpha = figures["krippendorff_alpha"]
    agreement = "" if alpha is None else f", Krippendorff's alpha {alpha:.2f}"
    false = "false_negative_rate"
    interval = ends(figures[f"{false}_low"], figures[f"{false}_high"], " (95 % interval {:.1f} to {:.1f})")
    people = f"{figures['n_people']} {'person' if figures['n_people'] == 1 else 'people'}"
    vote = "single answers" if _single(figures) else "majority"
    return (
        f"{people} judged {counted(figures['n_items'], 'item')}: "
        f"{vote} right in {100 * figures['accuracy']:.1f} %{agreement}; negatives that cannot be told from the truth "
        f"{100 * figures[false]:.1f} %{interval}"
    )
