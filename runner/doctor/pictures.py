"""The pixels that reach the network are those that the checkpoint's own processor makes of the same frames.

Scores of a turned, mirrored or grey picture look as good as others; its pixels do not. One picture of each golden clip
is shown as a frame, so that the frames differ clearly, and the input of the first layers is compared with what the
processor, loaded anew, gives for the frames as they are and for each of `CHANGES`.
"""

from collections.abc import Callable, Iterator
from functools import lru_cache, partial
from typing import cast

import numpy as np

from video_contrast.errors import VideoContrastError
from video_contrast.golden import GOLDEN
from video_contrast.runner.doctor.probe import Probe
from video_contrast.runner.doctor.result import Outcome
from video_contrast.runner.evidence import FirstInputs, network_of
from video_contrast.runner.kinds.base import ClipFrames, Encoder, LoadOptions, ModelSource
from video_contrast.runner.kinds.loading import load_processor, pixels_of
from video_contrast.untyped import Processor
from video_contrast.video import read_video

HEIGHT, WIDTH = 240, 320  # what is shown of each golden clip: its middle
CLOSE, FAR = 0.1, 0.15  # differences, in standard deviations of the pixels: of backends that resize, of other pictures
OTHER_MEAN = "another mean or std"
ALIKE = 0.99  # a correlation from which on a change explains the pixels

Frames = Callable[[np.ndarray], np.ndarray]


def _cropped(frames: np.ndarray, share: int) -> np.ndarray:
    """Without one part in `share` of each side."""
    rows, columns = (length // share for length in frames.shape[1:3])
    return frames[:, rows:-rows, columns:-columns]


CHANGES: dict[str, Frames] = {
    "frames in reversed order": lambda frames: frames[::-1],
    "the first frame in place of all": lambda frames: np.repeat(frames[:1], len(frames), axis=0),
    "mirrored pictures": lambda frames: frames[:, :, ::-1],
    "pictures upside down": lambda frames: frames[:, ::-1],
    "pictures turned by half": lambda frames: frames[:, ::-1, ::-1],
    "transposed pictures": lambda frames: frames.swapaxes(1, 2),
    "red and blue exchanged": lambda frames: frames[..., ::-1],
    "grey pictures": lambda frames: np.repeat(frames.mean(axis=3, keepdims=True).astype(np.uint8), 3, axis=3),
    "negatives": lambda frames: 255 - frames,
    **{f"pictures cropped by about 1/{share} at each side": partial(_cropped, share=share) for share in (4, 8, 16)},
}


def check_pictures(probe: Probe, source: ModelSource) -> Outcome:
    """The verdict "pictures".

    Returns "fact" where there is nothing to compare: no processor, or pixels of another number than it gives.
    """
    untested = "not tested: the model's processor gives no pixels to compare with"
    if not source.config or network_of(probe.model) is None:
        return Outcome("pictures", "fact", untested)
    loaded = _reference(source)
    if loaded is None:
        return Outcome("pictures", "fact", untested)
    reference, normalises = loaded
    frames = golden_frames(probe.model.frames or min(len(probe.clips[0].frames), 8))
    try:
        arrays = _pixels(probe, frames)
    except ValueError as refused:  # pictures that its processor does not take
        return Outcome("pictures", "fact", f"not tested: the model does not take what is shown: {refused}")
    expected = reference(frames)
    same = [array for array in arrays if expected is not None and array.size == expected.size]
    error = min((_difference(array, expected) for array in same if expected is not None), default=float("inf"))
    numbers = {"difference_sd": error}
    if error <= CLOSE:
        return Outcome("pictures", "pass", "the pixels are those of the model's own processor", numbers)
    fits = {name: fit for name, fit in _fits(reference, arrays, frames) if fit >= ALIKE}
    if fits:
        best = max(fits, key=lambda name: fits[name])
        if best == OTHER_MEAN and not normalises:
            says = "the pixels are those of the model's own processor; the network itself normalises them"
            return Outcome("pictures", "pass", says, numbers)
        numbers |= {"correlation": fits[best]}
        return Outcome("pictures", "fail", f"the pixels are those of {best} (correlation {fits[best]:.3f})", numbers)
    if not same:
        return Outcome("pictures", "fact", "not tested: its pixels are of another number than its processor gives")
    says = f"the pixels differ from those of the model's own processor by {error:.2g} sd"
    says = f"{says}: another mean or std, size or crop, or order of frames?"
    return Outcome("pictures", "fail" if error >= FAR else "doubt", says, numbers)


@lru_cache(maxsize=4)
def golden_frames(count: int) -> np.ndarray:
    """The middles of one picture of each golden clip, in turns: uint8[count, HEIGHT, WIDTH, 3]."""
    paths = sorted(GOLDEN.glob("*.mp4"))
    pictures = []
    for path in paths[:count]:
        picture = read_video(path, keep=[0]).frames[0]
        top, left = (picture.shape[0] - HEIGHT) // 2, (picture.shape[1] - WIDTH) // 2
        pictures.append(picture[top : top + HEIGHT, left : left + WIDTH])
    return np.stack([pictures[n % len(paths)] for n in range(count)])


def _pixels(probe: Probe, frames: np.ndarray) -> list[np.ndarray]:
    """What the first layers are given for frames."""
    model = probe.model
    clip = ClipFrames(frames, tuple(map(float, range(len(frames)))), probe.clips[0].source, float(len(frames)))
    with FirstInputs().watched() as shown:
        if isinstance(model, Encoder):
            model.encode_prepared([model.prepare(clip)])
        else:
            captions, arguments = probe.items.get(0, (probe.captions_of(0)[:1], {}))  # some show a frame with each
            model.score(clip, captions, **arguments)
    arrays = list(shown.pixels.values())
    # Convolutions over time have the channels before the frames, processors the frames before the channels.
    return [*arrays, *(array.swapaxes(1, 2) for array in arrays if array.ndim == 5)]


def _reference(source: ModelSource) -> tuple[Callable[[np.ndarray], np.ndarray | None], bool] | None:
    """Frames to the pixels of a processor loaded anew, and whether it normalises; None where there is none."""
    processor: Processor | None = None
    for backend in ("pil", None):
        try:
            processor = load_processor(source, LoadOptions(), backend)
            break
        except VideoContrastError:  # no such backend, or none at all
            continue
    videos, images = (getattr(processor, f"{what}_processor", None) for what in ("video", "image"))
    if videos is None and images is None:
        return None
    if type(videos) is type(images):  # X-CLIP has one under both names
        videos = None

    def pixels(frames: np.ndarray) -> np.ndarray | None:
        frames = np.ascontiguousarray(frames)
        try:
            if videos is None:
                arrays = pixels_of(cast("Processor", images), frames)  # one of the two is there
            else:
                arrays = videos(videos=[frames], do_sample_frames=False, return_tensors="pt")
        except (TypeError, ValueError):  # frames that it does not take by itself
            return None
        name = next((name for name in arrays if name.startswith("pixel_values")), None)
        return None if name is None else np.asarray(arrays[name], np.float32)

    return pixels, _normalises(images if videos is None else videos)


def _normalises(processor: object) -> bool:
    """Whether pixels leave a processor normalised; where not, a network may do so itself (Gemma 4)."""
    if not getattr(processor, "do_normalize", True):
        return False
    mean, std = getattr(processor, "image_mean", None), getattr(processor, "image_std", None)
    return bool(np.any(np.asarray(mean or 0) != 0) or np.any(np.asarray(std or 1) != 1))


def _difference(pixels: np.ndarray, expected: np.ndarray) -> float:
    """The root of the mean squared difference, in standard deviations of what is expected."""
    change = pixels.ravel() - expected.ravel()
    return float(np.sqrt(np.mean(change**2)) / max(float(expected.std()), 1e-9))


def _fits(
    reference: Callable[[np.ndarray], np.ndarray | None], arrays: list[np.ndarray], frames: np.ndarray
) -> Iterator[tuple[str, float]]:
    """Each of `CHANGES` with the correlation of its pixels with those of the network; also other means and stds."""
    for name, change in {OTHER_MEAN: lambda same: same, **CHANGES}.items():
        expected = reference(change(frames))
        for array in arrays:
            if expected is not None and array.size == expected.size and array.std() > 0 and expected.std() > 0:
                yield name, float(np.corrcoef(array.ravel(), expected.ravel())[0, 1])
