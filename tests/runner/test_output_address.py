"""Runs at addresses: the same files as in a folder, what is there is not scored again, and what is refused is said."""

import fsspec
import pytest
import runner_set
from fsspec.implementations.memory import MemoryFileSystem

from video_contrast import score
from video_contrast.builders.registry import BuiltSet
from video_contrast.builders.writing import write_set
from video_contrast.cli import main
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.rows import multiple_choice_row
from video_contrast.runner.embedding_store import Store


@pytest.fixture
def dataset(tmp_path, monkeypatch):
    monkeypatch.setenv("VIDEO_CONTRAST_CACHE", str(tmp_path / "cache"))
    rows = [
        multiple_choice_row(
            id=f"i{n}", video_id=f"v{n}", video_path=f"{n}.mp4", candidates=[f"a man sits {n}", f"a man stands {n}"],
            label=n % 2, kinds=["true", "verb_lexical"][:: 1 - 2 * (n % 2)],
        )
        for n in range(6)
    ]  # fmt: skip
    return write_set(BuiltSet("captions", {"verb_mc": {"test": rows}}, {"summary": "a test"}), tmp_path / "set")


def test_a_run_at_an_address_is_that_of_a_folder(dataset, tmp_path, monkeypatch):
    here = score("constant", dataset, "verb_mc", output=tmp_path / "here", progress=False)
    there = score("constant", dataset, "verb_mc", output="memory://bucket/run", progress=False)
    files = fsspec.filesystem("memory").find("/bucket/run")
    assert there.metrics == here.metrics and not any((tmp_path / "cache/runs").iterdir())
    names = {file.removeprefix("/bucket/run/") for file in files}
    assert names == {p.relative_to(tmp_path / "here").as_posix() for p in (tmp_path / "here").rglob("*") if p.is_file()}
    monkeypatch.setattr("video_contrast.runner.execute.execute", lambda *_, **__: 1 / 0)
    again = score("constant", dataset, "verb_mc", output="memory://bucket/run", progress=False)
    assert again.scores == here.scores


def test_an_address_that_takes_nothing_is_refused_before_the_work(dataset, tmp_path, monkeypatch):
    def refused(*args, **options):
        raise PermissionError("403 Forbidden: no access")

    monkeypatch.setattr(MemoryFileSystem, "pipe_file", refused)
    with pytest.raises(VideoContrastError, match=r"memory://bucket/closed.*: 403 Forbidden"):
        score("constant", dataset, "verb_mc", output="memory://bucket/closed", progress=False)
    with pytest.raises(VideoContrastError, match=r"memory://bucket/store.*: 403 Forbidden"):
        score("constant", dataset, "verb_mc", output=tmp_path / "r", store="memory://bucket/store", progress=False)
    assert not (tmp_path / "r").exists()
    monkeypatch.setenv("WORLD_SIZE", "2")  # without LOCAL_WORLD_SIZE, of two machines
    for option in ("output", "store"):
        options = {"output": tmp_path / "r", option: "memory://bucket/run"}
        with pytest.raises(
            UsageError, match=rf"--{option} memory://bucket/run: processes of several machines need a f"
        ):
            score("constant", dataset, "verb_mc", progress=False, **options)


def test_several_models_share_a_store_at_an_address(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("VIDEO_CONTRAST_CACHE", str(tmp_path / "cache"))
    folder, memory = str(runner_set.write(tmp_path / "set", 3)), fsspec.filesystem("memory")
    here = score("bag-of-frames", folder, "verb_mc", output=tmp_path / "run", store=tmp_path / "store", progress=False)
    command = ["score", "--model", "constant", "--model", "bag-of-frames", "--dataset", folder, "--config", "verb_mc"]
    assert main([*command, "--store", "memory://b/store", "--output", "memory://b/runs"]) == 0
    assert "written to memory://b/runs/bag-of-frames" in capsys.readouterr().out
    shards = {file: memory.modified(file) for file in memory.find("/b/store")}
    local = {f"/b/store/{file.relative_to(tmp_path / 'store')}" for file in (tmp_path / "store").rglob("*.safetensors")}
    assert local == set(shards)
    monkeypatch.setattr(Store, "put", lambda *_, **__: 1 / 0)  # a further run finds all rows
    again = score("bag-of-frames", folder, "verb_mc", output="memory://b/2", store="memory://b/store", progress=False)
    assert again.scores == here.scores and again.record["embeddings"]["store"] == "memory://b/store"
    assert {file: memory.modified(file) for file in memory.find("/b/store")} == shards
    assert not any((tmp_path / "cache/runs").iterdir())
