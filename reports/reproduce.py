"""The papers' tables as data (`published/`), and ours beside theirs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from video_contrast.errors import UsageError, VideoContrastError, unknown_name
from video_contrast.reports.reproduce_set import FEINT6K, MSRVTT, Annotations, find_set
from video_contrast.runner.job import RunResult
from video_contrast.runner.scoring import score
from video_contrast.storage import SetFolder

NAMES = ("contrast_sets", "robustness", "rcad")


@dataclass(frozen=True)
class Recipe:
    """What must be scored for a paper's tables.

    Attributes:
        parts: (name of the run, configs, split) each.
        conditions: scored in all of them.
        annotations: how the set is made.
    """

    parts: tuple[tuple[str, tuple[str, ...], str], ...]
    conditions: str
    annotations: Annotations


RECIPES = {
    "contrast_sets": Recipe(
        (
            ("retrieval", ("retrieval",), "test_1k_a"),
            ("choices", ("random_mc", "gender_mc", "verb_lm_mc", "verb_human_mc"), "test"),
        ),
        "clean",
        MSRVTT,
    ),
    "robustness": Recipe(
        (("retrieval", ("retrieval",), "test_1k_a"), ("videoqa", ("random_mc",), "test")),
        "clean,visual:*,text:*,pairs",
        MSRVTT,
    ),
    "rcad": Recipe(
        (("rcad", ("rcad_msrvtt", "rcad_vatex"), "test"),),
        "clean",
        FEINT6K,
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
    text = (files("video_contrast.reports") / "published" / f"{name}.json").read_text(encoding="utf-8")
    return dict(json.loads(text))


def default_output(name: str, model: str) -> Path:
    """Where a reproduction's runs lie when no folder is named.

    >>> default_output("rcad", "openai/clip-vit-base-patch32").as_posix()
    'runs/reproduce-rcad-openai-clip-vit-base-patch32'
    """
    import re

    return Path("runs") / f"reproduce-{name}-{re.sub(r'[^A-Za-z0-9._]+', '-', model).strip('-.')}"


def reproduce(
    name: str,
    model: str,
    dataset: str | Path | None = None,
    *,
    output: str | Path | None = None,
    data_dir: str | Path | None = None,
    video_root: str | Path | None = None,
    parts: Sequence[str] | None = None,
    splits: dict[str, str] | None = None,
    conditions: str | None = None,
    log: Callable[[str], None] = print,
    **settings: Any,
) -> tuple[list[str], dict[str, Any]]:
    """Scores what a paper's tables need and puts our figures beside the published ones.

    Args:
        name: "contrast_sets", "robustness" or "rcad".
        model: as for `score`.
        dataset: the built set; configs that it lacks are left out and named. Where None it is `sets/<builder>`, made
            from the annotations if it is not there.
        output: a folder for the runs (`default_output` where None); a finished part is not scored again.
        data_dir: the annotations; looked for beside the videos where None.
        parts: which parts of the recipe ("retrieval", "choices", "videoqa", "rcad"); all where None, except
            "videoqa", which costs three times the rest.
        splits: part -> another split than the paper's.
        conditions: other conditions than the paper's.
        log: told what takes long.
        settings: the other arguments of `score`.

    Returns:
        (lines of text, {"ours": figures, "published": the paper's tables, "left_out": config -> why, "items": ...}).

    Raises:
        UsageError: no such paper or part, or no set and nothing to make it of.
        VideoContrastError: nothing could be scored.
    """
    paper = published(name)
    recipe = RECIPES[name]
    known = [part for part, _, _ in recipe.parts]
    for part in parts or ():
        if part not in known:
            raise unknown_name(f"part of {name}", part, known)
    scored_parts = [part for part in recipe.parts if part[0] in (parts or [p for p in known if p != "videoqa"])]
    if dataset is None:
        every = [config for _, configs, _ in scored_parts for config in configs]
        dataset = find_set(recipe.annotations, every, data_dir=data_dir, video_root=video_root, log=log)
    base = Path(output) if output is not None else default_output(name, model)
    ours: dict[str, dict[str, float]] = {}
    items: dict[str, str] = {}
    left_out: dict[str, str] = {
        part: f"give --part {part} (multiple-choice VideoQA, three times the clips)"
        for part in known
        if part == "videoqa" and part not in [entry[0] for entry in scored_parts]
    }
    for part, configs, split in scored_parts:
        for config in configs:
            try:
                result = score(
                    model, dataset, config, split=(splits or {}).get(part) or _split_in(dataset, config, split),
                    output=base / config, video_root=video_root, conditions=conditions or recipe.conditions, **settings,
                )  # fmt: skip
            except UsageError as error:
                if "config of" not in str(error) and "split of" not in str(error):
                    raise
                left_out[config] = f"{dataset} does not have it in the split {split!r}"
                continue
            entry = result[config]
            clean = entry["conditions"]["clean"]
            items[config] = f"{int(clean.get('n') or clean['n_captions']):,}" + _missing(result)
            for key, value in _figures(name, config, entry).items():
                ours.setdefault(_key(name, part, config, dataset), {})[key] = value
            left_out |= dict(result.record.get("skipped", {}))
    if not ours:
        raise VideoContrastError(
            f"{dataset} has none of the configs of {name} ({'; '.join(left_out.values())}); "
            f"make it with `{recipe.annotations.command}`"
        )
    table = {"ours": ours, "published": paper, "left_out": left_out, "items": items}
    return lines(paper, model, ours, items, left_out), table


def _split_in(dataset: str | Path, config: str, split: str) -> str:
    """The paper's split; YouCook2's papers test on its validation clips."""
    return "validation" if _builder(dataset) == "youcook2" else split


def _builder(dataset: str | Path) -> str:
    return SetFolder(Path(dataset)).builder


def _key(name: str, part: str, config: str, dataset: str | Path) -> str:
    """Under which data set's rows our figures stand."""
    if name == "rcad":
        return config
    if part == "videoqa":
        return "msrvtt_qa"
    return _builder(dataset) if _builder(dataset) in ("youcook2", "lsmdc_ids") else "msrvtt"


def _missing(result: RunResult) -> str:
    """Says on how many clips a figure stands, where some are missing."""
    missing = result.record.get("n_missing", 0)
    return f" (n_missing {missing:,}: scored on the clips that are there)" if missing else ""


def _figures(name: str, config: str, entry: dict[str, Any]) -> dict[str, float]:
    """Our figures under the keys of the published tables."""
    clean = entry["conditions"]["clean"]
    if name == "robustness":
        gammas: dict[str, float] = {}
        measured = entry.get("robustness", {})
        robust = measured.get("t2v_R@5") or measured.get("t2v_R@1") or measured.get("accuracy") or {}
        for group, means in robust.items():
            if group in ("clean", "conditions"):
                continue
            for gamma in ("gamma_absolute", "gamma_relative"):
                if means[gamma] is not None:
                    gammas[f"{group}:{gamma}"] = means[gamma]
        return gammas
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
    items: dict[str, str],
    left_out: dict[str, str],
) -> list[str]:
    """The published rows with ours below each table, the sources, and the known errors."""
    text = [paper["title"], f"published: {paper['source']}"]
    for table in paper["tables"]:
        columns = list(dict.fromkeys(key for row in table["rows"] for key in row["figures"]))
        text += ["", f"{table['name']}: {table['what']}"]
        head = [_short(column) for column in columns]
        widths = [max(len(word), 7) for word in head]
        text.append(f"{'':44}" + "  ".join(f"{word:>{w}}" for word, w in zip(head, widths, strict=True)))
        for dataset in dict.fromkeys(row["dataset"] for row in table["rows"]):
            for row in table["rows"]:
                if row["dataset"] == dataset:
                    figures = {key: cell["value"] for key, cell in row["figures"].items()}
                    text.append(f"{dataset + ': ' + row['model']:44}" + _cells(columns, figures, widths))
            own = ours.get(dataset)
            if own and any(column in own for column in columns):
                text.append(f"{dataset + ': ours, ' + model[-30:]:44}" + _cells(columns, own, widths))
    text += [""]
    if items:
        text += ["items: " + ", ".join(f"{config} {n}" for config, n in items.items())]
    text += [f"left out: {name}: {why}" for name, why in left_out.items()]
    text += [f"known: {note}" for note in paper["notes"]]
    return text


def _short(column: str) -> str:
    return column.replace("gamma_absolute", "abs").replace("gamma_relative", "rel")


def _cells(columns: Sequence[str], figures: dict[str, float], widths: Sequence[int]) -> str:
    cells = [f"{figures[c]:.2f}" if c in figures else "-" for c in columns]
    return "  ".join(f"{cell:>{width}}" for cell, width in zip(cells, widths, strict=True))
