"""Asking a served model: failing servers are asked again, every answer is kept, nothing is asked twice."""
# ruff: noqa: F811  (fixtures are imported and then named as arguments)

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from endpoint import Endpoint, endpoint  # noqa: F401  fixture

from video_contrast.chat_model import AnswerStore, ChatModel
from video_contrast.errors import VideoContrastError
from video_contrast.question_text import Question
from video_contrast.runner.kinds.base import ClipFrames
from video_contrast.runner.kinds.served import ServedOptions, ServedScorer


def chat(endpoint: Endpoint, path: Path | None = None, **more: Any) -> ChatModel:
    return ChatModel("vlm", endpoint=endpoint.url, api_key="x", store=AnswerStore(path), sleep=lambda _: None, **more)


CLIP = ClipFrames(np.zeros((2, 8, 8, 3), np.uint8))
CAPTIONS = ["a woman sits", "a man sits", "a dog sits"]


@pytest.mark.parametrize("logprobs", [True, False])
def test_letters_choose_what_the_server_says(endpoint: Endpoint, logprobs: bool) -> None:
    endpoint.logprobs = logprobs
    scored = ServedScorer(chat(endpoint), ServedOptions(scoring="letter")).score(CLIP, CAPTIONS)
    assert scored.scores.argmax() == 1
    content = endpoint.asked[0]["messages"][0]["content"]
    assert [part["type"] for part in content] == ["image_url", "image_url", "text"]
    assert content[0]["image_url"]["url"].startswith("data:image/png;base64,")


def test_rotations_follow_the_caption_not_the_place(endpoint: Endpoint) -> None:
    scored = ServedScorer(chat(endpoint), ServedOptions(scoring="letter", rotations="rotate")).score(CLIP, CAPTIONS)
    assert len(endpoint.asked) == 3
    assert scored.scores.argmax() == 1
    assert scored.parts is not None and set(scored.parts[0]) == {"rotation0", "rotation1", "rotation2"}


def test_a_question_is_asked_with_its_own_prompt_by_letter_or_by_yes_and_no(endpoint: Endpoint) -> None:
    question = Question("Who sits?", "{question}\n{options}\nOf {frames} frames:")
    scored = ServedScorer(chat(endpoint)).score(CLIP, ["a cow", "a man"], question=question)
    asked = [request["messages"][0]["content"][-1]["text"] for request in endpoint.asked]
    assert asked == ["Who sits?\nA. a cow\nB. a man\nOf 2 frames:"] and scored.scores.argmax() == 1
    yes = Question("Does a man sit?", "{question} Yes or No:")
    scored = ServedScorer(chat(endpoint)).score(CLIP, ["no", "yes"], question=yes)
    assert len(endpoint.asked) == 2 and scored.scores.argmax() == 1
    np.testing.assert_allclose(np.exp(scored.scores).sum(), 1)


def test_yesno_from_log_probabilities_and_from_exact_answers(endpoint: Endpoint) -> None:
    scored = ServedScorer(chat(endpoint)).score(CLIP, CAPTIONS)
    # "a woman sits" holds "man" too: the stand-in says yes to both
    np.testing.assert_allclose(scored.scores[:2], 1 / (1 + np.exp(-2.4)))
    assert scored.scores[2] == pytest.approx(1 / (1 + np.exp(1.7)))
    endpoint.logprobs = False
    exact = ServedScorer(chat(endpoint)).score(CLIP, CAPTIONS)
    assert exact.scores[1] > 0.99 and exact.scores[2] < 0.01


def test_an_answer_that_is_no_option_is_counted_never_guessed(endpoint: Endpoint) -> None:
    endpoint.logprobs = False
    scorer = ServedScorer(chat(endpoint), ServedOptions(scoring="letter"))
    scored = scorer.score(CLIP, ["a cat", "a dog"])
    assert np.isnan(scored.scores).all()
    assert scored.counts["unparseable"] == 1
    assert scored.parts is not None and all(part["unparseable"] == 1 for part in scored.parts)


@pytest.mark.parametrize("logprobs", [True, False])
def test_an_option_that_is_repeated_word_for_word_is_its_letter(
    logprobs: bool, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    endpoint.logprobs = logprobs
    monkeypatch.setattr(endpoint, "reply", lambda request: ("C major is played.", {"C": -0.1, "A": -3.0}))
    scorer = ServedScorer(chat(endpoint), ServedOptions(scoring="letter", rotations="rotate"))
    scored = scorer.score(CLIP, ["a man sits", "C major is played", "D minor is played"])
    assert np.exp(scored.scores)[1] > 0.99 and scored.counts["unparseable"] == 0


def body(message: Any, logprobs: Any = None, *, refusal: str | None = None, end: str = "stop", **more: Any) -> str:
    choice = {"index": 0, "finish_reason": end, "message": {"role": "assistant", "content": message}}
    choice["message"] |= {"refusal": refusal} if refusal else {}
    answer = {"id": "x", "created": 0, "model": "vlm", "system_fingerprint": "", "object": "chat.completion"}
    return json.dumps({**answer, "choices": [{**choice, "logprobs": logprobs}], "usage": None, **more})


@pytest.mark.parametrize(
    "reply",
    [body([{"type": "text", "text": "Yes"}]),  # parts, as they stand in requests
     body("Yes", {"content": [{"token": "Yes", "logprob": None, "top_logprobs": None}]})],
)  # fmt: skip
def test_answers_in_parts_and_empty_log_probabilities_are_plain_answers(endpoint: Endpoint, reply: str) -> None:
    endpoint.failures = [reply] * 20
    assert ServedScorer(chat(endpoint)).score(CLIP, CAPTIONS).scores.tolist() == [1.0, 1.0, 1.0]


@pytest.mark.parametrize("reply", [body(None, refusal="I can't help."), body(None, end="content_filter")])
def test_a_refusal_and_a_filtered_answer_are_answers_that_say_nothing(endpoint: Endpoint, reply: str) -> None:
    endpoint.failures = [reply]
    scored = ServedScorer(chat(endpoint)).score(CLIP, CAPTIONS[:1])
    assert np.isnan(scored.scores[0]) and scored.counts["unparseable"] == len(endpoint.asked) == 1


def test_an_error_that_came_with_status_200_is_told(endpoint: Endpoint) -> None:
    endpoint.failures = [json.dumps({"error": {"message": "model not loaded"}})] * 20
    with pytest.raises(VideoContrastError, match=r"an error: .*model not loaded"):
        ServedScorer(chat(endpoint, retries=1)).score(CLIP, CAPTIONS)


def test_a_server_that_fails_now_and_then_is_asked_again(endpoint: Endpoint, tmp_path: Path) -> None:
    endpoint.failures = [503, 429, '{"choices": []}', '{"id": "x", "cho']
    waits: list[float] = []
    model = chat(endpoint, tmp_path / "answers.jsonl", concurrency=1)
    model.sleep = waits.append
    scored = ServedScorer(model).score(CLIP, CAPTIONS)
    assert np.isfinite(scored.scores).all()
    assert model.cost.retries == 4 and model.cost.requests == 3
    assert waits == [1.0, 2.0, 4.0, 8.0]
    assert model.cost.prompt_tokens == 21


def test_a_connection_that_breaks_is_made_again(endpoint: Endpoint) -> None:
    endpoint.failures = ["", ""]  # the connection is closed without an answer
    assert np.isfinite(ServedScorer(chat(endpoint)).score(CLIP, CAPTIONS[:1]).scores).all()
    waits: list[float] = []
    model = ChatModel("vlm", endpoint="http://127.0.0.1:9/v1", sleep=waits.append, retries=2)
    with pytest.raises(VideoContrastError, match=r"failed after 3 tries: .*Connect"):
        ServedScorer(model).score(CLIP, CAPTIONS[:1])
    assert len(waits) == 2


@pytest.mark.parametrize("answer", ["<think>\n\n</think>\n\nYes", " \n Yes. ", "<think>A man.</think> **yes**"])
def test_an_answer_after_spaces_or_a_closed_block_of_thoughts_is_read(endpoint: Endpoint, answer: str) -> None:
    endpoint.reply = lambda request: (answer, {answer[:7]: -0.001})  # type: ignore[method-assign]
    scored = ServedScorer(chat(endpoint)).score(CLIP, CAPTIONS[:1])
    assert scored.scores[0] > 0.99 and scored.counts["unparseable"] == 0


Reply = tuple[str, list[dict[str, float]]]


def replying(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch, *replies: Reply) -> ServedScorer:
    """A scorer of a server that replies so, a caption after the other."""
    rest = iter(replies)
    monkeypatch.setattr(endpoint, "reply", lambda request: next(rest))
    return ServedScorer(chat(endpoint, concurrency=1))


def test_an_alternative_that_is_not_listed_is_bounded_and_counted(
    endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Not taken for impossible: a caption of .804 would have 1.0 so, and be above one of .868."""
    scorer = replying(
        endpoint, monkeypatch,
        ("Yes", [{"Yes": np.log(0.868), "No": np.log(0.132)}]),
        ("Yes", [{"Yes": np.log(0.804), "It": np.log(0.1), "The": np.log(0.05)}]),
        ("No", [{"No": np.log(0.7)}]),
    )  # fmt: skip
    scored = scorer.score(CLIP, CAPTIONS)
    np.testing.assert_allclose(scored.scores, [0.868, 0.804 / (0.804 + 0.046), 0.3], atol=1e-6)
    assert (scored.counts["bounded_answers"], scored.counts["unparseable"]) == (2, 0)


@pytest.mark.parametrize(
    ("text", "listed", "expected"),
    [("B", {"B": np.log(0.34)}, [0.33, 0.34, 0.33]),  # the others share what is left, and do not tie with what is said
     ("b", {"b": np.log(0.5), "a": np.log(0.3), "c": np.log(0.2)}, [0.3, 0.5, 0.2])],
)  # fmt: skip
def test_letters_that_are_not_listed_or_not_capitals(
    text: str, listed: dict[str, float], expected: list[float], endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer = replying(endpoint, monkeypatch, (text, [listed]))
    scorer.options = ServedOptions(scoring="letter")
    np.testing.assert_allclose(np.exp(scorer.score(CLIP, CAPTIONS).scores), expected, atol=1e-6)


@pytest.mark.parametrize(
    ("text", "before"),
    [("**Yes**", "**"), ("\nYes", "\n"), ("(Yes)", "("), (" Yes", " "), ("The answer is yes", "The| answer| is")],
)
def test_the_token_that_carries_the_answer_is_read_whatever_stands_before_it(
    text: str, before: str, endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch
) -> None:
    marks = [{token: -0.01, "Yes": -9.0, "No": -7.0} for token in before.split("|")]
    word = {"yes" if "yes" in text else "Yes": np.log(0.6), "No": np.log(0.3), " no": np.log(0.1)}
    scorer = replying(
        endpoint, monkeypatch,
        (text, [*marks, word, {"**": 0.0}]), ("Yes", [{"Yes": np.log(0.8), "No": np.log(0.2)}]),
    )  # fmt: skip
    scored = scorer.score(CLIP, CAPTIONS[:2])
    np.testing.assert_allclose(scored.scores, [0.6, 0.8], atol=1e-6)
    assert scored.counts["unparseable"] == 0


def test_answers_about_one_item_are_read_in_one_way(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    """A plain "Yes", which is 1.0, is not compared with a probability of .9."""
    listed: Reply = ("Yes", [{"Yes": np.log(0.9), "No": np.log(0.1)}])
    scored = replying(endpoint, monkeypatch, listed, ("Yes", [{"other": -0.1}])).score(CLIP, CAPTIONS[:2])
    np.testing.assert_allclose(scored.scores, [1.0, 1.0], atol=1e-6)


def test_a_sentence_that_begins_with_a_is_no_letter(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    scorer = replying(endpoint, monkeypatch, ("A man runs", [{"A": -0.1, "B": -3.0}, {" man": -0.1}]))
    scorer.options = ServedOptions(scoring="letter")
    assert np.isnan(scorer.score(CLIP, CAPTIONS[:2]).scores).all()


@pytest.mark.parametrize(("most", "requests"), [(20, 1), (10, 2), (7, 3), (0, 4), (-1, 5)])
def test_a_server_that_refuses_log_probabilities_is_asked_for_fewer(
    most: int, requests: int, endpoint: Endpoint, tmp_path: Path
) -> None:
    endpoint.most_logprobs = most
    scored = ServedScorer(chat(endpoint, tmp_path / "a.jsonl")).score(CLIP, CAPTIONS[:1])
    assert len(endpoint.asked) == requests
    exact = 1 / (1 + np.exp(-2.4)) if most > 0 else np.exp(-0.1) if most == 0 else 1.0
    assert scored.scores[0] == pytest.approx(exact)
    ServedScorer(chat(endpoint, tmp_path / "a.jsonl")).score(CLIP, CAPTIONS[:1])
    assert len(endpoint.asked) == requests  # nothing is asked twice
    endpoint.failures = [400] * 9
    with pytest.raises(VideoContrastError, match="Bad request"):
        ServedScorer(chat(endpoint)).score(CLIP, CAPTIONS[:1])


def test_a_server_that_puts_its_thoughts_elsewhere_and_does_not_answer_is_counted(endpoint: Endpoint) -> None:
    endpoint.thoughts = "Let me see"
    scored = ServedScorer(chat(endpoint)).score(CLIP, CAPTIONS[:1])
    assert np.isnan(scored.scores[0]) and scored.counts["unparseable"] == 1
    assert len(endpoint.asked) == 1


def test_a_server_that_says_how_long_to_wait_is_left_alone_for_so_long(endpoint: Endpoint) -> None:
    endpoint.failures, endpoint.retry_after = [429, 503], "7"
    waits: list[float] = []
    model = chat(endpoint, concurrency=1)
    model.sleep = waits.append
    ServedScorer(model).score(CLIP, CAPTIONS[:1])
    assert waits == [7.0, 2.0]


def test_an_answer_that_begins_with_thinking_is_no_answer(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    logs = {"<think>": -0.0001, "Yes": -12.0, "No": -11.0}
    monkeypatch.setattr(endpoint, "reply", lambda request: ("<think> let me see", logs))
    scored = ServedScorer(chat(endpoint)).score(CLIP, CAPTIONS[:2])
    assert np.isnan(scored.scores).all()
    assert scored.counts["unparseable"] == 2


def test_a_run_that_was_cut_off_asks_only_what_is_missing(endpoint: Endpoint, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    endpoint.failures = []
    first = ServedScorer(chat(endpoint, path)).score(CLIP, CAPTIONS[:2])
    data = path.read_bytes()
    path.write_bytes(data[:-20])  # killed while it wrote the second answer
    asked = len(endpoint.asked)
    model = chat(endpoint, path)
    again = ServedScorer(model).score(CLIP, CAPTIONS[:2])
    np.testing.assert_array_equal(again.scores, first.scores)
    assert len(endpoint.asked) == asked + 1
    assert model.cost.stored == 1
    ServedScorer(chat(endpoint, path)).score(CLIP, CAPTIONS[:2])
    assert len(endpoint.asked) == asked + 1  # a repeated run asks nothing


def test_other_frames_or_parameters_are_other_questions(endpoint: Endpoint, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    ServedScorer(chat(endpoint, path)).score(CLIP, CAPTIONS[:1])
    ServedScorer(chat(endpoint, path)).score(ClipFrames(CLIP.frames + 1), CAPTIONS[:1])
    ServedScorer(chat(endpoint, path, parameters={"temperature": 0.5})).score(CLIP, CAPTIONS[:1])
    assert len(endpoint.asked) == 3


def test_a_server_that_keeps_failing_is_one_message_and_keeps_what_came(endpoint: Endpoint, tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    scorer = ServedScorer(chat(endpoint, path, retries=2, concurrency=1))
    scorer.score(CLIP, CAPTIONS[:1])
    endpoint.failures = [500] * 3
    with pytest.raises(VideoContrastError, match=r"vlm at http.* failed after 3 tries: .*answers so far are stored"):
        scorer.score(CLIP, CAPTIONS)
    assert len(AnswerStore(path)) == 2


def test_a_server_that_is_gone_is_not_asked_the_rest(endpoint: Endpoint, tmp_path: Path) -> None:
    """Each request would be sent again and again, for hours where there are thousands."""
    endpoint.failures = [500] * 1000
    asked = chat(endpoint, tmp_path / "answers.jsonl", concurrency=2, retries=1)
    with pytest.raises(VideoContrastError, match="failed after 2 tries"):
        asked.ask([[{"role": "user", "content": f"Yes or No: {n}?"}] for n in range(200)])
    assert 6 <= len(endpoint.asked) < 20


def test_answers_in_memory_are_not_said_to_be_stored(endpoint: Endpoint) -> None:
    endpoint.failures = [401]
    with pytest.raises(VideoContrastError, match="kept in memory only and are lost"):
        ChatModel("vlm", endpoint=endpoint.url, api_key="x").ask([[{"role": "user", "content": "?"}]])


def test_a_refusal_is_not_repeated(endpoint: Endpoint) -> None:
    endpoint.failures = [401]
    with pytest.raises(VideoContrastError, match="401") as refused:
        ServedScorer(chat(endpoint)).score(CLIP, CAPTIONS[:1])
    assert "For more information" not in str(refused.value)
    assert len(endpoint.asked) == 1


def test_requests_in_flight_are_bounded(endpoint: Endpoint) -> None:
    ServedScorer(chat(endpoint, concurrency=2)).score(CLIP, [f"a man counts to {i}" for i in range(12)])
    assert 1 <= endpoint.most <= 2


def test_offline_mode_is_named_as_the_reason(endpoint: Endpoint, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    with pytest.raises(VideoContrastError, match=r"HF_HUB_OFFLINE=1 keeps the client from asking http://127"):
        ServedScorer(chat(endpoint)).score(CLIP, CAPTIONS[:1])
    assert not endpoint.asked
