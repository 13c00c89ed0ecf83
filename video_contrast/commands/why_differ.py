"""`video-contrast why-differ A B`: the first stage at which two figures part, and how much each stage explains."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

from video_contrast.commands.command import command
from video_contrast.console import AsJson, print_json
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
    from video_contrast.reports.why_differ import compare, first_different, pairs_of, shares

    reports = []
    for a, b in pairs_of(first, second, config, metric):
        results = compare(a, b)
        cause = first_different(results)
        report = {
            "config": a.config or b.config,
            "first": cause.stage if cause else None,
            "stages": [asdict(result) for result in results],
            "shares": [asdict(share) for share in shares(a, b, results)],
        }
        reports.append(report)
        if not as_json:
            whole = all(result.state == "equal" for result in results)
            verdict = cause.stage if cause else "equal" if whole else "nothing differs that both sides record"
            print(f"{report['config'] or 'certificates'}: {verdict}")
            for line in (*results, *shares(a, b, results)):
                print(f"  {line}")
    if as_json:
        print_json(reports)
