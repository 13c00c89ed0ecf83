"""What several kinds ask of their clips: how long their parts are, and that no caption is true of two of them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import combinations

from video_contrast.builders.assembly.captioned_clip import normal
from video_contrast.builders.clip_edits.material import ClipEditOptions, LeftOut, Rewritten, SourceClip
from video_contrast.perturbations.english import parse_one

_LONGER = 2.0  # times the shortest of the parts that are joined
_SHORT = 15  # words of a caption that is put into a form, where there is one
_SENTENCES = re.compile(r"[.!?;:]\s")
# Words of time: such a caption tells an order by itself, which an edit would deny or say twice.
WHEN = re.compile(
    r"\b(?:then|before|after|afterwards?|later|finally|eventually|at last|meanwhile|soon|behind|beginning|at the start|"
    r"at the very start|in the end|at the end|first(?! person)|next(?! to)|last|(?:start|begin|end)s? (?:with|by|off)|"
    r"until|once)\b",
    re.IGNORECASE,
)
HOW_OFTEN = re.compile(
    r"\b(?:once|twice|thrice|times|again|repeat\w*|over and over|multiple|another time)\b", re.IGNORECASE
)
HOW_FAST = re.compile(
    r"\b(?:slow\w*|fast\w*|quick\w*|rapid\w*|speed\w*|hurr\w+|time-?\s?lapse|slo-?mo|high-speed)\b", re.IGNORECASE
)
_LIGHT = frozenset(("be", "have", "do"))


def length(clip: SourceClip, options: ClipEditOptions) -> float:
    """Seconds of a clip that are used. Raises LeftOut: the clip is too short."""
    if clip.seconds < options.shortest:
        raise LeftOut("too_short")
    return min(clip.seconds, options.seconds)


def balanced(clips: Sequence[SourceClip], options: ClipEditOptions) -> list[float]:
    """Seconds of each clip that are used; none lasts more than twice as long as another, so that all are seen."""
    lengths = [length(clip, options) for clip in clips]
    return [min(own, _LONGER * min(lengths)) for own in lengths]


def pattern(caption: str) -> str | None:
    """How a caption tells what is done; None for a title or a list of tags, which reads badly inside a sentence.

    >>> [pattern(text) for text in ("a man rides", "a man riding a horse", "riding a horse", "mix the eggs", "red car")]
    ['sentence', 'somebody doing', 'doing', 'order', None]
    """
    sentence = parse_one(caption)
    root = sentence.root
    if root is None:
        return None
    word = sentence.words[root]
    if word.is_noun:
        doing = sentence.child(root, "acl")
        return "somebody doing" if doing is not None and sentence.words[doing].tag == "VBG" else None
    if sentence.finite(root) is not None and sentence.child(root, "nsubj", "nsubjpass", "expl") is not None:
        return "sentence"
    if word.tag == "VBG" and not sentence.auxiliaries(root):
        return "doing" if sentence.subject(root) is None else "somebody doing"
    return "order" if sentence.is_imperative(root) and word.tag == "VB" else None


def plain_captions(clip: SourceClip, reserved: re.Pattern[str], reason: str) -> list[str]:
    """The captions of a clip that can be put into a form: of one sentence, short ones first.

    `reserved`: words that a form says ("twice"): a caption with one of them would say it again, or deny it. `reason`:
    why the clip is left out where all of its captions have one. Raises LeftOut: no caption will do.
    """
    free = [caption for caption in clip.captions if not reserved.search(caption)]
    if not free:
        raise LeftOut(reason)
    timeless = [caption for caption in free if not WHEN.search(caption)]
    if not timeless:
        raise LeftOut("says_when_it_happens")
    whole = [caption for caption in timeless if not _SENTENCES.search(caption)]
    if not whole:
        raise LeftOut("captions_of_several_sentences")
    sentences = [caption for caption in whole if pattern(caption)]
    if not sentences:
        raise LeftOut("captions_that_are_no_sentence")
    return sorted(sentences, key=lambda caption: "," in caption or len(caption.split()) > _SHORT)


def distinct_captions(clips: Sequence[SourceClip]) -> list[str]:
    """A caption of each clip, all of one pattern ("a man rides", "riding a horse"), none of them true of another.

    Raises LeftOut: two captions say the same, or all that one says is said by the other too; or each caption of a clip
    says by itself when something happens; or the clips have no pattern in common.
    """
    choices = [plain_captions(clip, WHEN, "says_when_it_happens") for clip in clips]
    patterns = [list(dict.fromkeys(pattern(caption) for caption in captions)) for captions in choices]
    common = next((form for form in patterns[0] if all(form in forms for forms in patterns)), None)
    if common is None:
        raise LeftOut("captions_of_other_patterns")
    captions = [next(caption for caption in captions if pattern(caption) == common) for captions in choices]
    for (clip, caption), (other, other_caption) in combinations(zip(clips, captions, strict=True), 2):
        if clip.source.truths() & other.source.truths():
            raise LeftOut("captions_say_the_same")
        words, others = content(normal(caption)), content(normal(other_caption))
        if words <= others or others <= words:
            raise LeftOut("captions_may_both_be_true")
    return captions


@lru_cache(1 << 14)
def content(caption: str) -> frozenset[str]:
    """The nouns, verbs, adjectives and numbers of a caption, in dictionary form.

    >>> sorted(content("a man is opening two red doors"))
    ['door', 'man', 'open', 'red', 'two']
    """
    telling = (
        token
        for token in parse_one(caption).words
        if token.tag[:2] in ("NN", "VB", "JJ", "CD") and token.lemma not in _LIGHT
    )
    return frozenset(token.lemma for token in telling)


def first_that(rewrite: Callable[[str], Rewritten], clip: SourceClip) -> tuple[str, Rewritten]:
    """The first of a clip's captions that can be rewritten, and what it becomes.

    Raises LeftOut: none can; the reason of the first.
    """
    reason: LeftOut | None = None
    for caption in clip.captions:
        if WHEN.search(caption):
            reason = reason or LeftOut("says_when_it_happens")
            continue
        try:
            changed = rewrite(caption)
        except LeftOut as why:
            reason = reason or why
            continue
        if normal(changed.caption) not in clip.source.truths():
            return caption, changed
        reason = reason or LeftOut("another_caption_says_the_opposite")
    assert reason is not None
    raise reason
