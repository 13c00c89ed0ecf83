"""`score` from end to end on real mp4 clips: numbers, sharing, conditions, records, and what goes wrong."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
import runner_set
import tiny_models

import video_contrast
from video_contrast.audit.check import check
from video_contrast.builders import build
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.runner import RunResult, read_result, score
from video_contrast.storage import SetFolder, open_run
from video_contrast.storage.run_notes import remarks


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("score")
    runner_set.write(root / "set")
    tiny_models.clip(root / "clip")
    tiny_models.xclip(root / "xclip")
    return root


def run(place: Path, model: str, output: Path, **changed: Any) -> RunResult:
    name = str(place / model) if (place / model).exists() else model
    """Without the self-test, which `full` has passed, unless `accept` is given."""
    given: dict[str, Any] = {"store": output.parent / "store", "progress": False, "batch_size": 4, "accept": "all"}
    given |= changed
    config = given.pop("config", ["verb_mc", "retrieval"])
    return score(name, given.pop("dataset", place / "set"), config, output=output, **given)


@pytest.fixture(scope="module")
def full(place: Path) -> RunResult:
    conditions = "clean,visual:jumble@2,visual:gaussian_noise,text:drop_first,controls,visual:jumble@2+text:drop_first"
    configs = ["verb_mc", "random_mc", "retrieval"]
    return run(place, "clip", place / "full", conditions=conditions, config=configs, accept="")


def test_scores_are_those_of_the_model_called_by_hand(place: Path, full: RunResult) -> None:
    from video_contrast.runner.kinds import all_kinds
    from video_contrast.runner.kinds.base import LoadOptions
    from video_contrast.runner.model_files import locate
    from video_contrast.video import decode, frame_indices

    model = all_kinds()["dual_encoder"].load(locate(str(place / "clip")), LoadOptions())
    rows = {row["id"]: row for row in pq.read_table(place / "set" / "verb_mc").to_pylist()}
    for found in full.scores:
        if (found["config"], found["condition"]) != ("verb_mc", "clean"):
            continue
        row = rows[found["id"]]
        n_frames = 8 if row["end"] else 12  # the first item is the first second of its file, at 8 frames a second
        frames = decode(place / "set" / row["video_path"], frame_indices(n_frames, 8).tolist())
        assert found["frames"] == frame_indices(n_frames, 8).tolist()
        expected = model.join(model.encode_videos([frames]), model.encode_texts(row["candidates"]))[0]
        np.testing.assert_allclose(found["scores"], expected, atol=2e-6)
        other = model.join(model.encode_videos([frames]), model.encode_texts([row["replaced"]]))[0, 0]
        assert found["replaced_score"] == pytest.approx(other, abs=2e-6)


def test_metrics_are_recomputed_from_the_written_scores(full: RunResult) -> None:
    from video_contrast.metrics import multiple_choice, retrieval

    for condition, metrics in full["verb_mc"]["conditions"].items():
        rows = [row for row in full.scores if (row["config"], row["condition"]) == ("verb_mc", condition)]
        again = multiple_choice([row["scores"] for row in rows], [row["label"] for row in rows])
        assert metrics["accuracy"] == again["accuracy"]
        assert metrics["chance"] == pytest.approx(1 / 3) and metrics["chance_verb_lexical"] == 0.5
    assert full.output is not None
    for condition, metrics in full["retrieval"]["conditions"].items():
        matrix = open_run(full.output).matrix("retrieval", condition)
        assert matrix.values.shape == (len(matrix.rows), len(matrix.columns)) == (7, 10)
        assert metrics["t2v_R@1"] == retrieval(matrix.values, matrix.relevant)["t2v_R@1"]


def test_every_view_and_text_is_encoded_once_for_all_configs_and_conditions(place: Path, full: RunResult) -> None:
    counters = full.record["counters"]
    views = 1 + 1 + 5 + 3  # clean, jumble, five severities of noise, three controls; the pair needs none of its own
    assert (
        counters["visual_encodings"] == counters["visual_encodings_in_all"] == 8 * views + 1
    )  # 7 clips, one span, nothing
    assert counters["text_encodings"] == counters["text_encodings_in_all"]
    assert counters["frames_decoded"] <= 1.1 * counters["frames_minimum"]
    again = run(place, "clip", place / "again", config="verb_mc", store=place / "store", conditions="clean,controls")
    assert again.record["counters"]["visual_encodings"] == again.record["counters"]["text_encodings"] == 0
    assert again["verb_mc"]["conditions"]["clean"] == full["verb_mc"]["conditions"]["clean"]


def test_a_bag_of_frames_is_deaf_to_order_and_its_blind_control_to_everything(full: RunResult) -> None:
    by_condition: dict[str, dict[str, list[float]]] = {}
    for row in full.scores:
        if row["config"] == "verb_mc":
            by_condition.setdefault(row["condition"], {})[row["id"]] = row["scores"]
    for control in ("control:reversed", "control:shuffled"):
        for name, scores in by_condition["clean"].items():
            np.testing.assert_allclose(by_condition[control][name], scores, atol=1e-6)
    assert by_condition["control:one_frame"] != by_condition["clean"]
    assert full.output is not None
    blind = open_run(full.output).matrix("retrieval", "control:blind").values
    assert np.ptp(blind, axis=0).max() == 0, "the blind control saw the video"


def test_a_temporal_model_hears_the_order(place: Path) -> None:
    result = run(place, "xclip", place / "temporal", conditions="clean,control:reversed", config="retrieval")
    clean = open_run(place / "temporal").matrix("retrieval", "clean").values
    backwards = open_run(place / "temporal").matrix("retrieval", "control:reversed").values
    assert np.abs(clean - backwards).max() > 1e-3
    assert result.record["sampling"]["frames"] == 4, "X-CLIP has its own number of frames"


def test_perturbed_scores_are_those_of_perturbed_files(place: Path, full: RunResult, tmp_path: Path) -> None:
    """Sampling perturbed frames in memory equals perturbing the whole clip, writing it and scoring the file."""
    from video_contrast.perturbations.video import perturb_clip
    from video_contrast.runner.kinds import all_kinds
    from video_contrast.runner.kinds.base import LoadOptions
    from video_contrast.runner.model_files import locate
    from video_contrast.video import decode, frame_indices, index_of

    model = all_kinds()["dual_encoder"].load(locate(str(place / "clip")), LoadOptions())
    for name, severity in (("jumble", 2), ("gaussian_noise", 4)):
        row = next(r for r in full.scores if (r["condition"], r["id"]) == (f"visual:{name}@{severity}", "verb3"))
        path = place / "set" / "clips" / "03.mp4"
        whole = decode(path, range(index_of(path).n_frames))
        changed = perturb_clip(whole, name, severity, video_id="video3")[frame_indices(12, 8)]
        texts = next(r for r in pq.read_table(place / "set" / "verb_mc").to_pylist() if r["id"] == "verb3")[
            "candidates"
        ]
        expected = model.join(model.encode_videos([changed]), model.encode_texts(texts))[0]
        np.testing.assert_allclose(row["scores"], expected, atol=2e-6)


def test_gammas_compare_the_conditions_with_clean(full: RunResult) -> None:
    robust = full["verb_mc"]["robustness"]["accuracy"]
    conditions = full["verb_mc"]["conditions"]
    clean, noisy = (conditions[name]["accuracy"] for name in ("clean", "visual:gaussian_noise@5"))
    assert robust["conditions"]["visual:gaussian_noise@5"]["gamma_relative"] == pytest.approx(
        1 - (clean - noisy) / clean
    )
    assert robust["visual"]["n"] == 2 and robust["text"]["n"] == robust["pairs"]["n"] == 1
    each = [robust["conditions"][f"visual:gaussian_noise@{s}"]["gamma_absolute"] for s in range(1, 6)]
    both = [float(np.mean(each)), robust["conditions"]["visual:jumble@2"]["gamma_absolute"]]
    assert robust["visual"]["gamma_absolute"] == pytest.approx(np.mean(both))


def test_a_finished_run_is_returned_as_it_is_and_new_conditions_go_on(place: Path, tmp_path: Path) -> None:
    first = run(place, "clip", tmp_path / "run", config="verb_mc")
    stamp = (tmp_path / "run" / "run.json").stat().st_mtime_ns
    assert run(place, "clip", tmp_path / "run", config="verb_mc").metrics == first.metrics
    assert (tmp_path / "run" / "run.json").stat().st_mtime_ns == stamp
    more = run(place, "clip", tmp_path / "run", config="verb_mc", conditions="clean,control:reversed")
    assert more.record["counters"]["visual_encodings"] == 7
    assert more["verb_mc"]["conditions"]["clean"] == first["verb_mc"]["conditions"]["clean"]
    assert read_result(tmp_path / "run").metrics == more.metrics


def test_a_folder_holds_what_the_last_call_asked_for(place: Path, tmp_path: Path) -> None:
    both = run(place, "clip", tmp_path / "run", conditions="clean,control:reversed")
    assert open_run(tmp_path / "run").has_matrix("retrieval", "control:reversed")
    fewer = run(place, "clip", tmp_path / "run", config="verb_mc")
    assert not (tmp_path / "run" / "retrieval").exists() and list(fewer.metrics["configs"]) == ["verb_mc"]
    assert fewer["verb_mc"]["conditions"]["clean"] == both["verb_mc"]["conditions"]["clean"]


def test_equal_runs_write_equal_bytes_whatever_the_workers(place: Path, tmp_path: Path) -> None:
    for name, workers in (("a", 0), ("b", 3)):
        run(
            place,
            "xclip",
            tmp_path / name,
            workers=workers,
            store=tmp_path / f"store-{name}",
            conditions="clean,controls",
        )
    for file in ("metrics.json", "scores.parquet", "retrieval/retrieval/clean.npy"):
        assert (tmp_path / "a" / file).read_bytes() == (tmp_path / "b" / file).read_bytes()


@pytest.mark.parametrize("model", ["random", "constant", "blind"])
def test_baselines_decode_no_video_and_a_constant_gets_exactly_chance(place: Path, tmp_path: Path, model: str) -> None:
    result = run(place, model, tmp_path / "run")
    clean = result["verb_mc"]["conditions"]["clean"]
    if model == "constant":
        assert clean["accuracy"] == pytest.approx(clean["chance"]) and clean["n_ties"] == clean["n"]
    assert result["retrieval"]["conditions"]["clean"]["n_captions"] == 10
    assert result.record["counters"]["frames_decoded"] == 0


def test_random_is_not_scored_on_clips_that_are_missing(place: Path, tmp_path: Path) -> None:
    with pytest.raises(VideoContrastError, match=r"no video of the config verb_mc could be read under .*--video-root"):
        run(place, "random", tmp_path / "none", video_root=tmp_path)
    assert not (tmp_path / "none" / "run.json").exists()
    result = run(place, "random", tmp_path / "some", video_root=all_but_one(place, tmp_path))
    assert list(result.record["missing"]) == ["clips/02.mp4"] and result.record["n_missing"] == 1
    assert result["verb_mc"]["conditions"]["clean"]["n"] == 6 and "remarks" not in result.record


@pytest.mark.parametrize("model", ["blind", "constant", "precomputed"])
def test_what_opens_no_video_is_scored_without_clips_and_says_so(place: Path, tmp_path: Path, model: str) -> None:
    if model == "precomputed":
        rows = SetFolder(place / "set").rows("verb_mc", "test")
        videos, texts = (
            sorted({row["video_id"] for row in rows}),
            sorted({t for row in rows for t in row["candidates"]}),
        )
        (tmp_path / "made").mkdir()
        np.save(tmp_path / "made/m.npy", np.zeros((len(videos), len(texts))))
        names = {"similarity": "m.npy", "videos": videos, "texts": texts, "texts_are": "captions"}
        (tmp_path / "made/precomputed.json").write_text(json.dumps(names))
        model = str(tmp_path / "made")
    result = run(place, model, tmp_path / "run", config="verb_mc", video_root=all_but_one(place, tmp_path))
    assert result["verb_mc"]["conditions"]["clean"]["n"] == 7 and result.record["n_missing"] == 0
    assert list(result.record["remarks"].values()) == [["clips/02.mp4"]]
    assert any(line.startswith("1 video (clips/02.mp4): not found") for line in remarks(result.record))


def all_but_one(place: Path, tmp_path: Path) -> Path:
    """A video root without one of the clips."""
    shutil.copytree(place / "set" / "clips", tmp_path / "videos" / "clips")
    (tmp_path / "videos/clips/02.mp4").unlink()
    return tmp_path / "videos"


def test_a_set_remembers_where_its_videos_lie(place: Path, tmp_path: Path) -> None:
    videos = shutil.copytree(place / "set" / "clips", tmp_path / "data" / "videos")
    (tmp_path / "data/c.csv").write_text(
        "video,caption\n" + "\n".join(f"0{n}.mp4,a man does thing {n}" for n in range(4))
    )
    built = build("captions", ["retrieval"], output=tmp_path / "data/set", captions=str(tmp_path / "data/c.csv"),
                  video_root=videos)  # fmt: skip
    assert SetFolder(built).video_root.samefile(videos)
    assert (built / "local.json").read_text() == '{\n  "video_root": "../videos"\n}\n'
    assert check(built).looked and check(built).readable == 4
    assert score("random", built, "retrieval", progress=False).record["n_missing"] == 0
    (tmp_path / "data").rename(tmp_path / "moved")
    assert check(tmp_path / "moved/set").readable == 4
    assert len(check(tmp_path / "moved/set", video_root=tmp_path / "moved").missing) == 4
    assert all(file.name != "local.json" for file in SetFolder(tmp_path / "moved/set").published_files())


def test_broken_videos_are_recorded_and_the_rest_is_scored(place: Path, tmp_path: Path) -> None:
    videos = tmp_path / "videos" / "clips"
    videos.mkdir(parents=True)
    for file in (place / "set" / "clips").iterdir():
        (videos / file.name).write_bytes(file.read_bytes())
    (videos / "02.mp4").unlink()
    (videos / "04.mp4").write_bytes(b"not a video at all")
    damaged = (videos / "05.mp4").read_bytes()
    (videos / "05.mp4").write_bytes(damaged[: len(damaged) // 3])
    result = run(place, "clip", tmp_path / "run", video_root=tmp_path / "videos", conditions="clean,control:reversed")
    assert result.record["n_missing"] == 3
    assert sorted(result.record["missing"]) == ["clips/02.mp4", "clips/04.mp4", "clips/05.mp4"]
    assert "no such file" in result.record["missing"]["clips/02.mp4"]
    assert "cannot be read as a video" in result.record["missing"]["clips/04.mp4"]
    for condition in ("clean", "control:reversed"):
        assert result["verb_mc"]["conditions"][condition]["n"] == 4
        assert result["retrieval"]["conditions"][condition]["n_videos"] == 4
    (videos / "02.mp4").write_bytes((place / "set" / "clips" / "02.mp4").read_bytes())
    mended = run(place, "clip", tmp_path / "run", video_root=tmp_path / "videos", conditions="clean,control:reversed")
    assert mended.record["n_missing"] == 2 and mended.record["counters"]["visual_encodings"] == 2


def test_no_readable_video_is_a_failure_that_names_the_first(place: Path, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(VideoContrastError, match=r"no video of the config verb_mc could be read .*clips/00\.mp4"):
        run(place, "clip", tmp_path / "run", video_root=tmp_path / "empty", config="verb_mc")
    assert not (tmp_path / "run" / "metrics.json").exists()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"config": "verb_md"}, "did you mean 'verb_mc'"),
        ({"split": "tset"}, "did you mean 'test'"),
        ({"dataset": "./nowhere"}, "no such folder"),
        ({"conditions": "visual:jumbel"}, "did you mean 'jumble'"),
        ({"conditions": "visual:jumble@6"}, "a severity is 1, 2, 3, 4 or 5"),
        ({"conditions": "clear"}, "did you mean 'clean'"),
        ({"frames": 0}, "must be at least 1"),
        ({"device": "gpu"}, "is not a torch device"),
        ({"dtype": "int8"}, "unknown value of --dtype 'int8'. Known: auto, float32"),
        ({"options": {"pooling": "sum"}}, "unknown value of --pooling .sum.. Known: mean, max, query-scored"),
        ({"options": {"query_temperature": float("nan")}}, "must be a finite number, not nan"),
        ({"options": {"query_temperature": 0.0}}, "--query-temperature must be above 0"),
        ({"video_root": "./nowhere"}, "--video-root nowhere: no such folder"),
    ],
)
def test_a_wrong_call_is_a_usage_error_that_says_what_to_do(
    place: Path, tmp_path: Path, changed: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        run(place, "clip", tmp_path / "run", **{"config": "verb_mc", **changed})


def test_xclip_takes_its_own_number_of_frames_only(place: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="takes exactly 4 frames, not --frames 8"):
        run(place, "xclip", tmp_path / "run", frames=8)


def test_a_directory_of_another_run_is_refused(place: Path, tmp_path: Path) -> None:
    run(place, "random", tmp_path / "run")
    with pytest.raises(UsageError, match="was made for model 'random', not 'constant'"):
        run(place, "constant", tmp_path / "run")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "notes.txt").write_text("mine")
    with pytest.raises(UsageError, match=r"holds other files \(notes.txt"):
        run(place, "random", tmp_path / "other")


def test_two_runs_in_one_directory_are_refused(place: Path, tmp_path: Path) -> None:
    from video_contrast.runner.run_directory import locked
    from video_contrast.storage import RunFolder

    with locked(RunFolder(tmp_path / "run"), 0), pytest.raises(VideoContrastError, match="another run is writing to"):
        run(place, "random", tmp_path / "run")


def test_a_set_that_changed_is_refused(place: Path, tmp_path: Path) -> None:
    folder = runner_set.write(tmp_path / "set", n_clips=3)
    run(place, "random", tmp_path / "run", dataset=folder)
    runner_set.write(folder, n_clips=4)
    with pytest.raises(UsageError, match="another state of the config"):
        run(place, "random", tmp_path / "run", dataset=folder)


def test_a_model_that_gives_nan_is_refused(place: Path, tmp_path: Path) -> None:
    import torch
    import transformers

    model = transformers.CLIPModel.from_pretrained(place / "clip")
    with torch.no_grad():
        model.visual_projection.weight.fill_(float("nan"))
    model.save_pretrained(tmp_path / "nan")
    for file in ("processor_config.json", "tokenizer.json", "tokenizer_config.json"):
        (tmp_path / "nan" / file).write_bytes((place / "clip" / file).read_bytes())
    with pytest.raises(VideoContrastError, match=r"failed the self-test.*NaN or infinite"):
        score(
            str(tmp_path / "nan"), place / "set", "verb_mc", output=tmp_path / "run", store=tmp_path / "s", batch_size=4
        )


@pytest.mark.parametrize("what", ["store", "matrix"])
def test_a_full_disk_is_one_sentence_leaves_nothing_half_written_and_the_run_goes_on(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
) -> None:
    import safetensors.numpy
    from safetensors import SafetensorError

    whole = run(place, "clip", tmp_path / "whole" / "run", conditions="clean,control:reversed")
    save = safetensors.numpy.save_file

    def shard(tensors: Any, path: Path, metadata: Any) -> None:
        if any((tmp_path / "store").rglob("[!.]*.safetensors")):  # the texts' shard found room
            path.write_bytes(b"half")
            raise SafetensorError("Error while serializing: I/O error: No space left on device (os error 28)")
        save(tensors, path, metadata=metadata)

    def matrix(handle: Any, values: np.ndarray) -> None:
        handle.write(b"half")
        raise OSError(f"{values.size} requested and {values.size // 2} written")

    with monkeypatch.context() as patched, pytest.raises(VideoContrastError, match="no space left on the device of"):
        patched.setattr(*(("safetensors.numpy.save_file", shard) if what == "store" else ("numpy.save", matrix)))
        run(place, "clip", tmp_path / "run", conditions="clean,control:reversed")
    left = [path for folder in ("run", "store") for path in (tmp_path / folder).rglob("*") if path.is_file()]
    assert not any(path.name.startswith(".") or path.read_bytes() == b"half" for path in left)
    assert not (tmp_path / "run" / "run.json").exists()
    found = run(place, "clip", tmp_path / "run", conditions="clean,control:reversed")
    assert found.metrics == whole.metrics
    assert found.record["counters"]["text_encodings"] == 0 < found.record["counters"]["text_encodings_in_all"]


def test_out_of_memory_halves_the_batch_and_says_so(
    place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from video_contrast.runner.kinds.dual_encoder import ImageTextEncoder

    encode = ImageTextEncoder.encode_prepared

    def small(self: ImageTextEncoder, prepared: Any) -> Any:
        if len(prepared) > 2:
            raise RuntimeError("CUDA out of memory. Tried to allocate 20.00 GiB")
        return encode(self, prepared)

    monkeypatch.setattr(ImageTextEncoder, "encode_prepared", small)
    result = run(place, "clip", tmp_path / "run", config="verb_mc", store=tmp_path / "own", accept="")
    assert result.record["notes"] == ["out of memory: the batch was halved to 2"]
    assert result["verb_mc"]["conditions"]["clean"]["n"] == 7


def test_an_interrupted_run_goes_on(place: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from video_contrast.runner.kinds.dual_encoder import ImageTextEncoder

    encode, calls = ImageTextEncoder.encode_prepared, [0]

    def interrupted(self: ImageTextEncoder, prepared: Any) -> Any:
        calls[0] += 1
        if calls[0] == 2:
            raise KeyboardInterrupt
        return encode(self, prepared)

    given: dict[str, Any] = {"config": "verb_mc", "store": tmp_path / "own", "batch_size": 3}
    with monkeypatch.context() as patched, pytest.raises(KeyboardInterrupt):
        patched.setattr(ImageTextEncoder, "encode_prepared", interrupted)
        run(place, "clip", tmp_path / "run", **given)
    assert not (tmp_path / "run" / "metrics.json").exists()
    result = run(place, "clip", tmp_path / "run", **given)
    assert result.record["counters"]["visual_encodings"] == 4, "the first three clips were kept"
    whole = run(place, "clip", tmp_path / "whole", **{**given, "store": tmp_path / "other"})
    assert result.metrics == whole.metrics


def test_limit_scores_the_first_clips_and_no_output_leaves_nothing(place: Path, tmp_path: Path) -> None:
    result = score(str(place / "clip"), place / "set", "verb_mc", limit=3, store=tmp_path / "store", accept="all",
                   progress=False)  # fmt: skip
    assert result["verb_mc"]["conditions"]["clean"]["n"] == 3
    assert result.metrics["configs"].keys() == {"verb_mc"} and len(result.scores) == 3


def test_a_dry_run_prints_the_cost_and_writes_nothing(place: Path, tmp_path: Path) -> None:
    plan = run(place, "clip", tmp_path / "run", conditions="clean,visual:*,text:drop_first,text:keyboard", dry_run=True)
    assert plan.record["visual_encodings"] == 8 * 91
    assert plan.record["visual_encodings_without_sharing"] == 14 * 93
    assert not (tmp_path / "run").exists()


def test_a_perturbed_sets_recipes_are_conditions_of_their_own(place: Path, tmp_path: Path) -> None:
    folder = runner_set.write(tmp_path / "set", n_clips=2)
    video_contrast.build("perturbed", ["visual"], output=tmp_path / "p", dataset=folder, dataset_config="retrieval")
    given: dict[str, Any] = {"video_root": folder, "store": tmp_path / "store", "accept": "all", "progress": False}
    stored = score(str(place / "clip"), tmp_path / "p", "visual", output=tmp_path / "stored", **given)
    assert len(stored["visual"]["conditions"]) == 90
    names = ("visual:jumble@2", "visual:gaussian_noise@4", "visual:codec1@1")
    asked = score(str(place / "clip"), folder, "retrieval", output=tmp_path / "run", conditions=names, **given)
    for name in names:
        found = open_run(tmp_path / "stored").matrix("visual", name).values
        expected = open_run(tmp_path / "run").matrix("retrieval", name).values
        np.testing.assert_array_equal(found, expected)
    assert asked.record["counters"]["visual_encodings"] == 0, "the recipes are the conditions, so all rows were there"


def test_the_record_tells_what_made_the_numbers(place: Path, full: RunResult) -> None:
    record = json.loads((place / "full" / "run.json").read_text())
    assert record["model"]["class"] == "CLIPModel" and record["model"]["revision"]
    assert record["dtype"] == "float32" and record["versions"]["torch"]
    assert record["set"]["fingerprints"].keys() == {"verb_mc", "random_mc", "retrieval"}
    assert record["conditions"]["visual:jumble@2"]["visual"]["severity"] == 2
    videos = json.loads((place / "full" / "videos.json").read_text())
    assert len(videos["clips/00.mp4"]["sha256"]) == 64
