"""Generators and constraints that run a model, on tiny models of the real classes made here."""

import json
import math
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.perturbations.contrast import object as objects
from video_contrast.perturbations.contrast import verb
from video_contrast.perturbations.contrast.verb.batches import by_length
from video_contrast.perturbations.contrast.verb.llm import ChatGenerator, parse
from video_contrast.perturbations.contrast.verb.perplexity import LanguageModel, is_fluent
from video_contrast.perturbations.contrast.verb.t5 import T5Generator
from video_contrast.perturbations.contrast.verb.tuning import Tuning, tune_t5
from video_contrast.perturbations.contrast.verb.vectors import Vectors, shrink

TRAIN = [
    f"{who} is {doing} {where}"
    for who in ("a man", "a woman", "the dog", "a young girl")
    for doing in ("singing", "walking", "running", "jumping", "sitting", "standing", "pushing", "pulling", "closing")
    for where in ("in the street", "on a stage", "near the door", "in a kitchen")
]
CAPTIONS = ["a man is singing on a stage", "the dog is walking in the street", "a woman is sitting near the door"]
IDS = ["1", "2", "3"]
RULES = ["has_verb", "lemma", "frequency", "inflection"]
WORDS = sorted({word for text in TRAIN for word in text.split()})


def _tokenizer(folder, specials, *, template=None):
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    vocabulary = {token: n for n, token in enumerate([*specials.values(), "<extra_id_0>", "<extra_id_1>", *WORDS])}
    raw = Tokenizer(models.WordLevel(vocabulary, unk_token=specials["unk_token"]))
    raw.pre_tokenizer = pre_tokenizers.Whitespace()
    if template:
        pairs = [(token, vocabulary[token]) for token in specials.values()]
        raw.post_processor = processors.TemplateProcessing(single=template, pair=f"{template} $B", special_tokens=pairs)
    fast = PreTrainedTokenizerFast(
        tokenizer_object=raw, **specials, additional_special_tokens=["<extra_id_0>", "<extra_id_1>"]
    )
    fast.save_pretrained(folder)
    return fast


@pytest.fixture(scope="module")
def t5_folder(tmp_path_factory):
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    folder = tmp_path_factory.mktemp("t5")
    specials = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>"}
    tokenizer = _tokenizer(folder, specials, template="$A </s>")
    torch.manual_seed(0)
    config = T5Config(
        vocab_size=len(tokenizer), d_model=32, d_kv=8, d_ff=64, num_layers=2, num_heads=4, dropout_rate=0.0,
        decoder_start_token_id=0, pad_token_id=0, eos_token_id=1,
    )  # fmt: skip
    T5ForConditionalGeneration(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def tuned_t5(t5_folder, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tuned") / "t5"
    tuning = Tuning(str(t5_folder), epochs=8, batch_size=16, learning_rate=1e-2, tagger="hanta")
    record = tune_t5(TRAIN, folder, tuning, save_every=30)
    return folder, record


@pytest.fixture(scope="module")
def gpt2_folder(tmp_path_factory):
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    folder = tmp_path_factory.mktemp("gpt2")
    tokenizer = _tokenizer(
        folder, {"bos_token": "<s>", "eos_token": "</s>", "unk_token": "<unk>", "pad_token": "<pad>"}
    )
    tokenizer.chat_template = "{% for m in messages %}{{ m['content'] }} {% endfor %}"
    tokenizer.save_pretrained(folder)
    torch.manual_seed(0)
    config = GPT2Config(
        vocab_size=len(tokenizer), n_embd=32, n_layer=2, n_head=2, n_positions=256, initializer_range=0.5,
        bos_token_id=0, eos_token_id=1,
    )  # fmt: skip
    GPT2LMHeadModel(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def bert_folder(tmp_path_factory):
    import torch
    from transformers import BertConfig, BertForMaskedLM

    folder = tmp_path_factory.mktemp("bert")
    specials = {
        "pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]",
    }  # fmt: skip
    tokenizer = _tokenizer(folder, specials, template="[CLS] $A [SEP]")
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
        max_position_embeddings=64, initializer_range=0.5,
    )  # fmt: skip
    BertForMaskedLM(config).save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def encoder_folder(bert_folder, tmp_path_factory):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    folder = tmp_path_factory.mktemp("sentences")
    body = Transformer(str(bert_folder))
    SentenceTransformer(modules=[body, Pooling(32)], device="cpu").save(str(folder))
    return folder


@pytest.fixture(scope="module")
def counts():
    return verb.count(TRAIN, tagger="hanta")


def _run(counts, generator, constraints, captions=CAPTIONS, ids=IDS, **others):
    return verb.contrasts(
        captions, ids, counts=counts, generator=generator, constraints=constraints, tagger="hanta", **others
    )


# T5


def test_t5_tuned_on_captions_fills_masks_with_their_verbs(counts, tuned_t5):
    folder, record = tuned_t5
    edits, reasons = _run(counts, "t5", RULES, generator_options={"model": str(folder), "beams": 8, "k": 8})
    assert record["finished"] and record["captions_used"] == len(set(TRAIN))
    assert all(edits)
    for caption, edit in zip(CAPTIONS, edits, strict=True):
        assert edit.new.split()[0].endswith("ing") and edit.new.split()[0] != edit.old.split()[0]
        assert caption.replace(edit.old, edit.new, 1) == edit.text
        assert edit.generator == "t5"
    proposed = reasons["candidates:proposed"]
    rejected = sum(n for name, n in reasons.items() if name.startswith("candidates:rejected:"))
    assert proposed == rejected + reasons["candidates:accepted"] > 3


def test_batched_t5_proposes_what_it_proposes_one_caption_at_a_time(counts, tuned_t5):
    pipeline = verb.VerbPipeline(
        "t5",
        ["has_verb"],
        counts=counts,
        tagger="hanta",
        generator_options={"model": str(tuned_t5[0]), "beams": 4, "k": 4},
    )
    captions = TRAIN[:12:3] + CAPTIONS
    ids = [str(n) for n in range(len(captions))]
    together, _ = pipeline.run_many(captions, ids, n=4)
    alone = [pipeline.run_many([c], [i], n=4)[0][0] for c, i in zip(captions, ids, strict=True)]
    assert [[e.text for e in edits] for edits in together] == [[e.text for e in edits] for edits in alone]


def test_tuning_goes_on_where_it_stopped_and_ends_at_the_same_weights(t5_folder, tmp_path):
    from safetensors.numpy import load_file

    tuning = Tuning(str(t5_folder), epochs=1, batch_size=24, tagger="hanta")
    whole = tune_t5(TRAIN, tmp_path / "whole", tuning, save_every=4)
    first = tune_t5(TRAIN, tmp_path / "parts", tuning, save_every=4, stop_after=3)
    assert not first["finished"] and first["steps"] == 3
    second = tune_t5(TRAIN, tmp_path / "parts", tuning, save_every=4)
    assert second["finished"] and second["steps"] == whole["steps"]
    weights = [load_file(tmp_path / name / "model.safetensors") for name in ("whole", "parts")]
    for name, value in weights[0].items():
        np.testing.assert_allclose(weights[1][name], value, atol=1e-6)
    assert tune_t5(TRAIN, tmp_path / "parts", tuning) == second  # a finished run is not run again
    with pytest.raises(UsageError, match="other epochs"):
        tune_t5(TRAIN, tmp_path / "parts", Tuning(str(t5_folder), epochs=2, batch_size=24, tagger="hanta"))


def test_tuning_without_a_verb_phrase_says_so(t5_folder, tmp_path):
    with pytest.raises(VideoContrastError, match="none of the 1 captions has a verb phrase"):
        tune_t5(["a red ball"], tmp_path / "t5", Tuning(str(t5_folder), tagger="hanta"))


# Masked language model


def test_masked_model_proposes_whole_words_and_keeps_particles(counts, bert_folder):
    pipeline = verb.VerbPipeline(
        "mlm", ["has_verb", "lemma"], counts=counts, tagger="hanta", generator_options={"model": str(bert_folder)}
    )
    lists, reasons = pipeline.run_many(CAPTIONS * 4, [str(n) for n in range(12)], n=100)
    for caption, edits in zip(CAPTIONS * 4, lists, strict=True):
        for edit in edits:
            assert edit.text == caption.replace(edit.old, edit.new, 1)
            assert set(edit.new.split()) <= set(WORDS)
    longer = [edit for edits in lists for edit in edits if " " in edit.old]
    kept = [edit for edit in longer if " " in edit.new]
    assert kept and all(edit.old.split()[1:] == edit.new.split()[1:] for edit in kept)
    assert any(" " not in edit.new for edit in longer)
    assert reasons["candidates:rejected:has_verb"] > 0  # the vocabulary is mostly no verbs


def test_masked_model_proposes_objects(bert_folder):
    edits, _ = objects.contrasts(
        CAPTIONS, IDS, generator="mlm", constraints=["has_noun", "lemma"], tagger="hanta",
        generator_options={"model": str(bert_folder)},
    )  # fmt: skip
    assert any(edits)
    for edit in filter(None, edits):
        assert edit.old in {"street", "stage", "door", "dog"} and edit.new in set(WORDS) - {
            edit.old,
            "man",
            "woman",
            "girl",
        }


# Perplexity


def test_perplexity_is_that_of_the_model_whatever_the_batch(gpt2_folder):
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    texts = [*TRAIN[:20:4], "a", "man", "a man is singing on a stage near the door in the street"]
    batched = LanguageModel(str(gpt2_folder), device="cpu", batch_tokens=40).perplexity(texts)
    tokenizer = AutoTokenizer.from_pretrained(gpt2_folder)
    model = AutoModelForCausalLM.from_pretrained(gpt2_folder).eval()
    for text, value in zip(texts, batched, strict=True):
        ids = tokenizer(text, return_tensors="pt")["input_ids"]
        if ids.shape[1] == 1:
            ids = torch.cat([torch.tensor([[tokenizer.bos_token_id]]), ids], 1)
        with torch.no_grad():
            loss = model(input_ids=ids, labels=ids).loss
        assert value == pytest.approx(math.exp(float(loss)), rel=1e-4)


def test_perplexity_limits_are_the_papers_with_the_sign_repaired():
    assert is_fluent(100, 159)[0] and not is_fluent(400, 960)[0]
    assert is_fluent(100, 239)[0] and not is_fluent(100, 241)[0]  # rise under 1.4 with a perplexity under 750
    assert not is_fluent(400, 751)[0]
    # As printed the difference is never above 1: no contrast under a perplexity of 750 is ever rejected.
    assert all(is_fluent(old, new, form="printed")[0] for old in (1, 50, 5000) for new in (1, 50, 749))


def test_perplexity_constraint_rejects_by_its_own_count_and_records_its_limits(counts, gpt2_folder):
    settings = verb.Settings(language_model=str(gpt2_folder), device="cpu")
    pipeline = verb.VerbPipeline("lexical", [*RULES, "perplexity"], counts=counts, tagger="hanta", settings=settings)
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
    assert record["not_applied"] == ["siblings", "word_vectors", "sentence", "nli"]


# Word vectors


def _write_vectors(path, rng=0):
    values = np.random.default_rng(rng).normal(size=(5, 8))
    rows = dict(zip(["sit", "stand", "sing", "run", "table"], values, strict=True))
    rows["sing"] = rows["run"] + 0.01  # too close
    rows["stand"] = rows["sit"] + 0.01  # too close too, but an antonym
    path.write_text("".join(f"{w} {' '.join(f'{x:.5f}' for x in v)}\n" for w, v in rows.items()), encoding="utf-8")
    return rows


def test_word_vectors_reject_near_verbs_but_not_antonyms(counts, tmp_path):
    rows = _write_vectors(tmp_path / "v.txt")
    settings = {"vectors": tmp_path / "v.txt"}
    captions = ["a man is sitting", "a man is running"] * 10
    pipeline = verb.VerbPipeline(
        "lexical", [*RULES, "word_vectors"], counts=counts, tagger="hanta", settings=verb.Settings(**settings)
    )
    lists, reasons = pipeline.run_many(captions, [str(n) for n in range(20)], n=50)
    found = {(edit.old, edit.new) for edits in lists for edit in edits}
    assert ("sitting", "standing") in found and ("running", "singing") not in found
    assert reasons["candidates:rejected:word_vectors"] > 0
    cosine = Vectors.read(tmp_path / "v.txt").cosine("sit", "run")
    a, b = rows["sit"], rows["run"]
    assert cosine == pytest.approx(a @ b / np.linalg.norm(a) / np.linalg.norm(b), abs=1e-4)


def test_shrunk_vectors_hold_the_verbs_and_give_the_same_cosines(tmp_path):
    _write_vectors(tmp_path / "v.txt")
    assert shrink(tmp_path / "v.txt", tmp_path / "v.npz") == (5, 5)  # "to table" is a verb
    (tmp_path / "w.txt").write_text("running 1 2\nrun 1 2\nkitchen 3 4\nstand 0.5 -1\n", encoding="utf-8")
    assert shrink(tmp_path / "w.txt", tmp_path / "w.npz") == (4, 2)
    small = Vectors.read(tmp_path / "w.npz")
    assert set(small.words) == {"run", "stand"}
    whole = Vectors.read(tmp_path / "v.txt")
    assert Vectors.read(tmp_path / "v.npz").cosine("sit", "sing") == pytest.approx(
        whole.cosine("sit", "sing"), abs=1e-3
    )
    (tmp_path / "bad.txt").write_text("run 1 2\nwalk 1\n", encoding="utf-8")
    with pytest.raises(VideoContrastError, match="line 2 is not a word and 2 numbers"):
        Vectors.read(tmp_path / "bad.txt")
    with pytest.raises(UsageError, match=r"\.npz"):
        shrink(tmp_path / "w.txt", tmp_path / "w.txt2")


# Sentence cosine and entailment


def test_sentence_cosine_rejects_near_sentences_but_not_antonyms(counts, encoder_folder):
    from sentence_transformers import SentenceTransformer

    def run(limit):
        settings = verb.Settings(sentence_model=str(encoder_folder), sentence_cosine=limit, device="cpu")
        pipeline = verb.VerbPipeline("lexical", [*RULES, "sentence"], counts=counts, tagger="hanta", settings=settings)
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


def test_entailed_contrasts_are_rejected_by_the_label_called_entailment(counts, bert_folder, tmp_path):
    import torch
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    torch.manual_seed(1)
    config = BertConfig.from_pretrained(
        bert_folder, num_labels=3, id2label={0: "contradiction", 1: "ENTAILMENT", 2: "neutral"}, initializer_range=0.5
    )
    BertForSequenceClassification(config).save_pretrained(tmp_path / "nli")
    AutoTokenizer.from_pretrained(bert_folder).save_pretrained(tmp_path / "nli")

    def run(limit):
        settings = verb.Settings(nli_model=str(tmp_path / "nli"), nli_entailment=limit, device="cpu")
        pipeline = verb.VerbPipeline("lexical", [*RULES, "nli"], counts=counts, tagger="hanta", settings=settings)
        return pipeline.run_many(CAPTIONS, IDS, n=50)

    everything, _ = run(1.01)
    scores = [e.scores["nli"] for edits in everything for e in edits]
    some, reasons = run(float(np.median(scores)))
    assert reasons["candidates:rejected:nli"] > 0
    assert [e.scores["nli"] for edits in some for e in edits] == [s for s in scores if s < np.median(scores)]
    with pytest.raises(UsageError, match="one must be 'entailment'"):
        verb.VerbPipeline("lexical", ["nli"], counts=counts, settings=_unlabelled(bert_folder, tmp_path))


def _unlabelled(bert_folder, tmp_path):
    from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

    BertForSequenceClassification(BertConfig.from_pretrained(bert_folder)).save_pretrained(tmp_path / "two")
    AutoTokenizer.from_pretrained(bert_folder).save_pretrained(tmp_path / "two")
    return verb.Settings(nli_model=str(tmp_path / "two"), device="cpu")


# What was asked for and is absent


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
def test_an_absent_model_or_file_is_an_error_that_names_the_option(counts, name, settings, message):
    with pytest.raises(VideoContrastError, match=message):
        _run(counts, "lexical", ["has_verb", name], **settings)


def test_the_default_set_of_a_model_generator_asks_for_the_vectors_before_it_loads_anything(counts):
    with pytest.raises(VideoContrastError, match="openai-community/gpt2-xl"):
        _run(counts, "t5", None, siblings=[[]] * 3)
    with pytest.raises(VideoContrastError, match="model of the generator t5"):
        _run(counts, "t5", RULES)
    with pytest.raises(UsageError, match="needs a model"):
        _run(counts, "llm", RULES)
    with pytest.raises(UsageError, match="does not take these options"):
        _run(counts, "mlm", RULES, generator_options={"beam": 3})


# Chat model


class _Endpoint:
    """An OpenAI-compatible server on this machine that answers from a function of the last message."""

    def __init__(self, answer, fail_after=None, port=0):
        self.requests = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(handler):
                body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
                self.requests.append((handler.path, body))
                failed = fail_after is not None and len(self.requests) > fail_after
                text = answer(body["messages"][-1]["content"])
                reply = {"id": "1", "object": "chat.completion", "created": 1, "model": body["model"], "choices": [
                    {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": text}}
                ], "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}}  # fmt: skip
                data = json.dumps({"error": "down"} if failed else reply).encode()
                handler.send_response(500 if failed else 200)
                handler.send_header("Content-Type", "application/json")
                handler.send_header("Content-Length", str(len(data)))
                handler.end_headers()
                handler.wfile.write(data)

            def log_message(self, *arguments):
                return

        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"

    def __enter__(self):
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return self

    def __exit__(self, *error):
        self.server.shutdown()
        self.server.server_close()


def _answer(message):
    if "dog" in message:
        return "I would rather not."
    return 'Here you are:\n```json\n{"replacements": ["running", "jumping in", "flying 2"]}\n```'


@pytest.fixture
def online(monkeypatch):
    # The tests run with HF_HUB_OFFLINE=1, which keeps the client from this machine's own addresses too.
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)


def test_chat_endpoint_is_asked_once_and_never_again(counts, tmp_path, online):
    options = {"model": "org/chat", "store": tmp_path / "answers.jsonl"}
    with _Endpoint(_answer) as server:
        options["endpoint"] = server.url
        generator = ChatGenerator(**options)
        edits, reasons = _run(counts, generator, RULES)
        assert len(server.requests) == 3 == generator.cost.requests
        assert generator.invalid == 1 and edits[1] is None
        assert reasons["no_proposal"] == 1 == reasons["answers:invalid"]
        assert edits[0].new in ("running", "jumping in") and edits[0].generator == "chat"
        path, body = server.requests[0]
        assert path.endswith("/chat/completions") and body["model"] == "org/chat" and body["temperature"] == 0
        assert len(body["messages"]) == 8 and "[" in body["messages"][-1]["content"]
        again = ChatGenerator(**options)
        assert _run(counts, again, RULES)[0] == edits
        assert len(server.requests) == 3 and again.cost.stored == 3


def test_interrupted_chat_build_goes_on_where_it_stopped(counts, tmp_path, online):
    from video_contrast.answers import AnswerStore, ChatModel

    def chat(server, store):
        # retries=0: a request that fails is final, as when the server is gone for good
        return ChatModel("org/chat", server.url, store=AnswerStore(store), concurrency=1, retries=0)

    captions, ids = TRAIN[:40], [str(n) for n in range(40)]
    store = tmp_path / "answers.jsonl"
    with _Endpoint(_answer, fail_after=20) as server:
        with pytest.raises(VideoContrastError, match="run the same command again"):
            _run(counts, ChatGenerator(chat=chat(server, store)), RULES, captions, ids)
        address = server.server.server_port
    with open(store, "a", encoding="utf-8") as handle:
        handle.write('{"key": "half a li')
    with _Endpoint(_answer, port=address) as server:
        generator = ChatGenerator(chat=chat(server, store))
        edits, _ = _run(counts, generator, RULES, captions, ids)
        assert generator.cost.stored == 20 and len(server.requests) == 20
    with _Endpoint(_answer, port=address) as server:
        assert _run(counts, ChatGenerator(chat=chat(server, None)), RULES, captions, ids)[0] == edits


def test_local_chat_model_runs_in_batches_and_its_nonsense_is_counted_and_stored(counts, gpt2_folder, tmp_path):
    options = {"model": str(gpt2_folder), "device": "cpu", "max_new_tokens": 4, "store": tmp_path / "answers.jsonl"}
    generator = ChatGenerator(**options)
    edits, reasons = _run(counts, generator, RULES)
    assert edits == [None] * 3 and reasons["no_proposal"] == 3
    assert generator.invalid == 3 == generator.cost.requests
    again = ChatGenerator(**options)
    _run(counts, again, RULES)
    assert again.cost.requests == 0 and again.invalid == 3


@pytest.mark.parametrize("text", ["", "no", "[]", '{"replacements": "run"}', '{"other": []}', "{broken}", '{"a": 1'])
def test_answers_that_are_no_json_object_with_a_list_are_invalid(text):
    assert parse(text) is None


# Batches


def test_batches_are_length_sorted_whole_and_within_the_budget():
    lengths = [int(n) for n in np.random.default_rng(0).integers(1, 40, 300)]
    batches = list(by_length(lengths, 128))
    assert sorted(n for batch in batches for n in batch) == list(range(300))
    assert all(len(batch) * max(lengths[n] for n in batch) <= 128 for batch in batches)
    assert [max(lengths[n] for n in batch) for batch in batches] == sorted(
        (max(lengths[n] for n in batch) for batch in batches), reverse=True
    )
    padded = sum(len(batch) * max(lengths[n] for n in batch) for batch in batches)
    assert padded < 1.15 * sum(lengths)


def test_t5_without_sentinels_is_refused(gpt2_folder, tmp_path):
    with pytest.raises(UsageError, match="k must be in"):
        T5Generator("any", beams=2, k=3)


# Commands


def test_command_vectors_shrink(tmp_path, capsys):
    from video_contrast.cli import main

    _write_vectors(tmp_path / "v.txt")
    assert main(["vectors", "shrink", str(tmp_path / "v.txt"), "--output", str(tmp_path / "v.npz")]) == 0
    assert "5 verbs of 5 words" in capsys.readouterr().out and (tmp_path / "v.npz").is_file()
    assert main(["vectors", "shrink", str(tmp_path / "none.txt"), "--output", str(tmp_path / "w.npz")]) == 1
    assert capsys.readouterr().err == f"error: no word vectors at {tmp_path / 'none.txt'}\n"


def test_command_tune_t5_reads_a_column_and_leaves_a_model_for_the_generator(t5_folder, tmp_path, capsys, counts):
    from video_contrast.cli import main

    table = tmp_path / "train.csv"
    table.write_text("id,caption\n" + "".join(f"{n},{text}\n" for n, text in enumerate(TRAIN[:30])), encoding="utf-8")
    given = ["--model", str(t5_folder), "--output", str(tmp_path / "t5"), "--tagger", "hanta"]
    assert main(["tune-t5", str(table), *given]) == 0
    assert "1 steps on 30 captions" in capsys.readouterr().out
    assert T5Generator(str(tmp_path / "t5"), beams=2, k=2, device="cpu").name == "t5"
    assert main(["tune-t5", str(table), *given, "--caption-column", "text"]) == 2
    assert "no column 'text'" in capsys.readouterr().err
    assert main(["tune-t5", str(table), *given, "--epochs", "3"]) == 2
    assert "holds a run with other epochs" in capsys.readouterr().err
    assert main(["tune-t5", str(tmp_path / "none.txt"), *given]) == 2
    assert "no such file" in capsys.readouterr().err
