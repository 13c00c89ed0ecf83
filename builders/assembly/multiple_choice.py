"""Multiple-choice assembly: the one place where options are put together (contrast-set paper, 4.1 and appendix D).

An item is one true caption and captions of other videos. A contrast item is the same with one of the random captions
replaced by the contrast; the others keep their places. All draws come from the item's own streams, so an item does
not depend on which others are built, nor on the number of processes.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from video_contrast.builders.assembly.clips import Clip, caption_order, normal
from video_contrast.errors import UsageError
from video_contrast.perturbations.contrast import Edit
from video_contrast.rows import Row, multiple_choice_row
from video_contrast.seeds import Streams

OPTIONS = 5  # appendix D: one positive and four negatives


@dataclass(frozen=True, slots=True)
class Question:
    """The random options of one clip, before any contrast.

    Attributes:
        clip: the clip that is asked about.
        true: the base caption.
        distractors: captions of other clips, in the order of their slots.
        slots: candidate i of the item is option `slots[i]`; option 0 is the true one, option k distractor k - 1.
        displaced: which distractor a contrast replaces.
    """

    clip: Clip
    true: str
    distractors: tuple[str, ...]
    slots: tuple[int, ...]
    displaced: int


def questions(clips: Sequence[Clip], *, seed: int = 0, options: int = OPTIONS) -> tuple[list[Question], Counter[str]]:
    """The random question of every clip, and counts by reason ("built", "too_few_other_videos").

    The distractors of a clip are captions of different other videos of its pool (one a video, none of its own source),
    and none says the same as any caption of the clip or as another option.

    Raises:
        UsageError: fewer than two options, or two clips with one id.
    """
    if options < 2:
        raise UsageError(f"options must be at least 2, not {options}")
    if len({clip.id for clip in clips}) != len(clips):
        twice = next(name for name, n in Counter(clip.id for clip in clips).items() if n > 1)
        raise UsageError(f"two clips have the id {twice!r}; ids must be unique within a split")
    streams = Streams()
    base = [clip.captions[caption_order(clip, seed, streams)[0]] for clip in clips]
    pools: dict[str, list[int]] = defaultdict(list)
    for number, clip in enumerate(clips):
        pools[clip.pool].append(number)
    made: list[Question] = []
    counts = Counter({"built": 0})
    for number, clip in enumerate(clips):
        distractors = _distractors(clips, pools[clip.pool], number, seed, streams, options - 1)
        if distractors is None:
            counts["too_few_other_videos"] += 1
            continue
        places, displaced = _slots(clip, options, seed, streams)
        made.append(Question(clip, base[number], tuple(distractors), places, displaced))
        counts["built"] += 1
    return made, counts


def random_row(question: Question) -> Row:
    """The item with random options only."""
    return _row(question, question.true, question.distractors, ["random"] * len(question.distractors), {}, None)


def contrast_row(question: Question, true: str, contrasts: Sequence[Edit], kind: str) -> Row:
    """The item in which contrasts to the caption `true` stand in the place of random options.

    Args:
        question: the clip's random question.
        true: the caption that the contrasts were made from (the base caption, or another of the clip).
        contrasts: one (the paper), or several for a set with several hard negatives.
        kind: of the contrasts, one of `rows.KINDS`.
    """
    options = list(question.distractors)
    kinds = ["random"] * len(options)
    edits: dict[int, Edit] = {}
    said = [normal(text) for text in options]
    free = [(question.displaced + n) % len(options) for n in range(len(options))]
    first: int | None = None
    for contrast in contrasts:
        # A contrast that happens to say what a distractor says takes that one's place: no two equal options.
        equal = next((place for place in free if said[place] == normal(contrast.text)), None)
        place = equal if equal is not None else free[0]
        free.remove(place)
        first = place if first is None else first
        options[place], kinds[place], edits[place] = contrast.text, kind, contrast
    replaced = question.distractors[first] if first is not None and len(contrasts) == 1 else None
    return _row(question, true, options, kinds, edits, replaced)


def _slots(clip: Clip, options: int, seed: int, streams: Streams) -> tuple[tuple[int, ...], int]:
    rng = streams.at(seed, "slots", clip.id)
    return tuple(int(n) for n in rng.permutation(options)), int(rng.integers(options - 1))


def given_row(clip: Clip, true: str, contrasts: Sequence[Edit], kind: str, *, seed: int = 0) -> Row:
    """The item whose negatives are all contrasts, at seeded places; none is random."""
    places, _ = _slots(clip, len(contrasts) + 1, seed, Streams())
    question = Question(clip, true, tuple(edit.text for edit in contrasts), places, 0)
    return _row(question, true, question.distractors, [kind] * len(contrasts), dict(enumerate(contrasts)), None)


def _row(
    question: Question,
    true: str,
    negatives: Sequence[str],
    kinds: Sequence[str],
    edits: Mapping[int, Edit],
    replaced: str | None,
) -> Row:
    clip = question.clip
    texts = [true, *negatives]
    names = ["true", *kinds]
    meta = dict(clip.meta)
    also = [list(pair) for edit in edits.values() for pair in edit.also]
    if also:
        meta["also"] = also
    return multiple_choice_row(
        id=clip.id,
        candidates=[texts[slot] for slot in question.slots],
        label=question.slots.index(0),
        kinds=[names[slot] for slot in question.slots],
        edits=[edits[slot - 1].row() if slot - 1 in edits else None for slot in question.slots],
        replaced=replaced,
        cluster=clip.cluster,
        meta=meta,
        **clip.where(),
    )


def _distractors(
    clips: Sequence[Clip],
    pool: Sequence[int],
    number: int,
    seed: int,
    streams: Streams,
    wanted: int,
) -> list[str] | None:
    """`wanted` captions of other videos of the pool, or None where there are not so many."""
    clip = clips[number]
    said = clip.truths()
    videos = {clip.cluster}
    chosen: list[str] = []
    rng = streams.at(seed, "distractors", clip.id)

    def take(other: Clip, place: int) -> None:
        text = other.captions[place % len(other.captions)]
        if other.cluster not in videos and normal(text) not in said:
            videos.add(other.cluster)
            said.add(normal(text))
            chosen.append(text)

    # Draws with replacement cost a few numbers an item in a large pool; a small or awkward one is gone through whole.
    draws = rng.integers(1 << 62, size=(2, 4 * wanted))
    for first, second in draws.T.tolist():
        if len(chosen) < wanted:
            take(clips[pool[first % len(pool)]], second)
    if len(chosen) < wanted:
        for other in rng.permutation(len(pool)).tolist():
            for place in range(len(clips[pool[other]].captions)):
                if len(chosen) < wanted:
                    take(clips[pool[other]], place)
    return chosen if len(chosen) == wanted else None
