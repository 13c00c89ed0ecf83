"""Negatives that others made may be true: a word replaced by one that captions of one video often say beside it.

Generators apply this as the constraint `lift`; negatives of people and of tables are kept, with the lift in their
scores and a count and a warning beside them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache

from video_contrast.builders.assembly.sharding import is_writer
from video_contrast.console import note
from video_contrast.perturbations.contrast import Edit
from video_contrast.perturbations.contrast.candidate import Candidate, Original
from video_contrast.perturbations.contrast.constraints.lift import LIFT, SPEECH_LIFT, SiblingLift
from video_contrast.perturbations.contrast.object import OBJECT
from video_contrast.perturbations.contrast.target import VERB
from video_contrast.perturbations.english import Word, parse

COUNT = "may_be_true_together"


def with_lifts(captions: Sequence[str], edits: Sequence[Edit]) -> tuple[list[Edit], list[bool]]:
    """The edits with the lift of what they replace in their scores, and whether each may be true with its caption.

    Args:
        captions: the true captions.
        edits: one a caption; those that do not replace a verb by a verb or a thing by a thing stay as they are.
    """
    texts = list(dict.fromkeys([*captions, *(edit.text for edit in edits)]))
    parsed = {sentence.caption: sentence.words for sentence in parse(texts)}
    scored, doubtful = [], []
    for caption, edit in zip(captions, edits, strict=True):
        pair = _replaced(caption, edit, parsed)
        verdict = _lift().accepts(*pair) if pair is not None else None
        doubtful.append(verdict is not None and not verdict.ok)
        if verdict is not None and verdict.score is not None:
            edit = replace(edit, scores={**edit.scores, "lift": round(verdict.score, 6)})
        scored.append(edit)
    return scored, doubtful


def warn(config: str, count: int, total: int) -> None:
    """Says how many negatives may be true.

    Args:
        config: whose negatives.
        count: how many of them may be true.
        total: how many there are.
    """
    if count and is_writer():
        note(
            f"warning: {config}: {count:,} of {total:,} negatives replace a word by one that captions of the same "
            f"video say beside it about as often as by chance, or more (lift from {LIFT} on, {SPEECH_LIFT} of speech): "
            "they may be true of the clip; the lift stands in their scores"
        )


@cache
def _lift() -> SiblingLift:
    return SiblingLift()


def _replaced(caption: str, edit: Edit, parsed: Mapping[str, Sequence[Word]]) -> tuple[Original, Candidate] | None:
    """The phrase that was replaced, and what stands in its place, if both are verbs or both are things."""
    tokens, others = parsed[caption], parsed[edit.text]
    last = edit.start + len(edit.old)
    for target in (VERB, OBJECT):
        phrases = [phrase for phrase in target.find(tokens) if phrase.start >= edit.start and phrase.end <= last]
        words = target.within(others, edit.start, edit.start + len(edit.new))
        if phrases and words:
            original = Original(caption, tokens, phrase=phrases[-1], own=target.lemmas(tokens))
            lemmas = tuple(word.lemma for word in words)
            return original, Candidate(
                edit.text, edit.new, edit.start, lemmas=lemmas, tag=words[0].tag, antonym=edit.antonym
            )
    return None
