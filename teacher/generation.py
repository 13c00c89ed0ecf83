"""Negatives for a training corpus: priced before they are made, made in blocks, and kept with what was rejected.

Every answer of a chat model is stored under what was asked before anything is made of it, and every block of the corpus
is stored when it is done: the same call goes on where it stopped, and asks nothing twice.
"""

import json
import os
import pickle
import shutil
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from itertools import count, islice
from math import ceil
from pathlib import Path
from typing import Any, ClassVar, cast

from video_contrast.addresses import is_remote, open_binary, state_of, write_bytes
from video_contrast.builders.assembly.captioned_clip import Attempt
from video_contrast.builders.assembly.word_contrasts import Choices, KindContrasts, WordEdits
from video_contrast.builders.blocks.block_build import build_blocks
from video_contrast.builders.registry import BlockSource, BuiltSet, CorpusBlock, Cut
from video_contrast.builders.sources.caption_table import read_files, table_files
from video_contrast.chat_model import Answer, AnswerStore, ChatModel, ChatPool, Conversation, Cost
from video_contrast.console import bar, counted
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import atomic_path
from video_contrast.launcher import spread, world_size
from video_contrast.options import with_options
from video_contrast.perturbations.contrast import Edit
from video_contrast.perturbations.contrast.caption_counts import CaptionCounts, shipped_counts
from video_contrast.perturbations.contrast.generate import IMPROBABLE, own_counts
from video_contrast.perturbations.contrast.generators.llm import SCHEMA, Chat, LocalChat
from video_contrast.perturbations.contrast.proposal import RejectedEdit, Target
from video_contrast.perturbations.english.parse import parse_cache
from video_contrast.rows import EditRecord, MultipleChoiceRow, RetrievalRow, Row, multiple_choice_row, retrieval_row
from video_contrast.seeds import digest, stream
from video_contrast.storage import SetDraft, SetFolder
from video_contrast.storage.set_folder import Facts, check_whole
from video_contrast.teacher.negative_recipe import NegativeRecipe, check_endpoint, check_generator
from video_contrast.teacher.negatives import attempts_of, edits_of, why_none
from video_contrast.teacher.options import GenerateOptions
from video_contrast.version import __version__

PART = 500  # clips that are looked at together
ESTIMATED = 20_000  # clips of which the price is counted; that of more is in proportion
LETTERS_A_TOKEN = 4  # of English, about
ANSWER_TOKENS = 6  # a replacement in JSON, about


@dataclass(frozen=True)
class Estimate:
    """The requests that a run would send to a chat model."""

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
    if world_size() > 1:  # each would ask, and pay, for all answers
        raise UsageError("generate works without torchrun: --executor slurm or ray shares it among machines")
    recipe = request.check()
    chat = chat_of(request, recipe, ANSWERS)
    chats = partial(chat_of, request, recipe) if request.executor else (lambda _: chat)
    source = NegativeBlocks(str(dataset), request, recipe, chats)
    faults: list[VideoContrastError] = []  # said by the dry run; else of those that `cut` finds
    estimate = _priced(source.rows(faults), recipe, chat=chat, request=request) if chat is not None else None
    if estimate is not None:
        say("\n".join([*map(str, faults), str(estimate)]))
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
        result |= {name: reasons.pop(name) for name in COUNTS}
        result["reasons"] = dict(Counter(reasons).most_common())
    if chat is not None and request.executor is None:
        result["cost"] = asdict(chat.cost)
        result["failures"] = getattr(chat, "failures", {})
    return result


def chat_of(request: GenerateOptions, recipe: NegativeRecipe, answers: str) -> Chat | None:
    """The chat model, behind endpoints or here, whose answers go into a file below the output; None without one."""
    if request.generator != "llm":
        return None
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


def _priced(rows: Iterator[RetrievalRow], recipe: NegativeRecipe, *, chat: Chat, request: GenerateOptions) -> Estimate:
    """The estimate from the requests for the first `ESTIMATED` clips, in proportion of all."""
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
    asked_questions = listener.questions.values()
    open_ = [turns for turns in asked_questions if key_of is None or store is None or store.get(key_of(turns)) is None]
    share = captions / max(looked_at, 1)
    questions, n_unanswered = round(len(listener.questions) * share), round(len(open_) * share)
    letters = share * sum(len(str(message["content"])) for messages in open_ for message in messages)
    tokens_in, tokens_out = int(letters) // LETTERS_A_TOKEN, n_unanswered * ANSWER_TOKENS * (recipe.actions + 1)
    price = None
    if request.price_in is not None and request.price_out is not None:
        price = (tokens_in * request.price_in + tokens_out * request.price_out) / 1e6
    return Estimate(captions, questions, questions - n_unanswered, tokens_in, tokens_out=tokens_out, price=price)


BUILDER = "generated"
CONFIG = "negatives_mc"
CLIPS = 2000  # of a block
COUNTED = 100_000  # captions, the first ones, whose words are counted
ANSWERS = "answers.jsonl"  # of a chat model; a file a block where several processes ask
COUNTS = ("captions", "negatives", "captions with none", "rejected")  # of a set, beside those by reason
_COUNTED_AT_ONCE = 5000  # videos
_WORDS = "counts"  # below the work: those of the corpus


@dataclass
class NegativeBlocks(BlockSource):
    """Every caption of a set with its negatives."""

    dataset: str  # folder or address of the set
    cluster: GenerateOptions
    recipe: NegativeRecipe
    chat_of: Callable[[str], Chat | None]  # file of answers below the output -> the chat model, where it is one
    builder: ClassVar[str] = BUILDER
    configs: Sequence[str] = (CONFIG,)
    _sources: Sequence[tuple[WordEdits | KindContrasts, int]] = ()  # makers of negatives, and how many a caption gets

    def rows(self, faults: list[VideoContrastError]) -> Iterator[RetrievalRow]:
        """The clips as they are read. `faults`: as of `read_files`. Raises UsageError: no such table."""
        return islice(_rows(self.dataset, self.cluster.config, self.cluster.split, faults), self.cluster.limit)

    def cut(self, folder: str) -> Cut:
        """Copies the clips in blocks, and counts the words of the first ones."""
        corpus: dict[str, list[str]] = {}
        faults: list[VideoContrastError] = []
        captions = blocks = 0
        rows = iter(bar(self.rows(faults), desc="reading", unit="clip"))
        while part := list(islice(rows, CLIPS)):
            columns = RetrievalRow.__annotations__  # a pushed set has a column more
            plain = ({name: value for name, value in row.items() if name in columns} for row in part)
            lines = "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in plain)
            write_bytes(_part(folder, "clips", blocks), lines.encode("utf-8", "surrogatepass"))
            blocks += 1
            for row in part:
                if captions < COUNTED:
                    corpus.setdefault(row["video_id"], []).extend(row["captions"])
                    captions += len(row["captions"])
        if not blocks:
            none = f"{self.dataset}: {self.cluster.config}, {self.cluster.split}: no rows"
            raise VideoContrastError("\n".join(map(str, faults)) or none)
        processes = self.cluster.workers or 1 if self.cluster.executor == "local" else 1
        counts = spread(_counts, list(corpus.items()), num_proc=processes, chunk=_COUNTED_AT_ONCE)
        write_bytes(f"{folder}/{_WORDS}", zlib.compress(pickle.dumps(sum(counts, CaptionCounts())), 1))
        name, options = Path(self.dataset).name, self.cluster
        facts: Facts = {
            "pretty_name": f"Negatives of {name}",
            "summary": f"The captions of {name}, split {options.split}, each with negatives that are probably natural "
            "and false, to train on. Video paths are those of that set.",
            "sources": [f"captions of {name}"],
            "seed": options.seed,
            "options": {
                "negatives": options.negatives, "generator": options.generator, "model": options.generator_model,
            },
        }  # fmt: skip
        return Cut([CorpusBlock(options.split, number, blocks) for number in range(blocks)], facts, faults)

    def prepare(self, folder: str) -> None:
        """Loads parser, lexicon, judge and counts; no model, since those on a GPU do not outlive a fork."""
        if self.recipe.generator == "lexicon":
            row = retrieval_row(id="", video_id="", video_path="", captions=["a man sits down"])
            self._negatives(attempts_of([row]), folder, 0)

    def build(self, folder: str, number: int, block: CorpusBlock, choices: Mapping[Target, Choices]) -> BuiltSet:
        """The items of a block; what was rejected is kept for `finish`."""
        with open_binary(_part(folder, "clips", number)) as handle:
            rows: list[RetrievalRow] = [json.loads(line) for line in handle]
        attempts = attempts_of(rows)
        negatives, rejected_edits = self._negatives(attempts, folder, number)
        lines = "".join(json.dumps(edit._asdict(), ensure_ascii=False) + "\n" for edit in rejected_edits)
        write_bytes(_part(folder, "rejected", number), lines.encode("utf-8", "surrogatepass"))
        clips = {row["id"]: row for row in rows}
        items: list[Row] = []
        for attempt, edits in zip(attempts, negatives, strict=True):
            if edits:
                items.append(self._item(attempt, edits, clips[attempt.clip.id]))
        reasons = Counter(edit.reason for edit in rejected_edits)
        numbers = (len(attempts), sum(map(len, negatives)), len(attempts) - len(items), len(rejected_edits))
        counts = dict(zip(COUNTS, numbers, strict=True)) | reasons
        facts: Facts = {"configs": {CONFIG: {"negatives": "edits of a phrase of the caption", "counts": counts}}}
        if items:
            return BuiltSet(BUILDER, {CONFIG: {block.split: items}}, facts)
        why = why_none([attempt.caption for attempt in attempts], reasons, self.recipe.generator)
        none = f"{self.dataset}: no negative passed for any of {counted(len(attempts), 'caption')}: {why}"
        return BuiltSet(BUILDER, {}, facts | {"left_out": {CONFIG: none}})

    def finish(self, folder: str, blocks: int, output: Path) -> None:
        """Writes what was rejected into one file."""
        with atomic_path(output / "rejected.jsonl") as temporary, open(temporary, "wb") as whole:
            for number in range(blocks):
                with open_binary(_part(folder, "rejected", number)) as part:
                    shutil.copyfileobj(part, whole)

    def _item(self, attempt: Attempt, negatives: Sequence[tuple[Edit, str]], row: RetrievalRow) -> MultipleChoiceRow:
        """The row of a caption, at a seeded place among its negatives, each with its kind."""
        id = f"{attempt.clip.id}-{attempt.index}"
        label = int(stream("generated", self.cluster.seed, id).integers(len(negatives) + 1))
        options: list[tuple[str, str, EditRecord | None]] = [(edit.text, kind, edit.row()) for edit, kind in negatives]
        options.insert(label, (attempt.caption, "true", None))
        texts, kinds, edits = map(list, zip(*options, strict=True))
        cluster = str(json.loads(row["meta"] or "{}").get("cluster", row["video_id"]))
        return multiple_choice_row(
            id=id, candidates=texts, label=label, kinds=kinds, edits=edits, cluster=cluster,
            video_id=row["video_id"], video_path=row["video_path"], start=row["start"], end=row["end"],
        )  # fmt: skip

    def _negatives(
        self, attempts: Sequence[Attempt], folder: str, number: int
    ) -> tuple[list[list[tuple[Edit, str]]], list[RejectedEdit]]:
        """The edits of each caption with their kinds, and what was rejected."""
        # Models are loaded once; on a cluster a chat model has a file of answers a block.
        is_shared = self.cluster.executor is None or self.recipe.generator != "llm"
        if not self._sources or not is_shared:
            chat = self.chat_of(ANSWERS if is_shared else f"answers/{number:05d}.jsonl")
            with open_binary(f"{folder}/{_WORDS}") as handle:
                own = pickle.loads(zlib.decompress(handle.read()))  # written by `cut`, in the user's own folder
            self._sources = [(source, count) for source, _, count in self.recipe.sources({})]
            for source, _ in self._sources:
                if isinstance(source, WordEdits):
                    source.chat, source.counts = chat, shipped_counts() + own
        negatives: list[list[tuple[Edit, str]]] = [[] for _ in attempts]
        rejected_edits: dict[RejectedEdit, None] = {}
        with parse_cache():
            for source, count in self._sources:
                for of_caption, edits in zip(negatives, edits_of(source, attempts, count), strict=True):
                    of_caption += [(edit, source.kind) for edit in edits]
                if isinstance(source, WordEdits):
                    reasons = [RejectedEdit(text, why, _rule(why)) for text, why in source.reason_of.items()]
                    rejected_edits |= dict.fromkeys((*source.rejected_edits, *reasons))
        return negatives, list(rejected_edits)


def _rows(dataset: str, config: str, split: str, faults: list[VideoContrastError]) -> Iterator[RetrievalRow]:
    files: list[str] = []
    if is_remote(dataset):
        pattern = f"{dataset}/{config}/{split}-*.parquet"
        if not (files := table_files(pattern)):
            raise UsageError(f"no such file: {pattern}")
    else:
        folder = SetFolder.open(dataset)
        if folder.is_built and config in folder.configs and folder.layout(config) == "retrieval":
            files = list(map(str, folder.files(config, split)))
        if not files:
            yield from folder.retrieval_rows(config, split)  # of another library's layout, or says what is wrong
            return
    rows = 0
    for row in read_files(files, faults=faults):
        rows += 1
        yield cast(RetrievalRow, row.cells)
    record = SetFolder.record_at(dataset)
    try:
        if record is not None and not faults:
            check_whole(record, config, split, files, rows)
    except VideoContrastError as error:
        faults.append(error)


def _part(folder: str, name: str, number: int) -> str:
    return f"{folder}/{name}/{number:05d}.jsonl"


@parse_cache()
def _counts(videos: Sequence[tuple[str, Sequence[str]]]) -> CaptionCounts:
    return own_counts(dict(videos))


def _rule(why: str) -> str:
    """The reason for a caption without a contrast, as one reason to count by.

    >>> _rule("not seen with this noun (2); no verb (1)")
    'not seen with this noun'
    >>> _rule("the best contrast ('rises' -> 'falls') has the probability 0.31, less than 0.55")
    'not probable enough'
    """
    first = why.partition(" (")[0]
    return IMPROBABLE if first == "the best contrast" else first
