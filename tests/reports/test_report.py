"""The report: what stands in the file, whatever the runs and captions are."""

import csv
import io
import json
import re
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import fabricate
import numpy as np
import pyarrow.parquet as pq
import pytest

from video_contrast import build, score
from video_contrast.cli import main
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import read_json, write_json
from video_contrast.reports import human_and_published, similarity_plots, write, write_report
from video_contrast.reports.finding import finding
from video_contrast.reports.reproduce import published
from video_contrast.reports.runs import ConfigRun, SetKey, hit, load_runs
from video_contrast.reports.similarity_plots import audits, similarities
from video_contrast.reports.write import left_out, warnings
from video_contrast.storage import open_set
from video_contrast.storage.run_figures import ACCURACY, FigureKey, leading

CONFIGS = ["random_mc", "verb_mc", "retrieval"]
CONDITIONS = {
    "visual:jumble@1": 1.4, "visual:jumble@5": 0.4, "visual:jpeg@1": 1.5, "visual:jpeg@5": 1.2, "text:keyboard": 1.0,
    "visual:jumble@3+text:drop_first": 0.4, "visual:jpeg@3+text:drop_first": 0.8,
    "control:shuffled": 0.5, "control:blind": 0.0,
}  # fmt: skip


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("report")
    fabricate.make_set(root / "set", 40, captions=fabricate.HOSTILE, videos=6)
    fabricate.make_run(root / "runs/good", root / "set", CONFIGS, model="good", skill=1.8, conditions=CONDITIONS)
    fabricate.make_run(root / "runs/poor", root / "set", CONFIGS, model="poor", skill=0.4, conditions=CONDITIONS)
    return root


@pytest.fixture(scope="module")
def page(world: Path) -> str:
    return write_report([world / "runs"], world / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def small(world: Path) -> Path:
    """A run of one config under few conditions, for tests that look at the files and not at every figure."""
    conditions = {name: CONDITIONS[name] for name in ("visual:jumble@1", "visual:jumble@5", "control:blind")}
    return fabricate.make_run(world / "small", world / "set", ["verb_mc"], model="good", conditions=conditions)


def embedded(page: str, name: str) -> Any:
    found = re.search(rf'<script type="application/json" id="{name}">(.*?)</script>', page, re.S)
    assert found is not None
    return json.loads(found[1])


def table(page: str, name: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(embedded(page, "csv")[name])))


def test_nothing_is_loaded_from_anywhere(page: str) -> None:
    markup = re.sub(r"<script.*?</script>", "", page, flags=re.S)  # their JSON holds captions with markup in them
    for address in re.findall(r"""(?:src|href|action)=["']?([^"'\s>]+)""", markup):
        assert address.startswith(("#", "data:")), address
    assert "default-src 'none'" in page
    assert not re.search(r"@import|url\((?!#|data:)", page)


def test_the_summary_shows_what_the_runner_measured(world: Path, page: str) -> None:
    metrics = json.loads((world / "runs/good/metrics.json").read_text())["configs"]
    row = next(row for row in table(page, "accuracy") if row["model"] == "good")
    clean = metrics["verb_mc"]["conditions"]["clean"]
    for ending, key in (("", "accuracy"), (" low", "accuracy_low"), (" high", "accuracy_high")):
        assert float(row[f"verb_mc{ending}"]) == pytest.approx(100 * clean[key], rel=1e-4)
    retrieval = next(row for row in table(page, "retrieval") if row["model"] == "good")
    assert float(retrieval["text to video R@1"]) == pytest.approx(
        100 * metrics["retrieval"]["conditions"]["clean"]["t2v_R@1"], rel=1e-4
    )
    assert next(row for row in table(page, "accuracy") if row["model"] == "chance")["verb_mc"] == "20"


def test_every_section_of_a_full_run_is_there(page: str) -> None:
    assert re.findall(r'<section id="(\w+)"', page) == [
        "summary", "kinds", "robustness", "controls", "behaviour", "similarity", "audit", "settings", "gallery",
        "record",
    ]  # fmt: skip
    names = set(embedded(page, "csv"))
    assert {"gamma-verb_mc", "gamma-bars-verb_mc", "severity-verb_mc", "scatter-verb_mc", "pairs-verb_mc-good",
            "controls-verb_mc", "sensitivity-verb_mc", "positions-verb_mc", "audit", "kinds-verb_mc",
            "similarity-retrieval-good-clean"} <= names  # fmt: skip
    assert "not audited" in page


def test_gamma_in_the_heat_map_is_the_ratio_of_the_scores(world: Path, page: str) -> None:
    found = json.loads((world / "runs/good/metrics.json").read_text())["configs"]["verb_mc"]["conditions"]
    lines = list(csv.reader(io.StringIO(embedded(page, "csv")["pairs-verb_mc-good"])))
    values = {(line[0], text): float(v) for line in lines[1:] for text, v in zip(lines[0][1:], line[1:], strict=True)}
    expected = found["visual:jpeg@3+text:drop_first"]["accuracy"] / found["clean"]["accuracy"]
    assert values["jpeg", "drop_first"] == pytest.approx(expected)


def test_each_figure_also_comes_as_svg_png_and_csv(small: Path, tmp_path: Path) -> None:
    write_report([small], tmp_path / "r.html", assets=tmp_path / "figures")
    names = {path.stem for path in (tmp_path / "figures").glob("*.svg")}
    assert names and names == {path.stem for path in (tmp_path / "figures").glob("*.png")}
    assert names < {path.stem for path in (tmp_path / "figures").glob("*.csv")}
    svg = (tmp_path / "figures" / "accuracy-dots.svg").read_text()
    assert svg.startswith("<svg") and "var(--" not in svg and 'style="width' not in svg
    ElementTree.fromstring(svg)


def test_the_gallery_agrees_with_the_scores(world: Path, page: str) -> None:
    data = embedded(page, "data")
    stored = [
        line
        for line in pq.read_table(world / "runs/poor/scores.parquet").to_pylist()
        if line["config"] == "verb_mc" and line["condition"] == "clean"
    ]
    number = next(
        n for n, r in enumerate(data["runs"]) if r["model"] == "poor" and "verb_mc" in data["sets"][r["set"]]["name"]
    )
    run = data["runs"][number]
    items = data["sets"][run["set"]]["items"]
    shown = {items[n]["i"]: scores for n, scores in enumerate(run["scores"])}
    for line in stored:
        assert shown[line["id"]] == pytest.approx(line["scores"], rel=1e-5)
    wrong = sum(max(line["scores"]) > line["scores"][line["label"]] for line in stored)
    assert run["share"] == f"{wrong} of {len(stored)} wrong"


def test_edits_point_at_the_new_words_by_characters(page: str) -> None:
    data = embedded(page, "data")
    items = next(s["items"] for s in data["sets"] if "verb_mc" in s["name"])
    seen = 0
    for item in items:
        for text, edit in zip(item["c"], item["e"], strict=True):
            if edit:
                assert text[edit[0] : edit[1]] == "silently"
                seen += 1
    assert seen == len(items)


def test_a_missing_video_is_said_where_its_frames_would_be(page: str) -> None:
    data = embedded(page, "data")
    assert any("no such video file" in reason and "video6" in reason for reason in data["missing"].values())
    assert data["strips"]


def test_hostile_captions_cannot_leave_the_data(page: str) -> None:
    assert "<script>window.hacked" not in page
    assert page.count("</script>") == page.count("<script")
    assert any(fabricate.HOSTILE[0] in item["c"] for s in embedded(page, "data")["sets"] for item in s["items"])


def test_equal_runs_give_equal_bytes(world: Path, page: str, tmp_path: Path) -> None:
    again = write_report([world / "runs"], tmp_path / "again.html")
    assert again.read_text(encoding="utf-8") == page


def test_sets_that_differ_under_one_name_are_not_compared(small: Path, tmp_path: Path) -> None:
    fabricate.make_set(tmp_path / "set", 30)
    conditions = {"visual:jumble@1": 1.4, "control:blind": 0.0}
    fabricate.make_run(tmp_path / "other", tmp_path / "set", ["verb_mc"], model="good", conditions=conditions)
    html = write_report([small, tmp_path / "other"], tmp_path / "r.html").read_text(encoding="utf-8")
    assert "2 different sets called verb_mc" in html
    fingerprints = [
        read_json(folder / "run.json")["set"]["fingerprints"]["verb_mc"][:6] for folder in (small, tmp_path / "other")
    ]
    names = embedded(html, "csv")
    for mark, root in zip(fingerprints, (small, tmp_path / "other"), strict=True):
        found = next(row for row in table(html, "accuracy") if row["model"] == "good")[f"verb_mc ({mark})"]
        clean = read_json(root / "metrics.json")["configs"]["verb_mc"]["conditions"]["clean"]
        assert float(found) == pytest.approx(100 * clean["accuracy"], rel=1e-4)
        assert f"gamma-verb_mc-{mark}" in names and f"controls-verb_mc-{mark}" in names
    ids = re.findall(r'\bid="([^"]+)"', re.sub(r"<script.*?</script>", "", html, flags=re.S))
    assert len(ids) == len(set(ids)), "two parts of the page share a name"


def test_gammas_of_retrieval_stand_in_rows_and_scores_at_chance_in_the_note(world: Path, page: str) -> None:
    found = read_json(world / "runs/good/metrics.json")["configs"]["retrieval"]["robustness"]
    rows = {row["score"]: row for row in table(page, "gamma-retrieval") if row["model"] == "good"}
    assert set(rows) == {"text to video R@1", "video to text R@1"}
    assert float(rows["text to video R@1"]["visual"]) == pytest.approx(
        found["t2v_R@1"]["visual"]["gamma_relative"], rel=1e-4
    )
    assert re.search(r"not shown to be above chance: .*good \(text to video R@5 [\d.]+ %, at chance\)", page)


def test_gammas_of_a_model_at_chance_are_no_robustness(world: Path, tmp_path: Path) -> None:
    run = fabricate.make_run(
        tmp_path / "run", world / "set", ["verb_mc"], model="nothing", skill=0.0, conditions={"text:keyboard": 0.0}
    )
    clean = read_json(run / "metrics.json")["configs"]["verb_mc"]["conditions"]["clean"]
    assert clean["accuracy_low"] <= clean["chance"] <= clean["accuracy_high"]
    html = write_report([run], tmp_path / "r.html").read_text(encoding="utf-8")
    assert re.search(r"not shown to be above chance: nothing \(accuracy [\d.]+ %, at chance\)", html)
    assert not [name for name in embedded(html, "csv") if name.startswith(("gamma-bars", "severity", "scatter"))]


def test_a_robustness_set_has_its_gammas_against_its_clean_config(tmp_path: Path) -> None:
    """Its conditions are configs of their own; they are compared with `clean` as conditions of one config are."""
    source = fabricate.make_set(tmp_path / "set", 12)
    perturbed = build("perturbed", ["clean", "keyboard", "drop_first"], dataset=str(source), dataset_config="verb_mc",
                      output=tmp_path / "robust", video_root=str(source))  # fmt: skip
    configs = ["clean", "keyboard", "drop_first"]
    result = score("random", str(perturbed), configs, output=tmp_path / "run", accept="all", progress=False)
    numbers = {config: result[config]["conditions"] for config in configs}
    gamma = result["clean"]["robustness"]["accuracy"]["conditions"]["text:keyboard"]["gamma_relative"]
    expected = numbers["keyboard"]["text:keyboard"]["accuracy"] / numbers["clean"]["clean"]["accuracy"]
    assert gamma == pytest.approx(expected)
    assert result["clean"]["robustness"]["accuracy"]["text"]["n"] == 2

    run = fabricate.make_run(tmp_path / "good", perturbed, configs, model="good",
                             stored={"text:keyboard": 0.7, "text:drop_first": 0.4})  # fmt: skip
    (loaded,) = load_runs([run])
    assert loaded.conditions == ["clean", "text:drop_first", "text:keyboard"] and len(loaded.set_rows) == 12
    html = write_report([run], tmp_path / "r.html", max_failures=0).read_text(encoding="utf-8")
    (row,) = table(html, "gamma-robust")
    assert 0 < float(row["text"]) < 1
    categories = [line["category"] for line in table(html, "gamma-by-category-robust-accuracy")]
    assert categories == ["text: ChangeChar", "text: Positional", "text: natural", "text: synthetic"]


def test_a_retrieval_config_without_a_clean_condition_is_reported(tmp_path: Path) -> None:
    source = fabricate.make_set(tmp_path / "set", 2, configs=["retrieval"])
    perturbed = build("perturbed", ["keyboard"], dataset=str(source), output=tmp_path / "robust",
                      video_root=str(source))  # fmt: skip
    score("bag-of-frames", str(perturbed), "keyboard", output=tmp_path / "run", accept="all", progress=False)
    html = write_report([tmp_path / "run"], tmp_path / "r.html", max_failures=0).read_text(encoding="utf-8")
    pictures = [name for name in embedded(html, "csv") if name.startswith("similarity")]
    assert pictures == ["similarity-keyboard-bag-of-frames-text-keyboard"]


def test_controls_of_retrieval_say_what_time_is_worth(world: Path, page: str) -> None:
    run = next(run for run in load_runs([world / "runs/good"]) if run.key.config == "retrieval")
    figures = {name: run.folder.numbers("retrieval", name) for name in ("clean", "control:shuffled")}
    for condition in figures:
        mean = np.mean(run.hits(condition).values)
        assert mean == pytest.approx(figures[condition]["t2v_R@1"])
    row = next(row for row in table(page, "controls-retrieval") if row["model"] == "good")
    assert float(row["full minus shuffled"]) == pytest.approx(
        100 * (figures["clean"]["t2v_R@1"] - figures["control:shuffled"]["t2v_R@1"]), abs=1e-3
    )


def test_the_papers_figures_stand_beside_runs_on_their_data_and_only_there(page: str, tmp_path: Path) -> None:
    root = fabricate.make_set(tmp_path / "set", 12)
    record = read_json(root / "set.json")
    write_json(root / "set.json", {**record, "builder": "msrvtt"})
    run = fabricate.make_run(tmp_path / "run", root, ["random_mc", "retrieval"], conditions={"text:keyboard": 1.0})
    html = write_report([run], tmp_path / "r.html").read_text(encoding="utf-8")
    paper = published("contrast_sets")["tables"][0]["rows"]
    shown = {row["model"]: row for row in table(html, "published-msrvtt-0")}
    for row in paper:
        if "random_mc" in row["figures"]:
            assert float(shown[row["model"]]["random_mc"]) == row["figures"]["random_mc"]["value"]
            assert float(shown[row["model"]]["video to text R@1"]) == row["figures"]["v2t_R@1"]["value"]
    gammas = {row["model"]: row for row in table(html, "published-gamma-msrvtt-0")}
    first = published("robustness")["tables"][0]["rows"][0]
    assert float(gammas[first["model"]]["visual"]) == first["figures"]["visual:gamma_relative"]["value"]
    assert not [name for name in embedded(page, "csv") if name.startswith("published")]


@pytest.mark.parametrize(
    ("builder", "config", "accuracy"),
    [("msrvtt", "verb_human_mc", 94.5), ("lsmdc_ids", "verb_mc", 90.2), ("feint6k", "rcad_vatex", 96.8),
     ("msrvtt", "random_mc", None), ("shapes", "verb_human_mc", None)],
)  # fmt: skip
def test_people_are_drawn_where_a_paper_measured_them(
    monkeypatch: pytest.MonkeyPatch, builder: str, config: str, accuracy: float | None
) -> None:
    monkeypatch.setattr(human_and_published, "set_record", lambda dataset: {"builder": builder})
    assert human_and_published.human(SetKey("somewhere", config, "test", "")) == accuracy


def test_the_first_sentence_tells_the_finding(world: Path, page: str) -> None:
    sentence = re.sub(r"<[^>]+>", "", re.search(r'<p class="finding">(.*?)</p>', page, re.S)[1])  # type: ignore[index]
    sentence = sentence.replace("\u202f", " ")
    easy, hard = (
        read_json(world / "runs/poor/metrics.json")["configs"][c]["conditions"]["clean"]
        for c in ("random_mc", "verb_mc")
    )
    assert sentence.startswith(f"poor picks the true caption in {100 * easy['accuracy']:.1f} % (")  # as in the table
    low, high = 100 * hard["accuracy_low"], 100 * hard["accuracy_high"]
    assert (
        f"{100 * hard['accuracy']:.1f} % ({low:.1f} to {high:.1f}, n = {hard['n']}) of the verb contrasts" in sentence
    )
    assert len(re.findall(r"\.(?!\d)", sentence)) == 1
    runs = load_runs([world / "runs"])
    retrieval = [run for run in runs if run.layout == "retrieval"]
    said = re.match(
        r"(good|poor) keeps ([\d.]+) % \(([\d.]+) to ([\d.]+), n = \d+\) of its R@1 on retrieval under",
        finding(retrieval),
    )  # its R@5 in a gallery of seven cannot be told from chance
    assert said is not None and float(said[3]) < float(said[2]) < float(said[4])
    for run in retrieval:
        former = run.figures
        place = FigureKey("retrieval", "clean", leading("retrieval"))
        run.figures = former | {place: replace(former[place], low=0.0)}  # at chance there is nothing to lose
        assert "keeps" not in finding([run])
        run.figures = former
    for run in runs:
        run.gammas = []
    assert re.match(r"good puts the right clip first for [\d.]+ % \(.* n = \d+\) of captions", finding(retrieval))
    # without a config of random candidates the same items with random candidates stand in
    contrasts = [run for run in runs if run.key.config == "verb_mc"]
    assert re.match(r"poor picks the true caption in [\d.]+ % .* of items with random candidates", finding(contrasts))
    easy_only = [run for run in runs if run.key.config == "random_mc"]
    assert re.match(
        r"good picks the true caption in [\d.]+ % .* of items with random candidates, above chance \(20 %\)",
        finding(easy_only),
    )
    assert finding([]) == ""


def test_the_first_sentence_says_only_what_a_test_supports(world: Path) -> None:
    runs = [run for run in load_runs([world / "runs"]) if run.key.config == "verb_mc"]
    good, poor = (next(run for run in runs if run.model == name) for name in ("good", "poor"))
    right = [1.0, 0.0, 0.0, 0.0, 0.0]
    accuracy = FigureKey("verb_mc", "clean", ACCURACY)

    def answers(run: ConfigRun, share: float) -> None:
        rows = run.choices["clean"].values()
        for number, row in enumerate(rows):
            row["scores"] = right if number < share * len(rows) else right[::-1]
            row["label"] = 0
        run.figures[accuracy] = replace(run.accuracy, value=share)

    answers(poor, 0.4)
    answers(good, 0.95)
    assert "while good keeps 95.0 %" in finding([good, poor])
    answers(good, 0.425)  # one item more is no finding
    assert "good" not in finding([good, poor])
    poor.figures[accuracy] = replace(poor.accuracy, value=0.4, low=0.0, high=0.8, n=5)
    assert "(0.0 to 80.0, n = 5) of the verb contrasts, too few items to tell from chance (20 %)" in finding([poor])
    poor.figures[accuracy] = replace(poor.accuracy, low=None, high=None)
    assert finding([poor]) == "5 items of the verb contrasts: too few to tell poor from chance (20 %)."


def test_what_runs_have_in_common_is_one_note_and_that_order_shows_is_none(world: Path) -> None:
    runs = load_runs([world / "runs"])
    for run in runs:
        doubt = {"check": "truth", "state": "doubt", "says": "not more than chance would"}
        order = {"check": "reversal", "state": "fact", "says": "sees order: reversed clips differ by 1 sd"}
        run.record["self_test"] = {"accepted": [], "verdicts": [order, doubt]}
        run.record["request"] = {**run.record["request"], "limit": None}
        run.record["n_missing"] = 0
    models = ", ".join(dict.fromkeys(run.model for run in runs))
    assert [note for note in warnings(runs) if "self-test" in note] == [
        f"{models}: self-test: doubt: truth: not more than chance would."
    ]


def test_what_was_left_out_is_said_once_a_reason(world: Path) -> None:
    runs = load_runs([world / "runs"])
    for run in runs:
        run.record["skipped"] = {f"visual:{name}@3+text:mlm": "mlm needs the checkpoint tiny" for name in "ab"}
    assert left_out(runs) == [("mlm needs the checkpoint tiny", ["visual:a@3+text:mlm", "visual:b@3+text:mlm"])]


def test_the_map_shows_the_embeddings_that_the_run_stored(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from video_contrast import build, score

    root = build("shapes", ["retrieval", "verb_mc"], output=tmp_path / "shapes", items=14, gallery=24)
    score("temporal", root, output=tmp_path / "run", store=tmp_path / "store", conditions="clean,visual:jumble@5",
          accept="all")  # fmt: skip
    html = write_report([tmp_path / "run"], tmp_path / "a.html").read_text()
    stored = table(html, "map-retrieval-temporal")
    assert {row["made from"] for row in stored} == {"stored embeddings"}
    assert {"visual:jumble@5 x", "visual:jumble@5 y"} <= set(stored[0])
    run = next(run for run in load_runs([tmp_path / "run"]) if run.layout == "retrieval")
    ids = list(run.set_rows)
    space = similarity_plots.stored(run, ids, [run.set_rows[name]["captions"][0] for name in ids])
    assert space is not None
    matrix = run.matrix()
    first = [list(matrix.relevant).index(n) for n in range(len(ids))]
    assert np.allclose(space.clips @ space.captions.T, matrix.values[:, first], atol=1e-5)
    shutil.rmtree(tmp_path / "store")
    monkeypatch.setattr(write, "SECTIONS", [similarities])
    again = table(write_report([tmp_path / "run"], tmp_path / "b.html").read_text(), "map-retrieval-temporal")
    assert {row["made from"] for row in again} == {"factors of the similarity matrix"}
    verbs = table(html, "verb-distributions")  # of 14 items, by hand
    new = [edit["new"] for row in open_set(root).choice_rows("verb_mc", "test") for edit in row["edits"] if edit]
    rises = sum(phrase.split()[0] in ("rises", "rise") for phrase in new)
    assert sum(float(row["verb_mc, %"]) for row in verbs) == pytest.approx(100)
    assert sum(float(row["verb_mc, %"]) for row in verbs if row["verb"] == "rise") == pytest.approx(100 * rises / 14)


@pytest.mark.parametrize("value", [0.0, 0.1])
def test_a_model_to_which_all_is_alike_has_no_map(world: Path, tmp_path: Path, value: float) -> None:
    """t-SNE of equal points ends the process with a segmentation fault."""
    copy = Path(shutil.copytree(world / "runs/poor", tmp_path / "run"))
    for file in (copy / "retrieval").rglob("*.npy"):
        np.save(file, np.full_like(np.load(file), value))
    runs = [run for run in load_runs([copy]) if run.key.config == "retrieval"]
    names = [plot.name for plot in similarities(runs).parts]
    assert names and not any(name.startswith("map-") for name in names)


def test_folder_mode_keeps_the_frames_of_every_failure_in_files(world: Path, tmp_path: Path) -> None:
    run = fabricate.make_run(tmp_path / "run", world / "set", ["verb_mc"], model="poor", skill=-1.0)
    page = write_report([run], tmp_path / "folder", max_failures=1)
    assert page == tmp_path / "folder" / "index.html"
    strips = embedded(page.read_text(encoding="utf-8"), "data")["strips"]
    assert len(strips) == 6  # all clips that are there
    assert all((tmp_path / "folder" / path).is_file() for path in strips.values())
    assert (tmp_path / "folder" / "figures" / "accuracy.csv").is_file()


def test_ten_thousand_items_stay_under_fifteen_megabytes(tmp_path: Path) -> None:
    fabricate.make_set(tmp_path / "set", 10_000, configs=["verb_mc"])
    fabricate.make_run(tmp_path / "run", tmp_path / "set", ["verb_mc"], model="big", skill=0.5)
    page = write_report([tmp_path / "run"], tmp_path / "r.html", max_failures=3)
    assert page.stat().st_size < 15e6
    data = embedded(page.read_text(encoding="utf-8"), "data")
    assert len(data["sets"][0]["items"]) == 10_000
    assert len(data["strips"]) == 3


def test_strips_shrink_until_they_fit_and_the_least_bad_give_way(world: Path) -> None:
    from video_contrast.reports.gallery import LIMIT, gallery_data

    runs = load_runs([world / "runs/poor"])

    def strips(used: int) -> dict[str, str]:
        found = gallery_data(runs, max_failures=99, used=used)
        assert found is not None
        return found["strips"]

    whole = strips(0)
    weight = sum(map(len, whole.values()))
    sizes = {used: sum(map(len, strips(used).values())) for used in range(LIMIT - 120_000, LIMIT, 4_000)}
    assert max(sizes.values()) == weight and min(sizes.values()) == 0
    assert list(sizes.values()) == sorted(sizes.values(), reverse=True)
    full = [used for used, size in sizes.items() if size == weight]
    for used, size in sizes.items():  # every byte that the rest takes, the strips give
        assert size <= max(0, weight - (used - full[-1])) + 4_000


def test_blind_accuracies_have_their_interval_where_there_is_one(small: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blind = {"accuracy": 0.676, "low": 0.658, "high": 0.694}
    former = {"accuracy": 0.5, "standard_error": 0.0}
    facts = {
        "chance": 0.5,
        "blind": blind,
        "shorter_wins": {**former, "low": None, "high": None},
        "longer_wins": former,
    }
    monkeypatch.setattr(similarity_plots, "config_facts", lambda key: {"audit": facts})
    (table,) = audits(load_runs([small])).parts
    cells = {column.name: cell for column, cell in zip(table.columns, table.rows[0], strict=True)}  # type: ignore[union-attr]
    assert (cells["blind classifier"].low, cells["blind classifier"].high) == pytest.approx((65.8, 69.4))
    assert cells["shorter wins"].low is cells["longer wins"].low is None and cells["longer wins"].text == "50.0"


def test_what_is_no_run_is_said_in_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["report", str(tmp_path), "--output", str(tmp_path / "r.html")]) == 2
    error = capsys.readouterr().err
    assert error.count("\n") == 1 and "no run.json" in error
    assert not (tmp_path / "r.html").exists()


def test_a_set_that_has_moved_is_named(world: Path, tmp_path: Path) -> None:
    fabricate.make_set(tmp_path / "set", 10)
    fabricate.make_run(tmp_path / "run", tmp_path / "set", ["verb_mc"])
    (tmp_path / "set").rename(tmp_path / "moved")
    with pytest.raises(VideoContrastError, match="--dataset"):
        write_report([tmp_path / "run"], tmp_path / "r.html")
    assert write_report([tmp_path / "run"], tmp_path / "r.html", dataset=tmp_path / "moved").exists()


def test_quiet_and_json(small: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ["report", str(small), "--max-failures", "1", "--output", str(tmp_path / "r.html")]
    assert main([*given, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")
    assert main([*given, "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert Path(said["page"]).stat().st_size == said["bytes"]


def test_a_negative_number_of_failures_is_refused(world: Path, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="--max-failures"):
        write_report([world / "runs"], tmp_path / "r.html", max_failures=-1)


def test_a_tie_counts_its_share_as_the_runner_counts_it(world: Path) -> None:
    run = next(run for run in load_runs([world / "runs/good"]) if run.key.config == "verb_mc")
    hits = [hit(line) for line in run.choices["clean"].values()]
    assert sum(hits) / len(hits) == pytest.approx(run.accuracy.value)


def test_sets_whose_names_differ_in_signs_alone_keep_their_own_plots_and_tables(tmp_path: Path) -> None:
    names = ["a b", "a-b", "x" * 240]
    for number, name in enumerate(names):
        fabricate.make_set(tmp_path / name, 10 + number, configs=["verb_mc"])
        conditions = {"visual:jumble@1": 1.0, "control:blind": 0.0}
        fabricate.make_run(tmp_path / f"run{number}", tmp_path / name, conditions=conditions)
    runs = [tmp_path / f"run{number}" for number in range(3)]
    html = write_report(runs, tmp_path / "r.html", assets=tmp_path / "assets").read_text(encoding="utf-8")
    written = {path.stem: path.read_text() for path in (tmp_path / "assets").glob("kinds-*.csv")}
    assert len(written) == 3 and all(len(name) < 100 for name in written)
    assert {name: embedded(html, "csv")[name] for name in written} == written
    ids = re.findall(r'\bid="([^"]+)"', re.sub(r"<script.*?</script>", "", html, flags=re.S))
    assert len(ids) == len(set(ids)), "two parts of the page share a name"


def test_copies_of_a_set_are_one_set(small: Path, world: Path, tmp_path: Path) -> None:
    shutil.copytree(world / "set", tmp_path / "elsewhere")
    fabricate.make_run(tmp_path / "run", tmp_path / "elsewhere", ["verb_mc"], model="other")
    html = write_report([small, tmp_path / "run"], tmp_path / "r.html").read_text(encoding="utf-8")
    assert "2 models on 1 config of 1 set" in html and "different sets" not in html
    assert [row["model"] for row in table(html, "accuracy")] == ["good", "other", "chance"]


def test_other_numbers_of_items_are_stated_by_kind_and_in_retrieval(world: Path, tmp_path: Path) -> None:
    for name, less in (("all", 0), ("fewer", 3)):
        run = fabricate.make_run(tmp_path / name, world / "set", ["verb_mc", "retrieval"], model=name)
        metrics = read_json(run / "metrics.json")
        for config, counts in (("verb_mc", ("n_random", "n_verb_lm")), ("retrieval", ("n_captions", "n_videos"))):
            for count in counts:
                metrics["configs"][config]["conditions"]["clean"][count] -= less
        write_json(run / "metrics.json", metrics)
    html = write_report([tmp_path / "all", tmp_path / "fewer"], tmp_path / "r.html").read_text(encoding="utf-8")
    for name in ("kinds", "retrieval"):
        section = html.split(f'data-csv="{name}')[1].split("</table>")[0]
        expected = ("n = 40", "n = 37") if name == "kinds" else ("n = 14", "n = 11", "n = 7", "n = 4")
        assert all(mark in section for mark in expected), name
