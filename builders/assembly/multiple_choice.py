"""Multiple-choice assembly: the one place where candidates are put together (contrast-set paper, 4.1 and appendix D).

An item is one true caption and captions of other videos. A contrast item is the same with one of the random captions
replaced by the contrast; the others keep their places. All draws come from the item's own streams, so an item does
not depend on which others are built, nor on the number of processes.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from unicodedata import combining, normalize

from video_contrast.builders.assembly.captioned_clip import CaptionedClip, normal
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.perturbations.contrast import Edit
from video_contrast.rows import MultipleChoiceRow, clash, multiple_choice_row
from video_contrast.seeds import Streams

CANDIDATES = 5  # appendix D: one positive and four negatives
KIND = "contrast"  # of negatives of which nothing more is said
_streams = Streams()


@dataclass(frozen=True, slots=True)
class RandomItem:
    """The random candidates of one clip, before any contrast."""

    clip: CaptionedClip  # the clip of the item
    true: str  # the base caption
    distractors: tuple[str, ...]  # captions of other clips, in the order of their slots
    slots: tuple[int, ...]  # candidate i is text `slots[i]`; text 0 is the true one, text k is distractor k - 1
    contrast_place: int  # number of the distractor that a contrast replaces


def random_items(
    clips: Sequence[CaptionedClip], *, seed: int = 0, candidates: int = CANDIDATES
) -> tuple[list[RandomItem], Counter[str]]:
    """Draws the random candidates of every clip.

    The distractors of a clip are captions of different other videos of its pool (one a video, none of its own source),
    and none says the same as any caption of the clip or as another candidate. Returns the items, and counts of the
    clips by reason ("built", "too_few_other_videos"). `candidates`: of an item, the true one included; 2 or more.
    Raises UsageError: fewer than two candidates, or two clips with one id.
    """
    if candidates < 2:
        raise UsageError(f"an item needs at least 2 candidates, not {candidates}")
    if twice := [name for name, n in Counter(clip.id for clip in clips).items() if n > 1]:
        raise UsageError(f"two clips have the id {twice[0]!r}; ids must be unique within a split")
    pools: dict[str, list[int]] = defaultdict(list)
    for number, clip in enumerate(clips):
        pools[clip.pool].append(number)
    items: list[RandomItem] = []
    counts = Counter({"built": 0})
    for clip in clips:
        distractors = _distractors(clip, clips, pool=pools[clip.pool], count=candidates - 1, seed=seed)
        if distractors is None:
            counts["too_few_other_videos"] += 1
            continue
        base = clip.captions[clip.caption_order(seed)[0]]
        slots, contrast_place = _slots(clip, candidates, seed)
        items.append(RandomItem(clip, base, distractors=tuple(distractors), slots=slots, contrast_place=contrast_place))
        counts["built"] += 1
    return items, counts


def kind_of(name: str, place: str) -> str:
    """The kind that a table names, as rows hold it: lower case, words joined by "_", letters without accents.

    `place`: of the row, for messages. Raises VideoContrastError: it is reserved, or has letters other than a to z.

    >>> kind_of("Velocity & Frequency", "row 1"), kind_of("", "row 2")
    ('velocity_frequency', 'contrast')
    """
    letters = (letter for letter in normalize("NFKD", name) if not combining(letter))
    kind = re.sub(r"[\W_]+", "_", "".join(letters).lower()).strip("_") or KIND
    kind = f"kind_{kind}" if kind[0].isdigit() else kind
    if kind in ("true", "random") or clash({kind}):
        raise VideoContrastError(f"{place}: the kind {kind!r} is reserved; choose another name")
    if not kind.isascii():
        raise VideoContrastError(
            f"{place}: the kind {name!r} must begin with a letter and hold no letters but a to z; choose another name"
        )
    return kind


def random_row(item: RandomItem) -> MultipleChoiceRow:
    """Returns the row with random negatives only."""
    return _row(item, item.distractors, {})


def contrast_row(item: RandomItem, true: str, contrasts: Sequence[Edit], kind: str) -> MultipleChoiceRow:
    """Returns the row in which contrasts to `true`, a caption of the clip, stand in the place of random captions.

    There is one contrast in the paper, and several in a set with several hard negatives.
    """
    negatives = list(item.distractors)
    edits: dict[int, Edit] = {}
    texts = [normal(text) for text in negatives]
    free = [(item.contrast_place + n) % len(negatives) for n in range(len(negatives))]
    for contrast in contrasts:
        # A contrast that happens to say what a distractor says takes that one's place: no two equal candidates.
        place = next((place for place in free if texts[place] == normal(contrast.text)), free[0])
        free.remove(place)
        negatives[place], edits[place] = contrast.text, contrast
    replaced = item.distractors[next(iter(edits))] if len(contrasts) == 1 else None
    return _row(replace(item, true=true), negatives, edits, kind=kind, replaced=replaced)


def contrasts_only_row(
    clip: CaptionedClip, true: str, contrasts: Sequence[Edit], kind: str, *, seed: int = 0
) -> MultipleChoiceRow:
    """The row whose negatives are all contrasts, at seeded places; none is random. `kind`: theirs, of `rows.KINDS`."""
    slots, _ = _slots(clip, len(contrasts) + 1, seed)
    item = RandomItem(clip, true, distractors=tuple(edit.text for edit in contrasts), slots=slots, contrast_place=0)
    return _row(item, item.distractors, dict(enumerate(contrasts)), kind=kind)


def _slots(clip: CaptionedClip, candidates: int, seed: int) -> tuple[tuple[int, ...], int]:
    rng = _streams.at(seed, "slots", clip.id)
    return tuple(int(n) for n in rng.permutation(candidates)), int(rng.integers(candidates - 1))


def _row(
    item: RandomItem, negatives: Sequence[str], edits: Mapping[int, Edit], kind: str = "", replaced: str | None = None
) -> MultipleChoiceRow:
    """The row of these texts; negatives with an edit are of the kind, the others random."""
    clip = item.clip
    texts = [item.true, *negatives]
    kinds = ["true", *(kind if n in edits else "random" for n in range(len(negatives)))]
    pairs = [list(pair) for edit in edits.values() for pair in edit.following_replacements]
    return multiple_choice_row(
        id=clip.id, candidates=[texts[slot] for slot in item.slots], label=item.slots.index(0), cluster=clip.cluster,
        kinds=[kinds[slot] for slot in item.slots],
        edits=[edits[slot - 1].row() if slot - 1 in edits else None for slot in item.slots], replaced=replaced,
        meta={**clip.meta, "following_replacements": pairs} if pairs else clip.meta, **clip.columns(),
    )  # fmt: skip


def _distractors(
    clip: CaptionedClip, clips: Sequence[CaptionedClip], pool: Sequence[int], count: int, seed: int
) -> list[str] | None:
    """`count` captions of other videos of the pool, or None where there are not so many."""
    true_texts = clip.truths()
    videos = {clip.cluster}
    distractors: list[str] = []
    rng = _streams.at(seed, "distractors", clip.id)

    def take(other: CaptionedClip, number: int) -> None:
        text = other.captions[number % len(other.captions)]
        if other.cluster not in videos and normal(text) not in true_texts:
            videos.add(other.cluster)
            true_texts.add(normal(text))
            distractors.append(text)

    # Draws with replacement cost a few numbers an item in a large pool; a small or awkward one is gone through whole.
    for first, second in rng.integers(1 << 62, size=(2, 4 * count)).T.tolist():
        if len(distractors) < count:
            take(clips[pool[first % len(pool)]], second)
    if len(distractors) < count:
        for other in rng.permutation(len(pool)).tolist():
            for number in range(len(clips[pool[other]].captions)):
                if len(distractors) < count:
                    take(clips[pool[other]], number)
    return distractors if len(distractors) == count else None
