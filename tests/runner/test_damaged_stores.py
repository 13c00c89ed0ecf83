"""What is kept between runs is checked when it is read: what was damaged since is named, set aside and made anew."""

import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest
import runner_set

import video_contrast
from video_contrast.chat_model import AnswerStore
from video_contrast.perturbations.english.parse import CaptionStore
from video_contrast.runner.embedding_store import Store
from video_contrast.runner.kinds.base import ScoreResult
from video_contrast.runner.score_pairs import PairResults
from video_contrast.runner.views import FrameStore, decoded
from video_contrast.video import Clip, Counter, footage_of

KEYS = [f"{n:032x}" for n in range(40)]
ROWS = np.random.default_rng(0).normal(size=(40, 16)).astype(np.float32)


def flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(bytes(data))


def shards(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("*.safetensors") if not path.name.startswith("."))


@pytest.mark.parametrize("share", [0.0, 0.001, 0.02, 0.2, 0.5, 0.9, 0.9999])
def test_a_flipped_bit_anywhere_in_a_shard_never_gives_another_row(
    tmp_path: Path, share: float, capsys: pytest.CaptureFixture[str]
) -> None:
    store = Store(tmp_path, "space")
    store.put(KEYS[:20], ROWS[:20], np.arange(40).reshape(20, 2))
    store.put(KEYS[20:], ROWS[20:], np.arange(40).reshape(20, 2))
    bad = shards(tmp_path)[0]
    flip(bad, int(share * bad.stat().st_size))
    again = Store(tmp_path, "space")
    kept = [key for key in KEYS if key in again]
    assert len(kept) == 20 and np.array_equal(again.get(kept), ROWS[[KEYS.index(key) for key in kept]])
    assert bad.name in capsys.readouterr().err and not bad.exists()
    lost = [key for key in KEYS if key not in again]
    again.put(lost, ROWS[[KEYS.index(key) for key in lost]], np.arange(40).reshape(20, 2))
    assert np.array_equal(Store(tmp_path, "space").get(KEYS), ROWS)


def zeros(path: Path) -> None:
    data = bytearray(path.read_bytes())
    length = min(4096, len(data) // 2)
    data[-length:] = bytes(length)
    path.write_bytes(bytes(data))


@pytest.mark.parametrize("damage", [lambda path: flip(path, path.stat().st_size - 1), zeros])
def test_a_run_over_a_damaged_store_has_the_scores_of_a_sound_one(
    tmp_path: Path, damage: Callable[[Path], None], capsys: pytest.CaptureFixture[str]
) -> None:
    runner_set.write(tmp_path / "set", n_clips=3)

    def run(name: str) -> list[list[float]]:
        video_contrast.score("temporal", tmp_path / "set", "retrieval", output=tmp_path / name,
                             store=tmp_path / "store", accept="all", progress=False)  # fmt: skip
        return video_contrast.open_run(tmp_path / name).matrix("retrieval").values.tolist()

    sound = run("sound")
    for shard in shards(tmp_path / "store"):
        damage(shard)
    capsys.readouterr()
    assert run("again") == sound
    assert "damaged" in capsys.readouterr().err
    assert run("third") == sound and not capsys.readouterr().err.count("damaged")


def test_damaged_frames_are_decoded_again(tmp_path: Path) -> None:
    runner_set.write(tmp_path / "set", n_clips=1)
    clip = Clip("video0", "clips/00.mp4")
    footage, store = footage_of(tmp_path / "set", clip), FrameStore.on(tmp_path / "frames", tmp_path / "set")
    whole = decoded(clip, footage, [0, 5], store)
    (file,) = (tmp_path / "frames").iterdir()
    sound = file.read_bytes()
    for at in (0, 3, 40, len(sound) // 2, len(sound) - 1):
        flip(file, at)
        counter = Counter()
        assert np.array_equal(decoded(clip, footage, [0, 5], store, counter=counter), whole)
        assert counter.decoded and file.read_bytes() == sound
    file.write_bytes(sound[:-10])
    assert np.array_equal(decoded(clip, footage, [0, 5], store), whole)


def test_a_damaged_answer_is_asked_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "answers.jsonl"
    store = AnswerStore(file)
    for name in "abc":
        store.put(name, {"text": "yes 0.5", "alternatives": None})  # type: ignore[typeddict-item]
    sound = file.read_bytes()
    for at in range(0, len(sound), 7):
        file.write_bytes(sound)
        flip(file, at)
        again = AnswerStore(file)
        assert all(again.get(name) in (None, store.get(name)) for name in "abc")
        assert len(again) in (1, 2) and "answers.jsonl" in capsys.readouterr().err
    file.write_bytes(sound[:-10])  # torn by a kill
    assert AnswerStore(file).get("b") == {"text": "yes 0.5", "alternatives": None} and not capsys.readouterr().err


def test_a_damaged_result_of_a_pair_scorer_is_made_anew(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = PairResults(tmp_path, 0)
    names = [name * 32 for name in "abc"]
    for name in names:
        results.put(name, ScoreResult(np.array([0.967, 0.1]), [{"yes": 0.5}], {}, (1, 2)))
    results.close()
    (file,) = tmp_path.iterdir()
    sound = file.read_bytes()
    for at in range(0, len(sound), 7):
        file.write_bytes(sound)
        flip(file, at)
        again = PairResults(tmp_path, 0)
        kept = [name for name in names if name in again]
        assert len(kept) in (1, 2) and all(again.get(name).scores.tolist() == [0.967, 0.1] for name in kept)
        assert file.name in capsys.readouterr().err


def test_damaged_texts_of_captions_are_made_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "captions.sqlite"
    texts = {f"a man does thing {n}": f"DT NN VBZ NN {n}" * 20 for n in range(60)}
    CaptionStore(file, "tags").write(texts)
    sound = file.read_bytes()
    for at in [*range(0, 200, 23), *range(4096, len(sound), 2311)]:
        file.write_bytes(sound)
        flip(file, at)
        assert CaptionStore(file, "tags").completed(list(texts), lambda missing: [texts[c] for c in missing]) == texts
    file.write_bytes(sound[:4096] + bytes(4096) + sound[8192:])
    capsys.readouterr()
    store = CaptionStore(file, "tags")
    assert store.completed(list(texts), lambda missing: [texts[c] for c in missing]) == texts
    assert "captions" in capsys.readouterr().err
    assert store.completed(list(texts), lambda missing: [pytest.fail("again") for _ in missing]) == texts
    sqlite3.connect(file).close()


def _folder(path: Path) -> None:
    path.mkdir()


def _below_a_file(path: Path) -> None:
    path.parent.rmdir()
    path.parent.write_bytes(b"")


def _of_another_version(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE texts (key BLOB PRIMARY KEY, text BLOB)")


@pytest.mark.parametrize(
    ("spoil", "told"),
    [(_folder, "what is made of captions is not kept"), (_below_a_file, "what is made of captions is not kept"),
     (_of_another_version, "set aside as captions.sqlite.damaged")],
)  # fmt: skip
def test_where_no_store_of_captions_can_be_kept_work_goes_on(
    tmp_path: Path, spoil: Callable[[Path], None], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """As on a read-only or full disk, and with the file of another version."""
    path = tmp_path / "cache" / "captions.sqlite"
    path.parent.mkdir()
    spoil(path)
    store = CaptionStore(path, "upper")
    for _ in range(2):
        assert store.completed(["a man"], lambda captions: [caption.upper() for caption in captions]) == {
            "a man": "A MAN"
        }
    assert capsys.readouterr().err.count(told) == 1


def test_a_store_that_another_process_keeps_busy_stops_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    store = CaptionStore(tmp_path / "captions.sqlite", "upper")
    store.write({"a man": "A MAN"})
    monkeypatch.setattr(sys.modules[CaptionStore.__module__], "_PATIENCE", 0.05)
    with closing(sqlite3.connect(store.path or "")) as other:
        other.execute("BEGIN EXCLUSIVE")
        assert store.read(["a man"]) == {}
    assert "locked: what is made of captions is not kept" in capsys.readouterr().err
