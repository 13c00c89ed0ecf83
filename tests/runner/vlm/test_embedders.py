"""Embedders of sentence-transformers over real classes: prompts, times and pooling are those of the library's lines."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import parity
import pytest
import tiny_sentence
from tiny_sentence import INSIDE, PROMPTS

from video_contrast.runner.kinds import choose, options_for
from video_contrast.runner.kinds.base import ClipFrames, Encoder, LoadOptions
from video_contrast.runner.kinds.sentence import SentenceEncoder
from video_contrast.runner.model_files import locate

CAPTIONS = ["a man sits down", "A woman runs away quickly", "dogs"]
RATE = 24.0


@pytest.fixture(scope="module")
def saved(tiny_vlm: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    root = tmp_path_factory.mktemp("embedders")

    def get(name: str) -> Path:
        return root / name if (root / name).exists() else tiny_sentence.embedder(root / name, tiny_vlm(name))

    return get


def load(folder: Path, **more: Any) -> Encoder:
    source = locate(str(folder))
    kind = choose(source)
    assert kind.name == "sentence_transformers"
    model = kind.load(source, LoadOptions(options=options_for(kind, {}), **more))
    assert isinstance(model, Encoder)
    return model


def similarities(model: Encoder, clips: list[ClipFrames]) -> np.ndarray:
    return model.join(model.encode_prepared([model.prepare(clip) for clip in clips]), model.encode_texts(CAPTIONS))


@pytest.mark.parametrize("name", INSIDE)
def test_video_embedders(name: str, saved: Callable[[str], Path], clip: ClipFrames) -> None:
    from sentence_transformers import SentenceTransformer

    times = (0.0, 0.25, 0.5, 0.75)
    clips = [ClipFrames(clip.frames, times), ClipFrames(255 - clip.frames[:, :40], times)]
    card = SentenceTransformer(str(saved(name)), device="cpu")
    metadata = {"total_num_frames": 24, "fps": RATE, "frames_indices": [round(time * RATE) for time in times]}
    rate = {"fps": 4.0} if name == "qwen2_5_omni" else {}
    documents = [
        card.encode_document(
            [{"array": one.frames, "video_metadata": metadata}],
            processing_kwargs={"video": {"do_sample_frames": False, **rate}},
        )[0]
        for one in clips
    ]
    queries = [card.encode_query(caption) for caption in CAPTIONS]
    parity.close(
        f"{name} in a SentenceTransformer", similarities(load(saved(name)), clips), documents @ np.array(queries).T
    )


def test_a_task_goes_to_captions_and_clips_each_with_its_saved_prompt(
    saved: Callable[[str], Path], clip: ClipFrames
) -> None:
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Module

    class Adapters(Module):
        """As in checkpoints that choose an adapter by the task, and know no task "query"."""

        forward_kwargs: ClassVar[set[str]] = {"task"}

        def forward(self, features: dict[str, Any], task: str | None = None) -> dict[str, Any]:
            features["sentence_embedding"] = features["sentence_embedding"].roll({"retrieval": 1}[str(task)], -1)
            return features

        def save(self, output_path: str, *args: Any, **kwargs: Any) -> None:
            raise NotImplementedError

    plain = load(saved("qwen3_vl"))
    inside = SentenceTransformer(str(saved("qwen3_vl")), device="cpu")
    model = SentenceEncoder(
        SentenceTransformer(modules=[*inside, Adapters()], prompts=PROMPTS), "m", adapter_task="retrieval"
    )
    assert model.facts["task"] == "retrieval"
    np.testing.assert_allclose(similarities(model, [clip]), similarities(plain, [clip]), atol=1e-6)
    rolled = np.roll(plain.encode_texts(CAPTIONS), 1, axis=1)
    np.testing.assert_allclose(model.encode_texts(CAPTIONS), rolled, atol=1e-6)


def test_prompts_reach_the_model(saved: Callable[[str], Path], clip: ClipFrames) -> None:
    folder = saved("qwen3_vl")
    source = locate(str(folder))
    kind = choose(source)
    plain = similarities(load(folder), [clip])
    for option in ("prompt_text", "prompt_video"):
        model = kind.load(source, LoadOptions(options=options_for(kind, {option: "Find: "})))
        assert np.abs(similarities(model, [clip]) - plain).max() > 1e-4
        assert model.facts[option] == "Find: "


def test_what_an_embedder_is_given_is_shown(saved: Callable[[str], Path], clip: ClipFrames) -> None:
    shown = load(saved("qwen3_vl")).rendered_input(clip, CAPTIONS)
    assert PROMPTS["query"] in str(shown["prompt"]) and CAPTIONS[0] in str(shown["prompt"])
    assert PROMPTS["document"] in str(shown["clip_prompt"]) and "<|video_pad|>" in str(shown["clip_prompt"])
    assert shown["times_told"] == [0.2, 1.2] and shown["clip_tokens"] > shown["tokens"] > 50  # type: ignore[operator]
    assert "pixel_values_videos" in shown["pixels"]  # type: ignore[operator]


@pytest.mark.parametrize("device_map", ["cpu", "auto"])
def test_device_maps(
    device_map: str, saved: Callable[[str], Path], tiny_vlm: Callable[[str], Path], tmp_path: Path, clip: ClipFrames
) -> None:
    folder = saved("qwen2_vl")
    model = load(folder, device_map=device_map)
    assert model.model._device_map == device_map  # type: ignore[attr-defined]
    np.testing.assert_allclose(similarities(model, [clip]), similarities(load(folder), [clip]), atol=1e-6)


@pytest.mark.parametrize("device_map", ["cpu", "auto"])
def test_device_maps_of_rerankers(
    device_map: str, tiny_vlm: Callable[[str], Path], tmp_path: Path, clip: ClipFrames
) -> None:
    source = locate(str(tiny_sentence.reranker(tmp_path / "model", tiny_vlm("qwen2_5_vl"))))
    kind = choose(source)
    plain, placed = (
        kind.load(source, LoadOptions(options=options_for(kind, {}), **more))
        for more in ({}, {"device_map": device_map})
    )
    assert placed.encoder._device_map == device_map
    np.testing.assert_allclose(placed.score(clip, CAPTIONS).scores, plain.score(clip, CAPTIONS).scores, atol=1e-6)
