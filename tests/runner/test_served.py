"""Served models: likelihoods and embeddings of servers that are tested first, a measured pace, a known price."""
# ruff: noqa: F811  (fixtures are imported and then named as arguments)

import base64
import json
import threading
import time
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import runner_set
from endpoint import Endpoint, endpoint  # noqa: F401  fixture
from PIL import Image

import video_contrast
from video_contrast.chat_model import AnswerStore, ChatModel, Pace
from video_contrast.cli import main
from video_contrast.errors import VideoContrastError
from video_contrast.runner.kinds.base import ClipFrames
from video_contrast.runner.kinds.prompts import read_answers
from video_contrast.runner.kinds.served import ServedOptions, ServedScorer
from video_contrast.runner.kinds.served_embedder import ServedEmbedder

CLIP = ClipFrames(np.zeros((2, 8, 8, 3), np.uint8))
CAPTIONS = ["a man sits", "a woman runs away"]


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return runner_set.write(tmp_path_factory.mktemp("served") / "set", n_clips=3)


def scorer(endpoint: Endpoint, **options: Any) -> ServedScorer:
    chat = ChatModel("vlm", endpoint=endpoint.url, api_key="x", store=AnswerStore(None), sleep=lambda _: None)
    return ServedScorer(chat, ServedOptions(scoring="loglik", **options))


@pytest.mark.parametrize("by", ["prompt_logprobs", "echo"])
def test_captions_have_the_log_probabilities_of_their_own_tokens(endpoint: Endpoint, by: Any) -> None:
    scored = scorer(endpoint, logprobs_by=by, norm="sum").score(CLIP, CAPTIONS)
    np.testing.assert_allclose(scored.scores, [-0.25 * 8 - 0.03, -0.25 * 14 - 0.04])
    assert scored.parts is not None and scored.parts[0] == {"sum": scored.scores[0], "n_tokens": 3.0, "n_chars": 10.0}
    if by == "prompt_logprobs":  # captions are asked about at once, in any order
        answer = {"role": "assistant", "content": CAPTIONS[-1]}
        [asked] = [body for body in endpoint.asked if body["messages"][-1] == answer][-1:]
        assert not asked["add_generation_prompt"] and asked["continue_final_message"] and asked["prompt_logprobs"] == 0
    per_token = scorer(endpoint, logprobs_by=by).score(CLIP, CAPTIONS)
    np.testing.assert_allclose(per_token.scores, scored.scores / [3, 4])


@pytest.mark.parametrize(
    ("lie", "message"),
    [
        ("company", "asked twice for .* it returned .*, by the company of other requests, so nothing was scored"),
        ("shifted", "it said 'a man runs' with log-probabilities that differ by .* a token"),
        ("positive", "0.5 is no log-probability"),
        ("clamped", "-9999 is no log-probability"),
        ("silent", "does not return the log-probabilities of its prompt"),
    ],
)
def test_a_server_that_is_wrong_about_log_probabilities_is_refused(endpoint: Endpoint, lie: str, message: str) -> None:
    endpoint.lie = lie
    with pytest.raises(VideoContrastError, match=message):
        scorer(endpoint).score(CLIP, CAPTIONS)


def test_a_prompt_echoed_without_log_probabilities_is_not_certain(endpoint: Endpoint) -> None:
    """Some servers echo the tokens with null in place of their log-probabilities."""
    endpoint.lie = "null"
    endpoint.echoed = "tokens"
    with pytest.raises(VideoContrastError, match="nan is no log-probability"):
        scorer(endpoint, logprobs_by="echo").score(CLIP, CAPTIONS)


@pytest.mark.parametrize("place", ["tokens", "prompt"])
def test_an_echoed_prompt_is_read_wherever_servers_put_it(endpoint: Endpoint, place: str) -> None:
    endpoint.echoed = place
    scored = scorer(endpoint, logprobs_by="echo", norm="sum").score(CLIP, CAPTIONS)
    np.testing.assert_allclose(scored.scores, [-0.25 * 8 - 0.03, -0.25 * 14 - 0.04])


def test_a_generated_token_is_not_taken_for_the_caption_that_it_repeats(endpoint: Endpoint) -> None:
    endpoint.generated = "yes"
    scored = scorer(endpoint, logprobs_by="echo", norm="sum").score(CLIP, ["yes", "no"])
    np.testing.assert_allclose(scored.scores, [-0.25 * 3 - 0.01, -0.25 * 2 - 0.01])


def test_tokens_that_lost_their_spaces_are_found(endpoint: Endpoint) -> None:
    """vLLM decoded tokens one by one, which drops the space before a word of a SentencePiece tokenizer."""
    endpoint.strips = True
    scored = scorer(endpoint, norm="sum").score(CLIP, [" a man sits", CAPTIONS[1]])
    np.testing.assert_allclose(scored.scores, [-0.25 * 8 - 0.03, -0.25 * 14 - 0.04])


def test_a_log_probability_that_was_clamped_is_no_score(endpoint: Endpoint) -> None:
    model = scorer(endpoint)
    model.score(CLIP, CAPTIONS)
    endpoint.lie = "clamped"  # from now on: the canary is asked once
    scored = model.score(CLIP, ["another caption"])
    assert np.isnan(scored.scores[0]) and scored.counts["unparseable"] == 1


def test_the_canary_stands_in_the_record_and_is_asked_once(endpoint: Endpoint) -> None:
    model = scorer(endpoint)
    model.score(CLIP, CAPTIONS)
    asked = len(endpoint.asked)
    model.score(CLIP, ["another caption"])
    assert len(endpoint.asked) == asked + 1
    assert model.facts["canary"]["said_tokens"] == 3 and model.facts["canary"]["largest_gap"] == 0


def test_frames_go_as_one_video_where_the_server_takes_it(endpoint: Endpoint) -> None:
    scorer(endpoint, frames_as="video").score(CLIP, CAPTIONS[:1])
    [part, _] = endpoint.asked[0]["messages"][0]["content"]
    assert part["video_url"]["url"].startswith("data:video/jpeg;base64,") and part["video_url"]["url"].count(",") == 2


@pytest.mark.parametrize("scoring", ["loglik", "yesno"])
def test_a_video_goes_with_its_times_and_all_its_frames(endpoint: Endpoint, scoring: Any) -> None:
    """vLLM keeps the first 32 pictures of a video and takes them for one a second unless it is told otherwise."""
    clip = ClipFrames(np.zeros((4, 8, 8, 3), np.uint8), (0.25, 0.75, 1.25, 1.75))
    chat = ChatModel("vlm", endpoint=endpoint.url, api_key="x", store=AnswerStore(None), sleep=lambda _: None)
    ServedScorer(chat, ServedOptions(scoring=scoring, frames_as="video")).score(clip, CAPTIONS)
    for asked in endpoint.asked:
        told = asked["media_io_kwargs"]["video"]
        assert told["num_frames"] == -1
        np.testing.assert_allclose(np.array(told["frames_indices"]) / told["fps"], clip.times, atol=0.005)
        assert len(clip.times) / told["total_num_frames"] * told["fps"] == pytest.approx(2.0)  # the rate of sampling
    endpoint.asked.clear()
    ServedScorer(chat, ServedOptions(scoring=scoring)).score(clip, CAPTIONS[:1])
    assert "media_io_kwargs" not in endpoint.asked[-1]


def flags(endpoint: Endpoint, dataset: Path, folder: Path, *more: str) -> list[str]:
    place = ["--dataset", str(dataset), "--config", "verb_mc", "--output", str(folder), "--store", str(folder / "../s")]
    return ["score", *place, "--endpoint", endpoint.url, "--frames", "2", "--accept", "all", "--quiet", *more]


def test_a_run_is_priced_before_and_after(
    endpoint: Endpoint, dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = ["--model", "served:vlm", "--scoring", "loglik", "--price-out", "4", "--price-in", "2"]
    answers = ["--answers", str(tmp_path / "answers.jsonl")]
    assert main(flags(endpoint, dataset, tmp_path / "run", *model, *answers, "--dry-run", "--json")) == 0
    assert '"estimated_price": 0.0' in capsys.readouterr().out and not endpoint.asked
    assert main(flags(endpoint, dataset, tmp_path / "run", *model, *answers)) == 0
    record: Any = video_contrast.open_run(tmp_path / "run").record["model"]
    assert record["estimate"]["requests"] == 12 and record["estimate"]["prompt_tokens"] > 9 * 2 * 256
    assert record["price"] == pytest.approx(
        (2 * record["counters"]["prompt_tokens"] + 4 * record["counters"]["completion_tokens"]) / 1e6, abs=1e-6
    )
    assert record["counters"]["requests"] == 12  # nine candidates, and the distractors that contrasts displaced
    # another price is no other run
    assert main(flags(endpoint, dataset, tmp_path / "run", *model[:-1], "9", *answers)) == 0


def test_a_lying_server_leaves_no_scores(
    endpoint: Endpoint, dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    endpoint.lie = "company"
    model = ["--model", "served:vlm", "--scoring", "loglik", "--answers", str(tmp_path / "answers.jsonl")]
    assert main(flags(endpoint, dataset, tmp_path / "run", *model)) == 1
    assert "so nothing was scored" in capsys.readouterr().err
    assert not (tmp_path / "run" / "run.json").exists()


@pytest.mark.parametrize("told", [0.5, float("nan"), float("inf"), float("-inf")])
@pytest.mark.parametrize("scoring", ["yesno", "letter"])
def test_answers_with_what_is_no_log_probability_are_refused_and_not_kept(
    endpoint: Endpoint, dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], told: float, scoring: str
) -> None:
    endpoint.reply = lambda request: ("Yes.", {"Yes": -0.1, "A": -0.3, "No": told})  # type: ignore[method-assign]
    answers = tmp_path / "answers.jsonl"
    model = ["--model", "served:vlm", "--scoring", scoring, "--answers", str(answers)]
    assert main(flags(endpoint, dataset, tmp_path / "run", *model)) == 1
    said = capsys.readouterr().err
    assert f"{told:g} is no log-probability" in said and "cannot be scored by its answers" in said
    assert "Recursion" not in said
    assert not (tmp_path / "run" / "run.json").exists() and not len(AnswerStore(answers))


def test_an_alternative_that_cannot_be_is_clamped_by_servers(endpoint: Endpoint) -> None:
    """vLLM puts -9999 for minus infinity: an alternative without probability, not a fault."""
    endpoint.reply = lambda request: ("Yes.", {"Yes": -0.1, "No": -9999.0})  # type: ignore[method-assign]
    chat = ChatModel("vlm", endpoint=endpoint.url, api_key="x", store=AnswerStore(None), sleep=lambda _: None)
    np.testing.assert_allclose(ServedScorer(chat).score(CLIP, CAPTIONS).scores, 1.0)


def test_a_run_that_its_server_ended_keeps_what_was_answered(
    endpoint: Endpoint, dataset: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With a new file of answers, too: it is empty when the run begins."""
    model = ["--model", "served:vlm", "--scoring", "letter", "--retries", "0", "--concurrency", "1"]
    model += ["--answers", str(tmp_path / "answers.jsonl")]
    call = flags(endpoint, dataset, tmp_path / "run", *model)
    reply, answered = endpoint.reply, 0

    def twice(request: dict[str, Any]) -> tuple[str, dict[str, float]]:
        nonlocal answered
        answered += 1
        if answered == 2:
            endpoint.failures = [500] * 9
        return reply(request)

    endpoint.reply = twice  # type: ignore[method-assign]
    assert main(call) == 1
    assert f"answers so far are stored in {tmp_path / 'answers.jsonl'}" in capsys.readouterr().err
    kept = len(AnswerStore(tmp_path / "answers.jsonl"))
    assert kept == 2
    endpoint.failures = []
    endpoint.asked.clear()
    assert main(call) == 0
    assert len(endpoint.asked) == len(AnswerStore(tmp_path / "answers.jsonl")) - kept > 0
    endpoint.asked.clear()
    assert main(flags(endpoint, dataset, tmp_path / "again", *model)) == 0 and not endpoint.asked


def test_clips_are_asked_about_at_once(endpoint: Endpoint, dataset: Path, tmp_path: Path) -> None:
    reply = endpoint.reply
    endpoint.reply = lambda request: (time.sleep(0.05), reply(request))[1]  # type: ignore[method-assign]
    model = ["--model", "served:vlm", "--scoring", "letter", "--concurrency", "8"]
    assert main(flags(endpoint, dataset, tmp_path / "run", *model, "--answers", str(tmp_path / "a.jsonl"))) == 0
    assert endpoint.most > 1  # a letter is one request an item


def test_embeddings_of_clips_and_captions_are_joined(endpoint: Endpoint, dataset: Path, tmp_path: Path) -> None:
    model = ["--model", "served-embedder:vlm", "--prompt-text", "Find the video."]
    assert main(flags(endpoint, dataset, tmp_path / "run", *model)) == 0
    run = video_contrast.open_run(tmp_path / "run")
    record: Any = run.record["model"]
    assert record["canary"]["least_cosine"] > 0.999 and record["estimate"]["requests"] == record["requests"] - 6
    assert {request["messages"][0]["role"] for request in endpoint.asked} == {"system", "user"}
    assert all(abs(score) <= 1.0001 for row in run.score_rows() for score in row["scores"])


def test_an_embedder_that_is_not_steady_is_refused(endpoint: Endpoint) -> None:
    endpoint.lie = "company"
    chat = ChatModel("vlm", endpoint=endpoint.url, sleep=lambda _: None)
    with pytest.raises(VideoContrastError, match="embedded the same text differently"):
        ServedEmbedder(chat).encode_texts(["a man sits"])


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([[[1.0, 2.0]], [[1.0, 2.0, 3.0]]], "vectors of 2 and of 3 numbers"),
        ([[[float("nan"), 1.0]]], "no number"),
        ([[[None, 1.0]]], "half an answer"),
        ([[[1.0, 0.0], [0.0, 1.0]]], "2 vectors for one"),
    ],
)
def test_vectors_that_are_no_embeddings_are_refused_in_one_sentence(
    rows: list[Any], message: str, endpoint: Endpoint
) -> None:
    def embed(request: dict[str, Any]) -> tuple[int, bytes]:
        vectors = rows[len(endpoint.asked) % len(rows)]
        return 200, json.dumps({"data": [{"embedding": row, "index": n} for n, row in enumerate(vectors)]}).encode()

    endpoint.embed = embed  # type: ignore[method-assign]
    with pytest.raises(VideoContrastError, match=message):
        ServedEmbedder(ChatModel("vlm", endpoint=endpoint.url, sleep=lambda _: None)).encode_texts(CAPTIONS)


def seen(request: dict[str, Any]) -> float:
    """What a server that sees and reads makes of a request: a number of its pictures and of its question."""
    *pictures, question = request["messages"][0]["content"]
    frames = [
        np.asarray(Image.open(BytesIO(base64.b64decode(one["image_url"]["url"].split(",")[1])))) for one in pictures
    ]
    shown = sum((n + 1) * float(frame.mean()) for n, frame in enumerate(frames))
    return float(np.sin(shown / 50 + sum((n + 1) * ord(letter) for n, letter in enumerate(question["text"]))))


@pytest.mark.parametrize("logprobs", [True, False])
def test_the_self_test_passes_a_server_that_sees_with_and_without_probabilities(
    logprobs: bool, endpoint: Endpoint, dataset: Path, tmp_path: Path
) -> None:
    """Plain answers hardly change with the input: that is a doubt."""
    endpoint.logprobs = logprobs
    endpoint.reply = lambda request: ("Yes", {"Yes": seen(request) - 2, "No": -seen(request) - 2})  # type: ignore[method-assign]
    options = {"endpoint": endpoint.url, "answers": str(tmp_path / "answers.jsonl")}
    test = video_contrast.doctor("served:vlm", dataset, "verb_mc", frames=2, options=options)
    assert not test.of("fail"), "\n".join(map(str, test.verdicts))
    doubtful = {verdict.check for verdict in test.of("doubt")} - {"truth"}
    assert doubtful == (set() if logprobs else {"clip", "grey", "pixels", "caption", "frames", "ends"})


def test_a_server_that_is_blind_fails_the_self_test(endpoint: Endpoint, dataset: Path, tmp_path: Path) -> None:
    def blind(request: dict[str, Any]) -> tuple[str, dict[str, float]]:
        read = seen({"messages": [{"content": request["messages"][0]["content"][-1:]}]})
        return "Yes", {"Yes": read - 2, "No": -read - 2}

    endpoint.reply = blind  # type: ignore[method-assign]
    options = {"endpoint": endpoint.url, "answers": str(tmp_path / "answers.jsonl")}
    test = video_contrast.doctor("served:vlm", dataset, "verb_mc", frames=2, options=options)
    assert {"clip", "grey", "pixels", "frames"} == {verdict.check for verdict in test.of("fail")}


def drive(pace: Pace, clock: list[float], latency: Any, requests: int = 200) -> None:
    """Sends requests whose latency depends on how many may be in flight."""
    for _ in range(requests):
        with pace.slot():
            clock[0] += latency(pace.limit)


def test_the_pace_grows_while_latency_holds_and_falls_where_it_does_not() -> None:
    clock = [0.0]
    free = Pace(clock=lambda: clock[0])
    drive(free, clock, lambda limit: 1.0)
    assert free.limit == 64
    tight = Pace(clock=lambda: clock[0])
    drive(tight, clock, lambda limit: 1.0 if limit <= 8 else limit / 4)
    assert 4 <= tight.limit <= 16
    fixed = Pace(3)
    drive(fixed, clock, lambda limit: limit)
    fixed.busy()
    assert fixed.limit == 3


def test_a_busy_server_is_asked_less() -> None:
    pace = Pace()
    pace.limit = 16
    pace.busy()
    assert pace.limit == 8
    running, most = [0], [0]
    lock = threading.Lock()

    def ask() -> None:
        with pace.slot():
            with lock:
                running[0] += 1
                most[0] = max(most[0], running[0])
            time.sleep(0.005)
            with lock:
                running[0] -= 1

    pace.limit = 2
    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most[0] <= 2


def test_a_letter_that_is_said_in_lower_case_counts_as_the_letter_even_where_the_capital_is_listed_too() -> None:
    answer: Any = {"text": "b", "alternatives": [[("b", -0.2), ("A", -2.0), ("B", -3.0)]]}
    (logs,), _ = read_answers([answer], ("A", "B", "C"))
    assert logs is not None and logs.argmax() == 1 and logs[1] > -0.2
