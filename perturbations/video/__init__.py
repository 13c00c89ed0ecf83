"""The 18 visual perturbations of the robustness paper (section 3.1, appendix A.1), each at severities 1 to 5.

    perturb_clip(frames, "gaussian_noise", 3, video_id="video7020")         a whole clip
    perturb_frames(sampled, indices, "gaussian_noise", 3, video_id=...)     sampled frames only, the same bits
    index_map("jumble", 128, 3, video_id="video7020")                       which frame is shown when
    VideoCondition("codec1", 3).sources(...) / .frames(...)                 any of them on sampled frames only

Importing this package fills the registry (`video_contrast.perturbations.registry.VIDEO`), in the order of `NAMES`.
"""

from importlib import import_module

# The order is that of the registry, so this comes before the imports below, which load some of them.
MODULES = ("noise", "blur", "codecs", "temporal", "camera")
for _module in MODULES:
    import_module(f"{__name__}.{_module}")

from video_contrast.perturbations.registry import VIDEO, video_spec  # noqa: E402
from video_contrast.perturbations.video.condition import (  # noqa: E402
    PAIR_SEVERITY,
    PAIRS,
    SEVERITIES,
    VideoCondition,
    index_map,
    perturb_clip,
    perturb_frames,
)

NAMES = tuple(VIDEO)

__all__ = [
    "NAMES", "PAIRS", "PAIR_SEVERITY", "SEVERITIES", "VideoCondition", "index_map", "perturb_clip", "perturb_frames",
    "video_spec",
]  # fmt: skip
