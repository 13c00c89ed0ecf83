"""How much of the possible gain the shared prefix reaches: one prompt of P tokens, C captions of S tokens.

The bound is C(P+S) / (P+CS): tokens through the model without sharing over tokens with it. Both ways run in turn in
one process; times are CPU seconds, medians of interleaved runs. Random weights: speed does not depend on them.
"""

import statistics
import time

import numpy as np
import torch
from transformers import Qwen2Config, Qwen2ForCausalLM

from video_contrast.runner.kinds.prefix import Prefix, score_unshared

P, C, S, RUNS = 1024, 6, 16, 5


def main() -> None:
    torch.manual_seed(0)
    torch.set_num_threads(1)
    config = Qwen2Config(
        vocab_size=2000, hidden_size=768, intermediate_size=2304, num_hidden_layers=4, num_attention_heads=12,
        num_key_value_heads=2, max_position_embeddings=4096,
    )  # fmt: skip
    model = Qwen2ForCausalLM(config).eval()
    rng = np.random.default_rng(0)
    inputs = {"input_ids": torch.as_tensor(rng.integers(0, 2000, (1, P)))}
    inputs["attention_mask"] = torch.ones_like(inputs["input_ids"])
    endings = [rng.integers(0, 2000, S).tolist() for _ in range(C)]
    seconds: dict[str, list[float]] = {"shared": [], "unshared": []}
    gap = 0.0
    for _ in range(RUNS):
        began = time.process_time()
        shared = Prefix(model, inputs, P).score(endings, lambda _, logits: logits, only_last=False)
        seconds["shared"].append(time.process_time() - began)
        began = time.process_time()
        whole = score_unshared(model, inputs, endings, P, read=lambda _, logits: logits, only_last=False)
        seconds["unshared"].append(time.process_time() - began)
        gap = float(torch.stack([(a - b).abs().max() for a, b in zip(shared, whole, strict=True)]).max())
    bound = C * (P + S) / (P + C * S)
    ratio = statistics.median(seconds["unshared"]) / statistics.median(seconds["shared"])
    print(f"P={P} C={C} S={S}: {ratio:.2f} times less CPU time, bound {bound:.2f}, reached {ratio / bound:.2f}")
    print(f"largest difference of a logit: {gap:.1e}")


if __name__ == "__main__":
    main()
