"""The leaderboard: figures from scores, ranks that tests leave open, and runs that are refused."""

import json
import shutil
from collections.abc import Callable
from dataclasses import asdict
from itertools import permutations
from pathlib import Path
from typing import Any

import fabricate
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import runner_set

import video_contrast
from video_contrast.builders import dataset_dir
from video_contrast.cli import main
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import read_json, write_json
from video_contrast.golden import CERTIFICATES
from video_contrast.metrics import holm, sign_flip
from video_contrast.reports.leaderboard import board_columns, check_runs, leaderboard, standings
from video_contrast.reports.runs import ItemHits, load_runs
from video_contrast.runner.views import Sampling
from video_contrast.storage import RunFolder

CONFIGS = ["random_mc", "verb_mc", "retrieval"]
HOSTILE = "<script>window.hacked = true</script>"


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("leaderboard")
    fabricate.make_set(root / "set", 60)
    for name, skill in (("good", 3.0), ("same", 3.0), ("poor", 0.0)):
        model = f"{name}{HOSTILE}" if name == "poor" else name
        conditions = {"visual:jpeg@1": skill, "visual:jpeg@5": 0.5, "text:keyboard": 1.0}
        fabricate.make_run(root / "runs" / name, root / "set", CONFIGS, model=model, skill=skill, conditions=conditions)
    return root


def test_the_site_holds_figures_ranks_links_and_no_markup_of_others(world: Path) -> None:
    page = leaderboard([world / "runs"], world).read_text(encoding="utf-8")
    assert HOSTILE not in page and "&lt;script&gt;window.hacked" in page
    assert 'href="runs/good/RESULTS.md"' in page and "not checked" in page
    content = read_json(world / "leaderboard.json")
    assert set(content) == {"random", "verb lm", "text to video R@1"}
    for column, config, key in (("random", "random_mc", "accuracy"), ("verb lm", "verb_mc", "accuracy_verb_lm")):
        numbers = RunFolder(world / "runs/good").metrics["configs"][config]["conditions"]["clean"]
        assert content[column]["good"]["accuracy"] == pytest.approx(numbers[key])
        assert content[column]["good"]["low"] == pytest.approx(numbers[f"{key}_low"])
    verb = content["verb lm"]
    assert [(verb[name]["first"], verb[name]["last"], verb[name]["group"]) for name in ("good", "same")] == [
        (1, 2, "A"), (1, 2, "A"),
    ]  # fmt: skip
    assert next(own for name, own in verb.items() if name.startswith("poor"))["first"] == 3
    assert "sdk: static" in (world / "README.md").read_text(encoding="utf-8")


def test_runs_elsewhere_are_linked_by_an_address_alone(world: Path, tmp_path: Path) -> None:
    assert 'href="runs' not in leaderboard([world / "runs"], tmp_path).read_text(encoding="utf-8")
    page = leaderboard([world / "runs"], tmp_path, link="https://example.org/runs/").read_text(encoding="utf-8")
    assert 'href="https://example.org/runs/good"' in page
    with pytest.raises(UsageError, match="no web address"):
        leaderboard([world / "runs"], tmp_path, link="javascript:alert(1)")


def naive_places(models: dict[str, ItemHits]) -> dict[str, tuple[int, int]]:
    """Ranks from the definition: all pairs, Holm's correction, how many are better and how many are not worse."""
    pairs = [(a, b) for a, b in permutations(models, 2) if a < b]
    value = {model: dict(zip(own.names.to_pylist(), own.values, strict=True)) for model, own in models.items()}
    changes = [np.array([value[b][item] - value[a][item] for item in value[a]]) for a, b in pairs]
    clusters = next(iter(models.values())).clusters.to_pylist()
    adjusted = holm([sign_flip(change, clusters) for change in changes])
    better = {model: set() for model in models}  # type: dict[str, set[str]]
    for (a, b), change, p in zip(pairs, changes, adjusted, strict=True):
        if p < 0.05:
            winner, loser = (b, a) if change.sum() > 0 else (a, b)
            better[loser].add(winner)
    return {
        model: (1 + len(better[model]), len(models) - sum(model in own for own in better.values())) for model in models
    }


@pytest.mark.parametrize("seed", range(8))
def test_ranks_are_those_of_the_definition_and_groups_are_apart(seed: int) -> None:
    rng = np.random.default_rng(seed)
    models: dict[str, ItemHits] = {
        f"m{n}": ItemHits.of([f"i{k}" for k in range(60)], rng.random(60) < skill, [f"v{k // 2}" for k in range(60)])
        for n, skill in enumerate(rng.uniform(0.1, 0.9, 6))
    }
    rows = standings(models)
    assert {model: (own.first, own.last) for model, own in rows.items()} == naive_places(models)
    assert list(rows) == sorted(rows, key=lambda model: (-rows[model].accuracy, model))
    for a in rows.values():
        for b in rows.values():
            assert a.group == b.group or a.last < b.first or b.last < a.first


def forge_figure(run: RunFolder) -> None:
    metrics = read_json(run.path / "metrics.json")
    metrics["configs"]["verb_mc"]["conditions"]["clean"]["accuracy"] += 0.05
    write_json(run.path / "metrics.json", metrics)


def forge_gamma(run: RunFolder) -> None:
    metrics = read_json(run.path / "metrics.json")
    metrics["configs"]["verb_mc"]["robustness"]["accuracy"]["visual"]["gamma_relative"] = 0.99
    write_json(run.path / "metrics.json", metrics)


def edit_rows(run: RunFolder, change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]]) -> None:
    table = pq.read_table(run.path / "scores.parquet")
    pq.write_table(pa.Table.from_pylist(change(table.to_pylist()), schema=table.schema), run.path / "scores.parquet")


def forge_label(run: RunFolder) -> None:
    edit_rows(run, lambda rows: [{**row, "label": int(np.argmax(row["scores"]))} for row in rows])


def drop_wrong_items(run: RunFolder) -> None:
    edit_rows(run, lambda rows: [row for row in rows if np.argmax(row["scores"]) == row["label"]])


def repeat_item(run: RunFolder) -> None:
    edit_rows(run, lambda rows: [*rows, rows[0]])


def move_columns(run: RunFolder) -> None:
    path = run.path / "retrieval/retrieval/clean.npy"
    matrix = np.load(path)
    np.save(path, matrix + 100 * np.eye(*matrix.shape, dtype=np.float32)[:, ::-1])


def drop_matrix(run: RunFolder) -> None:
    (run.path / "retrieval/retrieval/clean.npy").unlink()


@pytest.mark.parametrize(
    ("forge", "says"),
    [
        (forge_figure, "verb_mc, clean: accuracy is"), (forge_gamma, "robustness of accuracy"),
        (forge_label, "its label"), (drop_wrong_items, "has no score, and its clip is not among the missing"),
        (repeat_item, "holds an item twice"), (move_columns, "t2v_R@1 is"), (drop_matrix, "similarities are missing"),
    ],
)  # fmt: skip
def test_a_run_that_its_scores_or_its_set_deny_is_refused(
    world: Path, tmp_path: Path, forge: Callable[[RunFolder], None], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = fabricate.make_run(
        tmp_path / "run", world / "set", CONFIGS, model="forged", conditions={"visual:jpeg@3": 0.7}
    )
    assert check_runs([run]) == 1
    forge(RunFolder(run))
    with pytest.raises(VideoContrastError, match=says):
        check_runs([run])
    assert main(["leaderboard", str(run), "--check", "--output", str(tmp_path / "site")]) == 1
    assert "refused" in capsys.readouterr().err and not (tmp_path / "site").exists()


def test_a_damaged_matrix_is_named(world: Path, tmp_path: Path) -> None:
    run = fabricate.make_run(tmp_path / "run", world / "set", CONFIGS)
    path = run / "retrieval/retrieval/clean.npy"
    path.write_bytes(path.read_bytes()[:50])
    with pytest.raises(VideoContrastError, match=r"clean\.npy is damaged"):
        check_runs([run])


def test_many_contradictions_are_counted_and_the_first_are_named(world: Path, tmp_path: Path) -> None:
    run = fabricate.make_run(tmp_path / "run", world / "set", ["retrieval"])
    path = run / "retrieval/retrieval/clean.npy"
    np.save(path, -np.load(path))
    with pytest.raises(VideoContrastError, match=r"and \d+ more$") as error:
        check_runs([run])
    assert len(str(error.value).splitlines()) == 10


def test_a_readme_of_another_kind_is_kept(world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "README.md").write_text("# My project\n")
    assert main(["leaderboard", str(world / "runs"), "--output", str(tmp_path)]) == 2
    assert "README.md is not of a static Space" in capsys.readouterr().err
    assert [path.name for path in tmp_path.iterdir()] == ["README.md"]


def test_a_run_of_another_set_is_refused(world: Path, tmp_path: Path) -> None:
    other = fabricate.make_set(tmp_path / "set", 50, configs=["verb_mc"])
    run = fabricate.make_run(tmp_path / "run", world / "set", ["verb_mc"])
    with pytest.raises(VideoContrastError, match="fingerprint"):
        check_runs([run], dataset=other)


def test_the_command_checks_and_writes(world: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = ["leaderboard", str(world / "runs"), "--check", "--output", str(tmp_path), "--json"]
    assert main(arguments) == 0
    assert json.loads(capsys.readouterr().out) == {"checked": 3, "page": str(tmp_path / "index.html")}
    assert "checked against their set" in (tmp_path / "index.html").read_text(encoding="utf-8")
    assert main(["leaderboard", str(world / "runs")]) == 2


def test_columns_of_one_kind_in_two_configs_have_names_of_their_own(world: Path, tmp_path: Path) -> None:
    rows = fabricate.choice_rows(12)
    from video_contrast.builders.registry import BuiltSet
    from video_contrast.builders.writing import write_set

    folder = write_set(BuiltSet("two", {"a_mc": {"test": rows}, "b_mc": {"test": rows[:6]}}), tmp_path / "set")
    fabricate.make_run(tmp_path / "run", folder, ["a_mc", "b_mc"])
    assert set(board_columns(load_runs([tmp_path / "run"]))) == {"verb lm (a_mc)", "verb lm (b_mc)"}


def forged(change: Callable[[Any], None]) -> Any:
    certificate = read_json(CERTIFICATES / "bag-of-frames.json")
    change(certificate)
    return certificate


def of_other_frames(certificate: Any) -> None:
    certificate["traces"][2]["frames"]["sample"][0] += 9


def of_other_scores(certificate: Any) -> None:
    certificate["traces"][0]["video"]["sample"] = [value + 0.1 for value in certificate["traces"][0]["video"]["sample"]]


FORGED: dict[str, tuple[Callable[[Any], None], str]] = {
    "frames": (of_other_frames, "its frames of .* are not those of the golden clip"),
    "embeddings": (of_other_scores, "it differs from the package's certificate in the scores"),
    "weights": (lambda c: c["model"].update(weights="0123456789abcdef"), "its weights are not those of the run"),
    "clips": (lambda c: c["traces"].pop(), "it lacks some of the golden eight"),
    "revision": (lambda c: c["model"].update(revision="f" * 40), "certificate of another revision"),
    "cut": (lambda c: c["traces"][0].pop("frames"), "is no whole certificate"),
}


@pytest.fixture(scope="module")
def scored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run of a packaged model, for which the package has a certificate."""
    root = tmp_path_factory.mktemp("certified")
    runner_set.write(root / "set", n_clips=6)
    video_contrast.score("bag-of-frames", root / "set", "verb_mc", output=root / "run", progress=False)
    return root / "run"


@pytest.mark.parametrize("name", FORGED)
def test_a_forged_certificate_is_refused(name: str, scored: Path) -> None:
    change, says = FORGED[name]
    path = write_json(scored / "certificate.json", forged(change))
    with pytest.raises(VideoContrastError, match=says):
        check_runs([scored])
    path.unlink()


def forge_frames(run: RunFolder) -> None:
    write_json(run.path / "run.json", read_json(run.path / "run.json") | {"sampling": asdict(Sampling(16))})


def of_other_weights(run: RunFolder) -> None:
    evidence = read_json(run.path / "evidence.json")
    write_json(run.path / "evidence.json", evidence | {"network": {"weights": "0123456789abcdef"}})


def forge_traced(run: RunFolder) -> None:
    evidence = read_json(run.path / "evidence.json")
    evidence["traces"][3]["scores"][0] += 1
    write_json(run.path / "evidence.json", evidence)


def forge_card(run: RunFolder) -> None:
    path = run.path / "RESULTS.md"
    path.write_text(path.read_text(encoding="utf-8") + "| verb_mc | 0.9876 |", encoding="utf-8")


def call_missing(run: RunFolder) -> None:
    record = read_json(run.path / "run.json")
    write_json(run.path / "run.json", record | {"missing": {"clips/05.mp4": "not found"}})


@pytest.mark.parametrize(
    ("forge", "says"),
    [
        (forge_frames, "8 frames were shown, the record says 16"), (call_missing, "05.mp4 is listed as missing, and"),
        (of_other_weights, "not those of the package's certificate"), (forge_traced, "its self-test gave"),
        (forge_card, "RESULTS.md holds numbers that are not the run's"),
    ],
)  # fmt: skip
def test_what_a_run_says_of_itself_is_held_against_its_evidence(
    forge: Callable[[RunFolder], None], says: str, scored: Path, tmp_path: Path
) -> None:
    copy = shutil.copytree(scored, tmp_path / "run")
    assert check_runs([copy]) == 1
    forge(RunFolder(copy))
    with pytest.raises(VideoContrastError, match=says):
        check_runs([copy])


def test_a_set_of_a_packaged_builder_is_found_where_it_is_kept(
    scored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("VIDEO_CONTRAST_CACHE", str(tmp_path))
    copy = shutil.copytree(scored, tmp_path / "run")
    record = read_json(copy / "run.json")
    shutil.copytree(record["set"]["dataset"], dataset_dir("shapes"))
    write_json(copy / "run.json", record | {"set": record["set"] | {"dataset": "shapes"}})
    assert check_runs([copy]) == 1


def test_a_certified_model_has_its_revision_in_its_row(
    scored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    revision = RunFolder(scored).record["model"]["revision"]
    line = f"certified: revision {revision[:12]}, float32"
    assert line in leaderboard([scored], tmp_path / "site").read_text(encoding="utf-8")
    monkeypatch.setattr("video_contrast.reports.leaderboard.CERTIFICATES", tmp_path)
    assert line not in leaderboard([scored], tmp_path / "site").read_text(encoding="utf-8")
    beside = write_json(scored.parent / "certificates" / "mine.json", forged(lambda certificate: None))
    assert check_runs([scored]) == 1
    assert line in leaderboard([scored], tmp_path / "site").read_text(encoding="utf-8")
    beside.unlink()
