"""Putting a report together: runs in, one HTML file (or a folder) out."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from video_contrast.console import counted
from video_contrast.errors import UsageError
from video_contrast.files import write_bytes, write_text
from video_contrast.reports.behaviour import behaviour, controls, training
from video_contrast.reports.finding import finding
from video_contrast.reports.gallery import GalleryData, gallery_data
from video_contrast.reports.layout import Cell, Plot, Section, Table, columns, row, with_own_names
from video_contrast.reports.robustness import robustness
from video_contrast.reports.runs import ConfigRun, load_runs
from video_contrast.reports.similarity_plots import audits, similarities
from video_contrast.reports.summary import in_order, kinds, summary
from video_contrast.reports.why_differ.comparison import differences
from video_contrast.storage.run_figures import leading
from video_contrast.storage.run_notes import self_test_lines
from video_contrast.storage.run_settings import setting_lines
from video_contrast.version import __version__

if TYPE_CHECKING:
    from jinja2 import Template

_RECORD_LENGTH = 1500  # characters of an entry of the record


def settings(runs: Sequence[ConfigRun], links: Mapping[Path, str] | None = None) -> Section:
    """The settings of each run, a row a run; `links` says where runs are read, by their folder."""
    rows = []
    for run in {run.path: run for run in runs}.values():
        record = run.record
        test, missing = dict(record.get("self_test", {})), record.get("n_missing", 0)
        tested = str((test.get("exempt") and "not needed") or ("passed" if test.get("passed") else "not passed"))
        revision = str(record["model"].get("revision") or "")[:12]
        rows.append(
            row(
                Cell(run.model, link=(links or {}).get(run.path, ""), note=revision),
                "; ".join(setting_lines(record)),
                Cell(tested, tone="" if tested != "not passed" else "bad"),
                Cell(str(missing) if missing else "none", tone="bad" if missing else ""),
            )
        )
    heads = columns("model", "settings", "self-test", "missing clips", words=4)
    return Section("settings", "Settings", parts=[Table("settings", "With what each run was made", heads, rows)])


# The order of the page. Each gives a section, which is left out where it has nothing to show.
SECTIONS = (summary, training, kinds, robustness, controls, behaviour, similarities, audits, settings, differences)


@dataclass(frozen=True)
class Page:
    """The frame around the sections of a page."""

    title: str  # the heading
    counts: str  # the contents of the page in a few words
    finding: str  # the first sentence
    warnings: Sequence[str] = ()  # to read before the figures
    left_out: Sequence[tuple[str, list[str]]] = ()  # reason -> what was left out
    record: Sequence[tuple[str, list[tuple[str, str]]]] = ()  # headings and their entries, at the end


def write_report(
    runs: Sequence[str | Path],
    output: str | Path,
    *,
    title: Annotated[str, "the heading"] = "Contrast sets and robustness",
    max_failures: Annotated[int, "how many items show frames in a single file"] = 200,
    video_root: Annotated[str | Path | None, "where the clips lie, if they were moved"] = None,
    dataset: Annotated[str | Path | None, "the set's folder, if it was moved"] = None,
    assets: Annotated[str | Path | None, "also write every plot and table here"] = None,
    progress: bool = False,
) -> Path:
    """Writes the report of some runs.

    Returns the HTML file. Raises UsageError: no run there, or a negative `max_failures`; VideoContrastError: a run or
    its set cannot be read.

    Args:
        runs: run directories (`video-contrast score --output`), or folders that hold some.
        output: the file to write (`report.html`), which opens from disk by itself; or, without a suffix, a folder that
            gets `index.html`, the frame strips of every item as files, and every plot and table as SVG, PNG and CSV.
        title, max_failures, video_root, dataset, assets: as the signature says.
        progress: show a bar.
    """
    if max_failures < 0:
        raise UsageError(f"--max-failures must be 0 or more, not {max_failures}")
    loaded = in_order(load_runs([Path(run) for run in runs], video_root=video_root, dataset=dataset))
    target = Path(output)
    folder = not target.suffix
    sections = with_own_names([section for section in (make(loaded) for make in SECTIONS) if section.parts])
    gallery = gallery_data(
        loaded,
        max_failures=10**9 if folder else max_failures,
        progress=progress,
        folder=target / "strips" if folder else None,
        used=sum(len(part.svg) if isinstance(part, Plot) else 2 * len(part.csv) for s in sections for part in s.parts),
    )
    models, configs, sets = {run.model for run in loaded}, {run.key for run in loaded}, {r.key.dataset for r in loaded}
    counts = f"{counted(len(models), 'model')} on {counted(len(configs), 'config')} of {counted(len(sets), 'set')}"
    page = Page(title, counts, finding(loaded), warnings(loaded), left_out(loaded), records(loaded))
    where = Path(assets) if assets is not None else target / "figures" if folder else None
    if where is not None:
        _write_assets(where, sections)
    return write_text(target / "index.html" if folder else target, render_page(page, sections, gallery, folder=folder))


def _write_assets(folder: Path, sections: Sequence[Section]) -> None:
    for part in (part for section in sections for part in section.parts):
        write_text(folder / f"{part.name}.csv", part.csv)
        if isinstance(part, Plot):
            write_text(folder / f"{part.name}.svg", part.file_svg)
            write_bytes(folder / f"{part.name}.png", part.png())


def render_page(
    page: Page, sections: Sequence[Section], gallery: GalleryData | None = None, *, folder: bool = False
) -> str:
    """Renders a page of sections. `gallery`: of `gallery_data`, if any. `folder`: whether files lie beside it."""
    import markupsafe

    here = files("video_contrast.reports")
    markup = markupsafe.Markup
    html: str = _template().render(
        vars(page),
        version=__version__,
        sections=sections,
        gallery=gallery,
        gallery_lead="What each model got wrong, and what it chose instead.",
        csv={part.name: part.csv for section in sections for part in section.parts},
        css=markup((here / "page.css").read_text(encoding="utf-8")),
        js=markup((here / "page.js").read_text(encoding="utf-8")),
        folder=folder,
    )
    return html


@cache
def _template() -> "Template":
    import jinja2
    import markupsafe

    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False, "separators": (",", ":"), "allow_nan": False}
    # Text as markup with its percentages set apart.
    environment.filters["numbers"] = lambda text: markupsafe.Markup(
        re.sub(r"(\d[\d.]*) %", "<b>\\1\u202f%</b>", str(markupsafe.escape(text)))
    )
    environment.filters["share"] = lambda value: round(min(100.0, max(0.0, value)), 2)
    return environment.from_string((files("video_contrast.reports") / "page.html.jinja").read_text(encoding="utf-8"))


def warnings(runs: Sequence[ConfigRun]) -> list[str]:
    """The warnings for a reader who compares: mixed sets, missing videos, trial runs."""
    messages = []
    by_config: dict[tuple[str, str], set[str]] = {}
    for run in runs:
        by_config.setdefault((run.key.config, run.key.split), set()).add(run.key.fingerprint)
    for (config, split), marks in by_config.items():
        if len(marks) > 1:
            messages.append(
                f"The runs hold {len(marks)} different sets called {config} ({split}). Their rows differ, so they "
                "stand in columns of their own and are not compared."
            )
    by_line: dict[str, list[str]] = {}
    for run in runs:
        figure = run.figure(leading(run.layout))
        if figure and figure.mark.startswith("!"):
            line = f"{run.key.short}: {figure.mark[2:]}: such an answer counts as the lowest of its item"
            by_line.setdefault(line, []).append(run.model)
    for record, model in {run.path: (run.record, run.model) for run in runs}.values():
        lines = self_test_lines(record)
        if missing := record.get("n_missing"):
            lines.append(f"{counted(missing, 'video')} missing, figures are over the others")
        if isinstance(limit := record.get("request", {}).get("limit"), int):
            lines.append(f"a trial run on the first {counted(limit, 'clip')}")
        for line in lines:
            by_line.setdefault(line, []).append(model)
    return messages + [f"{', '.join(dict.fromkeys(models))}: {line}." for line, models in by_line.items()]


def left_out(runs: Sequence[ConfigRun]) -> list[tuple[str, list[str]]]:
    """Why conditions were not scored, and which: one entry a reason, over all runs."""
    by_reason: dict[str, dict[str, None]] = {}
    for record in {run.path: run.record for run in runs}.values():
        for name, why in record.get("skipped", {}).items():
            by_reason.setdefault(why, {})[name] = None
    return [(reason, list(names)) for reason, names in by_reason.items()]


def records(runs: Sequence[ConfigRun]) -> list[tuple[str, list[tuple[str, str]]]]:
    """The record of each run directory: a heading, and its entries as text."""
    records = []
    for run in {run.path: run for run in runs}.values():
        entries = []
        for key, value in sorted(run.record.items()):
            text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            if len(text) > _RECORD_LENGTH and not isinstance(value, str):
                text = f"{text[:_RECORD_LENGTH]} … (see run.json)"
            entries += [(key, text)] if value not in ({}, [], None) else []
        records.append((f"{run.model} on {Path(run.key.dataset).name}, {run.key.split}", entries))
    return records
