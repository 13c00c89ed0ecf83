"""Two sides compared in full: what screen, JSON and the page show."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path

from video_contrast.files import JsonObject
from video_contrast.reports.layout import Cell, Section, Table, Tone, columns, row
from video_contrast.reports.runs import ConfigRun
from video_contrast.reports.why_differ.evidence import Side, StageResult, pairs_of
from video_contrast.reports.why_differ.shares import Share, shares
from video_contrast.reports.why_differ.stages import compare, first_different


@dataclass(frozen=True)
class StageComparison:
    """Two sides compared for one config."""

    config: str  # its name; "" of two certificates
    first: str | None  # the stage that differs first by itself; None where none does
    stages: list[StageResult]  # all of them, in order
    shares: list[Share]  # of the difference that each stage explains

    @classmethod
    def of(cls, a: Side, b: Side) -> StageComparison:
        """Compares two sides."""
        stages = compare(a, b)
        cause = first_different(stages)
        return cls(a.config or b.config, cause.stage if cause else None, stages, shares(a, b, stages))

    @property
    def verdict(self) -> str:
        """The first stage that differs, or that nothing does."""
        whole = all(result.state == "equal" for result in self.stages)
        return self.first or ("equal" if whole else "nothing differs that both sides record")

    def record(self) -> JsonObject:
        """As JSON."""
        return asdict(self)


def compared(
    first: str | Path, second: str | Path, config: str | None = None, metric: str | None = None
) -> list[StageComparison]:
    """Two runs, logs or certificates compared, config by config; arguments and errors as of `pairs_of`."""
    return [StageComparison.of(a, b) for a, b in pairs_of(first, second, config, metric)]


def differences(runs: list[ConfigRun]) -> Section:
    """The section of a report of two runs that have a config in common: stages and shares; else without parts."""
    section = Section("why-differ", "Why the two runs differ")
    folders = list(dict.fromkeys(run.path for run in runs))
    configs = [{run.key.config for run in runs if run.path == folder} for folder in folders]
    if len(folders) != 2 or not configs[0] & configs[1]:
        return section
    names = [next(run.model for run in runs if run.path == folder) for folder in folders]
    section.lead = f"From {names[0]} to {names[1]}, stage by stage: what differs by itself, and what follows from it."
    for comparison in compared(folders[0], folders[1]):
        tones: dict[str, Tone] = {"differs": "bad", "equal": "good"}
        stages = [
            [Cell(result.stage), Cell(result.state, tone=tones.get(result.state, "quiet")), Cell(result.says)]
            for result in comparison.stages
        ]
        heads = columns("stage", "state", "what was compared", words=3)
        title = f"{comparison.config}: {comparison.verdict}"
        tables = [Table(f"why-differ-{comparison.config}", title, heads, stages)]
        if comparison.shares:
            explained = [row(s.figure, s.stage, f"{s.change:+.4f}", s.part) for s in comparison.shares]
            heads = columns("figure", "stage", "change", "of the difference", words=2)
            tables.append(Table(f"why-differ-shares-{comparison.config}", "What each stage explains", heads, explained))
        section.add(tables, comparison.config)
    return section
