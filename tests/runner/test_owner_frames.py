"""`--frames owner` and `--fps`: as many frames, and those, that the owners' code takes."""

import math
from pathlib import Path

import numpy as np
import pytest
import runner_set

import video_contrast
from video_contrast.cli import main
from video_contrast.errors import UsageError
from video_contrast.runner.kinds import all_kinds
from video_contrast.runner.kinds.base import ModelSource
from video_contrast.runner.kinds.model_recipes import all_recipes
from video_contrast.runner.options import ScoreOptions
from video_contrast.runner.score_call import _owners_options, _sampling
from video_contrast.runner.views import Sampling
from video_contrast.storage import RunFolder
from video_contrast.storage.run_settings import beside_owner
from video_contrast.video.sampling import sampled_frames

OWNERS = {recipe.family: recipe.owner for recipe in all_recipes() if recipe.owner}


def smart_count(total: int, rate: float, fps: float, least: int = 4, most: int = 768, factor: int = 2) -> int:
    """The rule of qwen-vl-utils in plain words: clamp by the bounds and the clip's own frames, then down to even."""
    low = math.ceil(least / factor) * factor
    high = math.floor(min(most, total) / factor) * factor
    return math.floor(min(max(total / rate * fps, low), high, total) / factor) * factor


@pytest.mark.parametrize("rate", [12.0, 24000 / 1001, 25.0, 30000 / 1001, 60.0])
@pytest.mark.parametrize("fps", [0.5, 1.0, 2.0, 3.0])
def test_a_rate_takes_as_many_frames_as_the_owners_code_takes(rate: float, fps: float) -> None:
    for total in [*range(2, 200), 499, 500, 501, 12345, 30000]:
        times = np.arange(total) / rate
        seconds = float(times[-1] - times[0]) * total / (total - 1)  # as the engine measures a clip
        assert Sampling(768, "linspace", fps=fps).count(seconds, total) == smart_count(total, rate, fps), total


def test_the_frames_of_a_rate_are_those_of_the_owners_code() -> None:
    """`linspace(0, total - 1, count).round()`; halves, which numpy rounds to even numbers, may go up."""
    owner = OWNERS["Qwen3-VL"]
    assert owner is not None
    for total in (7, 50, 251, 1000, 4321):
        times = np.arange(total) / 25
        count = Sampling(768, "linspace", fps=2.0).count(total / 25, total)
        places = np.linspace(0, total - 1, count)
        ours = sampled_frames(times, total / 25, count, owner.policy)
        half = np.isclose(places % 1, 0.5)
        np.testing.assert_array_equal(ours[~half], places.round().astype(int)[~half])
        assert np.abs(ours - places).max() <= 0.5 + 1e-9


def source_of(family: str) -> ModelSource:
    recipe = next(recipe for recipe in all_recipes() if recipe.family == family)
    return ModelSource(
        name="someone/model", path=None, revision="", config={"architectures": [recipe.classes[0]], "model_type": ""}
    )


@pytest.mark.parametrize("family", [name for name in OWNERS if name not in ("LanguageBind (video)", "Cosmos-Embed1")])
def test_owner_takes_the_frames_of_the_recipe_and_says_where_they_were_read(family: str) -> None:
    owner = OWNERS[family]
    assert owner is not None and owner.source.startswith(("https://", "transformers: models/"))
    sampling = _sampling(all_kinds()["generative"], source_of(family), ScoreOptions(frames="owner"))
    assert (sampling.frames, sampling.fps, sampling.policy) == (owner.frames, owner.fps, owner.policy)
    sized = {"frame_size": "owner"} if family.startswith("Qwen") and "Omni" not in family else {}
    asked = {"letter_prompt": "owner"} if family[:8] in ("Qwen3-VL", "InternVL", "VideoLLa") else {}
    kind = all_kinds()["generative"]
    assert _owners_options(kind, source_of(family), ScoreOptions(frames="owner")) == sized | asked
    assert _owners_options(kind, source_of(family), ScoreOptions(frames=8)) == {}
    with pytest.raises(UsageError, match="leave --fps and --sampling out"):
        _sampling(all_kinds()["generative"], source_of(family), ScoreOptions(frames="owner", fps=1.0))


def test_a_checkpoint_that_fixes_its_frames_and_one_whose_owner_is_not_known(tmp_path: Path) -> None:
    runner_set.write(tmp_path / "set")
    result = video_contrast.score(
        "temporal", tmp_path / "set", "verb_mc", frames="owner", accept="all", progress=False, output=tmp_path / "run"
    )
    assert result.record["sampling"]["frames"] == 6 and result.record["request"]["frames"] == "owner"
    with pytest.raises(UsageError, match="frames of bag-of-frames's owner are not known: give --frames N"):
        video_contrast.score("bag-of-frames", tmp_path / "set", "verb_mc", frames="owner", progress=False)


def test_the_command_takes_a_number_or_the_word(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runner_set.write(tmp_path / "set")
    call = ["score", "--model", "temporal", "--dataset", str(tmp_path / "set"), "--accept", "all"]
    call += ["--config", "verb_mc"]
    assert main([*call, "--frames", "owner", "--output", str(tmp_path / "run")]) == 0
    assert "settings: 6 frames, middles of equal segments" in capsys.readouterr().out
    assert "Made with: 6 frames" in (tmp_path / "run/RESULTS.md").read_text(encoding="utf-8")
    for wrong in ("1.5", "owners", "0"):
        assert main([*call, "--frames", wrong, "--output", str(tmp_path / "other")]) == 2
        assert "--frames" in capsys.readouterr().err


def test_a_run_with_other_frames_than_the_owners_says_so(tmp_path: Path) -> None:
    runner_set.write(tmp_path / "set")
    video_contrast.score("temporal", tmp_path / "set", "verb_mc", accept="all", progress=False, output=tmp_path / "run")
    record = RunFolder(tmp_path / "run").record
    assert beside_owner(record) == ""
    owner = OWNERS["Qwen2.5-VL"]
    assert owner is not None
    record["model"]["recipe"] = {"owner": {**owner._asdict(), "words": owner.words}}
    assert beside_owner(record) == "not the owner's setting (2 fps, 4 to 768 frames, linspace)"
    record["sampling"] |= {"frames": 768, "fps": 2.0, "policy": "linspace", "least": 4, "multiple": 2}
    assert beside_owner(record) == ""
    record["model"]["options"] = {"frame_size": "processor", "scoring": "letter", "letter_prompt": "plain"}
    assert beside_owner(record) == "not the owner's size of frames"
    asking = OWNERS["InternVL"]
    assert asking is not None
    record["model"]["recipe"] = {"owner": {**asking._asdict(), "words": asking.words}}
    record["sampling"] |= {"frames": 8, "fps": None, "policy": "uniform"}
    assert beside_owner(record) == "not the owner's prompt"
