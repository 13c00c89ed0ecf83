"""VideoPrism as a video-text dual encoder: its embeddings, not its batch-softmaxed logits."""

import numpy as np
import pytest
import tiny_models

from video_contrast.runner.kinds import Clip, Settings, choose
from video_contrast.runner.kinds.base import Encoder
from video_contrast.runner.locate import locate


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    source = locate(str(tiny_models.videoprism(tmp_path_factory.mktemp("videoprism") / "model")))
    kind = choose(source)
    assert kind.name == "video_dual_encoder"
    return kind.load(source, Settings())


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
    pixels = torch.from_numpy(np.stack([model.prepare(Clip(c)) for c in clips]))
    with torch.inference_mode():
        out = model.model(pixel_values_videos=pixels, **model.tokens(texts, "cpu"))  # type: ignore[attr-defined]
    cosine = (
        torch.nn.functional.normalize(out.video_embeds, dim=-1)
        @ torch.nn.functional.normalize(out.text_embeds, dim=-1).T
    )
    np.testing.assert_allclose(model.join(model.encode_videos(clips), model.encode_texts(texts)), cosine, atol=1e-5)
