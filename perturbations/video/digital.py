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
    _, data = cv2.imencode(
        ".jpg", cv2.cvtColor(frame, cv2.COLOR_RGB2BGR), (cv2.IMWRITE_JPEG_QUALITY, QUALITY[severity - 1])
    )
    picture = cv2.imdecode(data, cv2.IMREAD_COLOR)
    return cv2.cvtColor(picture, cv2.COLOR_BGR2RGB, dst=picture)
