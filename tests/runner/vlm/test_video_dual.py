"""Video-text dual encoders: VideoPrism's embeddings, not its batch-softmaxed logits; PE-Video's own logits."""

from pathlib import Path

import numpy as np
import pytest
import tiny_models

from video_contrast.runner.kinds import choose
from video_contrast.runner.kinds.base import ClipFrames, Encoder, LoadOptions
from video_contrast.runner.model_files import locate


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    source = locate(str(tiny_models.videoprism(tmp_path_factory.mktemp("videoprism") / "model")))
    kind = choose(source)
    assert kind.name == "video_dual_encoder"
    return kind.load(source, LoadOptions())


def test_videoprism_rows_do_not_depend_on_the_batch(model: Encoder) -> None:
    rng = np.random.default_rng(0)
    clips = [rng.integers(0, 255, (4, 40, 56, 3), dtype=np.uint8) for _ in range(3)]
    texts = ["a man runs", "a long caption about a woman who sings"]
    together = model.join(model.encode_videos(clips), model.encode_texts(texts))
    alone = [[model.join(model.encode_videos([c]), model.encode_texts([t]))[0, 0] for t in texts] for c in clips]
    np.testing.assert_allclose(together, alone, atol=1e-5)
    assert together.std() > 1e-4


def test_videoprism_cosines_are_those_of_the_forward_pass(model: Encoder) -> None:
    import torch

    rng = np.random.default_rng(1)
    clips = [rng.integers(0, 255, (4, 40, 56, 3), dtype=np.uint8) for _ in range(2)]
    texts = ["a man runs", "a dog sleeps"]
    pixels = torch.from_numpy(np.stack([model.prepare(ClipFrames(c)) for c in clips]))
    with torch.inference_mode():
        out = model.model(pixel_values_videos=pixels, **model.tokens(texts, "cpu"))  # type: ignore[attr-defined]
    cosine = (
        torch.nn.functional.normalize(out.video_embeds, dim=-1)
        @ torch.nn.functional.normalize(out.text_embeds, dim=-1).T
    )
    np.testing.assert_allclose(model.join(model.encode_videos(clips), model.encode_texts(texts)), cosine, atol=1e-5)


def test_videoprism_takes_other_numbers_of_frames_than_its_configs(model: Encoder) -> None:
    import torch

    clips = np.random.default_rng(3).integers(0, 255, (2, 6, 40, 56, 3), dtype=np.uint8)
    pixels = torch.from_numpy(np.stack([model.prepare(ClipFrames(clip)) for clip in clips]))
    with torch.inference_mode():
        rows = model.model.get_video_features(pixels, interpolate_pos_encoding=True)  # type: ignore[attr-defined]
    rows = torch.nn.functional.normalize(rows.pooler_output[:, 0], dim=-1)
    np.testing.assert_allclose(model.encode_videos(list(clips)), rows, atol=1e-6)


@pytest.mark.parametrize("name", ["pe_video", "pe_audio_video"])
def test_perception_encoders_rank_by_the_logits_of_their_own_forward_pass(name: str, tmp_path: Path) -> None:
    pytest.importorskip("timm", reason="the Perception Encoders need timm")
    import torch

    source = locate(str(getattr(tiny_models, name)(tmp_path / name)))
    kind = choose(source)
    assert kind.name == "video_dual_encoder"
    model = kind.load(source, LoadOptions())
    rng = np.random.default_rng(2)
    clips = [rng.integers(0, 255, (4, 40, 56, 3), dtype=np.uint8) for _ in range(3)]
    texts = ["a man runs", "a long caption about a woman who sings a song to a dog"]
    found = model.join(model.encode_videos(clips), model.encode_texts(texts))
    pixels = torch.from_numpy(np.stack([model.prepare(ClipFrames(clip)) for clip in clips]))
    inner = getattr(model.model, "video_model", model.model)
    torch.nn.init.ones_(inner.text_video_logit_scale)
    with torch.inference_mode():
        out = inner(pixel_values_videos=pixels, **model.tokens(texts, "cpu"))
    np.testing.assert_allclose(found, out.logits_video_text.numpy(), rtol=1e-4, atol=1e-4)
    assert found.std(axis=0).min() > 1e-3 and found.std(axis=1).min() > 1e-3
