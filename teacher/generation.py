"""Negatives for a training corpus: priced before they are made, made in blocks, and kept with what was rejected.

Every answer of a chat model is stored under what was asked before anything is made of it, and every block of the corpus
is stored when it is done: the same call goes on where it stopped, and asks nothing twice.
"""

import json
import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import count, islice
from math import ceil
from pathlib import Path
from typing import Any

from video_contrast.addresses import is_remote, state_of
from video_contrast.builders.assembly.sharding import world_size
from video_contrast.chat_model import Answer, AnswerStore, ChatModel, Conversation, Cost
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.options import with_options
from video_contrast.perturbations.contrast.generators.llm import SCHEMA
from video_contrast.perturbations.contrast.generators.local_chat import Chat, LocalChat
from video_contrast.rows import RetrievalRow
from video_contrast.seeds import digest
from video_contrast.storage import SetDraft, SetFolder
from video_contrast.teacher.needed_models import check_endpoint, check_generator
from video_contrast.teacher.negative_blocks import ANSWERS, BUILDER, CONFIG, COUNTS, NegativeBlocks
from video_contrast.teacher.negative_recipe import NegativeRecipe
from video_contrast.teacher.negatives import attempts_of, edits_of
from video_contrast.teacher.options import GenerateOptions
from video_contrast.version import __version__

PART = 500  # clips that are looked at together
ESTIMATED = 20_000  # clips of which the price is counted; that of more is in proportion
LETTERS_A_TOKEN = 4  # of English, about
ANSWER_TOKENS = 6  # a replacement in JSON, about


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


class _Listener:
    """Takes the place of a chat model, answers nothing, and remembers what would have been asked."""

    def __init__(self, model: str) -> None:
        self.model, self.cost = model, Cost()
        self.questions: dict[str, Conversation] = {}

    def ask(self, conversations: Sequence[Conversation]) -> list[Answer]:
        """Empty answers."""
        for messages in conversations:
            self.questions.setdefault(json.dumps(list(messages), sort_keys=True), list(messages))
        return [{"text": '{"replacements": []}', "alternatives": None} for _ in conversations]


@with_options
def generate(dataset: str | Path, *, request: GenerateOptions, say: Callable[[str], None] = print) -> dict[str, Any]:
    """Writes a set of training captions, each with its negatives, and `rejected.jsonl` beside it.

    Returns `estimate` (`Estimate`; None without a chat model), and after the run `captions`, `negatives`, `captions
    with none`, `rejected` and the `reasons` (with their numbers), of a chat model its `cost` (`chat_model.Cost`) and
    the `failures` (address -> why) of endpoints that were left out; the estimate alone where jobs of Slurm were
    submitted. `dataset`: folder of a set with captions, or its address. `say`: told what it will cost. Raises
    UsageError: options that do not go together, or several processes; VideoContrastError: a model cannot be had, the
    endpoints failed (what came is stored), or no negative is probable enough.
    """
    from video_contrast.builders.blocks.block_build import build_blocks

    if world_size() > 1:  # each would ask, and pay, for all answers
        raise UsageError("generate works without torchrun: --executor slurm or ray shares it among machines")
    recipe = request.check()
    chat = chat_of(request, recipe, ANSWERS)
    chats = partial(chat_of, request, recipe) if request.executor else (lambda _: chat)
    source = NegativeBlocks(str(dataset), request, recipe, chats)
    estimate = _estimate(source.rows(), recipe, chat=chat, request=request) if chat is not None else None
    if estimate is not None:
        say(str(estimate))
    if request.dry_run:
        try:
            _check_models(request, recipe, estimate)
        except VideoContrastError as error:  # it is for planning: models may come later
            say(f"not at hand: {error}")
        return {"estimate": estimate}
    _check_models(request, recipe, estimate)
    if not is_remote(request.output):
        SetDraft(request.output, BUILDER)  # a folder that cannot take the set is refused before the work
    settings = recipe.record() | {name: getattr(request, name) for name in ("config", "split", "limit", "structured")}
    states = (state_of(f"{dataset}/{files}") for files in (f"{request.config}/*", "*"))
    result: dict[str, Any] = {"estimate": estimate}
    key = digest(__version__, json.dumps(settings, sort_keys=True), str(dataset), *states).hex()
    if build_blocks(source, request.output, key):
        record = SetFolder.record_at(request.output)
        assert record is not None  # it was just written
        reasons = dict(record["configs"][CONFIG]["facts"]["counts"])
        result["captions"], result["negatives"], result["captions with none"], result["rejected"] = (
            reasons.pop(name) for name in COUNTS
        )
        result["reasons"] = dict(Counter(reasons).most_common())
    if chat is not None and request.executor is None:
        result["cost"] = asdict(chat.cost)
        result["failures"] = getattr(chat, "failures", {})
    return result


def chat_of(request: GenerateOptions, recipe: NegativeRecipe, answers: str) -> Chat | None:
    """The chat model: behind the endpoints, or here; None for generators without one.

    `answers`: the file below the output that keeps what it says.
    """
    if request.generator != "llm":
        return None
    from video_contrast.chat_pool import ChatPool

    model, store = str(request.generator_model), AnswerStore(Path(request.output) / answers)
    if not request.endpoint:
        return _Listener(model) if request.dry_run else LocalChat(model, store=store)
    parameters: dict[str, object] = {"max_tokens": 40 + 10 * recipe.actions, "temperature": 0.0, "seed": 0}
    if request.structured:
        parameters["response_format"] = {"type": "json_schema", "json_schema": {"name": "answer", "schema": SCHEMA}}
    key = os.environ.get("OPENAI_API_KEY") or os.environ.get("HF_TOKEN") or None
    endpoints = [
        ChatModel(model, address, api_key=key, concurrency=request.concurrency, parameters=parameters)
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
    rows: Iterator[RetrievalRow], recipe: NegativeRecipe, *, chat: Chat, request: GenerateOptions
) -> Estimate:
    """What is asked of the first `ESTIMATED` clips, and in proportion of all."""
    listener = _Listener(chat.model)
    source = recipe.source("verb", {})  # which questions are asked does not depend on counts
    source.chat = listener
    captions = looked_at = 0
    for clips in count(0, PART):
        if not (part := list(islice(rows, PART))):
            break
        captions += sum(len(row["captions"]) for row in part)
        if clips < ESTIMATED:
            edits_of(source, attempts_of(part), recipe.actions)
            looked_at = captions
    key_of, store = getattr(chat, "key", None), getattr(chat, "store", None)
    open_ = [
        messages
        for messages in listener.questions.values()
        if key_of is None or store is None or store.get(key_of(messages)) is None
    ]
    share = captions / max(looked_at, 1)
    questions, unanswered = round(len(listener.questions) * share), round(len(open_) * share)
    letters = share * sum(len(str(message["content"])) for messages in open_ for message in messages)
    tokens_in, tokens_out = int(letters) // LETTERS_A_TOKEN, unanswered * ANSWER_TOKENS * (recipe.actions + 1)
    price = None
    if request.price_in is not None and request.price_out is not None:
        price = (tokens_in * request.price_in + tokens_out * request.price_out) / 1e6
    return Estimate(captions, questions, questions - unanswered, tokens_in, tokens_out=tokens_out, price=price)
