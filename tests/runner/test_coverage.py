"""Every generative class that the installed transformers maps is classified: tested, expected, or not and why."""

import re

import pytest

from video_contrast.errors import UsageError
from video_contrast.runner.kinds import choose
from video_contrast.runner.kinds.base import ModelSource
from video_contrast.runner.kinds.model_recipes import all_recipes, generative_types, types_in
from video_contrast.runner.self_test import check_recipe


def mapped() -> set[str]:
    from transformers.models.auto import modeling_auto

    return {
        *modeling_auto.MODEL_FOR_IMAGE_TEXT_TO_TEXT_MAPPING_NAMES,
        *modeling_auto.MODEL_FOR_MULTIMODAL_LM_MAPPING_NAMES,
    }


CLASSIFIED = (5, 24)  # the last release of transformers whose classes were looked at


def test_every_mapped_class_is_classified() -> None:
    import transformers

    unknown = sorted(name for name in mapped() if generative_types().get(name) is None)
    release = tuple(map(int, transformers.__version__.split(".")[:2]))
    if unknown and release > CLASSIFIED:
        pytest.skip(f"transformers {transformers.__version__} brings classes that nobody has classified: {unknown}")
    assert not unknown, f"transformers maps classes that nobody has classified: {unknown}"
    states = [coverage.state for name in mapped() if (coverage := generative_types().get(name))]
    assert states.count("tested") >= 8 and states.count("expected") >= 30


def test_what_is_expected_to_take_clips_has_a_video_processor() -> None:
    from transformers.models.auto.video_processing_auto import VIDEO_PROCESSOR_MAPPING_NAMES as VIDEO

    said = {name for name in mapped() if (one := generative_types().get(name)) and "takes clips" in one.why}
    # the thinkers share the processor of the whole model; glm4v_moe that of glm4v
    assert {name.removesuffix("_thinker") for name in said} - {"glm4v_moe"} <= set(VIDEO)


@pytest.mark.parametrize("name", sorted(types_in("tested", "expected")))
def test_what_can_be_scored_is_chosen_by_its_type(name: str) -> None:
    assert choose(ModelSource("model", config={"model_type": name})).name == "generative"


def test_what_only_generates_is_chosen_by_its_type() -> None:
    names = types_in("generated")
    assert names and {choose(ModelSource("model", config={"model_type": name})).name for name in names} == {"generated"}


def test_what_cannot_be_scored_is_not_chosen() -> None:
    for name in mapped():
        coverage = generative_types().get(name)
        if coverage and coverage.state == "cannot":
            with pytest.raises(UsageError, match=rf"no kind takes a model of class \S+ \({re.escape(coverage.why)}\)"):
                choose(ModelSource("model", config={"model_type": name}))


def test_recipes_name_a_test_or_are_untested_and_have_sources() -> None:
    for recipe in all_recipes():
        assert recipe.lines and all(line.source for line in recipe.lines.values())
        assert recipe.record()["parity"] in ("untested recipe", recipe.parity)
    assert sum(not recipe.parity for recipe in all_recipes()) > 0


def test_a_config_that_contradicts_its_recipe_fails_in_one_sentence() -> None:
    config = {"architectures": ["Qwen2VLForConditionalGeneration"], "vision_config": {"temporal_patch_size": 1}}
    verdict = check_recipe(ModelSource("model", config=config), "generative")
    assert verdict is not None and verdict.state == "fail"
    assert "frames in a temporal patch is 1 in its vision_config.temporal_patch_size, 2 in" in verdict.says
    right = config | {"vision_config": {"temporal_patch_size": 2}}
    verdict = check_recipe(ModelSource("model", config=right), "generative")
    assert verdict is not None and verdict.state == "pass"
