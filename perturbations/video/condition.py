"""Perturbing a clip that is in memory, or its sampled frames only: one visual condition of an evaluation.

The stream of a clip is named by (seed, perturbation, version, video_id, start, end), that of one of its frames by
the same and the frame's index. So every caption and set of a video shares one perturbed clip, and the noise of a
frame does not depend on which other frames were sampled. Severity is not part of the name: the severities of a clip
differ in strength, not in luck.

A per-frame perturbation touches the sampled frames, a temporal one their indices, a codec the groups of pictures
that hold them. The result is what perturbing the whole clip and then sampling it gives, bit for bit.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Literal, NotRequired, TypedDict, Unpack, cast

import numpy as np
import numpy.typing as npt

from video_contrast.errors import UsageError, check_names
from video_contrast.files import Json
from video_contrast.perturbations.registry import Frames, VideoSpec, video_spec
from video_contrast.perturbations.video.codecs import GROUP
from video_contrast.rows import VideoRecipe
from video_contrast.seeds import NoiseStreams, Part
from video_contrast.video import as_frames

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

    Returns uint8[T, H, W, 3], a new array; `translate` gives uint8[T, 224, 224, 3]. Raises UsageError: an unknown name
    or profile, a severity outside 1..5, or frames that are not uint8 RGB.

    Args:
        frames: uint8[T, H, W, 3], RGB, T >= 1, any size.
        name: one of `NAMES`.
        severity: 1 to 5.
        seed: of the random stream.
        profile: "paper"; "released" (the authors' code where it differs); "monotone" (damage rises with severity).
        key: `video_id`, and `start` and `end`, the clip's seconds in its video: they name the random stream.
    """
    frames = as_frames(frames)
    spec, constants, _ = resolve(name, severity, profile)
    if spec.acts == "temporal":
        return frames[index_map(name, len(frames), severity, seed=seed, profile=profile, **key)]
    if spec.acts == "codec":
        stream_parts(spec, seed, **key)  # nothing is drawn, but a wrong keyword is one all the same
        return np.asarray(spec.function(frames, int(severity), **constants), np.uint8)
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

    Raises UsageError: as `perturb_clip`, and for a temporal or codec perturbation or another number of indices.

    Args:
        frames: uint8[K, H, W, 3], the sampled frames.
        frame_indices: int[K], the place of each in the whole clip.
        name: a perturbation that acts frame by frame; for any of the 18 see `VideoCondition`.
        severity: 1 to 5.
        seed, profile, key: as of `perturb_clip`.
        device: a torch device for the perturbations that have a kernel there (`torch_kernels`: the same pixels, or
            within one grey level); None: numpy.
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
            frame_parts = [
                KERNELS[name](part.to(device), int(severity), islice(rngs, len(part)), **constants).cpu().numpy()
                for part in pixels.split(max(1, ON_DEVICE_AT_ONCE // max(1, pixels[0].numel())))
            ]
        return np.concatenate(frame_parts)
    out: Frames | None = None
    for position, rng in enumerate(rngs):
        new_frame = spec.function(np.ascontiguousarray(frames[position]), int(severity), rng, **constants)
        if out is None:
            out = np.empty((len(frames), *new_frame.shape), dtype=np.uint8)
        out[position] = new_frame
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
    """The clean frames that a temporal perturbation shows at each place of a clip, int64[length].

    Raises UsageError: as `perturb_clip`, and for a perturbation that is not temporal or a clip without frames.

    Args:
        length: frames of the clip, at least 1.
        name, severity, seed, profile, key: as of `perturb_clip`.
    """
    spec, constants, _ = resolve(name, severity, profile)
    if spec.acts != "temporal":
        raise UsageError(f"{name} changes pixels; index maps exist for the temporal perturbations only")
    if length < 1:
        raise UsageError(f"a clip of {length} frames is empty")
    rng = NoiseStreams().at(*stream_parts(spec, seed, **key))
    return np.asarray(spec.function(int(length), int(severity), rng, **constants), np.int64)


def resolve(name: str, severity: int, profile: str) -> tuple[VideoSpec, dict[str, object], bool]:
    """The perturbation, its constants under a profile, and whether a clip's frames share one stream.

    Raises UsageError: an unknown name or profile (the nearest is suggested), or a severity outside 1..5.
    """
    spec = video_spec(name)
    whole = isinstance(severity, int | np.integer) and not isinstance(severity, bool)
    if not whole or severity not in SEVERITIES:
        raise UsageError(f"severity must be a whole number from 1 to 5, not {severity!r}")
    check_names("profile", [profile], PROFILES)
    constants = dict(spec.profiles.get(profile, {}))
    return spec, constants, constants.pop("stream", "frame") == "clip"


def stream_parts(
    spec: VideoSpec, seed: int, video_id: str, start: float | None = None, end: float | None = None
) -> tuple[Part, ...]:
    """The name of a clip's stream; `start, end`: the clip's seconds in its video."""
    span = tuple(None if edge is None else float(edge) for edge in (start, end))
    return int(seed), spec.name, spec.version, str(video_id), *span


Indices = npt.NDArray[np.int64]
Scope = Literal["clip", "video"]
Order = Literal["perturb_then_sample", "sample_then_perturb"]
SCOPES = ("clip", "video")
ORDERS = ("perturb_then_sample", "sample_then_perturb")


@dataclass(frozen=True)
class VideoCondition:
    """A visual perturbation at a severity, and the frames to which it refers."""

    name: str  # one of `NAMES`
    severity: int  # 1 to 5
    profile: str = "paper"  # "paper", "released" or "monotone"
    seed: int = 0  # of the random streams
    # what length, frame indices and streams refer to: the "clip" between start and end (default), or the whole
    # "video", which is perturbed and then cut.
    scope: Scope = "clip"
    # perturb the clip and then sample it (default), or sample it and perturb the samples as if they were the
    # clip. The two differ for temporal perturbations and codecs.
    order: Order = "perturb_then_sample"

    def __post_init__(self) -> None:
        resolve(self.name, self.severity, self.profile)
        check_names("scope", [self.scope], SCOPES)
        check_names("order", [self.order], ORDERS)

    @classmethod
    def from_recipe(cls, recipe: Mapping[str, Json]) -> "VideoCondition":
        """The condition of a row's `video_perturbation`."""
        return cls(**{field: recipe[field] for field in cls.__dataclass_fields__})

    def recipe(self) -> VideoRecipe:
        """Returns what a row's `video_perturbation` holds."""
        return cast(VideoRecipe, asdict(self))

    def sources(self, indices: npt.ArrayLike, length: int, **key: Unpack[ClipKey]) -> Indices:
        """The clean frames that must be decoded to show the frames `indices`, ascending and each once, int64[M].

        `indices`: int[K], the sampled frames, in the numbering of `scope`: of the clip, or of the whole video.
        `length`: how many frames the clip (the video) has. `key`: video id and span of the clip, as of `perturb_clip`.
        """
        return np.unique(self.needed(indices, length, **key))

    def needed(self, indices: npt.ArrayLike, length: int, **key: Unpack[ClipKey]) -> Indices:
        """The clean frame behind each of the frames `indices`, in their order; of a codec all frames of their groups.

        `indices, length, key`: as of `sources`.
        """
        return self._needed(_checked(indices, length), length, self._key(**key))[1]

    def frames(
        self,
        decoded: Frames,
        decoded_indices: npt.ArrayLike,
        indices: npt.ArrayLike,
        length: int,
        *,
        device: str | None = None,
        **key: Unpack[ClipKey],
    ) -> Frames:
        """The frames `indices` of the perturbed clip, uint8[K, H', W', 3].

        Raises UsageError: a frame of `sources` is not among the decoded ones.

        Args:
            decoded: uint8[N, H, W, 3], clean frames: at least those of `sources`.
            decoded_indices: int[N], their places in the clip (the video), ascending.
            indices, length, key: as of `sources`.
            device: of `perturb_frames`.
        """
        key = self._key(**key)
        sampled_indices = _checked(indices, length)
        spec, source_indices = self._needed(sampled_indices, length, key)
        have = np.asarray(decoded_indices, dtype=np.int64)
        at = np.minimum(np.searchsorted(have, source_indices), len(have) - 1)
        if not np.array_equal(have[at], source_indices):
            missing = source_indices[have[at] != source_indices]
            raise UsageError(f"{self.name}: frame {missing[0]} was not decoded; decode all frames of `sources`")
        if spec.acts == "frame":
            return perturb_frames(
                decoded[at], sampled_indices, self.name, self.severity,
                seed=self.seed, profile=self.profile, device=device, **key,
            )  # fmt: skip
        if spec.acts == "temporal":
            return decoded[at]
        if self.order == "sample_then_perturb":
            return perturb_clip(decoded[at], self.name, self.severity, profile=self.profile, **key)
        out = np.empty((len(sampled_indices), *decoded.shape[1:]), dtype=np.uint8)
        for first, last in _groups(sampled_indices):
            in_group = np.searchsorted(have, np.arange(first, last + 1))
            group = spec.function(decoded[in_group], self.severity, **spec.profiles.get(self.profile, {}))
            inside = np.flatnonzero((sampled_indices >= first) & (sampled_indices <= last))
            out[inside] = group[sampled_indices[inside] - first]
        return out

    def whole(self, frames: Frames, **key: Unpack[ClipKey]) -> Frames:
        """The perturbed clip, of all frames of the clip (the video); key as of `sources`."""
        return perturb_clip(frames, self.name, self.severity, seed=self.seed, profile=self.profile, **self._key(**key))

    def _needed(self, indices: Indices, length: int, key: ClipKey) -> tuple[VideoSpec, Indices]:
        spec, _, _ = resolve(self.name, self.severity, self.profile)
        if spec.acts == "temporal":
            sampled_first = self.order == "sample_then_perturb"
            over = len(indices) if sampled_first else length
            sources = index_map(self.name, over, self.severity, seed=self.seed, profile=self.profile, **key)
            return spec, indices[sources] if sampled_first else sources[indices]
        if spec.acts == "codec" and self.order == "perturb_then_sample":
            return spec, np.concatenate([np.arange(first, last + 1) for first, last in _groups(indices)])
        return spec, indices

    def _key(self, video_id: str, start: float | None = None, end: float | None = None) -> ClipKey:
        return {"video_id": video_id} if self.scope == "video" else {"video_id": video_id, "start": start, "end": end}


def _groups(indices: Indices) -> list[tuple[int, int]]:
    """(first frame, last frame of `indices`) of every group of pictures that holds one of them."""
    last: dict[int, int] = {}
    for frame in indices.tolist():
        last[frame // GROUP] = max(frame, last.get(frame // GROUP, 0))
    return [(group * GROUP, frame) for group, frame in sorted(last.items())]


def _checked(indices: npt.ArrayLike, length: int) -> Indices:
    array = np.asarray(indices, dtype=np.int64)
    if array.ndim != 1 or not len(array):
        raise UsageError("give at least one frame, as a list of indices")
    if array.min() < 0 or array.max() >= length:
        raise UsageError(f"frames must lie in 0..{length - 1}, not {array.min()}..{array.max()}")
    return array


PAIR_SEVERITY = 3  # of the visual side of every pair
_VISUAL = ("box_jumble", "defocus_blur", "jpeg", "jumble", "shot_noise", "static_rotate")
_TEXT = (
    "append_irr", "gender_female", "gender_male", "gender_swap", "mlm_suggestion", "multi_pos_swap_NN",
    "no_nouns_and_no_verbs", "no_verbs", "random_noun", "shuffle_order", "spelling_error",
)  # fmt: skip
PAIRS: tuple[tuple[str, str], ...] = tuple((visual, text) for visual in _VISUAL for text in _TEXT)
"""(visual name, text name), 6 x 11; three of the eleven texts are gender ones, which YouCook2 has no use for."""
