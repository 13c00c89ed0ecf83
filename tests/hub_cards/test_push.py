"""Publishing against a local stand-in for the Hub's HTTP."""

import hashlib
import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fabricate
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import runner_set
import yaml
from fake_hub import FakeHub, point_at

import video_contrast
from video_contrast.cli import main
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.hub_cards import publishing
from video_contrast.hub_cards.publishing import plan_set, push_set
from video_contrast.runner.kinds.base import MODEL_KINDS, PairScorer, ScoreResult, kind


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return fabricate.make_set(tmp_path_factory.mktemp("sets") / "made", 12)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeHub]:
    from huggingface_hub import HfApi, constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", False)
    monkeypatch.setattr(constants, "HF_HUB_DISABLE_XET", True)
    with FakeHub() as server:
        monkeypatch.setattr(publishing, "client_api", lambda: HfApi(endpoint=server.url, token="x"))
        yield server


def copy_of(root: Path, to: Path) -> Path:
    import shutil

    shutil.copytree(root, to)
    return to


def test_a_push_sends_tables_and_card_and_no_video(made: Path, hub: FakeHub) -> None:
    address = push_set(plan_set(made), "me/set", private=True)
    files = hub.files("me/set")
    assert address.endswith("/datasets/me/set")
    assert hub.repos["dataset", "me/set"].private
    assert {p for p in files if p.endswith(".parquet")} == {
        f"{c}/test-00000-of-00001.parquet" for c in ("random_mc", "verb_mc", "retrieval")
    }
    assert not [p for p in files if p.endswith(".mp4")]
    card = (made / "README.md").read_text(encoding="utf-8")
    assert files["README.md"].decode() == card.replace("THIS_REPOSITORY_OR_FOLDER", "me/set")
    assert 'load_dataset("me/set", ' in files["README.md"].decode()


def test_videos_go_before_the_tables_and_only_when_asked(made: Path, hub: FakeHub) -> None:
    push_set(plan_set(made, with_videos=True), "me/set")
    commits = hub.repos["dataset", "me/set"].branches["main"]
    assert [sorted({Path(p).suffix for p in files}) for _, files in commits[1:]] == [
        [".mp4"],
        [".json", ".md", ".mp4", ".parquet", ".yaml"],
    ]
    assert len([p for p in hub.files("me/set") if p.endswith(".mp4")]) == 7


def test_a_quiet_push_says_nothing(made: Path, hub: FakeHub, capfd: pytest.CaptureFixture[str]) -> None:
    assert main(["push", str(made), "me/quiet", "--quiet"]) == 0
    assert capfd.readouterr().out == ""  # bars go to stderr; test_cli asks a new process for those of every library
    assert "README.md" in hub.files("me/quiet")


def test_a_branch_is_made_for_a_revision(made: Path, hub: FakeHub) -> None:
    push_set(plan_set(made, with_videos=True), "me/set", revision="v1")
    assert hub.files("me/set") == {}
    files = hub.files("me/set", revision="v1")
    for row in pq.read_table(pa.BufferReader(files["verb_mc/test-00000-of-00001.parquet"])).to_pylist():
        assert row["video"]["path"] == f"hf://datasets/me/set@v1/{row['video_path']}" and row["video_path"] in files


@pytest.mark.parametrize("status", [0, 400])
def test_an_interrupted_push_goes_on_where_it_stopped(
    made: Path, hub: FakeHub, monkeypatch: pytest.MonkeyPatch, status: int
) -> None:
    monkeypatch.setattr(publishing, "COMMIT_FILES", 3)
    planned = plan_set(made, with_videos=True)
    hub.fail("POST", "/commit/", status, after=2)
    with pytest.raises(VideoContrastError, match="run the same command again"):
        push_set(planned, "me/set")
    before = hub.uploads()
    assert len(hub.files("me/set")) == 6
    push_set(planned, "me/set")
    assert len(hub.files("me/set")) == len(planned.videos) + len(planned.tables)
    assert len(hub.uploads()) == len(set(hub.uploads())), "an object was sent twice"
    assert set(before) < set(hub.uploads())


def test_an_upload_that_breaks_in_the_middle_of_a_file_is_finished_by_the_same_command(
    made: Path, hub: FakeHub, monkeypatch: pytest.MonkeyPatch, capsys: Any
) -> None:
    monkeypatch.setattr("time.sleep", lambda seconds: None)  # the client waits between its own attempts
    given = ["push", str(made), "me/set", "--with-videos", "--yes"]
    hub.fail("PUT", "/objects/", 0, after=2, times=10**6)
    assert main(given) == 1
    error = capsys.readouterr().err.strip().splitlines()[-1]
    assert "me/set" in error and "run the same command again" in error and "Traceback" not in error
    assert not [path for path in hub.files("me/set") if path.endswith(".parquet")], "a row was public before its clip"
    hub.heal()
    assert main(given) == 0
    assert len([path for path in hub.files("me/set") if path.endswith((".mp4", ".parquet"))]) == 7 + 3
    assert len(hub.uploads()) == len(set(hub.uploads())), "an object was sent twice"


@pytest.mark.parametrize("answer", [True, False])
def test_a_person_is_asked_about_the_licence(
    made: Path, hub: FakeHub, monkeypatch: pytest.MonkeyPatch, capsys: Any, answer: bool
) -> None:
    asked: list[str] = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True, raising=False)
    monkeypatch.setattr("builtins.input", lambda question: asked.append(question) or ("y" if answer else ""))
    assert main(["push", str(made), "me/set", "--with-videos", "--private", "--revision", "v1"]) == (0 if answer else 2)
    assert len(asked) == 1 and "CC0" in asked[0]
    if answer:
        assert hub.repos["dataset", "me/set"].private
        assert "clips/video0.mp4" in hub.files("me/set", revision="v1") and not hub.files("me/set")
    else:
        assert "answered with no" in capsys.readouterr().err and not hub.repos


def test_a_dry_run_says_what_would_be_sent_and_sends_nothing(made: Path, hub: FakeHub, capsys: Any) -> None:
    assert main(["push", str(made), "me/set", "--with-videos", "--dry-run"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert "README.md" in lines and "clips/video0.mp4" in lines and lines[-1].endswith("to me/set; nothing was sent")
    assert not hub.repos


def test_pushing_an_unchanged_set_again_commits_nothing(made: Path, hub: FakeHub) -> None:
    push_set(plan_set(made), "me/set")
    before = len(hub.repos["dataset", "me/set"].branches["main"])
    push_set(plan_set(made), "me/set")
    assert len(hub.repos["dataset", "me/set"].branches["main"]) == before


@pytest.mark.parametrize("status", [401, 403])
def test_missing_permission_says_how_to_log_in(made: Path, hub: FakeHub, status: int) -> None:
    hub.fail("POST", "/(preupload|commit|repos/create)", status, times=99)
    with pytest.raises(VideoContrastError, match=r"no permission to write there .*hf auth login"):
        push_set(plan_set(made), "other/set")


def test_offline_is_said(made: Path, hub: FakeHub, monkeypatch: pytest.MonkeyPatch) -> None:
    from huggingface_hub import constants

    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(VideoContrastError, match="HF_HUB_OFFLINE is set"):
        push_set(plan_set(made), "me/set")


def test_absolute_paths_in_the_record_are_refused(made: Path, tmp_path: Path) -> None:
    root = copy_of(made, tmp_path / "set")
    record = json.loads((root / "set.json").read_text())
    record["facts"]["options"] = {"video_root": "/mnt/someone/videos"}
    (root / "set.json").write_text(json.dumps(record))
    with pytest.raises(VideoContrastError, match=r"facts\.options\.video_root.*'/mnt/someone/videos'"):
        plan_set(root)


@pytest.mark.parametrize(
    ("column", "value", "message"),
    [
        ("video_path", "/data/clips/a.mp4", "not relative"),
        ("video_path", "../a.mp4", "not relative"),
        ("meta", '{"source": "C:\\\\videos\\\\a.mp4"}', "absolute path"),
        ("video_id", "/data/clips/a.mp4", "absolute path"),
    ],
)
def test_absolute_paths_in_a_row_are_refused(made: Path, tmp_path: Path, column: str, value: str, message: str) -> None:
    root = copy_of(made, tmp_path / "set")
    file = root / "verb_mc" / "test-00000-of-00001.parquet"
    table = pq.read_table(file)
    values = table[column].to_pylist()
    values[3] = value
    pq.write_table(table.set_column(table.column_names.index(column), column, pa.array(values)), file)
    with pytest.raises(VideoContrastError, match=rf"verb_mc/test-.*row 3, column '{column}'.*{message}"):
        plan_set(root)


def test_an_absolute_path_inside_of_an_edit_is_refused_and_a_caption_may_look_like_one(
    made: Path, tmp_path: Path
) -> None:
    root = copy_of(made, tmp_path / "set")
    file = root / "verb_mc" / "test-00000-of-00001.parquet"
    table = pq.read_table(file)
    rows = table.to_pylist()
    rows[2]["candidates"][0] = "/home/me/a.mp4"
    pq.write_table(pa.Table.from_pylist(rows, table.schema), file)
    plan_set(root)
    next(edit for edit in rows[2]["edits"] if edit)["generator"] = "/home/me/models/t5"
    pq.write_table(pa.Table.from_pylist(rows, table.schema), file)
    with pytest.raises(
        VideoContrastError, match=r"row 2, column 'edits': holds the absolute path '/home/me/models/t5'"
    ):
        plan_set(root)


def test_bytes_that_slipped_into_a_table_are_refused(made: Path, tmp_path: Path) -> None:
    root = copy_of(made, tmp_path / "set")
    file = root / "verb_mc" / "test-00000-of-00001.parquet"
    table = pq.read_table(file)
    video = pa.array([{"bytes": b"mp4", "path": None}] * len(table))
    pq.write_table(table.append_column("video", video), file)
    with pytest.raises(VideoContrastError, match=r"column 'video': holds bytes"):
        plan_set(root)


def test_a_missing_video_is_named(tmp_path: Path) -> None:
    root = fabricate.make_set(tmp_path / "set", 12, videos=5)
    with pytest.raises(VideoContrastError, match=r"2 of 7 clips are not in .*clips/video5\.mp4"):
        plan_set(root, with_videos=True)


def test_a_folder_that_is_no_set_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no such folder: .*absent"):
        plan_set(tmp_path / "absent")
    with pytest.raises(UsageError, match="not a built set"):
        plan_set(tmp_path)


def test_the_command_asks_before_it_publishes_videos(made: Path, hub: FakeHub, capsys: Any) -> None:
    assert main(["push", str(made), "me/set", "--with-videos"]) == 2
    message = capsys.readouterr().err
    assert "7 video files" in message and "CC0" in message and "--yes" in message
    assert not hub.repos
    assert main(["push", str(made), "me/set", "--with-videos", "--yes"]) == 0
    assert capsys.readouterr().out.strip().endswith("/datasets/me/set")
    assert main(["push", str(made), "me/set", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["address"].endswith("/datasets/me/set") and said["videos"] == 0 and said["bytes"] > 0


def in_a_process_of_its_own(code: str, hub: FakeHub, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "HF_ENDPOINT": hub.url, "HF_HUB_OFFLINE": "0", "HF_HUB_DISABLE_XET": "1",
             "HF_HOME": str(folder / "hf")},
        cwd=folder,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout.strip()


def test_a_set_pushed_with_videos_is_scored_by_its_id(
    made: Path, hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Brightness(PairScorer):
        def score(self, clip: Any, captions: Any, *, position: int = 0) -> ScoreResult:
            return ScoreResult(clip.frames.mean() / np.array([len(caption) for caption in captions], np.float64))

    push_set(plan_set(made, with_videos=True), "me/set")
    point_at(hub.url, monkeypatch, tmp_path / "cache")
    kind("bright", family="pair", summary="", names=("bright",))(lambda source, settings: Brightness())
    try:
        ours, theirs = (
            video_contrast.score("bright", name, store=tmp_path / store, accept="all", progress=False)
            for name, store in ((made, "ours"), ("me/set", "theirs"))
        )
    finally:
        MODEL_KINDS.pop("bright")
    assert theirs.record["n_missing"] == 0 and theirs.metrics == ours.metrics
    assert theirs.record["set"]["fingerprints"] == ours.record["set"]["fingerprints"]
    assert sorted(theirs.metrics["configs"]) == ["random_mc", "retrieval", "verb_mc"]


def test_what_was_pushed_loads_with_nothing_of_ours(made: Path, hub: FakeHub, tmp_path: Path) -> None:
    """Sets, the column of their videos that the viewer plays, and metrics: one process saves seconds of imports."""
    push_set(plan_set(made), "me/set")
    push_set(plan_set(made, with_videos=True), "clips")
    assert main(["metrics", "push", "me"]) == 0
    code = """
        import sys
        sys.modules["transformers"] = None  # `evaluate` may do without it: importing it would take most of the seconds
        import datasets, evaluate
        del sys.modules["transformers"]
        rows = datasets.load_dataset("me/set", "verb_mc", split="test")
        stream = datasets.load_dataset("me/set", "verb_mc", split="test", streaming=True)
        first = next(iter(stream))
        assert rows[0] == first, (rows[0], first)
        default = datasets.load_dataset("me/set", split="test", streaming=True)  # without a config
        assert next(iter(default))["id"] == datasets.load_dataset("me/set")["test"][0]["id"]
        assert sorted(datasets.get_dataset_config_names("me/set")) == ["random_mc", "retrieval", "verb_mc"]
        assert len(rows) == 12

        assert sorted(datasets.get_dataset_config_names("me/clips")) == ["random_mc", "retrieval", "verb_mc"]
        for config in ("verb_mc", "retrieval"):
            table = datasets.load_dataset("me/clips", config, split="test")
            assert isinstance(table.features["video"], datasets.Video), table.features
            streamed = datasets.load_dataset("me/clips", config, split="test", streaming=True)
            shown = streamed.cast_column("video", datasets.Video(decode=False))
            assert all(row["video"]["path"].endswith(row["video_path"]) for row in shown)
        assert not [m for m in sys.modules if m.startswith("video_contrast")]

        metric = evaluate.load("me/video_contrast_mc")
        assert metric.info.license == "Apache-2.0" and metric.info.homepage.endswith("/video-contrast/")
        found = metric.compute(predictions=[[0.9, 0.1], [0.2, 0.2]], references=[0, 0])
        assert found["accuracy"] == 0.75
        assert not [m for m in sys.modules if m.startswith("video_contrast.")]
        print(*[row["video"]["path"] for row in shown])
    """
    paths = in_a_process_of_its_own(code, hub, tmp_path).split()
    assert paths == [f"hf://datasets/me/clips/clips/video{n}.mp4" for n in range(7)]
    files = hub.files("me/clips")
    assert {path.partition("me/clips/")[2] for path in paths} <= set(files)
    for file in json.loads(files["croissant.json"])["distribution"]:
        assert file["sha256"] == hashlib.sha256(files[file["contentUrl"]]).hexdigest()
        assert file["contentSize"] == f"{len(files[file['contentUrl']])} B"
    card = files["README.md"].decode()
    assert "in the column `video`" in card and "not included" not in card


def test_a_set_without_a_licence_is_asked_for_one(tmp_path: Path, hub: FakeHub, capsys: Any) -> None:
    root = fabricate.make_set(tmp_path / "set", 12, facts={"licence": None, "licence_id": None})
    assert main(["push", str(root), "me/set"]) == 2
    assert "--licence" in capsys.readouterr().err and not hub.repos
    for given, shown in (("cc-by-4.0", "cc-by-4.0"), ("CC BY-NC 4.0", "cc-by-nc-4.0"), ("ask the museum", "other")):
        assert main(["push", str(root), "me/set", "--licence", given]) == 0
        files = hub.files("me/set")
        head = yaml.safe_load(files["README.md"].decode().split("---")[1])
        assert head["license"] == shown and head.get("license_name") == (given if shown == "other" else None)
        assert json.loads(files["croissant.json"])["license"] == given


def test_an_edited_clip_has_no_file_to_play(tmp_path: Path) -> None:
    from video_contrast.hub_cards.publishing import with_videos

    part = {"video_path": "a.mp4", "start": 0.0, "end": 1.0}
    rows = [{"video_path": "a.mp4", "segments": [part]}, {"video_path": "a.mp4", "segments": None}]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "t.parquet")
    for revision, place in ((None, "me/set"), ("a/branch", "me/set@a%2Fbranch")):
        table = with_videos(tmp_path / "t.parquet", "me/set", revision)
        paths = [video and video["path"] for video in table["video"].to_pylist()]
        assert paths == [None, f"hf://datasets/{place}/a.mp4"]


def test_metrics_become_private_spaces_of_their_names(hub: FakeHub, capsys: pytest.CaptureFixture[str]) -> None:
    from video_contrast.metrics.evaluate_modules import MODULES

    assert main(["metrics", "push", "me", "--private"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert [line.rpartition("/spaces/me/")[2] for line in said] == list(MODULES)
    for name in MODULES:
        assert {"README.md", "app.py", "requirements.txt", f"{name}.py"} <= set(hub.files(f"me/{name}", "space"))
        assert hub.repos["space", f"me/{name}"].private
    card = hub.files("me/video_contrast_mc", "space")["README.md"].decode()
    assert "sdk: gradio" in card.split("---")[1]


def test_results_go_to_the_model_as_a_pull_request(
    made: Path, hub: FakeHub, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    import yaml
    from huggingface_hub import HfApi, ModelCard
    from huggingface_hub import eval_result_entries_to_yaml as to_yaml
    from huggingface_hub._eval_results import parse_eval_result_entries

    from video_contrast.hub_cards.results import results_of, write_results

    run = fabricate.make_run(tmp_path / "run", made, ["verb_mc", "retrieval"])
    files = write_results(run)
    assert [file.name for file in files] == ["made.yaml", "model-index.yaml", "RESULTS.md"]
    HfApi(endpoint=hub.url, token="x").create_repo("someone/model")
    assert main(["push", str(run), "someone/model"]) == 2
    assert "--dataset" in capsys.readouterr().err
    record = (run / "run.json").read_text()
    (run / "run.json").write_text(json.dumps(json.loads(record) | {"request": {"limit": 30}}))
    assert main(["push", str(run), "someone/model", "--dataset", "me/made", "--dry-run"]) == 2
    assert "is a trial run on the first 30 clips of each config" in capsys.readouterr().err
    (run / "run.json").write_text(record)
    assert main(["push", str(run), "someone/model", "--dataset", "me/made"]) == 0
    sent = hub.repos["model", "someone/model"].pull_requests[0][".eval_results/me-made.yaml"]
    entries = yaml.safe_load(sent)
    assert to_yaml(parse_eval_result_entries(entries)) == entries  # the Hub's own reader takes it as it is
    assert {e["dataset"]["task_id"] for e in entries} == {"verb_mc", "retrieval_t2v", "retrieval_v2t"}
    accuracy = next(r for r in results_of(run) if r["config"] == "verb_mc")
    assert entries[-1]["value"] == accuracy["value"]
    index = yaml.safe_load((run / "model-index.yaml").read_text())
    card = ModelCard(f"---\n{yaml.safe_dump(index)}---\n")
    assert {result.metric_value for result in card.data.eval_results} == {r["value"] for r in results_of(run)}


def test_a_certificate_is_offered_to_its_model(hub: FakeHub, capsys: pytest.CaptureFixture[str]) -> None:
    from huggingface_hub import HfApi

    from video_contrast.golden import CERTIFICATES, GOLDEN

    HfApi(endpoint=hub.url, token="x").create_repo("someone/model")
    path = CERTIFICATES / "temporal.json"
    assert main(["push", str(path), "someone/model", "--dry-run"]) == 0
    assert not hub.repos["model", "someone/model"].pull_requests
    assert main(["push", str(path), "someone/model"]) == 0
    assert hub.repos["model", "someone/model"].pull_requests[0]["certificates/temporal.json"] == path.read_bytes()
    assert "someone/model/discussions/1" in capsys.readouterr().out
    assert main(["push", str(GOLDEN / "rolls.mp4"), "someone/model"]) == 1


def with_missing(run: Path, **entries: object) -> None:
    """Changes the record of a run as `score` writes it where clips are missing."""
    record = json.loads((run / "run.json").read_text(encoding="utf-8"))
    (run / "run.json").write_text(json.dumps(record | entries), encoding="utf-8")


PATHS = {"clips/a.mp4": "left out with its group", "clips/b.mp4": "clips/b.mp4: no such file", "clips/c.mp4": "cut off"}
LOST = {"n_missing": 3, "n_clips": 12, "missing": PATHS}


@pytest.mark.parametrize("dry_run", [[], ["--dry-run"]])
def test_results_with_missing_clips_are_pushed_only_where_that_is_meant(
    made: Path, hub: FakeHub, tmp_path: Path, capsys: pytest.CaptureFixture[str], dry_run: list[str]
) -> None:
    import yaml
    from huggingface_hub import HfApi

    run = fabricate.make_run(tmp_path / "run", made, ["verb_mc"])
    HfApi(endpoint=hub.url, token="x").create_repo("someone/model")
    call = ["push", str(run), "someone/model", "--dataset", "me/made", *dry_run]
    with_missing(run, **LOST)
    assert main(call) == 3
    error = capsys.readouterr().err
    assert "3 of 12 clips are missing (the first, clips/b.mp4: no such file)" in error and "--max-missing" in error
    assert "get the videos, run the same score command again" in error
    assert main([*call, "--max-missing", "0.2"]) == 3 and main([*call, "--max-missing", "1"]) == 2
    assert not hub.repos["model", "someone/model"].pull_requests
    capsys.readouterr()
    assert main([*call, "--max-missing", "0.25"]) == 0
    if dry_run:
        assert "3 of 12 clips missing" in capsys.readouterr().out
        assert not hub.repos["model", "someone/model"].pull_requests
        return
    sent = hub.repos["model", "someone/model"].pull_requests[0][".eval_results/me-made.yaml"]
    assert ", 3 of 12 clips missing, " in yaml.safe_load(sent)[0]["notes"]
    index = yaml.safe_load((run / "model-index.yaml").read_text(encoding="utf-8"))
    assert index["model-index"][0]["results"][0]["metrics"][0]["args"]["missing_clips"] == 3


def test_edits_that_a_sampling_does_not_show_are_missing_for_want_of_frames(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = fabricate.make_run(tmp_path / "run", made, ["verb_mc"])
    why = "unseen at this sampling: segment 2 of 3 is in 1 of 8 frames, where 2 are needed; more --frames show it"
    with_missing(run, n_missing=2, n_clips=12, n_unseen=1, missing={"a-0": "left out with its group", "a-1": why})
    assert main(["push", str(run), "someone/model", "--dataset", "me/made", "--dry-run"]) == 3
    error = capsys.readouterr().err
    assert "2 of 12 clips are missing (the first, a-1: unseen" in error
    assert "score with more --frames" in error and "get the videos" not in error


def test_a_run_that_does_not_say_how_many_clips_there_were(
    made: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = fabricate.make_run(tmp_path / "run", made, ["verb_mc"])
    call = ["push", str(run), "someone/model", "--dataset", "me/made", "--dry-run"]
    assert "n_clips" not in json.loads((run / "run.json").read_text(encoding="utf-8"))
    assert main(call) == 0
    with_missing(run, n_missing=1, missing={"clips/b.mp4": "cut off"})
    capsys.readouterr()
    assert main([*call, "--max-missing", "0.5"]) == 3
    error = capsys.readouterr().err
    assert "1 clip is missing (the first, clips/b.mp4: cut off)" in error
    assert "--max-missing" not in error  # no share of an unknown number


def test_a_dry_run_checks_the_name_and_says_of_how_many_items(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    runner_set.write(tmp_path / "set", n_clips=4)
    video_contrast.score("random", tmp_path / "set", "verb_mc", output=tmp_path / "run", progress=False)
    for folder in (tmp_path / "set", tmp_path / "run"):
        assert main(["push", str(folder), "not_a_repo_name!", "--dataset", "me/set", "--dry-run"]) == 2
        assert "no name of a repository" in capsys.readouterr().err
    assert main(["push", str(tmp_path / "run"), "me/model", "--dataset", "me/set", "--dry-run"]) == 0
    assert "(n = 4)" in capsys.readouterr().out
    (written,) = (tmp_path / "run" / ".eval_results").glob("*.yaml")
    assert "4 items" in written.read_text() and "frames" not in written.read_text()  # it sees none
