"""The tiny models of the shapes world: standard transformers classes, a tokenizer of their own, and how they start."""

import json
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import torch
from torch.nn import functional

from video_contrast.untyped import Processor, Tokenizer, TorchModel

IMAGE = 64
PATCH = 16
FRAMES = 6
HIDDEN = 64
PROJECTED = 96  # room for what frames show beside what captions say
MLP = 384
TEXT_LENGTH = 48
PAD, BEGIN, UNKNOWN, END = "<|pad|>", "<|begin|>", "<|unknown|>", "<|end|>"


def tokenizer(captions: Iterable[str], size: int = 640) -> Tokenizer:
    """A byte-level BPE tokenizer fitted on captions; any text has tokens, so misspelt captions do too.

    Its end token has the highest id: CLIP's text towers read a caption's embedding there.
    """
    import tokenizers
    from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    bpe = tokenizers.Tokenizer(models.BPE(unk_token=UNKNOWN))
    bpe.normalizer = normalizers.Sequence([normalizers.NFC()])
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    bpe.decoder = decoders.ByteLevel()
    alphabet, special = sorted(pre_tokenizers.ByteLevel.alphabet()), [PAD, BEGIN, UNKNOWN]
    trainer = trainers.BpeTrainer(
        vocab_size=size - 1, special_tokens=special, initial_alphabet=alphabet, min_frequency=2, show_progress=False
    )
    bpe.train_from_iterator(sorted(set(captions)), trainer)
    bpe.add_special_tokens([END])
    ids = [(mark, bpe.token_to_id(mark)) for mark in (BEGIN, END)]
    bpe.post_processor = processors.TemplateProcessing(single=f"{BEGIN} $A {END}", special_tokens=ids)
    assert ids[1][1] == bpe.get_vocab_size() - 1
    marks = {"pad_token": PAD, "bos_token": BEGIN, "eos_token": END, "unk_token": UNKNOWN}
    words: Tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe, model_max_length=TEXT_LENGTH, **marks)
    return words


def xclip(words: Tokenizer, seed: int) -> TorchModel:
    """A tiny X-CLIP whose prompt generator adds nothing, so that similarity is a plain product."""
    from transformers import XCLIPConfig, XCLIPModel

    vision = _vision() | {
        "num_frames": FRAMES, "mit_hidden_size": PROJECTED, "mit_intermediate_size": 384, "mit_num_attention_heads": 4,
        "mit_num_hidden_layers": 1,
    }  # fmt: skip
    prompts = {"prompt_layers": 1, "prompt_alpha": 0.0, "prompt_num_attention_heads": 2}
    torch.manual_seed(seed)
    model = XCLIPModel(XCLIPConfig(text_config=_text(words), vision_config=vision, projection_dim=PROJECTED, **prompts))
    with torch.no_grad():
        model.mit.position_embedding.copy_(_sinusoids(np.arange(FRAMES)[:, None] / (FRAMES - 1), PROJECTED)[None])
    return _started(model)


def clip(words: Tokenizer, seed: int) -> TorchModel:
    """A tiny CLIP: frames one by one, so a clip is a bag of frames."""
    from transformers import CLIPConfig, CLIPModel

    torch.manual_seed(seed)
    return _started(CLIPModel(CLIPConfig(text_config=_text(words), vision_config=_vision(), projection_dim=PROJECTED)))


def processor(model: TorchModel, words: Tokenizer) -> Processor:
    """The processor that goes with a model, so that `AutoProcessor` finds it beside the weights."""
    from transformers import CLIPImageProcessorPil, CLIPProcessor, VideoMAEImageProcessorPil, XCLIPProcessor

    half = [0.5, 0.5, 0.5]
    shared: dict[str, object] = {"image_mean": half, "image_std": half, "crop_size": {"height": IMAGE, "width": IMAGE}}
    shared |= {"size": {"shortest_edge": IMAGE}, "resample": 3}
    pictures, joint = CLIPImageProcessorPil, CLIPProcessor
    if model.config.model_type != "clip":
        pictures, joint = VideoMAEImageProcessorPil, XCLIPProcessor
    whole: Processor = joint(image_processor=pictures(**shared), tokenizer=words)
    return whole


def save(model: TorchModel, words: Tokenizer, folder: Path) -> None:
    """Writes a plain `save_pretrained` folder: weights in half precision, config, tokenizer, processor."""
    model.half().save_pretrained(folder)
    processor(model, words).save_pretrained(folder)
    config = json.loads((folder / "config.json").read_text())
    config["dtype"] = "float32"  # stored in halves, computed in float32
    (folder / "config.json").write_text(json.dumps(config, indent=2, sort_keys=True) + "\n")


def _text(words: Tokenizer) -> dict[str, int]:
    return {
        "vocab_size": len(words), "hidden_size": HIDDEN, "intermediate_size": MLP, "num_hidden_layers": 2,
        "num_attention_heads": 4, "max_position_embeddings": TEXT_LENGTH, "bos_token_id": words.bos_token_id,
        "eos_token_id": words.eos_token_id, "pad_token_id": words.pad_token_id,
    }  # fmt: skip


def _vision() -> dict[str, float]:
    return {
        "hidden_size": HIDDEN, "intermediate_size": MLP, "num_hidden_layers": 2, "num_attention_heads": 4,
        "image_size": IMAGE, "patch_size": PATCH, "attention_dropout": 0.0,
    }  # fmt: skip


def embed_clips(model: TorchModel, clips: np.ndarray, *, unit: bool = True) -> torch.Tensor:
    """float32[B, D] of uint8[B, T, H, W, 3]; a CLIP's frames are encoded one by one and averaged.

    An X-CLIP wants a number of frames. `unit`: whether a CLIP's frames are normalised before they are averaged.
    """
    pixels = torch.from_numpy(np.ascontiguousarray(clips)).permute(0, 1, 4, 2, 3).float().div_(127.5).sub_(1.0)
    if model.config.model_type == "xclip":
        return model.get_video_features(pixel_values=pixels).pooler_output
    frames = model.get_image_features(pixel_values=pixels.flatten(0, 1)).pooler_output
    frames = functional.normalize(frames, dim=-1) if unit else frames
    return frames.view(*clips.shape[:2], -1).mean(1)


def embed_texts(model: TorchModel, words: Tokenizer, texts: list[str]) -> torch.Tensor:
    """Returns float32[M, D]; equal texts are encoded once. `model`: a tiny CLIP or X-CLIP."""
    unique = {text: n for n, text in enumerate(dict.fromkeys(texts))}
    limit = model.config.text_config.max_position_embeddings
    tokens = words(list(unique), padding=True, truncation=True, max_length=limit, return_tensors="pt")
    rows = model.text_projection(model.text_model(**tokens)[1])
    return rows[torch.tensor([unique[text] for text in texts])]


def start_from_pictures(model: TorchModel, frames: np.ndarray) -> None:
    """Starts the patch embedding as the whitened principal components of real patches, and positions as a map.

    Small transformers otherwise spend most of a short training on finding out that patches have edges and places.
    """
    side, patch = IMAGE // PATCH, PATCH
    pixels = frames.astype(np.float64) / 127.5 - 1
    patches = pixels.reshape(-1, side, patch, side, patch, 3).transpose(0, 1, 3, 5, 2, 4).reshape(-1, 3 * patch * patch)
    mean = patches.mean(0)
    values, vectors = np.linalg.eigh(np.cov(patches - mean, rowvar=False))
    best = np.argsort(values)[::-1][:HIDDEN]
    # Rare components are not blown up to full variance: most of what they hold is noise.
    directions = vectors[:, best] / np.sqrt(values[best] + 0.01 * values[best[0]])
    directions *= np.sign(directions[np.abs(directions).argmax(0), np.arange(len(best))])
    rotation, _ = np.linalg.qr(np.random.Generator(np.random.PCG64(0)).standard_normal((HIDDEN, HIDDEN)))
    weight = (directions @ rotation).T
    rows, columns = np.divmod(np.arange(side * side), side)
    grid = np.stack([rows, columns], 1) / max(side - 1, 1)
    with torch.no_grad():
        embeddings = model.vision_model.embeddings
        embeddings.patch_embedding.weight.copy_(torch.from_numpy(weight).float().view(HIDDEN, 3, patch, patch))
        where = embeddings.position_embedding.weight
        where[1:] = _sinusoids(grid, HIDDEN) - torch.from_numpy(weight @ mean).float()


def _started(model: TorchModel) -> TorchModel:
    # Words that differ and attention that looks somewhere from the start: the library's small numbers are for huge
    # runs. In a hundred batches the vision tower names twice as many colours so (.65 against .29).
    with torch.no_grad():
        model.text_model.embeddings.token_embedding.weight.mul_(5.0)
        model.text_model.embeddings.position_embedding.weight.mul_(5.0)
        for name, weight in model.named_parameters():
            if name.startswith(("vision_model", "mit")) and name.endswith(("q_proj.weight", "k_proj.weight")):
                weight.mul_(6.0 if name.startswith("vision_model.encoder") and "message" not in name else 3.0)
    return model


def _sinusoids(coordinates: np.ndarray, width: int) -> torch.Tensor:
    """float32[len(places), width]: sines and cosines of each coordinate (0..1) at growing frequencies."""
    per = width // (2 * coordinates.shape[1])
    frequencies = np.pi * 2.0 ** (np.arange(per) / max(per - 1, 1) * 2 - 0.5)
    waves = coordinates[:, :, None] * frequencies
    encoding = np.concatenate([np.sin(waves), np.cos(waves)], 2).reshape(len(coordinates), -1)
    return torch.from_numpy(np.pad(encoding, ((0, 0), (0, width - encoding.shape[1]))).astype(np.float32))
