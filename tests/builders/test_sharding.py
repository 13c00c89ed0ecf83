"""Work that is dealt out to ranks or processes comes back in order, whole, and the same."""

import os
import subprocess
import sys
import types
from collections import Counter

import pytest
from processes import left_alone
from stand_in_gpu import stand_in_gpu

from video_contrast import launcher
from video_contrast.builders.assembly.captioned_clip import CaptionedClip, ContrastSetOptions
from video_contrast.builders.assembly.word_contrasts import WordContrasts
from video_contrast.builders.sources.caption_table import read_table
from video_contrast.cli import main
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.perturbations.contrast.generate import ProposedContrasts


def doubled(chunk):
    return [2 * item for item in chunk]


@pytest.mark.parametrize("ranks", [1, 2, 3, 5])
def test_every_rank_gets_all_results_in_order(ranks, monkeypatch):
    """Ranks are played one after the other: what the earlier ones gave is put together when the last one gathers."""
    items = list(range(23))
    alone = launcher.spread(doubled, items, chunk=4)
    assert [item for chunk in alone for item in chunk] == [2 * item for item in items]
    given: list = []
    work = []

    for rank in range(ranks):
        state = types.SimpleNamespace(process_index=rank, num_processes=ranks)
        fake = types.ModuleType("accelerate")
        fake.PartialState = lambda cpu, state=state: state
        utils = types.ModuleType("accelerate.utils")

        def gather(done):
            given.extend(done)
            return list(given)

        utils.gather_object, utils.parse_flag_from_env = gather, lambda name: True
        monkeypatch.setitem(sys.modules, "accelerate", fake)
        monkeypatch.setitem(sys.modules, "accelerate.utils", utils)
        monkeypatch.setenv("WORLD_SIZE", str(max(ranks, 2)))
        before = len(given)
        last = launcher.spread(doubled, items, chunk=4)
        work.append(len(given) - before)
    assert last == alone and sum(work) == len(alone) and max(work) - min(work) <= 1


def test_two_processes_give_what_one_gives():
    offset = 3  # a closure cannot be pickled; forked workers need not
    items = list(range(40))
    one = launcher.spread(lambda chunk: [item + offset for item in chunk], items, chunk=6)
    assert launcher.spread(lambda chunk: [item + offset for item in chunk], items, chunk=6, num_proc=2) == one
    with pytest.raises(UsageError, match="num_proc must be at least 1"):
        launcher.spread(doubled, items, num_proc=0)


@pytest.mark.parametrize(
    ("generator", "options", "on_gpu"),
    [
        ("mlm", None, True),
        ("mlm", "device=cpu", False),
        ("llm", "endpoint=http://x/v1", False),
        ("lexicon", None, False),
    ],
)
def test_models_on_a_gpu_are_not_forked(generator, options, on_gpu, monkeypatch):
    """CUDA cannot be used in a process that was forked from one that looked for GPUs."""
    monkeypatch.setattr(launcher.spread, "__kwdefaults__", {"num_proc": 1, "chunk": 1})
    monkeypatch.setattr(WordContrasts, "model", None)

    def propose(self, clips):
        reasons = Counter({f"process {os.getpid()}": 1})
        return ProposedContrasts({}, {}, reasons, target="verb", quality="all", seed=0)

    monkeypatch.setattr(WordContrasts, "propose", propose)

    def used():
        contrasts = WordContrasts(
            generator=generator, options=ContrastSetOptions(generator_options=options, num_proc=2)
        )
        clips = [CaptionedClip(str(n), str(n), f"{n}.mp4", ["a man sits"], str(n)) for n in range(3)]
        tried = contrasts.contrast_clips(clips).reasons
        return {name.removeprefix("candidates:") for name in tried if "process" in name}

    processes = used()
    assert f"process {os.getpid()}" not in processes
    with stand_in_gpu():
        processes = used()
    assert (processes == {f"process {os.getpid()}"}) == on_gpu


def test_only_one_rank_writes(monkeypatch):
    assert launcher.is_writer() and launcher.world_size() == 1
    monkeypatch.setenv("RANK", "1")
    assert not launcher.is_writer()


def test_alone_a_rank_shares_nothing_and_waits_for_nobody(monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    monkeypatch.setenv("RANK", "1")
    with pytest.raises(RuntimeError, match="ends too early"), launcher.alone():
        assert launcher.world_size() == 1 and launcher.is_writer()
        assert launcher.spread(doubled, [1, 2, 3], chunk=2) == [[2, 4], [6]]
        launcher.wait_for_writer()
        raise RuntimeError("ends too early")
    assert launcher.world_size() == 2 and not launcher.is_writer()


def one_fails(place):
    """Work of which the second process cannot do its part."""
    from accelerate import PartialState

    PartialState._reset_state()  # a forked process inherits the parent's, which is of one process

    def part(chunk):
        if os.environ["RANK"] == "1":
            raise VideoContrastError("this clip cannot be read")
        return chunk

    try:
        launcher.spread(part, [1, 2, 3, 4], chunk=1)
    except VideoContrastError as error:
        (place / os.environ["RANK"]).write_text(str(error))
        raise SystemExit(1) from error


_AFTER_THREADS = """
import torch
from video_contrast.launcher import spread

def total(chunk):
    return float((torch.ones(600, 600) @ torch.ones(600, 600)).sum()) * sum(chunk)

torch.set_num_threads(2)
before = total([1])
assert spread(total, [1, 2, 3], num_proc=2, chunk=1) == [before, 2 * before, 3 * before]
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_workers_of_a_process_that_used_threads_come_to_an_end():
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    subprocess.run([sys.executable, "-c", _AFTER_THREADS], env=environment, check=True, timeout=120)


@pytest.mark.processes
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_where_one_process_fails_the_others_end_with_a_sentence(tmp_path):
    assert left_alone(2, one_fails, tmp_path) == [1, 1]
    ended = "another process of the run ended before its work was done: see the messages of the others."
    for rank, begin in enumerate((ended, "this clip cannot be read")):
        said = (tmp_path / str(rank)).read_text()
        assert said.startswith(begin) and "\n" not in said and "gloo" not in said


def test_a_name_that_is_no_file_and_no_data_set_is_said(tmp_path, capsys):
    command = ["build", "captions", "retrieval", "--captions", "nobody/no-such-set", "--output", str(tmp_path / "o")]
    assert main(command) == 1
    assert "nobody/no-such-set: no such folder or file here" in capsys.readouterr().err
    (tmp_path / "c.txt").write_text("a")
    with pytest.raises(UsageError, match="unknown kind of table"):
        next(read_table(tmp_path / "c.txt"))
    (tmp_path / "c.parquet").write_text("a")
    with pytest.raises(VideoContrastError, match=r"c\.parquet: cannot be read as parquet: "):
        next(read_table(tmp_path / "c.parquet"))
    with pytest.raises(UsageError, match="is a folder"):
        next(read_table(tmp_path))
