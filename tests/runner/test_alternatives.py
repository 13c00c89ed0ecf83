"""`doctor --alternatives`: planted wrong settings are found by a better one, and sound models raise no alarm."""

import json
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import remote_code
import tiny_late
import tiny_models
import tiny_vlm

import video_contrast
from video_contrast.builders.registry import BuiltSet
from video_contrast.builders.writing import write_set
from video_contrast.cli import main
from video_contrast.runner.doctor import alternatives
from video_contrast.runner.doctor.alternatives import try_alternatives
from video_contrast.runner.doctor.result import Outcome
from video_contrast.runner.kinds import choose, options_for
from video_contrast.runner.kinds.base import MODEL_KINDS, ClipFrames, LoadOptions, kind
from video_contrast.runner.kinds.dual_encoder import ImageTextEncoder
from video_contrast.runner.model_files import locate
from video_contrast.runner.options import ScoreOptions
from video_contrast.runner.score_call import make_job
from video_contrast.runner.self_test import loaded_run
from video_contrast.storage import SetFolder

PACKAGED = "bag-of-frames"


@pytest.fixture(scope="module")
def shapes(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("alternatives") / "set"
    video_contrast.build("shapes", ["random_mc"], output=root, items=24)
    return root


def settings(model: str | Path, dataset: Path, **options: Any) -> list[Outcome]:
    job = make_job(model, dataset, "random_mc", folder=None, request=ScoreOptions(**options))
    return list(try_alternatives(loaded_run(job)))


def better(verdicts: Sequence[Outcome]) -> set[str]:
    return {verdict.says.split(":")[0] for verdict in verdicts if verdict.state == "doubt"}


def changed(folder: Path, file: str, *place: str, **fields: Any) -> Path:
    """A copy of the packaged checkpoint with other fields in a JSON file."""
    shutil.copytree(video_contrast.checkpoint_path(PACKAGED), folder)
    whole = part = json.loads((folder / file).read_text())
    for name in place:
        part = part[name]
    assert fields.keys() <= part.keys()
    part.update(fields)
    (folder / file).write_text(json.dumps(whole))
    return folder


def prompted(folder: Path) -> Path:
    """The packaged checkpoint as a folder of sentence-transformers that puts much before every caption."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.base.modules import Transformer

    prompts = {"query": "a red circle rises, and then the large blue square turns to the left; ", "document": ""}
    SentenceTransformer(modules=[Transformer(str(video_contrast.checkpoint_path(PACKAGED)))], prompts=prompts).save(
        str(folder)
    )
    return folder


IMAGES = ("processor_config.json", "image_processor")
# name -> maker of the checkpoint, the entry of the table, and what it finds
PLANTED: dict[str, tuple[Callable[[Path], Path], Callable[..., Any], str]] = {
    "pixels that nobody normalised": (
        lambda folder: changed(folder, *IMAGES, image_mean=[0, 0, 0], image_std=[1, 1, 1]), alternatives.pictures,
        "one half mean and std",
    ),
    "the middle of large pictures": (
        lambda folder: changed(folder, *IMAGES, size={"shortest_edge": 160}), alternatives.pictures,
        "whole pictures, not their middle",
    ),
    "the first token for a caption": (
        lambda folder: changed(folder, "config.json", "text_config", eos_token_id=1),
        alternatives.text_pooling, "captions by their last token",
    ),
    "another prompt": (prompted, alternatives.prompts, "no prompt of captions"),
}  # fmt: skip


@pytest.mark.parametrize("name", PLANTED)
def test_a_wrong_setting_of_a_checkpoint_is_found(
    name: str, shapes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make, entry, expected = PLANTED[name]
    monkeypatch.setattr(alternatives, "ALTERNATIVES", (entry,))
    verdicts = settings(make(tmp_path / "model"), shapes)
    assert expected in better(verdicts), "\n".join(map(str, verdicts))


@pytest.fixture
def adapter() -> Iterator[Callable[..., str]]:
    """Registers the packaged encoder with other methods; its name."""

    def register(**methods: Callable[..., Any]) -> str:
        @kind("adapter", family="encoder", summary="for this test", names=("adapter",))
        def load(source: object, settings: LoadOptions) -> ImageTextEncoder:
            real = locate(PACKAGED)
            usual = choose(real)
            model = usual.load(real, LoadOptions(options=options_for(usual, {})))
            model.__class__ = type("Adapter", (ImageTextEncoder,), methods)
            return model

        return "adapter"

    yield register
    MODEL_KINDS.pop("adapter", None)


def of_any_length(model: ImageTextEncoder, texts: Sequence[str]) -> np.ndarray:
    lengths = np.array([[4.0 ** (sum(map(ord, text)) % 7)] for text in texts], np.float32)
    return ImageTextEncoder.encode_texts(model, texts) * lengths


def late(model: ImageTextEncoder, clip: ClipFrames) -> Any:
    """A model that sees what is shown after the first half second."""
    seen = np.array(clip.times) > 0.5
    return ImageTextEncoder.prepare(model, replace(clip, frames=np.where(seen[:, None, None, None], clip.frames, 127)))


def test_embeddings_that_nobody_normalised_and_frames_in_the_wrong_place_are_found(
    shapes: Path, adapter: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alternatives, "ALTERNATIVES", (alternatives.lengths, alternatives.frames))
    assert better(settings(adapter(encode_texts=of_any_length), shapes)) == {"embeddings of one length"}
    found = better(settings(adapter(prepare=late), shapes, sampling="head", frames=4))
    assert {"--sampling uniform", "--frames 16"} <= found


def eight_at_most(model: ImageTextEncoder, clip: ClipFrames) -> Any:
    if len(clip.frames) > 8:
        raise RuntimeError("shape mismatch:\n 12 and 8")
    return ImageTextEncoder.prepare(model, clip)


def test_a_setting_that_the_model_does_not_stand_is_named_and_the_others_are_tried(
    shapes: Path, adapter: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(alternatives, "ALTERNATIVES", (alternatives.frames,))
    monkeypatch.setattr(alternatives, "ITEMS", 4)
    says = [verdict.says for verdict in settings(adapter(prepare=eight_at_most), shapes)]
    assert "--frames 12: not scored: RuntimeError: shape mismatch:" in says
    assert any(line.startswith("--sampling linspace: ") and "sd" in line for line in says)
    monkeypatch.setattr(alternatives, "FRAMES", (12,))
    monkeypatch.setattr(alternatives, "POLICIES", ())
    assert len(settings(adapter(prepare=eight_at_most), shapes)) == 2  # none of them could be scored


def test_a_model_that_writes_its_answers_is_asked_otherwise_too(
    shapes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("transformers.dynamic_module_utils.HF_MODULES_CACHE", str(tmp_path / "modules"))
    monkeypatch.setattr(alternatives, "ALTERNATIVES", (alternatives.options,))
    monkeypatch.setattr(alternatives, "ITEMS", 4)
    folder = remote_code.chat_model(tmp_path / "model", "MiniCPMV")
    says = [verdict.says for verdict in settings(folder, shapes, trust_remote_code=True, frames=2)]
    assert any(line.startswith("--scoring yesno: ") and " sd (p" in line for line in says), says


def test_captions_in_capitals_are_found(shapes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(alternatives, "ALTERNATIVES", (alternatives.case,))
    rows: Any = SetFolder(shapes).choice_rows("random_mc", "test")
    for row in rows:
        row["candidates"] = [caption.upper() for caption in row["candidates"]]
    other = write_set(BuiltSet("captions", {"random_mc": {"test": rows}}, {"summary": "capitals"}), tmp_path / "set")
    assert "captions in lower case" in better(settings(PACKAGED, other, video_root=shapes))


@pytest.mark.parametrize("name", [PACKAGED, "temporal"])
def test_the_packaged_models_are_well_set(name: str, shapes: Path) -> None:
    verdicts = settings(name, shapes)
    assert len(verdicts) > 9 and not better(verdicts), "\n".join(map(str, verdicts))


FAMILIES = {
    "AlignModel": (tiny_models.MAKERS["AlignModel"], "--pooling max"),
    "XCLIPModel": (tiny_models.MAKERS["XCLIPModel"], "captions by the mean of their tokens"),
    "ColPaliForRetrieval": (tiny_late.MAKERS["ColPaliForRetrieval"], "--fps 2"),
    "gemma3": (tiny_vlm.MAKERS["gemma3"], "--scoring letter"),
}


@pytest.mark.parametrize("name", FAMILIES)
def test_untrained_models_raise_no_alarm_and_are_left_as_they_were(
    name: str, shapes: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("video_contrast.runner.kinds.generative.check_torchvision", lambda: None)
    monkeypatch.setattr(alternatives, "ITEMS", 4)
    make, expected = FAMILIES[name]
    seen: list[Any] = []
    usual = alternatives._separation

    def separation(both: Any, under: Any) -> Any:
        result = usual(both, under)
        seen.append(usual(both, lambda items: nullcontext(items.like())))
        return result

    monkeypatch.setattr(alternatives, "_separation", separation)
    verdicts = settings(make(tmp_path / "model"), shapes)
    assert not better(verdicts) and not [v for v in verdicts if "not scored" in v.says], "\n".join(map(str, verdicts))
    assert expected in {verdict.says.split(": ")[0] for verdict in verdicts}
    for after in seen[1:]:
        np.testing.assert_array_equal(after.margin, seen[0].margin)


def test_the_command_says_what_it_costs_and_json_holds_the_margins(
    shapes: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["doctor", PACKAGED, "--dataset", str(shapes), "--alternatives", "--json"]) == 0
    out, err = capsys.readouterr()
    assert "other settings on 32 clips: about " in err
    of_settings = [verdict for verdict in json.loads(out)["verdicts"] if verdict["check"] == "setting"]
    assert all(verdict["numbers"].keys() >= {"margin"} for verdict in of_settings)
    assert main(["doctor", "random", "--dataset", str(shapes), "--alternatives"]) == 0
