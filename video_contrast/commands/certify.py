"""`video-contrast certify MODEL`: what a model gives for eight shipped clips, to be compared with that of others."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from video_contrast.commands.command import command
from video_contrast.commands.score import kind_options
from video_contrast.console import AsJson, tell
from video_contrast.errors import VideoContrastError
from video_contrast.golden import CAPTIONS
from video_contrast.options import Flag
from video_contrast.runner.options import MODEL, ScoreOptions
from video_contrast.runner.score_call import make_job


@command("certify", "video-contrast certify temporal", more=kind_options)
def certify(
    model: Annotated[str, "Hub id, folder or packaged one", Flag(panel=MODEL)],
    *,
    against: Annotated[str | None, "certificate to compare with: a file or an https address", Flag(panel=MODEL)] = None,
    request: ScoreOptions,
    as_json: AsJson = False,
) -> None:
    """Write what a model gives for eight shipped clips, or check it by a certificate.

    Exit code 1 if a stage differs by more than its tolerance (frames, pixels, tokens, scores).
    """
    from video_contrast.reports.why_differ import certificate_side, compare, failed_stage
    from video_contrast.runner import self_test
    from video_contrast.storage.certificates import read_certificate, write_certificate

    other = None if against is None else read_certificate(against)
    certificate = self_test.certify(make_job(model, CAPTIONS, None, folder=None, request=request))
    if other is None:
        path = write_certificate(certificate, request.output)
        tell({"written": path, **certificate}, [path], as_json)
        return
    own, other_side = certificate_side(certificate, model), certificate_side(other, str(against))
    results = compare(own, other_side)
    stage = failed_stage(results)
    both = own.traces.keys() & other_side.traces.keys()
    if stage is None and len(both) < len(own.traces):
        raise VideoContrastError(
            f"{against} holds {len(both)} of the {len(own.traces)} golden items, so nothing passes by it; "
            "write it again with `certify --output`"
        )
    known_results = [result for result in results if result.state != "unknown"]
    result = {"passed": stage is None, "first": stage and stage.stage, "stages": list(map(asdict, known_results))}
    tell(result, [*known_results, *(["pass"] if stage is None else [])], as_json, print)
    if stage is not None:
        raise VideoContrastError(f"{model} differs from {against} in the {stage.stage}: {stage.says}")
