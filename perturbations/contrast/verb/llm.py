"""Replacements from a chat model: in-context examples, one JSON answer, every answer stored."""

import json
import os
import re
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from numpy.random import Generator as Random

from video_contrast.errors import UsageError
from video_contrast.perturbations.contrast.verb.candidate import Candidate, Original, fill
from video_contrast.perturbations.contrast.verb.chat import Chat, EndpointChat, LocalChat, Message
from video_contrast.seeds import digest

PROMPT_VERSION = "1"
_TASK = """You change one verb phrase of a video caption so that the caption no longer describes the video.
The phrase to change stands in [brackets]. Propose {k} replacements of one to three words each.
A replacement must name a different action (an opposite is good, a synonym is wrong), keep the tense and form of the
phrase, and leave a caption that is as natural and as likely as the original.
Answer with one JSON object and nothing else: {{"replacements": ["...", ...]}}"""
_EXAMPLES = (
    ("a woman is [pushing] her stroller", ["pulling", "carrying", "folding", "repairing"]),
    ("two men [sit on] a bench in the park", ["stand on", "climb over", "paint", "carry"]),
    ("Jenko [lowers] his gun", ["raises", "drops", "cleans", "hides"]),
)
_OBJECT = re.compile(r"\{.*\}", re.DOTALL)
_PHRASE = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*(?: [^\W\d_]+(?:['’-][^\W\d_]+)*){0,3}")


class ChatGenerator:
    """Asks a chat model for replacements.

    Args:
        model: a Hub id or folder of a chat model; with `endpoint` the name that the endpoint knows it by.
        endpoint: base address of an OpenAI-compatible server ("http://localhost:8000/v1"); None: run it here.
        k: replacements asked for.
        store: folder that keeps every answer; an interrupted build goes on there and a rebuild asks nothing. None:
            answers are kept in memory only.
        chat: something else with the methods of `chat.Chat`, in place of model and endpoint.
        device, workers, max_new_tokens: of the model run here, and of the endpoint's requests.

    `answers` counts: "asked", "stored" (answered before), "invalid" (no JSON object with a list of replacements).
    """

    draw = "uniform"

    def __init__(
        self,
        model: str | None = None,
        *,
        endpoint: str | None = None,
        k: int = 10,
        store: str | os.PathLike[str] | None = None,
        chat: Chat | None = None,
        device: str = "auto",
        workers: int = 8,
        max_new_tokens: int = 200,
    ) -> None:
        if chat is None:
            if not model:
                raise UsageError("the generator 'llm' needs a model: give generator_options model= (and endpoint=)")
            if endpoint:
                chat = EndpointChat(model, endpoint, max_new_tokens=max_new_tokens, workers=workers)
            else:
                chat = LocalChat(model, max_new_tokens=max_new_tokens, device=device)
        self._chat, self._k, self._round = chat, k, max(1, workers) * 8
        self.name = chat.name
        self.answers: Counter[str] = Counter()
        self._store = AnswerStore(store)

    def propose(self, originals: Sequence[Original], randoms: Sequence[Random]) -> list[list[Candidate]]:
        """The replacements of each valid answer, in its order; an invalid answer proposes nothing and is counted."""
        asked = [self._messages(original) for original in originals]
        keys = [digest(PROMPT_VERSION, self.name, self._k, json.dumps(messages)).hex()[:32] for messages in asked]
        missing = {key: messages for key, messages in zip(keys, asked, strict=True) if key not in self._store}
        self.answers["stored"] += len(set(keys)) - len(missing)
        pending = list(missing.items())
        for first in range(0, len(pending), self._round):  # stored after each round: little is lost to a failure
            part = pending[first : first + self._round]
            texts = self._chat.answer([messages for _, messages in part])
            self._store.add({key: text for (key, _), text in zip(part, texts, strict=True)})
            self.answers["asked"] += len(part)
        proposed = []
        for original, key in zip(originals, keys, strict=True):
            replacements = parse(self._store[key])
            self.answers["invalid"] += replacements is None
            proposed.append([fill(original, new) for new in (replacements or [])[: self._k]])
        return proposed

    def _messages(self, original: Original) -> list[Message]:
        caption, phrase = original.caption, original.phrase
        shown = f"{caption[: phrase.start]}[{caption[phrase.start : phrase.end]}]{caption[phrase.end :]}"
        messages = [{"role": "system", "content": _TASK.format(k=self._k)}]
        for example, replacements in _EXAMPLES:
            messages.append({"role": "user", "content": example})
            messages.append({"role": "assistant", "content": json.dumps({"replacements": replacements})})
        return [*messages, {"role": "user", "content": shown}]


def parse(answer: str) -> list[str] | None:
    """The replacements of an answer, without what is no phrase of one to four words; None if the answer is invalid.

    Text around the JSON object (a code fence, a polite sentence) is forgiven.

    >>> parse('Sure! ```json {"replacements": ["pulling", "pulling", "", "2x"]}```'), parse("pulling"), parse("{}")
    (['pulling'], None, None)
    """
    found = _OBJECT.search(answer)
    if not found:
        return None
    try:
        value: Any = json.loads(found.group())
    except ValueError:
        return None
    items = value.get("replacements") if isinstance(value, dict) else None
    if not isinstance(items, list):
        return None
    words = [" ".join(item.split()) for item in items if isinstance(item, str)]
    return list(dict.fromkeys(word for word in words if _PHRASE.fullmatch(word)))


class AnswerStore:
    """Answers by key, in JSON lines; every process appends to a file of its own and reads all of them."""

    def __init__(self, folder: str | os.PathLike[str] | None) -> None:
        self._answers: dict[str, str] = {}
        self._path: Path | None = None
        if folder is None:
            return
        root = Path(folder)
        root.mkdir(parents=True, exist_ok=True)
        for path in sorted(root.glob("answers*.jsonl")):
            self._read(path)
        self._path = root / f"answers-{os.environ.get('RANK', '0')}.jsonl"

    def __contains__(self, key: str) -> bool:
        return key in self._answers

    def __getitem__(self, key: str) -> str:
        return self._answers[key]

    def add(self, answers: dict[str, str]) -> None:
        """Keeps answers, on disk where there is a folder."""
        self._answers.update(answers)
        if self._path is None:
            return
        lines = [json.dumps({"key": key, "answer": text}, ensure_ascii=False) + "\n" for key, text in answers.items()]
        with open(self._path, "a", encoding="utf-8") as handle:
            # A process that was killed may have left half a line: end it, so that ours stays whole.
            handle.write(("\n" if handle.tell() else "") + "".join(lines))

    def _read(self, path: Path) -> None:
        for line in path.read_text(encoding="utf-8", errors="replace").split("\n"):
            try:
                record = json.loads(line)
                self._answers[record["key"]] = record["answer"]
            except (ValueError, KeyError, TypeError):
                continue  # an empty line, or the half line of a process that was killed: asked again
