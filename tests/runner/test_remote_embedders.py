"""Embedders with code and method names of their own score as the lines of their releases do."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import parity
import pytest
import remote_code
import torch
from torch.nn.functional import interpolate, normalize

from video_contrast.errors import UsageError
from video_contrast.runner.kinds import choose, options_for
from video_contrast.runner.kinds.base import ClipFrames, Encoder, LoadOptions
from video_contrast.runner.model_files import locate

RNG = np.random.default_rng(0)
CLIPS = [RNG.integers(0, 255, (4, 12, 16, 3), dtype=np.uint8) for _ in range(3)]
TEXTS = ["A man runs", "two women sing a song to a dog", "It rains"]
SIDE = 8


def squeezed(clip: np.ndarray) -> Any:
    """`frames2tensor` of the demo of InternVideo; its OpenCV resizes in whole grey levels."""
    pixels = interpolate(torch.from_numpy(clip).permute(0, 3, 1, 2).float(), (SIDE, SIDE), mode="bilinear").round()
    mean, deviation = np.array([0.485, 0.456, 0.406]), np.array([0.229, 0.224, 0.225])
    return torch.from_numpy(
        ((pixels.permute(0, 2, 3, 1).numpy() / 255.0 - mean) / deviation).transpose(0, 3, 1, 2)[None]
    ).float()


def cosmos(model: Any, folder: Path) -> tuple[Any, Any]:
    from transformers import AutoProcessor

    processor = AutoProcessor.from_pretrained(folder, trust_remote_code=True)
    batch = np.transpose(np.stack(CLIPS), (0, 1, 4, 2, 3))
    videos = {name: torch.from_numpy(value) for name, value in processor(videos=batch).items()}
    texts = processor(text=TEXTS)
    texts.pop("token_type_ids", None)
    return model.get_video_embeddings(**videos).visual_proj, model.get_text_embeddings(**texts).text_proj


def viclip(model: Any, folder: Path) -> tuple[Any, Any]:
    texts = [model.get_text_features(text, model.tokenizer, {}) for text in TEXTS]
    return torch.cat([model.get_vid_features(squeezed(clip)) for clip in CLIPS]), torch.cat(texts)


def internvideo(model: Any, folder: Path) -> tuple[Any, Any]:
    model.config.device = "cpu"
    texts = [model.get_txt_feat(text) for text in TEXTS]
    return torch.cat([model.get_vid_feat(squeezed(clip))[:, 0] for clip in CLIPS]), torch.cat(texts)


def languagebind(model: Any, folder: Path) -> tuple[Any, Any]:
    """Its processor's transform, with the middle of the frame for its random place, and no mirroring."""
    from transformers import AutoTokenizer

    rows = []
    for clip in CLIPS:
        video = torch.from_numpy(clip).permute(3, 0, 1, 2) / 255.0  # [3, T, H, W]
        mean, deviation = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)
        video = (video - torch.tensor(mean)[:, None, None, None]) / torch.tensor(deviation)[:, None, None, None]
        video = interpolate(video, (SIDE, int(16 / 12 * SIDE)), mode="bilinear")[..., 1 : 1 + SIDE]
        rows.append(model.get_image_features(video[None]))
    tokens = AutoTokenizer.from_pretrained(folder)(
        TEXTS, max_length=77, padding="max_length", truncation=True, return_tensors="pt"
    )
    return torch.cat(rows), model.get_text_features(tokens["input_ids"], tokens["attention_mask"])


CARDS: dict[str, Callable[[Any, Path], tuple[Any, Any]]] = {
    "CosmosEmbed1": cosmos, "ViCLIP": viclip, "InternVideo2_CLIP": internvideo, "LanguageBindVideo": languagebind,
}  # fmt: skip


@pytest.mark.parametrize("name", CARDS)
def test_it_is_asked_by_the_methods_of_its_release(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from transformers import AutoModel

    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))
    folder = remote_code.embedder(tmp_path / f"model_{name}", name)
    source = locate(str(folder))
    kind = choose(source)
    with pytest.raises(UsageError, match="--trust-remote-code"):
        kind.load(source, LoadOptions(options=options_for(kind, {})))
    ours = kind.load(source, LoadOptions(trust_remote_code=True, options=options_for(kind, {})))
    assert isinstance(ours, Encoder)
    rows = ours.encode_prepared([ours.prepare(ClipFrames(clip)) for clip in CLIPS])
    model = AutoModel.from_pretrained(folder, trust_remote_code=True).eval()
    with torch.no_grad():
        videos, texts = CARDS[name](model, folder)
    card = normalize(videos, dim=-1) @ normalize(texts, dim=-1).T
    parity.close(name, ours.join(rows, ours.encode_texts(TEXTS)), card.numpy())
