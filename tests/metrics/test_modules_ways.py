"""All six `evaluate` modules in all ways: batches, combined, several processes, kinds of input, cards, bad input."""

import doctest
import multiprocessing
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import video_contrast
from video_contrast.metrics import evaluate_modules as modules

NAN, INF = float("nan"), float("inf")
NAMES = list(modules.MODULES)
N = 12


@pytest.fixture(scope="module", autouse=True)
def _bare_names() -> Iterator[None]:
    with video_contrast.register():
        yield


@pytest.fixture(scope="module")
def loaded(evaluate: Any) -> dict[str, Any]:
    """Every module, loaded by its bare name and used by all tests: what one leaves behind shows in the next."""
    return {name: evaluate.load(name, module_type=modules.MODULES[name].kind) for name in NAMES}


@pytest.fixture(scope="module")
def in_memory(evaluate: Any) -> dict[str, Any]:
    """Without files: `evaluate` waits a second for the lock of the file that a failed call leaves behind."""
    kinds = {name: modules.MODULES[name].kind for name in NAMES}
    return {name: evaluate.load(name, module_type=kind, keep_in_memory=True) for name, kind in kinds.items()}


def inputs_of(name: str) -> dict[str, Any]:
    """Columns of twelve rows, all optional ones among them."""
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 8, (N, 3)) / 4
    labels = rng.integers(0, 3, N)
    videos = [f"video{i // 2}" for i in range(N)]
    captions = ["a man runs fast down the hill", "two dogs play in the deep snow", "she sings"] * 4
    return {
        "video_contrast_mc": {
            "predictions": scores,
            "references": labels,
            "kinds": [np.roll(["true", "verb_lm", "random"], label).tolist() for label in labels],
            "clusters": videos,
        },
        "video_text_retrieval": {
            "predictions": rng.integers(0, 8, (N, N)) / 4,
            "references": [[i] for i in range(N)],
            "clusters": videos,
        },
        "video_text_robustness": {
            "predictions": rng.random(N) / 2,
            "references": 0.5 + rng.random(N) / 2,
            "perturbations": ["jpeg", "drop_first"] * 6,
            "severities": [1, None] * 6,
            "modalities": ["video", "text"] * 6,
            "clusters": videos,
        },
        "video_contrast_pairs": {
            "predictions": rng.integers(0, 8, (N, 2, 2)) / 4,
            "clusters": videos,
        },
        "video_rcad": {
            "predictions": scores,
            "references": [0] * N,
            "columns": [[0, 1, 2]] * N,
            "clusters": videos,
        },
        "caption_shift": {
            "data": [text if i % 3 else "[UNK] " + text for i, text in enumerate(captions)],
            "references": captions,
            "clusters": videos,
        },
        "paired_contrast": {
            "predictions1": scores,
            "predictions2": rng.integers(0, 8, (N, 3)) / 4,
            "references": rng.integers(0, 3, N),
            "clusters": videos,
        },
    }[name]


def lists(inputs: dict[str, Any]) -> dict[str, Any]:
    return {key: value.tolist() if hasattr(value, "tolist") else value for key, value in inputs.items()}


def part_of(inputs: dict[str, Any], rows: slice) -> dict[str, Any]:
    return {key: value[rows] for key, value in inputs.items()}


@pytest.mark.parametrize("name", NAMES)
def test_batches_of_any_size_give_what_one_call_gives(name: str, loaded: dict[str, Any]) -> None:
    module = loaded[name]
    inputs = inputs_of(name)
    whole = module.compute(**inputs)
    assert any(key.endswith("_low") for key in whole)  # there are clusters, so there are intervals
    for start, stop in ((0, 1), (1, 8), (8, N)):
        module.add_batch(**part_of(inputs, slice(start, stop)))
    assert module.compute() == whole
    module.add_batch(**part_of(inputs, slice(0, 5)))
    assert module.compute(**part_of(inputs, slice(5, N))) == whole  # the last batch with the call


@pytest.mark.parametrize("name", NAMES)
def test_lists_arrays_and_tensors_are_one(name: str, loaded: dict[str, Any]) -> None:
    import torch

    module = loaded[name]
    inputs = inputs_of(name)
    tensors = {key: torch.as_tensor(value) if hasattr(value, "dtype") else value for key, value in inputs.items()}
    expected = module.compute(**lists(inputs))
    assert module.compute(**inputs) == expected
    assert module.compute(**tensors) == expected


def test_examples_may_be_added_one_by_one_under_either_name(loaded: dict[str, Any]) -> None:
    module = loaded["video_contrast_mc"]
    module.add(predictions=[0.9, 0.1], references=0, clusters=7)
    module.add(prediction=[0.9, 0.1], reference=1, clusters=7)
    assert module.compute()["accuracy"] == 0.5
    with pytest.raises(ValueError, match=r"references: item 0 is 0.5, not a whole number"):
        module.add(prediction=[0.9, 0.1], reference=0.5)


def test_columns_of_a_data_frame_are_taken_whatever_its_index(loaded: dict[str, Any]) -> None:
    import pandas as pd

    frame = pd.DataFrame({"scores": [[0.9, 0.1], [0.2, 0.4]], "label": [0, 1]}, index=[7, 3])
    compute = loaded["video_contrast_mc"].compute
    assert compute(predictions=frame.scores, references=frame.label)["accuracy"] == 1
    assert compute(predictions=pd.DataFrame(frame.scores.tolist()), references=frame.label)["accuracy"] == 1


def test_columns_may_have_gaps_as_data_frames_do(loaded: dict[str, Any]) -> None:
    robustness = loaded["video_text_robustness"]
    inputs = {"predictions": [0.1, 0.2], "references": [0.3, 0.3], "perturbations": ["jpeg", "swap"]}
    gaps = {"severities": [1.0, NAN], "categories": ["Noise", NAN]}
    expected = robustness.compute(**inputs, severities=[1, None], categories=["Noise", None])
    assert robustness.compute(**inputs, **gaps) == expected
    assert list(expected["by_category"]) == ["Noise"]


def test_modules_of_the_same_inputs_are_combined(evaluate: Any, loaded: dict[str, Any]) -> None:
    inputs = inputs_of("video_contrast_mc")
    combined = evaluate.combine(["video_contrast_mc", "video_rcad"])
    pairs = {"predictions": inputs["predictions"], "references": inputs["references"]}
    for rows in (slice(0, 7), slice(7, N)):
        combined.add_batch(**part_of(pairs, rows))
    found = combined.compute()
    for name in ("video_contrast_mc", "video_rcad"):
        for key, value in loaded[name].compute(**pairs).items():
            assert found[key if key in found and found[key] == value else f"{name}_{key}"] == value, (name, key)


@pytest.mark.parametrize("name", ["video_text_retrieval", "video_text_robustness"])
def test_a_module_is_combined_under_a_name_of_ones_own(name: str, evaluate: Any, loaded: dict[str, Any]) -> None:
    """Also with itself on the same inputs: every figure once a name, prefixed where both have it."""
    combined = evaluate.combine({"first": evaluate.load(name), "second": evaluate.load(name)}, force_prefix=True)
    inputs = inputs_of(name)
    found = combined.compute(**inputs)
    expected = loaded[name].compute(**inputs)
    assert found == {f"{prefix}_{key}": value for prefix in ("first", "second") for key, value in expected.items()}


def _half(name: str, process_id: int, cache: str, results: Any) -> None:
    import evaluate

    module = evaluate.load(
        video_contrast.metric_path(name), num_process=2, process_id=process_id, experiment_id="halves", cache_dir=cache
    )
    # Uneven shares, and every optional column.
    module.add_batch(**part_of(inputs_of(name), slice(5, N) if process_id else slice(0, 5)))
    results.put((process_id, module.compute()))


@pytest.mark.processes
@pytest.mark.parametrize("name", NAMES)
def test_two_processes_give_one_result_on_the_first(name: str, loaded: dict[str, Any], tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")  # `evaluate` is imported: a fork does not import it again
    results = context.Queue()
    workers = [context.Process(target=_half, args=(name, i, str(tmp_path), results)) for i in (0, 1)]
    for worker in workers:
        worker.start()
    found = dict(results.get(timeout=120) for _ in workers)
    for worker in workers:
        worker.join(timeout=60)
    assert found[1] is None
    assert found[0] == loaded[name].compute(**inputs_of(name))


@pytest.mark.parametrize("name", NAMES)
def test_the_examples_of_card_and_docstring_print_what_they_say(
    name: str, evaluate: Any, loaded: dict[str, Any]
) -> None:
    card = (modules.module(name).folder / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", card, re.S)
    assert blocks
    module = loaded[name]
    for place, text in (("card", "\n".join(blocks)), ("docstring", module.inputs_description)):
        test = doctest.DocTestParser().get_doctest(text, {"evaluate": evaluate}, f"{name} {place}", None, 0)
        assert test.examples
        said: list[str] = []
        doctest.DocTestRunner(verbose=False).run(test, out=said.append)
        assert not said, "".join(said)


PAIR = [[0.1, 0.2]] * 2


@pytest.mark.parametrize(
    ("name", "inputs", "message"),
    [
        # What the modules check themselves ...
        ("video_contrast_mc", {"predictions": PAIR, "references": [0, 0.5]}, "references: item 1 is 0.5, not a whole"),
        ("video_contrast_mc", {"predictions": PAIR, "references": [0, "b"]}, "references: item 1 is 'b', not a whole"),
        ("video_contrast_mc", {"predictions": PAIR, "references": [0, 0], "clusters": [1, NAN]}, "item 1 has none"),
        ("video_contrast_mc", {"predictions": PAIR, "references": [0, 0], "clusters": ["a", None]}, "item 1 has none"),
        ("video_contrast_mc", {"references": [0]}, "the column 'predictions' is missing"),
        ("video_text_retrieval", {"predictions": PAIR, "references": [0, 1]}, "references: item 0 is 0, not a list"),
        ("video_text_retrieval", {"predictions": PAIR, "references": [[0], [1.5]]}, "item 1 holds 1.5, not a whole"),
        ("video_text_retrieval", {"predictions": PAIR, "references": [[0], []]}, "caption 1 belongs to no video"),
        ("video_text_retrieval", {"predictions": PAIR, "references": [[0], [2]]}, "video 1 names caption 2"),
        ("video_text_robustness", {"predictions": [0.1], "references": [0.5]}, "'perturbations' is missing"),
        ("caption_shift", {"data": ["a man"], "references": ["a man"] * 2}, r"data \(1\) and references \(2\)"),
        # ... and, one each, what their functions refuse (`test_bad_input.py` has the others).
        ("video_contrast_mc", {"predictions": [[0.1, NAN]], "references": [0]}, "item 0, candidate 1 is nan"),
        ("video_contrast_mc", {"predictions": [[2**53 + 1, 2**53]], "references": [0]}, r"9007199254740993 is beyond"),
        ("video_contrast_pairs", {"predictions": [[[0.1, NAN], [0.2, 0.3]]]}, "pair 0"),
        ("video_text_retrieval", {"predictions": [[INF]], "references": [[0]], "ks": [1]}, "video 0 and caption 0"),
        (
            "video_text_robustness",
            {"predictions": [0.1, 1.5], "references": [0.5] * 2, "perturbations": ["a", "b"]},
            r"perturbed score \(position 1\) is 1.5",
        ),
        ("video_rcad", {"predictions": [[0.1, INF, 0]], "references": [0]}, "item 0, candidate 1 is inf"),
        ("caption_shift", {"data": ["a man", None], "references": ["a man"] * 2}, "perturbed caption 1 is None"),
        (
            "paired_contrast",
            {"predictions1": PAIR, "predictions2": [[0.1, 0.2], [NAN, 0]], "references": [0, 0]},
            "second: item 1, candidate 0 is nan",
        ),
        ("video_contrast_mc", {"predictions": [], "references": []}, "empty"),
        ("video_text_retrieval", {"predictions": [], "references": []}, "empty"),
        ("video_text_robustness", {"predictions": [], "references": [], "perturbations": []}, "empty"),
        ("video_rcad", {"predictions": [], "references": []}, "empty"),
        ("caption_shift", {"data": [], "references": []}, "no captions"),
        ("paired_contrast", {"predictions1": [], "predictions2": [], "references": []}, "empty"),
    ],
)
def test_bad_input_is_named_and_the_module_is_as_good_as_new(
    name: str, inputs: dict[str, Any], message: str, in_memory: dict[str, Any]
) -> None:
    module = in_memory[name]
    with pytest.raises(ValueError, match=message):
        module.compute(**inputs)
    assert module.compute(**module.example)


@pytest.mark.parametrize("name", NAMES)
def test_one_row_has_figures_and_no_interval(name: str, loaded: dict[str, Any]) -> None:
    module = loaded[name]
    inputs = part_of(inputs_of(name), slice(0, 1))
    if name == "video_text_retrieval":
        inputs |= {"predictions": [[0.3]], "ks": [1]}
    found = module.compute(**inputs)
    ends = [value for key, value in found.items() if key.endswith(("_low", "_high"))]
    assert ends
    assert set(ends) == {None}
