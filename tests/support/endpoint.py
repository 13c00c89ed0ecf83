"""An OpenAI-compatible endpoint on this machine, for tests of served models; one that lies, too."""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest


class Endpoint:
    """An OpenAI-compatible chat endpoint on this machine, which answers as `reply` says and fails as told."""

    def __init__(self) -> None:
        self.asked: list[dict[str, Any]] = []
        self.failures: list[int | str] = []  # what to answer instead, first come first served
        self.logprobs = True
        self.most_logprobs = 20  # more alternatives are refused; -1: log-probabilities as a whole
        self.retry_after = ""
        self.thoughts = ""  # of a server that answers nothing but these, in a field of their own
        self.lie = ""  # "company", "shifted", "positive", "clamped", "null", "silent": how it is wrong about its prompt
        self.echoed = "content"  # where an echoed prompt stands: "content" or "tokens" of the choice, or "prompt"
        self.generated = "."  # the token that it adds to an echoed prompt
        self.strips = False  # a detokenizer that loses the space before a word
        self.running = self.most = 0
        self.lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: Any) -> None:
                """Silent."""

            def do_POST(self) -> None:
                request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                with outer.lock:
                    outer.running += 1
                    outer.most = max(outer.most, outer.running)
                    outer.asked.append(request)
                    failure = outer.failures.pop(0) if outer.failures else None
                    outer.running -= failure == ""
                if failure == "":  # the connection breaks
                    self.close_connection = True
                    return
                answer = outer.embed if self.path.endswith("/embeddings") else outer.answer
                status, body = answer(request) if failure is None else outer.failed(failure)
                with outer.lock:
                    outer.running -= 1
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                if status == 429 and outer.retry_after:
                    self.send_header("Retry-After", outer.retry_after)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def failed(self, failure: int | str) -> tuple[int, bytes]:
        if isinstance(failure, int):
            return failure, b'{"error": "busy"}'
        return 200, failure.encode()

    def reply(self, request: dict[str, Any]) -> tuple[str, dict[str, float] | list[dict[str, float]]]:
        """The server is right about everything with a man in it: text, and alternatives of the first or each token."""
        question = request["messages"][0]["content"][-1]["text"]
        if "Yes or No" in question:
            return ("Yes.", {"Yes": -0.1, "No": -2.5}) if "man" in question else ("No", {"No": -0.2, "Yes": -1.9})
        for line in question.splitlines():
            if " man" in line and line[1:3] == ". ":
                return line[0], {line[0]: -0.1, "Z": -3.0}
        return "I cannot tell", {"I": -0.1}

    def embed(self, request: dict[str, Any]) -> tuple[int, bytes]:
        """Counts letters, whatever stands in the request: frames and captions alike."""
        said = request.get("input") or json.dumps(request["messages"][-1]["content"])
        row = [float(said.count(letter)) for letter in "abcdefghijklmnop"]
        if self.lie == "company":
            row[len(self.asked) % 16] += 1000.0
        body = {"data": [{"embedding": row, "index": 0}], "usage": {"prompt_tokens": 5}}
        return 200, json.dumps(body).encode()

    def read(self, request: dict[str, Any], words: list[str]) -> list[tuple[str, float | None]]:
        """A log-probability a word: nothing but the word decides it, unless the server lies."""
        logs = [-0.25 * len(word.strip()) - 0.01 for word in words]
        if self.lie == "company":
            logs = [log - 0.1 * len(self.asked) for log in logs]
        if self.lie == "shifted":
            logs = logs[1:] + logs[:1]
        told = {"positive": 0.5, "clamped": -9999.0, "null": None}
        logs = [told.get(self.lie, log) for log in logs]
        return [(word.strip() if self.strips else word, log) for word, log in zip(words, logs, strict=True)]

    def forced(self, request: dict[str, Any]) -> tuple[int, bytes]:
        """The log-probabilities of a prompt that ends in an assistant's message."""
        said = request["messages"][-1]["content"]
        first, *rest = said.split(" ")
        words = ["<user>", "video", "?", "<assistant>", first, *(f" {word}" for word in rest)]
        tokens = self.read(request, words)
        choice: dict[str, Any] = {"index": 0, "finish_reason": "length"}
        choice["message"] = {"role": "assistant", "content": "."}
        body: dict[str, Any] = {"id": "x", "created": 0, "model": "vlm", "choices": [choice]}
        if self.lie == "silent":
            pass
        elif request.get("echo") and self.echoed != "content":
            lists = {"tokens": [word for word, _ in tokens], "token_logprobs": [None, *[log for _, log in tokens][1:]]}
            if self.echoed == "tokens":  # Fireworks
                choice["logprobs"] = lists
            else:  # Together
                body["prompt"] = [{"text": "".join(words), "logprobs": lists}]
        elif request.get("echo"):
            content = [{"token": word, "logprob": log, "top_logprobs": []} for word, log in tokens]
            choice["logprobs"] = {"content": [*content, {"token": self.generated, "logprob": -0.1, "top_logprobs": []}]}
        else:
            rows = [{str(n): {"logprob": log, "rank": 1, "decoded_token": w}} for n, (w, log) in enumerate(tokens)]
            body["prompt_logprobs"] = [None, *rows]
        body["usage"] = {"prompt_tokens": len(tokens), "completion_tokens": 1, "total_tokens": len(tokens) + 1}
        return 200, json.dumps(body | {"object": "chat.completion", "system_fingerprint": ""}).encode()

    def describe(self) -> tuple[int, bytes]:
        """Its own words about a video, with the log-probabilities with which it says them."""
        words = ["a", " man", " runs"]
        content = [{"token": w, "logprob": -0.25 * len(w.strip()) - 0.01, "top_logprobs": []} for w in words]
        choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": "".join(words)}}
        body = {"id": "x", "created": 0, "model": "vlm", "choices": [{**choice, "logprobs": {"content": content}}]}
        return 200, json.dumps(body | {"object": "chat.completion", "system_fingerprint": ""}).encode()

    def answer(self, request: dict[str, Any]) -> tuple[int, bytes]:
        if request["messages"][-1]["role"] == "assistant":
            return self.forced(request)
        if "Describe" in request["messages"][-1]["content"][-1]["text"]:
            return self.describe()
        if request.get("logprobs") and request.get("top_logprobs", 0) > self.most_logprobs:
            return 400, b'{"error": {"message": "top_logprobs is too large"}}'
        text, logs = self.reply(request)
        tokens = logs if isinstance(logs, list) else [logs]
        choice: dict[str, Any] = {
            "index": 0,
            "finish_reason": "stop",
            "message": {"role": "assistant", "content": text},
        }
        if self.thoughts:
            choice["message"] |= {"content": None, "reasoning_content": self.thoughts}
        elif self.logprobs:
            content = []
            for alternatives in tokens:
                top = [{"token": token, "logprob": log} for token, log in alternatives.items()]
                content.append({**top[0], "top_logprobs": top[: request.get("top_logprobs", 0)]})
            choice["logprobs"] = {"content": content if request.get("logprobs") else None}
        usage = {"prompt_tokens": 7, "completion_tokens": 1, "total_tokens": 8}
        body = {"id": "x", "created": 0, "model": request["model"], "choices": [choice], "usage": usage}
        return 200, json.dumps(body | {"object": "chat.completion", "system_fingerprint": ""}).encode()


@pytest.fixture
def endpoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Endpoint]:
    # The tests run with HF_HUB_OFFLINE=1, which also keeps the client from this machine's own addresses.
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
    served = Endpoint()
    yield served
    served.server.shutdown()
    served.server.server_close()
