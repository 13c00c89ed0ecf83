"""Parity with model cards: the card's own lines of code, on the same checkpoint, give the same scores to 1e-5.

The lines are those of the pages that `runner/kinds/model_recipes` names, with the tiny checkpoint's folder for a model.
"""

from pathlib import Path
from typing import Any

import numpy as np
import parity
import pytest
import tiny_models
import torch
from PIL import Image

from video_contrast.runner.device import recipe_of
from video_contrast.runner.kinds import choose, options_for
from video_contrast.runner.kinds.base import ClipFrames, Encoder, LoadOptions
from video_contrast.runner.model_files import locate

TEXTS = ["A man runs", "two women sing a song to a dog", "It rains"]
RNG = np.random.default_rng(0)
CLIPS = [RNG.integers(0, 255, (4, 40, 52, 3), dtype=np.uint8) for _ in range(3)]


def ours(folder: Path, kind_name: str | None = None) -> np.ndarray:
    source = locate(str(folder))
    kind = choose(source, kind_name)
    model = kind.load(source, LoadOptions(options=options_for(kind, {})))
    assert isinstance(model, Encoder)
    recipe = recipe_of(source, kind.name)
    assert recipe is not None and recipe.parity == f"tests/runner/{Path(__file__).name}"
    times = tuple(0.5 * n for n in range(4))
    rows = model.encode_prepared([model.prepare(ClipFrames(clip, times)) for clip in CLIPS])
    return model.join(rows, model.encode_texts(TEXTS))


def of_frames(images: Any, texts: Any) -> np.ndarray:
    """The mean of each clip's normalised frame embeddings, against normalised captions."""
    frames = torch.nn.functional.normalize(images, dim=-1).reshape(len(CLIPS), 4, -1)
    clips = torch.nn.functional.normalize(frames.mean(1), dim=-1)
    return (clips @ torch.nn.functional.normalize(texts, dim=-1).T).detach().numpy()


@pytest.mark.parametrize("name", ["CLIPModel", "MetaClip2Model", "SiglipModel", "Siglip2Model", "AlignModel"])
def test_image_text_models(name: str, tmp_path: Path) -> None:
    from transformers import AutoModel, AutoProcessor

    folder = tiny_models.MAKERS[name](tmp_path / "model")
    model = AutoModel.from_pretrained(folder).eval()
    processor = AutoProcessor.from_pretrained(folder, backend="pil")
    images = [Image.fromarray(frame) for clip in CLIPS for frame in clip]
    if "iglip" in name:  # docs: trained on lower-cased text, padded to the full length
        length = model.config.text_config.max_position_embeddings
        inputs = processor(
            text=[text.lower() for text in TEXTS], images=images, padding="max_length", max_length=length,
            return_tensors="pt", **({"patch_size": 8, "max_num_patches": 16} if name == "Siglip2Model" else {}),
        )  # fmt: skip
        inputs.pop("attention_mask")  # the released tokenizers return none
    else:
        inputs = processor(text=TEXTS, images=images, return_tensors="pt", padding=True)
    with torch.no_grad():
        outputs = model(**inputs)
    parity.close(name, ours(folder), of_frames(outputs.image_embeds, outputs.text_embeds))


def test_xclip(tmp_path: Path) -> None:
    from transformers import AutoModel, AutoProcessor

    folder = tiny_models.xclip(tmp_path / "model")
    model = AutoModel.from_pretrained(folder).eval()
    processor = AutoProcessor.from_pretrained(folder, backend="pil")
    rows = []
    for clip in CLIPS:
        inputs = processor(text=TEXTS, videos=list(clip), return_tensors="pt", padding=True)
        with torch.no_grad():
            outputs = model(**inputs)
        rows.append((outputs.logits_per_video[0] / model.logit_scale.exp()).detach().numpy())
    parity.close("XCLIPModel", ours(folder), np.stack(rows))


def test_sentence_transformers(tmp_path: Path) -> None:
    from sentence_transformers import SentenceTransformer

    folder = tiny_models.clip(tmp_path / "clip")
    saved = SentenceTransformer(str(folder), device="cpu", prompts={"query": "find: ", "document": ""})
    saved.save(str(tmp_path / "saved"))
    model = SentenceTransformer(str(tmp_path / "saved"), device="cpu")
    images = [Image.fromarray(frame) for clip in CLIPS for frame in clip]
    documents = torch.from_numpy(model.encode_document(images))
    queries = torch.from_numpy(model.encode_query(TEXTS))
    parity.close("SentenceTransformer", ours(tmp_path / "saved"), of_frames(documents, queries))


@pytest.mark.parametrize("shape", [(32, 32), (32, 40), (40, 32)])
@pytest.mark.parametrize(
    "make", [tiny_models.clip, tiny_models.siglip, tiny_models.xclip], ids=lambda make: make.__name__
)
def test_frames_that_need_no_resizing_are_the_processors_own(make: Any, shape: tuple[int, int], tmp_path: Path) -> None:
    from transformers import AutoImageProcessor

    from video_contrast.runner.kinds.loading import pixels_of

    processor = AutoImageProcessor.from_pretrained(make(tmp_path / "model"), backend="pil")
    frames = np.random.default_rng(0).integers(0, 256, (3, *shape, 3), dtype=np.uint8)
    expected = processor(images=list(frames), return_tensors="np", input_data_format="channels_last")["pixel_values"]
    np.testing.assert_array_equal(pixels_of(processor, frames)["pixel_values"], np.asarray(expected))
