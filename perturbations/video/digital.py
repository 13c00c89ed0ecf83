"""JPEG: each frame through a baseline encoder and back."""

import cv2
import numpy as np
import numpy.typing as npt

from video_contrast.perturbations.registry import video_perturbation

Frame = npt.NDArray[np.uint8]

QUALITY = (25, 18, 15, 10, 7)  # robustness paper, appendix A.1


@video_perturbation("jpeg", category="Digital", acts="frame")
def jpeg(frame: Frame, severity: int, rng: np.random.Generator) -> Frame:
    """JPEG at quality 25, 18, 15, 10, 7 (robustness paper, appendix A.1); the pixels Pillow gives, bit for bit."""
    mirrored = cv2.cvtColor(frame, cv2.COLOR_RGB2BGR)
    _, encoded = cv2.imencode(".jpg", mirrored, (cv2.IMWRITE_JPEG_QUALITY, QUALITY[severity - 1]))
    if _DECODES_RGB is not None:
        return np.asarray(cv2.imdecode(encoded, _DECODES_RGB))
    decoded: Frame = cv2.cvtColor(cv2.imdecode(encoded, cv2.IMREAD_COLOR), cv2.COLOR_BGR2RGB)
    return decoded


_DECODES_RGB: int | None = getattr(cv2, "IMREAD_COLOR_RGB", None)  # from OpenCV 4.11 on
