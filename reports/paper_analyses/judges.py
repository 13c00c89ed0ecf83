"""Accuracy and agreement of the people who judged a set, from a table of their answers."""

from collections.abc import Iterable, Mapping, Sequence

from video_contrast.errors import VideoContrastError
from video_contrast.reports.annotate.judging import JudgedFigures, judged
from video_contrast.reports.annotate.votes import UNCLEAR, Vote
from video_contrast.rows import MultipleChoiceRow


def judges(rows: Sequence[MultipleChoiceRow], votes: Iterable[tuple[str, Mapping[str, object]]]) -> JudgedFigures:
    """Accuracy of judges by majority vote, and how far they agree.

    Args:
        rows: of the set that was judged.
        votes: rows with their places: `item` (or `id`), `annotator`, `answer` (number of the candidate; anything
            that is not a number, such as "not clear", is a vote for none). A later answer of the same annotator to the
            same item replaces the earlier one.

    Raises:
        VideoContrastError: a vote for an item or a candidate that the set does not have, or no vote; names the line.
    """
    sizes = {row["id"]: len(row["candidates"]) for row in rows}
    answers: dict[str, dict[str, Vote]] = {}
    for place, vote in votes:
        item, annotator = str(vote.get("item", vote.get("id", ""))), str(vote.get("annotator", ""))
        if item not in sizes:
            raise VideoContrastError(f"{place}: the set has no item {item!r}")
        text = str(vote.get("answer", "")).strip()
        answer = int(text) if text.isdigit() else UNCLEAR
        if isinstance(answer, int) and answer >= sizes[item]:
            raise VideoContrastError(f"{place}: item {item!r} has no candidate {answer}")
        answers.setdefault(item, {})[annotator] = Vote("judge", item, annotator, answer)
    return judged(rows, {item: list(by_person.values()) for item, by_person in answers.items()})
