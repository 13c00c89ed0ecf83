"""Edited clips: their pictures are those of arrays that are cut by hand, on true times, and sampled part by part."""

from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.video_files import in_sequence, turn_pictures, write_clip
from video_contrast.video import (
    Clip,
    Segment,
    UnseenEdit,
    footage_of,
    index_of,
    pause,
    sampled_frames,
    write_video,
)
from video_contrast.video.footage import GREY, fitted
from video_contrast.video.segments import segments_problem
from video_contrast.video.timeline import grid_frames

A, B = "a.mkv", "b.mkv"


def stutter(number: int) -> int:
    """Times that hold every fourth frame for three steps."""
    return number + 2 * ((number + 3) // 4)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Five clips.

    a.mkv: 26 frames at 25 a second; b.mkv: the same pictures at a variable rate; sound.mp4: and with a longer track of
    sound; turned.mp4: as a phone stores it; wide.mp4: of another size.
    """
    folder = tmp_path_factory.mktemp("clips")
    write_clip(folder / A)
    write_clip(folder / B, shown_at=stutter)
    write_clip(folder / "sound.mp4", shown_at=stutter, sound=3.0)
    write_clip(folder / "turned.mp4")
    turn_pictures(folder / "turned.mp4")
    rng = np.random.default_rng(0)
    write_video(folder / "wide.mp4", rng.integers(0, 255, (10, 32, 96, 3)).astype(np.uint8), 10, quality="lossless")
    return folder


def edited(*segments: Segment) -> Clip:
    return Clip("edit", segments[0].video_path or A, segments=segments)


def shown_at(root: Path, segments: tuple[Segment, ...], moment: float, size: tuple[int, int]) -> np.ndarray:
    """What an edit shows at a moment, from the whole sources and nothing else: float[H, W, 3]."""
    begin = 0.0
    layers: list[tuple[float, np.ndarray]] = []  # weight, picture
    for at, segment in enumerate(segments):
        begin -= segment.fade
        local = moment - begin
        if 0 <= local < segment.seconds:
            picture = np.full((*size, 3), GREY, np.uint8)
            if segment.video_path:
                back = (
                    segment.end - local * segment.speed if segment.reversed else segment.start + local * segment.speed
                )
                path = root / segment.video_path
                first = index_of(path).span(segment.start, segment.end)[0]
                number = max(first, int(np.flatnonzero(index_of(path).times <= back)[-1]))
                picture = in_sequence(path)[number]
                picture = fitted(np.rot90(picture, -1) if path.stem == "turned" else picture, size)
                picture = picture[:, ::-1] if segment.mirrored else picture
            fade_out = segments[at + 1].fade if at + 1 < len(segments) else 0.0
            if segment.fade and local < segment.fade:
                layers.append((local / segment.fade, picture))
            elif fade_out and local >= segment.seconds - fade_out:
                layers.append(((segment.seconds - local) / fade_out, picture))
            else:
                layers.append((1.0, picture))
        begin += segment.seconds
    return sum(weight * picture.astype(float) for weight, picture in layers) / sum(weight for weight, _ in layers)


RECIPES = {
    "two clips": (Segment(A, 0.0, 0.6), Segment(B, 0.5, 1.3)),
    "a gap": (Segment(A, 0.2, 0.6), pause(0.2), Segment(B, 0.0, 0.8)),
    "a cross-fade": (Segment(A, 0.0, 0.6), Segment(B, 0.5, 1.3, fade=0.2)),
    "backwards": (Segment(A, 0.1, 0.9, reversed=True),),
    "backwards, at a variable rate": (Segment(B, 0.0, 1.4, reversed=True),),
    "mirrored": (Segment(A, 0.0, 0.4, mirrored=True),),
    "slow, then fast": (Segment(A, 0.0, 0.4, speed=0.5), Segment(B, 0.0, 1.2, speed=2.0)),
    "three times": (Segment(A, 0.0, 0.3), pause(0.1)) * 2 + (Segment(A, 0.0, 0.3),),
    "sizes": (Segment(A, 0.0, 0.4), Segment("wide.mp4", 0.0, 0.8, mirrored=True)),
    "turned, then with sound": (Segment("turned.mp4", 0.0, 0.6, mirrored=True), Segment("sound.mp4", 0.3, 1.5)),
}


@pytest.mark.parametrize("name", RECIPES)
def test_pictures_are_those_of_the_sources_cut_by_hand(root: Path, name: str) -> None:
    segments = RECIPES[name]
    footage = footage_of(root, edited(*segments))
    times = footage.times
    assert times[0] == 0 and (np.diff(times) > 0).all()
    length = sum(segment.seconds - segment.fade for segment in segments)
    assert footage.timeline.end == pytest.approx(length, abs=1e-9)
    pictures = footage.decode(range(*footage.span))
    until = [*times[1:], length]
    for begin, end, picture in zip(times, until, pictures, strict=True):
        expected = shown_at(root, segments, (begin + end) / 2, picture.shape[:2])
        assert np.abs(picture - expected).max() <= 0.51, f"{name} at {begin:.3f} s"


def test_pictures_have_the_size_of_the_smallest_clip_whatever_comes_first(root: Path) -> None:
    one, other = RECIPES["sizes"]
    shapes = {footage_of(root, edited(*parts)).decode([0]).shape for parts in ((one, other), (other, one))}
    assert shapes == {(1, 48, 64, 3)} or shapes == {(1, 32, 96, 3)}


@pytest.mark.parametrize("count", [4, 6, 8, 16])
@pytest.mark.parametrize(("between", "fade"), [((), 0.0), ((pause(0.15),), 0.0), ((), 0.1)])
def test_the_same_frames_are_seen_whichever_part_comes_first(
    root: Path, between: tuple[Segment, ...], fade: float, count: int
) -> None:
    one, other = Segment(A, 0.1, 0.9), Segment(B, 0.0, 1.2)
    seen = []
    for first, second in ((one, other), (other, one)):
        parts = (first, *between, replace(second, fade=fade))
        footage = footage_of(root, edited(*parts))
        sources = [footage.timeline.pictures[n].first for n in footage.timeline.sample(count)]
        seen.append(Counter((parts[source.segment].video_path, source.number) for source in sources))
    assert seen[0] == seen[1] and sum(seen[0].values()) == count


@pytest.mark.parametrize("path", [A, B])
@pytest.mark.parametrize("count", [3, 6, 8])
def test_a_clip_and_its_reversal_are_seen_in_the_same_frames(root: Path, path: str, count: int) -> None:
    orders = []
    for backwards in (False, True):
        footage = footage_of(root, edited(Segment(path, 0.0, 1.0, reversed=backwards)))
        orders.append([footage.timeline.pictures[n].first.number for n in footage.sample(count, "uniform")])
    assert orders[0] == orders[1][::-1] and len(set(orders[0])) > 2


def sources(root: Path, clip: Clip, count: int) -> list[list[int]]:
    """The numbers of the sampled frames of each segment, in the order in which they are shown."""
    footage = footage_of(root, clip)
    shown: list[list[int]] = [[] for _ in clip.segments]
    for picture in footage.timeline.sample(count):
        source = footage.timeline.pictures[picture].first
        shown[source.segment].append(source.number)
    return shown


@pytest.mark.parametrize("path", [A, B])
def test_an_edit_shows_the_frames_at_which_its_file_is_sampled(root: Path, path: str) -> None:
    index = index_of(root / path)
    whole = index.sample((0, index.n_frames), 8).tolist()
    assert sources(root, edited(Segment(path, 0.0, index.end)), 8) == [whole]
    # As many frames a second as of the whole file, or fewer: no others.
    parts = (Segment(path, 0.0, 0.6 * index.end), pause(index.end / 2), Segment(path, 0.3 * index.end, 0.9 * index.end))
    shown = sources(root, edited(*parts), 8)
    assert {number for part in (0, 2) for number in shown[part]} < set(whole)


@given(
    n_frames=st.integers(1, 300),
    coarse=st.integers(1, 24),
    count=st.integers(1, 40),
    ends=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    seed=st.none() | st.integers(0, 99),
)
def test_parts_show_different_frames_of_one_grid_at_even_distances(
    n_frames: int, coarse: int, count: int, ends: tuple[float, float], seed: int | None
) -> None:
    """Of any file, at an even rate or not (`seed`)."""
    steps = np.ones(n_frames) if seed is None else np.random.default_rng(seed).uniform(0.2, 3.0, n_frames)
    times = np.cumsum(steps) - steps[0]
    first = min(int(min(ends) * n_frames), n_frames - 1)
    stop = max(first + 1, int(max(ends) * n_frames))
    level = sampled_frames(times, float(times[-1]) + 1, coarse)
    chosen = grid_frames(times, level, (first, stop), count)
    assert len(chosen) == count and chosen == sorted(chosen)
    assert all(first <= number < stop for number in chosen)
    assert len(set(chosen)) == min(count, stop - first)
    inside = {int(number) for number in level if first <= number < stop}
    if count < stop - first:
        assert set(chosen) <= inside if len(inside) >= count else inside <= set(chosen)
    if seed is None and 2 < count < stop - first:
        gaps = np.diff(chosen)
        assert gaps.max() <= 2 * gaps.min() + 3  # frames lie at whole numbers


def test_parts_of_one_file_share_their_frames(root: Path) -> None:
    """Parts of many lengths, cut out around one place, show few frames that the whole file does not show."""
    index = index_of(root / A)
    shown: set[int] = set()
    for share in np.linspace(0.4, 1.0, 13):
        seconds = round(share * index.end, 3)
        begin = round((index.end - seconds) / 2, 3)
        part = Segment(A, begin, begin + seconds)
        shown.update(sources(root, edited(part, Segment(B, 0.0, index.end / 2)), 6)[0])
    assert len(shown) <= 1.3 * 6 + 1


def test_a_part_that_is_seen_less_than_twice_is_said_to_be_unseen(root: Path) -> None:
    clip = edited(Segment(A, 0.0, 0.4), Segment(B, 0.0, 0.1), Segment(A, 0.4, 0.9))
    with pytest.raises(UnseenEdit, match=r"segment 2 of 3 is in [01] of 8 frames, where 2 are needed"):
        footage_of(root, clip).sample(8, "uniform")
    assert len(footage_of(root, clip).sample(48, "uniform")) == 48


@pytest.mark.parametrize(
    ("segments", "problem"),
    [
        ([], "needs at least one"),
        ([pause(1.0)], "shows no video"),
        ([Segment("../a.mp4", 0.0, 1.0)], "must be relative"),
        ([Segment(A, 0.0, 1.0, speed=0.0)], "speed 0"),
        ([Segment(A, 0.0, float("nan"))], "no number from 0 on"),
        ([Segment(A, 0.0, 1.0, fade=0.1)], "fades in with none before it"),
        ([Segment(A, 0.0, 1.0), Segment(A, 0.0, 0.1, fade=0.2)], "shorter than its cross-fades"),
    ],
)
def test_a_wrong_recipe_is_told_by_what_is_wrong(segments: list[Segment], problem: str) -> None:
    assert problem in (segments_problem([segment.record() for segment in segments]) or "")


def test_a_segment_behind_the_end_of_its_file_is_broken(root: Path) -> None:
    with pytest.raises(Exception, match="past the end of the video"):
        footage_of(root, edited(Segment(A, 5.0, 6.0)))
