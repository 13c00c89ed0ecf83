"""The negatives of a training corpus, some clips at a time."""

import json
import pickle
import shutil
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, cast

from video_contrast.addresses import is_remote, open_binary, write_bytes
from video_contrast.builders.assembly.kind_contrasts import KindContrasts
from video_contrast.builders.assembly.sharding import spread
from video_contrast.builders.assembly.word_contrasts import Chosen, WordEdits
from video_contrast.builders.registry import BlockSource, BuiltSet, CorpusBlock, Cut
from video_contrast.builders.sources.caption_table import read_table
from video_contrast.console import bar, counted
from video_contrast.errors import VideoContrastError
from video_contrast.files import atomic_path
from video_contrast.perturbations.contrast.caption_counts import CaptionCounts, shipped_counts
from video_contrast.perturbations.contrast.generate import IMPROBABLE, own_counts
from video_contrast.perturbations.contrast.generators.local_chat import Chat
from video_contrast.perturbations.contrast.proposal import Kind, RejectedEdit
from video_contrast.perturbations.english.caption_store import parse_cache, user_store
from video_contrast.rows import RetrievalRow, Row, retrieval_row
from video_contrast.storage import SetFolder
from video_contrast.storage.set_records import Facts
from video_contrast.storage.table_file import parquet_rows
from video_contrast.teacher.caption_rows import GeneratedCaption, items_of
from video_contrast.teacher.negative_recipe import NegativeRecipe
from video_contrast.teacher.negatives import attempts_of, edits_of, why_none
from video_contrast.teacher.options import GenerateOptions

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
    _sources: list[tuple[WordEdits | KindContrasts, int]] | None = None  # what makes negatives, how many of a caption

    @property
    def seed(self) -> int:
        """Of every draw."""
        return self.cluster.seed

    def rows(self) -> Iterator[RetrievalRow]:
        """The clips as they are read. Raises UsageError: no such table; VideoContrastError: a file is damaged."""
        return islice(_rows(self.dataset, self.cluster.config, self.cluster.split), self.cluster.limit)

    def cut(self, folder: str) -> Cut:
        """Copies the clips in blocks, and counts the words of the first ones."""
        corpus: dict[str, list[str]] = {}
        captions = blocks = 0
        rows = iter(bar(self.rows(), desc="reading", unit="clip"))
        while part := list(islice(rows, CLIPS)):
            lines = "".join(json.dumps(_plain(row), ensure_ascii=False) + "\n" for row in part)
            write_bytes(_part(folder, "clips", blocks), lines.encode("utf-8", "surrogatepass"))
            blocks += 1
            for row in part:
                if captions < COUNTED:
                    corpus.setdefault(row["video_id"], []).extend(row["captions"])
                    captions += len(row["captions"])
        if not blocks:
            raise VideoContrastError(f"{self.dataset}: {self.cluster.config}, {self.cluster.split}: no rows")
        processes = self.cluster.workers or 1 if self.cluster.executor == "local" else 1
        counts = spread(_counts, list(corpus.items()), num_proc=processes, chunk=_COUNTED_AT_ONCE)
        write_bytes(f"{folder}/{_WORDS}", zlib.compress(pickle.dumps(sum(counts, CaptionCounts())), 1))
        return Cut([CorpusBlock(self.cluster.split, number, blocks) for number in range(blocks)], self._facts())

    def prepare(self, folder: str) -> None:
        """Loads parser, lexicon, judge and counts; no model, since those on a GPU do not outlive a fork."""
        if self.recipe.generator == "lexicon":
            self._made([retrieval_row(id="", video_id="", video_path="", captions=["a man sits down"])], folder, 0)

    def build(self, folder: str, number: int, block: CorpusBlock, chosen: Mapping[Kind, Chosen]) -> BuiltSet:
        """The items of a block; what was rejected is kept for `finish`."""
        with open_binary(_part(folder, "clips", number)) as handle:
            rows: list[RetrievalRow] = [json.loads(line) for line in handle]
        captions, rejected = self._made(rows, folder, number)
        lines = "".join(json.dumps(entry, ensure_ascii=False) + "\n" for entry in rejected)
        write_bytes(_part(folder, "rejected", number), lines.encode("utf-8", "surrogatepass"))
        items: list[Row] = list(items_of(captions, {row["id"]: row for row in rows}, self.seed))
        reasons = Counter(entry["reason"] for entry in rejected)
        numbers = (len(captions), sum(len(c["edits"]) for c in captions), len(captions) - len(items), len(rejected))
        counts = dict(zip(COUNTS, numbers, strict=True)) | reasons
        facts: Facts = {"configs": {CONFIG: {"negatives": "edits of a phrase of the caption", "counts": counts}}}
        if items:
            return BuiltSet(BUILDER, {CONFIG: {block.split: items}}, facts)
        why = why_none([caption["caption"] for caption in captions], reasons, self.recipe.generator)
        none = f"{self.dataset}: no negative passed for any of {counted(len(captions), 'caption')}: {why}"
        return BuiltSet(BUILDER, {}, facts | {"left_out": {CONFIG: none}})

    def finish(self, folder: str, blocks: int, output: Path) -> None:
        """Writes what was rejected into one file."""
        with atomic_path(output / "rejected.jsonl") as temporary, open(temporary, "wb") as whole:
            for number in range(blocks):
                with open_binary(_part(folder, "rejected", number)) as part:
                    shutil.copyfileobj(part, whole)

    def _facts(self) -> Facts:
        name, options = Path(self.dataset).name, self.cluster
        return {
            "pretty_name": f"Negatives of {name}",
            "summary": f"The captions of {name}, split {options.split}, each with negatives that are probably natural "
            "and false, to train on. Video paths are those of that set.",
            "sources": [f"captions of {name}"],
            "seed": self.seed,
            "options": {
                "negatives": options.negatives, "generator": options.generator, "model": options.generator_model,
            },
        }  # fmt: skip

    def _made(
        self, rows: Sequence[RetrievalRow], folder: str, number: int
    ) -> tuple[list[GeneratedCaption], list[dict[str, Any]]]:
        """The edits of some clips' captions, and lines of `rejected.jsonl` (caption, text, reason, probability)."""
        attempts = attempts_of(rows)
        captions: list[GeneratedCaption] = [
            {"id": attempt.clip.id, "number": attempt.index, "caption": attempt.caption, "edits": [], "kinds": []}
            for attempt in attempts
        ]
        rejected: dict[str, dict[str, Any]] = {}
        with parse_cache():
            for source, count in self._sources_of(folder, number):
                for caption, edits in zip(captions, edits_of(source, attempts, count), strict=True):
                    caption["edits"] += [{**edit.row(), "text": edit.text} for edit in edits]
                    caption["kinds"] += [source.kind] * len(edits)
                if isinstance(source, WordEdits):
                    reasons = [RejectedEdit(text, why, _rule(why)) for text, why in source.explained.items()]
                    for entry in (*source.rejected, *reasons):
                        rejected.setdefault(json.dumps(entry), entry._asdict())
        return captions, list(rejected.values())

    def _sources_of(self, folder: str, number: int) -> list[tuple[WordEdits | KindContrasts, int]]:
        """What makes negatives; models are loaded once, chat models have a file of answers a block on a cluster."""
        shared = self.cluster.executor is None or self.recipe.generator != "llm"
        if self._sources is None or not shared:
            chat = self.chat_of(ANSWERS if shared else f"answers/{number:05d}.jsonl")
            with open_binary(f"{folder}/{_WORDS}") as handle:
                own = pickle.loads(zlib.decompress(handle.read()))  # written by `cut`, in the user's own folder
            counts = shipped_counts() + own
            self._sources = [(source, count) for source, _, count in self.recipe.sources({})]
            for source, _ in self._sources:
                if isinstance(source, WordEdits):
                    source.chat, source.counts = chat, counts
        return self._sources


def _rows(dataset: str, config: str, split: str) -> Iterator[RetrievalRow]:
    if is_remote(dataset):
        yield from (cast(RetrievalRow, row.cells) for row in read_table(f"{dataset}/{config}/{split}-*.parquet"))
        return
    folder = SetFolder.open(dataset)
    files = folder.files(config, split) if folder.is_built and config in folder.configs else []
    if not files or folder.layout(config) != "retrieval":
        yield from folder.retrieval_rows(config, split)  # of another library's layout, or says what is wrong
        return
    for file in files:
        yield from cast(Iterator[RetrievalRow], parquet_rows(file))


def _plain(row: RetrievalRow) -> dict[str, object]:
    """The row without columns that only a pushed set has."""
    return {name: row[name] for name in RetrievalRow.__annotations__ if name in row}  # type: ignore[literal-required]


def _part(folder: str, name: str, number: int) -> str:
    return f"{folder}/{name}/{number:05d}.jsonl"


def _counts(videos: Sequence[tuple[str, Sequence[str]]]) -> CaptionCounts:
    return own_counts(dict(videos), cache=user_store())


def _rule(why: str) -> str:
    """What is said of a caption without a contrast, as one reason to count by.

    >>> _rule("not seen with this noun (2); no verb (1)")
    'not seen with this noun'
    >>> _rule("the best contrast ('rises' -> 'falls') has the probability 0.31, less than 0.55")
    'not probable enough'
    """
    first = why.partition(" (")[0]
    return IMPROBABLE if first == "the best contrast" else first
