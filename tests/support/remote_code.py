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


# The interfaces of releases with code of their own, on the mean colour of the first and the last frame.
EMBEDDER = '''
"""A video-text embedder with the methods of a release."""
from types import SimpleNamespace

import torch
from transformers import PretrainedConfig, PreTrainedModel


class EmbedderConfig(PretrainedConfig):
    model_type = "embedder_of_its_own"


class {name}(PreTrainedModel):
    config_class = EmbedderConfig
    all_tied_weights_keys = {{}}

    def __init__(self, config):
        super().__init__(config)
        self.words = torch.nn.Embedding(512, 8)
        self.colours = torch.nn.Linear(6, 8)
        self.tokenizer = lambda text: list(text.encode())
        self.post_init()

    def _clips(self, frames):  # [B, T, 3, H, W]
        colours = frames.mean(dim=(-1, -2))
        return self.colours(torch.cat([colours.mean(1), colours[:, -1] - colours[:, 0]], dim=-1))

    def _string(self, ids, device):
        return self.words(torch.tensor(ids).to(device)).mean(0, keepdim=True)

{methods}
'''
METHODS = {
    "CosmosEmbed1": """
    def get_video_embeddings(self, videos):
        return SimpleNamespace(visual_proj=self._clips(videos))

    def get_text_embeddings(self, input_ids, attention_mask):
        mask = attention_mask[..., None]
        return SimpleNamespace(text_proj=(self.words(input_ids) * mask).sum(1) / mask.sum(1))
""",
    "ViCLIP": """
    def get_vid_features(self, input_frames):
        return self._clips(input_frames)

    def get_text_features(self, input_text, tokenizer, text_feature_dict={}):
        if input_text not in text_feature_dict:
            text_feature_dict[input_text] = self._string(tokenizer(input_text), self.words.weight.device)
        return text_feature_dict[input_text]
""",
    "InternVideo2_CLIP": """
    def get_vid_feat(self, frames):
        features = self._clips(frames)[:, None]
        features /= features.norm(dim=-1, keepdim=True)
        return features

    def get_txt_feat(self, text):
        return self._string(self.tokenizer(text), self.config.device)
""",
    "LanguageBindVideo": """
    def get_image_features(self, pixel_values):
        return self._clips(pixel_values.transpose(1, 2))

    def get_text_features(self, input_ids, attention_mask):
        mask = attention_mask[..., None]
        return (self.words(input_ids) * mask).sum(1) / mask.sum(1)
""",
}
PROCESSOR = """
import numpy as np
from transformers import ProcessorMixin


class EmbedderProcessor(ProcessorMixin):
    attributes = ["tokenizer"]
    tokenizer_class = "AutoTokenizer"

    def __init__(self, tokenizer=None, **rest):
        super().__init__(tokenizer)

    def __call__(self, videos=None, text=None):
        if videos is not None:
            return {"videos": np.asarray(videos, np.float32) / 255}
        return self.tokenizer(text, padding="max_length", max_length=40, truncation=True, return_tensors="pt")
"""


def embedder(folder: Path, name: str) -> Path:
    """A checkpoint with code of its own and the methods of a release, `name` of `METHODS`."""
    import torch
    from safetensors.torch import save_file

    tiny_models.tokenizer(max_length=77).save_pretrained(folder)
    (folder / "modeling_embedder.py").write_text(EMBEDDER.format(name=name, methods=METHODS[name].strip("\n")))
    maps = {"AutoConfig": "modeling_embedder.EmbedderConfig", "AutoModel": f"modeling_embedder.{name}"}
    config = {"architectures": [name], "model_type": "embedder_of_its_own", "auto_map": maps, "image_size": 8}
    if name == "InternVideo2_CLIP":
        config["device"] = "cuda"  # as released, and where its captions go, wherever the model is
    (folder / "config.json").write_text(json.dumps(config))
    if name == "CosmosEmbed1":
        (folder / "processing_embedder.py").write_text(PROCESSOR)
        processor = {"processor_class": "EmbedderProcessor"}
        processor["auto_map"] = {"AutoProcessor": "processing_embedder.EmbedderProcessor"}  # type: ignore[assignment]
        (folder / "processor_config.json").write_text(json.dumps(processor))
    make = torch.Generator().manual_seed(0)
    shapes = {"words.weight": (512, 8), "colours.weight": (8, 6), "colours.bias": (8,)}
    weights = {key: torch.randn(shape, generator=make) for key, shape in shapes.items()}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder


# The methods `chat` of releases, on the mean brightness of what they are shown and the length of the question.
CHAT = '''
"""A video language model with a chat of its own: its answer depends on every frame and on the question."""
import numpy as np
import torch
from transformers import PretrainedConfig, PreTrainedModel


class ChatConfig(PretrainedConfig):
    model_type = "chat_of_its_own"


class {name}(PreTrainedModel):
    config_class = ChatConfig
    all_tied_weights_keys = {{}}

    def __init__(self, config):
        super().__init__(config)
        self.weight = torch.nn.Parameter(torch.ones(1))
        self.post_init()

    def _answer(self, level, question):
        number = int(level * 1000) + len(question)
        return ["The answer is A.", "(B)", "**C**", "I cannot tell."][number % 4]

{method}
'''
CHATS = {
    "InternVLChatModel": """
    def chat(self, tokenizer, pixel_values, question, generation_config, history=None, num_patches_list=None):
        assert generation_config == {"max_new_tokens": 16, "do_sample": False}
        if pixel_values is None:
            return self._answer(0.0, question)
        assert sum(num_patches_list) == len(pixel_values) == question.count("<image>")
        return self._answer(float((pixel_values * self.weight).mean((1, 2, 3)).std()), question)
""",
    "MiniCPMV": """
    def chat(self, image, msgs, tokenizer, sampling=True, max_new_tokens=2048, **kwargs):
        assert image is None and not sampling and kwargs["max_slice_nums"] == 1
        *images, question = msgs[0]["content"]
        levels = [float(np.asarray(each).mean()) for each in images]
        return self._answer(float(np.std(levels or [0.0])), question)
""",
    "VideoChatFlashQwenForCausalLM": """
    def chat(self, video_path, tokenizer, user_prompt, max_num_frames=512):
        return "A"
""",
}


def chat_model(folder: Path, name: str) -> Path:
    """A checkpoint whose code has the `chat` of a release (a key of `CHATS`)."""
    import torch
    from safetensors.torch import save_file

    tiny_models.clip(folder)  # for its tokenizer
    for file in ("preprocessor_config.json", "processor_config.json"):
        (folder / file).unlink(missing_ok=True)
    (folder / "modeling_chat.py").write_text(CHAT.format(name=name, method=CHATS[name]))
    config = {
        "architectures": [name],
        "model_type": "chat_of_its_own",
        "force_image_size": 28,
        "auto_map": {
            "AutoConfig": "modeling_chat.ChatConfig",
            "AutoModel": f"modeling_chat.{name}",
            "AutoModelForCausalLM": f"modeling_chat.{name}",
        },
    }
    (folder / "config.json").write_text(json.dumps(config))
    save_file({"weight": torch.ones(1)}, folder / "model.safetensors", metadata={"format": "pt"})
    return folder
