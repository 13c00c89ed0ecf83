"""The colours of the report: text that can be read, series that colour-blind readers tell apart."""

import re
from importlib.resources import files

import numpy as np
import numpy.typing as npt
import pytest

from video_contrast.reports.figures import SERIES
from video_contrast.reports.runs import series_numbers

Vector = npt.NDArray[np.float64]
# What is left of linear RGB without one kind of cones (Machado, Oliveira, Fernandes 2009, severity 1).
SIGHT = {
    "usual": np.eye(3),
    "no red": np.array([[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]]),
    "no green": np.array([[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]]),
}
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def themes() -> dict[str, dict[str, str]]:
    css = (files("video_contrast.reports") / "page.css").read_text(encoding="utf-8")
    light, dark = re.search(r":root {(.*?)}", css, re.S), re.search(r'\[data-theme="dark"\] {(.*?)}', css, re.S)
    assert light and dark
    return {
        name: dict(re.findall(r"--([\w-]+): (#\w{6})", found[1])) for name, found in (("light", light), ("dark", dark))
    }


def linear(colour: str) -> Vector:
    parts = np.array([int(colour[n : n + 2], 16) for n in (1, 3, 5)]) / 255
    return np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    low, high = sorted(float(XYZ[1] @ linear(colour)) for colour in (one, other))
    return (high + 0.05) / (low + 0.05)


def lab(rgb: Vector) -> Vector:
    x, y, z = (np.cbrt(v) if v > 0.008856 else 7.787 * v + 16 / 116 for v in XYZ @ rgb.clip(0, 1) / (0.9505, 1, 1.089))
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_words_stand_out_from_the_paper(theme: str) -> None:
    colours = themes()[theme]
    for ground in ("paper", "wash"):
        for ink in ("ink", "muted", "good", "bad", "accent"):
            assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
    assert contrast(colours["mark-ink"], colours["mark"]) >= 4.5
    assert min(contrast(colours[f"s{n}"], colours["paper"]) for n in range(len(SERIES))) >= 3


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_series_are_told_apart(theme: str, sight: str) -> None:
    seen = [lab(SIGHT[sight] @ linear(themes()[theme][f"s{n}"])) for n in range(5)]
    apart = [float(np.linalg.norm(seen[a] - seen[b])) for a in range(5) for b in range(a)]
    assert min(apart) >= 15


def test_plots_and_page_agree_on_the_colours() -> None:
    assert [themes()["light"][f"s{n}"] for n in range(len(SERIES))] == list(SERIES)


def test_a_model_has_one_colour_in_all_reports_and_no_other_model_has_it_in_one() -> None:
    names = [f"me/model-{n}" for n in range(20)]
    alone = {name: series_numbers([name])[name] for name in names}
    assert len(set(alone.values())) > 4
    numbers = series_numbers(names)
    assert len(set(numbers.values())) == len(names)
    kept = [name for name in names if list(alone.values()).count(alone[name]) == 1]
    assert all(numbers[name] == alone[name] for name in kept)
    assert sorted(series_numbers(names[: len(SERIES)]).values()) == list(range(len(SERIES)))
