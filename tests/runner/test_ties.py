"""Equal texts tie exactly, whatever a model makes of their place among others."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
import runner_set

from video_contrast.builders.registry import BuiltSet
from video_contrast.builders.writing import write_set
from video_contrast.rows import MultipleChoiceRow, multiple_choice_row, retrieval_row
from video_contrast.runner import score
from video_contrast.runner.kinds.base import (
    MODEL_KINDS,
    ClipFrames,
    Encoder,
    LoadOptions,
    ModelSource,
    PairScorer,
    ScoreResult,
    kind,
)
from video_contrast.storage import open_run
from video_contrast.video import write_video

STARTS = ("a", "the", "that")
SAME, OTHER = "bar moves", "bar stands still"


class PairByPlace(PairScorer):
    """Scores rise in the last bits from one text to the next, as those of a batch may."""

    def score(self, clip: ClipFrames | None, captions: Sequence[str], *, position: int = 0) -> ScoreResult:
        scores = np.array([float(caption.endswith(SAME)) for caption in captions]) + np.arange(len(captions)) * 1e-12
        return ScoreResult(scores, [{"raw": float(value)} for value in scores])


class JoinByPlace(Encoder):
    """The same of joining layers, which see the captions in blocks."""

    def encode_prepared(self, prepared: Sequence[np.ndarray]) -> np.ndarray:
        return np.ones((len(prepared), 2), np.float32)

    def encode_texts(self, texts: Sequence[str]) -> np.ndarray:
        return np.array([[text.endswith(SAME), 1.0] for text in texts], np.float32)

    def join(self, videos: np.ndarray, texts: np.ndarray) -> np.ndarray:
        return super().join(videos, texts) + np.arange(len(texts), dtype=np.float32) * 1e-6


@pytest.fixture(autouse=True)
def kinds() -> Iterator[None]:
    @kind("pair_by_place", family="pair", summary="for this test", names=("pair_by_place",))
    def load_pair(source: ModelSource, settings: LoadOptions) -> PairByPlace:
        return PairByPlace()

    @kind("join_by_place", family="encoder", summary="for this test", names=("join_by_place",))
    def load_join(source: ModelSource, settings: LoadOptions) -> JoinByPlace:
        return JoinByPlace()

    yield
    MODEL_KINDS.pop("pair_by_place")
    MODEL_KINDS.pop("join_by_place")


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four clips with the same captions, and items whose candidates differ in their first word alone."""
    folder = tmp_path_factory.mktemp("ties") / "set"
    choice: list[MultipleChoiceRow] = []
    search = []
    for n in range(4):
        path = f"clips/{n}.mp4"
        write_video(folder / path, runner_set.clip(n), 8)
        where = {"video_id": f"video{n}", "video_path": path}
        kinds = ["random", "random", "random"]
        kinds[n % 3] = "true"
        choice.append(
            multiple_choice_row(
                id=f"item{n}",
                candidates=[f"{start} {SAME}" for start in STARTS],
                kinds=kinds,
                label=n % 3,
                cluster=f"video{n}",
                **where,
            )
        )
        search.append(retrieval_row(id=f"clip{n}", captions=[f"a {SAME}", f"a {OTHER}"], **where))
    built = {"random_mc": {"test": choice}, "retrieval": {"test": search}}
    return write_set(BuiltSet("captions", built, {"summary": "clips made for a test"}), folder)


@pytest.mark.parametrize("model", ["pair_by_place", "join_by_place"])
def test_equal_texts_tie_exactly(model: str, dataset: Path, tmp_path: Path) -> None:
    result = score(
        model, dataset, ["random_mc", "retrieval"], conditions="text:drop_first", output=tmp_path / "run",
        store=tmp_path / "store", progress=False, accept="all", batch_size=4,
    )  # fmt: skip
    assert result["random_mc"]["conditions"]["text:drop_first"]["accuracy"] == pytest.approx(1 / 3, abs=1e-12)
    retrieval = result["retrieval"]["conditions"]["text:drop_first"]
    assert (retrieval["v2t_R@1"], retrieval["v2t_n_ties"]) == (0.25, 4)
    matrix = open_run(tmp_path / "run").matrix("retrieval", "text:drop_first").values
    assert len(np.unique(matrix[:, ::2])) == len(np.unique(matrix[:, 1::2])) == 1
