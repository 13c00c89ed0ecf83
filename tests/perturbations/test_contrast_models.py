"""Generators that fill a mask: T5 and its tuning, masked language models; batches."""
# ruff: noqa: F811  (fixtures are imported and then named as arguments)

import os

import numpy as np
import pytest
from contrast_models import (  # noqa: F401  fixtures
    CAPTIONS,
    TRAIN,
    WORDS,
    bert_folder,
    gpt2_folder,
    proposed_by,
    t5_folder,
    tuned_t5,
)
from processes import left_alone

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.perturbations.contrast.generators import MaskedSpan
from video_contrast.perturbations.contrast.generators.mlm import MaskedGenerator
from video_contrast.perturbations.contrast.generators.t5 import T5Generator
from video_contrast.perturbations.contrast.generators.t5_tuning import Tuning, tune_t5
from video_contrast.token_batches import by_length


def spans_of(captions):
    """The second and third verb word of "a man is singing on": "singing", and "singing on" where it stands last."""
    spans = []
    for text in captions:
        start = text.index(" is ") + 4
        head = start + len(text[start:].split()[0])
        spans.append(MaskedSpan(text, start, head + len(text[head:].split()[0]) + 1, start, head))
    return spans


def test_t5_tuned_on_captions_fills_masks_with_their_verbs(tuned_t5):
    folder, record = tuned_t5
    assert record["finished"] and record["captions_used"] == len(set(TRAIN))
    proposed = proposed_by(T5Generator(str(folder), beams=8, k=8))
    assert len(proposed.proposals) >= 2
    for item in (item for listed in proposed.proposals.values() for item in listed):
        assert item.new.split()[0].endswith("ing") and item.new.split()[0] != item.old.split()[0]
        assert item.caption.replace(item.old, item.new, 1) == item.text and item.generator == "t5"


def test_batched_t5_proposes_what_it_proposes_one_caption_at_a_time(tuned_t5):
    generator = T5Generator(str(tuned_t5[0]), beams=4, k=4)
    spans = spans_of(TRAIN[:12:3] + CAPTIONS)
    assert generator.propose(spans) == [generator.propose([span])[0] for span in spans]


def test_tuning_goes_on_where_it_stopped_and_ends_at_the_same_weights(t5_folder, tmp_path):
    from safetensors.numpy import load_file

    tuning = Tuning(str(t5_folder), epochs=1, batch_size=24)
    whole = tune_t5(TRAIN, tmp_path / "whole", tuning, save_every=4)
    first = tune_t5(TRAIN, tmp_path / "parts", tuning, save_every=4, stop_after=3)
    assert not first["finished"] and first["steps"] == 3
    second = tune_t5(TRAIN, tmp_path / "parts", tuning, save_every=4)
    assert second["finished"] and second["steps"] == whole["steps"]
    weights = [load_file(tmp_path / name / "model.safetensors") for name in ("whole", "parts")]
    for name, value in weights[0].items():
        np.testing.assert_allclose(weights[1][name], value, atol=1e-6)
    assert tune_t5(TRAIN, tmp_path / "parts", tuning) == second  # a finished run is not run again
    with pytest.raises(UsageError, match="other epochs"):
        tune_t5(TRAIN, tmp_path / "parts", Tuning(str(t5_folder), epochs=2, batch_size=24))


def tune_in_two(t5_folder, place):
    """Two steps in one of several processes, as on a machine without a GPU; notes how many met."""
    import torch
    from accelerate import PartialState
    from accelerate.state import AcceleratorState

    torch.set_num_threads(1)
    os.environ.pop("ACCELERATE_USE_CPU", None)
    # a forked process inherits the parent's, which is of one process
    AcceleratorState._reset_state(reset_partial_state=True)
    tuning = Tuning(str(t5_folder), epochs=1, batch_size=24)
    record = tune_t5(TRAIN, place / "tuned", tuning, save_every=2, stop_after=2)
    (place / f"met-{os.environ['RANK']}").write_text(f"{PartialState().num_processes} {record['steps']}")


@pytest.mark.processes
@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_two_processes_tune_one_model(t5_folder, tmp_path):
    assert left_alone(2, tune_in_two, t5_folder, tmp_path) == [0, 0]
    assert [(tmp_path / f"met-{rank}").read_text() for rank in range(2)] == ["2 2"] * 2


def test_tuning_without_a_verb_phrase_says_so(t5_folder, tmp_path):
    with pytest.raises(VideoContrastError, match="none of the 1 captions has a verb phrase"):
        tune_t5(["a red ball"], tmp_path / "t5", Tuning(str(t5_folder)))


def test_masked_model_proposes_whole_words_and_keeps_particles(bert_folder):
    spans = spans_of(CAPTIONS)
    proposed = MaskedGenerator(str(bert_folder), k=100).propose(spans)
    for span, words in zip(spans, proposed, strict=True):
        particle = span.caption[span.head_end : span.end].strip()
        assert {len(new.split()) for new in words} == {1, 2} and len(set(words)) == len(words)
        assert all(set(new.split()) <= set(WORDS) for new in words)
        assert {new.split()[1] for new in words if " " in new} == {particle}


def test_masked_model_proposes_objects(bert_folder):
    proposed = proposed_by(MaskedGenerator(str(bert_folder)), kind="object")
    items = [item for listed in proposed.proposals.values() for item in listed]
    assert all(item.old.split()[-1] in {"street", "stage", "door", "dog"} for item in items)
    assert all(item.new.split()[-1] in set(WORDS) for item in items)
    assert len(proposed.rejected) > 10  # most of the vocabulary is no thing


def test_batches_are_length_sorted_whole_and_within_the_budget():
    lengths = [int(n) for n in np.random.default_rng(0).integers(1, 40, 300)]
    batches = list(by_length(lengths, 128))
    assert sorted(n for batch in batches for n in batch) == list(range(300))
    assert all(len(batch) * max(lengths[n] for n in batch) <= 128 for batch in batches)
    assert [max(lengths[n] for n in batch) for batch in batches] == sorted(
        (max(lengths[n] for n in batch) for batch in batches), reverse=True
    )
    padded = sum(len(batch) * max(lengths[n] for n in batch) for batch in batches)
    assert padded < 1.15 * sum(lengths)


def test_t5_without_sentinels_is_refused(gpt2_folder, tmp_path):
    with pytest.raises(UsageError, match="k must be in"):
        T5Generator("any", beams=2, k=3)


def test_command_tune_t5_reads_a_column_and_leaves_a_model_for_the_generator(t5_folder, tmp_path, capsys):
    from video_contrast.cli import main

    table = tmp_path / "train.csv"
    table.write_text("id,caption\n" + "".join(f"{n},{text}\n" for n, text in enumerate(TRAIN[:30])), encoding="utf-8")
    given = ["--model", str(t5_folder), "--output", str(tmp_path / "t5")]
    assert main(["tune-t5", str(table), *given]) == 0
    assert "1 steps on 30 captions" in capsys.readouterr().out
    assert T5Generator(str(tmp_path / "t5"), beams=2, k=2, device="cpu").name == "t5"
    assert main(["tune-t5", str(table), *given, "--caption-column", "text"]) == 2
    assert "no column 'text'" in capsys.readouterr().err
    assert main(["tune-t5", str(table), *given, "--epochs", "3"]) == 2
    assert "holds a run with other epochs" in capsys.readouterr().err
    assert main(["tune-t5", str(tmp_path / "none.txt"), *given]) == 2
    assert "no such file" in capsys.readouterr().err
