"""A run's numbers as a table, and what has to be said about them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from video_contrast.console import counted
from video_contrast.reports.terminal import PAIR_SCORES, STRICTER, UNPARSEABLE, kinds_of
from video_contrast.runner.job import RunResult
from video_contrast.storage.missing_clips import missing_clips, remark_lines
from video_contrast.storage.run_records import Gammas, Numbers, unparseable_mark
from video_contrast.storage.self_test import self_test_lines

if TYPE_CHECKING:
    from rich.table import Table


MANY = 40  # conditions of a config, from which on perturbations are shown by their means


def table(result: RunResult) -> Table:
    """A row a config and condition, with one for each kind of contrast where there are several, then the mean gammas.

    Of many conditions the means by category are shown instead.

    Gammas and accuracies are shares; an interval is 95 %, by bootstrap over videos.
    """
    from rich import box
    from rich.table import Table

    rows: list[tuple[str, ...] | None] = []
    for config, entry in result.metrics["configs"].items():
        many = len(entry["conditions"]) > MANY
        for condition, numbers in entry["conditions"].items():
            if not many or condition == "clean" or condition.startswith("control:"):
                rows.append((config, condition, *_cells(entry["layout"], numbers)))
                rows += [("", "", *cells) for cells in _kinds(numbers)]
        for score, robust in entry.get("robustness", {}).items():
            if score.endswith("R@5"):
                continue
            for group, means in robust.items():
                if group in ("visual", "text", "pairs") or (many and group not in ("clean", "conditions", "at_chance")):
                    at_chance = ", clean at chance" if robust.get("at_chance") else ""
                    rows.append((config, f"gamma {group}, {score}{at_chance}", _gammas(means), "", str(means["n"])))
        rows.append(None)
    columns = ("config", "condition", "score", "chance", "n")
    used = [n for n in range(len(columns)) if any(row is not None and row[n] for row in rows)]
    output = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for n in used:
        output.add_column(columns[n], justify="right" if columns[n] in ("chance", "n") else "left", overflow="fold")
    for row in rows:
        if row is None:
            output.add_section()
        else:
            output.add_row(*(row[n] for n in used))
    return output


def remarks(result: RunResult) -> list[str]:
    """What was left out, halved or missing; nothing where all went as asked."""
    record = result.record
    lines = [f"left out: {name}: {why}" for name, why in record.get("skipped", {}).items()]
    lines += [f"note: {note}" for note in record.get("notes", ())]
    lines += self_test_lines(record)
    conditions = (numbers for entry in result.metrics["configs"].values() for numbers in entry["conditions"].values())
    lines += [UNPARSEABLE] if any(map(unparseable_mark, conditions)) else []
    if record.get("n_unseen"):
        clips = counted(record["n_unseen"], "edited clip")
        lines.append(f"{clips} left out: too few frames are sampled to show the edit")
    if record.get("n_missing"):
        lines.append(f"{missing_clips(record)} missing; every figure is over the clips that all conditions have:")
        lines += _files(record["missing"])
    if record.get("damaged"):
        videos = counted(len(record["damaged"]), "damaged video")
        lines.append(f"{videos} scored all the same (--accept-damaged):")
        lines += _files(record["damaged"])
    return lines + remark_lines(record.get("remarks", {}))


def _files(reasons: Mapping[str, str], most: int = 5) -> list[str]:
    """A line a file with what is wrong with it, the first few; a reason that names the file does so once."""
    lines = [f"  {path}: {why.removeprefix(f'{path}: ')}" for path, why in list(reasons.items())[:most]]
    return lines + ([f"  and {len(reasons) - most} more (run.json)"] if len(reasons) > most else [])


def _cells(layout: str, numbers: Numbers) -> tuple[str, str, str]:
    """Score, chance, n."""
    unparseable = "".join(f"  {mark}" for mark in (unparseable_mark(numbers),) if mark)
    if layout == "retrieval":
        both = "  ".join(f"{way} {_share(numbers, f'{way}_R@1')}" for way in ("t2v", "v2t"))
        each = dict.fromkeys(f"{numbers[f'{way}_chance_R@1']:.3f}" for way in ("t2v", "v2t"))  # one if equal
        return both + unparseable, " ".join(each), str(numbers["n_captions"])
    if layout == "pairs" and "text_score" in numbers:
        names = [name for name in PAIR_SCORES if name in numbers]
        shares = "  ".join(f"{name.removesuffix('_score')} {_interval(numbers, name)}" for name in names)
        chances = " ".join(f"{numbers[f'chance_{name}']:.3f}" for name in names)
        return shares + unparseable, chances, str(numbers["groups"])
    more = "".join(f"  {words} {_interval(numbers, name)}" for name, words in STRICTER.items() if name in numbers)
    return f"accuracy {_share(numbers, 'accuracy')}{more}{unparseable}", f"{numbers['chance']:.3f}", str(numbers["n"])


def _kinds(numbers: Numbers) -> list[tuple[str, str, str]]:
    """Score, chance and n of each kind of contrast; none where there is only one."""
    rows = []
    for kind in kinds_of(numbers):
        accuracy = f"  {kind} {_interval(numbers, f'accuracy_{kind}')}"
        rows.append((accuracy, f"{numbers[f'chance_{kind}']:.3f}", str(numbers[f"n_{kind}"])))
    return rows if len(rows) > 1 else []


def _share(numbers: Numbers, key: str) -> str:
    name = "" if key == "accuracy" else key.partition("_")[2] + " "
    return f"{name}{_interval(numbers, key)}"


def _interval(numbers: Numbers, key: str) -> str:
    low, high = numbers.get(f"{key}_low"), numbers.get(f"{key}_high")
    # `\[`: rich takes a bracket for the beginning of a style
    interval = f" \\[{low:.3f}, {high:.3f}]" if low is not None and high is not None else ""
    return f"{numbers[key]:.3f}{interval}"


def _gammas(means: Gammas) -> str:
    def shown(name: str) -> str:
        value, spread = means[name], means[f"{name}_sd"]
        return "undefined" if value is None else f"{value:.3f} (sd {spread:.3f})"

    return f"absolute {shown('gamma_absolute')}, relative {shown('gamma_relative')}"
