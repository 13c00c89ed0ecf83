"""LLM-teacher: stored negatives and similarities, training that resumes exactly, checkpoints that the runner scores."""

import csv
import shutil
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch

import video_contrast
from video_contrast.builders.shapes.captions import claim, write
from video_contrast.builders.shapes.contrasts import negatives as scene_negatives
from video_contrast.builders.shapes.world import scenes
from video_contrast.cli import main
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.seeds import stream
from video_contrast.teacher import teach, training_data
from video_contrast.teacher.batches import Part, TrainingData
from video_contrast.teacher.negative_recipe import NegativeRecipe
from video_contrast.teacher.negatives import corpus_of, cosines, latent_semantics, negatives
from video_contrast.teacher.options import TrainingOptions
from video_contrast.teacher.run import train
from video_contrast.teacher.two_towers import Pairs, load_checkpoint

QUICK: dict[str, Any] = {"epochs": 1, "batch_size": 16, "evaluate_every": 1, "learning_rate": 1e-3, "progress": False}


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("teacher") / "set"
    configs = ["retrieval", "antonym_mc", "object_mc"]
    return video_contrast.build("shapes", configs, output=root, items=8, gallery=4, train=24, validation=6)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store")


@pytest.fixture(scope="module")
def run(dataset: Path, store: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, Any]]:
    output = tmp_path_factory.mktemp("run") / "lgt"
    return output, teach("temporal-plain", dataset, output=output, store=store, objective="lgt", **QUICK)


# The teacher


def test_the_teacher_ranks_a_paraphrase_above_an_antonym_above_a_random_caption() -> None:
    documents = [[write(claim(s)), write(claim(s), names=True, phrase=1)] for s in scenes(0, "train", 500)]
    encoder = latent_semantics(documents)
    in_order = []
    for number, scene in enumerate(scenes(1, "test", 120)):
        antonyms = scene_negatives(scene, claim(scene), stream("t", number))["antonym"]
        if antonyms:
            texts = [write(claim(scene), phrase=1), antonyms[0], documents[number][0]]
            _, paraphrase, antonym, random = cosines(encoder, [{"caption": write(claim(scene)), "negatives": texts}])[0]
            in_order.append((paraphrase > antonym, antonym > random))
    assert len(in_order) > 60
    assert np.mean(in_order, axis=0).min() >= 0.9


def test_similarity_needs_enough_captions() -> None:
    with pytest.raises(UsageError, match="too few for --encoder lsa"):
        latent_semantics([["one caption"]])


# Negatives


def test_negatives_are_made_once(dataset: Path, run: Any, store: Path, tmp_path: Path) -> None:
    [file] = store.glob("negatives-train-*.parquet")
    before = file.stat().st_mtime_ns
    teach("temporal-plain", dataset, output=tmp_path / "again", store=store, objective="lbl", stop_after=1, **QUICK)
    assert file.stat().st_mtime_ns == before
    [similarities] = store.glob("similarities-train-*.parquet")
    rows, teacher = pq.read_table(file).to_pylist(), pq.read_table(similarities)["teacher"].to_pylist()
    assert len(rows) == len(teacher) == 48
    assert all(len(found) == 1 + len(row["negatives"]) for row, found in zip(rows, teacher, strict=True))
    assert all(found[0] == 1.0 for found in teacher)
    assert all(row["caption"] not in row["negatives"] for row in rows)


def test_fewer_negatives_than_asked_for_are_counted(run: tuple[Path, dict[str, Any]]) -> None:
    counts = run[1]["negatives"]["train"]
    assert counts["captions"] == 48
    assert 0 < counts["captions with fewer than requested"] < 48  # verbs with objects have too few alternatives


def test_negatives_of_any_captions_come_from_the_contrast_generators(tmp_path: Path) -> None:
    verbs = ["sings", "dances", "runs", "eats", "walks", "swims"]
    rows = [
        {"id": f"v{n}", "captions": [f"a {who} {verb} in a {place}"]}
        for n, (who, verb, place) in enumerate(
            (who, verb, place) for who in ("man", "girl") for verb in verbs for place in ("park", "house", "street")
        )
    ]
    rows = [row | {"video_id": row["id"], "video_path": f"{row['id']}.mp4"} for row in rows]
    made, counts = negatives(rows, NegativeRecipe(3, 1), tmp_path / "n", corpus=corpus_of(rows), say=lambda _: None)
    assert counts["captions"] == len(rows) and counts["negatives"] > len(rows)
    for row in made:
        assert len(set(row["negatives"])) == len(row["negatives"]) <= 4
        assert set(row["kinds"]) <= {"action", "object"}


# Training


def test_a_killed_run_ends_with_the_same_numbers(
    run: tuple[Path, dict[str, Any]], dataset: Path, store: Path, tmp_path: Path
) -> None:
    settings = QUICK | {"objective": "lgt", "store": store}
    teach("temporal-plain", dataset, output=tmp_path, stop_after=2, **settings)
    assert not (tmp_path / "model").exists()
    again = teach("temporal-plain", dataset, output=tmp_path, **settings)
    for name in ("model/model.safetensors", "curves.csv", "result.json"):
        assert (tmp_path / name).read_bytes() == (run[0] / name).read_bytes(), name
    assert again["step"] == run[1]["step"] == 3


def test_the_curves_are_written_and_drawn(run: tuple[Path, dict[str, Any]]) -> None:
    with open(run[0] / "curves.csv", encoding="utf-8") as handle:
        points = list(csv.DictReader(handle))
    assert [int(point["step"]) for point in points] == [1, 2, 3]
    assert {"train_lgt", "train_contrast", "validation_loss", "validation_accuracy"} <= set(points[0])
    assert (run[0] / "curves.png").read_bytes().startswith(b"\x89PNG")


def test_the_result_is_a_checkpoint_that_the_runner_scores(run: tuple[Path, dict[str, Any]], dataset: Path) -> None:
    base = video_contrast.score(
        video_contrast.checkpoint_path("temporal-plain"), dataset, ["antonym_mc"], progress=False
    )
    taught = video_contrast.score(run[1]["model"], dataset, ["antonym_mc"], progress=False)
    assert len(taught.scores) == len(base.scores) == 8
    assert [row["scores"] for row in taught.scores] != [row["scores"] for row in base.scores]


def test_another_configuration_in_the_same_folder_is_refused(
    run: tuple[Path, dict[str, Any]], dataset: Path, store: Path
) -> None:
    with pytest.raises(UsageError, match=r"other settings: learning_rate \(0.001 then, 0.1 now\)"):
        teach("temporal-plain", dataset, output=run[0], store=store, objective="lgt", **QUICK | {"learning_rate": 0.1})


@pytest.mark.parametrize("name", ["temporal", "bag-of-frames"])
def test_training_sees_the_scores_that_the_runner_gives(name: str, dataset: Path, tmp_path: Path) -> None:
    from video_contrast.runner.kinds.loading import Tokens
    from video_contrast.teacher.batches import open_store

    net, processor, _ = load_checkpoint(video_contrast.checkpoint_path(name))
    rows = (
        video_contrast.builders.writing
        and pq.read_table(dataset / "antonym_mc" / "test-00000-of-00001.parquet").to_pylist()
    )
    store = open_store(tmp_path / "f", rows, dataset, processor.image_processor, 6, progress=False)
    texts = [text for row in rows for text in row["candidates"]]
    with torch.no_grad():
        pixels = store.pixels(range(len(rows)))
        pairs = Pairs(net.eval())
        words = Tokens(processor.tokenizer, net.config)(texts, "cpu")
        found = pairs.join(pairs.videos(pixels), pairs.texts(words)).numpy()
    scored = video_contrast.score(
        video_contrast.checkpoint_path(name), dataset, ["antonym_mc"], frames=6, progress=False
    )
    by_id = {row["id"]: row["scores"] for row in scored.scores}
    for n, row in enumerate(rows):
        assert found[n, 2 * n : 2 * n + 2] == pytest.approx(by_id[row["id"]], abs=2e-5)


def test_a_loss_that_is_no_number_stops_and_names_the_batch(tmp_path: Path) -> None:
    class Still:
        missing: ClassVar[dict[int, str]] = {}

        def pixels(self, clips: Any, device: Any) -> torch.Tensor:
            return torch.zeros(len(clips), 6, 3, 64, 64)

    net, processor, _ = load_checkpoint("temporal-plain")
    from video_contrast.runner.kinds.loading import Tokens

    rows = [{"id": f"c{n}", "caption": "a", "negatives": ["b"], "teacher": [1.0, float("nan")]} for n in range(4)]
    part = Part(Still(), [0, 1, 2, 3], rows)  # type: ignore[arg-type]
    with pytest.raises(VideoContrastError, match=r"not a number after step 0, clips c\d"):
        data = TrainingData(part, part, Tokens(processor.tokenizer, net.config))
        train(net, data, options=TrainingOptions(objective="lgt"), output=tmp_path, progress=False)


def test_clips_that_cannot_be_read_are_left_out_and_named_with_the_reason(
    dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    copy = tmp_path / "set"
    shutil.copytree(dataset, copy)
    broken = sorted((copy / "clips").glob("train-*/*.mp4"))[:2]
    broken[0].unlink()
    broken[1].write_bytes(b"nonsense")
    result = teach("bag-of-frames", copy, output=tmp_path / "run", stop_after=1, **{**QUICK, "progress": True})
    assert result["missing"] == 2
    names = {path.relative_to(copy).as_posix() for path in broken}
    rows = video_contrast.open_set(copy).rows("retrieval", "train")
    assert set(result["unread"]) == {row["id"] for row in rows if row["video_path"] in names}
    assert all(reason for reason in result["unread"].values())
    printed = capsys.readouterr().out
    assert all(name in printed for name in result["unread"])


def test_a_wrong_video_root_is_said_with_the_first_clip(dataset: Path, tmp_path: Path) -> None:
    with pytest.raises(
        VideoContrastError, match=r"none of the 24 clips of the train part can be read; .*\.mp4.*--video-root"
    ):
        teach("bag-of-frames", dataset, output=tmp_path / "run", video_root=tmp_path, **QUICK)


def test_clips_of_the_validation_part_that_cannot_be_read_are_said_to_be_of_it(dataset: Path, tmp_path: Path) -> None:
    copy = tmp_path / "set"
    shutil.copytree(dataset, copy)
    for path in (copy / "clips").glob("validation-*/*.mp4"):
        path.unlink()
    with pytest.raises(VideoContrastError, match=r"none of the \d+ clips of the validation part can be read"):
        teach("bag-of-frames", copy, output=tmp_path / "run", **QUICK)


def test_a_set_of_the_hub_needs_a_video_root(
    dataset: Path, store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import datasets

    with pytest.raises(UsageError, match="a set of the Hub holds no videos; give --video-root"):
        teach("temporal-plain", "me/shapes", output=tmp_path, **QUICK)
    with pytest.raises(VideoContrastError, match="me/shapes: no such folder"):
        teach("temporal-plain", "me/shapes", output=tmp_path, video_root=dataset, **QUICK)
    load = datasets.load_dataset
    asked: list[bool] = []  # where the Hub did not answer once, its library is not to ask five times more

    def of_the_hub(_: str, config: str) -> object:
        asked.append(not datasets.config.HF_HUB_OFFLINE)
        return load(str(dataset), config)

    monkeypatch.setattr(datasets, "load_dataset", of_the_hub)
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", False)
    result = teach("temporal-plain", "me/shapes", output=tmp_path, video_root=dataset, stop_after=1, **QUICK)
    assert result["missing"] == 0 and result["negatives"]["train"]["captions"] == 48
    assert asked == [False]


def test_captions_without_actions_are_said(tmp_path: Path) -> None:
    rows = [{"id": n, "video_id": n, "video_path": n, "captions": ["a red ball", "the sky"]} for n in ("v1", "v2")]
    path = tmp_path / "negatives-validation"
    message = r"for the 2 clips of the validation part \(v1, v2\): .*no verb.*; .*--quality all asks less"
    with pytest.raises(VideoContrastError, match=message):
        corpus = {"v": ["a man runs"]}
        negatives(rows, NegativeRecipe(10, 0, "lexicon"), path, corpus=corpus, say=lambda _: None)


def test_captions_of_another_grammar_are_said(dataset: Path, tmp_path: Path) -> None:
    rows = pq.read_table(dataset / "retrieval" / "train-00000-of-00001.parquet").to_pylist()
    rows[3]["captions"][1] += " slowly"
    with pytest.raises(VideoContrastError, match=f"caption 1 of {rows[3]['id']} is not what this version says"):
        negatives(rows, NegativeRecipe(10, 0, "shapes"), tmp_path / "n", corpus={}, say=lambda _: None)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"objective": "lbll"}, "--objective 'lbll'"),
        ({"temperature": 0.0}, "--temperature must be above 0"),
        ({"contrast": float("nan")}, "--contrast must be at least 0, not nan"),
        ({"learning_rate": float("inf")}, "--learning-rate must be above 0, not inf"),
        ({"generator": "mlm", "generator_options": "kk=1"}, "generator mlm 'kk'.*Known: "),
        ({"generator": "mlm", "generator_options": "k=1.5"}, "k takes a whole number, not 1.5"),
        ({"generator": "lexicon", "generator_model": "m"}, "belong to the generators t5, mlm and llm"),
        ({"generator": "shapes", "generator_options": "k=3"}, "--quality, .* shapes has no use for them"),
        ({"generator": "shapes", "quality": "all"}, "shapes has no use for them"),
        ({"generator": "mlm", "quality": "best"}, "quality must be high, balanced, all"),
        ({"negatives": "7"}, "--negatives '7'"),
        ({"frames": 8}, "--frames 8: this model takes exactly 6"),
        ({"split": "nope"}, "no split 'nope'"),
        ({"config": "antonym_mc", "split": "test"}, "antonym_mc is not a retrieval config"),
        ({"learning": 1}, "unknown option of teach 'learning'"),
    ],
)
def test_wrong_calls_say_what_is_wrong(
    arguments: dict[str, Any], message: str, dataset: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def decoded(*_: Any, **__: Any) -> Any:
        raise AssertionError("videos were opened")

    monkeypatch.setattr(training_data, "open_store", decoded)
    with pytest.raises(UsageError, match=message):
        teach("temporal-plain", dataset, output=tmp_path, **arguments)


def test_the_command_asks_for_what_it_needs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["teach", "--output", str(tmp_path)]) == 2
    assert "--model and --dataset" in capsys.readouterr().err
    assert main(["teach", "--demo", "--epochs", "9", "--output", str(tmp_path)]) == 2
    assert "--demo has its own model, set and settings; leave out --epochs" in capsys.readouterr().err
    missing = ["teach", "--model", "temporal", "--dataset", str(tmp_path / "no"), "--output", str(tmp_path / "o")]
    assert main(missing) == 1
    assert "no set there" in capsys.readouterr().err
