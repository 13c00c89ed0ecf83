"""Captions reach the model whole: their ends show or are counted as cut; upper case and other scripts are said."""

from collections.abc import Iterator, Sequence

import numpy as np

from video_contrast.runner.doctor.probe import Probe, difference, finite
from video_contrast.runner.doctor.result import Outcome, State

OTHER_SCRIPTS = ("一个男人在切西红柿", "一条狗在沙滩上奔跑")  # "a man cuts a tomato", "a dog runs on the beach"
OTHER_WORD = "elephants"
MANY = 0.05  # the share of cut captions that is doubtful


def check_captions(probe: Probe, texts: Sequence[str]) -> Iterator[Outcome]:
    """The verdicts "ends", "truncated", "case" and "scripts"; `texts` are all of the plan."""
    yield _ends(probe, texts)
    yield _truncated(probe, texts)
    yield _case(probe)
    yield _scripts(probe)


def _ends(probe: Probe, texts: Sequence[str]) -> Outcome:
    """Captions that begin alike and end as others do, and the longest text of the plan with another last word."""
    begin, *others = probe.captions_of(0)
    endings = others if len(others) > 1 else [*others, "then nothing more"]
    long = [begin, *(f"{begin}, and {ending}" for ending in endings)]
    if probe.together:  # each in the same place, since places show
        rows = [probe.scores(probe.clips[:1], [text, begin]) for text in long[1:3]]
        change = difference(rows[0], rows[-1])
    else:
        change = float(np.ptp(finite(probe.scores(probe.clips[:1], long[1:] if others else long))))
    numbers = probe.numbers(change)
    if change > probe.noise:
        says = "captions that differ in their ends only have different scores"
        return _longest(probe, texts) or Outcome("ends", "pass", says, numbers)
    cut = probe.model.truncated_texts(long)
    if cut:
        return Outcome("ends", "fact", f"cuts long captions, and counts them ({cut} of {len(long)} here)", numbers)
    if len(long) < 3 and probe.together:
        return Outcome("ends", "fact", "not tested: the set has too few captions")
    says = "captions that differ in their ends only score the same: they are cut unseen"
    return Outcome("ends", *probe.unmoved(says), numbers)


def _longest(probe: Probe, texts: Sequence[str]) -> Outcome | None:
    """What is wrong with last words, of a caption and of the longest text; None where they show, or are counted."""
    longest, short = max(texts, key=len, default=""), probe.captions[0]
    change = _word_shows(probe, short, short)
    if change <= probe.noise:
        # A model that looks for a few words takes any other word calmly: the one before the last must show.
        told = probe.model.in_steps or probe.model.truncated_texts([short])
        if told or _word_shows(probe, short, short, place=-2) <= probe.noise:
            return None
        says = "another last word of a caption changes nothing, unlike the one before: is the last one cut?"
        return Outcome("ends", *probe.unmoved(says, may_be_small=True), probe.numbers(change))
    if len(longest) <= max(map(len, probe.captions)):  # those that were tried are as long
        return None
    change = _word_shows(probe, longest, short)
    if change > probe.noise or probe.model.truncated_texts([longest]):
        return None
    says = f"another last word of the longest caption ({len(longest)} characters) changes nothing: it is cut unseen"
    return Outcome("ends", *probe.unmoved(says), probe.numbers(change) | {"characters": len(longest)})


def _word_shows(probe: Probe, text: str, beside: str, place: int = -1) -> float:
    """By how much the score of a text changes with another word at a place, the last one by default."""
    words = text.split(" ")
    words[max(place, -len(words))] = OTHER_WORD
    other = " ".join(words)
    first, second = (probe.scores(probe.clips[:1], [words, beside])[:, :1] for words in (text, other))
    return difference(first, second)


def _truncated(probe: Probe, texts: Sequence[str]) -> Outcome:
    cut = probe.model.truncated_texts(texts)
    if cut is None:
        return Outcome("truncated", "fact", "the model cuts no caption, or does not say")
    share = cut / max(1, len(texts))
    says = f"{cut} of {len(texts)} captions are longer than the model reads"
    state: State = "doubt" if share > MANY else "fact" if cut else "pass"
    return Outcome("truncated", state, says, {"truncated": cut, "captions": len(texts)})


def _case(probe: Probe) -> Outcome:
    captions = probe.captions_of(0)
    upper = [caption.upper() for caption in captions]
    change = difference(probe.scores(probe.clips[:1], upper), probe.scores(probe.clips[:1], captions))
    says = f"captions in upper case differ by {probe.in_units(change):.2g} sd"
    if probe.is_steady(change):
        says = "upper and lower case are the same to it"
    return Outcome("case", "fact", says, probe.numbers(change))


def _scripts(probe: Probe) -> Outcome:
    if probe.together:
        return Outcome("scripts", "fact", "not tested: candidates are scored together")
    scores = finite(probe.scores(probe.clips[:1], OTHER_SCRIPTS))
    change = float(np.ptp(scores)) if len(scores) else 0.0
    own = [caption for caption in probe.captions if not caption.isascii()]
    numbers = probe.numbers(change) | {"not_ascii": len(own)}
    beyond = f"; {len(own)} of {len(probe.captions)} captions are not plain ASCII" if own else ""
    if change > 0:
        return Outcome("scripts", "fact", f"tells captions in Chinese apart{beyond}", numbers)
    state: State = "doubt" if own else "fact"
    return Outcome("scripts", state, f"captions in Chinese are all the same to it{beyond}", numbers)
