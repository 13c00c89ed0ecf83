"""Certificates beside the runs of a leaderboard: which model has one, and what speaks against it.

They lie in the folder of a run, or in `certificates` beside it; those of the package count, too. What can be computed
without the model is: the clips' frames and times, the captions, and whether the weights are those of the run.
"""

from collections.abc import Iterator

import numpy as np

from video_contrast.errors import VideoContrastError
from video_contrast.files import Json
from video_contrast.golden import CAPTIONS, CERTIFICATES, GOLDEN
from video_contrast.reports.runs import ConfigRun
from video_contrast.reports.why_differ import certificate_side, compare, failed_stage
from video_contrast.reports.why_differ.aligned import GREY_LEVELS, summary_gap
from video_contrast.runner.conditions import Visual
from video_contrast.runner.evidence import summary
from video_contrast.runner.sets import load_set
from video_contrast.runner.views import Sampling, views_of
from video_contrast.storage.certificates import certificates_in, is_of

MOST_FRAMES = 768  # of a clip that are decoded at the word of a certificate


def certified(run: ConfigRun) -> str:
    """What the row of a model says of the first certificate that it has; "" where none is known."""
    known = certificates_in(run.path, run.path.parent / "certificates", CERTIFICATES)
    own = (certificate for _, certificate in known if is_of(certificate, run.record))
    model = next((one["model"] for one in own if not _other_weights(one, run)), None)
    return f"certified: revision {model['revision'][:12]}, {model['dtype']}" if model else ""


def contradicted(run: ConfigRun) -> Iterator[str]:
    """What speaks against the certificates that lie in a run's folder or beside it, a line each.

    Raises VideoContrastError: a certificate is damaged.
    """
    shipped = [certificate for _, certificate in certificates_in(CERTIFICATES) if is_of(certificate, run.record)]
    if any(_other_weights(certificate, run) for certificate in shipped):
        yield "its weights are not those of the package's certificate of this revision"
    for path, certificate in certificates_in(run.path):
        if not is_of(certificate, run.record):
            yield f"{path.name} is a certificate of another revision, kind, options or dtype"
    for path, certificate in certificates_in(run.path, run.path.parent / "certificates"):
        if is_of(certificate, run.record):
            try:
                yield from (f"{path.name}: {line}" for line in _faults(certificate, run, shipped))
            except (KeyError, TypeError, ValueError, AttributeError) as error:
                raise VideoContrastError(f"{path} is no whole certificate: {error!r}") from error


def _other_weights(certificate: Json, run: ConfigRun) -> bool:
    weights = run.folder.evidence.get("network", {}).get("weights")
    return bool(weights and certificate["model"].get("weights") != weights)


def _faults(certificate: Json, run: ConfigRun, shipped: list[Json]) -> Iterator[str]:
    side = certificate_side(certificate, "it")
    if _other_weights(certificate, run):
        yield "its weights are not those of the run"
    for own in shipped:
        if stage := failed_stage(compare(side, certificate_side(own, "the package's"))):
            yield f"it differs from the package's certificate in the {stage.stage}: {stage.says}"
    golden = {item.clip.name: item for item in load_set(CAPTIONS, None, "test").groups[0].items}
    if not {(name, item.texts[item.label]) for name, item in golden.items()} <= side.traces.keys():
        yield "it lacks some of the golden eight"
    sampling = Sampling(**certificate["sampling"])
    if sampling.frames > MOST_FRAMES:
        yield f"it claims {sampling.frames} frames a clip"
        return
    for (name, _), trace in side.traces.items():
        if name not in golden:
            yield f"its clip {name!r} is none of the golden eight"
            continue
        view = next(views_of(GOLDEN, golden[name].clip, (Visual(),), sampling))
        if summary_gap(summary(view.frames), trace["frames"]) > GREY_LEVELS:
            yield f"its frames of {name} are not those of the golden clip"
        if not np.allclose(view.times, trace["times"], atol=2e-3):
            yield f"its times of {name} are not those of the golden clip"
