"""How much of the possible gain the shared prefix reaches: one prompt of P tokens, C captions of S tokens.

    python benchmarks/shared_prefix.py

The bound is C(P+S) / (P+CS): tokens through the model without sharing over tokens with it. Both ways run in turn in
one process; times are CPU seconds, medians of interleaved runs. Random weights: speed does not depend on them.
"""

import time
from collections.abc import Callable
from statistics import median

import numpy as np
import torch
from parts.clock import in_turn
from parts.command_line import parser_of
from transformers import Qwen2Config, Qwen2ForCausalLM

from video_contrast.runner.kinds.prefix import Prefix, score_unshared


class SharedPrefix:
    """A prompt and captions of random tokens, scored by a model with and without sharing the prompt."""

    def __init__(self, model: Qwen2ForCausalLM, prompt: int, captions: int, length: int) -> None:
        rng = np.random.default_rng(0)
        ids = torch.as_tensor(rng.integers(0, 2000, (1, prompt)), device=model.device)
        self.model, self.prompt = model, prompt
        self.inputs = {"input_ids": ids, "attention_mask": torch.ones_like(ids)}
        self.endings = [rng.integers(0, 2000, length).tolist() for _ in range(captions)]
        self.bound = captions * (prompt + length) / (prompt + captions * length)

    def shared(self) -> list[torch.Tensor]:
        prefix = Prefix(self.model, self.inputs, self.prompt)
        return prefix.score(self.endings, lambda _, logits: logits, only_last=False)

    def unshared(self) -> list[torch.Tensor]:
        return score_unshared(
            self.model, self.inputs, self.endings, self.prompt, read=lambda _, logits: logits, only_last=False
        )

    def gain(self, rounds: int, clock: Callable[[], float] = time.process_time) -> tuple[float, list[float]]:
        """How many times faster the shared prompt is, and the seconds of its runs."""
        spent = in_turn({"shared": self.shared, "unshared": self.unshared}, rounds, clock)
        return median(spent["unshared"]) / median(spent["shared"]), spent["shared"]


def main() -> None:
    parser_of(__doc__).parse_args()
    torch.manual_seed(0)
    torch.set_num_threads(1)
    config = Qwen2Config(
        vocab_size=2000, hidden_size=768, intermediate_size=2304, num_hidden_layers=4, num_attention_heads=12,
        num_key_value_heads=2, max_position_embeddings=4096,
    )  # fmt: skip
    both = SharedPrefix(Qwen2ForCausalLM(config).eval(), prompt=1024, captions=6, length=16)
    ratio, _ = both.gain(rounds=5)
    gap = max(float((a - b).abs().max()) for a, b in zip(both.shared(), both.unshared(), strict=True))
    print(f"P=1024 C=6 S=16: {ratio:.2f} times less CPU time, bound {both.bound:.2f}, reached {ratio / both.bound:.2f}")
    print(f"largest difference of a logit: {gap:.1e}")


if __name__ == "__main__":
    main()
