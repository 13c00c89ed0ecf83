"""Constraints that run a model or read vectors: perplexity, word vectors, sentence cosine, entailment."""
# ruff: noqa: F811  (fixtures are imported and then named as arguments)

import math

import numpy as np
import pytest
import torch
from contrast_models import CAPTIONS, IDS, RULES, TRAIN, bert_folder, contrasts_of, encoder_folder, gpt2_folder  # noqa: F401  fixtures
from contrast_verbs import Listed
from stand_in_gpu import stand_in_gpu

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.perturbations.contrast import verb
from video_contrast.perturbations.contrast.constraints.perplexity import LanguageModel, is_fluent
from video_contrast.perturbations.contrast.constraints.word_cosine import VerbVectors, shrink


def test_perplexity_is_that_of_the_model_whatever_the_batch(gpt2_folder):
    from transformers import AutoModelForCausalLM, AutoTokenizer

    texts = [*TRAIN[:20:4], "a", "man", "a man is singing on a stage near the door in the street"]
    batched = LanguageModel(str(gpt2_folder), device="cpu", batch_tokens=40).perplexity(texts)
    tokenizer = AutoTokenizer.from_pretrained(gpt2_folder)
    model = AutoModelForCausalLM.from_pretrained(gpt2_folder).eval()
    for text, value in zip(texts, batched, strict=True):
        ids = torch.tensor([[tokenizer.bos_token_id, *tokenizer.encode(text, add_special_tokens=False)]])
        with torch.no_grad():
            loss = model(input_ids=ids, labels=ids).loss
        assert value == pytest.approx(math.exp(float(loss)), rel=1e-4)


def test_batches_of_perplexities_are_halved_where_the_memory_of_a_gpu_does_not_suffice(gpt2_folder):
    texts = TRAIN[:12]
    expected = LanguageModel(str(gpt2_folder), device="cpu").perplexity(texts)
    with stand_in_gpu() as gpus:
        model = LanguageModel(str(gpt2_folder))
        gpus.most = 2000  # numbers: a logit a word of the vocabulary and token
        assert model.perplexity(texts) == pytest.approx(expected, rel=1e-5)
        gpus.most = 20
        with pytest.raises(torch.OutOfMemoryError):
            model.perplexity(["a dog"])
        with pytest.raises(VideoContrastError, match="language_model: GPT2LMHeadModel does not fit the memory of cuda"):
            LanguageModel(str(gpt2_folder))


def test_perplexity_limits_are_the_papers_with_the_sign_repaired():
    assert is_fluent(100, 159)[0] and not is_fluent(400, 960)[0]
    assert is_fluent(100, 239)[0] and not is_fluent(100, 241)[0]  # rise under 1.4 with a perplexity under 750
    assert not is_fluent(400, 751)[0]
    # As printed the difference is never above 1: no contrast under a perplexity of 750 is ever rejected.
    assert all(is_fluent(old, new, form="printed")[0] for old in (1, 50, 5000) for new in (1, 50, 749))


def test_perplexity_constraint_rejects_by_its_own_count_and_records_its_limits(gpt2_folder):
    settings = dict(language_model=str(gpt2_folder), device="cpu")
    pipeline = verb.Pipeline(Listed(), [*RULES, "perplexity"], options=settings)
    lists, reasons = pipeline.run_many(TRAIN[:40], [str(n) for n in range(40)], n=50)
    model = LanguageModel(str(gpt2_folder), device="cpu")
    assert reasons["candidates:rejected:perplexity"] > 0
    for caption, edits in zip(TRAIN[:40], lists, strict=True):
        for edit in edits:
            old, new = model.perplexity([caption, edit.text])
            assert is_fluent(old, new)[0]
            assert edit.scores["perplexity"] == pytest.approx((new - old) / old, abs=1e-4)
    record = pipeline.record()
    assert record["constraints"]["perplexity"]["rise_below"] == 0.6
    assert record["not_applied"] == ["siblings", "lift", "word_vectors", "sentence", "nli"]


def _write_vectors(path, rng=0):
    values = np.random.default_rng(rng).normal(size=(5, 8))
    rows = dict(zip(["sit", "stand", "sing", "run", "table"], values, strict=True))
    rows["sing"] = rows["run"] + 0.01  # too close
    rows["stand"] = rows["sit"] + 0.01  # too close too, but an antonym
    path.write_text("".join(f"{w} {' '.join(f'{x:.5f}' for x in v)}\n" for w, v in rows.items()), encoding="utf-8")
    return rows


def test_word_vectors_reject_near_verbs_but_not_antonyms(tmp_path):
    rows = _write_vectors(tmp_path / "v.txt")
    settings = {"vectors": tmp_path / "v.txt"}
    captions = ["a man is sitting", "a man is running"] * 10
    pipeline = verb.Pipeline(Listed(), [*RULES, "word_vectors"], options=settings)
    lists, reasons = pipeline.run_many(captions, [str(n) for n in range(20)], n=50)
    found = {(edit.old, edit.new) for edits in lists for edit in edits}
    assert ("sitting", "standing") in found and ("running", "singing") not in found
    assert reasons["candidates:rejected:word_vectors"] > 0
    cosine = VerbVectors.read(tmp_path / "v.txt").cosine("sit", "run")
    a, b = rows["sit"], rows["run"]
    assert cosine == pytest.approx(a @ b / np.linalg.norm(a) / np.linalg.norm(b), abs=1e-4)


def test_shrunk_vectors_hold_the_verbs_and_give_the_same_cosines(tmp_path):
    _write_vectors(tmp_path / "v.txt")
    assert shrink(tmp_path / "v.txt", tmp_path / "v.npz") == (5, 5)  # "to table" is a verb
    (tmp_path / "w.txt").write_text("running 1 2\nrun 1 2\nkitchen 3 4\nstand 0.5 -1\n", encoding="utf-8")
    assert shrink(tmp_path / "w.txt", tmp_path / "w.npz") == (4, 2)
    small = VerbVectors.read(tmp_path / "w.npz")
    assert set(small.words) == {"run", "stand"}
    whole = VerbVectors.read(tmp_path / "v.txt")
    assert VerbVectors.read(tmp_path / "v.npz").cosine("sit", "sing") == pytest.approx(
        whole.cosine("sit", "sing"), abs=1e-3
    )
    (tmp_path / "bad.txt").write_text("run 1 2\nwalk 1\n", encoding="utf-8")
    with pytest.raises(VideoContrastError, match="line 2 is not a word and 2 numbers"):
        VerbVectors.read(tmp_path / "bad.txt")
    with pytest.raises(UsageError, match=r"\.npz"):
        shrink(tmp_path / "w.txt", tmp_path / "w.txt2")


def test_sentence_cosine_rejects_near_sentences_but_not_antonyms(encoder_folder):
    from sentence_transformers import SentenceTransformer

    def run(limit):
        settings = dict(sentence_model=str(encoder_folder), sentence_cosine=limit, device="cpu")
        pipeline = verb.Pipeline(Listed(), [*RULES, "sentence"], options=settings)
        return pipeline.run_many(CAPTIONS, IDS, n=50)

    everything, _ = run(1.01)
    cosines = sorted(e.scores["sentence"] for edits in everything for e in edits if not e.antonym)
    middle = cosines[len(cosines) // 2]
    some, reasons = run(middle)
    assert reasons["candidates:rejected:sentence"] > 0
    kept = [e for edits in some for e in edits]
    assert kept and all(e.antonym or e.scores["sentence"] <= middle for e in kept)  # scores are rounded
    antonyms = {e.text for edits in everything for e in edits if e.antonym}
    assert antonyms and antonyms <= {e.text for e in kept}
    model = SentenceTransformer(str(encoder_folder), device="cpu")
    edit = everything[0][0]
    a, b = model.encode([CAPTIONS[0], edit.text], normalize_embeddings=True)
    assert edit.scores["sentence"] == pytest.approx(float(a @ b), abs=1e-4)


def test_entailed_contrasts_are_rejected_by_the_label_called_entailment(bert_folder, tmp_path):
    import torch
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    torch.manual_seed(1)
    config = BertConfig.from_pretrained(
        bert_folder, num_labels=3, id2label={0: "contradiction", 1: "ENTAILMENT", 2: "neutral"}, initializer_range=0.5
    )
    BertForSequenceClassification(config).save_pretrained(tmp_path / "nli")
    AutoTokenizer.from_pretrained(bert_folder).save_pretrained(tmp_path / "nli")

    def run(limit):
        settings = dict(nli_model=str(tmp_path / "nli"), nli_entailment=limit, device="cpu")
        pipeline = verb.Pipeline(Listed(), [*RULES, "nli"], options=settings)
        return pipeline.run_many(CAPTIONS, IDS, n=50)

    everything, _ = run(1.01)
    scores = [e.scores["nli"] for edits in everything for e in edits]
    some, reasons = run(float(np.median(scores)))
    assert reasons["candidates:rejected:nli"] > 0
    assert sorted(e.scores["nli"] for edits in some for e in edits) == sorted(
        s for s in scores if s < np.median(scores)
    )
    with pytest.raises(UsageError, match="one must be 'entailment'"):
        verb.Pipeline(Listed(), ["nli"], options=_unlabelled(bert_folder, tmp_path))


def _unlabelled(bert_folder, tmp_path):
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    BertForSequenceClassification(BertConfig.from_pretrained(bert_folder)).save_pretrained(tmp_path / "two")
    AutoTokenizer.from_pretrained(bert_folder).save_pretrained(tmp_path / "two")
    return dict(nli_model=str(tmp_path / "two"), device="cpu")


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("perplexity", {"language_model": "no/such-model"}, "language_model: the model 'no/such-model'"),
        ("sentence", {"sentence_model": "no/such-model"}, "sentence_model: the encoder 'no/such-model'"),
        ("word_vectors", {}, "give vectors="),
        ("word_vectors", {"vectors": "no-such-file.txt"}, "no word vectors at no-such-file.txt"),
        ("nli", {}, "give nli_model="),
        ("perplexity", {"perplexity_form": "fall"}, "rise, printed"),
    ],
)
def test_an_absent_model_or_file_is_an_error_that_names_the_option(name, settings, message):
    with pytest.raises(VideoContrastError, match=message):
        contrasts_of(Listed(), ["has_verb", name], **settings)


def test_the_default_set_of_a_model_generator_asks_for_the_vectors_before_it_loads_anything():
    with pytest.raises(VideoContrastError, match="openai-community/gpt2-xl"):
        contrasts_of("t5", None, siblings=[[]] * 3)
    with pytest.raises(VideoContrastError, match="model of the generator t5"):
        contrasts_of("t5", RULES)
    with pytest.raises(UsageError, match="needs a model"):
        contrasts_of("llm", RULES)
    with pytest.raises(UsageError, match="option of the generator mlm 'beam'"):
        contrasts_of("mlm", RULES, generator_options={"beam": 3})


def test_command_vectors_shrink(tmp_path, capsys):
    from video_contrast.cli import main

    _write_vectors(tmp_path / "v.txt")
    assert main(["vectors", "shrink", str(tmp_path / "v.txt"), "--output", str(tmp_path / "v.npz")]) == 0
    assert "5 verbs of 5 words" in capsys.readouterr().out and (tmp_path / "v.npz").is_file()
    assert main(["vectors", "shrink", str(tmp_path / "none.txt"), "--output", str(tmp_path / "w.npz")]) == 1
    assert capsys.readouterr().err == f"error: no word vectors at {tmp_path / 'none.txt'}\n"
