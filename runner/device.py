"""The device and dtype of a run's model, how exactly it computes there, and loading it."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from weakref import WeakSet

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.runner.job import Job
from video_contrast.runner.kinds.base import Encoder, LoadOptions, PairScorer, TextScorer
from video_contrast.runner.kinds.model_recipes import recipe_of
from video_contrast.runner.model_files import files_of
from video_contrast.runner.processes import Processes

LOADED: WeakSet[object] = WeakSet()  # the torch modules of models that are in memory


def load_model(job: Job, device: str, dtype: str) -> Encoder | PairScorer | TextScorer:
    """The model of a job, in one of the families that can be scored with.

    `device`: "cpu", "cuda", "cuda:1" ... `dtype`: "float32", "bfloat16" or "float16". Raises VideoContrastError: it
    cannot be loaded, or its files changed meanwhile.
    """
    options = job.options
    if options.preprocess_on == "device" and job.kind.name != "dual_encoder":
        raise UsageError(f"--preprocess-on device is for models of the kind dual_encoder, not {job.kind.name}")
    load = LoadOptions(
        device=device, dtype=dtype, device_map=options.device_map, trust_remote_code=options.trust_remote_code,
        batch_size=options.batch_size, preprocess_on=options.preprocess_on, options=job.kind_options,
    )  # fmt: skip
    recipe = recipe_of(job.source, job.kind.name)
    try:
        model = job.kind.load(job.source, load)
        has_changed = files_of(job.source) != job.source.files
    except (VideoContrastError, OSError) as error:
        if job.source.path is not None and not job.source.path.exists():
            raise VideoContrastError(f"{job.source.name} was removed while it was loaded") from error
        if recipe is not None and (wrong := recipe.contradictions(job.source.config)):
            raise VideoContrastError(f"{recipe.family}: {'; '.join(wrong)}; and {error}") from error
        raise
    if has_changed:  # the model in memory may be of no revision, or of one that nobody has read
        raise VideoContrastError(f"the files of {job.source.name} changed while it was loaded; run the command again")
    if not isinstance(model, Encoder | PairScorer | TextScorer):
        raise VideoContrastError(f"the kind {job.kind.name} made a {type(model).__name__}, not a model to score with")
    if recipe is not None and model.reads_times is None:
        model.reads_times = recipe.reads_times
    if torch := sys.modules.get("torch"):
        LOADED.update(part for part in vars(model).values() if isinstance(part, torch.nn.Module))
    return model


def device_of(job: Job, processes: Processes) -> tuple[str, str]:
    """Device and dtype of the model."""
    import torch

    options = job.options
    if job.kind.family == "text" and options.device == "auto":
        return "cpu", "float32"
    device = processes.device if options.device == "auto" else options.device
    try:
        torch_device = torch.device(device)
    except RuntimeError as error:
        raise UsageError(f"--device {device!r} is not a torch device (cpu, cuda, cuda:1, mps ...)") from error
    if torch_device.type == "cuda" and not torch.cuda.is_available():
        raise UsageError(f"--device {device}: torch sees no GPU; give --device cpu, or install torch for your GPU")
    if torch_device.type == "cuda" and (torch_device.index or 0) >= (count := torch.cuda.device_count()):
        there = f"{count} GPUs, cuda:0 to cuda:{count - 1}" if count > 1 else "one GPU, cuda:0"
        raise UsageError(f"--device {device}: torch sees {there}")
    if device == "cuda" and processes.device.startswith("cuda"):
        device = processes.device  # of several processes each has a GPU of its own, for its decoding threads too
    if options.device_map and processes.count > 1:
        raise UsageError("--device-map spreads one model over the devices; run it in one process")
    if options.dtype != "auto":
        return device, options.dtype
    return device, "float32" if device == "cpu" else job.source.dtype


@contextmanager
def full_float32() -> Iterator[None]:
    """Products of float32 numbers are float32, not TF32: those of one clip would depend on the others of its batch."""
    import torch

    parts = [torch.backends.cudnn, torch.backends.cuda.matmul]
    try:
        before = [part.allow_tf32 for part in parts]
    except RuntimeError:  # whoever calls has set it by parts, which torch does not tell: so it stays
        yield
        return
    for part in parts:
        part.allow_tf32 = False
    try:
        yield
    finally:
        for part, before_of_part in zip(parts, before, strict=True):
            part.allow_tf32 = before_of_part
