"""A score depends on its clip and its candidates alone: not on what else the process scores, nor in which order."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from video_contrast.runner.kinds.base import ClipFrames
from video_contrast.runner.kinds.generative import GenerativeScorer, Prefix, ScoringOptions, score_unshared

CLASSES = [
    "qwen2_vl", "qwen2_5_vl", "qwen3_vl", "llava_onevision", "llava_next_video", "internvl", "smolvlm", "gemma3",
    "qwen3_5", "lfm2_vl", "qwen2_5_omni",
]  # fmt: skip
CAPTIONS = ["a man sits down", "a woman runs away quickly", "dogs"]


def clip_of(frames: int, height: int, width: int, seconds: float) -> ClipFrames:
    pixels = np.random.default_rng(frames + height).integers(0, 255, (frames, height, width, 3), dtype=np.uint8)
    return ClipFrames(pixels, tuple((n + 0.5) * seconds / frames for n in range(frames)))


# The second and the third last longer than they are wide: their temporal positions end beyond the spatial ones.
CLIPS = [clip_of(4, 60, 80, 2.0), clip_of(8, 40, 40, 17.0), clip_of(8, 56, 84, 31.0)]


# Scoring every token of an ending is another path than scoring its last one, whatever the class.
MODES = [(name, {"scoring": "yesno"}) for name in CLASSES] + [
    (name, {"scoring": "loglik", "norm": "sum"})
    for name in ("qwen2_5_vl", "qwen3_5", "lfm2_vl", "gemma3", "qwen2_5_omni")
]


@pytest.mark.parametrize(
    ("name", "mode"), MODES, ids=lambda value: value if isinstance(value, str) else value["scoring"]
)
def test_a_clip_scores_the_same_alone_and_after_any_other(
    name: str, mode: dict[str, Any], loaded: Callable[[str], tuple[Any, Any]]
) -> None:
    model, processor = loaded(name)
    whole = GenerativeScorer(model, processor, ScoringOptions(**mode, share_prefix=False))
    alone = [whole.score(clip, CAPTIONS).scores for clip in CLIPS]
    together = GenerativeScorer(model, processor, ScoringOptions(**mode))
    for n in (0, 1, 2, 1, 0):
        np.testing.assert_allclose(together.score(CLIPS[n], CAPTIONS).scores, alone[n], atol=1e-4, rtol=0)
    assert together.sharing == "on"


def test_states_of_mamba_layers_are_forked_and_left_as_they_were() -> None:
    import torch
    from transformers import FalconH1Config, FalconH1ForCausalLM

    torch.manual_seed(0)
    config = FalconH1Config(
        vocab_size=64, hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, head_dim=8, mamba_d_ssm=32, mamba_n_heads=4, mamba_d_head=8, mamba_d_state=8,
        mamba_n_groups=1,
    )  # fmt: skip
    model = FalconH1ForCausalLM(config).eval()
    prompt = torch.randint(3, 60, (1, 20))
    inputs = {"input_ids": prompt, "attention_mask": torch.ones_like(prompt)}
    endings = [[5, 6, 7], [9], [11, 12, 13, 14, 15], [20, 21]]
    prefix = Prefix(model, inputs, 16)
    whole = score_unshared(model, inputs, endings, 16, read=lambda _, logits: logits, only_last=False)
    for _ in range(2):
        for row, expected in zip(prefix.score(endings, lambda _, logits: logits, only_last=False), whole, strict=True):
            np.testing.assert_allclose(row.numpy(), expected.numpy(), atol=1e-5)
