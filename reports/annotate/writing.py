"""What is wrong with a written sentence, and the set that comes of them: human negatives in the place of contrasts."""

import json
from collections.abc import Iterable, Mapping, Sequence

from video_contrast.builders.assembly.captioned_clip import normal
from video_contrast.builders.assembly.difference import difference
from video_contrast.errors import VideoContrastError
from video_contrast.perturbations.english.forms import without_auxiliaries
from video_contrast.reports.annotate.votes import Vote
from video_contrast.rows import EditRecord, MultipleChoiceRow, contrast_places, multiple_choice_row


def phrase_of(row: MultipleChoiceRow) -> tuple[int, int] | None:
    """Where the verb phrase stands in the true caption: that of the set's own contrast, else the first one found."""
    caption = row["candidates"][row["label"]]
    for edit in row["edits"]:
        if edit and edit["old"] and caption[edit["start"] : edit["start"] + len(edit["old"])] == edit["old"]:
            return edit["start"], edit["start"] + len(edit["old"])
    from video_contrast.perturbations.english import parse_one

    sentence = parse_one(caption)
    verbs = [sentence.words[n] for n in sentence.verbs if sentence.words[n].lemma not in ("be", "have")]
    return (verbs[0].start, verbs[0].end) if verbs else None


def problem_with(sentence: str, row: MultipleChoiceRow) -> str:
    """What is wrong with a person's sentence, as a sentence for that person; "" if it may be kept."""
    caption = row["candidates"][row["label"]]
    span = phrase_of(row)
    if span is None:
        return "This item has no verb phrase to change."
    start, end = span
    before, after = normal(caption[:start]), normal(caption[end:])
    text = " ".join(sentence.split())
    words = normal(text)
    if not words:
        return "The sentence is empty."
    if words == normal(caption):
        return "The sentence is unchanged: change the marked words."
    if not (words.startswith(before) and words.endswith(after)):
        return "Change only the marked words; the rest of the sentence stays as it is."
    new = words[len(before) : len(words) - len(after)].strip()
    if not new:
        return "The marked words are gone: put others in their place."
    if any(words == normal(other) for other in row["candidates"]):
        return "Another candidate of this item says the same: write something else."
    old = caption[start:end].lower()
    if _means_the_same(old, new):
        return f"“{new}” means the same as “{old}”: the sentence would stay true."
    return ""


def written_rows(rows: Iterable[MultipleChoiceRow], votes: Mapping[str, Sequence[Vote]]) -> list[MultipleChoiceRow]:
    """A set of the written negatives: in each answered item one takes the place of the contrast (or of an option).

    Args:
        rows: the rows that were shown.
        votes: item -> answers; the first of each item is used, and the others are kept in `meta`.

    Raises:
        VideoContrastError: no item was answered.
    """
    new_rows = []
    for row in rows:
        answers = votes.get(str(row["id"]), ())
        if not answers:
            continue
        caption = row["candidates"][row["label"]]
        edit = difference(caption, " ".join(str(answers[0].answer).split()), "human")
        hard = contrast_places(row["kinds"])
        place = hard[0] if hard else next(n for n, kind in enumerate(row["kinds"]) if kind != "true")
        candidates, kinds = list(row["candidates"]), list(row["kinds"])
        edits: list[EditRecord | None] = [None] * len(candidates)
        replaced = row["replaced"] if hard else candidates[place]
        candidates[place], kinds[place] = edit.text, "verb_human"
        edits[place] = edit.row()
        meta = json.loads(row["meta"] or "{}")
        if len(answers) > 1:
            meta["also_written"] = [str(vote.answer) for vote in answers[1:]]
        new_rows.append(
            multiple_choice_row(
                id=row["id"], video_id=row["video_id"], video_path=row["video_path"], start=row["start"],
                end=row["end"], candidates=candidates, label=row["label"], kinds=kinds, edits=edits, replaced=replaced,
                cluster=row["cluster"], meta=meta,
            )
        )  # fmt: skip
    if not new_rows:
        raise VideoContrastError("no item has an answer yet, so there is no set to write")
    return new_rows


def _means_the_same(old: str, new: str) -> bool:
    """Another form of the same verb, or a synonym by a first sense of WordNet where NLTK has it."""
    from video_contrast.perturbations.english import wordnet
    from video_contrast.perturbations.english.forms import lemma

    first, second = without_auxiliaries(old), without_auxiliaries(new)
    old_lemma, new_lemma = lemma(first[0], "VB"), lemma(second[0], "VB")
    if old_lemma == new_lemma and first[1:] == second[1:]:
        return True
    if len(first) > 1 or len(second) > 1:
        return False
    try:
        senses = wordnet.load().senses(old_lemma.lower(), "v")[:2]
    except VideoContrastError:  # WordNet is not there: then only forms of the same verb are found
        return False
    return any(new_lemma in sense.words for sense in senses)
