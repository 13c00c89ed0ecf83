"""A random stream depends on its name and on nothing else."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from video_contrast.seeds import Streams, digest, stream

PART = st.one_of(st.text(max_size=10), st.integers(-(2**60), 2**60), st.none(), st.booleans())


@given(st.lists(PART, max_size=4), st.lists(PART, max_size=4))
def test_equal_names_and_only_they_give_equal_streams(left: list, right: list) -> None:
    # True == 1 in Python, but they are different names
    same = [(type(x), x) for x in left] == [(type(x), x) for x in right]
    assert (digest(*left) == digest(*right)) == same


def test_parts_do_not_run_together() -> None:
    assert digest("a", "bc") != digest("ab", "c")
    assert digest("1") != digest(1)


def test_a_reused_generator_equals_a_new_one_whatever_was_drawn_before() -> None:
    streams = Streams()
    streams.at("noise").standard_normal(7)
    streams.at("noise").integers(10, size=3, dtype=np.int32)
    reused = streams.at(0, "keyboard", "1", "video7", 3)
    assert (reused.integers(1000, size=20) == stream(0, "keyboard", "1", "video7", 3).integers(1000, size=20)).all()


def test_names_keep_their_digest_between_versions() -> None:
    # sets that were published with a seed must be rebuildable
    assert digest(0, "keyboard", "1", "clip", None).hex().startswith("935bfb21584f26d9cb1d0025")


def test_the_stream_is_the_same_in_another_process() -> None:
    code = "from video_contrast.seeds import stream; print(stream(0, 'keyboard', 'clip').integers(10**6, size=3))"
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    assert other == str(stream(0, "keyboard", "clip").integers(10**6, size=3))


@pytest.mark.parametrize("part", [np.int64(3), (1, 2), b"x", np.float32(0.5)])
def test_numpy_scalars_and_containers_are_refused(part: object) -> None:
    with pytest.raises(TypeError, match="plain values"):
        digest("a", part)  # type: ignore[arg-type]


def test_draws_look_uniform_over_names() -> None:
    draws = np.array([stream("uniform", i).random() for i in range(4000)])
    assert abs(draws.mean() - 0.5) < 0.02
    assert abs(np.corrcoef(draws[:-1], draws[1:])[0, 1]) < 0.06
