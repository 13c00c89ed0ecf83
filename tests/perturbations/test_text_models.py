"""Perturbations that run a model, on tiny models of the real classes made here."""

import numpy as np
import pytest

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.perturbations.text import names, perturb_captions
from video_contrast.perturbations.text.style_transfer import choose

CAPTIONS = [
    "a man opens the door",
    "a woman is singing a song",
    "two dogs run",
    "a small dog runs in the park",
    "the girl sits on a chair",
]
IDS = [f"v{n}" for n in range(len(CAPTIONS))]
WORDS = sorted(
    {word for caption in CAPTIONS for word in caption.split()} | {"boy", "cat", "jumps", "eats", "big", "very"}
)
GERMAN = ["ein", "mann", "hund", "rennt"]
PROMPT = ["transfer", "Active", "Passive", "Casual", "Formal", "to", ":"]
SPECIALS = {"pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>", "mask_token": "<mask>"}


def tokenizer(folder):
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    vocabulary = {word: n for n, word in enumerate([*SPECIALS.values(), *WORDS, *GERMAN, *PROMPT])}
    raw = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    raw.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    raw.post_processor = processors.TemplateProcessing(
        single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", vocabulary["</s>"])]
    )
    fast = PreTrainedTokenizerFast(tokenizer_object=raw, **SPECIALS)
    fast.save_pretrained(folder)
    return fast


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    """A BERT that answers every mask with the same words: "the" first, then boy, big, very, cat, jumps."""
    import torch
    from transformers import BertConfig, BertForMaskedLM

    folder = tmp_path_factory.mktemp("bert")
    words = tokenizer(folder)
    model = BertForMaskedLM(
        BertConfig(
            vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=16,
            tie_word_embeddings=False,
        )
    )  # fmt: skip
    with torch.no_grad():
        head = model.cls.predictions.decoder
        head.weight.zero_()
        head.bias.zero_()
        for rank, word in enumerate(["the", "boy", "big", "very", "cat", "jumps"]):
            head.bias[words.convert_tokens_to_ids(word)] = 20.0 - rank
    model.save_pretrained(folder)
    return str(folder)


def _t5(folder, seed):
    import torch
    from transformers import T5Config, T5ForConditionalGeneration

    words = tokenizer(folder)
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = T5ForConditionalGeneration(
            T5Config(
                vocab_size=len(words), d_model=16, d_kv=8, d_ff=16, num_layers=1, num_heads=2,
                pad_token_id=words.pad_token_id, eos_token_id=words.eos_token_id,
                decoder_start_token_id=words.pad_token_id,
            )
        )  # fmt: skip
    model.save_pretrained(folder)
    return str(folder)


@pytest.fixture(scope="module")
def t5(tmp_path_factory):
    return _t5(tmp_path_factory.mktemp("t5"), 0)


@pytest.fixture(scope="module")
def judge(tmp_path_factory):
    import torch
    from transformers import RobertaConfig, RobertaForSequenceClassification

    folder = tmp_path_factory.mktemp("judge")
    words = tokenizer(folder)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = RobertaForSequenceClassification(
            RobertaConfig(
                vocab_size=len(words), hidden_size=16, num_hidden_layers=1, num_attention_heads=2,
                intermediate_size=16, initializer_range=0.5, pad_token_id=words.pad_token_id,
                id2label={0: "CONTRADICTION", 1: "ENTAILMENT", 2: "NEUTRAL"},
                label2id={"CONTRADICTION": 0, "ENTAILMENT": 1, "NEUTRAL": 2},
            )
        )  # fmt: skip
    model.save_pretrained(folder)
    return str(folder)


def _translator(folder, pairs):
    """An FSMT (the class of the wmt19 checkpoints) that has learned `pairs` by heart."""
    import torch
    from transformers import FSMTConfig, FSMTForConditionalGeneration

    words = tokenizer(folder)
    config = FSMTConfig(
        langs=["en", "de"], src_vocab_size=len(words), tgt_vocab_size=len(words), d_model=32,
        encoder_layers=1, decoder_layers=1, encoder_attention_heads=2, decoder_attention_heads=2,
        encoder_ffn_dim=32, decoder_ffn_dim=32, dropout=0.0, attention_dropout=0.0, max_position_embeddings=64,
        bos_token_id=0, pad_token_id=0, eos_token_id=1, decoder_start_token_id=1, forced_eos_token_id=None,
        num_beams=1,
    )  # fmt: skip
    with torch.random.fork_rng():
        torch.manual_seed(0)
        model = FSMTForConditionalGeneration(config)
        optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
        for _ in range(30):
            for source, target in pairs:
                ids, labels = (torch.tensor([words(text)["input_ids"]]) for text in (source, target))
                start = torch.full((1, 1), config.decoder_start_token_id)
                logits = model(
                    input_ids=ids, decoder_input_ids=torch.cat([start, labels[:, :-1]], 1), use_cache=False
                ).logits
                loss = torch.nn.functional.cross_entropy(logits[0], labels[0])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
    model.save_pretrained(folder)
    return str(folder)


def one_by_one(name, **others):
    pairs = zip(CAPTIONS, IDS, strict=True)
    return [perturb_captions([c], name, ids=[i], **others)[0] for c, i in pairs]


def test_masked_model_puts_its_best_other_word_of_the_same_part_of_speech(bert):
    models = {"mlm_suggestion": bert}
    done = perturb_captions(CAPTIONS, "mlm_suggestion", ids=IDS, models=models)
    assert done == one_by_one("mlm_suggestion", models=models)
    for before, after in zip(CAPTIONS, done, strict=True):
        changed = [(a, b) for a, b in zip(before.split(), after.split(), strict=True) if a != b]
        assert len(changed) == 1
        assert changed[0][1] in ("boy", "jumps", "big", "very", "cat")
    nouns = {perturb_captions(["a boy"], "mlm_suggestion", ids=[n], models=models)[0] for n in range(3)}
    assert nouns == {"a cat"}
    assert perturb_captions(["A Dog"], "mlm_suggestion", ids=["x"], models=models) == ["A Boy"]


def test_back_translation_goes_there_and_back_and_another_pair_can_be_given(tmp_path):
    there = _translator(tmp_path / "there", [("a man runs", "ein mann rennt"), ("a dog runs", "ein hund rennt")])
    back = _translator(tmp_path / "back", [("ein mann rennt", "the man jumps"), ("ein hund rennt", "the dog jumps")])
    captions = ["a dog runs", "a man runs", "", "a dog runs"]
    done = perturb_captions(captions, "back_trans", ids=range(4), models={"back_trans": (there, back)})
    assert done == ["the dog jumps", "the man jumps", "", "the dog jumps"]


def test_style_samples_depend_on_the_captions_own_stream_only(t5, judge):
    models = {"casual_to_formal": (t5, judge)}
    three, ids = CAPTIONS[:3], IDS[:3]
    done = perturb_captions(three, "casual_to_formal", ids=ids, models=models)
    turned = perturb_captions(three[:0:-1], "casual_to_formal", ids=ids[:0:-1], models=models)
    assert done[:0:-1] == turned
    assert done != perturb_captions(three, "casual_to_formal", ids=ids, seed=1, models=models)
    assert all(done)


@pytest.mark.parametrize("name", ["formal_to_casual", "active_to_passive"])
def test_the_other_styles_take_checkpoints_too(name, t5, judge):
    (done,) = perturb_captions(CAPTIONS[:1], name, ids=IDS[:1], models={name: (t5, judge)})
    assert done and set(done.split()) <= {*WORDS, *GERMAN, *PROMPT}


def test_the_rewriting_that_follows_best_is_chosen(judge):
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    words = AutoTokenizer.from_pretrained(judge)
    model = AutoModelForSequenceClassification.from_pretrained(judge).eval()
    rewritten = [["the door", "a man", "boy eats", "very big cat", "a man"]] * 2 + [["", ""]]
    chosen = choose(["a man opens the door", "two dogs run", "a song"], rewritten, words, model)
    for caption, texts, got in zip(["a man opens the door", "two dogs run"], rewritten, chosen, strict=False):
        with torch.no_grad():
            logits = model(**words([caption] * 5, texts, return_tensors="pt", padding=True)).logits
        assert got == texts[int(logits.softmax(-1)[:, 1].argmax())]
    assert chosen[2] == "a song"


VECTORS = {"man": (1, 0), "boy": (0.99, 0.1), "dog": (0, 1), "cat": (0.1, 0.99), "sings": (-1, 0), "eats": (-0.9, -0.1)}


def _text_vectors(folder):
    path = folder / "glove.txt"
    path.write_text("".join(f"{word} {x} {y}\n" for word, (x, y) in VECTORS.items()))
    return str(path)


def _sentence_transformer(folder):
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, WordEmbeddings
    from sentence_transformers.sentence_transformer.modules.tokenizer import WhitespaceTokenizer

    layer = WordEmbeddings(WhitespaceTokenizer(list(VECTORS)), np.array(list(VECTORS.values()), dtype=np.float32))
    SentenceTransformer(modules=[layer, Pooling(2)], device="cpu").save(str(folder))
    return str(folder)


def _input_embeddings(folder):
    import torch
    from transformers import BertConfig, BertModel

    words = tokenizer(folder)
    model = BertModel(
        BertConfig(
            vocab_size=len(words), hidden_size=2, num_hidden_layers=1, num_attention_heads=1, intermediate_size=2
        )
    )
    with torch.no_grad():
        table = model.get_input_embeddings().weight
        table.zero_()
        for word, vector in VECTORS.items():
            if word in WORDS:
                table[words.convert_tokens_to_ids(word)] = torch.tensor(vector)
    model.save_pretrained(folder)
    return str(folder)


@pytest.mark.parametrize("make", [_text_vectors, _sentence_transformer, _input_embeddings])
def test_vector_neighbours_of_the_same_part_of_speech_replace_words(make, tmp_path):
    models = {"swap_syn_word_embedding": make(tmp_path)}
    captions = ["a man", "a dog", "the"]
    assert perturb_captions(captions, "swap_syn_word_embedding", ids=range(3), models=models)[2] == "the"
    from video_contrast.perturbations.text.word_vectors import load

    vectors = load(models["swap_syn_word_embedding"])
    assert [near[0] for near in vectors.neighbours(["man", "dog"], 3)] == ["boy", "cat"]
    done = perturb_captions(["a man"] * 30, "swap_syn_word_embedding", ids=range(30), models=models)
    assert "a boy" in done and "a man" not in done and not {"a sings", "a eats"} & set(done)


def test_a_broken_vector_file_names_the_line(tmp_path):
    path = tmp_path / "v.txt"
    for content, message in [
        ("a 1 2\nb x 2\n", "line 2 is not a word and 2 numbers"),
        ("a 1 2\nb 1\n", "line 2 is not a word and 2 numbers"),
        ("", "no word"),
    ]:
        path.write_text(content)
        with pytest.raises(VideoContrastError, match=message):
            from video_contrast.perturbations.text.word_vectors import load

            load.__wrapped__(str(path))


MODELS = ["mlm_suggestion", "back_trans", "swap_syn_word_embedding", "casual_to_formal", "formal_to_casual"]


@pytest.mark.parametrize("name", MODELS)
def test_without_its_checkpoint_the_error_names_the_command_that_gets_it(name):
    assert name in names()
    with pytest.raises(VideoContrastError, match=r"run (pip install \w+ && )?hf download [\w-]+/[\w.-]+"):
        perturb_captions(["a man runs"], name, ids=["x"])


def test_active_to_passive_goes_by_rules_without_a_note_or_a_question_unless_a_checkpoint_is_named(
    monkeypatch, recwarn, tmp_path
):
    asked = []
    monkeypatch.setattr("video_contrast.hub.commit", lambda name, **_: asked.append(name))  # no network
    stored = "video_contrast.perturbations.text.checkpoints.stored_revision"
    with monkeypatch.context() as patch:  # every checkpoint is in the cache
        patch.setattr(stored, lambda checkpoint: asked.append(checkpoint) or "abc")
        for models in (None, {"active_to_passive": "rules"}, {"active_to_passive": ("rules",)}):
            changed = perturb_captions(["a man opens a door"], "active_to_passive", ids=["x"], models=models)
            assert changed == ["a door is opened by a man"]
    assert not asked and not recwarn
    with pytest.raises(VideoContrastError, match=r"nobody/nothing and .*neither folders nor in the Hub cache"):
        perturb_captions(["a man"], "active_to_passive", ids=["x"], models={"active_to_passive": "nobody/nothing"})
    (tmp_path / "empty").mkdir()
    with pytest.raises(VideoContrastError, match=r"is no whole checkpoint|does not load as|asks for a package"):
        perturb_captions(["a man"], "mlm_suggestion", ids=["x"], models={"mlm_suggestion": str(tmp_path / "empty")})


def test_a_checkpoint_of_another_kind_and_too_many_are_refused(t5):
    with pytest.raises(VideoContrastError, match="does not load as AutoModelForMaskedLM"):
        perturb_captions(["a man"], "mlm_suggestion", ids=["x"], models={"mlm_suggestion": t5})
    with pytest.raises(UsageError, match=r"takes 1 checkpoint\(s\), but 2 were given"):
        perturb_captions(["a man"], "mlm_suggestion", ids=["x"], models={"mlm_suggestion": ("a", "b")})


def test_absent_checkpoints_cost_one_question_and_are_all_named(monkeypatch, tmp_path):
    questions = []
    monkeypatch.setattr("video_contrast.hub.commit", lambda name, **_: questions.append(name))  # no network
    monkeypatch.setattr("video_contrast.perturbations.text.checkpoints.stored_revision", lambda checkpoint: None)
    with pytest.raises(VideoContrastError) as caught:
        perturb_captions(["a man runs"], "casual_to_formal", ids=["x"])
    assert len(questions) == 1
    for name in ("prithivida/informal_to_formal_styletransfer", "prithivida/parrot_adequacy_model"):
        assert f"hf download {name}" in str(caught.value)
