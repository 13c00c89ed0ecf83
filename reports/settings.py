"""With what each run was made: what must stand beside a number for others to compare theirs."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from video_contrast.reports.layout import Cell, Column, Section, Table
from video_contrast.reports.runs import ConfigRun
from video_contrast.storage.run_notes import setting_lines


def settings(runs: Sequence[ConfigRun], links: Mapping[Path, str] | None = None) -> Section:
    """A row a run: frames, joining, prompt; `links` says where runs are read, by their folder."""
    rows = []
    for run in {run.path: run for run in runs}.values():
        record = run.record
        test, missing = record.get("self_test", {}), record.get("n_missing", 0)
        tested = str((test.get("exempt") and "not needed") or ("passed" if test.get("passed") else "not passed"))
        rows.append(
            [
                Cell(
                    run.model,
                    link=(links or {}).get(run.path, ""),
                    note=str(record["model"].get("revision") or "")[:12],
                ),
                Cell("; ".join(setting_lines(record))),
                Cell(tested, tone="" if tested != "not passed" else "bad"),
                Cell(str(missing) if missing else "none", tone="bad" if missing else ""),
            ]
        )
    names = ("model", "settings", "self-test", "missing clips")
    table = Table("settings", "With what each run was made", [Column(name, numeric=False) for name in names], rows)
    return Section("settings", "Settings", parts=[table])
