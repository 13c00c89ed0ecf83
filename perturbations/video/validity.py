"""Does severity mean something? What each severity of a visual perturbation does to real or nominal clips.

Pictures are measured by PSNR, temporal perturbations by how far frames move and how many distinct ones are left.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from video_contrast.perturbations.registry import VIDEO, Frames
from video_contrast.perturbations.video.camera import crop_at, middle, scaled_size
from video_contrast.perturbations.video.codecs import codec_and_quantiser
from video_contrast.perturbations.video.condition import SEVERITIES, ClipKey, VideoCondition, index_map, resolve

IDENTICAL = 99.0  # the PSNR of equal pictures, which has no finite value
LABELS = {"psnr": "PSNR in dB", "displacement": "frames moved by", "distinct": "distinct frames"}
NOMINAL_LENGTH = 128
_NOMINAL_CLIPS = 16


@dataclass(frozen=True)
class Reference:
    """A clip to measure on; without frames only the temporal perturbations can be."""

    video_id: str  # names the stream, with `start` and `end`
    length: int = NOMINAL_LENGTH  # frames of the clip
    start: float | None = None
    end: float | None = None
    frames: Frames | None = None  # uint8[K, H, W, 3], some of them
    indices: npt.NDArray[np.int64] | None = None  # int[K], their places

    @property
    def key(self) -> ClipKey:
        """The key of its random streams: video and span."""
        return {"video_id": self.video_id, "start": self.start, "end": self.end}


def nominal(length: int = NOMINAL_LENGTH) -> list[Reference]:
    """Clips of a nominal length without pictures."""
    return [Reference(f"nominal{number}", length) for number in range(_NOMINAL_CLIPS)]


def psnr(clean: Frames, perturbed: Frames) -> float:
    """Peak signal to noise ratio in dB; `IDENTICAL` for equal pictures."""
    error = float(np.mean((clean.astype(np.float32) - perturbed.astype(np.float32)) ** 2))
    return IDENTICAL if error == 0 else min(IDENTICAL, 10 * float(np.log10(255**2 / error)))


def damage(
    name: str, references: Sequence[Reference], *, profile: str = "paper", seed: int = 0
) -> list[dict[str, float]]:
    """The effect of severities 1 to 5, a mean over the clips.

    Returns for each severity: `unchanged`, the share of clips left as they were; for a temporal perturbation
    `displacement` (mean distance in frames between a place and the frame shown there) and `distinct` (distinct frames
    shown); for the others `psnr`, where the clips have frames. `references`: the clips; those without frames are
    measured for temporal perturbations only. `profile, seed`: as of `perturb_clip`.
    """
    conditions = [VideoCondition(name, severity, profile, seed) for severity in SEVERITIES]
    if VIDEO[name].acts == "temporal":
        return [_temporal(condition, references) for condition in conditions]
    with_frames = [clip for clip in references if clip.frames is not None]
    return [_pictures(condition, with_frames) if with_frames else {} for condition in conditions]


def equal_severities(name: str, profile: str = "paper") -> list[tuple[int, ...]]:
    """Groups of severities that do the same by definition (codecs at the largest quantiser).

    >>> equal_severities("codec1"), equal_severities("codec1", "monotone")
    ([(2, 3, 4, 5)], [])
    """
    spec, _, _ = resolve(name, 1, profile)
    if spec.acts != "codec":
        return []
    groups: dict[int, list[int]] = {}
    for severity in SEVERITIES:
        groups.setdefault(codec_and_quantiser(spec, severity, profile)[1], []).append(severity)
    return [tuple(group) for group in groups.values() if len(group) > 1]


def summary(references: Sequence[Reference], *, profile: str = "paper", seed: int = 0) -> dict[str, str]:
    """A line a perturbation for a card: measured damage at severities 1 to 5, no-ops, equal severities.

    Returns name -> line, for the perturbations of which there is something to say.
    """
    lines = {}
    for name, spec in VIDEO.items():
        rows = damage(name, references, profile=profile, seed=seed)
        parts = []
        for key, label in LABELS.items():
            if all(key in row for row in rows):
                parts.append(f"{label} {' / '.join(f'{row[key]:.1f}' for row in rows)}")
        if all("unchanged" in row for row in rows):
            shares = [100 * row["unchanged"] for row in rows]
            parts.append(f"clips left unchanged {' / '.join(f'{share:.0f}' for share in shares)} %")
        if spec.acts == "codec":
            codes = [codec_and_quantiser(spec, severity, profile) for severity in SEVERITIES]
            parts.append(f"{codes[0][0]} at quantiser {' / '.join(str(quantiser) for _, quantiser in codes)}")
        for group in equal_severities(name, profile):
            parts.append(f"severities {', '.join(map(str, group))} are equal")
        if parts:
            lines[name] = "; ".join(parts)
    return lines


def _temporal(condition: VideoCondition, references: Sequence[Reference]) -> dict[str, float]:
    displacements, distinct = [], []
    for clip in references:
        every = np.arange(clip.length)
        sources = index_map(
            condition.name, clip.length, condition.severity, seed=condition.seed, profile=condition.profile, **clip.key
        )
        displacements.append(np.abs(sources - every).mean())
        distinct.append(len(np.unique(sources)))
    return {
        "displacement": float(np.mean(displacements)),
        "distinct": float(np.mean(distinct)),
        "unchanged": float(np.mean(np.equal(displacements, 0))),
    }


def _pictures(condition: VideoCondition, references: Sequence[Reference]) -> dict[str, float]:
    if VIDEO[condition.name].acts == "codec":  # the groups of pictures are not at hand: the samples are coded as a clip
        condition = replace(condition, order="sample_then_perturb")
    values, are_equal = [], []
    for clip in references:
        assert clip.frames is not None and clip.indices is not None
        perturbed_frames = condition.frames(clip.frames, clip.indices, clip.indices, clip.length, **clip.key)
        clean = clip.frames
        if condition.name == "translate":  # a shaken crop is held against a steady one, at the mean of its offsets
            offset = round((8 * condition.severity - 1) / 2)
            size = scaled_size(*clean.shape[1:3])
            steady = middle(size) if condition.profile == "monotone" else (offset, offset)
            clean = np.stack([crop_at(frame, *steady) for frame in clean])
        values.append(psnr(clean, perturbed_frames))
        are_equal.append(np.array_equal(clean, perturbed_frames))
    return {"psnr": float(np.mean(values)), "unchanged": float(np.mean(are_equal))}
