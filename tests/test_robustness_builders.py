"""Claims about robustness sets: what they hold, that files and recipes agree, and that work is shared and resumed."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import datasets
import numpy as np
import pyarrow.parquet as pq
import pytest

import video_contrast
from video_contrast import cli
from video_contrast.builders import build, perturbing
from video_contrast.builders.youcook2_p import youcook2_p
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import read_json
from video_contrast.perturbations import VideoPerturbation
from video_contrast.perturbations.text import perturb_captions
from video_contrast.perturbations.video import NAMES, VideoCondition, perturb_clip
from video_contrast.perturbations.video.files import Span, file_name, perturbed_clip, write_perturbed
from video_contrast.video_io import read_video, write_video


def pictures(seed: int, length: int = 40) -> np.ndarray:
    rng = np.random.default_rng(seed)
    frames = np.full((length, 32, 48, 3), rng.integers(40, 200, 3), np.uint8)
    for t, frame in enumerate(frames):
        frame[8:20, t : t + 8] = rng.integers(0, 256, 3)
    return frames


@pytest.fixture(scope="module")
def videos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of three short videos."""
    root = tmp_path_factory.mktemp("videos")
    for number in range(3):
        write_video(root / f"v{number}.mp4", pictures(number), 20, quality="lossless")
    return root


CAPTIONS = ["a man runs in a park", "a girl eats a red apple", "two dogs play with a ball"]


@pytest.fixture(scope="module")
def clean(videos: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A retrieval set of three clips with spans."""
    table = tmp_path_factory.mktemp("table") / "captions.jsonl"
    rows = [{"video": f"v{n}.mp4", "caption": [text], "start": 0.25, "end": 1.5} for n, text in enumerate(CAPTIONS)]
    table.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return build(
        "captions", ["retrieval"], output=table.parent / "set", captions=str(table), start_column="start",
        end_column="end",
    )  # fmt: skip


def rows_of(root: Path, config: str) -> list[dict]:
    return pq.read_table(next((root / config).glob("*.parquet"))).to_pylist()


def tree(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


def test_a_perturbed_set_holds_the_stated_conditions(clean: Path, tmp_path: Path) -> None:
    root = build("perturbed", ["clean", "keyboard", "visual", "pairs"], output=tmp_path / "p", from_=clean)
    visual = rows_of(root, "visual")
    recipes = Counter((r["video_perturbation"]["name"], r["video_perturbation"]["severity"]) for r in visual)
    assert set(recipes) == {(name, severity) for name in NAMES for severity in range(1, 6)}
    assert set(recipes.values()) == {3} and len({row["id"] for row in visual}) == 270
    pairs = rows_of(root, "pairs")
    made = {(r["video_perturbation"]["name"], r["text_perturbation"]["name"]) for r in pairs}
    left_out = read_json(root / "set.json")["configs"]["pairs"]["facts"].get("pairs left out", {})
    assert len(made) == 6 * (11 - len(left_out)) and all(r["video_perturbation"]["severity"] == 3 for r in pairs)
    assert [row["video_perturbation"] for row in rows_of(root, "clean")] == [None] * 3
    loaded = datasets.load_dataset(str(root), "visual", split="test", cache_dir=str(tmp_path / "cache"))
    assert loaded[0]["video_perturbation"]["order"] == "perturb_then_sample"


def test_stored_captions_are_those_of_the_perturbation(clean: Path, tmp_path: Path) -> None:
    root = build("perturbed", ["keyboard"], output=tmp_path / "p", from_=clean, seed=5)
    rows = rows_of(root, "keyboard")
    expected = perturb_captions(CAPTIONS, "keyboard", ids=[row["id"] for row in rows], seed=5)
    assert [row["captions"] for row in rows] == [[text] for text in expected]
    assert rows[0]["text_perturbation"] == {"name": "keyboard", "profile": "paper", "seed": 5}
    checks = read_json(root / "set.json")["configs"]["keyboard"]["facts"]["checks"]
    assert checks["captions left unchanged"] == "0.0 %" and 0 < checks["rouge_l"] < 1


def test_all_options_are_perturbed_and_equal_ones_are_counted(tmp_path: Path) -> None:
    clean = build("shapes", ["verb_mc"], output=tmp_path / "s")
    before = {row["id"]: row for row in rows_of(clean, "verb_mc")}
    root = build("perturbed", ["drop_first", "only_nouns"], output=tmp_path / "p", from_=clean)
    rows = rows_of(root, "drop_first")
    assert all(option.startswith("[UNK] ") for row in rows for option in row["candidates"])
    assert all(row["label"] == before[row["id"]]["label"] for row in rows)
    nouns = read_json(root / "set.json")["configs"]["only_nouns"]
    left_out = nouns["facts"]["checks"]["items left out because two options became equal"]
    assert nouns["splits"]["test"]["num_examples"] + left_out == len(before) and left_out > 0


def test_a_config_without_an_item_left_is_an_error(tmp_path: Path) -> None:
    clean = build("shapes", ["gender_mc"], output=tmp_path / "s")
    with pytest.raises(VideoContrastError, match="no item has different options left under gender_neutral"):
        build("perturbed", ["gender_neutral"], output=tmp_path / "p", from_=clean)


def test_the_card_shows_damage_and_what_is_equal(clean: Path, videos: Path, tmp_path: Path) -> None:
    root = build("perturbed", ["visual"], output=tmp_path / "p", from_=clean, video_root=videos)
    card = (root / "README.md").read_text()
    assert "measured on 3 clips" in card and "PSNR in dB" in card
    assert "severities 2, 3, 4, 5 are equal" in card and "frames moved by" in card
    bare = build("perturbed", ["visual"], output=tmp_path / "b", from_=clean, video_root=tmp_path)
    assert "temporal perturbations only" in (bare / "README.md").read_text()
    few = build(
        "perturbed", ["visual"], output=tmp_path / "f", from_=clean, video_root=tmp_path, order="sample_then_perturb"
    )
    checks = read_json(few / "set.json")["configs"]["visual"]["facts"]["checks"]
    assert checks["box_jumble"].endswith("100 / 100 / 100 / 100 %")


# ---- files ----


def test_files_hold_what_the_recipes_say_and_point_at_themselves(clean: Path, videos: Path, tmp_path: Path) -> None:
    root = tmp_path / "p"
    build("perturbed", ["clean", "pairs"], output=root, from_=clean, video_root=videos, files=root, quality="lossless")
    for row in rows_of(root, "pairs")[:20] + rows_of(root, "clean"):
        assert row["video_perturbation"] is None and row["start"] is None
        recipe = json.loads(row["meta"])["perturbed_file"]
        frames = read_video(videos / f"{row['video_id']}.mp4", 0.25, 1.5).frames
        if recipe != "clean, re-encoded":
            frames = perturb_clip(
                frames, recipe["name"], recipe["severity"], video_id=row["video_id"], start=0.25, end=1.5
            )
        assert np.array_equal(read_video(root / row["video_path"]).frames, frames)


def test_any_number_of_processes_writes_the_same_set_and_a_second_run_writes_nothing(
    clean: Path, videos: Path, tmp_path: Path
) -> None:
    def make(root: Path, num_proc: int) -> Path:
        return build(
            "perturbed", ["clean", "pairs"], output=root, from_=clean, video_root=videos, files=root / "videos",
            num_proc=num_proc,
        )  # fmt: skip

    one, two = make(tmp_path / "one", 1), make(tmp_path / "two", 2)
    assert tree(one) == tree(two)
    stamps = {path: path.stat().st_mtime_ns for path in (one / "videos").rglob("*.mp4")}
    assert len(stamps) == 3 * 7
    gone = sorted(stamps)[4]
    gone.unlink()
    make(one, 1)
    now = {path: path.stat().st_mtime_ns for path in (one / "videos").rglob("*.mp4")}
    assert {path for path in now if now[path] != stamps[path]} == {gone}
    assert tree(one) == tree(two)


def test_a_killed_run_leaves_no_half_file_and_goes_on(videos: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    code = (
        "import sys, itertools; from video_contrast.perturbations.video import *;"
        "from video_contrast.perturbations.video.files import *\n"
        "for name in NAMES: print(write_perturbed(Span(sys.argv[1], 'v0'), [VideoCondition(name, 1)], sys.argv[2]),"
        " flush=True)"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code, str(videos / "v0.mp4"), str(out)], stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    for _ in range(3):
        process.stdout.readline()
    process.kill()
    process.wait()
    whole = [path for path in out.rglob("*.mp4") if not path.name.startswith(".")]
    assert len(whole) >= 3
    for path in whole:
        assert len(read_video(path).frames) == 40
    conditions = [VideoCondition(name, 1) for name in NAMES]
    span = Span(str(videos / "v0.mp4"), "v0")
    names = write_perturbed(span, conditions, out)
    fresh = write_perturbed(span, conditions, tmp_path / "fresh")
    assert names == fresh
    assert all((out / name).read_bytes() == (tmp_path / "fresh" / name).read_bytes() for name in names)


@pytest.mark.processes
def test_torchrun_shares_the_files(clean: Path, videos: Path, tmp_path: Path) -> None:
    arguments = ["perturbed", "clean", "--from", str(clean), "--video-root", str(videos)]
    command = Path(sys.executable).parent / "video-contrast"
    torchrun = Path(sys.executable).parent / "torchrun"
    if not torchrun.exists() or not command.exists():
        pytest.skip("torchrun is not installed beside python")
    out = tmp_path / "two"
    environment = {**os.environ, "ACCELERATE_USE_CPU": "true", "OMP_NUM_THREADS": "1"}
    subprocess.run(
        [torchrun, "--nproc_per_node", "2", "--standalone", command, "build", *arguments, "--files", out / "videos",
         "--output", out],
        check=True, env=environment, timeout=180, capture_output=True,
    )  # fmt: skip
    one = tmp_path / "one"
    build("perturbed", ["clean"], output=one, from_=clean, video_root=videos, files=one / "videos")
    assert tree(out) == tree(one)


def test_an_unreadable_video_is_left_out_and_counted(clean: Path, videos: Path, tmp_path: Path) -> None:
    broken = tmp_path / "videos"
    shutil.copytree(videos, broken)
    (broken / "v1.mp4").write_bytes((broken / "v1.mp4").read_bytes()[:700])
    root = build("perturbed", ["clean"], output=tmp_path / "p", from_=clean, video_root=broken, files=tmp_path / "p")
    assert [row["video_id"] for row in rows_of(root, "clean")] == ["v0", "v2"]
    facts = read_json(root / "set.json")["facts"]
    assert facts["counts"]["clips whose video could not be read"] == 1
    assert "v1.mp4" in facts["warnings"][0]
    with pytest.raises(VideoContrastError, match="no video could be read"):
        build("perturbed", ["clean"], output=tmp_path / "q", from_=clean, video_root=tmp_path, files=tmp_path / "q")


def test_scope_video_perturbs_the_whole_file_and_cuts_it(videos: Path) -> None:
    path = str(videos / "v0.mp4")
    whole = read_video(path).frames
    for name in NAMES:
        done = perturbed_clip(Span(path, "v0", 0.5, 1.5), VideoCondition(name, 2, scope="video"))
        assert np.array_equal(done.frames, perturb_clip(whole, name, 2, video_id="v0")[10:30]), name


def test_file_names_tell_clips_and_recipes_apart() -> None:
    spans = [Span("a", "x/y"), Span("a", "x y"), Span("a", "x_y"), Span("a", "x_y", 1), Span("a", "x_y", 1, 2)]
    conditions = [
        None, VideoCondition("jpeg", 1), VideoCondition("jpeg", 2), VideoCondition("jpeg", 1, seed=1),
        VideoCondition("jpeg", 1, "monotone"), VideoCondition("jpeg", 1, scope="video"),
    ]  # fmt: skip
    names = [file_name(span, c, quality) for span in spans for c in conditions for quality in ("high", "lossless")]
    assert len(set(names)) == len(names)
    assert all(".." not in name and not name.startswith("/") for name in names)
    assert file_name(Span("a", "../../etc"), None).count("/") == 1


# ---- transforms ----


@pytest.fixture()
def table(videos: Path) -> Iterator[datasets.Dataset]:
    rows = {
        "id": [f"i{n}" for n in range(4)], "video_id": ["v0", "v1", "v2", "v0"],
        "video_path": ["v0.mp4", "v1.mp4", "v2.mp4", "v0.mp4"],
        "start": [0.0, 0.5, None, 0.0], "end": [1.0, 1.5, None, 1.0],
    }  # fmt: skip
    yield datasets.Dataset.from_dict(rows)


def test_map_writes_one_file_a_clip_whatever_the_batches(table: datasets.Dataset, videos: Path, tmp_path: Path) -> None:
    results = []
    for folder, options in (("a", {}), ("b", {"batched": True, "batch_size": 3}), ("c", {"num_proc": 2})):
        change = VideoPerturbation("gaussian_noise", 3, video_root=videos, output_dir=tmp_path / folder)
        done = table.map(change, load_from_cache_file=False, **options)
        results.append((done.to_dict(), tree(tmp_path / folder)))
    assert results[0] == results[1] == results[2]
    rows, files = results[0]
    assert len(files) == 6 and rows["video_path"][0] == rows["video_path"][3]
    assert rows["start"] == [None] * 4
    noisy = read_video(tmp_path / "a" / rows["video_path"][1]).frames
    assert noisy.shape == read_video(tmp_path / "a" / rows["clean_path"][1]).frames.shape == (20, 32, 48, 3)


def test_lossless_map_and_lazy_frames_agree(table: datasets.Dataset, videos: Path, tmp_path: Path) -> None:
    change = VideoPerturbation("speckle_noise", 2, video_root=videos, output_dir=tmp_path, quality="lossless")
    written = table.map(change)
    lazy = table.with_transform(change.frames)
    for number in (1, 2):
        assert np.array_equal(
            read_video(tmp_path / written[number]["video_path"]).frames, np.asarray(lazy[number]["frames"])
        )
    few = VideoPerturbation("speckle_noise", 2, video_root=videos, sample=4)
    assert np.asarray(table.with_transform(few.frames)[2]["frames"]).shape == (4, 32, 48, 3)


def test_a_new_version_misses_the_old_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    from datasets.fingerprint import Hasher

    from video_contrast.perturbations.registry import VIDEO

    first = Hasher.hash(VideoPerturbation("jpeg", 3))
    assert first == Hasher.hash(VideoPerturbation("jpeg", 3)) != Hasher.hash(VideoPerturbation("jpeg", 4))
    monkeypatch.setitem(VIDEO, "jpeg", replace(VIDEO["jpeg"], version="2"))
    assert Hasher.hash(VideoPerturbation("jpeg", 3)) != first


def test_transform_errors_are_sentences(videos: Path) -> None:
    change = VideoPerturbation("jpeg", 3, video_root=videos)
    with pytest.raises(VideoContrastError, match="no column 'video_id'"):
        change({"video_path": "v0.mp4"})
    with pytest.raises(VideoContrastError, match=r"none\.mp4: no such video file"):
        change({"video_id": "none", "video_path": "none.mp4"})
    with pytest.raises(VideoContrastError, match=r"without '\.\.'"):
        change({"video_id": "x", "video_path": "../x.mp4"})
    with pytest.raises(UsageError, match="1 to 5"):
        VideoPerturbation("jpeg", 6)
    with pytest.raises(UsageError, match="quality"):
        VideoPerturbation("jpeg", 1, quality="low")
    assert video_contrast.VideoPerturbation is VideoPerturbation


# ---- commands ----


def test_perturb_video_writes_what_perturb_clip_makes(
    videos: Path, tmp_path: Path, capsys: pytest.CaptureFixture
) -> None:
    out, reference = tmp_path / "o.mp4", tmp_path / "c.mp4"
    call = [
        "perturb",
        "video",
        str(videos / "v0.mp4"),
        str(out),
        "--name",
        "shot_noise",
        "--severity",
        "2",
        "--seed",
        "4",
    ]
    assert cli.main([*call, "--quality", "lossless", "--clean", str(reference)]) == 0
    assert "40 frames 48x32, shot_noise at severity 2" in capsys.readouterr().out
    source = read_video(videos / "v0.mp4").frames
    assert np.array_equal(read_video(out).frames, perturb_clip(source, "shot_noise", 2, seed=4, video_id="v0"))
    assert np.array_equal(read_video(reference).frames, source)


@pytest.mark.parametrize(
    ("change", "says", "code"),
    [
        (["--name", "shot_nose"], "did you mean 'shot_noise'", 2),
        (["--severity", "9"], "1 to 5", 2),
        (["--profile", "papr"], "did you mean 'paper'", 2),
        (["--start", "90"], "no frame between 90 s and the end", 1),
    ],
)
def test_perturb_video_says_what_is_wrong(
    videos: Path, tmp_path: Path, capsys: pytest.CaptureFixture, change: list[str], says: str, code: int
) -> None:
    base = ["perturb", "video", str(videos / "v0.mp4"), str(tmp_path / "o.mp4"), "--name", "jpeg", "--severity", "1"]
    assert cli.main([*base, *change]) == code
    error = capsys.readouterr().err
    assert says in error and error.count("\n") == 1
    assert not list(tmp_path.iterdir())


def test_the_sheet_shows_every_condition(videos: Path, tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    import cv2

    out = tmp_path / "sheet.png"
    assert cli.main(["perturb", "sheet", str(videos / "v0.mp4"), str(out), "--width", "96"]) == 0
    sheet = cv2.imread(str(out))
    tile, plot = 64, 40
    assert sheet.shape[0] == 26 + 18 * (tile + 4) + 5 * plot
    assert sheet.shape[1] == 120 + 6 * (96 + 4)
    assert cli.main(["perturb", "sheet", str(videos / "v0.mp4"), str(tmp_path / "s.jpg")]) == 2
    assert "ends in .png" in capsys.readouterr().err


# ---- the real data ----


def test_youcook2_p_counts_are_those_of_the_paper(shared_data: Path) -> None:
    built = youcook2_p(["clean", "shuffle_order", "visual"], data_dir=shared_data / "youcook2")
    assert len(built.tables["clean"]["validation"]) == 3350
    assert len(built.tables["shuffle_order"]["validation"]) == 3350
    assert len(built.tables["visual"]["validation"]) == 90 * 3350
    first = built.tables["visual"]["validation"][0]
    assert first["video_perturbation"]["scope"] == "video" and first["end"] > first["start"]
    assert len({row["video_id"] for row in built.tables["clean"]["validation"]}) == 436
    assert len(perturbing.TEXTS) == 35 and len(perturbing.TEXTS_WITHOUT_BIAS) == 31
    with pytest.raises(UsageError, match="gender_swap"):
        build("youcook2_p", ["gender_swap"], output="unused", data_dir=shared_data / "youcook2")


def test_msrvtt_p_is_the_1k_a_test_under_the_paper_conditions(shared_data: Path, tmp_path: Path) -> None:
    root = build(
        "msrvtt_p", ["clean", "gender_male", "shuffle_order"], output=tmp_path, data_dir=shared_data / "msrvtt"
    )
    clean = rows_of(root, "clean")
    assert len(clean) == 1000 and all(len(row["captions"]) == 1 for row in clean)
    changed = rows_of(root, "gender_male")
    share = np.mean([a["captions"] != b["captions"] for a, b in zip(clean, changed, strict=True)])
    facts = read_json(root / "set.json")["configs"]["gender_male"]["facts"]["checks"]
    assert facts["captions left unchanged"] == f"{100 * (1 - share):.1f} %"
    assert next(iter((root / "clean").iterdir())).name.startswith("test_1k_a-")


def test_what_cannot_run_is_an_error_when_asked_for_by_name(
    clean: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(*_: object, **__: object) -> list[str]:
        raise VideoContrastError("needs the checkpoint x: run hf download x")

    monkeypatch.setattr(perturbing, "perturb_captions", missing)
    with pytest.raises(VideoContrastError, match="hf download x"):
        build("perturbed", ["mlm_suggestion"], output=tmp_path, from_=clean)
    with pytest.raises(UsageError, match=r"holds no set\.json"):
        build("perturbed", ["clean"], output=tmp_path, from_=tmp_path)
    with pytest.raises(UsageError, match="needs --video-root"):
        perturbing.perturbed_set("x", ["clean"], {}, perturbing.Options(files=tmp_path), {})


def test_the_card_holds_the_papers_shift_measures_where_they_are_asked_for(tmp_path: Path, nltk_data: Path) -> None:
    import nltk
    import tiny_models

    import video_contrast

    model = tiny_models.gpt2(tmp_path / "lm")
    source = video_contrast.build("shapes", ["retrieval"], output=tmp_path / "set", items=10, gallery=10)
    before = list(nltk.data.path)
    nltk.data.path.insert(0, str(nltk_data))
    try:
        built = video_contrast.build(
            "perturbed", ["keyboard"], output=tmp_path / "p", from_=source, meteor=True, language_model=str(model)
        )
    finally:
        nltk.data.path[:] = before
    card = (built / "README.md").read_text(encoding="utf-8")
    for measure in ("bleu", "rouge 1", "meteor", "perplexity before", "perplexity after"):
        assert measure in card, measure
