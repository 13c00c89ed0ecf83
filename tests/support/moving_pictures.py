"""Pictures and clips for the tests of visual perturbations."""

import numpy as np
import scipy.ndimage
import scipy.stats

from video_contrast.perturbations.video import VIDEO
from video_contrast.seeds import NoiseStreams

TEMPORAL = [name for name, spec in VIDEO.items() if spec.acts == "temporal"]


PER_FRAME = [name for name, spec in VIDEO.items() if spec.acts == "frame"]


CODECS = ["codec1", "codec2"]


def photo(height: int = 96, width: int = 128, seed: int = 0) -> np.ndarray:
    """A picture with soft shapes, edges and some grain."""
    rng = np.random.default_rng(seed)
    soft = scipy.ndimage.gaussian_filter(rng.normal(size=(height, width, 3)), (6, 6, 0))
    picture = 120 + soft / soft.std() * 45
    picture[height // 4 : height // 2, width // 3 : width // 2] += 80
    return np.clip(picture + rng.normal(0, 3, picture.shape), 0, 255).astype(np.uint8)


def clip(length: int = 30, height: int = 48, width: int = 64) -> np.ndarray:
    """A camera that pans over a photo."""
    wide = photo(height, width + 2 * length)
    return np.stack([wide[:, 2 * t : 2 * t + width] for t in range(length)])


def once(name: str, frame: np.ndarray, severity: int, index: int = 0, **constants: object) -> np.ndarray:
    return VIDEO[name].function(frame, severity, NoiseStreams().at(0, name, index), **constants)
