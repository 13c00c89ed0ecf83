"""Models behind negatives and teacher that are absent, of another class or not served are said before work begins."""
# ruff: noqa: F811  (fixtures are imported and then named as arguments)

from pathlib import Path
from typing import Any

import pytest
import teacher_set
import tiny_models
from contrast_models import Endpoint, answer_of, bert_folder, encoder_folder, online  # noqa: F401  fixtures
from teacher_set import SETTINGS

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.teacher import teach, training_data
from video_contrast.teacher.generation import GenerateOptions, generate
from video_contrast.teacher.negative_recipe import NegativeRecipe, check_encoder, check_endpoint, check_generator


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("needed")
    teacher_set.write(root / "set", train=3, validation=2)
    tiny_models.clip(root / "clip")
    (root / "empty").mkdir()
    return root


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"generator": "mlm"}, "model of the generator mlm: .*bert-base-uncased"),
        ({"generator": "mlm", "generator_model": "CLIP"}, "type clip, which .*MaskedLM cannot"),
        (
            {"generator": "llm", "generator_model": "EMPTY"},
            "generator llm: .* does not load as AutoConfig",
        ),
        (
            {"objective": "lgt", "encoder": "no/such-encoder"},
            "--encoder: the sentence encoder 'no/such-encoder' cannot be loaded",
        ),
        ({"objective": "lgt", "encoder": "EMPTY"}, "--encoder: the folder .* holds no weights"),
    ],
)
def test_an_absent_model_is_said_before_a_video_is_opened(
    place: Path,
    bert_folder: Path,
    tmp_path: Path,
    given: dict[str, Any],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def decoded(*_: Any, **__: Any) -> Any:
        raise AssertionError("videos were opened")

    monkeypatch.setattr(training_data, "open_store", decoded)
    folders = {"CLIP": str(place / "clip"), "EMPTY": str(place / "empty"), "BERT": str(bert_folder)}
    given = {name: folders.get(value, value) for name, value in given.items()}
    with pytest.raises((UsageError, VideoContrastError), match=message) as error:
        teach(place / "clip", place / "set", output=tmp_path / "run", **SETTINGS | given)
    assert "\n" not in str(error.value) and not (tmp_path / "run").exists()


def test_generate_says_it_before_anything_is_proposed(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("video_contrast.builders.assembly.word_contrasts.propose", lambda *_, **__: 1 / 0)
    given: dict[str, Any] = {"generator": "mlm", "generator_model": "no/such"}
    with pytest.raises(VideoContrastError, match="model 'no/such' cannot be loaded"):
        generate(place / "set", request=GenerateOptions(output=tmp_path / "n", **given))
    assert not (tmp_path / "n").exists()


def test_models_at_hand_pass(bert_folder: Path, encoder_folder: Path) -> None:
    check_generator(NegativeRecipe(1, 0, "mlm", model=str(bert_folder)))
    check_encoder(str(encoder_folder))


def test_an_endpoint_must_answer(online: Any) -> None:
    with Endpoint(answer_of) as server:
        check_endpoint(server.url)
        assert not server.requests  # nothing was paid for
    with pytest.raises(VideoContrastError, match=f"endpoint={server.url}: no server answers there .*; start it first"):
        check_endpoint(server.url)


def test_stored_negatives_need_no_server(place: Path, tmp_path: Path, online: Any) -> None:
    given = SETTINGS | {"generator": "llm", "generator_model": "m", "quality": "0"}
    given |= {"store": tmp_path / "store"}
    with Endpoint(answer_of) as server:
        given |= {"generator_options": f"endpoint={server.url},store={tmp_path / 'answers.jsonl'}", "stop_after": 1}
        teach(place / "clip", place / "set", output=tmp_path / "first", **given)
    assert teach(place / "clip", place / "set", output=tmp_path / "second", **given)["step"] == 1
    with pytest.raises(VideoContrastError, match="no server answers there"):
        teach(place / "clip", place / "set", output=tmp_path / "third", **given | {"seed": 1})
