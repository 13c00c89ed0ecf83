"""`Dataset.map(TextPerturbation(...))` and `video-contrast perturb text`."""

import dataclasses
import io
import os
import sys

import pytest
from datasets import Dataset
from datasets.fingerprint import Hasher

from video_contrast import TextPerturbation
from video_contrast.cli import main
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.perturbations.registry import TEXT
from video_contrast.perturbations.text import perturb_captions
from video_contrast.runner.conditions import from_recipe

SUBJECTS = ("a man", "two girls", "the old dog", "a woman in red")
DOINGS = ("is singing a song", "run through a field", "opens the wooden door")
CAPTIONS = [f"{who} {doing}" for who in SUBJECTS for doing in DOINGS]


@pytest.fixture(scope="module")
def table():
    rows = [
        {"id": f"v{n}", "caption": caption, "captions": [caption, CAPTIONS[n - 1]], "other": n}
        for n, caption in enumerate(CAPTIONS)
    ]
    return Dataset.from_list(rows)


@pytest.mark.parametrize("name", ["keyboard", "shuffle_order", "random_noun", "gender_neutral"])
def test_map_gives_the_same_in_any_batching(table, name):
    change = TextPerturbation(name, seed=5)
    one_by_one = table.map(change)
    for size in (1, 5, 100):
        batched = table.map(change, batched=True, batch_size=size)
        assert batched["captions"][:] == one_by_one["captions"][:]
    assert one_by_one["caption"][:] == table["caption"][:]
    assert one_by_one["other"][:] == table["other"][:]
    ids = [item for item in table["id"] for _ in range(2)]
    flat = [caption for captions in table["captions"] for caption in captions]
    direct = perturb_captions(flat, name, ids=ids, caption_indices=[0, 1] * len(table), seed=5)
    assert [caption for captions in one_by_one["captions"] for caption in captions] == direct


def test_a_table_formatted_as_arrays_gives_the_same(table):
    change = TextPerturbation("typos", seed=5)
    arrays = table.with_format("numpy")
    for batched in (False, True):
        assert [list(c) for c in arrays.map(change, batched=batched)["captions"][:]] == table.map(change)["captions"][:]


@pytest.mark.processes
def test_map_gives_the_same_in_two_processes(table, monkeypatch):
    monkeypatch.setattr(os, "environ", os.environ)  # datasets puts a copy in its place, which rich would not read
    change = TextPerturbation("typos", seed=5)
    assert table.map(change, num_proc=2)["captions"][:] == table.map(change)["captions"][:]


@pytest.mark.parametrize("batched", [False, True])
def test_a_streamed_table_is_changed_as_it_is_read(table, batched):
    change = TextPerturbation("random_noun", seed=5)
    stream = table.to_iterable_dataset(num_shards=3).map(change, batched=batched, batch_size=4)
    assert [row["captions"] for row in stream] == table.map(change)["captions"][:]
    assert next(iter(stream)).keys() == table[0].keys() | {"text_perturbation"}


def test_a_second_map_reads_the_cache_and_another_seed_does_not(table, tmp_path, monkeypatch):
    table.save_to_disk(tmp_path / "table")
    stored = Dataset.load_from_disk(tmp_path / "table")
    first = stored.map(TextPerturbation("typos", seed=5))
    calls = []
    monkeypatch.setattr(TextPerturbation, "_check_columns", lambda self, rows: calls.append(self.seed))
    assert stored.map(TextPerturbation("typos", seed=5))["captions"][:] == first["captions"][:] and not calls
    assert stored.map(TextPerturbation("typos", seed=6))["captions"][:] != first["captions"][:] and set(calls) == {6}


def test_another_parser_changes_the_cache_name_of_what_reads_parses(monkeypatch):
    names = {name: Hasher.hash(TextPerturbation(name)) for name in ("no_nouns", "mlm_suggestion", "typos")}
    monkeypatch.setattr("video_contrast.perturbations.text_transform.PARSER", "next")
    changed = {name for name, value in names.items() if Hasher.hash(TextPerturbation(name)) != value}
    assert changed == {"no_nouns", "mlm_suggestion"}


def test_captions_of_several_columns_are_counted_through(table):
    changed = table.map(TextPerturbation("typos", columns=("caption", "captions")))
    first = table[0]
    flat = [first["caption"], *first["captions"]]
    direct = perturb_captions(flat, "typos", ids=["v0"] * 3, caption_indices=[0, 1, 2])
    assert [changed[0]["caption"], *changed[0]["captions"]] == direct


def test_all_options_of_a_multiple_choice_row_change():
    row = {"id": "q", "candidates": ["a boy sings", "a boy sleeps"], "label": 0}
    done = TextPerturbation("drop_first", columns=("candidates",))(row)
    assert done["candidates"] == ["[UNK] boy sings", "[UNK] boy sleeps"]


@pytest.mark.parametrize("batched", [False, True])
def test_every_row_says_what_was_done_to_it(table, batched):
    first = table.map(TextPerturbation("tense", seed=5), batched=batched)
    version = TextPerturbation("tense").version
    recipe = {"name": "tense", "profile": "paper", "seed": 5, "version": version}
    assert first["text_perturbation"][:] == [recipe] * len(table) and "+" in version
    assert from_recipe(None, first[0]["text_perturbation"]).name == "text:tense"
    as_built = table.map(lambda row: {"text_perturbation": {"name": None, "profile": "paper", "seed": 0}})
    again = as_built.map(TextPerturbation("tense", seed=5), batched=batched)
    assert again["text_perturbation"][:] == [recipe] * len(table)
    with pytest.raises(VideoContrastError, match="hold what tense made of them"):  # two recipes have no place in a row
        first.map(TextPerturbation("keyboard"), batched=batched)


def test_a_changed_version_or_setting_changes_the_cache_name(monkeypatch):
    change = TextPerturbation("keyboard", seed=0)
    names = {Hasher.hash(c) for c in (change, TextPerturbation("keyboard", seed=1), TextPerturbation("ocr"))}
    monkeypatch.setitem(TEXT, "keyboard", dataclasses.replace(TEXT["keyboard"], version="next"))
    names.add(Hasher.hash(TextPerturbation("keyboard", seed=0)))
    assert len(names) == 4
    assert Hasher.hash(change) == Hasher.hash(dataclasses.replace(change, seed=0)) or change.version != "next"
    with pytest.raises(dataclasses.FrozenInstanceError):
        change.seed = 1


def test_what_is_missing_is_named(table):
    with pytest.raises(VideoContrastError, match=r"no column 'key' to take item ids from .*id_column="):
        TextPerturbation("ocr", id_column="key")(table[0])
    with pytest.raises(VideoContrastError, match=r"no column 'text' to perturb .*there are: id, caption, captions"):
        TextPerturbation("ocr", columns=("text",))(table[0])
    with pytest.raises(VideoContrastError, match="column 'other' of item 'v0' must hold text"):
        TextPerturbation("ocr", columns="other")(table[0])
    with pytest.raises(VideoContrastError, match="row 0 of the batch has no 'id'"):
        TextPerturbation("ocr")({"id": [None], "captions": [["a"]]})
    with pytest.raises(UsageError, match="did you mean 'ocr'"):
        TextPerturbation("ocrr")
    with pytest.raises(UsageError, match="choose paper or released"):
        TextPerturbation("ocr", profile="mine")


class _Input(io.TextIOWrapper):
    def __init__(self, content: bytes):
        super().__init__(io.BytesIO(content))


@pytest.fixture
def perturb(monkeypatch, capfdbinary):
    def run(content, *options):
        monkeypatch.setattr(sys, "stdin", _Input(content))
        code = main(["perturb", "text", *options])
        out, error = capfdbinary.readouterr()
        return code, out.decode(), error.decode()

    return run


def test_command_equals_map_on_the_same_ids(table, perturb, tmp_path):
    ids = tmp_path / "ids.txt"
    ids.write_text("\n".join(table["id"]) + "\n")
    content = ("\n".join(table["caption"]) + "\n").encode()
    code, out, _ = perturb(content, "--name", "typos", "--seed", "3", "--ids", str(ids))
    assert code == 0
    assert out.splitlines() == table.map(TextPerturbation("typos", seed=3, columns=("caption",)))["caption"][:]
    _, by_line, _ = perturb(content, "--name", "typos")
    assert by_line.splitlines() == perturb_captions(CAPTIONS, "typos", ids=range(len(CAPTIONS)))


def test_command_writes_one_line_a_line(perturb):
    assert perturb(b"a boy\r\n\n  \nshe\xc3\xa9 runs", "--name", "drop_first") == (
        0,
        "[UNK] boy\n\n  \n[UNK] runs\n",
        "",
    )
    assert perturb(b"", "--name", "drop_first") == (0, "", "")


def test_command_errors_are_one_line(perturb, tmp_path):
    code, _, error = perturb(b"", "--name", "keybord")
    assert (code, error.count("\n")) == (2, 1) and "did you mean 'keyboard'" in error
    code, _, error = perturb(b"fine\n\xff\xfe\n", "--name", "ocr")
    assert (code, error) == (1, "error: standard input is not UTF-8 text in line 2: convert it first\n")
    short = tmp_path / "ids"
    short.write_text("x\n")
    code, _, error = perturb(b"a\nb\n", "--name", "ocr", "--ids", str(short))
    assert code == 2 and "has 1 lines, but 2 captions came in" in error
    code, _, error = perturb(b"a\n", "--name", "ocr", "--ids", str(tmp_path / "none"))
    assert code == 1 and "cannot read --ids" in error


def test_command_makes_passives_by_rules_unless_a_checkpoint_is_named(perturb):
    called = (b"a man opens the door\n", "--name", "active_to_passive")
    assert perturb(*called) == perturb(*called, "--model", "rules") == (0, "the door is opened by a man\n", "")
    code, out, error = perturb(*called, "--model", "prithivida/active_to_passive_styletransfer")
    assert (code, out) == (1, "") and "hf download prithivida/active_to_passive_styletransfer" in error


EDITED = {
    "id": ["q"],
    "candidates": [["a boy sings a song", "a boy hums a song", "two dogs run"]],
    "label": [0],
    "edits": [
        [
            None,
            {"old": "sings", "new": "hums", "start": 6, "end": 10, "antonym": False, "generator": "g", "scores": "{}"},
            None,
        ]
    ],
}


def test_spans_of_edits_follow_the_changed_candidates():
    done = TextPerturbation("gender_female", columns=("candidates",))(EDITED)
    (_, edit, other), (_, text, _) = done["edits"][0], done["candidates"][0]
    assert text == "a girl hums a song" and other is None
    assert (edit["old"], edit["new"], text[edit["start"] : edit["end"]]) == ("sings", "hums", "hums")
    assert edit["generator"] == "g"
    with pytest.raises(VideoContrastError, match="column 'label'"):
        TextPerturbation("gender_female", columns=("candidates",))({n: v for n, v in EDITED.items() if n != "label"})


def test_candidates_that_become_the_same_text_are_refused_unless_they_are_allowed():
    with pytest.raises(VideoContrastError, match="item 'q': two candidates become the same text"):
        TextPerturbation("no_verbs", columns=("candidates",))(EDITED)
    done = TextPerturbation("no_verbs", columns=("candidates",), allow_equal=True)(EDITED)
    assert done["candidates"][0][0] == done["candidates"][0][1] and done["edits"][0][1]["new"] == ""
    same_before = {"id": "q", "candidates": ["a boy sings", "a boy sings"]}
    assert TextPerturbation("no_verbs", columns=("candidates",))(same_before)


def test_the_cache_name_holds_what_makes_the_text(monkeypatch):
    from video_contrast.perturbations.text import checkpoints

    with_rules = TextPerturbation("active_to_passive")
    assert "rules" in with_rules.version
    monkeypatch.setattr(checkpoints, "stored_revision", lambda checkpoint: "1234567890abcdef")
    assert TextPerturbation("active_to_passive").version == with_rules.version, "whatever the cache holds"
    checkpoint = "prithivida/active_to_passive_styletransfer"
    with_checkpoint = TextPerturbation("active_to_passive", models={"active_to_passive": checkpoint})
    assert "active_to_passive_styletransfer@1234567890ab" in with_checkpoint.version
    assert Hasher.hash(with_rules) != Hasher.hash(with_checkpoint)
    assert TextPerturbation("active_to_passive", models={"active_to_passive": "rules"}).version == with_rules.version
    monkeypatch.setattr(checkpoints, "stored_revision", lambda checkpoint: "fedcba")
    assert TextPerturbation("mlm_suggestion").version.endswith("google-bert/bert-base-uncased@fedcba")


def test_an_interrupted_download_is_no_checkpoint(monkeypatch, tmp_path):
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    for name in ("active_to_passive_styletransfer", "parrot_adequacy_model"):
        repository = tmp_path / f"models--prithivida--{name}"
        (repository / "refs").mkdir(parents=True)
        (repository / "refs" / "main").write_text("abc")
        (repository / "snapshots" / "abc").mkdir(parents=True)
        (repository / "snapshots" / "abc" / "config.json").write_text('{"model_type": "t5"}')
    models = {"active_to_passive": "prithivida/active_to_passive_styletransfer"}
    passive = TextPerturbation("active_to_passive", models=models)
    assert "active_to_passive_styletransfer@absent" in passive.version
    with pytest.raises(VideoContrastError, match="active_to_passive_styletransfer and prithivida/parrot_adequacy"):
        passive({"id": "a", "captions": ["a man is stirring a soup"]})


@pytest.mark.parametrize("seed", ["x", 1.5, None, True])
def test_a_seed_that_is_no_whole_number_is_refused_before_any_row(seed):
    with pytest.raises(UsageError, match="the seed must be a whole number"):
        TextPerturbation("keyboard", seed=seed)
