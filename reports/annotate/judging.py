"""What judges' answers say: the human line, how far people agree, and how many negatives are true after all."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypedDict

from video_contrast.errors import VideoContrastError
from video_contrast.reports.annotate.votes import UNCLEAR, Vote
from video_contrast.rows import MultipleChoiceRow


class JudgedFigures(TypedDict):
    """The figures of a judged set; shares from 0 to 1."""

    n_items: int
    n_votes: int
    n_people: int
    n_ties: int  # items without a majority
    accuracy: float  # of the majority; a tie counts its share
    low: float | None  # over videos; None below five
    high: float | None
    individual_accuracy: float
    pairwise: float | None  # agreement; None with one vote an item
    fleiss_kappa: float | None
    krippendorff_alpha: float | None
    seconds_median: float
    not_clear: float  # of the votes
    false_negative_rate: float  # items whose negative cannot be told from the truth: a contrast or "not clear" won
    false_negative_rate_low: float | None
    false_negative_rate_high: float | None
    ceiling: float  # the accuracy that it leaves for pairs (1 - rate / 2)


def judged(rows: Iterable[MultipleChoiceRow], votes: Mapping[str, Sequence[Vote]]) -> JudgedFigures:
    """The figures of a judged set.

    Args:
        rows: the rows that were shown.
        votes: item -> its answers that stand (`Votes.done()`).

    Raises:
        VideoContrastError: no item was judged.
    """
    from video_contrast.metrics import agreement, majority_vote, share_interval

    shown = [row for row in rows if votes.get(str(row["id"]))]
    if not shown:
        raise VideoContrastError("no item has an answer yet")
    people = sorted({vote.annotator for row in shown for vote in votes[str(row["id"])]})
    table = [
        [next((v.answer for v in votes[str(row["id"])] if v.annotator == name), None) for name in people]
        for row in shown
    ]
    videos = [row["cluster"] for row in shown]
    majority = majority_vote(table, [row["label"] for row in shown], clusters=videos, interval=True)
    false = [_is_false_negative(row, choice) for row, choice in zip(shown, majority["majority"], strict=True)]
    wrong = share_interval(false, videos)
    every = [vote for row in shown for vote in votes[str(row["id"])]]
    several = any(len(votes[str(row["id"])]) > 1 for row in shown)
    agreed = agreement(table) if several else {}
    wrong_low, wrong_high = wrong.bounds
    return {
        "n_items": len(shown),
        "n_votes": len(every),
        "n_people": len(people),
        "n_ties": majority["n_ties"],
        "accuracy": majority["accuracy"],
        "low": majority["accuracy_low"],
        "high": majority["accuracy_high"],
        "individual_accuracy": majority["individual_accuracy"],
        "pairwise": agreed.get("pairwise"),
        "fleiss_kappa": agreed.get("fleiss_kappa"),
        "krippendorff_alpha": agreed.get("krippendorff_alpha"),
        "seconds_median": sorted(vote.seconds for vote in every)[len(every) // 2],
        "not_clear": sum(vote.answer == UNCLEAR for vote in every) / len(every),
        "false_negative_rate": wrong.estimate,
        "false_negative_rate_low": wrong_low,
        "false_negative_rate_high": wrong_high,
        "ceiling": 1 - wrong.estimate / 2,
    }


def valid_items(rows: Iterable[MultipleChoiceRow], votes: Mapping[str, Sequence[Vote]]) -> list[MultipleChoiceRow]:
    """The judged rows whose majority chose the true caption: the part of a set that people vouch for."""
    from video_contrast.metrics.majority import majority_vote

    shown = [row for row in rows if votes.get(str(row["id"]))]
    if not shown:
        raise VideoContrastError("no item has an answer yet")
    majority = majority_vote([[vote.answer for vote in votes[str(row["id"])]] for row in shown])["majority"]
    return [row for row, choice in zip(shown, majority, strict=True) if choice == row["label"]]


def _is_false_negative(row: MultipleChoiceRow, choice: Any) -> bool:  # a candidate's number or `UNCLEAR`; None on a tie
    """Whether people could not tell the contrast from the truth. A random option that they chose is a plain error."""
    if choice is None or choice == UNCLEAR:
        return True
    return bool(choice != row["label"] and row["kinds"][choice] != "random")
