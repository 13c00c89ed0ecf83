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


# The interfaces of video language models with code of their own. What they answer depends on every frame, on its place,
# and on the question; `seen` is what they were shown.
CHAT = """
import itertools
from types import SimpleNamespace

import numpy as np
import torch
from transformers import BatchFeature, PretrainedConfig, PreTrainedModel, PreTrainedTokenizerFast


class ChatConfig(PretrainedConfig):
    model_type = "chat_of_its_own"


class {name}(PreTrainedModel):
    config_class = ChatConfig

    def __init__(self, config):
        super().__init__(config)
        self.lm_head = torch.nn.Linear(config.width, config.vocabulary)
        self.seen = []
        self.words = PreTrainedTokenizerFast.from_pretrained(config._name_or_path)

    def get_output_embeddings(self):
        return None if "no logits" in self.config.fault else self.lm_head

    def generate(self, inputs=None, input_ids=None, pixel_values=None, max_new_tokens=None, do_sample=None, **more):
        assert max_new_tokens == 16 and do_sample is False
        ids = input_ids if inputs is None else inputs
        self.seen = [] if pixel_values is None else list(pixel_values.reshape(-1, *pixel_values.shape[-3:]))
        frames = self.seen[:: 2 if self.config.fault == "every second frame" else 1]
        question = self.words.decode(ids[0])
        hidden = torch.zeros(self.config.width)
        for n, letter in enumerate(question.encode()):
            hidden[: 8] += 0.1 * torch.sin(torch.arange(8) * (n % 50 + 1.0) + letter)
        for n, frame in enumerate(frames):
            if "no frames" not in self.config.fault:
                parts = torch.nn.functional.adaptive_avg_pool2d(frame.float(), 2).flatten()
                places = torch.outer(torch.arange(8) + n + 1.0, torch.arange(12) + 1.0)
                hidden[: 8] += 3 * torch.sin(places) @ (parts - 0.5)
        hidden = torch.tanh(hidden)
        offered = [f"\\n{{letter}}. " in question for letter in "ABCDEFGH"] + ["Yes or No" in question]
        hidden[8:] = torch.tensor(offered).float()
        logits = self.lm_head(hidden[None, None])
        answer = logits[:, -1].argmax(-1, keepdim=True)
        return answer if more.get("images") else torch.cat([ids, answer], 1)

    def answer(self, tokenizer, frames, question):
        ids = torch.tensor([tokenizer.encode(question)])
        frames = None if frames is None or not len(frames) else torch.stack([torch.as_tensor(each) for each in frames])
        output = self.generate(ids, pixel_values=frames, max_new_tokens=16, do_sample=False)
        return tokenizer.decode(output[0, ids.shape[1] :])


def planes(image):
    return torch.from_numpy(np.array(image)).permute(2, 0, 1) / 255
"""
INTERFACES = {
    "InternVLChatModel": """
    def chat(self, tokenizer, pixel_values, question, generation_config, history=None, num_patches_list=None):
        assert generation_config == {"max_new_tokens": 16, "do_sample": False}
        assert pixel_values is None or len(num_patches_list) == len(pixel_values) == question.count("<image>")
        return self.answer(tokenizer, pixel_values, question)
""",
    "MiniCPMV": """
    def chat(self, image, msgs, tokenizer, sampling=True, max_new_tokens=2048, **kwargs):
        assert image is None and not sampling and kwargs["max_slice_nums"] == 1
        *images, question = msgs[0]["content"]
        return self.answer(tokenizer, [planes(image) for image in images], question)
""",
    "VideoChatFlashQwenForCausalLM": """
    def chat(self, video_path, tokenizer, user_prompt, chat_history=None, return_history=True, max_num_frames=512,
             media_dict=None, generation_config={}):
        import av
        with av.open(video_path) as file:
            frames = [frame.to_ndarray(format="rgb24") for frame in file.decode(video=0)]
        count = min(max_num_frames, len(frames))
        edges = np.linspace(0, len(frames), count + 1).astype(int)
        shown = [planes(frames[(low + high - 1) // 2]) for low, high in itertools.pairwise(edges)]
        return self.answer(tokenizer, shown, user_prompt)
""",
    "Ovis2_5": """
    def preprocess_inputs(self, messages, min_pixels=0, max_pixels=0, add_generation_prompt=True, enable_thinking=True):
        assert add_generation_prompt and not enable_thinking
        *videos, question = messages[0]["content"]
        frames = [planes(image) for video in videos for image in video["video"]]
        ids = self.words.encode(question["text"], return_tensors="pt")
        return ids, torch.stack(frames) if frames else None, torch.ones(1, 3) if frames else None
""",
    "Ovis": """
    def preprocess_inputs(self, text_or_conversations, images, max_partition=9, frame_selector=None):
        assert max_partition == 1 and text_or_conversations.count("<image>") == len(images)
        ids = self.words.encode(text_or_conversations)
        frames = torch.stack([planes(image) for image in images]) if images else None
        return text_or_conversations, torch.tensor(ids), frames

    def generate(self, inputs, pixel_values, attention_mask, **generation):
        [frames] = pixel_values
        return super().generate(inputs, pixel_values=frames, images=True, **generation)
""",
    "mPLUGOwl3Model": """
    def init_processor(self, tokenizer):
        def process(messages, images=None, videos=None):
            assert messages[1] == {"role": "assistant", "content": ""} and images is None
            assert ("<|video|>" in messages[0]["content"]) == (videos is not None)
            inputs = {"input_ids": tokenizer.encode(messages[0]["content"], return_tensors="pt")}
            if videos:
                inputs["pixel_values"] = torch.stack([planes(image) for image in videos[0]])
            return BatchFeature(inputs)
        return process

    def generate(self, tokenizer, decode_text, **inputs):
        output = super().generate(**inputs)
        return [tokenizer.decode(output[0, inputs["input_ids"].shape[1] :])]
""",
    "Videollama3Qwen2ForCausalLM": "",
    "KimiVLForConditionalGeneration": "",
    "KeyeForConditionalGeneration": "",
}
CHAT_PROCESSOR = """
import numpy as np
import torch
from transformers import BatchFeature, ProcessorMixin


class ChatProcessor(ProcessorMixin):
    attributes = ["tokenizer"]
    tokenizer_class = "AutoTokenizer"

    def __init__(self, tokenizer=None, **rest):
        super().__init__(tokenizer)

    def __call__(self, {arguments}return_tensors=None, **rest):
        {body}
        frames = [torch.from_numpy(np.array(image)).permute(2, 0, 1) / 255 for image in images]
        inputs = {{"input_ids": self.tokenizer.encode(text, return_tensors="pt")}}
        return BatchFeature(inputs | ({{"pixel_values": torch.stack(frames)}} if frames else {{}}))
"""
BODIES = {
    "Videollama3Qwen2ForCausalLM": (
        "text=None, conversation=None, images=None, ",
        """*videos, question = conversation[0]["content"]
        assert all(len(video["timestamps"]) == video["num_frames"] == len(video["video"]) for video in videos)
        images, text = [image for video in videos for image in video["video"]], question["text"]""",
    ),
    "KimiVLForConditionalGeneration": (
        "images=None, text=None, ",
        """[text], images = text, images or []
        assert text.count("<image>") == len(images)""",
    ),
    "KeyeForConditionalGeneration": (
        "images=None, text=None, videos=None, ",
        """[text], images = text, videos[0] if videos else []
        assert text.count("<video>") == bool(len(images)) and not rest""",
    ),
}


def chat_model(folder: Path, name: str, fault: str = "") -> Path:
    """A checkpoint whose code has the interface of a release (a key of `INTERFACES`).

    `fault`: "no frames" are looked at, or "every second frame"; "no logits": its output layer is not found.
    """
    import tiny_parts
    import torch
    from safetensors.torch import save_file

    tokenizer = tiny_parts.tokenizer()
    tokenizer.chat_template = tiny_parts.chat("<video>", "<image>")
    tokenizer.save_pretrained(folder)
    code = CHAT.format(name="Answers" if INTERFACES[name] else name)
    if INTERFACES[name]:
        code += f"\n\nclass {name}(Answers):{INTERFACES[name]}"
    (folder / "modeling_chat.py").write_text(code)
    if name in BODIES:
        arguments, body = BODIES[name]
        (folder / "processing_chat.py").write_text(CHAT_PROCESSOR.format(arguments=arguments, body=body))
        processor = {
            "processor_class": "ChatProcessor",
            "auto_map": {"AutoProcessor": "processing_chat.ChatProcessor"},
        }
        (folder / "processor_config.json").write_text(json.dumps(processor))
    loader = "AutoModel" if name in ("mPLUGOwl3Model", "KeyeForConditionalGeneration") else "AutoModelForCausalLM"
    config = {
        "architectures": [name],
        "model_type": "chat_of_its_own",
        "force_image_size": 28,
        "width": 17,
        "vocabulary": len(tokenizer),
        "fault": fault,
        "auto_map": {"AutoConfig": "modeling_chat.ChatConfig", loader: f"modeling_chat.{name}"},
    }
    (folder / "config.json").write_text(json.dumps(config))
    weight = torch.randn((len(tokenizer), 17), generator=torch.Generator().manual_seed(0))
    weight[:, 8:] = 0.0
    for place, letter in enumerate("ABCDEFGH"):
        row = weight[tokenizer.convert_tokens_to_ids(letter)]
        row[:2] = 4 * torch.tensor([2.1 * place, 2.1 * place + 1.6]).cos()
        row[8 + place] = 20.0
    weight[tokenizer.convert_tokens_to_ids(["Yes", "No"]), 16] = 20.0
    weights = {"lm_head.weight": weight, "lm_head.bias": torch.zeros(len(tokenizer))}
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    return folder
