"""Questions: they stand before the candidates or are left out for encoders, and are asked by models that answer."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import video_contrast
from video_contrast.errors import UsageError
from video_contrast.rows import multiple_choice_row
from video_contrast.runner.kinds.base import (
    MODEL_KINDS,
    ClipFrames,
    DualEncoder,
    PairScorer,
    Question,
    ScoreResult,
    kind,
)
from video_contrast.storage import SetDraft
from video_contrast.video import write_video

PROMPT = "{question}\n{options}\nPlease directly give the best option:"
SEEN: dict[str, list[Any]] = {"texts": [], "asked": []}


class Letters(DualEncoder):
    """Texts by their lengths; keeps what it was given."""

    def encode_prepared(self, prepared: Sequence[Any]) -> np.ndarray:
        return np.ones((len(prepared), 1), np.float32)

    def encode_texts(self, texts: Sequence[str]) -> np.ndarray:
        SEEN["texts"] += texts
        return np.array([[len(text)] for text in texts], np.float32)


class Answers(PairScorer):
    """Prefers the first option; keeps what it was asked."""

    def score(
        self, clip: ClipFrames | None, captions: Sequence[str], *, position: int = 0, question: Question | None = None
    ) -> ScoreResult:
        SEEN["asked"].append(None if question is None else question.prompt_for(captions))
        return ScoreResult(-np.arange(len(captions), dtype=np.float64))

    def rendered_input(
        self, clip: ClipFrames, captions: Sequence[str], *, position: int = 0, question: Question | None = None
    ) -> dict[str, Any]:
        return {} if question is None else {"prompt": question.prompt_for(captions)}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    kind("letters", family="encoder", summary="for this test", names=("letters",))(lambda source, settings: Letters())
    kind("answers", family="pair", summary="for this test", names=("answers",), asks=True)(
        lambda source, settings: Answers()
    )
    for seen in SEEN.values():
        seen.clear()
    rows = [
        multiple_choice_row(
            id=f"q{n}", video_id="v", video_path="clips/v.mp4", candidates=["red", "dark blue"], label=n,
            kinds=["true", "colour"] if n == 0 else ["colour", "true"], question=f"Which {n}?",
            meta={"prompt": PROMPT},
        )
        for n in range(2)
    ]  # fmt: skip
    draft = SetDraft(tmp_path / "set", "questions")
    draft.add("colour_mc", {"test": rows}, {})
    draft.save()
    write_video(tmp_path / "set/clips/v.mp4", np.zeros((8, 32, 32, 3), np.uint8), fps=8)
    yield tmp_path / "set"
    MODEL_KINDS.pop("letters"), MODEL_KINDS.pop("answers")


def score(model: str, folder: Path, **options: Any) -> Any:
    """Scores with a model that sees nothing, which its self-test would not let pass."""
    return video_contrast.score(
        model, folder, "colour_mc", progress=False, store=folder.parent / "store", accept="all", **options
    )


def test_an_encoder_scores_question_and_candidate_or_the_candidate_alone(folder: Path) -> None:
    shown = score("letters", folder, show_input=True).record
    assert shown["item"]["captions"] == ["Which 0? red"], "another text than is scored"
    joined = score("letters", folder)
    together = {"Which 0? dark blue", "Which 0? red", "Which 1? dark blue", "Which 1? red"}
    assert together <= set(SEEN["texts"]) and not {"red", "dark blue"} & set(SEEN["texts"])
    assert joined.record["set"]["questions"] == {"colour_mc": "joined"}
    assert joined.record["request"]["questions"] == "with"
    SEEN["texts"].clear()
    alone = score("letters", folder, questions="without")
    assert {"dark blue", "red"} <= set(SEEN["texts"]) and not together & set(SEEN["texts"])
    assert alone.record["set"]["questions"] == {"colour_mc": "left out"}
    assert alone.record["request"]["questions"] == "without"


def test_a_perturbation_changes_the_candidates_and_not_the_question(folder: Path) -> None:
    result = score("letters", folder, conditions="clean,text:shuffle_order,text:punctuation")
    assert "Which 0? blue dark" in SEEN["texts"]
    numbers = result["colour_mc"]["conditions"]
    assert numbers["text:shuffle_order"]["captions_changed"] == 0.5


def test_a_model_that_answers_is_asked_with_the_released_prompt(folder: Path) -> None:
    result = score("answers", folder)
    asked = [f"Which {n}?\nA. red\nB. dark blue\nPlease directly give the best option:" for n in range(2)]
    assert [text for text in SEEN["asked"] if text] == asked
    shown = score("answers", folder, show_input=True).record
    assert shown["input"] == {"prompt": asked[0]} and shown["item"]["captions"] == ["red", "dark blue"]
    assert result["colour_mc"]["conditions"]["clean"]["accuracy"] == 0.5
    assert result.record["set"]["questions"] == {"colour_mc": "asked"}
    assert result.record["set"]["prompts"] == {"colour_mc": [PROMPT]}
    SEEN["asked"].clear()
    score("answers", folder, questions="without")
    assert set(SEEN["asked"]) == {None}


def test_a_directory_of_one_use_refuses_the_other(folder: Path, tmp_path: Path) -> None:
    score("letters", folder, output=tmp_path / "run")
    with pytest.raises(UsageError, match="was made for questions 'with', not 'without'"):
        score("letters", folder, output=tmp_path / "run", questions="without")


def test_what_is_put_into_a_prompt_is_never_filled_itself() -> None:
    question = Question("What is {options}?", "{question} | {options} | {frames}", "({letter}) {number} {text}")
    assert (
        question.of_frames(8).prompt_for(["a {question}", "b"])
        == "What is {options}? | (A) 1 a {question}\n(B) 2 b | 8"
    )
    assert Question("?", "{question} {options_dict}").prompt_for(["x", "y"]) == "? {'A': 'x', 'B': 'y'}"


def test_only_a_prompt_without_options_is_answered_by_yes_or_no() -> None:
    assert Question("Is it?", "{question}\nYes or no:").is_yes_no(["No", "yes."])
    assert not Question("Is it?").is_yes_no(["no", "yes"]) and not Question("Is it?", "{question}").is_yes_no(
        ["a", "b"]
    )
