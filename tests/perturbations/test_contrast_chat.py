"""Verb contrasts of a chat model: asked once, stored, resumed; nonsense is counted."""
# ruff: noqa: F811  (fixtures are imported and then named as arguments)

import pytest
from contrast_models import RULES, TRAIN, Endpoint, answer_of, contrasts_of, gpt2_folder, online  # noqa: F401  fixtures

from video_contrast.errors import VideoContrastError
from video_contrast.perturbations.contrast.generators.llm import ChatGenerator, parse


def test_chat_endpoint_is_asked_once_and_never_again(tmp_path, online):
    options = {"model": "org/chat", "store": tmp_path / "answers.jsonl"}
    with Endpoint(answer_of) as server:
        options["endpoint"] = server.url
        generator = ChatGenerator(**options)
        edits, reasons = contrasts_of(generator, RULES)
        assert len(server.requests) == 3 == generator.cost.requests
        assert generator.invalid == 1 and edits[1] is None
        assert reasons["no_proposal"] == 1 == reasons["answers:invalid"]
        assert edits[0].new in ("running", "jumping in") and edits[0].generator == "chat"
        path, body = server.requests[0]
        assert path.endswith("/chat/completions") and body["model"] == "org/chat" and body["temperature"] == 0
        assert len(body["messages"]) == 8 and "[" in body["messages"][-1]["content"]
        again = ChatGenerator(**options)
        assert contrasts_of(again, RULES)[0] == edits
        assert len(server.requests) == 3 and again.cost.stored == 3


def test_paid_answers_are_kept_where_no_store_is_named(tmp_path, online, monkeypatch):
    monkeypatch.setenv("VIDEO_CONTRAST_CACHE", str(tmp_path))
    with Endpoint(answer_of) as server:
        contrasts_of(ChatGenerator("org/chat", endpoint=server.url), RULES)
        again = ChatGenerator("org/chat", endpoint=server.url)
        contrasts_of(again, RULES)
        assert len(server.requests) == 3 and again.cost.stored == 3


def test_interrupted_chat_build_goes_on_where_it_stopped(tmp_path, online):
    from video_contrast.chat_model import AnswerStore, ChatModel

    def chat(server, store):
        # retries=0: a request that fails is final, as when the server is gone for good
        return ChatModel("org/chat", server.url, store=AnswerStore(store), concurrency=1, retries=0)

    captions, ids = TRAIN[:40], [str(n) for n in range(40)]
    store = tmp_path / "answers.jsonl"
    with Endpoint(answer_of, fail_after=20) as server:
        with pytest.raises(VideoContrastError, match="run the same command again"):
            contrasts_of(ChatGenerator(chat=chat(server, store)), RULES, captions, ids)
        address = server.server.server_port
    with open(store, "a", encoding="utf-8") as handle:
        handle.write('{"key": "half a li')
    with Endpoint(answer_of, port=address) as server:
        generator = ChatGenerator(chat=chat(server, store))
        edits, _ = contrasts_of(generator, RULES, captions, ids)
        assert generator.cost.stored == 20 and len(server.requests) == 20
    with Endpoint(answer_of, port=address) as server:
        assert contrasts_of(ChatGenerator(chat=chat(server, None)), RULES, captions, ids)[0] == edits


def test_local_chat_model_runs_in_batches_and_its_nonsense_is_counted_and_stored(gpt2_folder, tmp_path):
    options = {"model": str(gpt2_folder), "device": "cpu", "max_new_tokens": 4, "store": tmp_path / "answers.jsonl"}
    generator = ChatGenerator(**options)
    edits, reasons = contrasts_of(generator, RULES)
    assert edits == [None] * 3 and reasons["no_proposal"] == 3
    assert generator.invalid == 3 == generator.cost.requests
    again = ChatGenerator(**options)
    contrasts_of(again, RULES)
    assert again.cost.requests == 0 and again.invalid == 3


@pytest.mark.parametrize("text", ["", "no", "[]", '{"replacements": "run"}', '{"other": []}', "{broken}", '{"a": 1'])
def test_answers_that_are_no_json_object_with_a_list_are_invalid(text):
    assert parse(text) is None
