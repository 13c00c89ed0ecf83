"""Builders of published sets, each on a few made-up rows in the format of its release."""

import csv
import json
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, get_type_hints

import datasets
import pytest

import video_contrast
from video_contrast.audit.check import check
from video_contrast.builders.registry import FILES, get_builder
from video_contrast.builders.sources import published
from video_contrast.cli import main
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import read_json
from video_contrast.question_text import Question, question_of
from video_contrast.storage import RunFolder, SetFolder

Rows = dict[tuple[str, str], list[dict[str, Any]]]


def as_json(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return path


def as_lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def as_csv(path: Path, rows: list[dict[str, Any]], delimiter: str = ",") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.DictWriter(handle, list(rows[0]), delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)
    return path


def build(name: str, output: Path, **options: Any) -> Rows:
    """Builds the set, and reads it back by plain `load_dataset`."""
    folder = video_contrast.build(name, output=output / name, **options)
    opened = SetFolder.open(folder)
    facts = opened.record["facts"]
    assert facts["citations"] and facts["licence"] and facts["videos"] and facts["sources"]
    rows: Rows = {}
    for config in opened.configs:
        for split in opened.splits(config):
            rows[config, split] = datasets.load_dataset(str(folder), config, split=split).to_list()
            assert rows[config, split] == opened.rows(config, split)
    return rows


def true(row: dict[str, Any]) -> str:
    return str(row["candidates"][row["label"]])


def asked(row: dict[str, Any]) -> str:
    """What a model is asked about a row."""
    meta = json.loads(row["meta"])
    given = {name: meta[name] for name in ("prompt", "option") if name in meta}
    return Question(row["question"], **given).prompt_for(row["candidates"])


def vitatecs(root: Path) -> dict[str, Any]:
    for aspect in ("Compositionality", "Direction", "Intensity", "Localization", "Sequence", "Type"):
        as_lines(root / f"{aspect}.jsonl", [
            {"src_dataset": "MSRVTT", "video_name": "video1.mp4", "caption": f"a man rises {aspect}",
             "counterfactual": f"a man falls {aspect}", "aspect": aspect},
        ])  # fmt: skip
    return {"folder": root}


@pytest.mark.parametrize("file", FILES)
def test_the_file_that_is_imported_for_a_builder_holds_it(file: str) -> None:
    """A command imports the file of its own builder alone, so each is asked of a new process."""
    code = f"from video_contrast.builders.registry import *; get_builder({FILES[file][0]!r})"
    code += f"; assert BUILDERS.keys() >= {set(FILES[file])}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_vitatecs(tmp_path: Path) -> None:
    rows = build("vitatecs", tmp_path, **vitatecs(tmp_path / "in"))["vitatecs_mc", "test"]
    assert len(rows) == 6 and true(rows[1]) == "a man rises Direction"
    assert rows[1]["video_path"] == "MSRVTT/video1.mp4" and "direction" in rows[1]["kinds"]


def test_vinoground_in_the_released_order_and_shuffled(tmp_path: Path) -> None:
    names = [{"pos_cap": f"a cat jumps then eats {n}", "neg_cap": f"a cat eats then jumps {n}", "major": "action",
              "minor": "interaction;cyclical"} for n in range(12)]  # fmt: skip
    as_csv(tmp_path / "in/vinoground.csv", names)
    question = "Which caption best describes this video?\nA. a cat jumps\nB. a cat eats\nAnswer with the letter."
    as_json(tmp_path / "in/vinoground_textscore.json", [
        {"idx": f"{n}_{side}", "video_name": f"vinoground_videos/{n}_{side}.mp4", "question": question,
         "GT": "A" if side == "pos" else "B"} for n in range(12) for side in ("pos", "neg")
    ])  # fmt: skip
    rows = build("vinoground", tmp_path, folder=tmp_path / "in")
    assert {config for config, _ in rows} == {"pairs", "pairs_shuffled", "text_released_mc", "text_shuffled_mc"}
    pairs, shuffled = rows["pairs", "test"], rows["pairs_shuffled", "test"]
    assert [row["label"] for row in pairs] == [0, 1] * 12 and {row["label"] for row in shuffled[::2]} == {0, 1}
    assert [true(row) for row in pairs] == [true(row) for row in shuffled]
    assert pairs[3]["group"] == "1" and pairs[3]["video_path"] == "vinoground_videos/1_neg.mp4"
    released, turned = rows["text_released_mc", "test"], rows["text_shuffled_mc", "test"]
    question += "\nPlease only output one English character."  # the line that the authors' scripts add
    assert asked(released[0]) == question and {asked(row) for row in turned} > {question}
    assert [true(row) for row in released] == [true(row) for row in turned]
    warning = SetFolder.open(tmp_path / "vinoground").record["facts"]["warnings"][0]
    assert warning.startswith("pairs: the files hold 24 items, as no known release (the published 1,000)")


def tempcompass(root: Path, answer: str = "B. rising") -> dict[str, Any]:
    questions = {
        "multi-choice": ("What happens?\nA. falling\nB. rising ", answer),
        "yes_no": ("Is it rising?", "no"),
        "caption_matching": ("Which fits?\nOption 1: It rises.\nOption 2: It falls.", "Option 2: It falls."),
    }
    for name, (question, answer) in questions.items():
        entry = {"question": question, "answer": answer}
        as_json(root / f"questions/{name}.json", {"101_reverse": {"direction": [entry]}})
    return {"folder": root}


def test_tempcompass_asks_word_for_word(tmp_path: Path) -> None:
    rows = build("tempcompass", tmp_path, **tempcompass(tmp_path / "in"))
    [choice], [yes_no], [match] = (rows[name, "test"] for name in ("multi_choice", "yes_no", "caption_matching"))
    assert asked(choice) == "What happens?\nA. falling\nB. rising \nPlease directly give the best option:"
    assert asked(yes_no) == "Is it rising?\nPlease answer yes or no:" and true(yes_no) == "no"
    assert asked(match) == (
        "Which fits?\nOption 1: It rises.\nOption 2: It falls.\nPlease directly give the best option:"
    )
    assert (choice["video_path"], choice["cluster"]) == ("videos/101_reverse.mp4", "101")


def test_velociti(tmp_path: Path) -> None:
    table = as_csv(tmp_path / "t.csv", [
        {"test_name": "action_adv", "video_id": "v_1.mp4", "event": "Ev2", "pos": "a man runs", "neg": "a man sits"},
    ])  # fmt: skip
    [row] = build("velociti", tmp_path, table=str(table))["velociti_mc", "test"]
    assert row["video_path"] == "velociti_videos/v_1.mp4" and "action_adv" in row["kinds"]


def vilma_entry(**changes: Any) -> dict[str, Any]:
    return {
        "dataset": "coin", "youtube_id": "abc", "video_file": None, "start_time": 96.0, "end_time": 97.0,
        "time_unit": "sec", "caption": "The athlete jumps.", "foils": ["The athlete descends."], "class": "jump",
        "classes_foil": ["descend"], "mturk": {"foil": 1, "caption": 2, "other": 0},
        "proficiency": {"caption": "The athlete jumps.", "foils": ["The girl jumps."],
                        "human": {"foil": 0, "caption": 1, "other": 0}},
    } | changes  # fmt: skip


def test_vilma_with_and_without_the_proficiency_test(tmp_path: Path) -> None:
    counting = vilma_entry(dataset="QUVA", youtube_id=None, video_file="000_rope.mp4", start_time=60, end_time=90,
                           time_unit="pts", foils=["a", "b"])  # fmt: skip
    files = {"counting-easy-spelled-sec": {"c": counting, "bad": {**counting, "mturk": {"caption": 1}}},
             "counting-hard-spelled-sec": {}, "relations": {}}  # fmt: skip
    names = ("change-state-action", "change-state-inverse", "change-state-prestate", "change-state-poststate")
    for name in names:
        files[name] = {"k1": vilma_entry()}
    for name, content in files.items():
        as_json(tmp_path / "in" / f"{name}.json", content)
    configs = ["change_of_state", "change_of_state_proficiency", "action_counting"]
    folder = video_contrast.build("vilma", configs, output=tmp_path / "set", folder=tmp_path / "in")
    opened = SetFolder.open(folder)
    [row] = opened.choice_rows("action_counting", "test")
    assert (row["video_path"], row["start"], row["end"]) == ("QUVA/000_rope.mp4", 2.0, 3.0)
    main, test = (opened.choice_rows(config, "test") for config in configs[:2])
    assert [r["id"] for r in main] == [r["id"] for r in test] and len(main) == 4
    assert (main[0]["video_path"], main[0]["start"]) == ("coin/abc.mp4", 96.0)
    counts = opened.record["configs"]["action_counting"]["facts"]["splits"]["test"]["counts"]
    assert counts == {"built": 1, "not_valid": 1, "repeated_negatives": 0, "rows": 2}
    scored = video_contrast.score("constant", folder, configs, progress=False)
    clean = scored["change_of_state"]["conditions"]["clean"]
    assert clean["accuracy"] == 0.5 and clean["accuracy_with_proficiency"] == 0.25
    assert "accuracy_with_proficiency" not in scored["action_counting"]["conditions"]["clean"]


def test_vilma_shows_the_clip_of_an_item_and_not_the_whole_video(tmp_path: Path) -> None:
    """Its loader cuts all sources but Something-Something V2, whose files are the clips."""
    star = vilma_entry(dataset="star", youtube_id=None, video_file="T832F", start_time=0.4, end_time=10.6)
    clip = vilma_entry(dataset="something-something-v2", youtube_id=None, video_file="9", start_time=0, end_time=None)
    situation = vilma_entry(dataset="VidSitu", youtube_id="f1Nh9DlkZ1w3", video_file="f1Nh9DlkZ1w3_20_30",
                            start_time=20, end_time=30)  # fmt: skip
    files = {f"change-state-{name}": {} for name in ("action", "inverse", "prestate", "poststate")}
    files |= {"SRL_Action_Replacement_Top_1000": {"k": situation}, "SRL_Actor_Swapping": {}}
    for name, content in files.items():
        as_json(tmp_path / "in" / f"{name}.json", {"s": star, "c": clip} if name == "change-state-action" else content)
    configs = [f"{task}{end}" for task in ("change_of_state", "situation_awareness") for end in ("", "_proficiency")]
    opened = SetFolder.open(video_contrast.build("vilma", configs, output=tmp_path / "set", folder=tmp_path / "in"))
    for config in configs[:2]:
        spans = [(row["video_path"], row["start"], row["end"]) for row in opened.choice_rows(config, "test")]
        assert spans == [("star/T832F.mp4", 0.4, 10.6), ("something-something-v2/9.webm", None, None)]
    (row,) = opened.choice_rows(configs[3], "test")
    assert (row["video_path"], row["start"], row["end"]) == ("VidSitu/f1Nh9DlkZ1w3.mp4", 20.0, 30.0)
    assert row["cluster"] == "VidSitu/f1Nh9DlkZ1w"  # the digit behind YouTube's 11 characters is the release's


@pytest.mark.parametrize("line", ["C.Both at once", " C. Both at once"])
def test_tempcompass_keeps_options_with_a_blank_too_few_or_too_many(tmp_path: Path, line: str) -> None:
    given = tempcompass(tmp_path / "in")
    entry = {"question": f"Which is first?\nA. dancing\nB. an air kiss\n{line}", "answer": "A. dancing"}
    as_json(tmp_path / "in/questions/multi-choice.json", {"1": {"order": [entry]}})
    (row,) = build("tempcompass", tmp_path, configs=["multi_choice"], **given)["multi_choice", "test"]
    assert row["candidates"] == ["dancing", "an air kiss", "Both at once"]
    other = entry | {"question": "Which?\nA. dancing\nx"}
    as_json(tmp_path / "in/questions/multi-choice.json", {"1": {"order": [other]}})
    with pytest.raises(VideoContrastError, match="a line of the question is neither its first nor an option"):
        video_contrast.build("tempcompass", ["multi_choice"], output=tmp_path / "no", **given)


def test_a_build_says_which_release_it_read_and_whether_it_is_whole(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The released files of VITATECS: 13,838 lines in `data`, 16,124 in the older `data_opt`."""
    for lines, told, warns in ((13838, "the published release", False), (16124, "OPT-175B) release, not the", True),
                               (600, "600 items, as no known release (the published 13,838", True)):  # fmt: skip
        given = vitatecs(tmp_path / str(lines))
        row = {"src_dataset": "MSRVTT", "video_name": "v.mp4", "caption": "", "counterfactual": "", "aspect": "Type"}
        with (given["folder"] / "Type.jsonl").open("a", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for _ in range(lines - 6))
        assert main(["build", "vitatecs", "--folder", str(given["folder"]), "--output", str(tmp_path / "out")]) == 0
        said = capsys.readouterr()
        assert told in " ".join((said.out + said.err).split()) and ("warning: vitatecs_mc" in said.err) is warns


def test_every_published_builder_knows_its_counts_or_what_is_said_of_them() -> None:
    counted_by_split = {"nextqa", "rtime", "videonet"}
    for name in read_json(Path(published.__file__).with_name("releases.json")):
        known = published.release(name)
        assert name in counted_by_split or known.about or known.paper.keys() == set(get_builder(name).configs), name
    told, warning = published.release("temporalbench").of_counts("long_mc", 5485)
    assert told == "5,485 items: the published release" and warning is None
    assert "are they whole?" in str(published.release("actionbench").of_counts("object_mc", 23800)[1])
    assert (
        published.release("videocomp")
        .of_counts("activitynet_mc", 9)[0]
        .startswith("9 items; its paper says about 17,000")
    )


def test_a_key_that_stands_twice_in_a_released_file_is_refused(tmp_path: Path) -> None:
    given = tempcompass(tmp_path / "in")
    path = tmp_path / "in/questions/yes_no.json"
    path.write_text(f'{{"7": {{"speed": []}}, {path.read_text(encoding="utf-8")[1:-1]}, "7": {{}}}}', encoding="utf-8")
    with pytest.raises(VideoContrastError, match=r"yes_no\.json is not valid JSON: the key '7' stands twice"):
        video_contrast.build("tempcompass", ["yes_no"], output=tmp_path / "no", **given)


def test_videocon(tmp_path: Path) -> None:
    pair = {"caption": "a man sits", "neg_caption": "a man stands"}
    llm = as_csv(tmp_path / "llm.csv", [
        {"source": "MSR-VTT", "videopath": f"val/{name}.mp4", **pair, "split": split, "misalignment": "action",
         "youtube_key": "k"} for split, name in (("train", 7), ("val", 7), ("val", 8), ("test", 9))
    ])  # fmt: skip
    human = as_csv(tmp_path / "human.csv", [
        {"video_url": "https://host/v_a.mp4", **pair, "nle": "he sits", "hard": hard} for hard in ("True", "False")
    ])  # fmt: skip
    rows = build("videocon", tmp_path, llm=llm, human=human)
    validation = rows["llm_mc", "validation"]
    assert [row["video_path"] for row in validation] == ["MSR-VTT/val/7.mp4", "MSR-VTT/val/8.mp4"]
    assert [row["cluster"] for row in validation] == ["k", "k"]  # both are cut from one video of YouTube
    assert [row["video_path"] for row in rows["human_mc", "test"]] == ["human/v_a.mp4"] * 2
    assert "human_hard" in rows["human_mc", "test"][0]["kinds"]


def test_a_build_tells_what_fell_out_and_nothing_else(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    row = {"src_dataset": "MSRVTT", "video_name": "v.mp4", "caption": "in", "counterfactual": "out", "aspect": "Type"}
    for name in ("Direction", "Intensity", "Sequence", "Localization", "Compositionality", "Type"):
        as_lines(tmp_path / "in" / f"{name}.jsonl", [row, row | {"caption": ""}])
    with zipfile.ZipFile(tmp_path / "videos.zip", "w") as archive:
        archive.writestr("other.mp4", "")
    given = ["--folder", str(tmp_path / "in"), "--videos-zip", str(tmp_path / "videos.zip")]
    assert main(["build", "vitatecs", *given, "--output", str(tmp_path / "out")]) == 0
    told = "".join(capsys.readouterr())
    assert "6 rows (6 rows lack a caption; 6 videos are not in the zip)" in told, told
    del row["video_name"]
    as_lines(tmp_path / "in" / "Type.jsonl", [row])
    with pytest.raises(VideoContrastError, match=r"Type.jsonl, line 1: no field 'video_name' for the video's path"):
        video_contrast.build("vitatecs", folder=tmp_path / "in", output=tmp_path / "no")


def test_videocomp(tmp_path: Path) -> None:
    question = "Which tells of the video?\n(A) He runs. Then he sits.\n(B) He sits. Then he runs."
    entry = {"key": "k1", "video_id": "yt", "type": "temporal reordering", "original_video/start_time": 0,
             "original_video/end_time": 50000000, "query_video/start_time": 5000000, "query_video/end_time": 20500000,
             "positive_text": "He sits. Then he runs.", "negative_text": "He runs. Then he sits.", "question": question,
             "answer": "B"}  # fmt: skip
    other = entry | {"key": "k2", "answer": "the second"}
    for name in ("activitynet", "youcook2"):
        as_json(tmp_path / "in" / f"{name}_comp_val.json", [entry, other])
    tables = build("videocomp", tmp_path, folder=tmp_path / "in")
    row = tables["activitynet_mc", "validation"][0]
    assert (row["video_path"], row["start"], row["end"]) == ("yt.mp4", 5.0, 20.5)  # released in microseconds
    assert "temporal_reordering" in row["kinds"] and true(row) == "He sits. Then he runs."
    [asked] = tables["activitynet_questions", "validation"]  # the other's answer is no letter: counted
    assert asked["candidates"] == ["A", "B"] and asked["label"] == 1
    released = question_of(asked)
    assert released is not None and released.prompt_for(asked["candidates"]) == question  # word for word, nothing added


def test_rtime_groups_a_clip_and_its_reversal(tmp_path: Path) -> None:
    as_json(tmp_path / "in/test.json", {"33": {
        "temporal": True, "reverse": True, "forward_captions": ["up", "rise"], "reverse_captions": ["down", "fall"],
        "forward_rewrites": [], "reverse_rewrites": [], "url": "u",
    }})  # fmt: skip
    rows = build("rtime", tmp_path, folder=tmp_path / "in")["pairs", "test"]
    assert [(row["group"], row["video_path"], true(row)) for row in rows] == [
        ("33-0", "33.mp4", "up"), ("33-0", "33_reverse.mp4", "down"), ("33-1", "33.mp4", "rise"),
        ("33-1", "33_reverse.mp4", "fall"),
    ]  # fmt: skip
    assert {row["cluster"] for row in rows} == {"33"}


def test_actionbench(tmp_path: Path) -> None:
    rows = [
        {"label": "Spinning cube that stops", "template": "Spinning something that stops", "placeholders": ["cube"],
         "label_action_antonym_clip_text": "Spinning cube that starts", "id": 74225,
         "label_object_shuffled_clip_text": "spinning lid that stops"}
    ]  # fmt: skip
    built = build("actionbench", tmp_path, annotations=as_lines(tmp_path / "a.jsonl", rows))
    [antonym], [other] = built["antonym_mc", "validation"], built["object_mc", "validation"]
    assert antonym["video_path"] == "74225.webm" and sorted(antonym["candidates"])[0] == "Spinning cube that starts"
    assert "spinning lid that stops" in other["candidates"]


def test_ssv2_label_and_template(tmp_path: Path) -> None:
    label = as_json(tmp_path / "l.json", [{"video": ["1.webm"], "caption": "spinning soap"}])
    template = as_json(tmp_path / "t.json", [
        {"video": ["1.webm", "2.webm"], "caption": "Spinning [something]"},
        {"video": ["3.webm"], "caption": "Pushing [something]"},
    ])  # fmt: skip
    rows = build("ssv2", tmp_path, label=label, template=template)
    assert rows["label", "validation"][0]["captions"] == ["spinning soap"]
    assert [true(row) for row in rows["template_mc", "validation"]] == ["Spinning [something]"] * 2 + [
        "Pushing [something]"
    ]


def test_tvbench(tmp_path: Path) -> None:
    entry = {"video": "a.mp4", "question": "What comes first?", "candidates": ["sit", "stand"], "answer": "stand",
             "start": 1.0, "end": 2.0}  # fmt: skip
    for task in ("action_antonym", "action_sequence"):
        as_json(tmp_path / f"in/{task}.json", [entry])
    antonym, sequence = build("tvbench", tmp_path, folder=tmp_path / "in")["tvbench_mc", "test"]
    question = "Question: What comes first?\nOptions:\n(A) sit\n(B) stand\nOnly give the best option."
    assert asked(antonym).endswith(f"addresses the question.\n{question}")
    assert antonym["video_path"] == "video/action_antonym/a.mp4" and antonym["label"] == 1
    # as the authors' loader, which reads them in two of the ten tasks
    assert (antonym["start"], antonym["end"], sequence["start"], sequence["end"]) == (None, None, 1.0, 2.0)


def test_tomato(tmp_path: Path) -> None:
    for task in ("count", "direction", "rotation", "shape&trend", "velocity&frequency", "visual_cues"):
        as_json(tmp_path / "in" / f"{task}.json", {"0": {
            "question": "How many?", "options": ["2", "1", "3"], "answer": 2, "key": "0209-03", "video_source_url": "",
            "motion_type": "count", "variation": {"zoom": 1}, "demonstration_type": "human", "note": "",
        }})  # fmt: skip
    rows = build("tomato", tmp_path, folder=tmp_path / "in")["tomato_mc", "test"]
    assert len(rows) == 6 and true(rows[0]) == "3" and rows[0]["video_path"] == "videos/human/0209-03.mp4"
    assert "\n<options> \n{'A': '2', 'B': '1', 'C': '3'} \n</options>" in asked(rows[0])


def nextqa(root: Path, answer: int = 3, delimiter: str = ",") -> dict[str, Any]:
    as_json(root / "map_vid_vidorID.json", {"4010069381": "1164/4010069381"})
    row = {"video": 4010069381, "frame_count": 369, "width": 640, "height": 480, "question": "how do they play",
           "answer": answer, "qid": 6, "type": "CH", "a0": "roll", "a1": "tap", "a2": "strum", "a3": "hit",
           "a4": "pat"}  # fmt: skip
    as_csv(root / "val.csv", [row], delimiter)
    return {"folder": root, "splits": "validation"}


@pytest.mark.parametrize("delimiter", [",", ";"])  # as spreadsheets save it in some countries
def test_nextqa(tmp_path: Path, delimiter: str) -> None:
    [row] = build("nextqa", tmp_path, **nextqa(tmp_path / "in", delimiter=delimiter))["nextqa_mc", "validation"]
    assert (true(row), row["video_path"], row["kinds"][0]) == ("hit", "1164/4010069381.mp4", "ch")


def test_minimal_video_pairs(tmp_path: Path) -> None:
    rows = [
        {"video_id": f"p_7_{n}", "video_path": f"clevrer/p_7_{n}.mp4", "question": "Who moves?",
         "candidates": "['cube', 'ball']", "answer": answer, "source": "clevrer"}
        for n, answer in ((1, "cube"), (2, "ball"))
    ] + [{"video_id": "q_1", "video_path": "q.mp4", "question": "?", "candidates": "['a', 'b']", "answer": "a",
          "source": "clevrer"}]  # fmt: skip
    built = build("minimal_video_pairs", tmp_path, table=[str(as_csv(tmp_path / "mini.csv", rows))])["pairs", "test"]
    assert [row["label"] for row in built] == [0, 1] and {row["group"] for row in built} == {"mini-p_7"}
    assert asked(built[0]).startswith("Question: Who moves?\nOption:\n(A) cube\n(B) ball \nEven when unsure")


def test_videohallucer_groups_questions_and_reports_the_text_score(tmp_path: Path) -> None:
    def side(video: str, question: str, answer: str) -> dict[str, str]:
        return {"video": video, "question": question, "answer": answer}

    as_json(tmp_path / "in/temporal/temporal.json", [
        {"basic": side("a.mp4", "Is it first?", "yes"), "hallucination": side("a.mp4", "Is it last?", "no"),
         "type": "temporal_absolute"},
        {"basic": side("b.mp4", "1?", "no"), "hallucination": side("b.mp4", "2?", "no"), "type": "temporal_absolute"},
    ])  # fmt: skip
    rows = build("videohallucer", tmp_path, folder=tmp_path / "in")["temporal", "test"]
    assert [row["question"] for row in rows] == ["Is it first?", "Is it last?"]
    assert asked(rows[0]) == "Is it first?\nAnswer the question using 'yes' or 'no'."
    result = video_contrast.score("constant", tmp_path / "videohallucer", "temporal", progress=False)
    clean = result["temporal"]["conditions"]["clean"]
    assert clean["text_score"] == 0.25 and "video_score" not in clean  # the questions differ
    assert result.record["set"]["questions"] == {"temporal": "joined"}


def test_temporalbench(tmp_path: Path) -> None:
    question = "Which caption best describes this video?\nA. He closes it. \nB. He opens it.\nAnswer directly."
    for name in ("short", "long"):
        as_json(tmp_path / f"in/temporalbench_{name}_qa.json", [
            {"idx": f"{path}_{n}", "video_name": path, "question": question, "GT": key, "category": 2}
            for path, keys in (("short_video/E.mp4", "BA"), ("short_video/F.mp4", "B"), ("short_video/G.mp4", "BB"))
            for n, key in enumerate(keys)
        ])  # fmt: skip
    rows = build("temporalbench", tmp_path, folder=tmp_path / "in")["short_mc", "test"]
    assert true(rows[0]) == "He opens it." and asked(rows[0]) == question and "action_frequency" in rows[0]["kinds"]
    # the released scorer's multiple binary accuracy: a video counts where no answer of its questions is wrong
    constant = video_contrast.score("constant", tmp_path / "temporalbench", "short_mc", progress=False)
    clean = constant["short_mc"]["conditions"]["clean"]
    assert clean["clips"] == 3 and clean["right_in_all_of_clip"] == pytest.approx((0.25 + 0.5 + 0.25) / 3)
    (tmp_path / "temporalbench/short_video").mkdir()
    for row in rows[:5]:
        (tmp_path / "temporalbench" / row["video_path"]).touch()
    scored = video_contrast.score("random", tmp_path / "temporalbench", "short_mc", output=tmp_path / "r", seed=3)
    right: dict[str, bool] = {}
    for row in RunFolder(tmp_path / "r").score_rows():
        video = row["id"].rpartition("_")[0]
        right[video] = right.get(video, True) and row["scores"][row["label"]] == max(row["scores"])
    assert scored["short_mc"]["conditions"]["clean"]["right_in_all_of_clip"] == sum(right.values()) / 3


def timeblind(root: Path, **changes: Any) -> dict[str, Any]:
    rows = []
    for asked, question in enumerate(("Does he sit before he eats?", "Does he eat before he sits?")):
        options = (
            f"What is first? Option A: {('Sitting.', 'Eating.')[asked]} Option B: {('Eating.', 'Sitting.')[asked]}"
        )
        for clip in (0, 1):
            key = int(asked != clip)
            common = {"answer": ("Yes", "No")[key], "type": "yes_no"}
            rows.append(
                {
                    "index": 2 * asked + clip,
                    "video_path": f"TimeBlind/videos/vid_00000_{clip}.mp4",
                    "question": question,
                    **common,
                }
            )
            rows.append({"index": 4 + 2 * asked + clip, "video_path": f"TimeBlind/videos/mcq_vid_00000_{clip}.mp4",
                         "question": options, "answer": "AB"[key], "type": "multiple_choice"})  # fmt: skip
    return {"table": as_lines(root / "data.jsonl", [row | changes for row in sorted(rows, key=lambda r: r["index"])])}


def test_timeblind_asks_the_same_question_of_both_clips_of_a_group(tmp_path: Path) -> None:
    rows = build("timeblind", tmp_path, **timeblind(tmp_path / "in"))["pairs", "test"]
    assert [(row["group"], true(row)) for row in rows] == [
        ("0-0", "yes"), ("0-0", "no"), ("0-1", "no"), ("0-1", "yes"),
        ("1-0", "Sitting."), ("1-0", "Eating."), ("1-1", "Sitting."), ("1-1", "Eating."),
    ]  # fmt: skip
    assert rows[1]["video_path"] == "videos/vid_00000_1.mp4" and {row["cluster"] for row in rows} == {"0", "1"}
    assert asked(rows[0]) == "Does he sit before he eats? Please output Yes or No."
    assert asked(rows[4]) == "What is first? Option A: Sitting.\nOption B: Eating. Please output A or B."
    clean = video_contrast.score("constant", tmp_path / "timeblind", "pairs", progress=False)["pairs"]["conditions"]
    assert clean["clean"]["text_score"] == 0.25 and clean["clean"]["clips"] == 4
    assert (
        clean["clean"]["sources"] == 2 and clean["clean"]["right_in_all_of_source"] == 1 / 16
    )  # its instance accuracy


def test_camerabench_as_pairs_of_captions_and_as_questions(tmp_path: Path) -> None:
    texts = {"pos_text": "Does it pan left?", "neg_text": "Does it pan right?"}
    as_lines(tmp_path / "in/motion_direction/pan_left_vs_pan_right.jsonl", [
        {"skill": "rotation_direction", "task": "pan_left_vs_pan_right", "pos_video": "a.0.1.mp4",
         "neg_video": "/data3/videos/b.0.2.mp4", **texts, "pos_question": texts["pos_text"],
         "neg_question": texts["neg_text"]},
    ])  # fmt: skip
    rows = build("camerabench", tmp_path, folder=tmp_path / "in")
    assert [(row["video_path"], true(row)) for row in rows["pairs", "test"]] == [
        ("a.0.1.mp4", "Does it pan left?"), ("b.0.2.mp4", "Does it pan right?"),
    ]  # fmt: skip
    questions = rows["questions", "test"]
    answers = sorted((row["video_path"], row["question"], true(row)) for row in questions)
    assert [answer for *_, answer in answers] == ["yes", "no", "no", "yes"]
    assert asked(questions[0]) == "Does it pan left? Please only answer Yes or No."
    assert len({row["group"] for row in questions}) == 2 and "motion_direction" in questions[0]["kinds"]


def intphys2(root: Path, **changes: Any) -> dict[str, Any]:
    kinds = ("1_Possible", "1_Impossible", "2_Impossible", "2_Possible")
    as_csv(root / "Main/metadata.csv", [
        {"SceneIndex": 0, "name": f"n{n}", "file_name": f"Videos/n{n}.mp4", "game_name": "Jump", "env": "BasicLevel_0",
         "condition": "solidity", "type": kind, "occluder": "None", "Difficulty": "Easy", "Camera": "Fixed"} | changes
        for n, kind in enumerate(kinds)
    ])  # fmt: skip
    return {"folder": root}


def test_intphys2_pairs_a_possible_with_an_impossible_clip(tmp_path: Path) -> None:
    rows = build("intphys2", tmp_path, **intphys2(tmp_path / "in"))["pairs", "test"]
    assert [(row["group"], true(row)) for row in rows] == [("0-1", "yes"), ("0-1", "no"), ("0-2", "no"), ("0-2", "yes")]
    assert rows[0]["video_path"] == "Main/Videos/n0.mp4" and "solidity" in rows[0]["kinds"]
    assert "is the behaviour of the objects plausible? Your answer should be based on" in asked(rows[0])


def test_vidhalluc_groups_the_clips_of_a_question(tmp_path: Path) -> None:
    clips = ("v_0_10", "v_20_30")
    binary = as_json(tmp_path / "bqa.json", {"1": [
        {"q": "Does he run?", "a": {clips[0]: "Yes", clips[1]: "No"}},
        {"q": "Is it a man?", "a": {clips[0]: "Yes", clips[1]: "Yes"}},
    ]})  # fmt: skip
    options = {"A": "running", "B": "sitting"}
    choices = as_json(tmp_path / "mcq.json", {"1": {
        clip: {"Question": "What happens?", "Choices": options, "Correct Answer": answer}
        for clip, answer in (*zip(clips, "BA", strict=True), ("v_40_50", "AB"))
    }})  # fmt: skip
    rows = build("vidhalluc", tmp_path, binary=binary, choices=choices)
    assert [(row["group"], row["video_path"], true(row)) for row in rows["binary", "test"]] == [
        ("1-0", "v_0_10.mp4", "yes"), ("1-0", "v_20_30.mp4", "no"),
    ]  # fmt: skip
    assert [true(row) for row in rows["multiple_choice", "test"]] == ["sitting", "running"]
    assert asked(rows["multiple_choice", "test"][0]).endswith("(e.g., ABCD)\nChoices:\nA. running\nB. sitting\n")
    configs = SetFolder.open(tmp_path / "vidhalluc").record["configs"]
    counts = [configs[name]["facts"]["splits"]["test"]["counts"] for name in ("binary", "multiple_choice")]
    assert counts[0]["not_one_yes_and_one_no"] == counts[1]["several_right_answers"] == 1
    with pytest.raises(UsageError, match="give --binary FILE or --choices FILE"):
        video_contrast.build("vidhalluc", output=tmp_path / "none")


def vidpair_halluc(root: Path, **changes: Any) -> dict[str, Any]:
    clips = [f"VidPair-Halluc/{folder}/{folder}_001.mp4" for folder in ("static_relation_0040", "static_relation_0041")]
    pair = {"pair_id": "p1", "positive_video": clips[0], "adversarial_video": clips[1].partition("/")[2]}
    as_json(root / "pairs/pairs.json", [pair])
    as_lines(root / "qa/hf/binary.jsonl", [
        {"question": question, "answer": answer, "repo_video_path": clip} | changes
        for question, answers in (("Is it behind?", ("yes", "No")), ("Is it red?", ("no", "no")))
        for clip, answer in zip(clips, answers, strict=True)
    ])  # fmt: skip
    return {"folder": root}


def test_vidpair_halluc_groups_the_clips_of_a_pair_under_a_question(tmp_path: Path) -> None:
    rows = build("vidpair_halluc", tmp_path, **vidpair_halluc(tmp_path / "in"))["binary", "test"]
    assert [(row["video_path"], true(row)) for row in rows] == [
        ("VidPair-Halluc/static_relation_0040/static_relation_0040_001.mp4", "yes"),
        ("VidPair-Halluc/static_relation_0041/static_relation_0041_001.mp4", "no"),
    ]
    assert len({row["group"] for row in rows}) == 1 and "static_relation" in rows[0]["kinds"]
    assert asked(rows[0]).endswith("or explanation.\nIs it behind?")
    record = SetFolder.open(tmp_path / "vidpair_halluc").record
    counts = record["configs"]["binary"]["facts"]["splits"]["test"]["counts"]
    assert (counts["rows"], counts["built"], counts["not_one_yes_and_one_no"]) == (4, 2, 2)
    assert record["facts"]["warnings"][0].startswith("binary: the files hold 4 items, as no known release")


def vidhal(root: Path, **order: str) -> dict[str, Any]:
    captions = {"2": "Three men dance.", "3": "Four men dance.", "1": "Two men dance."}
    as_json(root / "annotations.json", [
        {"video": "attribute_1", "captions": captions, "dataset": "autoeval_video", "aspect": "attribute",
         "subaspect": "count"},
    ])  # fmt: skip
    as_json(root / "options.json", {"attribute_1": {"A": "2", "B": "1", "C": "3"} | order})
    return {"folder": root}


def test_vidhal_keeps_the_order_of_options_and_the_grades_of_captions(tmp_path: Path) -> None:
    [row] = build("vidhal", tmp_path, **vidhal(tmp_path / "in"))["vidhal_mc", "test"]
    assert row["candidates"] == ["Three men dance.", "Two men dance.", "Four men dance."] and row["label"] == 1
    assert json.loads(row["meta"])["grades"] == [2, 1, 3] and row["kinds"] == ["attribute", "true", "attribute"]
    assert row["video_path"] == "attribute_1.mp4"
    scored = video_contrast.score("constant", tmp_path / "vidhal", "vidhal_mc", progress=False)
    clean = scored["vidhal_mc"]["conditions"]["clean"]
    assert clean["ndcg_min_max"] == clean["chance_ndcg_min_max"] == pytest.approx(0.5)


def videonet(root: Path, **changes: Any) -> dict[str, Any]:
    text = (
        "Which of the following Figure Skating actions is shown in the video?\nA. spiral\nB. camel spin\nPlease answer."
    )
    question = [{"type": "text", "text": text}, {"type": "video", "video": "d0.mp4"}]
    for split in ("test", "val"):
        as_lines(root / f"mcq_{split}.jsonl", [{"key": f"1-{split}", "question": question, "answer": "B"} | changes])
    return {"folder": root}


def test_videonet(tmp_path: Path) -> None:
    rows = build("videonet", tmp_path, **videonet(tmp_path / "in"))
    [row] = rows["videonet_mc", "validation"]
    assert (true(row), row["video_path"], row["kinds"][0]) == ("camel spin", "videos/d0.mp4", "figure_skating")
    assert asked(row).endswith("\nA. spiral\nB. camel spin\nPlease answer.") and ("videonet_mc", "test") in rows


def test_chirality_in_action_sets_the_opposite_caption_against_a_clips_own(tmp_path: Path) -> None:
    rows = [
        {"id": id, "chiral_triplet_id": triplet, "chiral_label": side, "template": text}
        for id, triplet, side, text in (
            (7, 12, 0.0, "Opening something"), (8, 12, 1.0, "Closing something"), (8, 12, 1.0, "Closing something"),
            (9, 12, 0.0, "Opening a thing"), (7, 13, 0.0, "Pulling something"),
        )
    ]  # fmt: skip
    as_csv(tmp_path / "in/cia-ssv2-validation.csv", rows)
    built = build("chirality_in_action", tmp_path, configs=["ssv2_mc"], folder=tmp_path / "in")["ssv2_mc", "validation"]
    assert [(row["video_path"], true(row)) for row in built] == [
        ("7.webm", "Opening something"), ("8.webm", "Closing something"), ("9.webm", "Opening something"),
    ]  # fmt: skip
    assert all(sorted(row["candidates"]) == ["Closing something", "Opening something"] for row in built)
    scored = video_contrast.score(
        "constant", tmp_path / "chirality_in_action", "ssv2_mc", split="validation", progress=False
    )
    clean = scored["ssv2_mc"]["conditions"]["clean"]  # "Opening" is true of two of three clips, "Closing" of one
    assert clean["shared_captions"] == 2 and clean["clip_mAP"] == clean["chance_clip_mAP"]
    assert clean["clip_R@1"] == pytest.approx((2 / 3 + 1 / 3) / 2)


def test_carebench(tmp_path: Path) -> None:
    table = as_json(tmp_path / "metadata.json", [{"video": "a.mp4", "caption": "A man rises, then sits."}])
    [row] = build("carebench", tmp_path, table=table)["retrieval", "test"]
    assert (row["video_path"], row["captions"]) == ("videos/a.mp4", ["A man rises, then sits."])


def test_negbench(tmp_path: Path) -> None:
    table = as_csv(tmp_path / "n.csv", [
        {"image_path": "data/MSRVTT/video3.mp4", "caption_0": "a dog, no cat", "caption_1": "a cat",
         "caption_2": "no dog", "caption_3": "a cat, no dog", "correct_answer": 0, "correct_answer_template": "hybrid"},
    ])  # fmt: skip
    [row] = build("negbench", tmp_path, table=table)["msrvtt_mc", "test"]
    assert (true(row), row["video_path"], row["kinds"][1]) == ("a dog, no cat", "video3.mp4", "hybrid")


def test_videos_may_be_members_of_a_zip(tmp_path: Path) -> None:
    path = tmp_path / "v.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("deep/folder/video1.mp4", b"x")
    rows = build("vitatecs", tmp_path, videos_zip=path, **vitatecs(tmp_path / "in"))["vitatecs_mc", "test"]
    assert {row["video_path"] for row in rows} == {"deep/folder/video1.mp4"}
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("../../etc/video1.mp4", b"x")
    with pytest.raises(VideoContrastError, match=r"v.zip: the member '../../etc/video1.mp4' leaves the root"):
        video_contrast.build("vitatecs", output=tmp_path / "x", videos_zip=path, folder=tmp_path / "in")


def test_a_set_without_its_videos_is_audited_and_check_says_where_they_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from video_contrast.cli import main

    build("vitatecs", tmp_path, **vitatecs(tmp_path / "in"))
    folder = tmp_path / "vitatecs"
    assert "audit" in SetFolder.open(folder).record["configs"]["vitatecs_mc"]["facts"]
    (tmp_path / "videos").mkdir()
    assert check(folder, video_root=tmp_path / "videos").missing == ["MSRVTT/video1.mp4"]
    assert main(["check", str(folder), "--video-root", str(tmp_path / "videos")]) != 0
    assert "the videos: MSR-VTT: https://github.com/m-bain/frozen-in-time" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "make", "inner", "written"),
    [
        ("tempcompass", tempcompass, "questions", ""),
        ("intphys2", intphys2, "Main", ""),
        ("vitatecs", vitatecs, "data", "data"),
        ("nextqa", nextqa, "dataset/nextqa", "dataset/nextqa"),
        ("vidhal", vidhal, "vidhal", "vidhal"),
        ("videonet", videonet, "benchmarks", "benchmarks"),
    ],
)
def test_a_release_is_read_from_its_root_and_from_the_folder_that_the_help_names(
    name: str, make: Callable[[Path], dict[str, Any]], inner: str, written: str, tmp_path: Path
) -> None:
    """`written`: below the root, where the maker of the files puts them."""
    options = make(tmp_path / "in" / written)
    root, within = (build(name, tmp_path / f"{n}", **options | {"folder": tmp_path / "in" / place})
                    for n, place in enumerate((".", inner)))  # fmt: skip
    assert root == within
    help_of_folder = get_type_hints(get_builder(name).function, include_extras=True)["folder"].__metadata__[0]
    assert f"or its folder `{inner}`" in help_of_folder


Bad = tuple[str, Callable[[Path], dict[str, Any]], str]


def _bad_vilma(root: Path, **changes: Any) -> dict[str, Any]:
    for name in ("relations",):
        as_json(root / f"{name}.json", {"k1": vilma_entry(**changes)})
    return {"folder": root, "configs": ["spatial_relations"]}


def _latin(root: Path) -> dict[str, Any]:
    options = nextqa(root)
    (root / "val.csv").write_bytes("video,frage\n1,schön\n".encode("latin-1"))
    return options


@pytest.mark.parametrize(
    ("name", "make", "says"),
    [
        ("nextqa", lambda root: nextqa(root, answer=5), "val.csv, line 2: the key 5 is outside the 5 options"),
        ("nextqa", _latin, "val.csv: line 2 is not utf-8"),
        ("nextqa", lambda root: {"folder": root / "none"}, "fetch NExT-QA by `git clone https://github.com/doc-doc"),
        ("tempcompass", lambda root: tempcompass(root, "C. flying"),
         "multi-choice.json, key '101_reverse', direction, 0: the answer 'C. flying' is outside the options"),
        ("vilma", lambda root: _bad_vilma(root, time_unit="min"), "relations.json, key 'k1': the time unit 'min'"),
        ("vilma", lambda root: _bad_vilma(root, end_time=5.0), "key 'k1': the clip ends at 5 s, not after"),
        ("vilma", lambda root: _bad_vilma(root, youtube_id="../../x"), "'coin/../../x.mp4' must be a path relative"),
        ("vilma", lambda root: _bad_vilma(root, foils="descends"), "key 'k1': 'foils' must be a list of texts"),
        ("timeblind", lambda root: timeblind(root, answer="Maybe"),
         "data.jsonl, line 1: the answer 'Maybe' is not that of its place in its instance, 'yes'"),
        ("timeblind", lambda root: timeblind(root, type="open"), "line 1: of type 'open'; must be yes_no, or"),
        ("camerabench", lambda root: {"folder": root}, "fetch CameraBench by `git clone https://github.com/linzhiqiu"),
        ("intphys2", lambda root: intphys2(root, type="3_Possible"), "the type '3_Possible' is none of 1_Possible,"),
        ("vidhal", lambda root: vidhal(root, A="4"), "row 0: the ranks of its captions are 2, 3, 1, of its"),
        ("videonet", lambda root: videonet(root, question=[]), "line 1: 'question' must hold one text and one video"),
        ("videonet", lambda root: videonet(root, question="Which?"), "'question' must be a list of objects, not"),
        ("vidhalluc", lambda root: {"binary": as_json(root / "b.json", {"1": [{"q": "?", "a": ["Yes"]}]})},
         "b.json, 1, 0: 'a' must be an object, not ['Yes']"),
        ("vidpair_halluc", lambda root: vidpair_halluc(root) | {"answer_column": "gt"},
         "binary.jsonl, line 1: no field 'gt'; it has question, answer, repo_video_path"),
        ("vidpair_halluc", lambda root: vidpair_halluc(root, repo_video_path="a/b.mp4"),
         "binary.jsonl, line 1: 'a/b.mp4' is of no pair in pairs.json"),
        ("chirality_in_action", lambda root: {
            "configs": ["ssv2_mc"], "folder": as_csv(root / "cia-ssv2-validation.csv", [{"id": 1, "label": 0}]).parent},
         "no field 'chiral_triplet_id'; it has id, label"),
        ("actionbench", lambda root: {"annotations": as_lines(root / "a.jsonl", [
            {"label": "a", "label_action_antonym_clip_text": "b", "id": 1}] * 2)},
         "a.jsonl, line 2: the id '1' repeats; it stands at a.jsonl, line 1 already"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_file_and_row(name: str, make: Any, says: str, tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    with pytest.raises((VideoContrastError, UsageError)) as caught:
        options = make(tmp_path / "in")
        video_contrast.build(name, options.pop("configs", None), output=tmp_path / "out", **options)
    assert says in str(caught.value) and "\n" not in str(caught.value)


def test_options_that_repeat_are_counted(tmp_path: Path) -> None:
    entry = {"video": "a.mp4", "question": "What?", "candidates": ["sit", "sit"], "answer": "sit"}
    good = {**entry, "candidates": ["sit", "stand"]}
    as_json(tmp_path / "in/action_count.json", [entry, good])
    build("tvbench", tmp_path, folder=tmp_path / "in")
    facts = SetFolder.open(tmp_path / "tvbench").record["configs"]["tvbench_mc"]["facts"]
    counts = facts["splits"]["test"]["counts"]
    assert (counts["rows"], counts["built"], counts["repeated_options"]) == (2, 1, 1)
