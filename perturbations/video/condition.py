"""One visual condition of an evaluation, applied to the sampled frames only.

A per-frame perturbation touches the sampled frames, a temporal one their indices, a codec the groups of pictures
that hold them. The result is what perturbing the whole clip and then sampling it gives, bit for bit.
"""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Literal, Unpack, cast

import numpy as np
import numpy.typing as npt

from video_contrast.errors import UsageError, unknown_name
from video_contrast.files import Json
from video_contrast.perturbations.registry import VideoSpec
from video_contrast.perturbations.video.clip import ClipKey, index_map, perturb_clip, perturb_frames, resolve
from video_contrast.perturbations.video.codecs import GROUP
from video_contrast.row_parts import VideoRecipe

Frames = npt.NDArray[np.uint8]
Indices = npt.NDArray[np.int64]
Scope = Literal["clip", "video"]
Order = Literal["perturb_then_sample", "sample_then_perturb"]
SCOPES = ("clip", "video")
ORDERS = ("perturb_then_sample", "sample_then_perturb")


@dataclass(frozen=True)
class VideoCondition:
    """A visual perturbation at a severity, and what it refers to."""

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
        if self.scope not in SCOPES:
            raise unknown_name("scope", self.scope, SCOPES)
        if self.order not in ORDERS:
            raise unknown_name("order", self.order, ORDERS)

    @classmethod
    def from_recipe(cls, recipe: Mapping[str, Json]) -> "VideoCondition":
        """The condition of a row's `video_perturbation`."""
        return cls(**{field: recipe[field] for field in cls.__dataclass_fields__})

    def recipe(self) -> VideoRecipe:
        """Returns what a row's `video_perturbation` holds."""
        return cast(VideoRecipe, asdict(self))

    def sources(self, indices: npt.ArrayLike, length: int, **key: Unpack[ClipKey]) -> Indices:
        """The clean frames that must be decoded to show the frames `indices`, ascending and each once, int64[M].

        Args:
            indices: int[K], the sampled frames, in the numbering of `scope`: of the clip, or of the whole video.
            length: how many frames the clip (the video) has.
            key: video id and span of the clip, as of `perturb_clip`.
        """
        return np.unique(self.needed(indices, length, **key))

    def needed(self, indices: npt.ArrayLike, length: int, **key: Unpack[ClipKey]) -> Indices:
        """The clean frame behind each of the frames `indices`, in their order; of a codec all frames of their groups.

        Args:
            indices, length, key: as of `sources`.
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

        Args:
            decoded: uint8[N, H, W, 3], clean frames: at least those of `sources`.
            decoded_indices: int[N], their places in the clip (the video), ascending.
            indices, length, key: as of `sources`.
            device: of `perturb_frames`.

        Raises:
            UsageError: a frame of `sources` is not among the decoded ones.
        """
        key = self._key(**key)
        sampled = _checked(indices, length)
        spec, needed = self._needed(sampled, length, key)
        have = np.asarray(decoded_indices, dtype=np.int64)
        at = np.minimum(np.searchsorted(have, needed), len(have) - 1)
        if not np.array_equal(have[at], needed):
            missing = needed[have[at] != needed]
            raise UsageError(f"{self.name}: frame {missing[0]} was not decoded; decode all frames of `sources`")
        if spec.acts == "frame":
            return perturb_frames(
                decoded[at], sampled, self.name, self.severity,
                seed=self.seed, profile=self.profile, device=device, **key,
            )  # fmt: skip
        if spec.acts == "temporal":
            return decoded[at]
        if self.order == "sample_then_perturb":
            return perturb_clip(decoded[at], self.name, self.severity, profile=self.profile, **key)
        return self._coded(decoded, have, sampled, spec)

    def whole(self, frames: Frames, **key: Unpack[ClipKey]) -> Frames:
        """The perturbed clip, of all frames of the clip (the video); key as of `sources`."""
        return perturb_clip(frames, self.name, self.severity, seed=self.seed, profile=self.profile, **self._key(**key))

    def _needed(self, indices: Indices, length: int, key: ClipKey) -> tuple[VideoSpec, Indices]:
        spec, _, _ = resolve(self.name, self.severity, self.profile)
        if spec.acts == "temporal":
            sampled_first = self.order == "sample_then_perturb"
            over = len(indices) if sampled_first else length
            shown = index_map(self.name, over, self.severity, seed=self.seed, profile=self.profile, **key)
            return spec, indices[shown] if sampled_first else shown[indices]
        if spec.acts == "codec" and self.order == "perturb_then_sample":
            return spec, np.concatenate([np.arange(first, last + 1) for first, last in _groups(indices)])
        return spec, indices

    def _coded(self, decoded: Frames, have: Indices, indices: Indices, spec: VideoSpec) -> Frames:
        constants = spec.profiles.get(self.profile, {})
        out = np.empty((len(indices), *decoded.shape[1:]), dtype=np.uint8)
        for first, last in _groups(indices):
            at = np.searchsorted(have, np.arange(first, last + 1))
            group = spec.function(decoded[at], self.severity, **constants)
            inside = np.flatnonzero((indices >= first) & (indices <= last))
            out[inside] = group[indices[inside] - first]
        return out

    def _key(self, video_id: str, start: float | None = None, end: float | None = None) -> ClipKey:
        return {"video_id": video_id} if self.scope == "video" else {"video_id": video_id, "start": start, "end": end}


def _groups(indices: Indices) -> list[tuple[int, int]]:
    """(first frame, last frame of `indices`) of every group of pictures that holds one of them."""
    last: dict[int, int] = {}
    for frame in indices.tolist():
        last[frame // GROUP] = max(frame, last.get(frame // GROUP, 0))
    return [(group * GROUP, frame) for group, frame in sorted(last.items())]


def _checked(indices: npt.ArrayLike, length: int) -> Indices:
    checked = np.asarray(indices, dtype=np.int64)
    if checked.ndim != 1 or not len(checked):
        raise UsageError("give at least one frame, as a list of indices")
    if checked.min() < 0 or checked.max() >= length:
        raise UsageError(f"frames must lie in 0..{length - 1}, not {checked.min()}..{checked.max()}")
    return checked


PAIR_SEVERITY = 3
"""The severity of the visual side of every pair."""

_VISUAL = ("box_jumble", "defocus_blur", "jpeg", "jumble", "shot_noise", "static_rotate")
_TEXT = (
    "append_irr", "gender_female", "gender_male", "gender_swap", "mlm_suggestion", "multi_pos_swap_NN",
    "no_nouns_and_no_verbs", "no_verbs", "random_noun", "shuffle_order", "spelling_error",
)  # fmt: skip

PAIRS: tuple[tuple[str, str], ...] = tuple((visual, text) for visual in _VISUAL for text in _TEXT)
"""(visual name, text name), 6 x 11; three of the eleven texts are gender ones, which YouCook2 has no use for."""
