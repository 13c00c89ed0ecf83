"""The papers' tables as data (`published/`), and ours beside theirs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from video_contrast.errors import UsageError, VideoContrastError, unknown_name
from video_contrast.runner.engine import RunResult, score

NAMES = ("contrast_sets", "robustness", "rcad")


@dataclass(frozen=True)
class Recipe:
    """What must be scored for a paper's tables.

    Attributes:
        parts: (name of the run, configs, split) each.
        conditions: scored in all of them.
        build: the command that makes the set.
    """

    parts: tuple[tuple[str, tuple[str, ...], str], ...]
    conditions: str
    build: str


RECIPES = {
    "contrast_sets": Recipe(
        (
            ("retrieval", ("retrieval",), "test_1k_a"),
            ("choices", ("random_mc", "gender_mc", "verb_lm_mc", "verb_human_mc"), "test"),
        ),
        "clean",
        "video-contrast build msrvtt --data-dir ANNOTATIONS --output sets/msrvtt",
    ),
    "robustness": Recipe(
        (("retrieval", ("retrieval",), "test_1k_a"),),
        "clean,visual:*,text:*,pairs",
        "video-contrast build msrvtt retrieval --data-dir ANNOTATIONS --output sets/msrvtt",
    ),
    "rcad": Recipe(
        (("rcad", ("rcad_msrvtt", "rcad_vatex"), "test"),),
        "clean",
        "video-contrast build feint6k --msrvtt feint6k_msrvtt.csv --vatex feint6k_vatex.csv --output sets/feint6k",
    ),
}


def published(name: str) -> dict[str, Any]:
    """A paper's tables: title, source, citation, notes on known errors, and tables of rows (model, figures).

    Raises:
        UsageError: no such paper.

    >>> row = published("contrast_sets")["tables"][0]["rows"][0]
    >>> row["model"], row["figures"]["verb_lm_mc"]["value"]
    ('CLIP zero-shot', 65.4)
    """
    import json

    if name not in NAMES:
        raise unknown_name("paper", name, NAMES)
    text = (files("video_contrast.runner") / "published" / f"{name}.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def reproduce(
    name: str,
    model: str,
    dataset: str | Path,
    *,
    output: str | Path,
    video_root: str | Path | None = None,
    splits: dict[str, str] | None = None,
    conditions: str | None = None,
    **settings: Any,
) -> tuple[list[str], dict[str, Any]]:
    """Scores what a paper's tables need and puts our figures beside the published ones.

    Args:
        name: "contrast_sets", "robustness" or "rcad".
        model: as for `score`.
        dataset: the built set; configs that it lacks are left out and named.
        output: a folder for the runs; a finished part is not scored again.
        splits: part -> another split than the paper's.
        conditions: other conditions than the paper's.
        settings: the other arguments of `score`.

    Returns:
        (lines of text, {"ours": figures, "published": the paper's tables, "left_out": config -> why}).
    """
    paper = published(name)
    recipe = RECIPES[name]
    ours: dict[str, dict[str, float]] = {}
    counts: dict[str, int] = {}
    left_out: dict[str, str] = {}
    for part, configs, split in recipe.parts:
        for config in configs:
            try:
                result = score(
                    model, dataset, config, split=(splits or {}).get(part, split), output=Path(output) / config,
                    video_root=video_root, conditions=conditions or recipe.conditions, **settings,
                )  # fmt: skip
            except UsageError as error:
                if "config of" not in str(error) and "split of" not in str(error):
                    raise
                left_out[config] = str(error)
                continue
            entry = result[config]
            clean = entry["conditions"]["clean"]
            counts[config] = int(clean.get("n") or clean["n_captions"])
            for key, value in _figures(name, config, entry).items():
                ours.setdefault("rcad_" + config.removeprefix("rcad_") if name == "rcad" else "", {})[key] = value
            left_out |= {condition: why for condition, why in _skipped(result).items()}
    if not ours:
        raise VideoContrastError(
            f"{dataset} has none of the configs of {name} ({'; '.join(left_out.values())}); "
            f"make it with `{recipe.build}`"
        )
    return lines(paper, model, ours, counts, left_out), {"ours": ours, "published": paper, "left_out": left_out}


def _skipped(result: RunResult) -> dict[str, str]:
    return dict(result.record.get("skipped", {}))


def _figures(name: str, config: str, entry: dict[str, Any]) -> dict[str, float]:
    """Our figures under the keys of the published tables."""
    clean = entry["conditions"]["clean"]
    if name == "robustness":
        found: dict[str, float] = {}
        robust = entry["robustness"].get("t2v_R@5") or entry["robustness"]["t2v_R@1"]
        for group, means in robust.items():
            if group in ("clean", "conditions"):
                continue
            for gamma in ("gamma_absolute", "gamma_relative"):
                if means[gamma] is not None:
                    found[f"{group}:{gamma}"] = means[gamma]
        return found
    if name == "rcad":
        from_scores = {"R@1": 100 * clean["accuracy"], "mean_rank": clean["mean_rank"]}
        return {**from_scores, **{k: 100 * clean[k] for k in ("R@2", "R@3") if k in clean}}
    if entry["layout"] == "retrieval":
        return {key: 100 * clean[key] for key in ("v2t_R@1", "t2v_R@1")}
    return {config: 100 * clean["accuracy"]}


def lines(
    paper: dict[str, Any],
    model: str,
    ours: dict[str, dict[str, float]],
    counts: dict[str, int],
    left_out: dict[str, str],
) -> list[str]:
    """The published rows with ours below each table, the sources, and the known errors."""
    found = [paper["title"], f"published: {paper['source']}"]
    for table in paper["tables"]:
        columns = list(dict.fromkeys(key for row in table["rows"] for key in row["figures"]))
        found += ["", f"{table['name']}: {table['what']}"]
        head = [_short(column) for column in columns]
        widths = [max(len(word), 7) for word in head]
        found.append(f"{'':44}" + "  ".join(f"{word:>{w}}" for word, w in zip(head, widths, strict=True)))
        for dataset in dict.fromkeys(row["dataset"] for row in table["rows"]):
            for row in table["rows"]:
                if row["dataset"] == dataset:
                    figures = {key: cell["value"] for key, cell in row["figures"].items()}
                    found.append(f"{dataset + ': ' + row['model']:44}" + _cells(columns, figures, widths))
            mine = ours.get(dataset) or (ours.get("") if dataset.startswith("msrvtt") else None)
            if mine and any(column in mine for column in columns):
                found.append(f"{dataset + ': ours, ' + model[-30:]:44}" + _cells(columns, mine, widths))
    found += ["", "items: " + ", ".join(f"{config} {n}" for config, n in counts.items())]
    found += [f"left out: {name}: {why}" for name, why in left_out.items()]
    found += [f"known: {note}" for note in paper["notes"]]
    return found


def _short(column: str) -> str:
    return column.replace("gamma_absolute", "abs").replace("gamma_relative", "rel")


def _cells(columns: Sequence[str], figures: dict[str, float], widths: Sequence[int]) -> str:
    cells = [f"{figures[c]:.2f}" if c in figures else "-" for c in columns]
    return "  ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
