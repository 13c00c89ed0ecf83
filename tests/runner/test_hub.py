"""Models and sets of the Hub, against a stand-in: fetched, found in the cache, refused, and no network at all."""

import hashlib
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import runner_set
import tiny_models
from fake_hub import FakeHub, Repo, point_at

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.runner import score
from video_contrast.runner.model_files import locate
from video_contrast.runner.sets import load_set
from video_contrast.runner.video_files import from_hub


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[FakeHub]:
    with FakeHub() as server:
        point_at(server.url, monkeypatch, tmp_path / "cache")
        yield server


def publish(hub: FakeHub, name: str, folder: Path, kind: str = "model") -> str:
    """Puts a folder onto the stand-in as a commit, whose hash is given back."""
    files = {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    commit = hashlib.sha1(name.encode()).hexdigest()
    hub.repos[kind, name] = Repo(kind, branches={"main": [(commit, files)]})
    return commit


def test_a_model_of_the_hub_is_fetched_once_and_known_by_its_commit(hub: FakeHub, tmp_path: Path) -> None:
    commit = publish(hub, "me/clip", tiny_models.clip(tmp_path / "clip"))
    runner_set.write(tmp_path / "set", n_clips=3)
    given = {"store": tmp_path / "store", "progress": False}
    result = score("me/clip", tmp_path / "set", "verb_mc", output=tmp_path / "run", **given)
    assert result.record["model"]["revision"] == commit
    asked = len(hub.requests)
    assert locate("me/clip", revision=commit).revision == commit
    assert len(hub.requests) == asked, "a commit never changes, so a copy of it needs no question"


def test_a_model_in_the_cache_serves_when_the_hub_does_not(
    hub: FakeHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(hub, "me/clip", tiny_models.clip(tmp_path / "clip"))
    first = locate("me/clip")
    hub.fail("GET", "/api/models/me/clip", 503)
    assert locate("me/clip").path == first.path
    hub.fail("GET", "/api/models/me/clip", 401)
    assert locate("me/clip").path == first.path
    monkeypatch.setattr("huggingface_hub.constants.ENDPOINT", "http://127.0.0.1:9")
    assert locate("me/clip").path == first.path


def test_a_gated_model_says_where_its_terms_are(hub: FakeHub, tmp_path: Path) -> None:
    publish(hub, "me/clip", tiny_models.clip(tmp_path / "clip"))
    hub.repos["model", "me/clip"].gated = True
    with pytest.raises(
        VideoContrastError, match=r"me/clip is gated: accept its terms at .*me/clip and run `hf auth lo"
    ):
        locate("me/clip")


def test_what_the_hub_does_not_have_is_said_in_one_sentence(hub: FakeHub, tmp_path: Path) -> None:
    publish(hub, "me/clip", tiny_models.clip(tmp_path / "clip"))
    with pytest.raises(VideoContrastError, match="nor such a public model on the Hub"):
        locate("me/nothing")
    with pytest.raises(VideoContrastError, match="has no revision 'v7' on the Hub"):
        locate("me/clip", revision="v7")
    with pytest.raises(UsageError, match="not a Hub id"):
        locate("me/cl ip")
    with pytest.raises(VideoContrastError, match="--lm me/nothing: no such folder"):
        locate("me/nothing", option="--lm")
    with pytest.raises(VideoContrastError, match="nor such a public data set on the Hub"):
        load_set("me/nothing", ["verb_mc"], "test")


def test_a_broken_off_download_is_no_model(hub: FakeHub, tmp_path: Path) -> None:
    publish(hub, "me/clip", tiny_models.clip(tmp_path / "clip"))
    hub.fail("GET", "resolve/.*safetensors", 500, times=99)
    with pytest.raises(VideoContrastError, match="cannot be fetched from the Hub"):
        locate("me/clip")
    hub.fail("GET", "/api/models/me/clip", 503)
    with pytest.raises(VideoContrastError, match=r"holds only a part of it .*`hf download me/clip`"):
        locate("me/clip")


@pytest.mark.parametrize("answers", [False, True])
def test_without_a_network_the_message_comes_at_once(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, answers: bool
) -> None:
    """A refused connection, and a server that takes the connection and says nothing."""
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        if answers:
            server.listen()
            monkeypatch.setattr("video_contrast.hub.SECONDS", 0.5)
        point_at(f"http://127.0.0.1:{server.getsockname()[1]}", monkeypatch, tmp_path)
        began = time.monotonic()
        with pytest.raises(VideoContrastError, match=r"there is no network .* get it with `hf download some/model`"):
            locate("some/model")
        with pytest.raises(
            VideoContrastError, match=r"there is no network .*`hf download some/set --repo-type dataset`"
        ):
            load_set("some/set", ["verb_mc"], "test")
        assert time.monotonic() - began < 6


def test_a_set_published_with_videos_is_scored_by_its_id(hub: FakeHub, tmp_path: Path) -> None:
    """The videos come out of the Hub's cache, where files are links; without a network, too."""
    folder = runner_set.write(tmp_path / "set", n_clips=3)
    model = tiny_models.clip(tmp_path / "clip")
    here = score(model, folder, "verb_mc", store=tmp_path / "a", frames=4, progress=False)
    publish(hub, "me/bars", folder, kind="dataset")
    there = score(model, "me/bars", "verb_mc", store=tmp_path / "b", frames=4, accept="all", progress=False)
    assert there.record["n_missing"] == 0 and there.metrics == here.metrics
    (clip, *_) = (tmp_path / "cache").rglob("clips/00.mp4")
    assert clip.is_symlink()
    hub.fail("GET", ".*", 503, times=10_000)
    hub.fail("HEAD", ".*", 503, times=10_000)
    cached = from_hub("me/bars", ["clips/00.mp4", "clips/none.mp4"])
    assert cached is not None and cached / "clips/00.mp4" == clip


def test_a_set_published_without_videos_asks_for_their_folder(hub: FakeHub, tmp_path: Path) -> None:
    folder = runner_set.write(tmp_path / "set", n_clips=3)
    for file in (folder / "clips").iterdir():
        file.unlink()
    publish(hub, "me/ids", folder, kind="dataset")
    with pytest.raises(UsageError, match="me/ids comes without videos; give their folder with --video-root"):
        score(tiny_models.clip(tmp_path / "clip"), "me/ids", "verb_mc", progress=False)
