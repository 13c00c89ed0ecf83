"""The builder `captions`: any table of videos and captions becomes sets that plain `datasets` loads."""

import json
import re
from pathlib import Path

import datasets
import pytest

from video_contrast import launcher, load_dataset
from video_contrast.builders import build
from video_contrast.builders.sources.caption_table import CaptionTable
from video_contrast.builders.sources.captions_of_clips import read_splits
from video_contrast.cli import main
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.rows import validate_rows

VERBS = ["running", "singing", "cooking", "dancing", "eating", "swimming"]
PEOPLE = ["man", "woman", "boy", "girl", "dog"]


def write_table(path: Path, n: int = 40) -> Path:
    rows = [
        {"file": f"clips/v{k}.mp4", "text": f"a {PEOPLE[(k + c) % 5]} is {VERBS[(k // 5) % 6]} in place {k} {'x' * c}"}
        for k in range(n)
        for c in range(3)
    ]
    if path.suffix == ".jsonl":
        path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    elif path.suffix == ".parquet":
        datasets.Dataset.from_list(rows).to_parquet(path)
    else:
        tab = "\t" if path.suffix == ".tsv" else ","
        path.write_text("\n".join([f"file{tab}text", *(tab.join(row.values()) for row in rows)]), encoding="utf-8")
    return path


def of_files(table: Path) -> CaptionTable:
    return CaptionTable(captions=str(table), video_column="file", caption_column="text")


def built(tmp_path: Path, configs: list[str], name: str = "set", **options) -> Path:
    table = tmp_path / "captions.csv"
    if not table.exists():
        write_table(table)
    given = {"captions": str(table), "video_column": "file", "caption_column": "text"}
    given |= {"quality": "0"} | options
    return build("captions", configs, output=tmp_path / name, **given)


def contents(root: Path) -> dict[str, bytes]:
    return {str(p.relative_to(root)): p.read_bytes() for p in sorted(root.rglob("*")) if p.is_file()}


def rows(root: Path, config: str, split: str = "test") -> list[dict]:
    return list(datasets.load_dataset(str(root), config, split=split, cache_dir=str(root.parent / "hf")))


def test_the_command_builds_what_load_dataset_loads(tmp_path, capsys):
    table = write_table(tmp_path / "captions.csv")
    command = ["build", "captions", "retrieval", "random_mc", "gender_mc", "verb_mc", "--captions", str(table)]
    columns = ["--video-column", "file", "--caption-column", "text", "--quality", "0"]
    assert main([*command, *columns, "--output", str(tmp_path / "set")]) == 0
    printed, noted = capsys.readouterr()
    assert "\nverb: mean probability" in "\n" + noted.replace("\r", "\n")  # a slow build shows a bar before
    assert "gender_mc test: 40 rows (" in printed and "captions tried 40 gave a contrast" in printed
    assert "have no gendered noun" in printed and "no_gender_noun" not in printed
    for config, kind in (("gender_mc", "gender"), ("verb_mc", "verb_lexical")):
        for row in rows(tmp_path / "set", config):
            assert sorted(row["kinds"]) == sorted(["true", kind, "random", "random", "random"])
            contrast = row["kinds"].index(kind)
            edit = row["edits"][contrast]
            assert row["candidates"][contrast][edit["start"] : edit["end"]] == edit["new"]
            assert row["candidates"][row["label"]].startswith("a ")
    assert len(rows(tmp_path / "set", "retrieval")[0]["captions"]) == 3


def test_a_build_ends_with_its_blind_audit_and_warns_of_what_text_alone_wins(tmp_path, capsys):
    table = tmp_path / "captions.csv"
    who = ["a man", "a man", "a man", "a man", "a woman"]  # "man" is the better guess
    lines = [f"v{n}.mp4,{who[n % 5]} is {VERBS[n % 6]} in place {n}" for n in range(60)]
    table.write_text("video,caption\n" + "\n".join(lines))
    command = ["build", "captions", "gender_mc", "--captions", str(table)]
    assert main([*command, "--output", str(tmp_path / "set")]) == 0
    printed = capsys.readouterr()
    written, audit = printed.out.split("captions: written to")
    assert "without the video" not in written and "without the video, the strongest text-only model:" in audit
    assert "chance 50.0 %" in audit and "by blind classifier" in audit
    assert "warning: gender_mc can be won without the video: blind classifier reaches" in printed.err
    assert "--config gender_mc --refine" in printed.err
    assert main([*command, "--output", str(tmp_path / "set"), "--json"]) == 0
    assert any("can be won without" in text for text in json.loads(capsys.readouterr().out)["warnings"])


def read_clips(table):
    splits, counts = read_splits(table)
    return [clip for clips in splits.values() for clip in clips], counts


def test_every_kind_of_table_gives_the_same_clips(tmp_path):
    wanted, counts = read_clips(of_files(write_table(tmp_path / "c.csv")))
    assert counts == {"rows": 120, "clips": 40, "captions": 120, "empty_captions": 0, "clips_without_caption": 0}
    for suffix in ("tsv", "jsonl", "parquet"):
        table = write_table(tmp_path / f"c.{suffix}")
        assert read_clips(of_files(table))[0] == wanted


def test_a_list_of_captions_in_one_cell_is_one_clip(tmp_path):
    table = tmp_path / "c.jsonl"
    table.write_text('{"video": "a.mp4", "caption": ["one", " ", "two"]}\n{"video": "b.mp4", "caption": null}\n')
    clips, counts = read_clips(CaptionTable(captions=str(table)))
    assert [clip.captions for clip in clips] == [("one", "two")]
    assert counts["empty_captions"] == 1 and counts["clips_without_caption"] == 1


def test_a_rebuild_and_a_build_by_two_processes_are_byte_equal(tmp_path, monkeypatch):
    monkeypatch.setattr(launcher, "CHUNK", 7)
    monkeypatch.setattr(launcher.spread, "__kwdefaults__", {"num_proc": 1, "chunk": 7})
    configs = ["random_mc", "gender_mc", "verb_mc"]
    first = contents(built(tmp_path, configs, "one"))
    assert contents(built(tmp_path, configs, "one")) == first
    assert contents(built(tmp_path, configs, "two", num_proc=2)) == first
    assert contents(built(tmp_path, configs, "three", seed=1)) != first


def test_parses_are_kept_in_the_file_that_the_variable_names(tmp_path, monkeypatch):
    monkeypatch.setenv("VIDEO_CONTRAST_PARSES", str(tmp_path / "mine.sqlite"))
    monkeypatch.setenv("VIDEO_CONTRAST_CACHE", str(tmp_path / "cache"))
    people = ["lady", "nurse", "clown", "pilot", "nun", "monk"]  # of no other test: a process parses a caption once
    lines = [f"v{n}.mp4,a {person} is {verb}" for n, (person, verb) in enumerate(zip(people, VERBS, strict=True))]
    (tmp_path / "captions.csv").write_text("\n".join(["file,text", *lines]), encoding="utf-8")
    built(tmp_path, ["verb_mc"])
    assert (tmp_path / "mine.sqlite").is_file()
    assert not (tmp_path / "cache" / "captions.sqlite").exists()


def test_a_config_added_later_stands_beside_the_former_ones(tmp_path):
    both = contents(built(tmp_path, ["random_mc", "gender_mc"], "both"))
    built(tmp_path, ["random_mc"], "apart")
    assert contents(built(tmp_path, ["gender_mc"], "apart")) == both


def test_a_config_that_was_built_otherwise_says_with_what(tmp_path):
    root = built(tmp_path, ["random_mc"])
    canary = re.search("video-contrast canary ([0-9a-f-]+)", (root / "README.md").read_text())[0]
    built(tmp_path, ["gender_mc"], seed=3, captions=str(write_table(tmp_path / "other.csv", n=12)))
    record = json.loads((root / "set.json").read_text())
    assert record["facts"]["sources"] == ["other.csv"] and record["facts"]["seed"] == 3
    former = record["configs"]["random_mc"]["facts"]["built_with"]
    assert (former["sources"], former["seed"], former["counts"]["clips"]) == (["captions.csv"], 0, 40)
    assert "built_with" not in record["configs"]["gender_mc"]["facts"]
    card = (root / "README.md").read_text()
    assert "| seed | 3 (built with other facts, see there: `random_mc`) |" in card and "sources: captions.csv" in card
    built(tmp_path, ["gender_mc"])
    facts = [entry["facts"] for entry in json.loads((root / "set.json").read_text())["configs"].values()]
    assert not any("built_with" in of_config for of_config in facts)
    # an id that no other set has, not even one of other captions by the same options
    assert canary not in (root / "README.md").read_text()
    other = str(tmp_path / "other.csv")
    assert canary not in (built(tmp_path, ["random_mc"], "more", captions=other) / "README.md").read_text()


def test_base_uses_the_caption_of_random_mc_and_eligible_covers_more(tmp_path):
    eligible = built(tmp_path, ["random_mc", "gender_mc"], "eligible")
    base = built(tmp_path, ["random_mc", "gender_mc"], "base", caption="base")
    random = {row["id"]: row for row in rows(base, "random_mc")}
    of_base = rows(base, "gender_mc")
    assert 0 < len(of_base) < len(rows(eligible, "gender_mc")) == 40
    for row in of_base:
        assert row["candidates"][row["label"]] == random[row["id"]]["candidates"][row["label"]]
        assert row["replaced"] in random[row["id"]]["candidates"]
    facts = json.loads((eligible / "set.json").read_text())["configs"]["gender_mc"]["facts"]["splits"]["test"]
    assert facts["coverage"] == {"base": 100 * len(of_base) / 40, "eligible": 100.0}
    assert facts["counts"]["captions_tried"] == {"edited": 40, "no_gender_noun": 40 - len(of_base)}


def test_no_contrast_says_what_a_sibling_caption_says(tmp_path):
    table = tmp_path / "c.csv"
    lines = [f"v{n}.mp4,a man eats" for n in range(6)] + ["v0.mp4,A woman eats.", "v0.mp4,a woman eats"]
    table.write_text("file,text\n" + "\n".join(lines))
    # Other videos' captions say the same as the clip's own, so there is nothing to distract with.
    message = r"no item could be built\. test: 6 clips lack other videos to take captions from \(an item takes four"
    with pytest.raises(VideoContrastError, match=message):
        built(tmp_path, ["random_mc"], captions=str(table))
    lines += [f"w{n}.mp4,thing number {n} falls" for n in range(6)]
    table.write_text("file,text\n" + "\n".join(lines))
    root = built(tmp_path, ["gender_mc"], captions=str(table))
    made = rows(root, "gender_mc")
    assert "v0" not in {row["id"] for row in made} and len(made) == 5
    counts = json.loads((root / "set.json").read_text())["configs"]["gender_mc"]["facts"]["splits"]["test"]["counts"]
    assert counts["captions_tried"]["says_what_a_caption_says"] == 3


def test_character_ids_follow_the_cast_of_the_movie(tmp_path):
    cast = tmp_path / "cast.csv"
    cast.write_text("movie,name,gender\n" + "".join(f"m{k},{n},{g}\n" for k in (1, 2) for n, g in
                    ((f"Ann{k}", "f"), (f"Bea{k}", "f"), (f"Carl{k}", "m"))))  # fmt: skip
    table = tmp_path / "c.csv"
    lines = [f"m{k}/v{n}.mp4,m{k},{'Ann' if n % 2 else 'Carl'}{k} walks to place {n}" for k in (1, 2) for n in range(6)]
    table.write_text("file,movie,text\n" + "\n".join(lines))
    root = built(tmp_path, ["person_id_mc"], captions=str(table), movie_column="movie", cast=cast)
    made = rows(root, "person_id_mc")
    assert len(made) == 6  # Carl is the only man of his movie
    for row in made:
        movie = row["id"][1]
        contrast = row["candidates"][row["kinds"].index("person_id")]
        assert contrast.startswith(f"Bea{movie} walks")
        assert all(text.split()[0].endswith(movie) for text in row["candidates"])
    facts = json.loads((root / "set.json").read_text())["configs"]["person_id_mc"]["facts"]["splits"]["test"]
    assert facts["counts"]["captions_tried"] == {"edited": 6, "no_other_character": 6}


def test_human_negatives_become_verb_human_mc(tmp_path, capsys):
    write_table(tmp_path / "captions.csv")
    table = tmp_path / "human.jsonl"
    caption = "a man is running in place 0 "
    negatives = ["A man is running in place 0.", "a man is talking in place 0", "a man is sitting in place 0"]
    table.write_text(json.dumps({"video_id": "clips/v0", "caption": caption, "negative": negatives}))
    made = rows(built(tmp_path, ["verb_human_mc"], human=table), "verb_human_mc")
    assert [row["candidates"][row["kinds"].index("verb_human")] for row in made] == ["a man is talking in place 0"]
    # Captions of one video say both. The one that stands in the set is counted, not all of the table.
    assert "verb_human (test): 1 of 1 negatives" in capsys.readouterr().err


def test_human_negatives_that_belong_to_no_caption_are_counted_and_a_video_file_names_its_clip(tmp_path, capsys):
    write_table(tmp_path / "captions.csv")
    table = tmp_path / "human.csv"
    table.write_text(
        "video_id,caption,negative\n"
        "clips/v0.mp4,a man is running in place 0,a man is resting in place 0\n"
        "v1,a man is running in place 1,a man is resting in place 1\n"
    )
    columns = ["--video-column", "file", "--caption-column", "text", "--human", str(table)]
    output = tmp_path / "set"
    command = ["build", "captions", "--config", "verb_human_mc", "--captions", str(tmp_path / "captions.csv"), *columns]
    main([*command, "--output", str(output)])
    assert len(rows(output, "verb_human_mc")) == 1
    warning = capsys.readouterr().err
    assert "1 of 2 negatives belong to no caption of the set, the first is human.csv, line 3: 'v1'" in warning


def test_a_cast_needs_the_movies_of_the_captions(tmp_path):
    write_table(tmp_path / "captions.csv")
    cast = tmp_path / "cast.csv"
    cast.write_text("movie,name,gender\nFilm,Ann,female\nFilm,Bea,female\n")
    with pytest.raises(UsageError, match="--movie-column"):
        built(tmp_path, ["person_id_mc"], cast=cast)


def test_a_build_of_everything_leaves_out_what_it_lacks_and_says_so(tmp_path, capsys):
    root = built(tmp_path, None)
    facts = json.loads((root / "set.json").read_text())
    assert {"person_id_mc", "verb_human_mc"} <= set(facts["facts"]["left_out"])
    assert "person_id_mc: give --cast FILE" in capsys.readouterr().err
    with pytest.raises(UsageError, match="give --cast FILE"):
        built(tmp_path, ["person_id_mc"], "other")


def test_strange_captions_are_counted_and_nothing_crashes(tmp_path):
    table = tmp_path / "c.jsonl"
    texts = [
        "",
        "   ",
        "走る男",
        "🙂🙂🙂",
        "woman " * 2000,
        "Two men talk. A dog barks! Then?",
        "123",
        "the red car",
        "\u202e",
    ]
    texts += [f"a man is {verb} here" for verb in VERBS] * 3
    table.write_text(
        "\n".join(json.dumps({"file": f"v{n}.mp4", "text": text}) for n, text in enumerate(texts)), encoding="utf-8"
    )
    root = built(tmp_path, ["random_mc", "gender_mc", "verb_mc"], captions=str(table))
    record = json.loads((root / "set.json").read_text())
    assert record["facts"]["counts"]["empty_captions"] == 2
    clips = len(texts) - 2
    for config in ("gender_mc", "verb_mc"):
        counts = record["configs"][config]["facts"]["splits"]["test"]["counts"]
        assert counts["covered"] + counts["not_covered"] == counts["clips"] == clips
        tried = counts["captions_tried"].values() if config == "gender_mc" else counts["candidates"].values()
        assert sum(tried) == clips if config == "gender_mc" else sum(tried) >= counts["not_covered"]
        validate_rows(rows(root, config))


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        ("file,text\n../v.mp4,a\n", {}, r"line 2: column 'file' must be a path relative"),
        ("file,text\n/abs/v.mp4,a\n", {}, "give --video-root"),
        ("file,text\nv.mp4\n", {}, "line 2: 1 fields, but the header names 2"),
        ("file,text\nv.mp4,\n", {}, "every caption in column 'text' is empty"),
        ("file,text\n", {}, "no rows"),
        ("", {}, "empty"),
        ("video,text\nv.mp4,a\n", {}, "no column 'file'; the table has video, text. Choose with --video-column"),
        ("file,text,s\nv.mp4,a,soon\n", {"start_column": "s"}, "'s' must be seconds, not 'soon'"),
        ("file,text,i\nv.mp4,a,1\nw.mp4,b,1\n", {"id_column": "i"}, "id '1' stands for"),
        ("file,text\nv.mp4,a\nv.mkv,b\n", {}, "would both have the id 'v'"),
        ("file,text,s\nv.mp4,a,nan\n", {"start_column": "s"}, "line 2: column 's' must be seconds, not 'nan'"),
        (
            "file,text,s,e\nv.mp4,a,0,1\nw.mp4,b,2,1\n",
            {"start_column": "s", "end_column": "e"},
            "line 3: the clip ends at 1 s, not after its start 2",
        ),
        ('file,text\nu.mp4,a\nv.mp4,"a\nw.mp4,b\n', {}, "line 3: a quotation mark that is not closed"),
        ("file,text,text\nv.mp4,a,b\n", {}, "names the column 'text' twice"),
    ],
)
def test_bad_tables_are_named_with_their_line(tmp_path, text, options, message):
    table = tmp_path / "c.csv"
    table.write_text(text)
    with pytest.raises(VideoContrastError, match=message):
        built(tmp_path, ["retrieval"], captions=str(table), **options)


def test_blanks_marks_and_windows_line_ends_are_read_and_empty_captions_are_said(tmp_path, capsys):
    table = tmp_path / "c.csv"
    lines = ["\ufefffile, text", *(f'v{n}.mp4,"a ""big"" man, {verb}"' for n, verb in enumerate(VERBS)), "w.mp4,"]
    table.write_bytes("\r\n".join(lines).encode())
    options = ["--captions", str(table), "--video-column", "file", "--caption-column", "text"]
    assert main(["build", "captions", "retrieval", *options, "--output", str(tmp_path / "o")]) == 0
    shown = capsys.readouterr().out
    assert "empty captions 1" in shown and f"rows {len(VERBS) + 1}" in shown
    assert rows(tmp_path / "o", "retrieval")[0]["captions"] == [f'a "big" man, {VERBS[0]}']


def test_a_file_that_is_not_there_is_a_usage_error(tmp_path, capsys):
    command = [
        "build",
        "captions",
        "retrieval",
        "--captions",
        str(tmp_path / "no.csv"),
        "--output",
        str(tmp_path / "o"),
    ]
    assert main(command) == 2
    assert "no such file" in capsys.readouterr().err and not (tmp_path / "o").exists()


def test_absolute_paths_become_relative_to_the_video_root(tmp_path):
    table = tmp_path / "c.csv"
    table.write_text(f"video,caption\n{tmp_path}/clips/v.mp4,a man runs\n")
    assert read_clips(CaptionTable(captions=str(table), video_root=tmp_path))[0][0].video_path == "clips/v.mp4"
    with pytest.raises(VideoContrastError, match="does not lie under --video-root"):
        read_clips(CaptionTable(captions=str(table), video_root=tmp_path / "elsewhere"))


def test_segments_of_one_file_are_clips_of_their_own(tmp_path):
    table = tmp_path / "c.csv"
    table.write_text("video,caption,from,to\nv.mp4,one,0,2.5\nv.mp4,two,2.5,4\nv.mp4,three,0,2.5\n")
    clips, _ = read_clips(CaptionTable(captions=str(table), start_column="from", end_column="to"))
    assert [(clip.id, clip.captions) for clip in clips] == [("v_0_2.5", ("one", "three")), ("v_2.5_4", ("two",))]
    assert {clip.cluster for clip in clips} == {"v"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"generator": "lexcon"}, "unknown value of --generator 'lexcon': did you mean 'lexicon'"),
        ({"quality": "best"}, "quality must be high, balanced, all"),
        ({"generator": "mlm", "generator_options": "k"}, "--generator-options: 'k' must be name=value"),
        ({"generator": "mlm", "generator_options": "kk=3"}, "option of the generator mlm 'kk'"),
        ({"caption": "first"}, "unknown value of --caption 'first'"),
    ],
)
def test_wrong_options_are_usage_errors(tmp_path, options, message):
    with pytest.raises(UsageError, match=message):
        built(tmp_path, ["verb_mc"], **options)


def test_a_build_without_a_contrast_says_what_to_do(tmp_path):
    table = tmp_path / "captions.csv"
    table.write_text("file,text\n" + "".join(f"v{n}.mp4,the catheter of the {n}th patient\n" for n in range(6)))
    with pytest.raises(VideoContrastError, match=r"of 6 clips 0 have .*no verb \(6\).*--explain says why"):
        built(tmp_path, ["verb_mc"], captions=str(table))
    with pytest.raises(UsageError, match=r"--training: no such file: .*nothing\.csv"):
        built(tmp_path, ["verb_mc"], captions=str(table), training=str(tmp_path / "nothing.csv"))


def test_a_build_never_drops_a_split_that_is_there(tmp_path):
    root = built(tmp_path, ["retrieval"], split="train")
    before = contents(root)
    with pytest.raises(VideoContrastError, match="config retrieval also has the split train, which would no longer"):
        built(tmp_path, ["retrieval"], split="validation")
    assert contents(root) == before
    built(tmp_path, "random_mc", split="validation")  # one name is no list of letters
    assert len(rows(root, "retrieval", "train")) == len(rows(root, "random_mc", "validation"))


def test_load_dataset_takes_the_first_config_where_none_is_named(tmp_path, monkeypatch):
    monkeypatch.setenv("VIDEO_CONTRAST_CACHE", str(tmp_path / "cache"))
    table = str(write_table(tmp_path / "captions.csv", n=6))
    loaded = load_dataset("captions", split="test", captions=table, video_column="file", caption_column="text")
    assert len(loaded) == 6 and "captions" in loaded.column_names  # of retrieval


def test_a_language_is_a_code(tmp_path):
    with pytest.raises(UsageError, match="--language English: give the code of the language"):
        built(tmp_path, ["retrieval"], language="English")


def test_a_folder_with_other_files_takes_no_set_and_empty_captions_are_counted_where_nothing_is_built(tmp_path):
    clips = tmp_path / "clips"
    clips.mkdir()
    (clips / "a.mp4").touch()
    table = tmp_path / "c.csv"
    table.write_text("video,caption\n" + "".join(f"v{n}.mp4,a man runs in place {n}\n" for n in range(20)))
    with pytest.raises(VideoContrastError, match=r"clips holds other files \(a\.mp4\).*give a new folder"):
        build("captions", ["random_mc"], output=clips, captions=str(table))
    assert [path.name for path in clips.iterdir()] == ["a.mp4"]
    table.write_text("video,caption\nv.mp4,a man runs\nw.mp4,\nx.mp4, \n")
    with pytest.raises(VideoContrastError, match="2 clips left out for want of a caption"):
        build("captions", ["random_mc"], output=tmp_path / "set", captions=str(table))
    with pytest.raises(UsageError, match=r"'good\.csv'.*in Python: caption="):
        build("captions", ["random_mc"], output=tmp_path / "set", caption="good.csv")


def test_of_several_configs_those_with_items_are_built(tmp_path, capsys):
    table = tmp_path / "c.csv"
    table.write_text("file,text\n" + "\n".join(f"v{n}.mp4,a man is eating soup number {n}" for n in range(8)))
    root = built(tmp_path, ["gender_mc", "order_mc"], captions=str(table))
    assert len(rows(root, "gender_mc")) == 8 and not (root / "order_mc").exists()
    assert "left out: captions order_mc: no item could be built" in capsys.readouterr().err
    with pytest.raises(VideoContrastError, match="order_mc: no item could be built"):
        built(tmp_path, ["order_mc", "role_mc"], captions=str(table))
