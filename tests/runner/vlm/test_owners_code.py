"""`--frames owner` beside `sample_frames` of the library's own processors and the rules of the owners' repositories."""

import numpy as np
import pytest
from transformers.video_utils import VideoMetadata

from video_contrast.runner.kinds.model_recipes import all_recipes
from video_contrast.runner.views import Sampling
from video_contrast.video.sampling import sampled_frames

# Family -> its class, what is set on it where the checkpoint does, the longest clip, and by how many frames places may
# be off (rounded down there, or to the frame before a step).
LIBRARY = {
    "Gemma 4": ("Gemma4VideoProcessor", {}, 400.0, 0),
    "GLM-4.1V": ("Glm4vVideoProcessor", {}, 299.0, 1),
    "GLM-4.6V": ("Glm46VVideoProcessor", {}, 30.0, 1),
    "MiniCPM-V 4.6": ("MiniCPMV4_6VideoProcessor", {}, 128.0, 1),
    "SmolVLM": ("SmolVLMVideoProcessor", {"num_frames": 64, "fps": 1}, 66.0, 1),
}


def ours(family: str, total: int, rate: float) -> np.ndarray:
    owner = next(recipe.owner for recipe in all_recipes() if recipe.family == family)
    assert owner is not None
    sampling = Sampling(owner.frames, owner.policy, False, *owner.bounds)
    count = sampling.count(total / rate, total)
    return sampled_frames(np.arange(total) / rate, total / rate, count, owner.policy, owner.fps)


@pytest.mark.parametrize("rate", [12.0, 24000 / 1001, 25.0, 30.0])
@pytest.mark.parametrize("family", LIBRARY)
def test_frames_are_those_of_the_librarys_processor(family: str, rate: float) -> None:
    import transformers

    name, fields, longest, slack = LIBRARY[family]
    processor = getattr(transformers, name)(**fields)
    for total in [*range(41, 120, 13), 250, 257, 300, 450, 749, 1400, 3000]:
        if total / rate > longest:
            continue
        metadata = VideoMetadata(total_num_frames=total, fps=rate, duration=total / rate)
        asked = {**fields, "num_frames": 32} if family == "Gemma 4" else fields
        theirs = [int(n) for n in processor.sample_frames(metadata, **asked)]
        if "GLM" in family and theirs[-1] == theirs[-2]:  # an even number, as the processor pads ours to
            theirs.pop()
        mine = np.unique(ours(family, total, rate))
        assert len(mine) == len(theirs), (total, mine, theirs)
        rest = total % rate > 0.5 and family == "GLM-4.6V"  # it leaves out the last part of a second
        assert np.abs(mine - theirs).max() <= (rate if rest else slack), (total, mine, theirs)


@pytest.mark.parametrize("rate", [12.0, 25.0, 30.0])
def test_frames_are_those_of_the_owners_repositories(rate: float) -> None:
    """Molmo 2 takes every half second and the last frame, VideoLLaMA 3 the middle of every second."""
    for total in [*range(60, 400, 13), 750]:
        halves = np.arange(0.0, total - 1, rate / 2)
        molmo = np.unique([*np.round(halves), total - 1])
        assert len(ours("Molmo 2", total, rate)) == len(molmo)
        assert np.abs(ours("Molmo 2", total, rate) - molmo).max() <= rate / 2
        seconds = np.arange(int(rate) // 2, total, int(rate))
        assert abs(len(ours("VideoLLaMA 3", total, rate)) - len(seconds)) <= (total % int(rate) == int(rate) // 2)
        whole = total // int(rate) * int(rate)
        first = ours("VideoLLaMA 3", whole, rate)
        assert np.abs(first - np.arange(int(rate) // 2, whole, int(rate))).max() <= 1
