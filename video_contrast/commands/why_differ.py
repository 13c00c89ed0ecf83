"""`video-contrast why-differ A B`: the first stage at which two figures part, and how much each stage explains."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from video_contrast.commands.command import command
from video_contrast.console import AsJson, tell
from video_contrast.options import Flag


@command("why-differ", "video-contrast why-differ runs/plain runs/temporal --config verb_mc")
def why_differ(
    first: Annotated[Path, "a run's folder, a log of another harness, or a certificate", Flag("A")],
    second: Annotated[Path, "another", Flag("B")],
    *,
    config: Annotated[str | None, "one config that both have; default: all"] = None,
    metric: Annotated[str | None, "which figure of other harnesses' logs; default: the first"] = None,
    as_json: AsJson = False,
) -> None:
    """Why do two numbers differ? Names the stage: frames, pixels, prompt, model, key ...

    Stages in order: set, frames, pixels, prompt, model, raw scores, reading of answers, joining, figure. Then the share
    of the difference that each explains, where stages can be exchanged.
    """
    from video_contrast.reports.why_differ.comparison import compared

    comparisons = compared(first, second, config, metric)
    lines = []
    for comparison in comparisons:
        lines.append(f"{comparison.config or 'certificates'}: {comparison.verdict}")
        lines += [f"  {line}" for line in (*comparison.stages, *comparison.shares)]
    tell(list(map(asdict, comparisons)), lines, as_json, print)
