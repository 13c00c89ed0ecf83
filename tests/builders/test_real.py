"""Builders of released data: MSR-VTT, YouCook2, LSMDC-IDs, Feint6K, and counterfactual sets of any captions."""

import csv
import json
from collections import Counter
from pathlib import Path

import datasets
import pytest
from own_captions import CAPTIONS, LM, write_msrvtt

from video_contrast.builders import build
from video_contrast.builders.sources.feint6k import read_blocks
from video_contrast.builders.sources.lsmdc_ids import read as read_lsmdc
from video_contrast.builders.sources.lsmdc_ids import split_within_movies
from video_contrast.builders.sources.msrvtt import MsrVttFolder
from video_contrast.builders.sources.released import read_negatives, released_config
from video_contrast.builders.sources.youcook2 import read as read_youcook2
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.perturbations.contrast.edit import changed_words, difference
from video_contrast.rows import table_features, validate_rows
from video_contrast.storage import open_set


def facts_of(root: Path, config: str) -> dict:
    return json.loads((root / "set.json").read_text())["configs"][config]["facts"]


@pytest.fixture(scope="module")
def msrvtt_folder(tmp_path_factory) -> Path:
    """Captions of ours in MSR-VTT's files: 50 test, 20 validation, 20 training videos, and a contrast set."""
    return write_msrvtt(tmp_path_factory.mktemp("msrvtt"))


@pytest.fixture(scope="module")
def released_set(msrvtt_folder, shared_data, tmp_path_factory) -> Path:
    """The released verb contrasts, built."""
    folder = tmp_path_factory.mktemp("released")
    (folder / "test_videodatainfo.json").write_bytes((shared_data / "msrvtt" / "test_videodatainfo.json").read_bytes())
    (folder / LM).symlink_to(shared_data / "park_contrast_sets" / LM)
    return build("msrvtt", ["verb_lm_mc"], output=folder / "set", folder=folder)


@pytest.fixture(scope="module")
def msrvtt_set(msrvtt_folder, tmp_path_factory) -> Path:
    configs = ["retrieval", "random_mc", "gender_mc", "verb_mc", "verb_lm_mc"]
    output = tmp_path_factory.mktemp("sets") / "msrvtt"
    return build("msrvtt", configs, output=output, folder=msrvtt_folder)


def test_msrvtt_has_the_official_splits_and_warns_of_leaks(msrvtt_set):
    assert {split: len(open_set(msrvtt_set).rows("retrieval", split)) for split in ("train", "validation", "test")} == {
        "train": 20,
        "validation": 20,
        "test": 50,
    }
    warnings = json.loads((msrvtt_set / "set.json").read_text())["facts"]["warnings"]
    assert any("train_9k holds 15 videos of test (30.0 %)" in warning for warning in warnings)


def test_msrvtt_1k_a_items_are_the_items_of_test(msrvtt_set):
    for config in ("random_mc", "gender_mc", "verb_mc"):
        whole = {row["id"]: row for row in open_set(msrvtt_set).rows(config, "test")}
        part = open_set(msrvtt_set).rows(config, "test_1k_a")
        assert part and all(whole[row["id"]] == row for row in part)
    assert all(len(row["captions"]) == 1 for row in open_set(msrvtt_set).rows("retrieval", "test_1k_a"))


def test_msrvtt_contrasts_are_not_said_by_siblings_and_options_come_from_other_source_videos(msrvtt_folder, msrvtt_set):
    clips = {clip.id: clip for clip in MsrVttFolder(msrvtt_folder).splits()["test"]}
    by_text: dict[str, set[str]] = {}
    for clip in clips.values():
        for text in clip.captions:
            by_text.setdefault(text, set()).add(clip.cluster)
    for config in ("gender_mc", "verb_mc"):
        made = open_set(msrvtt_set).rows(config, "test")
        validate_rows(made)
        for row in made:
            clip = clips[row["id"]]
            assert row["candidates"][row["label"]] in clip.captions
            for text, kind in zip(row["candidates"], row["kinds"], strict=True):
                assert kind == "true" or text not in clip.captions
                assert kind != "random" or by_text[text] - {clip.cluster}


def test_msrvtt_cards_tell_coverage_beside_the_papers_and_how_verbs_were_contrasted(msrvtt_set):
    gender = facts_of(msrvtt_set, "gender_mc")
    assert gender["paper"]["share"] == 82.8
    assert gender["splits"]["test"]["coverage"]["eligible"] > gender["splits"]["test"]["coverage"]["base"] > 30
    verb = facts_of(msrvtt_set, "verb_mc")
    assert verb["word_edits"]["generator"] == "lexicon" and verb["word_edits"]["quality"] == "balanced"
    assert verb["word_edits"]["counted_videos"] > 6000 and verb["word_edits"]["parser"]
    assert verb["splits"]["test"]["counts"]["candidates"]["light verb"] > 0
    for config in ("random_mc", "gender_mc", "verb_mc", "verb_lm_mc"):
        audit = facts_of(msrvtt_set, config)["audit"]
        assert {"blind", "language_model", "shorter_wins", "longer_wins"} <= set(audit)


def test_the_released_set_is_taken_as_it_is(released_set, shared_data):
    with (shared_data / "park_contrast_sets" / LM).open(encoding="utf-8", newline="") as handle:
        released = list(csv.reader(handle, delimiter="\t", quoting=csv.QUOTE_NONE))[1:]
    made = open_set(released_set).rows("verb_lm_mc", "test")
    assert [(row["id"], *row["candidates"], str(row["label"])) for row in made] == [tuple(row) for row in released]
    labels = Counter(row["label"] for row in made)
    assert [labels[n] for n in range(5)] == [552, 511, 520, 501, 470]
    spans = Counter(
        changed_words(row["candidates"][row["label"]], row["candidates"][row["kinds"].index("verb_lm")]) for row in made
    )
    assert abs(spans[1, 1] / 2554 - 0.604) < 0.01 and max(max(span) for span in spans) <= 4


def test_the_released_sets_blind_accuracy_is_what_others_measured(released_set):
    blind = facts_of(released_set, "verb_lm_mc")["audit"]["blind"]
    assert abs(blind["accuracy"] - 0.678) < 0.02 and 0.007 < blind["standard_error"] < 0.012


def test_texts_alone_do_not_tell_random_candidates(msrvtt_set):
    random = facts_of(msrvtt_set, "random_mc")["audit"]["blind"]
    assert abs(random["accuracy"] - 0.2) < 4 * max(random["standard_error"], 0.02)


def test_msrvtt_says_what_is_missing(msrvtt_folder, tmp_path):
    with pytest.raises(UsageError, match=r"no msrvtt_human_contrast_set\.tsv"):
        build("msrvtt", ["verb_human_mc"], output=tmp_path / "a", folder=msrvtt_folder)
    with pytest.raises(UsageError, match=r"--folder \S+ holds none of test_videodatainfo\.json"):
        build("msrvtt", ["retrieval"], output=tmp_path / "b", folder=tmp_path)
    with pytest.raises(UsageError, match="no split 'dev'; there are train"):
        build("msrvtt", ["random_mc"], output=tmp_path / "c", folder=msrvtt_folder, splits="dev")
    (tmp_path / "test_videodatainfo.json").write_bytes((msrvtt_folder / "test_videodatainfo.json").read_bytes())
    (tmp_path / "MSRVTT_train.7k.csv").write_text("video_id\nvideo1\n")
    with pytest.raises(VideoContrastError, match="names 'video1', which has no caption"):
        build("msrvtt", ["retrieval"], output=tmp_path / "d", folder=tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("clip\tending0\tending1\tlabel\nv\ta\tb\t2\n", "line 2: label '2' is not one of 0..1"),
        ("clip\tending0\tending1\tlabel\nv\ta\ta\t0\n", "two are equal"),
        ("clip\tending0\tending1\tlabel\nv\ta\t0\n", "3 fields, but the header names 4"),
        ("video\ta\tb\nv\ta\tb\n", "the header must be clip, ending0"),
        ("clip\tending0\tending1\tlabel\n", "no rows"),
    ],
)
def test_broken_released_files_are_named_with_their_line(tmp_path, text, message):
    (tmp_path / "set.tsv").write_text(text)
    with pytest.raises(VideoContrastError, match=message):
        released_config(tmp_path / "set.tsv", "verb_lm", video_path=str)


def test_quotes_in_a_released_file_are_text(tmp_path):
    (tmp_path / "set.tsv").write_text('clip\tending0\tending1\tlabel\nv\t"a" b\tit"s\t1\n')
    tables, _ = released_config(tmp_path / "set.tsv", "verb_lm", video_path=str)
    assert tables["test"][0]["candidates"] == ['"a" b', 'it"s']


def test_human_negatives_are_checked(tmp_path):
    table = tmp_path / "n.jsonl"
    table.write_text('{"clip": "v", "caption": "a", "negative": ["b", "c"]}\n')
    assert [entry.contrast for entry in read_negatives(table)] == ["b", "c"]
    table.write_text('{"clip": "v", "caption": "a", "negative": "a"}\n')
    with pytest.raises(VideoContrastError, match="line 1: the negative equals the caption"):
        read_negatives(table)


@pytest.mark.parametrize(
    ("old", "new", "gone", "put", "antonym"),
    [
        ("a boy sits down", "a boy stands", "sits down", "stands", True),
        ("a boy  runs here", "a  boy eats here", "runs", "eats", False),
        ("a boy opens a door", "a boy closes a door", "opens", "closes", True),
        ("a man a man", "a man", "a man", "", False),
        ("he goes", "he slowly goes", "", "slowly", False),
    ],
)
def test_difference_finds_the_one_changed_span(old, new, gone, put, antonym):
    edit = difference(old, new, "human")
    assert (edit.old, edit.new, edit.antonym) == (gone, put, antonym)
    assert edit.text == new and new[edit.start :].startswith(put)


def test_youcook2_reads_the_validation_list_and_the_annotations(shared_data):
    clips, sources = read_youcook2(shared_data / "youcook2")
    assert sources == ["youcookii_annotations_trainval.json", "validation_youcook.csv"]
    assert len(clips["train"]) == 10337 and sum(len(clip.captions) for clip in clips["validation"]) == 3350
    assert len({clip.cluster for clip in clips["validation"]}) == 436
    clip = clips["validation"][0]
    assert (clip.id, clip.start, clip.end, clip.video_path) == ("xHr8X2Wpmno_47_60", 47, 60, "xHr8X2Wpmno.mp4")


def test_youcook2_builds_from_the_list_alone(tmp_path):
    lines = [f"{10 * k + 9},{10 * k},1,{verb} the {thing},vid{k}" for k, (verb, thing) in
             enumerate([(v, t) for v in ("cut", "mix", "boil", "fry") for t in ("onion", "egg", "rice")])]  # fmt: skip
    (tmp_path / "validation_youcook.csv").write_text("end,start,task,text,video_id\n" + "\n".join(lines))
    root = build("youcook2", ["retrieval", "random_mc", "verb_mc"], output=tmp_path / "set", folder=tmp_path)
    assert len(open_set(root).rows("random_mc", "validation")) == 12 and open_set(root).rows("verb_mc", "validation")
    with pytest.raises(UsageError, match="no split 'test'"):
        build("youcook2", ["random_mc"], output=tmp_path / "x", folder=tmp_path, splits="test")
    (tmp_path / "validation_youcook.csv").write_text("end,start,task,text,video_id\n1,2,1,a,v\n")
    with pytest.raises(VideoContrastError, match=r"line 2: segment '2' to '1' is not a time span"):
        build("youcook2", ["random_mc"], output=tmp_path / "y", folder=tmp_path)


def lsmdc_file(folder: Path, movies: int = 3, n: int = 40) -> Path:
    verbs = ["walks", "runs", "looks", "turns"]
    lines = []
    for movie in range(movies):
        for k in range(n):
            clip = f"{1000 + movie}_FILM_{movie}_00.{k:02}.01.000-00.{k:02}.03.500"
            name = ["Jenko", "Schmidt", "Zach", "Eve", "Mary Ann"][k % 5] + f"{movie}"
            lines.append(f"{clip}\t00:01\t00:03\t{name}'s friend {verbs[k % 4]} to the door number {k}.")
    path = folder / "LSMDC16_annos_training_ids.csv"
    path.write_text("\n".join(lines) + "\n")
    return path


def cast_file(folder: Path, movies: int = 3) -> Path:
    people = [("Jenko", "male"), ("Schmidt", "male"), ("Zach", "male"), ("Eve", "female"), ("Mary Ann", "female")]
    rows = [f"{1000 + m}_FILM_{m}\t{name}{m}\t{gender}" for m in range(movies) for name, gender in people]
    path = folder / "cast.tsv"
    path.write_text("movie\tname\tgender\n" + "\n".join(rows))
    return path


def test_lsmdc_splits_within_movies_80_10_10(tmp_path):
    parts = split_within_movies(read_lsmdc(lsmdc_file(tmp_path)))
    for name, wanted in (("train", 32), ("validation", 4), ("test", 4)):
        assert Counter(clip.pool for clip in parts[name]) == {f"{1000 + m}_FILM_{m}": wanted for m in range(3)}


def test_lsmdc_swaps_names_within_movie_and_gender(tmp_path):
    root = build(
        "lsmdc_ids", ["retrieval", "random_mc", "person_id_mc"], output=tmp_path / "set",
        captions=lsmdc_file(tmp_path), cast=cast_file(tmp_path), splits="train,test",
    )  # fmt: skip
    made = open_set(root).rows("person_id_mc", "train")
    assert len(made) == len(open_set(root).rows("random_mc", "train")) == 96
    for row in made:
        movie = row["id"][3]
        assert all(text.split("'")[0].endswith(movie) for text in row["candidates"])
        edit = row["edits"][row["kinds"].index("person_id")]
        assert (edit["old"][:3] in ("Eve", "Mar")) == (edit["new"][:3] in ("Eve", "Mar")) and edit["old"] != edit["new"]
        assert row["video_path"] == f"{row['id'].rsplit('_', 1)[0]}/{row['id']}.avi"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("film\ta man walks", "line 1: clip 'film' must be named MOVIE_"),
        ("X_00.00.01.000-00.00.02.000\t", "has no sentence"),
        ("X_00.00.01.000-00.00.02.000", "needs a clip and a sentence"),
        ("clip\tscene\n", "the header needs clip and caption"),
    ],
)
def test_broken_lsmdc_files_are_named_with_their_line(tmp_path, text, message):
    (tmp_path / "l.tsv").write_text(text)
    with pytest.raises(VideoContrastError, match=message):
        build("lsmdc_ids", ["retrieval"], output=tmp_path / "set", captions=tmp_path / "l.tsv")


def feint_file(path: Path, captions: dict[str, str]) -> Path:
    with path.open("w", encoding="utf-8", newline="") as handle:
        writer = csv.writer(handle)
        writer.writerow(["sentence", "video_id"])
        for video, caption in captions.items():
            head, _, tail = caption.partition(" ")
            for k in range(6):
                writer.writerow([caption if k == 0 else f"{head} action{k} {tail}", f"TestVideo/{video}"])
    return path


@pytest.fixture
def feint(tmp_path) -> Path:
    return feint_file(tmp_path / "feint.csv", {f"video{n}": captions[0] for n, captions in enumerate(CAPTIONS[:40])})


def test_feint6k_blocks_become_six_way_items_at_seeded_places(feint, tmp_path):
    root = build(
        "feint6k", ["rcad_msrvtt", "random6_msrvtt", "retrieval_msrvtt"], output=tmp_path / "set", msrvtt=feint
    )
    made = list(datasets.load_dataset(str(root), "rcad_msrvtt", split="test", cache_dir=str(tmp_path / "hf")))
    truths = {row["id"]: row["captions"][0] for row in open_set(root).rows("retrieval_msrvtt", "test")}
    assert len(made) == 40 and len({row["label"] for row in made}) == 6
    for row in made:
        assert row["candidates"][row["label"]] == truths[row["id"]] and row["kinds"].count("counterfactual") == 5
        assert row["video_path"] == f"{row['id']}.mp4" and row["id"].startswith("TestVideo/")
    for row in open_set(root).rows("random6_msrvtt", "test"):
        assert row["kinds"].count("random") == 5 and set(row["candidates"]) <= set(truths.values())


def test_feint6k_names_the_line_where_a_block_breaks(feint, tmp_path):
    lines = feint.read_text().splitlines()
    feint.write_text("\n".join([*lines[:9], *lines[10:]]))
    with pytest.raises(
        VideoContrastError, match=r"line 12: the block of 'TestVideo/\w+' that begins at line 8 has 5 rows"
    ):
        build("feint6k", ["rcad_msrvtt"], output=tmp_path / "set", msrvtt=feint)
    feint.write_text("\n".join([*lines[:9], lines[8], *lines[9:]]))
    with pytest.raises(VideoContrastError, match="has more than 6 rows"):
        build("feint6k", ["rcad_msrvtt"], output=tmp_path / "set", msrvtt=feint)
    with pytest.raises(UsageError, match="give --vatex FILE"):
        build("feint6k", ["rcad_vatex"], output=tmp_path / "set", msrvtt=feint)


@pytest.mark.parametrize("given", [("vatex",), ("msrvtt", "vatex")])
def test_feint6k_sets_its_counts_beside_those_of_the_paper(given, tmp_path, capsys):
    path = feint_file(tmp_path / "feint.csv", {f"video{n}": f"man {n}" for n in range(20)})
    configs = [f"retrieval_{name}" for name in given]
    root = build("feint6k", configs, output=tmp_path / "set", **dict.fromkeys(given, path))
    facts = open_set(root).record["facts"]
    assert [facts["counts"][f"{name}_{what}"] for name in given for what in ("clips", "rows")] == [20, 120] * len(given)
    (warning,) = facts["warnings"]
    assert ("40 clips, but the paper counts 6,243" if len(given) == 2 else "at least 3,253") in warning
    assert "6,243 clips in both files together" in facts["sources"][0]


def test_feint6k_of_one_file_says_that_its_count_is_not_known(tmp_path, capsys):
    path = feint_file(tmp_path / "feint.csv", {f"video{n}": f"man {n}" for n in range(243)})
    root = build("feint6k", ["retrieval_msrvtt"], output=tmp_path / "set", msrvtt=path)
    assert "warnings" not in open_set(root).record["facts"]
    assert "243 clips, 1,458 rows" in (said := capsys.readouterr().err) and "no count of each alone" in said


def test_feint6k_refuses_a_file_cut_anywhere_but_behind_a_video(tmp_path):
    path = feint_file(tmp_path / "feint.csv", {"video1": "man, one", "video2": "man, two"})
    text = path.read_bytes()
    whole = []
    for size in range(len(text) // 2, len(text) - 2):
        path.write_bytes(text[:size])
        try:
            whole.append(text[: len(read_blocks(path, "{video_id}.mp4")) and size].rstrip())
        except VideoContrastError:
            continue
    assert {part.count(b"\n") for part in whole} == {6}  # header and the six rows of the first video


def test_feint6k_says_which_columns_it_needs(tmp_path):
    path = tmp_path / "feint.csv"
    path.write_text("a man sings,folder/video1\na man runs,folder/video1\n")
    with pytest.raises(VideoContrastError, match="line 2: no column 'video_id'; the table has a man sings"):
        build("feint6k", ["rcad_msrvtt"], output=tmp_path / "set", msrvtt=path)


def test_feint6k_leaves_random6_out_where_there_are_too_few_videos(tmp_path, capsys):
    path = tmp_path / "feint.csv"
    path.write_text("sentence,video_id\n" + "".join(f"a man {verb}s,video1\n" for verb in "abcdef"))
    root = build("feint6k", output=tmp_path / "set", msrvtt=path)
    assert (root / "rcad_msrvtt").is_dir() and not (root / "random6_msrvtt").exists()
    assert "left out: feint6k random6_msrvtt: no item could be built" in capsys.readouterr().err


def test_feint6k_leaves_out_blocks_without_one_right_answer_and_no_others(tmp_path):
    path = feint_file(tmp_path / "f.csv", {f"v{k}": f"person {k} walks" for k in range(8)})
    lines = path.read_text().splitlines()
    lines[3] = lines[2]  # two equal negatives of the first video
    lines[8] = lines[7].upper().replace("TESTVIDEO/V1", "TestVideo/v1")  # a negative that is the truth of the second
    path.write_text("\n".join(lines))
    root = build("feint6k", ["rcad_msrvtt"], output=tmp_path / "set", msrvtt=path)
    made = {row["id"]: row for row in open_set(root).rows("rcad_msrvtt", "test")}
    assert "TestVideo/v1" not in made and len(made) == 7
    assert len(made["TestVideo/v0"]["candidates"]) == 5 and len(made["TestVideo/v2"]["candidates"]) == 6
    counts = facts_of(root, "rcad_msrvtt")["splits"]["test"]["counts"]
    assert counts == {"built": 7, "negative_equals_truth": 1, "repeated_negatives": 1}
    assert "Ma, Li, Jiang, Meshry, Liu, Wang, Häne, Yuille" in (root / "README.md").read_text(encoding="utf-8")


def test_counterfactuals_change_the_action_five_times_and_no_sibling_uses_it(msrvtt_folder, tmp_path):
    root = build("counterfactual", ["rcad"], output=tmp_path / "set", captions=str(msrvtt_folder),
                 source_split="validation")  # fmt: skip
    made = open_set(root).rows("rcad", "test")
    captions = {clip.id: clip.captions for clip in MsrVttFolder(msrvtt_folder).splits()["validation"]}
    assert len(made) >= 10
    for row in made:
        edits = [edit for edit in row["edits"] if edit]
        assert len({edit["new"] for edit in edits}) == 5 and len({edit["old"].split()[0] for edit in edits}) == 1
        words = {word for text in captions[row["id"]] for word in text.split()}
        assert not {edit["new"].split()[0] for edit in edits} & words
    counts = facts_of(root, "rcad")["splits"]["test"]["counts"]
    assert counts["covered"] == len(made) and counts["clips"] == 20


def test_builders_are_datasets_classes(tmp_path):
    from video_contrast.builders import dataset_builder as hf

    table = tmp_path / "c.csv"
    table.write_text("video,caption\n" + "\n".join(f"v{n}.mp4,a man does thing {n}" for n in range(8)))
    maker = hf.Captions(config_name="gender_mc", cache_dir=str(tmp_path), options={"captions": str(table)})
    assert isinstance(maker, datasets.ArrowBasedBuilder) and type(maker).__name__ == "Captions"
    maker.download_and_prepare()
    made = maker.as_dataset(split="test")
    assert len(made) == 8 and made.features == table_features("multiple_choice")
    assert next(iter(maker.as_streaming_dataset(split="test")))["id"] == made[0]["id"]
    with pytest.raises(ValueError, match="gender_mc"):
        hf.Captions(config_name="no_such")
    assert {"MsrVtt", "LsmdcIds", "YouCook2", "Feint6k", "Counterfactual", "Shapes"} <= set(hf.__all__)
