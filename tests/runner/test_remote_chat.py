"""Video language models with a `chat` of their own: asked as their cards ask them, and read by the rules of answers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import remote_code
import runner_set
import torch
from PIL import Image

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.question_text import WHICH_SENTENCE, Question, candidate_of
from video_contrast.runner import score
from video_contrast.runner.kinds import choose, options_for
from video_contrast.runner.kinds.base import ClipFrames, LoadOptions, PairScorer
from video_contrast.runner.locate import locate

TEXTS = ["a man runs", "a man walks", "a man sits"]
CLIPS = [np.random.default_rng(n).integers(0, 255, (3, 20, 30, 3), np.uint8) for n in range(12)]


@pytest.fixture(autouse=True)
def _modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))


def loaded(folder: Path, **options: Any) -> PairScorer:
    source = locate(str(folder))
    kind = choose(source)
    assert kind.name == "remote_chat"
    model = kind.load(source, LoadOptions(trust_remote_code=True, options=options_for(kind, options)))
    assert isinstance(model, PairScorer)
    return model


def internvl(model: Any, clip: np.ndarray, question: str) -> str:
    """As the card's `load_video` with one patch a frame, and its `chat`."""
    frames = [np.asarray(Image.fromarray(frame).resize((28, 28), Image.Resampling.BICUBIC)) for frame in clip]
    pixels = torch.tensor(np.stack(frames)).permute(0, 3, 1, 2) / 255.0
    mean, deviation = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
    pixels = (pixels - mean[:, None, None]) / deviation[:, None, None]
    prefix = "".join(f"Frame{n + 1}: <image>\n" for n in range(len(clip)))
    generation = {"max_new_tokens": 16, "do_sample": False}
    return str(model.chat(None, pixels, prefix + question, generation, num_patches_list=[1] * len(clip)))


def minicpm(model: Any, clip: np.ndarray, question: str) -> str:
    content = [*(Image.fromarray(frame) for frame in clip), question]
    return str(model.chat(None, [{"role": "user", "content": content}], None, sampling=False, max_slice_nums=1))


@pytest.mark.parametrize(("name", "card"), [("InternVLChatModel", internvl), ("MiniCPMV", minicpm)])
def test_letters_are_those_that_the_cards_own_call_answers(name: str, card: Any, tmp_path: Path) -> None:
    from transformers import AutoModel

    folder = remote_code.chat_model(tmp_path / f"model_{name}", name)
    ours = loaded(folder)
    model = AutoModel.from_pretrained(folder, trust_remote_code=True).eval()
    answers = []
    for clip in CLIPS:
        result = ours.score(ClipFrames(clip), TEXTS)
        said = card(model, clip, WHICH_SENTENCE.prompt_for(TEXTS))
        answers.append(candidate_of(said, TEXTS))
        if answers[-1] is None:
            assert np.isnan(result.scores).all() and result.counts["unparseable"] == 1
        else:
            assert int(np.argmax(result.scores)) == answers[-1] and result.counts["unparseable"] == 0
    assert None in answers and len(set(answers)) >= 3  # several letters, and answers that are none


def test_rotations_are_averaged_and_a_question_keeps_its_prompt(tmp_path: Path) -> None:
    folder = remote_code.chat_model(tmp_path / "model", "MiniCPMV")
    rotated = loaded(folder, rotations="rotate").score(ClipFrames(CLIPS[0]), TEXTS)
    assert rotated.parts is not None and rotated.counts["unparseable"] <= 3
    ours = loaded(folder)
    ours.score(None, ["Yes", "No"], question=Question("Does he run?", "{question} Say yes or no."))
    assert ours.facts["prompt"] == "Does he run? Say yes or no." and ours.facts["answers"] == "generated words"


def test_nothing_runs_without_the_flag_and_a_chat_that_opens_files_is_refused(tmp_path: Path) -> None:
    source = locate(str(remote_code.chat_model(tmp_path / "flash", "VideoChatFlashQwenForCausalLM")))
    kind = choose(source)
    with pytest.raises(UsageError, match="--trust-remote-code"):
        kind.load(source, LoadOptions(options=options_for(kind, {})))
    with pytest.raises(VideoContrastError, match=r"takes .*video_path.*: known are those that take pixel_values"):
        kind.load(source, LoadOptions(trust_remote_code=True, options=options_for(kind, {})))


def test_it_is_scored_after_a_self_test_that_says_what_it_sees(tmp_path: Path) -> None:
    runner_set.write(tmp_path / "set")
    folder = remote_code.chat_model(tmp_path / "model", "InternVLChatModel")
    options: dict[str, Any] = {"trust_remote_code": True, "progress": False, "output": tmp_path / "run"}
    with pytest.raises(VideoContrastError, match="self-test"):  # its answers jump with the length of the question
        score(folder, tmp_path / "set", "verb_mc", **options)
    result = score(folder, tmp_path / "set", "verb_mc", accept="all", **options)
    assert result.record["model"]["kind"] == "remote_chat" and len(result.scores) == 7
