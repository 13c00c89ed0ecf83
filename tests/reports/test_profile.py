"""The profile of models over kinds of contrast."""

import csv
import io
from pathlib import Path

import fabricate

from video_contrast.builders.registry import BuiltSet
from video_contrast.builders.writing import write_set
from video_contrast.reports.runs import load_runs
from video_contrast.reports.summary import kinds, profiles
from video_contrast.rows import edit_record, multiple_choice_row

KINDS = ("role", "order", "count", "place")


def made(root: Path, names: tuple[str, ...]) -> list:
    rows = [
        multiple_choice_row(
            id=f"v{number}#{kind}", video_id=f"v{number}", video_path=f"v{number}.mp4", label=number % 2,
            candidates=[f"a man {n} sings {number}" for n in range(2)][:: -1 if number % 2 else 1],
            kinds=["true", kind][:: -1 if number % 2 else 1],
            edits=[None, edit_record("0", "1", 6, generator="rules")][:: -1 if number % 2 else 1], replaced=None,
        )
        for number in range(20)
        for kind in names
    ]  # fmt: skip
    facts = {"summary": "s", "sources": [], "seed": 0, "configs": {"contrast_mc": {}}}
    write_set(BuiltSet("captions", {"contrast_mc": {"test": rows}}, facts), root / "set")
    for name, skill in (("good", 3.0), ("poor", 0.1)):
        fabricate.make_run(root / "runs" / name, root / "set", ("contrast_mc",), model=name, skill=skill)
    return load_runs([root / "runs"])


def test_a_profile_shows_every_model_on_every_kind_with_its_interval(tmp_path: Path) -> None:
    runs = made(tmp_path, KINDS)
    (plot,) = profiles(runs)
    lines = list(csv.DictReader(io.StringIO(plot.csv)))
    assert {(line["model"], line["kind"]) for line in lines} == {(m, k) for m in ("good", "poor") for k in KINDS}
    for line in lines:
        run = next(run for run in runs if run.model == line["model"])
        assert float(line["accuracy"]) == run.folder.numbers(run.key.config, "clean")[f"accuracy_{line['kind']}"]
        assert float(line["low"]) <= float(line["accuracy"]) <= float(line["high"])
        assert (line["items"], float(line["chance"])) == ("20", 0.5)
    assert all(kind in plot.svg for kind in KINDS)
    assert [part.name for part in kinds(runs).figures] == [plot.name]


def test_two_kinds_make_no_profile(tmp_path: Path) -> None:
    assert profiles(made(tmp_path, KINDS[:2])) == []
