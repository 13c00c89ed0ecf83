"""Generators that fill a mask: T5 and its tuning, masked language models; batches."""
# ruff: noqa: F811  (fixtures are imported and then named as arguments)

import os

import numpy as np
import pytest
from contrast_models import (  # noqa: F401  fixtures
    CAPTIONS,
    IDS,
    RULES,
    TRAIN,
    WORDS,
    bert_folder,
    contrasts_of,
    gpt2_folder,
    t5_folder,
    tuned_t5,
)
from processes import left_alone

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.perturbations.contrast import object as objects
from video_contrast.perturbations.contrast import verb
from video_contrast.perturbations.contrast.batches import by_length
from video_contrast.perturbations.contrast.generators.t5 import T5Generator
from video_contrast.perturbations.contrast.generators.t5_tuning import Tuning, tune_t5


def test_t5_tuned_on_captions_fills_masks_with_their_verbs(tuned_t5):
    folder, record = tuned_t5
    edits, reasons = contrasts_of("t5", RULES, generator_options={"model": str(folder), "beams": 8, "k": 8})
    assert record["finished"] and record["captions_used"] == len(set(TRAIN))
    assert all(edits)
    for caption, edit in zip(CAPTIONS, edits, strict=True):
        assert edit.new.split()[0].endswith("ing") and edit.new.split()[0] != edit.old.split()[0]
        assert caption.replace(edit.old, edit.new, 1) == edit.text
        assert edit.generator == "t5"
    proposed = reasons["candidates:proposed"]
    rejected = sum(n for name, n in reasons.items() if name.startswith("candidates:rejected:"))
    assert proposed == rejected + reasons["candidates:accepted"] > 3


def test_batched_t5_proposes_what_it_proposes_one_caption_at_a_time(tuned_t5):
    pipeline = verb.Pipeline(
        "t5",
        ["has_verb"],
        generator_options={"model": str(tuned_t5[0]), "beams": 4, "k": 4},
    )
    captions = TRAIN[:12:3] + CAPTIONS
    ids = [str(n) for n in range(len(captions))]
    together, _ = pipeline.run_many(captions, ids, n=4)
    alone = [pipeline.run_many([c], [i], n=4)[0][0] for c, i in zip(captions, ids, strict=True)]
    assert [[e.text for e in edits] for edits in together] == [[e.text for e in edits] for edits in alone]


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
    pipeline = verb.Pipeline("mlm", ["has_verb", "lemma"], generator_options={"model": str(bert_folder)})
    lists, reasons = pipeline.run_many(CAPTIONS * 4, [str(n) for n in range(12)], n=100)
    for caption, edits in zip(CAPTIONS * 4, lists, strict=True):
        for edit in edits:
            assert edit.text == caption.replace(edit.old, edit.new, 1)
            assert set(edit.new.split()) <= set(WORDS)
    longer = [edit for edits in lists for edit in edits if " " in edit.old]
    kept = [edit for edit in longer if " " in edit.new]
    assert kept and all(edit.old.split()[1:] == edit.new.split()[1:] for edit in kept)
    assert any(" " not in edit.new for edit in longer)
    assert reasons["candidates:rejected:has_verb"] > 0  # the vocabulary is mostly no verbs


def test_masked_model_proposes_objects(bert_folder):
    edits, _ = objects.contrasts(
        CAPTIONS, IDS, generator="mlm", constraints=["has_noun", "lemma"],
        generator_options={"model": str(bert_folder)},
    )  # fmt: skip
    assert any(edits)
    for edit in filter(None, edits):
        assert edit.old in {"street", "stage", "door", "dog"} and edit.new in set(WORDS) - {
            edit.old,
            "man",
            "woman",
            "girl",
        }


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
