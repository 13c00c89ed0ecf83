"""`video-contrast doctor`: is a model read as it was trained? Verdicts in seconds, before anything is scored."""

from __future__ import annotations

from typing import Annotated

from video_contrast.commands.command import command
from video_contrast.commands.score import kind_options
from video_contrast.console import AsJson, tell
from video_contrast.errors import VideoContrastError
from video_contrast.options import Configs, Flag, names_in
from video_contrast.runner.options import MODEL, SCORED, ScoreOptions


@command("doctor", "video-contrast doctor temporal", more=kind_options)
def doctor(
    model: Annotated[str, "Hub id, folder or packaged one", Flag(panel=MODEL)],
    *,
    dataset: Annotated[str, "folder of a set, Hub id, or shapes", Flag(panel=SCORED)] = "shapes",
    config: Annotated[Configs, Flag(panel=SCORED)] = None,
    alternatives: Annotated[bool, "try other plausible settings, too; says what that costs", Flag(panel=MODEL)] = False,
    request: ScoreOptions,
    as_json: AsJson = False,
) -> None:
    """Test on eight items if a model sees, reads and scores steadily; exit code 1 if not, unless accepted."""
    from video_contrast import api
    from video_contrast.runner.doctor.result import accepted_checks

    test = api.doctor(model, dataset, names_in(config) or "random_mc", alternatives=alternatives, request=request)
    accepted_names = accepted_checks(request.accept)
    result = {"model": model, **test.record(accepted_names), "input": test.rendered}
    tell(result, [f"{model}: {test.exempt}"] if test.exempt else test.verdicts, as_json, print)
    checks = [verdict.check for verdict in test.of("fail") if verdict.check not in accepted_names]
    if checks:
        raise VideoContrastError(f"{model} failed {len(checks)} of {len(test.verdicts)} checks: {', '.join(checks)}")
