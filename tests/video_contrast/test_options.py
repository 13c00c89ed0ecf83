"""An option is declared once: functions, help and records read the declaration."""

import inspect
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pytest

from video_contrast.errors import UsageError
from video_contrast.options import POSITIVE, Seed, as_record, bind, options_of, with_options


@dataclass(frozen=True, kw_only=True)
class Sampling:
    PANEL: ClassVar[str] = "How"
    frames: Annotated[int | None, "frames a clip"] = None
    policy: Annotated[Literal["uniform", "head"], "where they lie"] = "uniform"


@dataclass(frozen=True, kw_only=True)
class Request(Sampling):
    PANEL: ClassVar[str] = "Where"
    root: Annotated[Path | None, "where the videos lie"] = None


@with_options
def run(model: str, *, request: Request = Request(root=Path("here")), seed: Seed = 0) -> tuple[Any, ...]:
    """Runs.

    Args:
        model: which.

    Returns:
        What it was called with.
    """
    return model, request, seed


def test_fields_of_a_group_are_keyword_arguments_and_texts_become_paths() -> None:
    assert run("m", frames=4, root="videos", seed=2) == ("m", Request(frames=4, root=Path("videos")), 2)
    assert run("m", request=Request(frames=4), policy="head") == ("m", Request(frames=4, policy="head"), 0)
    assert run(model="m")[1] == Request(root=Path("here"))


def test_an_unknown_option_suggests_the_nearest() -> None:
    with pytest.raises(UsageError, match="unknown option of run 'frame': did you mean 'frames'"):
        run("m", frame=4)
    with pytest.raises(UsageError, match="unknown value of --policy 'unifrom': did you mean 'uniform'"):
        run("m", policy="unifrom")
    for given in ({"seed": "x"}, {"seed": 1.5}, {"seed": True}, {"frames": "8"}):
        [[name, value]] = given.items()
        with pytest.raises(UsageError, match=f"--{name} takes a whole number, not {value!r} .in Python: {name}="):
            run("m", **given)
    assert type(run("m", seed=np.int64(3))[2]) is int
    with pytest.raises(UsageError, match="run needs --model"):
        run()


def test_help_shows_every_option() -> None:
    assert list(inspect.signature(run).parameters) == ["model", "frames", "policy", "root", "seed"]
    text = inspect.getdoc(run)
    assert text is not None
    assert "    model: which.\n    frames: frames a clip\n" in text
    assert "    policy: where they lie (uniform, head) [default: uniform]" in text
    assert text.endswith("Returns:\n    What it was called with.")


def test_the_record_and_the_panels_are_read_from_the_declaration() -> None:
    assert as_record(Request(root=Path("a"))) == {"frames": None, "policy": "uniform", "root": "a"}
    options = options_of(run)
    assert [options[name].flag.panel for name in ("frames", "root")] == ["How", "Where"]
    assert options["root"].default == Path("here")


def test_an_option_of_two_groups_is_refused() -> None:
    def twice(*, one: Sampling = Sampling(), two: Sampling = Sampling()) -> None: ...

    with pytest.raises(TypeError, match="declares an option twice"):
        options_of(twice)


def test_an_argument_is_not_given_twice() -> None:
    with pytest.raises(TypeError, match="run: multiple values for argument 'model'"):
        run("m", model="n")


def test_numbers_out_of_range_are_told_whole_with_their_place_and_those_of_numpy_are_recorded_as_numbers() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Rate:
        fps: Annotated[float, "a second", POSITIVE] = 1.0

    with pytest.raises(UsageError, match=r"^run 2: --fps must be above 0, not -123456789$"):
        bind(Rate, {"fps": -123456789}, "run 2")
    assert as_record(Rate(**bind(Rate, {"fps": np.float32(0.5)}))) == {"fps": 0.5}


def test_bind_names_where_the_option_is_missing() -> None:
    assert bind(run, {"model": "m", "frames": 3}, "command") == {
        "model": "m", "request": Request(frames=3, root=Path("here")),
    }  # fmt: skip
