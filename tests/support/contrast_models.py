"""Tiny language models of the real classes, and a chat endpoint, for tests of contrast generators and the teacher."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from video_contrast.perturbations.contrast.generate import load_counts, propose
from video_contrast.perturbations.contrast.generators.t5_tuning import Tuning, tune_t5

TRAIN = [
    f"{who} is {doing} {where}"
    for who in ("a man", "a woman", "the dog", "a young girl")
    for doing in ("singing", "walking", "running", "jumping", "sitting", "standing", "pushing", "pulling", "closing")
    for where in ("in the street", "on a stage", "near the door", "in a kitchen")
]


CAPTIONS = ["a man is singing on a stage", "the dog is walking in the street", "a woman is sitting near the door"]


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
    tuning = Tuning(str(t5_folder), epochs=8, batch_size=16, learning_rate=1e-2)
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


def proposed_by(generator, captions=CAPTIONS, kind="verb"):
    """What a generator's model proposes for captions, each of a clip of its own, that the rules let pass."""
    clips = [(str(n), [caption]) for n, caption in enumerate(captions)]
    return propose(clips, load_counts(), target=kind, quality=0.0, generator=generator)


class Endpoint:
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


def answer_of(message):
    if "dog" in message:
        return "I would rather not."
    return 'Here you are:\n```json\n{"replacements": ["running", "running on", "jumping in", "flying 2"]}\n```'


@pytest.fixture
def online(monkeypatch):
    # The tests run with HF_HUB_OFFLINE=1, which keeps the client from this machine's own addresses too.
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
