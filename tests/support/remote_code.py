"""A model whose code lies in its own folder, as on the Hub; running it leaves a mark, so one sees whether it ran."""

import json
from pathlib import Path

import tiny_models

CODE = '''
"""Mean colour over time, and the mean of letter embeddings: a video-text dual encoder of its own."""
import torch
from transformers import PretrainedConfig, PreTrainedModel

open({mark!r}, "a").write("ran")


class MeanConfig(PretrainedConfig):
    model_type = "mean_of_all"

    def __init__(self, vocab_size=300, **rest):
        self.vocab_size = vocab_size
        super().__init__(**rest)


class MeanModel(PreTrainedModel):
    config_class = MeanConfig

    def __init__(self, config):
        super().__init__(config)
        self.words = torch.nn.Embedding(config.vocab_size, 8)
        self.colours = torch.nn.Linear(6, 8)
        self.post_init()

    def get_video_features(self, pixel_values):
        frames = pixel_values.mean(dim=(-1, -2))
        return self.colours(torch.cat([frames.mean(1), frames[:, -1] - frames[:, 0]], dim=-1))

    def get_text_features(self, input_ids, attention_mask):
        mask = attention_mask[..., None].to(self.words.weight.dtype)
        return (self.words(input_ids) * mask).sum(1) / mask.sum(1)
'''


def write(folder: Path, mark: Path) -> Path:
    """A checkpoint whose `config.json` names code of its own; the code appends to the file `mark` when it is run."""
    import torch
    from safetensors.torch import save_file

    tiny_models.clip(folder)  # for its processor
    (folder / "modeling_mean.py").write_text(CODE.replace("{mark!r}", repr(str(mark))))
    config = {
        "architectures": ["MeanModel"],
        "model_type": "mean_of_all",
        "vocab_size": 300,
        "auto_map": {"AutoConfig": "modeling_mean.MeanConfig", "AutoModel": "modeling_mean.MeanModel"},
    }
    (folder / "config.json").write_text(json.dumps(config))
    make = torch.Generator().manual_seed(0)
    shapes = {"words.weight": (300, 8), "colours.weight": (8, 6), "colours.bias": (8,)}
    save_file(
        {name: torch.randn(shape, generator=make) for name, shape in shapes.items()},
        folder / "model.safetensors",
        metadata={"format": "pt"},
    )
    return folder
