"""Logs of other harnesses, in the formats that they write; their intervals by source video and their refusals."""

import json
import zipfile
from pathlib import Path

import numpy as np
import pandas
import pytest
from scipy.stats import t

from video_contrast.cli import main
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.metrics import cluster_standard_error, paired_difference
from video_contrast.metrics.paired import paired_power
from video_contrast.reports.compare import compare_logs, log_metrics, power_lines
from video_contrast.reports.foreign_logs import read_logs

VIDEOS, PER_VIDEO = 40, 5
SAMPLE = '{"doc_id": 0, "target": "A", "acc": 1}'


def hits(share, seed, spread=0.35):
    """Right and wrong answers whose rate differs from video to video."""
    rng = np.random.default_rng(seed)
    rates = np.clip(share + rng.uniform(-spread, spread, VIDEOS), 0, 1)
    return [int(rng.random() < rates[n // PER_VIDEO]) for n in range(VIDEOS * PER_VIDEO)]


def lmms(folder, model, values, task="videomme", date="20260806_102233"):
    """As lmms-eval 0.3 and later writes Video-MME with --log_samples."""
    path = folder / model / f"{date}_samples_{task}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = []
    for n, value in enumerate(values):
        answer, wrong = "ABCD"[n % 4], "ABCD"[(n + 1) % 4]
        predicted = answer if value else wrong
        lines.append(
            {
                "doc_id": n, "target": answer, "filtered_resps": [predicted], "token_counts": [{"output_tokens": 1}],
                "doc_hash": f"{n:064x}",
                "videomme_perception_score": {
                    "question_id": f"{n:03}-1", "duration": "short", "category": "Knowledge", "sub_category": "Law",
                    "task_category": "OCR Problems", "pred_answer": predicted, "answer": answer, "score": float(value),
                    "videoID": f"v{n // PER_VIDEO}",
                },
                "input": "Select the best answer ...",
            }
        )  # fmt: skip
    path.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines), encoding="utf-8")
    error = float(np.std(values, ddof=1) / len(values) ** 0.5)
    results = {
        "results": {
            task: {
                "alias": task,
                "videomme_perception_score,none": float(np.mean(values)),
                "videomme_perception_score_stderr,none": "N/A",
                "videomme_perception_score_stderr_clt,none": error,
            }
        }
    }
    path.with_name(f"{date}_results.json").write_text(json.dumps(results))
    return path


def workbook(path, rows):
    path.parent.mkdir(parents=True, exist_ok=True)
    pandas.DataFrame(rows).to_excel(path, index=False)
    return path


def judged(values):
    """Rows of VLMEvalKit's `MODEL_DATASET_score.xlsx` of Video-MME."""
    return [
        {"index": n, "video": f"v{n // PER_VIDEO}", "duration": "short", "question": "What & why?\nA. x\nB. y",
         "answer": "A", "prediction": "A" if value == 1 else "B", "score": value}
        for n, value in enumerate(values)
    ]  # fmt: skip


def inspect_log(values, model="openai/gpt-4o", version=2):
    """A log of inspect_ai, with the fields that its tests' logs have."""
    samples = [
        {"id": n, "epoch": 1, "input": "Which?", "choices": ["a", "b"], "target": "A",
         "scores": {"choice": {"value": "C" if value else "I", "answer": "A" if value else "B"}},
         "metadata": {"video_id": f"v{n // PER_VIDEO}"}}
        for n, value in enumerate(values)
    ]  # fmt: skip
    metrics = {
        "accuracy": {"name": "accuracy", "value": float(np.mean(values))},
        "stderr": {"name": "stderr", "value": 0.03},
    }
    return {"version": version, "status": "success", "eval": {"task": "tomato", "model": model, "dataset": {}},
            "results": {"scores": [{"name": "choice", "scorer": "choice", "metrics": metrics}]},
            "samples": samples}  # fmt: skip


def eval_zip(path, log):
    header = {key: value for key, value in log.items() if key != "samples"}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("_journal/start.json", json.dumps({"version": 2, "eval": log["eval"]}))
        archive.writestr("summaries.json", json.dumps(log["samples"]))
        archive.writestr("header.json", json.dumps(header))
    return path


def test_every_format_gives_the_same_items_and_videos(tmp_path):
    values = hits(0.6, 1)
    (tmp_path / "e.json").write_text(json.dumps(inspect_log(values)))
    table = tmp_path / "t" / "T_Video-MME_score.tsv"
    workbook(tmp_path / "m" / "m_Video-MME_score.xlsx", judged(values))
    table.parent.mkdir()
    lines = [[str(value) for value in row.values()] for row in judged(values)]
    quoted = [
        "\t".join('"' + cell.replace('"', '""') + '"' for cell in line) for line in [list(judged(values)[0]), *lines]
    ]
    table.write_text("\n".join(quoted) + "\n")
    for path in (
        lmms(tmp_path, "qwen", values),
        tmp_path / "m" / "m_Video-MME_score.xlsx",
        table,
        tmp_path / "e.json",
        eval_zip(tmp_path / "e.eval", inspect_log(values)),
    ):
        (log,) = read_logs(path)
        assert list(log.hits.values()) == values, path
        assert log.clusters == {str(n): f"v{n // PER_VIDEO}" for n in range(len(values))}, path
        assert len(log.choices) == len(values)
    assert read_logs(tmp_path / "qwen")[0].task == "videomme"
    assert (read_logs(table)[0].model, read_logs(tmp_path / "m")[0].task) == ("T", "Video-MME")


def test_intervals_by_video_stand_beside_those_of_independent_clips(tmp_path, capsys):
    values = hits(0.6, 2, spread=0.4)
    path = lmms(tmp_path, "qwen", values)
    numbers = log_metrics(read_logs(path))["qwen"]["videomme"]["conditions"]["clean"]
    videos = [n // PER_VIDEO for n in range(len(values))]
    width = numbers["accuracy_high"] - numbers["accuracy_low"]
    alone = numbers["accuracy_independent_high"] - numbers["accuracy_independent_low"]
    ratio = cluster_standard_error(values, videos) / cluster_standard_error(values)
    assert 1.1 < 0.97 * ratio < width / alone < 1.1 * ratio  # of few videos the error is uncertain too
    assert numbers["reported"] == pytest.approx(numbers["accuracy"])
    assert main(["table", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "over 40 source videos; if its clips were independent" in printed and "its own interval is" in printed


def test_the_figure_is_that_of_the_samples_where_no_letter_is_read(tmp_path):
    rows = [row | {"answer": "Yes", "prediction": "Yes"} for row in judged(hits(0.6, 2))]
    path = workbook(tmp_path / "m" / "m_yes_no_score.xlsx", rows)
    numbers = log_metrics(read_logs(path))["m"]["yes_no"]["conditions"]["clean"]
    assert numbers["accuracy"] == pytest.approx(np.mean(hits(0.6, 2)))


def test_a_figure_in_percent_is_no_conflict_with_its_samples(tmp_path, capsys):
    """Video-MME aggregates to percent; the standard error beside it is that of its samples."""
    values = hits(0.6, 2)
    path = lmms(tmp_path, "qwen", values)
    results = path.with_name("20260806_102233_results.json")
    entry = json.loads(results.read_text())
    entry["results"]["videomme"]["videomme_perception_score,none"] *= 100
    results.write_text(json.dumps(entry))
    assert main(["table", str(path)]) == 0
    printed = capsys.readouterr().out
    assert "its own figure" not in printed
    low, high = (np.mean(values) + sign * 1.96 * np.std(values, ddof=1) / len(values) ** 0.5 for sign in (-1, 1))
    assert f"its own interval is [{low:.3f}, {high:.3f}]" in printed


def test_figures_of_two_harnesses_side_by_side_are_said_to_be_of_two_measures(tmp_path, capsys):
    first = str(lmms(tmp_path, "qwen", hits(0.5, 3)))
    second = str(workbook(tmp_path / "m" / "m_Video-MME_score.xlsx", judged(hits(0.7, 4))))
    for logs, several in (([first], False), ([first, second], True)):
        assert main(["table", *logs]) == 0
        assert ("figures of VLMEvalKit, lmms-eval: each asks" in capsys.readouterr().out) == several


def test_compare_pairs_logs_of_two_harnesses(tmp_path, capsys):
    first, second = hits(0.5, 3), hits(0.7, 4)
    a = lmms(tmp_path, "qwen", first)
    b = workbook(tmp_path / "m" / "m_Video-MME_score.xlsx", judged(second))
    (row,) = compare_logs(read_logs(a), read_logs(b))
    videos = [n // PER_VIDEO for n in range(len(first))]
    expected = paired_difference(first, second, videos)
    for key in ("difference", "low", "high", "p_value"):  # the videos are summed in another order
        assert row[key] == pytest.approx(expected[key], rel=1e-12)
    assert row["independent_p_value"] == paired_difference(first, second)["p_value"] != row["p_value"]
    assert main(["compare", str(a), str(b), "--points", "2"]) == 0
    printed = capsys.readouterr().out
    assert "as if clips were independent" in printed and "source videos" in printed and "you need" in printed
    assert main(["compare", "runs/a", "runs/b", "--metric", "score"]) == 2  # no logs
    assert "neither of these is one" in capsys.readouterr().err


def test_holm_corrects_over_all_tasks_of_a_folder(tmp_path):
    for task, seed in (("one", 5), ("two", 6), ("three", 7)):
        lmms(tmp_path, "a", hits(0.5, seed), task)
        lmms(tmp_path, "b", hits(0.6, seed + 10), task)
    rows = compare_logs(read_logs(tmp_path / "a"), read_logs(tmp_path / "b"))
    assert [row["config"] for row in rows] == ["one", "three", "two"]
    least = min(rows, key=lambda row: row["p_value"])
    assert least["p_holm"] == pytest.approx(min(1, 3 * least["p_value"]))


def test_where_videos_differ_more_items_do_not_help(tmp_path):
    """Answers of one video are all alike: its items are worth one."""
    first = [0] * (VIDEOS * PER_VIDEO)
    second = [int(n // PER_VIDEO % 4 == 0) for n in range(len(first))]
    a, b = lmms(tmp_path, "a", first), lmms(tmp_path, "b", second)
    rows = compare_logs(read_logs(a), read_logs(b), points=5)
    facts = rows[0]["power"]
    variance = np.var([n % 4 == 0 for n in range(VIDEOS)], ddof=1)
    needed = [n for n in range(500, 1000) if (t(n - 1).ppf(0.975) + t(n - 1).ppf(0.8)) ** 2 * variance / n <= 0.05**2]
    assert facts["clusters_needed"] == needed[0] > 500
    assert "source videos, not more items" in " ".join(power_lines(rows))
    independent = paired_power(np.array(second) - np.array(first), difference=0.05)
    assert independent["clusters_needed"] == pytest.approx(facts["clusters_needed"], rel=0.1)  # items, not videos


def test_power_of_a_pilot_holds_in_a_simulation():
    """A set of the size that the pilot's variance asks for shows the difference in about 80 % of the draws."""
    rng = np.random.default_rng(0)
    videos = np.repeat(np.arange(2000), 3)

    def draw(n):
        shift = np.repeat(rng.normal(0.1, 0.3, n), 3)
        return np.clip(np.rint(shift + rng.normal(0, 0.5, 3 * n)), -1, 1)

    change = draw(2000)
    facts = paired_power(change, videos, difference=float(change.mean()))
    n, shown = facts["clusters_needed"], 0
    for _ in range(400):
        sample, of = draw(n), np.repeat(np.arange(n), 3)
        shown += abs(sample.mean()) > 1.96 * cluster_standard_error(sample, of)
    assert 0.74 < shown / 400 < 0.87


def mteb_result(**changed):
    return {"dataset_revision": "x", "task_name": "NExTQAVideoCentricQA", "mteb_version": "2.1.0",
            "scores": {"test": [{"accuracy": 0.41, "main_score": 0.41, "hf_subset": "default", "languages": []}]},
            "evaluation_time": 3.1, "kg_co2_emissions": None} | changed  # fmt: skip


def test_a_result_of_mteb_is_shown_without_interval_and_not_compared(tmp_path, capsys):
    path = tmp_path / "org__model" / "rev" / "NExTQAVideoCentricQA.json"
    path.parent.mkdir(parents=True)
    path.write_text(json.dumps(mteb_result()))
    (log,) = read_logs(path)
    assert (log.model, log.task, log.mean, log.hits) == ("org/model", "NExTQAVideoCentricQA", 0.41, {})
    assert main(["table", str(path)]) == 0
    assert "MTEB writes no samples" in capsys.readouterr().out
    assert main(["compare", str(path), str(path)]) == 2
    assert "holds no samples (MTEB)" in capsys.readouterr().err


def test_samples_whose_metric_holds_answers_alone_are_compared_with_the_key(tmp_path):
    path = tmp_path / "m" / "20260101_000000_samples_egoschema.jsonl"
    path.parent.mkdir()
    rows = [
        {"doc_id": n, "target": "1", "filtered_resps": ["x"], "doc_hash": "h", "submission": {f"v{n}": n % 2},
         "score": {"pred": n % 2, "ground_truth": "1"}}
        for n in range(6)
    ]  # fmt: skip
    path.write_text("\n".join(map(json.dumps, rows)))
    assert list(read_logs(path)[0].hits.values()) == [0, 1, 0, 1, 0, 1]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a_samples_t.jsonl", f"{SAMPLE}\n{SAMPLE}", "line 2: the id '0' stands in the log twice"),
        ("a_samples_t.jsonl", SAMPLE + '\n{"doc_id": 1, "acc": 1}', "line 2 is no sample"),
        ("a_samples_t.jsonl", SAMPLE + '\n{"doc_id": 1, "target"', "line 2 is not JSON"),
        ("a_samples_t.jsonl", SAMPLE.replace("1}", '{"pred": "A"}}'), "line 1 holds no score"),
        ("a_samples_t.jsonl", "", "holds no rows"),
        ("t.json", json.dumps({"logs": [], "model_configs": {}}), "up to version 0.2"),
        ("t.json", json.dumps(inspect_log([1, 0], version=1)), "in version 1; this version reads 2"),
        ("t.json", json.dumps({**inspect_log([1]), "samples": None}), "holds no samples"),
        ("t.json", json.dumps(inspect_log([1]) | {"samples": [{"id": 1}]}), "none of its 1 samples was scored"),
        ("t.json", json.dumps(mteb_result(scores=None)), "before version 1.11"),
        ("t.json", json.dumps({"mteb_model_meta": {}, "default": {}}), "predictions of MTEB without their key"),
        ("t.tsv", "index\tprediction\n1\tA\n", "has not judged"),
        ("t.tsv", "index\tprediction\tscore\n1\tA\t1\n2\tB\tnone\n", "row 3: the score is 'none'"),
        ("t.json", json.dumps([{"x": 1, "y": 2}]), "is no log of lmms-eval"),
        ("t.xlsx", "no zip", "cannot be read as an xlsx workbook"),
        ("t.eval", "no zip", "is no zip file"),
    ],
)  # fmt: skip
def test_a_bad_log_is_refused_with_file_and_row(tmp_path, capsys, name, content, message):
    path = tmp_path / name
    path.write_text(content)
    with pytest.raises(VideoContrastError, match="^" + str(path)) as raised:
        read_logs(path)
    assert message in str(raised.value)
    assert main(["table", str(path)]) in (1, 2) and message in " ".join(capsys.readouterr().err.split())


def test_results_of_lmms_eval_without_their_samples_say_how_to_get_them(tmp_path, capsys):
    results = {"results": {"videomme": {"videomme_perception_score,none": 55.0}}, "n-samples": {}, "config": {}}
    path = tmp_path / "model" / "20260806_102233_results.json"
    path.parent.mkdir()
    path.write_text(json.dumps(results), encoding="utf-8")
    for given in (path, tmp_path):
        assert main(["table", str(given)]) != 0
        assert "results.json: lmms-eval's results without samples; run it with --log_samples" in capsys.readouterr().err
    lmms(tmp_path, "model", hits(0.6, 1))
    assert len(read_logs(tmp_path)) == 1  # beside samples they are not needed


def test_a_member_that_leaves_the_root_of_an_eval_is_refused(tmp_path):
    path = tmp_path / "t.eval"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../header.json", "{}")
    with pytest.raises(VideoContrastError, match=r"'\.\./header.json' leaves the root"):
        read_logs(path)


def test_logs_of_different_sets_are_not_compared(tmp_path):
    a = read_logs(lmms(tmp_path, "a", hits(0.5, 1)))
    rows = [row | {"video": f"other{row['index']}"} for row in judged(hits(0.5, 2))]
    b = read_logs(workbook(tmp_path / "b" / "b_Video-MME_score.xlsx", rows))
    with pytest.raises(VideoContrastError, match="different sets"):
        compare_logs(a, b)
    c = read_logs(workbook(tmp_path / "c" / "c_x_score.xlsx", [row | {"index": f"q{row['index']}"} for row in rows]))
    with pytest.raises(VideoContrastError, match="no item in common"):
        compare_logs(a, c)
    with pytest.raises(UsageError, match="unknown task of both logs: 'x'"):
        compare_logs(a, a, ["x"])
    with pytest.raises(UsageError, match="no such file"):
        read_logs(Path("nowhere"))


def test_letters_are_read_by_our_rules_too_and_the_differing_items_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A harness that takes the first letter anywhere for the answer is right about "A man runs"; we read no letter."""
    said = ["A", "A man runs", "The answer is (B).", "It is B"]
    lmms = tmp_path / "lmms" / "some-model" / "20260806_samples_task.jsonl"
    lmms.parent.mkdir(parents=True)
    keys = ["A", "A", "B", "A"]
    rows = [
        {"doc_id": n, "target": key, "resps": [[text]], "filtered_resps": [text], "acc": right}
        for n, (text, key, right) in enumerate(zip(said, keys, (1, 1, 1, 0), strict=True))
    ]
    lmms.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    [log] = read_logs(lmms)
    assert log.reread == {"0": 1.0, "1": 0.0, "2": 1.0, "3": 0.0} and log.read_otherwise == ["1"]
    assert main(["table", str(lmms)]) == 0
    assert "letters read by our rules give 0.5000 of 4 items; 1 item read otherwise: 1 (" in " ".join(
        capsys.readouterr().out.split()
    )
    judged = tmp_path / "some-model_Set_score.tsv"
    lines = ["index\tprediction\tanswer\tscore"]
    lines += [f"{n}\t{text}\t{key}\t1" for n, (text, key) in enumerate(zip(said, keys, strict=True))]
    judged.write_text("\n".join(lines) + "\n", encoding="utf-8")
    [log] = read_logs(judged)
    assert log.read_otherwise == ["1", "3"]
