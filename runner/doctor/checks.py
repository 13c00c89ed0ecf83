"""The checks of a model: steady scores that react to what is shown and said and favour the truth, and its pixels.

steadiness   a score depends on a clip and its candidates alone: not on company, order, position, repetition or process
reactions    to another clip, grey frames, the inside of frames, order, times, a caption, and every frame
captions     reach the model whole: their ends show or are counted as cut; upper case and other scripts are said
truth        true captions beat those of other clips more often than chance: a wrong prompt or sign breaks it
pictures     the pixels that reach the network are those that the checkpoint's own processor makes of the same frames
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import cast

import numpy as np

from video_contrast.errors import VideoContrastError
from video_contrast.golden import GOLDEN
from video_contrast.metrics import sign_flip
from video_contrast.runner.doctor.probe import GREY, Probe, difference, finite, grey
from video_contrast.runner.doctor.result import Outcome, State
from video_contrast.runner.kinds.base import ClipFrames, Encoder, LoadOptions, ModelSource, PairScorer
from video_contrast.runner.kinds.loading import load_processor, pixels_of
from video_contrast.runner.traces import first_inputs, network_of
from video_contrast.untyped import Processor
from video_contrast.video import read_video

LONG = "and then, after a while, everything in this scene happens once more from the beginning"


def check_steadiness(probe: Probe) -> Iterator[Outcome]:
    """The verdicts "repeat", "batch", "order", "candidates", "padding" and "position"."""
    clip, captions = probe.clips[:1], probe.captions_of(0)
    yield _verdict(probe, "repeat", probe.noise, "asked twice")
    yield _batch(probe)
    yield _order(probe)
    if probe.together:
        yield Outcome("candidates", "fact", "candidates are scored together: a score means something among them only")
    else:
        few = captions if isinstance(probe.model, Encoder) else captions[:2]
        alone = np.concatenate([probe.scores(clip, [caption]) for caption in few], axis=1)
        # with the clip alone in its batch too, so that this check is about captions
        among = probe.scores(clip, captions)[:, : len(few)]
        yield _verdict(probe, "candidates", difference(alone, among), "a caption alone and among others")
        short = sorted(captions, key=len)[:2]
        beside_longer = probe.scores(clip, [*short, f"{short[-1]} {LONG}"])[:, : len(short)]
        change = difference(beside_longer, probe.scores(clip, short))
        yield _verdict(probe, "padding", change, "a caption beside a much longer one")
    if isinstance(probe.model, PairScorer):
        change = difference(probe.scores(clip, captions, position=1), probe.clean[:1])
        if probe.together and not probe.is_steady(change):
            yield Outcome("position", "fact", "candidates are rotated by the item's number")
        else:
            yield _verdict(probe, "position", change, "another number of the item")


def same_in_all(probe: Probe, others: Sequence[np.ndarray]) -> Outcome:
    """The verdict "process", from what every process computed for the first clip."""
    return _verdict(probe, "process", max(difference(other, others[0]) for other in others), f"{len(others)} processes")


def _verdict(probe: Probe, check: str, change: float, what: str) -> Outcome:
    steady = probe.is_steady(change)
    says = "the same scores" if steady else f"scores differ by {probe.in_units(change):.2g} sd"
    return Outcome(check, "pass" if steady else "fail", f"{what}: {says}", probe.numbers(change))


def check_finite(probe: Probe) -> Outcome:
    """The verdict "finite"."""
    if not (missing := int(probe.clean.size - len(finite(probe.clean)))):
        return Outcome("finite", "pass", "all scores are finite numbers")
    answers = "" if isinstance(probe.model, Encoder) else "answers that are no candidate, "
    says = f"{missing} of {probe.clean.size} scores are no numbers ({answers}NaN or infinite)"
    doubt = bool(answers) and missing < probe.clean.size
    return Outcome("finite", "doubt" if doubt else "fail", says, {"missing": missing})


def _batch(probe: Probe) -> Outcome:
    """One clip alone against all in a batch; of a pair scorer, pairs one by one."""
    model, captions = probe.model, probe.captions_of(0)
    if isinstance(model, Encoder):
        return _verdict(probe, "batch", probe.reaction(probe.clips[0]), "a clip alone and in a batch")
    size, model.batch_size = model.batch_size, 1
    try:
        alone = probe.scores(probe.clips[:1], captions, again=True)
    finally:
        model.batch_size = size
    return _verdict(probe, "batch", difference(alone, probe.clean[:1]), "pairs one by one and in a batch")


def _order(probe: Probe) -> Outcome:
    """The clips in another order, and of a pair scorer the captions in another one."""
    if isinstance(probe.model, Encoder):
        scores = probe.scores(probe.clips[::-1], probe.captions)[::-1]
        again = np.stack([scores[n, probe.caption_numbers(n)] for n in range(len(probe.clips))])
        return _verdict(probe, "order", difference(again, probe.clean), "clips in reversed order")
    captions = probe.captions_of(0)
    again = probe.scores(probe.clips[:1], captions[::-1])[:, ::-1]
    change = difference(again, probe.clean[:1])
    if probe.together and not probe.is_steady(change):
        says = f"the order of candidates shows: {probe.in_units(change):.2g} sd (rotations take it away)"
        return Outcome("order", "fact", says)
    return _verdict(probe, "order", change, "candidates in reversed order")


SLOW = 20.0  # seconds at least, since some families write whole seconds
SEVERAL = 4  # clips; fewer plain answers may all stay the same by chance
BORDER = 3  # pixels; what the text of a printed array shows of it
PLACES = 4  # of a clip, at which a frame is exchanged


def check_reactions(probe: Probe) -> Iterator[Outcome]:
    """The verdicts "clip", "grey", "pixels", "reversal", "times" and "caption"."""
    clip = probe.clips[0]
    yield _other_clip(probe)
    yield _must_react(probe, "grey", grey(clip), "grey frames")
    if min(clip.frames.shape[1:3]) > 4 * BORDER:
        inside = clip.frames.copy()
        inside[:, BORDER:-BORDER, BORDER:-BORDER] = GREY
        what = f"all but {BORDER} pixels at the borders turned grey"
        yield _must_react(probe, "pixels", replace(clip, frames=inside), what)
    # Of clips that are another backwards; a fact: a bag of frames is order-blind, and right to be.
    if moving := [n for n, clip in enumerate(probe.clips) if not np.array_equal(clip.frames, clip.frames[::-1])]:
        reversals = {n: replace(probe.clips[n], frames=probe.clips[n].frames[::-1].copy()) for n in moving[:2]}
        change = max(probe.reaction(reversal, n) for n, reversal in reversals.items())
        says = f"sees order: reversed clips differ by {probe.in_units(change):.2g} sd"
        if probe.is_steady(change):
            says = "order-blind: reversed clips have the same scores"
        yield Outcome("reversal", "fact", says, probe.numbers(change))
    if len(clip.frames) > 1:
        yield _times(probe)
    yield _caption(probe)


def _other_clip(probe: Probe) -> Outcome:
    """One clip tells of scores; of plain answers, which most changes leave as they are, it takes several."""
    others = (replace(probe.other(n), source=clip.source) for n, clip in enumerate(probe.clips))
    if not probe.model.in_steps or len(probe.clips) < SEVERAL:
        return _must_react(probe, "clip", next(others), "another clip")
    for n, clip in enumerate(others):
        if probe.reacts(change := probe.reaction(clip, n)):
            return Outcome("clip", "pass", "another clip: answers change", probe.numbers(change))
    says = f"other clips: none of {len(probe.clips)} answers changes, so the model is not given the video"
    return Outcome("clip", "fail", says, {"items": len(probe.clips)})


def _must_react(probe: Probe, check: str, clip: ClipFrames, what: str) -> Outcome:
    change = probe.reaction(clip)
    state, says = probe.unmoved(f"{what}: scores stay the same, so the model is not given the video")
    if probe.reacts(change):
        state, says = "pass", f"{what}: scores change by {probe.in_units(change):.2g} sd"
    return Outcome(check, state, says, probe.numbers(change))


def _times(probe: Probe) -> Outcome:
    clip = probe.clips[0]
    if wrong := _wrong_times(probe):
        return wrong
    factor = max(4.0, SLOW / max(clip.times[-1] - clip.times[0], 0.1))
    slower = tuple(factor * (time - clip.times[0]) + clip.times[0] for time in clip.times)
    change = probe.reaction(replace(clip, times=slower, seconds=factor * clip.seconds))
    numbers = probe.numbers(change)
    reads = probe.model.reads_times
    if reads is None:  # of an embedder or reranker, whatever the model inside
        reads = "times_told" in probe.rendered or None
    if change > probe.noise:
        return Outcome("times", "fact" if reads is None else "pass", "reads the times of the frames", numbers)
    if reads:
        says = "the family is trained with the times of frames, and other times change nothing: a constant rate is told"
        return Outcome("times", *probe.unmoved(says, may_be_small=True), numbers)
    return Outcome("times", "fact", "does not read the times of the frames", numbers)


def _wrong_times(probe: Probe) -> Outcome | None:
    """The fault of the times that the model is told of the longest clip, where it is known what it is told."""
    if "times_told" not in probe.rendered:
        return None
    longest = int(np.argmax([clip.times[-1] - clip.times[0] for clip in probe.clips]))
    times = probe.clips[longest].times
    times_told = probe.model.rendered_input(probe.clips[longest], probe.captions_of(longest)).get("times_told")
    if not isinstance(times_told, list) or not 1 < len(times_told) <= len(times):
        return None
    centres = [float(part.mean()) for part in np.array_split(np.array(times), len(times_told))]
    span, seconds = times_told[-1] - times_told[0], centres[-1] - centres[0]
    slack = 1.0 if all(time == int(time) for time in times_told) else 0.2  # some families write whole seconds
    if abs(span - seconds) <= slack + 0.1 * seconds:
        return None
    says = f"the clip's frames lie {seconds:.2g} s apart, and the model is told {span:.2g} s"
    return Outcome("times", "fail", says, {"told_seconds": span, "seconds": seconds})


def _caption(probe: Probe) -> Outcome:
    if len(probe.captions) < 2:
        return Outcome("caption", "fact", "not tested: the set has a single caption")
    change = max((float(np.ptp(finite(row))) for row in probe.clean if len(finite(row)) > 1), default=0.0)
    if change > 0:
        says = f"other captions: {probe.in_units(change):.2g} sd apart"
        return Outcome("caption", "pass", says, probe.numbers(change))
    return Outcome("caption", *probe.unmoved("all captions of a clip have the same score"), probe.numbers(change))


def check_frames(probe: Probe, sampled: int) -> Outcome:
    """The verdict "frames".

    A clip of one frame, repeated, gets another clip's frame at one place after the other: the scores must change. Where
    they do not, the two frames change parts, so that a maximum over frames shows it too.
    """
    count = len(probe.clips[0].frames)
    if count != sampled:
        return Outcome("frames", "fail", f"{count} frames are handed over, {sampled} were asked for")
    places = sorted({int(n) for n in np.linspace(0, count - 1, PLACES)})
    clip = probe.clips[0]
    own, foreign = clip.frames[0], probe.other(0).frames[0]
    # in the size of the clip, by repeating and cutting pixels
    rows, columns = (np.arange(n) * m // n for n, m in zip(own.shape[:2], foreign.shape[:2], strict=True))
    foreign = foreign[rows][:, columns]
    places_seen = {*_shown_places(probe, own, foreign, places)}
    if len(places_seen) < len(places):
        places_seen.update(_shown_places(probe, foreign, own, [place for place in places if place not in places_seen]))
    numbers: dict[str, float] = {"frames": count, "tried": len(places), "seen": len(places_seen)}
    if len(places_seen) == len(places):
        says = f"{count} frames asked for and handed over; all {len(places)} tried show"
        return Outcome("frames", "pass", says, numbers)
    dark = ", ".join(str(place) for place in places if place not in places_seen)
    says = f"{count} frames are handed over, and what frame {dark} shows changes nothing"
    return Outcome("frames", *probe.unmoved(says, may_be_small=True), numbers)


def _shown_places(probe: Probe, still: np.ndarray, other: np.ndarray, places: Sequence[int]) -> Iterator[int]:
    """The places of a clip of one frame, repeated, at which another frame changes the scores."""

    def scores(frames: np.ndarray) -> np.ndarray:
        return probe.scores([replace(probe.clips[0], frames=frames)], probe.captions_of(0))

    frames = np.repeat(still[None], len(probe.clips[0].frames), 0)
    before = scores(frames)
    for place in places:
        new_frames = frames.copy()
        new_frames[place] = other
        if difference(before, scores(new_frames)) > 0:
            yield place


OTHER_SCRIPTS = ("一个男人在切西红柿", "一条狗在沙滩上奔跑")  # "a man cuts a tomato", "a dog runs on the beach"
OTHER_WORD = "elephants"
MANY = 0.05  # the share of cut captions that is doubtful


def check_captions(probe: Probe, texts: Sequence[str]) -> Iterator[Outcome]:
    """The verdicts "ends", "truncated", "case" and "scripts"; `texts` are all of the plan."""
    yield _ends(probe, texts)
    if (cut := probe.model.truncated_texts(texts)) is None:
        yield Outcome("truncated", "fact", "the model cuts no caption, or does not say")
    else:
        says = f"{cut} of {len(texts)} captions are longer than the model reads"
        state: State = "doubt" if cut / max(1, len(texts)) > MANY else "fact" if cut else "pass"
        yield Outcome("truncated", state, says, {"truncated": cut, "captions": len(texts)})
    captions = probe.captions_of(0)
    upper = [caption.upper() for caption in captions]
    change = difference(probe.scores(probe.clips[:1], upper), probe.scores(probe.clips[:1], captions))
    says = f"captions in upper case differ by {probe.in_units(change):.2g} sd"
    if probe.is_steady(change):
        says = "upper and lower case are the same to it"
    yield Outcome("case", "fact", says, probe.numbers(change))
    if probe.together:
        yield Outcome("scripts", "fact", "not tested: candidates are scored together")
        return
    scores = finite(probe.scores(probe.clips[:1], OTHER_SCRIPTS))
    change = float(np.ptp(scores)) if len(scores) else 0.0
    own = [caption for caption in probe.captions if not caption.isascii()]
    beyond = f"; {len(own)} of {len(probe.captions)} captions are not plain ASCII" if own else ""
    says = "tells captions in Chinese apart" if change > 0 else "captions in Chinese are all the same to it"
    state = "doubt" if own and change <= 0 else "fact"
    yield Outcome("scripts", state, says + beyond, probe.numbers(change) | {"not_ascii": len(own)})


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
    if cut := probe.model.truncated_texts(long):
        return Outcome("ends", "fact", f"cuts long captions, and counts them ({cut} of {len(long)} here)", numbers)
    if len(long) < 3 and probe.together:
        return Outcome("ends", "fact", "not tested: the set has too few captions")
    says = "captions that differ in their ends only score the same: they are cut unseen"
    return Outcome("ends", *probe.unmoved(says), numbers)


def _longest(probe: Probe, texts: Sequence[str]) -> Outcome | None:
    """The fault of last words, of a caption and of the longest text; None where they show, or are counted."""
    longest, short = max(texts, key=len, default=""), probe.captions[0]
    change = _word_shows(probe, short, short)
    if change <= probe.noise:
        # A model that looks for a few words takes any other word calmly: the one before the last must show.
        is_told = probe.model.in_steps or probe.model.truncated_texts([short])
        if is_told or _word_shows(probe, short, short, place=-2) <= probe.noise:
            return None
        says = "another last word of a caption changes nothing, unlike the one before: is the last one cut?"
        return Outcome("ends", *probe.unmoved(says, may_be_small=True), probe.numbers(change))
    if len(longest) <= max(map(len, probe.captions)):  # the tried captions are as long
        return None
    change = _word_shows(probe, longest, short)
    if change > probe.noise or probe.model.truncated_texts([longest]):
        return None
    says = f"another last word of the longest caption ({len(longest)} characters) changes nothing: it is cut unseen"
    return Outcome("ends", *probe.unmoved(says), probe.numbers(change) | {"characters": len(longest)})


def _word_shows(probe: Probe, text: str, beside: str, place: int = -1) -> float:
    """The change in the score of a text by another word at a place, the last one by default."""
    words = text.split(" ")
    words[max(place, -len(words))] = OTHER_WORD
    other = " ".join(words)
    first, second = (probe.scores(probe.clips[:1], [words, beside])[:, :1] for words in (text, other))
    return difference(first, second)


LEVEL = 0.05
WRONG, LOST = 0.01, 1 / 3  # a p-value and a share of pairs that are won, from which on a sign counts as reversed
EXCHANGED = 0.02  # and one from which on channels are exchanged: seven of eight items, where exchanging them also helps


def check_truth(probe: Probe) -> Outcome:
    """The verdict "truth".

    Every clip contributes the score of its own caption less the mean of the other captions that it was scored with; how
    much clips like a caption in general is taken away first. The p-value is of the sign-flip test.

    Returns "doubt" where the eight items do not show it: a model may be right at chance (untrained, or on hard
    captions); "fail" where true captions lose.
    """
    n = len(probe.clips)
    if not is_testable(probe.clean):
        return Outcome("truth", "fact", "not tested: it takes three items with scores")
    gain = _gain(probe, probe.clean)
    p_value = sign_flip(gain)
    wins = float(np.mean([np.mean(probe.clean[row, 0] > probe.clean[row, 1:]) for row in range(n)]))
    numbers = {"wins": wins, "p_value": p_value, "items": n}
    says = f"true captions beat {100 * wins:.0f} % of those of other clips (n = {n}, p = {p_value:.3g})"
    if gain.mean() > 0 and p_value < LEVEL:
        return Outcome("truth", "pass", says, numbers)
    if gain.mean() < 0 and p_value < WRONG and wins < LOST:
        return Outcome("truth", "fail", f"{says}: they lose, is a score a distance?", numbers)
    return Outcome("truth", "doubt", f"{says}: not more than chance would", numbers)


def check_channels(probe: Probe) -> Outcome:
    """The verdict "channels": whether true captions win by more with red and blue exchanged, and then win for sure."""
    clips = [replace(clip, frames=clip.frames[..., ::-1].copy()) for clip in probe.clips]
    scores = probe.own_scores(clips)
    if not is_testable(probe.clean) or not is_testable(scores):
        return Outcome("channels", "fact", "not tested: it takes three items with scores")
    gains = _gain(probe, scores)
    change = gains - _gain(probe, probe.clean)
    p_value = sign_flip(change)
    numbers = {"change_sd": probe.in_units(float(change.mean())), "p_value": p_value, "items": len(clips)}
    if change.mean() > 0 and p_value < LEVEL and gains.mean() > 0 and sign_flip(gains) < LEVEL:
        says = f"true captions win by {numbers['change_sd']:.2g} sd more once red and blue are exchanged"
        says = f"{says} (p = {p_value:.3g}): are the channels in the wrong order?"
        return Outcome("channels", "fail" if p_value < EXCHANGED else "doubt", says, numbers)
    if change.mean() < 0 and p_value < LEVEL:
        return Outcome("channels", "pass", "true captions win by less once red and blue are exchanged", numbers)
    return Outcome("channels", "fact", "true captions fare the same with red and blue exchanged", numbers)


def is_testable(scores: np.ndarray) -> bool:
    """Whether there are three items at least, and all of their scores are numbers."""
    return scores.shape[0] >= 3 and scores.shape[1] >= 2 and bool(np.isfinite(scores).all())


def _gain(probe: Probe, rows: np.ndarray) -> np.ndarray:
    """The lead of each clip's own caption over the mean of the others that it was scored with: float64[n]."""
    n = len(rows)
    scores = np.full((n, n), np.nan)
    for row in range(n):
        scores[row, probe.caption_numbers(row)] = rows[row]
    above_mean = scores - np.nanmean(scores, axis=0, keepdims=True)
    return np.array([above_mean[row, row] - np.nanmean(np.delete(above_mean[row], row)) for row in range(n)])


HEIGHT, WIDTH = 240, 320  # the part of each golden clip that is shown: its middle
CLOSE, FAR = 0.1, 0.15  # differences, in standard deviations of the pixels: of backends that resize, of other pictures
OTHER_MEAN = "another mean or std"
ALIKE = 0.99  # a correlation from which on a change explains the pixels


def _cropped(frames: np.ndarray, share: int) -> np.ndarray:
    """The frames without one part in `share` of each side."""
    rows, columns = (length // share for length in frames.shape[1:3])
    return frames[:, rows:-rows, columns:-columns]


CHANGES: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "frames in reversed order": lambda frames: frames[::-1],
    "the first frame in place of all": lambda frames: np.repeat(frames[:1], len(frames), axis=0),
    "mirrored pictures": lambda frames: frames[:, :, ::-1],
    "pictures upside down": lambda frames: frames[:, ::-1],
    "pictures turned by half": lambda frames: frames[:, ::-1, ::-1],
    "transposed pictures": lambda frames: frames.swapaxes(1, 2),
    "red and blue exchanged": lambda frames: frames[..., ::-1],
    "grey pictures": lambda frames: np.repeat(frames.mean(axis=3, keepdims=True).astype(np.uint8), 3, axis=3),
    "negatives": lambda frames: 255 - frames,
    **{f"pictures cropped by about 1/{share} at each side": partial(_cropped, share=share) for share in (4, 8, 16)},
}


def check_pictures(probe: Probe, source: ModelSource) -> Outcome:
    """The verdict "pictures"; "fact" where there is nothing to compare: no processor, or other numbers of pixels.

    Scores of a rotated or grey picture look as good as others; its pixels do not. One picture of each golden clip is
    shown as a frame, and the input of the first layers compared with what the processor, loaded anew, makes of them.
    """
    untested = "not tested: the model's processor gives no pixels to compare with"
    has_pixels = source.config and network_of(probe.model) is not None
    if not has_pixels or (own_processor := _reference(source)) is None:
        return Outcome("pictures", "fact", untested)
    reference, normalises = own_processor
    frames = golden_frames(probe.model.frames or min(len(probe.clips[0].frames), 8))
    try:
        arrays = _pixels(probe, frames)
    except ValueError as refused:  # pictures that its processor does not take
        return Outcome("pictures", "fact", f"not tested: the model does not take what is shown: {refused}")
    own_pixels = reference(frames)
    same = [array for array in arrays if own_pixels is not None and array.size == own_pixels.size]
    error = min((_difference(array, own_pixels) for array in same if own_pixels is not None), default=float("inf"))
    numbers = {"difference_sd": error}
    if error <= CLOSE:
        return Outcome("pictures", "pass", "the pixels are those of the model's own processor", numbers)
    if fits := {name: fit for name, fit in _fits(reference, arrays, frames) if fit >= ALIKE}:
        best = max(fits, key=lambda name: fits[name])
        if best == OTHER_MEAN and not normalises:
            says = "the pixels are those of the model's own processor; the network itself normalises them"
            return Outcome("pictures", "pass", says, numbers)
        numbers |= {"correlation": fits[best]}
        return Outcome("pictures", "fail", f"the pixels are those of {best} (correlation {fits[best]:.3f})", numbers)
    if not same:
        return Outcome("pictures", "fact", "not tested: its pixels are of another number than its processor gives")
    says = f"the pixels differ from those of the model's own processor by {error:.2g} sd"
    says = f"{says}: another mean or std, size or crop, or order of frames?"
    return Outcome("pictures", "fail" if error >= FAR else "doubt", says, numbers)


@lru_cache(maxsize=4)
def golden_frames(count: int) -> np.ndarray:
    """The middles of one picture of each golden clip, in turns: uint8[count, HEIGHT, WIDTH, 3]."""
    paths = sorted(GOLDEN.glob("*.mp4"))
    pictures = []
    for path in paths[:count]:
        picture = read_video(path, keep=[0]).frames[0]
        top, left = (picture.shape[0] - HEIGHT) // 2, (picture.shape[1] - WIDTH) // 2
        pictures.append(picture[top : top + HEIGHT, left : left + WIDTH])
    return np.stack([pictures[n % len(paths)] for n in range(count)])


def _pixels(probe: Probe, frames: np.ndarray) -> list[np.ndarray]:
    """The input of the first layers for frames."""
    model = probe.model
    clip = ClipFrames(frames, tuple(map(float, range(len(frames)))), probe.clips[0].source, float(len(frames)))
    with first_inputs() as (inputs, _):
        if isinstance(model, Encoder):
            model.encode_prepared([model.prepare(clip)])
        else:
            captions, arguments = probe.items.get(0, (probe.captions_of(0)[:1], {}))  # some show a frame with each
            model.score(clip, captions, **arguments)
    arrays = list(inputs.values())
    # Convolutions over time have the channels before the frames, processors the frames before the channels.
    return [*arrays, *(array.swapaxes(1, 2) for array in arrays if array.ndim == 5)]


def _reference(source: ModelSource) -> tuple[Callable[[np.ndarray], np.ndarray | None], bool] | None:
    """Frames to the pixels of a processor loaded anew, and whether it normalises; None where there is none."""
    processor: Processor | None = None
    for backend in ("pil", None):
        try:
            processor = load_processor(source, LoadOptions(), backend)
            break
        except VideoContrastError:  # no such backend, or none at all
            continue
    videos, images = (getattr(processor, f"{what}_processor", None) for what in ("video", "image"))
    if videos is None and images is None:
        return None
    if type(videos) is type(images):  # X-CLIP has one under both names
        videos = None

    def pixels(frames: np.ndarray) -> np.ndarray | None:
        frames = np.ascontiguousarray(frames)
        try:
            if videos is None:
                arrays = pixels_of(cast("Processor", images), frames)  # one of the two is there
            else:
                arrays = videos(videos=[frames], do_sample_frames=False, return_tensors="pt")
        except (TypeError, ValueError):  # frames that it does not take by itself
            return None
        name = next((name for name in arrays if name.startswith("pixel_values")), None)
        return None if name is None else np.asarray(arrays[name], np.float32)

    own = images if videos is None else videos
    mean, std = getattr(own, "image_mean", None), getattr(own, "image_std", None)
    changes = np.any(np.asarray(mean or 0) != 0) or np.any(np.asarray(std or 1) != 1)
    # Where pixels leave it as they are, a network may normalise them itself (Gemma 4).
    return pixels, bool(getattr(own, "do_normalize", True) and changes)


def _difference(pixels: np.ndarray, own_pixels: np.ndarray) -> float:
    """The root of the mean squared difference, in standard deviations of what is expected."""
    change = pixels.ravel() - own_pixels.ravel()
    return float(np.sqrt(np.mean(change**2)) / max(float(own_pixels.std()), 1e-9))


def _fits(
    reference: Callable[[np.ndarray], np.ndarray | None], arrays: list[np.ndarray], frames: np.ndarray
) -> Iterator[tuple[str, float]]:
    """Each of `CHANGES` with the correlation of its pixels with those of the network; also other means and stds."""
    for name, change in {OTHER_MEAN: lambda same: same, **CHANGES}.items():
        expected = reference(change(frames))
        for array in arrays:
            if expected is not None and array.size == expected.size and array.std() > 0 and expected.std() > 0:
                yield name, float(np.corrcoef(array.ravel(), expected.ravel())[0, 1])
