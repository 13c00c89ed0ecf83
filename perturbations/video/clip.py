"""Perturbing a clip that is in memory: which stream each perturbation draws from, and nothing else.

The stream of a clip is named by (seed, perturbation, version, video_id, start, end), that of one of its frames by
the same and the frame's index. So every caption and set of a video shares one perturbed clip, and the noise of a
frame does not depend on which other frames were sampled. Severity is not part of the name: the severities of a clip
differ in strength, not in luck.
"""

from itertools import islice
from typing import NotRequired, TypedDict, Unpack

import numpy as np
import numpy.typing as npt

from video_contrast.errors import UsageError, unknown_name
from video_contrast.perturbations.registry import VideoSpec, video_spec
from video_contrast.seeds import NoiseStreams, Part
from video_contrast.video import as_frames

Frames = npt.NDArray[np.uint8]
PROFILES = ("paper", "released", "monotone")
SEVERITIES = (1, 2, 3, 4, 5)
ON_DEVICE_AT_ONCE = 1 << 22  # numbers of frames in a kernel, which needs some forty bytes for each in every thread


class ClipKey(TypedDict):
    """Names the random stream of a clip: its video, and its seconds in it (None or absent: all of it)."""

    video_id: str
    start: NotRequired[float | None]
    end: NotRequired[float | None]


def perturb_clip(
    frames: Frames, name: str, severity: int, *, seed: int = 0, profile: str = "paper", **key: Unpack[ClipKey]
) -> Frames:
    """A perturbed clip.

    Args:
        frames: uint8[T, H, W, 3], RGB, T >= 1, any size.
        name: one of `NAMES`.
        severity: 1 to 5.
        seed: of the random stream.
        profile: "paper"; "released" (the authors' code where it differs); "monotone" (damage rises with severity).
        key: `video_id`, and `start` and `end`, the clip's seconds in its video: they name the random stream.

    Returns:
        uint8[T, H, W, 3], a new array; `translate` gives uint8[T, 224, 224, 3].

    Raises:
        UsageError: an unknown name or profile, a severity outside 1..5, or frames that are not uint8 RGB.
    """
    frames = as_frames(frames)
    spec, constants, _ = resolve(name, severity, profile)
    if spec.acts == "temporal":
        return frames[index_map(name, len(frames), severity, seed=seed, profile=profile, **key)]
    if spec.acts == "codec":
        stream_parts(spec, seed, **key)  # nothing is drawn, but a wrong keyword is one all the same
        coded: Frames = spec.function(frames, int(severity), **constants)
        return coded
    return perturb_frames(frames, np.arange(len(frames)), name, severity, seed=seed, profile=profile, **key)


def perturb_frames(
    frames: Frames,
    frame_indices: npt.ArrayLike,
    name: str,
    severity: int,
    *,
    seed: int = 0,
    profile: str = "paper",
    device: str | None = None,
    **key: Unpack[ClipKey],
) -> Frames:
    """Sampled frames of a clip under a per-frame perturbation: `perturb_clip(all)[frame_indices]`, bit for bit.

    Args:
        frames: uint8[K, H, W, 3], the sampled frames.
        frame_indices: int[K], the place of each in the whole clip.
        name: a perturbation that acts frame by frame; for any of the 18 see `VideoCondition`.
        severity: 1 to 5.
        seed, profile, key: as of `perturb_clip`.
        device: a torch device for the perturbations that have a kernel there (`torch_kernels`: the same pixels, or
            within one grey level); None: numpy.

    Raises:
        UsageError: as `perturb_clip`, and for a temporal or codec perturbation or another number of indices.
    """
    frames = as_frames(frames)
    spec, constants, one_stream = resolve(name, severity, profile)
    if spec.acts != "frame":
        raise UsageError(f"{name} does not act frame by frame: use perturb_clip, or VideoCondition on sampled frames")
    indices = np.asarray(frame_indices, dtype=np.int64)
    if indices.shape != (len(frames),):
        raise UsageError(f"{len(frames)} frames need as many frame indices, not {indices.shape}")
    streams = NoiseStreams()
    parts = stream_parts(spec, seed, **key)
    rngs = (streams.at(*parts) if one_stream else streams.at(*parts, index) for index in indices.tolist())
    if device is not None and has_kernel(name):
        import torch

        from video_contrast.perturbations.video.torch_kernels import KERNELS

        with torch.inference_mode():
            pixels = torch.from_numpy(np.ascontiguousarray(frames))
            done = [
                KERNELS[name](part.to(device), int(severity), islice(rngs, len(part)), **constants).cpu().numpy()
                for part in pixels.split(max(1, ON_DEVICE_AT_ONCE // max(1, pixels[0].numel())))
            ]
        return np.concatenate(done)
    out: Frames | None = None
    for position, rng in enumerate(rngs):
        changed = spec.function(np.ascontiguousarray(frames[position]), int(severity), rng, **constants)
        if out is None:
            out = np.empty((len(frames), *changed.shape), dtype=np.uint8)
        out[position] = changed
    assert out is not None
    return out


def has_kernel(name: str) -> bool:
    """Whether a perturbation can run on a torch device."""
    from video_contrast.perturbations.video.torch_kernels import KERNELS

    return name in KERNELS


def is_exact_on_device(name: str) -> bool:
    """Whether a perturbation has the same pixels, to the last bit, when it is asked to run on a torch device."""
    from video_contrast.perturbations.video.torch_kernels import EXACT

    return name in EXACT or not has_kernel(name)


def index_map(
    name: str, length: int, severity: int, *, seed: int = 0, profile: str = "paper", **key: Unpack[ClipKey]
) -> npt.NDArray[np.int64]:
    """Which clean frame a temporal perturbation shows at each place of a clip, int64[length].

    Args:
        length: frames of the clip, at least 1.
        name, severity, seed, profile, key: as of `perturb_clip`.

    Raises:
        UsageError: as `perturb_clip`, and for a perturbation that is not temporal or a clip without frames.
    """
    spec, constants, _ = resolve(name, severity, profile)
    if spec.acts != "temporal":
        raise UsageError(f"{name} changes pixels; index maps exist for the temporal perturbations only")
    if length < 1:
        raise UsageError(f"a clip of {length} frames is empty")
    rng = NoiseStreams().at(*stream_parts(spec, seed, **key))
    index: npt.NDArray[np.int64] = spec.function(int(length), int(severity), rng, **constants)
    return index


def resolve(name: str, severity: int, profile: str) -> tuple[VideoSpec, dict[str, object], bool]:
    """The perturbation, its constants under a profile, and whether a clip's frames share one stream.

    Raises UsageError: an unknown name or profile (the nearest is suggested), or a severity outside 1..5.
    """
    spec = video_spec(name)
    whole = isinstance(severity, int | np.integer) and not isinstance(severity, bool)
    if not whole or severity not in SEVERITIES:
        raise UsageError(f"severity must be a whole number from 1 to 5, not {severity!r}")
    if profile not in PROFILES:
        raise unknown_name("profile", profile, PROFILES)
    constants = dict(spec.profiles.get(profile, {}))
    return spec, constants, constants.pop("stream", "frame") == "clip"


def stream_parts(
    spec: VideoSpec, seed: int, video_id: str, start: float | None = None, end: float | None = None
) -> tuple[Part, ...]:
    """The name of a clip's stream; `start, end`: the clip's seconds in its video."""
    span = tuple(None if edge is None else float(edge) for edge in (start, end))
    return int(seed), spec.name, spec.version, str(video_id), *span
