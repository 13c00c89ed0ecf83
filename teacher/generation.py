"""Negatives for a training corpus: priced before they are made, made in parts, and kept with what was rejected.

Every answer of a chat model is stored under what was asked before anything is made of it, and every part of the corpus
is stored when it is done: the same call goes on where it stopped, and asks nothing twice.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, Required, TypedDict

from video_contrast.builders.assembly.word_contrasts import WordEdits
from video_contrast.chat_model import Answer, Conversation
from video_contrast.console import counted
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import read_json, write_json, write_text
from video_contrast.options import Config, Seed, Split, with_options
from video_contrast.perturbations.contrast.generate import IMPROBABLE
from video_contrast.perturbations.contrast.proposal import RejectedEdit
from video_contrast.rows import RetrievalRow, Row
from video_contrast.seeds import digest
from video_contrast.storage import SetFolder
from video_contrast.storage.set_records import Facts
from video_contrast.teacher.caption_rows import CorpusPart, GeneratedCaption, RejectedCandidate, items_of
from video_contrast.teacher.model_files import check_endpoint
from video_contrast.teacher.needed_models import check_generator
from video_contrast.teacher.negative_recipe import CaptionEdits, NegativeRecipe, texts_of
from video_contrast.teacher.negatives import (
    attempts_of,
    corpus_of,
    edits_of,
    why_none,
)

if TYPE_CHECKING:
    from video_contrast.perturbations.contrast.generators.local_chat import Chat

PART = 500  # clips
BUILDER = "generated"
CONFIG = "negatives_mc"
LETTERS_A_TOKEN = 4  # of English, about
ANSWER_TOKENS = 6  # a replacement in JSON, about


@dataclass(frozen=True, kw_only=True)
class GenerateOptions(CaptionEdits):
    """Which negatives of which captions, by whom, at what price."""

    output: Annotated[Path, "folder of the set; the same call resumes it"]
    config: Config = "retrieval"
    split: Split = "train"
    generator: Annotated[Literal["llm", "lexicon", "t5", "mlm"], "what proposes the negatives"] = "llm"
    endpoint: Annotated[list[str] | None, "address of a server of the model; repeat the flag for several"] = None
    workers: Annotated[int, "requests in flight at each endpoint"] = 8
    structured: Annotated[bool, "ask the server for JSON (TGI: by the schema of an answer)"] = False
    price_in: Annotated[float | None, "price of a million tokens that are sent"] = None
    price_out: Annotated[float | None, "price of a million tokens that come back"] = None
    dry_run: Annotated[bool, "only print what would be asked and what it would cost"] = False
    limit: Annotated[int | None, "only the first clips"] = None
    seed: Seed = 0

    def check(self) -> NegativeRecipe:
        """The recipe of the negatives. Raises UsageError: options that do not go together, or unknown names."""
        if self.endpoint and self.generator != "llm":
            raise UsageError("--endpoint goes with --generator llm")
        if self.generator == "llm" and not self.generator_model:
            raise UsageError("--generator llm needs --generator-model: the model's name at the endpoint, or a folder")
        option_names = {part.partition("=")[0].strip() for part in (self.generator_options or "").split(",")}
        if self.generator == "llm" and option_names & {"endpoint", "store"}:
            raise UsageError(
                "--generator-options: servers are --endpoint, and answers are kept in OUTPUT/answers.jsonl"
            )
        if self.structured and not self.endpoint:
            raise UsageError("--structured is asked of a server: give --endpoint")
        if (self.price_in is None) != (self.price_out is None):
            raise UsageError("give --price-in and --price-out together")
        for name in ("workers", "limit"):
            if (value := getattr(self, name)) is not None and value < 1:
                raise UsageError(f"--{name} must be at least 1, not {value}")
        recipe = NegativeRecipe.of(self, self.generator, self.seed)
        recipe.check()
        return recipe


@dataclass(frozen=True)
class Estimate:
    """What a run would ask of a chat model."""

    captions: int  # of the corpus
    questions: int  # distinct: one a verb of a caption that can be replaced
    stored: int  # of them, answered already
    tokens_in: int  # of the others, about
    tokens_out: int
    price: float | None  # of them, where the prices of tokens are given

    def __str__(self) -> str:
        """One sentence."""
        price = "" if self.price is None else f", about {ceil(100 * self.price) / 100:,.2f} by the given prices"
        return (
            f"{self.captions:,} captions: {self.questions:,} questions, {self.stored:,} answered already; the "
            f"others send about {self.tokens_in:,} tokens and get about {self.tokens_out:,}{price}"
        )


GenerateResult = TypedDict(
    "GenerateResult",
    {
        "estimate": Required[Estimate | None],  # None without a chat model
        "captions": int,
        "negatives": int,
        "captions with none": int,
        "rejected": int,
        "reasons": dict[str, int],  # reason -> rejected candidates
        "cost": dict[str, int],  # of a chat model: see `chat_model.Cost`
        "failures": dict[str, str],  # address -> why, of endpoints that were left out
    },
    total=False,
)


class _Listener:
    """Takes the place of a chat model, answers nothing, and remembers what would have been asked."""

    def __init__(self, model: str) -> None:
        from video_contrast.chat_model import Cost

        self.model, self.cost = model, Cost()
        self.questions: dict[str, Conversation] = {}

    def ask(self, conversations: Sequence[Conversation]) -> list[Answer]:
        """Empty answers."""
        for messages in conversations:
            self.questions.setdefault(json.dumps(list(messages), sort_keys=True), list(messages))
        return [{"text": '{"replacements": []}', "alternatives": None} for _ in conversations]


@with_options
def generate(dataset: str | Path, *, request: GenerateOptions, say: Callable[[str], None] = print) -> GenerateResult:
    """Writes a set of training captions, each with its negatives, and `rejected.jsonl` beside it.

    Returns the estimate, and after the run the counts (see `GenerateResult`). `dataset`: folder of a set with captions.
    `say`: told what it will cost, and what was made. Raises UsageError: options that do not go together, or several
    processes; VideoContrastError: a model cannot be had, the endpoints failed (what came is stored), or no negative is
    probable enough.
    """
    from video_contrast.builders.assembly.sharding import world_size

    if world_size() > 1:  # each would ask, and pay, for all answers
        raise UsageError("generate works in one process: start it without torchrun (--workers asks in parallel)")
    recipe = request.check()
    rows = SetFolder.open(dataset).retrieval_rows(request.config, request.split)[: request.limit]
    corpus = corpus_of(rows)
    chat = _chat(request, recipe)
    estimate = _estimate(rows, recipe, corpus, chat=chat, request=request) if chat is not None else None
    if estimate is not None:
        say(str(estimate))
    if request.dry_run:
        try:
            _check_models(request, recipe, estimate)
        except VideoContrastError as error:  # it is for planning: models may come later
            say(f"not at hand: {error}")
        return {"estimate": estimate}
    settings = recipe.record() | {"corpus": digest(*texts_of(corpus)).hex(), "structured": request.structured}
    captions: list[GeneratedCaption] = []
    rejected: list[RejectedCandidate] = []
    maker = None
    for number in range(0, len(rows), PART):
        part = rows[number : number + PART]
        key = digest(json.dumps(settings, sort_keys=True), *(row["id"] for row in part)).hex()
        path = request.output / "parts" / f"{number // PART:05d}.json"
        if not (path.exists() and read_json(path)["key"] == key):
            if maker is None:
                _check_models(request, recipe, estimate)
                maker = _Maker(recipe, corpus, chat)
            write_json(path, {"key": key, **maker.part(part)})
        stored = read_json(path)
        captions += stored["captions"]
        rejected += stored["rejected"]
    reasons = Counter(entry["reason"] for entry in rejected)
    if not any(caption["edits"] for caption in captions):
        why = why_none(texts_of(corpus), reasons, recipe.generator)
        raise VideoContrastError(f"{dataset}: no negative passed for any of {counted(len(captions), 'caption')}: {why}")
    result: GenerateResult = {
        "estimate": estimate,
        "captions": len(captions),
        "negatives": sum(len(caption["edits"]) for caption in captions),
        "captions with none": sum(not caption["edits"] for caption in captions),
        "rejected": len(rejected),
        "reasons": dict(reasons.most_common()),
    }
    _write(rows, captions, rejected, request=request, source=str(dataset), result=result)
    if chat is not None:
        result["cost"] = asdict(chat.cost)
        result["failures"] = getattr(chat, "failures", {})
    return result


def _chat(request: GenerateOptions, recipe: NegativeRecipe) -> Chat | None:
    """The chat model: behind the endpoints, or here; None for generators without one."""
    if request.generator != "llm":
        return None
    from video_contrast.chat_model import AnswerStore, ChatModel
    from video_contrast.chat_pool import ChatPool
    from video_contrast.perturbations.contrast.generators.llm import SCHEMA
    from video_contrast.perturbations.contrast.generators.local_chat import LocalChat

    model, store = str(request.generator_model), AnswerStore(request.output / "answers.jsonl")
    if not request.endpoint:
        return _Listener(model) if request.dry_run else LocalChat(model, store=store)
    parameters: dict[str, object] = {"max_tokens": 40 + 10 * recipe.actions, "temperature": 0.0, "seed": 0}
    if request.structured:
        parameters["response_format"] = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}}
    key = os.environ.get("OPENAI_API_KEY") or os.environ.get("HF_TOKEN") or None
    endpoints = [
        ChatModel(model, address, api_key=key, concurrency=request.workers, parameters=parameters)
        for address in dict.fromkeys(request.endpoint)
    ]
    return ChatPool(endpoints, store)


def _check_models(request: GenerateOptions, recipe: NegativeRecipe, estimate: Estimate | None) -> None:
    """The generator's model must be there; where something is left to ask of endpoints, one of them."""
    if request.generator != "llm":
        check_generator(recipe)
    if not request.endpoint or estimate is None or estimate.questions == estimate.stored:
        return
    failures = []
    for address in request.endpoint:
        try:
            check_endpoint(address)
        except VideoContrastError as error:
            failures.append(error)
    if len(failures) == len(request.endpoint):
        raise failures[0]


def _estimate(
    rows: Sequence[RetrievalRow],
    recipe: NegativeRecipe,
    corpus: Mapping[str, Sequence[str]],
    *,
    chat: Chat,
    request: GenerateOptions,
) -> Estimate:
    listener = _Listener(chat.model)
    source = recipe.source("verb", corpus)
    source.chat = listener
    for number in range(0, len(rows), PART):
        edits_of(source, attempts_of(rows[number : number + PART]), recipe.actions)
    key_of, store = getattr(chat, "key", None), getattr(chat, "store", None)
    open_ = [
        messages
        for messages in listener.questions.values()
        if key_of is None or store is None or store.get(key_of(messages)) is None
    ]
    letters = sum(len(str(message["content"])) for messages in open_ for message in messages)
    tokens_in, tokens_out = letters // LETTERS_A_TOKEN, len(open_) * ANSWER_TOKENS * (recipe.actions + 1)
    price = None
    if request.price_in is not None and request.price_out is not None:
        price = (tokens_in * request.price_in + tokens_out * request.price_out) / 1e6
    questions = len(listener.questions)
    return Estimate(
        len(texts_of(corpus)), questions, questions - len(open_), tokens_in, tokens_out=tokens_out, price=price
    )


class _Maker:
    """Makes the edits of a part of the corpus; words are counted and models loaded once."""

    def __init__(self, recipe: NegativeRecipe, corpus: Mapping[str, Sequence[str]], chat: Chat | None) -> None:
        self._sources = [(source, count) for source, _, count in recipe.sources(corpus)]
        self._rejected: dict[str, RejectedCandidate] = {}
        for source, _ in self._sources:
            if isinstance(source, WordEdits):
                source.chat = chat

    def part(self, rows: Sequence[RetrievalRow]) -> CorpusPart:
        """Returns the edits of some clips' captions, and what was rejected."""
        from video_contrast.perturbations.english.caption_store import parse_cache

        attempts = attempts_of(rows)
        captions: list[GeneratedCaption] = [
            {"id": attempt.clip.id, "number": attempt.index, "caption": attempt.caption, "edits": [], "kinds": []}
            for attempt in attempts
        ]
        self._rejected.clear()
        with parse_cache():
            for source, count in self._sources:
                for caption, edits in zip(captions, edits_of(source, attempts, count), strict=True):
                    caption["edits"] += [{**edit.row(), "text": edit.text} for edit in edits]
                    caption["kinds"] += [source.kind] * len(edits)
                if isinstance(source, WordEdits):
                    reasons = [RejectedEdit(text, why, _rule(why)) for text, why in source.explained.items()]
                    for entry in (*source.rejected, *reasons):
                        self._rejected.setdefault(json.dumps(entry), entry._asdict())  # type: ignore[arg-type]
        return {"captions": captions, "rejected": list(self._rejected.values())}


def _rule(why: str) -> str:
    """What is said of a caption without a contrast, as one reason to count by.

    >>> _rule("not seen with this noun (2); no verb (1)")
    'not seen with this noun'
    >>> _rule("the best contrast ('rises' -> 'falls') has the probability 0.31, less than 0.55")
    'not probable enough'
    """
    first = why.partition(" (")[0]
    return IMPROBABLE if first == "the best contrast" else first


def _write(
    rows: Sequence[RetrievalRow],
    captions: Sequence[GeneratedCaption],
    rejected: Sequence[RejectedCandidate],
    *,
    request: GenerateOptions,
    source: str,
    result: GenerateResult,
) -> None:
    """Writes the set, with the counts on its card, and the rejected candidates."""
    from video_contrast.builders.registry import BuiltSet
    from video_contrast.builders.writing import write_set

    clips = {row["id"]: row for row in rows}
    items: list[Row] = list(items_of(captions, clips, request.seed))
    counts = {name: count for name, count in result.items() if name not in ("estimate", "reasons")}
    facts: Facts = {
        "pretty_name": f"Negatives of {Path(source).name}",
        "summary": f"The captions of {Path(source).name}, split {request.split}, each with negatives that are "
        "probably natural and false, to train on. Video paths are those of that set.",
        "sources": [f"captions of {Path(source).name}"],
        "seed": request.seed,
        "options": {"negatives": request.negatives, "generator": request.generator, "model": request.generator_model},
        "configs": {CONFIG: {"negatives": "edits of a phrase of the caption", "counts": counts | result["reasons"]}},
    }
    write_set(BuiltSet(BUILDER, {CONFIG: {request.split: items}}, facts), request.output)
    lines = [json.dumps(entry, ensure_ascii=False) for entry in rejected]
    write_text(request.output / "rejected.jsonl", "".join(f"{line}\n" for line in lines))
