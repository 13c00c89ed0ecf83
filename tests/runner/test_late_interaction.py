"""Late interaction: every class scores by MaxSim over its own vectors, stored rows of any width included."""

from pathlib import Path
from typing import Any

import numpy as np
import parity
import pytest
import runner_set
import tiny_late
import torch
from PIL import Image

from video_contrast import score
from video_contrast.errors import VideoContrastError
from video_contrast.runner.device import recipe_of
from video_contrast.runner.embedding_store import Store
from video_contrast.runner.kinds import choose, options_for
from video_contrast.runner.kinds.base import ClipFrames, Encoder, LoadOptions
from video_contrast.runner.kinds.late_interaction import maxsim, stacked
from video_contrast.runner.model_files import locate
from video_contrast.storage import open_run
from video_contrast.video import decode, frame_indices

TEXTS = ["A man runs", "two women sing a song to a dog", "It rains"]
RNG = np.random.default_rng(0)
# Of several sizes: some of the processors make as many vectors as the frame has patches.
CLIPS = [RNG.integers(0, 255, (3, 40, width, 3), dtype=np.uint8) for width in (40, 60, 90)]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    root = tmp_path_factory.mktemp("late")
    return {name: make(root / name) for name, make in tiny_late.MAKERS.items()}


def load(folder: Path, **options: str) -> Encoder:
    source = locate(str(folder))
    kind = choose(source)
    assert kind.name == "late_interaction"
    recipe = recipe_of(source, kind.name)
    assert recipe is not None and recipe.parity == "tests/runner/test_late_interaction.py"
    model = kind.load(source, LoadOptions(options=options_for(kind, options)))
    assert isinstance(model, Encoder)
    return model


def naive(videos: list[np.ndarray], texts: list[np.ndarray]) -> np.ndarray:
    return np.array([[sum(max(q @ p for p in video) for q in text) for text in texts] for video in videos])


@pytest.mark.parametrize("name", tiny_late.MAKERS)
def test_a_clip_scores_as_the_documents_of_all_its_frames(name: str, folders: dict[str, Path]) -> None:
    import transformers

    model = getattr(transformers, name).from_pretrained(folders[name]).eval()
    processor = transformers.AutoProcessor.from_pretrained(folders[name], backend="pil")
    with torch.no_grad():
        documents = []
        for clip in CLIPS:
            pages = [processor.process_images(images=[Image.fromarray(frame)]) for frame in clip]
            pages = [{key: value for key, value in page.items() if key != "labels"} for page in pages]
            documents.append(torch.cat([model(**page).embeddings[0] for page in pages]))
        queries = [model(**processor.process_queries(text=[text])).embeddings[0] for text in TEXTS]
        # One document a call: where several are padded, the library lets zeros match.
        card = torch.cat([processor.score_retrieval(queries, [document]) for document in documents], dim=1).T
    tokens = np.array([len(query) for query in queries])
    np.testing.assert_allclose(card, naive([d.numpy() for d in documents], [q.numpy() for q in queries]), atol=1e-4)
    ours = load(folders[name])
    rows = ours.encode_prepared([ours.prepare(ClipFrames(clip)) for clip in CLIPS])
    parity.close(name, ours.join(rows, ours.encode_texts(TEXTS)) / tokens, card.numpy() / tokens)
    alone = ours.join(ours.encode_prepared([ours.prepare(ClipFrames(CLIPS[1]))]), ours.encode_texts(TEXTS[2:]))
    np.testing.assert_allclose(alone[0, 0], ours.join(rows, ours.encode_texts(TEXTS))[1, 2], rtol=1e-5)


def test_the_prompt_of_captions_is_replaced(folders: dict[str, Path]) -> None:
    model = load(folders["ColQwen2ForRetrieval"], prompt_text="Find: ")
    clip = ClipFrames(CLIPS[0])
    assert model.rendered_input(clip, TEXTS)["prompt"].startswith("Find: A man runs")
    assert model.facts["prompt_text"] == "Find: "


def test_maxsim_is_the_naive_one_and_padding_never_matches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("video_contrast.runner.kinds.late_interaction.AT_ONCE", 8)  # several blocks
    videos = [RNG.normal(size=(count, 4)).astype(np.float32) - 3 for count in (2, 5, 1)]  # products are negative, too
    texts = [RNG.normal(size=(count, 4)).astype(np.float32) + 3 for count in (3, 1, 4, 2)]
    rows = [stacked([one.reshape(1, -1) for one in several]) for several in (videos, texts)]
    expected = naive(videos, texts)
    assert expected.max() < 0
    np.testing.assert_allclose(maxsim(*rows, dimension=4), expected, rtol=1e-6)


def test_rows_of_several_widths_are_stored_as_multi_vectors_only(tmp_path: Path) -> None:
    store = Store(tmp_path, "model", multi_vector=True)
    store.put(["a"], np.ones((1, 2), np.float32))
    store.put(["b"], np.ones((1, 4), np.float32))
    for order in (["a", "b"], ["b", "a"]):
        rows = dict(zip(order, Store(tmp_path, "model", multi_vector=True).get(order).tolist(), strict=True))
        assert rows == {"a": [1, 1, 0, 0], "b": [1, 1, 1, 1]}
    with pytest.raises(VideoContrastError, match="holds rows of"):
        Store(tmp_path, "model").get(["a", "b"])


def test_recall_is_that_of_the_naive_scores(folders: dict[str, Path], tmp_path: Path) -> None:
    runner_set.write(tmp_path / "set", n_clips=5)
    options: dict[str, Any] = {"frames": 2, "progress": False, "store": tmp_path / "store", "accept": "all"}
    folder = folders["ColQwen2ForRetrieval"]
    result = score(folder, tmp_path / "set", "retrieval", output=tmp_path / "run", batch_size=2, **options)
    matrix = open_run(tmp_path / "run").matrix("retrieval")
    model = load(folder)
    texts = {f"{row['id']}#{n}": text for row in load_rows(tmp_path / "set") for n, text in enumerate(row["captions"])}
    queries = vectors(model.encode_texts([texts[column] for column in matrix.columns]))
    clips = [decode(path, frame_indices(12, 2).tolist()) for path in sorted((tmp_path / "set" / "clips").glob("*.mp4"))]
    documents = vectors(model.encode_prepared([model.prepare(ClipFrames(clip)) for clip in clips]))
    assert list(matrix.videos) == [f"video{n}" for n in range(5)]
    expected = naive(documents, queries)
    np.testing.assert_allclose(matrix.values, expected, rtol=1e-5)
    right = expected[list(matrix.relevant), range(len(queries))]
    assert result["retrieval"]["conditions"]["clean"]["t2v_R@1"] == pytest.approx((expected <= right).all(0).mean())


def load_rows(folder: Path) -> Any:
    import datasets

    return datasets.load_dataset(str(folder), "retrieval", split="test")


def vectors(rows: np.ndarray) -> list[np.ndarray]:
    return [np.array([vector for vector in row.reshape(-1, 16) if vector.any()]) for row in rows]
