"""Negatives for a training corpus: priced, resumed, shared out over endpoints, and stored with what was rejected."""
# ruff: noqa: F811  (fixtures are imported and then named as arguments)

import json
import os
import signal
from pathlib import Path

import datasets
import pyarrow.parquet as pq
import pytest
from contrast_models import TRAIN, Endpoint, online  # noqa: F401  a fixture

from video_contrast.builders.assembly.captioned_clip import CANDIDATES
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.perturbations.contrast.generators.llm import SCHEMA, UNREADABLE
from video_contrast.perturbations.contrast.proposal import OTHER_FORM
from video_contrast.rows import retrieval_row
from video_contrast.storage import SetDraft
from video_contrast.teacher import generation
from video_contrast.teacher.generation import GenerateOptions, generate
from video_contrast.teacher.negative_recipe import NegativeRecipe
from video_contrast.teacher.negatives import corpus_of, negatives, why_none

CLIPS = 12


def answer(message):
    if "dog" in message:
        return "I would rather not."
    return json.dumps({"replacements": ["running on", "jumping in", "table"]})


@pytest.fixture
def corpus(tmp_path):
    rows = [
        retrieval_row(id=f"v{n}", video_id=f"v{n}", video_path=f"{n}.mp4", captions=[text, f"{text} today"])
        for n, text in enumerate(TRAIN[: 9 * CLIPS : 9])
    ]
    draft = SetDraft(tmp_path / "corpus", "captions")
    draft.add("retrieval", {"train": rows}, {})
    draft.save()
    return tmp_path / "corpus"


def asked(output, *urls, **more):
    return GenerateOptions(
        output=output, generator_model="org/chat", endpoint=list(urls), quality="0",
        negatives="2-action", **more,
    )  # fmt: skip


def test_one_of_several_processes_refuses(corpus, tmp_path, monkeypatch):
    monkeypatch.setenv("WORLD_SIZE", "2")
    with pytest.raises(UsageError, match="generate works without torchrun"):
        generate(corpus, generator="lexicon", output=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_negatives_are_a_set_and_rejected_ones_have_their_reason(corpus, tmp_path, online):
    said = []
    with Endpoint(answer) as server:
        result = generate(corpus, request=asked(tmp_path / "n", server.url), say=said.append)
        questions = len(server.requests)
    assert CLIPS <= questions == result["estimate"].questions and f": {questions} questions" in said[0]
    rows = datasets.load_dataset(str(tmp_path / "n"), "negatives_mc", split="train")
    assert len(rows) == result["captions"] - result["captions with none"] > 0
    assert {kind for row in rows for kind in row["kinds"]} == {"true", "verb_llm"}
    assert len({row["label"] for row in rows}) > 1
    rejected = [json.loads(line) for line in (tmp_path / "n" / "rejected.jsonl").read_text().splitlines()]
    assert "no JSON object with a list of replacements" in {entry["reason"] for entry in rejected}
    tables = {entry["reason"] for entry in rejected if "table" in entry["text"]}
    assert OTHER_FORM in tables and all(
        set(entry) == {"caption", "text", "reason", "probability"} for entry in rejected
    )
    assert result["rejected"] == len(rejected) == sum(result["reasons"].values())


def test_a_dry_run_prices_and_asks_nothing(corpus, tmp_path, online):
    said = []
    with Endpoint(answer) as server:
        options = asked(tmp_path / "n", server.url, dry_run=True, price_in=1.0, price_out=10.0)
        estimate = generate(corpus, request=options, say=said.append)["estimate"]
        assert not server.requests
    assert estimate.captions == 2 * CLIPS and estimate.stored == 0 and "by the given prices" in said[0]
    assert estimate.price == pytest.approx((estimate.tokens_in + 10 * estimate.tokens_out) / 1e6)
    assert not (tmp_path / "n").exists()


def test_a_dry_run_prices_before_the_server_is_there(corpus, tmp_path, online):
    said = []
    options = GenerateOptions(
        output=tmp_path / "n", generator_model="org/chat", endpoint=["http://localhost:9/v1"],
        dry_run=True,
    )  # fmt: skip
    assert generate(corpus, request=options, say=said.append)["estimate"].questions > CLIPS
    assert said[1].startswith("not at hand: ") and "no server answers there" in said[1]


@pytest.mark.parametrize(
    ("captions", "message"),
    [
        (["a man has a horse", "there is a dog"], r"light verb \d+.*--quality all asks less"),
        (["ein Mann reitet ein Pferd", "ein Hund rennt über die Straße"], "do not look English"),
    ],
)
def test_captions_that_get_no_negative_say_why(tmp_path, captions, message):
    rows = [retrieval_row(id=text, video_id=text, video_path="0.mp4", captions=[text]) for text in captions]
    recipe = NegativeRecipe(2, 0)
    with pytest.raises(VideoContrastError, match=message):
        negatives(rows, recipe, tmp_path / "store", corpus=corpus_of(rows), say=lambda _: None)


def test_what_a_chat_model_leaves_out_is_said_in_words():
    why = why_none(
        ["a man rides a horse"], {f"{CANDIDATES}{UNREADABLE}": 126, f"{CANDIDATES}light verb": 2, "edited": 0}, "llm"
    )
    assert why == (
        "left out by no JSON object with a list of replacements 126, light verb 2; the chat model does not answer as "
        "asked: another --generator-model may"
    )


def test_an_interrupted_run_asks_nothing_twice_even_of_another_endpoint(corpus, tmp_path, online, monkeypatch):
    monkeypatch.setattr("video_contrast.chat_model.time.sleep", lambda _: None)
    monkeypatch.setattr("video_contrast.chat_model.RETRIED", ())
    with Endpoint(answer, fail_after=5) as server, pytest.raises(VideoContrastError, match="run the same command"):
        generate(corpus, request=asked(tmp_path / "n", server.url, concurrency=1))
    with Endpoint(answer) as other:
        result = generate(corpus, request=asked(tmp_path / "n", other.url))
        assert result["estimate"].stored == 5
        before = (tmp_path / "n" / "rejected.jsonl").read_bytes()
        again = generate(corpus, request=asked(tmp_path / "n", other.url))
        assert again["cost"]["requests"] == 0 and (tmp_path / "n" / "rejected.jsonl").read_bytes() == before
    with Endpoint(answer) as whole:
        generate(corpus, request=asked(tmp_path / "whole", whole.url))
        assert len(whole.requests) == len(other.requests) + 5
    tables = [next((tmp_path / name / "negatives_mc").glob("*.parquet")).read_bytes() for name in ("n", "whole")]
    assert tables[0] == tables[1]


def test_endpoints_share_the_questions_and_one_that_fails_is_left_out(corpus, tmp_path, online, monkeypatch):
    monkeypatch.setattr("video_contrast.chat_model.RETRIED", ())
    with Endpoint(answer) as one, Endpoint(answer) as two, Endpoint(answer, fail_after=0) as broken:
        result = generate(corpus, request=asked(tmp_path / "n", one.url, two.url, broken.url, concurrency=1))
        assert one.requests and two.requests
        assert result["cost"]["requests"] == len(one.requests) + len(two.requests)
        assert list(result["failures"]) == [broken.url] and "500" in result["failures"][broken.url]


def test_a_server_is_asked_for_the_schema(corpus, tmp_path, online):
    with Endpoint(answer) as server:
        generate(corpus, request=asked(tmp_path / "n", server.url, structured=True, limit=1))
        assert server.requests[0][1]["response_format"]["value"] == SCHEMA


def test_training_reads_what_was_generated(corpus, tmp_path):
    options = GenerateOptions(output=tmp_path / "n", generator="lexicon", quality="0", negatives="3-action")
    result = generate(corpus, request=options)
    rows = [retrieval_row(id="v0", video_id="v0", video_path="0.mp4", captions=[TRAIN[0], "never seen"])]
    recipe = NegativeRecipe(3, 0, generator="set", model=str(tmp_path / "n"))
    recipe.check()
    captions, counts = negatives(rows, recipe, Path(tmp_path / "store"), corpus={})
    assert captions[0]["negatives"] and captions[1]["negatives"] == [] and counts["captions with none"] == 1
    assert result["estimate"] is None


def test_the_lexicon_makes_negatives_of_actions_and_things_without_a_model(tmp_path):
    said = ("a man rides a horse on the beach", "a dog is running in the street", "a woman is blorking a frobnitz")
    rows = [
        retrieval_row(id=f"v{n}", video_id=f"v{n}", video_path=f"{n}.mp4", captions=[text])
        for n, text in enumerate(said)
    ]
    draft = SetDraft(tmp_path / "corpus", "captions")
    draft.add("retrieval", {"train": rows}, {})
    draft.save()
    given = {"generator": "lexicon", "quality": "0.1", "negatives": "3-action-2-object"}
    result = generate(tmp_path / "corpus", request=GenerateOptions(output=tmp_path / "n", **given))
    assert result["captions with none"] == 1 and result["estimate"] is None
    items = datasets.load_dataset(str(tmp_path / "n"), "negatives_mc", split="train")
    assert {kind for item in items for kind in item["kinds"]} == {"true", "verb_lexical", "object"}
    for item in items:
        true = item["candidates"][item["label"]]
        verbs = [
            edit["new"].split()[0] for edit, kind in zip(item["edits"], item["kinds"], strict=True) if "verb" in kind
        ]
        assert len(set(verbs)) == len(verbs) <= 3 and item["candidates"].count(true) == 1
    [left_out] = [json.loads(line) for line in (tmp_path / "n" / "rejected.jsonl").read_text().splitlines()][:1]
    assert left_out["caption"] == said[2] and "(" not in left_out["reason"] in left_out["text"]
    recipe = NegativeRecipe(3, 2, generator="lexicon", quality="0.1")
    captions, _ = negatives(rows, recipe, tmp_path / "store", corpus=corpus_of(rows), say=lambda _: None)
    texts = {item["candidates"][item["label"]]: set(item["candidates"]) for item in items}
    for row in captions:  # what teach makes itself is what generate wrote
        assert {row["caption"], *row["negatives"]} == texts.get(row["caption"], {row["caption"]})


def test_kinds_by_rules_add_a_negative_each(tmp_path):
    captions = ["two men in red shirts open a door", "a boy is chasing a dog", "a nice day"]
    rows = [
        retrieval_row(id=f"v{n}", video_id=f"v{n}", video_path=f"{n}.mp4", captions=[text])
        for n, text in enumerate(captions * 4)
    ]
    draft = SetDraft(tmp_path / "corpus", "captions")
    draft.add("retrieval", {"train": rows}, {})
    draft.save()
    given = {"generator": "lexicon", "negatives": "2-action", "rules": "attribute,role"}
    generate(tmp_path / "corpus", request=GenerateOptions(output=tmp_path / "n", **given))
    made = datasets.load_dataset(str(tmp_path / "n"), "negatives_mc", split="train")
    kinds_of = {row["candidates"][row["label"]]: [kind for kind in row["kinds"] if kind != "true"] for row in made}
    assert "attribute" in kinds_of[captions[0]] and "role" in kinds_of[captions[1]]
    for generator, model in (("lexicon", None), ("set", str(tmp_path / "n"))):
        recipe = NegativeRecipe(2, 0, generator=generator, model=model, rules=("attribute", "role"))
        trained, _ = negatives(rows, recipe, tmp_path / f"{generator}-train", corpus=corpus_of(rows), say=str)
        of_role = next(row for row in trained if row["caption"] == captions[1])
        assert of_role["negatives"][of_role["kinds"].index("role")] == "a dog is chasing a boy"
        assert of_role["kinds"].count("action") <= 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"generator": "lexicon", "endpoint": ["http://localhost:1"]}, "goes with --generator llm"),
        ({"generator": "lexicon", "generator_options": "k=3"}, "lexicon has no model"),
        ({}, "needs --generator-model"),
        ({"generator_model": "m", "structured": True}, "give --endpoint"),
        ({"generator_model": "m", "generator_options": "store=a.jsonl"}, "OUTPUT/answers.jsonl"),
        ({"generator_model": "m", "price_in": 1.0}, "together"),
        ({"generator_model": "m", "negatives": "many"}, "10-action"),
        ({"generator_model": "m", "output": "s3://bucket/n"}, "object stores cannot; give a folder"),
    ],
)
def test_bad_options_are_one_sentence(tmp_path, options, message):
    with pytest.raises(UsageError, match=message):
        GenerateOptions(**{"output": tmp_path, **options}).check()
    with pytest.raises(UsageError, match="--limit must be at least 1"):
        generate("set", output=tmp_path, limit=0)


def files_of(root):
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def test_of_files_that_cannot_be_read_the_others_go_on_and_nothing_is_written(corpus, tmp_path, monkeypatch):
    monkeypatch.setattr(generation, "CLIPS", 5)
    file = corpus / "retrieval/train-00000-of-00001.parquet"
    table = pq.read_table(file)
    file.unlink()
    for n in range(3):
        pq.write_table(table.slice(5 * n, 5), corpus / f"retrieval/train-0000{n}-of-00003.parquet")
    given = {"generator": "lexicon", "quality": "0", "negatives": "3-action"}
    generate(corpus, output=tmp_path / "whole", **given)
    damaged = corpus / "retrieval/train-00001-of-00003.parquet"
    content = damaged.read_bytes()
    real, gone_on = generation.attempts_of, []
    monkeypatch.setattr(generation, "attempts_of", lambda rows: gone_on.extend(r["id"] for r in rows) or real(rows))
    damaged.unlink()
    for dataset in (corpus, f"file://{corpus}"):
        with pytest.raises(VideoContrastError, match=rf"of the {CLIPS} rows .*-of-00003.parquet is missing"):
            generate(dataset, output=tmp_path / "out", **given)
    damaged.write_bytes(content[:100])
    gone_on.clear()
    for limit in (None, 6):  # also where the other files have as many clips as are asked for
        for dataset in (corpus, f"file://{corpus}"):
            with pytest.raises(VideoContrastError, match=r"1 file cannot be read\.(?s:.*)train-00001-of-00003.parquet"):
                generate(dataset, output=tmp_path / "out", limit=limit, **given)
            assert not (tmp_path / "out/set.json").exists() and not list((tmp_path / "out").rglob("*.parquet"))
    others = [f"v{n}" for n in (*range(5), *range(10, CLIPS))]
    assert gone_on == 2 * others + 2 * others[:6]
    damaged.write_bytes(content)
    generate(corpus, output=tmp_path / "out", **given)
    assert files_of(tmp_path / "out") == files_of(tmp_path / "whole")


def test_a_full_disk_is_said_as_by_every_command_and_the_same_command_goes_on(corpus, tmp_path, monkeypatch, capsys):
    from video_contrast import cli, files

    def full(path, content):
        raise OSError(28, "No space left on device", str(path))

    command = ["generate", str(corpus), "--generator", "lexicon", "--quality", "0", "--output", str(tmp_path / "out")]
    with monkeypatch.context() as patched:
        patched.setattr(files, "write_bytes", full)
        assert cli.main(command) == 1
    assert "error: no space left on the device (" in capsys.readouterr().err
    assert cli.main(command) == 0


def test_blocks_are_shared_among_processes_and_those_that_fail_are_named(corpus, tmp_path, monkeypatch):
    pytest.importorskip("datatrove", reason="the extra cluster is not installed")
    monkeypatch.setattr(generation, "CLIPS", 5)
    given = {"generator": "lexicon", "quality": "0", "negatives": "3-action"}
    whole = generate(corpus, output=tmp_path / "whole", **given)
    files = files_of(tmp_path / "whole")
    assert sum(name.endswith(".parquet") for name in files) == 3 and whole["captions"] == 2 * CLIPS
    assert not any(name.startswith(".") for name in files)
    real = generation.attempts_of

    def failing(rows):
        if rows[0]["id"] == "v5":
            raise OSError("a clip that no machine can read")
        if rows[0]["id"] == "v10":
            os.kill(os.getpid(), signal.SIGKILL)
        return real(rows)

    monkeypatch.setattr(generation, "attempts_of", failing)
    again = given | {"output": f"file://{tmp_path}/shared", "executor": "local", "workers": 2}
    with pytest.raises(
        VideoContrastError, match=r"2 of 3 failed(?s:.*)2 of 3 .*: a clip that(?s:.*)3 of 3 .*was killed"
    ):
        generate(f"file://{corpus}", **again)
    monkeypatch.setattr(generation, "attempts_of", real)
    counts = ("captions", "negatives", "captions with none", "rejected", "reasons")
    result = generate(f"file://{corpus}", **again)
    assert {name: result[name] for name in counts} == {name: whole[name] for name in counts}
    assert files_of(tmp_path / "shared") == files
