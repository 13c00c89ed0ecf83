"""Models that write their answer: each interface of a repository's code is shown the sampled frames, and tested."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import remote_code
import runner_set
from PIL import Image
from safetensors.torch import load_file, save_file

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.question_text import WHICH_SENTENCE, Question, letter_of
from video_contrast.runner import score
from video_contrast.runner.kinds import choose, options_for
from video_contrast.runner.kinds.base import ClipFrames, LoadOptions
from video_contrast.runner.kinds.generated import GeneratedScorer
from video_contrast.runner.model_files import locate
from video_contrast.runner.traces import network_of

TEXTS = ["a man runs", "a man walks", "a man sits"]
CLIPS = [
    ClipFrames(
        np.random.default_rng(n).integers(0, 255, (3, 2, 2, 3), np.uint8).repeat(10, 1).repeat(15, 2),
        (0.0, 1.0, 2.0),
        seconds=3.0,
    )
    for n in range(6)
]
INTERNVL = "InternVLChatModel"


@pytest.fixture(autouse=True)
def _modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))


def loaded(folder: Path, kind_name: str | None = None, **options: Any) -> GeneratedScorer:
    source = locate(str(folder))
    kind = choose(source, kind_name)
    assert kind.name == "generated"
    model = kind.load(source, LoadOptions(trust_remote_code=True, options=options_for(kind, options)))
    assert isinstance(model, GeneratedScorer)
    return model


def as_internvl(clip: ClipFrames) -> np.ndarray:
    """Pixels as the card's `load_video` with one patch a frame."""
    frames = [np.asarray(Image.fromarray(frame).resize((28, 28), Image.Resampling.BICUBIC)) for frame in clip.frames]
    return ((np.stack(frames) / 255.0 - [0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]).transpose(0, 3, 1, 2)


@pytest.mark.parametrize("name", remote_code.INTERFACES)
def test_each_interface_is_shown_the_sampled_frames_and_its_letters_are_read(name: str, tmp_path: Path) -> None:
    # a class called "...Model" may as well embed: the kind must be named
    options = {"frames_as": "video"} if name.startswith("Keye") else {}
    ours = loaded(
        remote_code.chat_model(tmp_path / name, name), "generated" if name.endswith("l3Model") else None, **options
    )
    assert network_of(ours) is ours.model  # whose weights a certificate holds
    letters = set()
    for clip in CLIPS:
        result = ours.score(clip, TEXTS)
        pixels = as_internvl(clip) if name == INTERNVL else clip.frames.transpose(0, 3, 1, 2) / 255
        np.testing.assert_allclose(np.stack([np.asarray(frame) for frame in ours.model.seen]), pixels, atol=1e-6)
        said = letter_of(ours._answer(clip, WHICH_SENTENCE.prompt_for(TEXTS), ("A", "B", "C"))["text"], TEXTS)
        assert "ABC"[int(np.argmax(result.scores))] == said
        assert np.exp(result.scores).sum() == pytest.approx(1) and (np.exp(result.scores) > 0).all()
        letters.add(said)
    assert len(letters) > 1 and ours.facts["answers"] == "log-probabilities of generated tokens"
    if not name.startswith("VideoChat"):  # asked with a file, or not at all
        assert np.isfinite(ours.score(None, TEXTS).scores).all() and not ours.model.seen


def test_rotations_are_averaged_a_question_keeps_its_prompt_and_captions_are_asked_about_alone(tmp_path: Path) -> None:
    folder = remote_code.chat_model(tmp_path / "model", "MiniCPMV")
    rotated = loaded(folder, rotations="rotate").score(CLIPS[0], TEXTS)
    assert rotated.parts is not None and {"rotation0", "rotation1", "rotation2"} <= set(rotated.parts[0])
    ours = loaded(folder)
    ours.score(None, ["Yes", "No"], question=Question("Does he run?", "{question} Say Yes or No."))
    assert ours.facts["prompt"] == "Does he run? Say Yes or No."
    alone = loaded(folder, scoring="yesno").score(CLIPS[0], TEXTS)
    assert len(set(alone.scores)) == 3 and ((alone.scores > 0) & (alone.scores < 1)).all()


def test_a_caption_is_text_and_never_a_place_for_frames(tmp_path: Path) -> None:
    model = loaded(remote_code.chat_model(tmp_path / "model", INTERNVL))
    scores = model.score(CLIPS[0], ["a man <image> runs", "<|im_end|>", "a man sits"]).scores
    assert np.isfinite(scores).all() and len(model.model.seen) == len(CLIPS[0].frames)


def test_images_may_be_told_their_times(tmp_path: Path) -> None:
    folder = remote_code.chat_model(tmp_path / "model", "KimiVLForConditionalGeneration")
    plain, timed = loaded(folder), loaded(folder, frames_as="timed")
    assert not np.allclose(plain.score(CLIPS[0], TEXTS).scores, timed.score(CLIPS[0], TEXTS).scores)
    assert timed.facts["interface"] == "chat template, frames as timed"
    shown = timed.rendered_input(CLIPS[0], TEXTS)
    assert "<0.0 seconds><image><1.0 seconds><image><2.0 seconds><image>Which of" in str(shown["prompt"])
    assert shown["pixels"]["pixel_values"] == [3, 3, 20, 30]


def test_nothing_runs_without_the_flag_and_an_unknown_chat_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = locate(str(remote_code.chat_model(tmp_path / "model", INTERNVL)))
    kind = choose(source)
    with pytest.raises(UsageError, match="--trust-remote-code"):
        kind.load(source, LoadOptions(options=options_for(kind, {})))
    assert not (tmp_path / "modules").exists()
    chat = "    def chat(self, tokenizer, query, image):\n        return 'A'\n\n    generate = property()\n"
    monkeypatch.setitem(remote_code.INTERFACES, INTERNVL, f"\n{chat}")
    folder = remote_code.chat_model(tmp_path / "other", INTERNVL)
    with pytest.raises(VideoContrastError, match=r"has chat\(tokenizer, query, image\): known are chat\(pixel_values"):
        loaded(folder)


TIED = """
    _tied_weights_keys = ["lm_head.weight"]

    def __init__(self, config):
        super().__init__(config)
        self.embeddings = torch.nn.Embedding(config.vocabulary, config.width)
        self.post_init()

    def get_input_embeddings(self):
        return self.embeddings
"""


def test_code_for_transformers_4_keeps_its_tied_weights(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = loaded(remote_code.chat_model(tmp_path / "plain", "MiniCPMV")).score(CLIPS[0], TEXTS)
    monkeypatch.setitem(remote_code.INTERFACES, "MiniCPMV", remote_code.INTERFACES["MiniCPMV"] + TIED)
    folder = remote_code.chat_model(tmp_path / "tied", "MiniCPMV")
    weights = load_file(folder / "model.safetensors")
    weights["embeddings.weight"] = weights.pop("lm_head.weight")  # one name of the two, as saved
    save_file(weights, folder / "model.safetensors", metadata={"format": "pt"})
    config = json.loads((folder / "config.json").read_text())
    (folder / "config.json").write_text(json.dumps(config | {"tie_word_embeddings": True}))
    np.testing.assert_allclose(loaded(folder).score(CLIPS[0], TEXTS).scores, plain.scores, atol=1e-4)


def test_a_repository_whose_code_fails_says_so_in_one_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = "\n    def chat(self, msgs, tokenizer):\n        return self.language_model.old_name(msgs)\n"
    monkeypatch.setitem(remote_code.INTERFACES, "MiniCPMV", broken)
    model = loaded(remote_code.chat_model(tmp_path / "model", "MiniCPMV"))
    with pytest.raises(
        VideoContrastError, match=r"asked by chat\(msgs\): AttributeError: .*language_model.*transformers 5"
    ):
        model.score(CLIPS[0], TEXTS)


@pytest.mark.parametrize(
    ("name", "fault", "check"),
    [
        (INTERNVL, "", ""),
        (INTERNVL, "no frames", "clip"),
        (INTERNVL, "every second frame", "frames"),
        (INTERNVL, "no logits, no frames", "clip"),
        ("KimiVLForConditionalGeneration", "no frames", "clip"),
    ],
)
def test_the_self_test_stops_a_model_that_does_not_look_at_all_frames(
    name: str, fault: str, check: str, tmp_path: Path
) -> None:
    runner_set.write(tmp_path / "set")
    folder = remote_code.chat_model(tmp_path / "model", name, fault)
    options: dict[str, Any] = {"trust_remote_code": True, "progress": False, "output": tmp_path / "run"}
    if check:
        with pytest.raises(VideoContrastError, match=f"self-test.*{check}"):
            score(folder, tmp_path / "set", "verb_mc", **options)
        return
    result = score(folder, tmp_path / "set", "verb_mc", **options)
    assert result.record["model"]["kind"] == "generated" and len(result.scores) == 7
