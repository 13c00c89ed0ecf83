"""The 18 visual perturbations of the robustness paper (section 3.1, appendix A.1), each at severities 1 to 5.

    perturb_clip(frames, "gaussian_noise", 3, video_id="video7020")         a whole clip
    perturb_frames(sampled, indices, "gaussian_noise", 3, video_id=...)     sampled frames only, the same bits
    index_map("jumble", 128, 3, video_id="video7020")                       which frame is shown when
    VideoCondition("codec1", 3).sources(...) / .frames(...)                 any of them on sampled frames only

Importing this package fills the registry (`video_contrast.perturbations.registry.VIDEO`), in the order of `NAMES`.
"""

# The order of these imports is the order of the registry.
from video_contrast.perturbations.video import noise, blur, digital, codecs, temporal, camera  # noqa: F401, I001
from video_contrast.perturbations.registry import VIDEO, video_spec
from video_contrast.perturbations.video.clip import index_map, perturb_clip, perturb_frames
from video_contrast.perturbations.video.condition import VideoCondition
from video_contrast.perturbations.video.pairs import PAIR_SEVERITY, PAIRS

NAMES = tuple(VIDEO)
SEVERITIES = (1, 2, 3, 4, 5)

__all__ = [
    "NAMES",
    "PAIRS",
    "PAIR_SEVERITY",
    "SEVERITIES",
    "VideoCondition",
    "index_map",
    "perturb_clip",
    "perturb_frames",
    "video_spec",
]
