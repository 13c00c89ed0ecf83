"""Verb contrasts of a chat model: asked once, stored, resumed; nonsense is counted."""
# ruff: noqa: F811  (fixtures are imported and then named as arguments)

import pytest
from contrast_models import TRAIN, Endpoint, answer_of, gpt2_folder, online, proposed_by  # noqa: F401  fixtures

from video_contrast.errors import VideoContrastError
from video_contrast.perturbations.contrast.generators.llm import UNREADABLE, ChatGenerator, parse


def test_chat_endpoint_is_asked_once_and_never_again(tmp_path, online):
    options = {"model": "org/chat", "store": tmp_path / "answers.jsonl"}
    with Endpoint(answer_of) as server:
        options["endpoint"] = server.url
        generator = ChatGenerator(**options)
        proposed = proposed_by(generator)
        assert len(server.requests) == 3 == generator.cost.requests
        assert "1" not in proposed.proposals and proposed.reasons[UNREADABLE] == 1
        assert [(edit.caption, edit.reason) for edit in proposed.rejected if edit.reason == UNREADABLE] == [
            ("the dog is walking in the street", UNREADABLE)
        ]
        assert {item.new.split()[0] for item in proposed.proposals["0"]} == {"running"}
        assert {item.generator for listed in proposed.proposals.values() for item in listed} == {"chat"}
        path, body = server.requests[0]
        assert path.endswith("/chat/completions") and body["model"] == "org/chat" and body["temperature"] == 0
        assert len(body["messages"]) == 8 and "[" in body["messages"][-1]["content"]
        again = ChatGenerator(**options)
        assert proposed_by(again) == proposed
        assert len(server.requests) == 3 and again.cost.stored == 3


def test_paid_answers_are_kept_where_no_store_is_named(tmp_path, online, monkeypatch):
    monkeypatch.setenv("VIDEO_CONTRAST_CACHE", str(tmp_path))
    with Endpoint(answer_of) as server:
        proposed_by(ChatGenerator("org/chat", endpoint=server.url))
        again = ChatGenerator("org/chat", endpoint=server.url)
        proposed_by(again)
        assert len(server.requests) == 3 and again.cost.stored == 3


def test_interrupted_chat_build_goes_on_where_it_stopped(tmp_path, online):
    from video_contrast.chat_model import AnswerStore, ChatModel

    def chat(server, store):
        # retries=0: a request that fails is final, as when the server is gone for good
        return ChatModel("org/chat", server.url, store=AnswerStore(store), concurrency=1, retries=0)

    captions = TRAIN[:40]
    store = tmp_path / "answers.jsonl"
    with Endpoint(answer_of, fail_after=20) as server:
        with pytest.raises(VideoContrastError, match="run the same command again"):
            proposed_by(ChatGenerator(chat=chat(server, store)), captions)
        address = server.server.server_port
    with open(store, "a", encoding="utf-8") as handle:
        handle.write('{"key": "half a li')
    with Endpoint(answer_of, port=address) as server:
        generator = ChatGenerator(chat=chat(server, store))
        proposed = proposed_by(generator, captions)
        assert generator.cost.stored == 20 and len(server.requests) == 20
    with Endpoint(answer_of, port=address) as server:
        assert proposed_by(ChatGenerator(chat=chat(server, None)), captions) == proposed


def test_local_chat_model_runs_in_batches_and_its_nonsense_is_counted_and_stored(gpt2_folder, tmp_path):
    options = {"model": str(gpt2_folder), "device": "cpu", "max_new_tokens": 4, "store": tmp_path / "answers.jsonl"}
    generator = ChatGenerator(**options)
    proposed = proposed_by(generator)
    assert not proposed.proposals and proposed.reasons[UNREADABLE] == 3 == generator.cost.requests
    again = ChatGenerator(**options)
    assert proposed_by(again) == proposed and again.cost.requests == 0


@pytest.mark.parametrize("text", ["", "no", "[]", '{"replacements": "run"}', '{"other": []}', "{broken}", '{"a": 1'])
def test_answers_that_are_no_json_object_with_a_list_are_invalid(text):
    assert parse(text) is None
