"""Which frames of a clip are looked at: by number at an even rate, by the same places in time at any other."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.video import POLICIES, Policy, frame_indices, sampled_frames, span_frames

steps = st.lists(st.floats(0.005, 2), min_size=1, max_size=60)
places = st.sampled_from([policy for policy in POLICIES if policy != "steps"])  # which goes by a rate
TOLERANCE = 5.1e-4


def clock(lasting: list[float]) -> tuple[np.ndarray, float]:
    """Times of frames that are shown for so many seconds each, and the end of the last."""
    ends = np.cumsum(lasting)
    return ends - np.asarray(lasting), float(ends[-1])


def test_places_at_an_even_rate() -> None:
    assert frame_indices(12, 6).tolist() == [0, 2, 4, 7, 9, 11]
    assert frame_indices(3, 6).tolist() == [0, 0, 1, 1, 2, 2]
    assert frame_indices(3, 5, "head").tolist() == [0, 1, 2, 2, 2]
    with pytest.raises(UsageError, match="cannot sample"):
        frame_indices(0, 5)
    with pytest.raises(UsageError, match="'middle' is not one of"):
        frame_indices(5, 5, "middle")  # type: ignore[arg-type]


@given(st.integers(1, 3000), st.integers(1, 64), places)
@settings(max_examples=200, deadline=None)
def test_sampled_indices_are_in_range_and_in_order(n_frames: int, count: int, policy: Policy) -> None:
    indices = frame_indices(n_frames, count, policy)
    assert indices.shape == (count,) and indices.dtype == np.int64
    assert indices[0] >= 0 and indices[-1] < n_frames and (np.diff(indices) >= 0).all()
    if n_frames >= count:
        assert len(set(indices.tolist())) == count, "a frame was sampled twice though there are enough"


@given(st.integers(1, 3000), st.integers(1, 32))
@settings(max_examples=200, deadline=None)
def test_uniform_sampling_is_symmetric_in_time_and_spread_evenly(n_frames: int, half: int) -> None:
    indices = frame_indices(n_frames, 2 * half)
    np.testing.assert_array_equal(indices, n_frames - 1 - indices[::-1])
    middles = (np.arange(2 * half) + 0.5) * n_frames / (2 * half)
    assert np.abs(indices + 0.5 - middles).max() <= 1


@given(st.integers(1, 400), st.integers(1, 40), places, st.floats(1, 60), st.integers(0, 2**32))
@settings(max_examples=200, deadline=None)
def test_an_even_rate_is_sampled_by_number_whatever_its_jitter(
    n_frames: int, count: int, policy: Policy, fps: float, seed: int
) -> None:
    times = (np.arange(n_frames) + np.random.default_rng(seed).uniform(-0.2, 0.2, n_frames)) / fps
    sampled = sampled_frames(times, n_frames / fps, count, policy)
    np.testing.assert_array_equal(sampled, frame_indices(n_frames, count, policy))


@given(steps, st.integers(1, 16), places)
@settings(max_examples=300, deadline=None)
def test_a_variable_rate_is_sampled_by_time(lasting: list[float], count: int, policy: Policy) -> None:
    times, end = clock(lasting)
    sampled = sampled_frames(times, end, count, policy)
    assert sampled.shape == (count,) and sampled.dtype == np.int64
    assert sampled[0] >= 0 and sampled[-1] < len(times) and (np.diff(sampled) >= 0).all()
    by_number = frame_indices(len(times), count, policy)
    if policy != "uniform" or np.array_equal(sampled, by_number):
        return
    middles = (np.arange(count) + 0.5) * end / count
    assert (times[sampled] <= middles + 1e-6).all()
    assert (np.append(times, end)[sampled + 1] >= middles - 1e-6).all(), "another frame is shown at that moment"


@given(steps, st.floats(0, 60), st.floats(0.001, 30))
@settings(max_examples=300, deadline=None)
def test_a_span_holds_the_frames_shown_in_it(lasting: list[float], start: float, length: float) -> None:
    times, end = clock(lasting)
    if start >= end:
        with pytest.raises(VideoContrastError, match="past the end"):
            span_frames(times, end, start, start + length)
        return
    first, stop = span_frames(times, end, start, start + length)
    assert 0 <= first < stop <= len(times)
    inside = np.flatnonzero((times >= start) & (times < start + length - 2 * TOLERANCE))
    assert all(first <= k < stop for k in inside)
    assert all(start - 2 * TOLERANCE <= times[k] < start + length for k in range(first, stop)) or stop == first + 1


@given(steps, st.integers(0, 2**32))
@settings(max_examples=100, deadline=None)
def test_spans_that_follow_each_other_share_no_frame(lasting: list[float], seed: int) -> None:
    times, end = clock(lasting)
    cuts = np.sort(np.random.default_rng(seed).choice(times, size=min(3, len(times)), replace=False))
    spans = [span_frames(times, end, a, b) for a, b in zip(cuts, [*cuts[1:], None], strict=True)]
    assert all(a[1] == b[0] for a, b in itertools.pairwise(spans))
