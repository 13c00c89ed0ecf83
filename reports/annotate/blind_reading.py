"""A page on which people read pairs of captions without knowing their source: original, edited, two votes a pair.

`write_reading` shuffles pairs of any sets and writes a folder: `page.html`, which readers open from disk and which
knows no source, and `pairs.jsonl`, which says where each pair comes from and stays with the organiser.
"""

import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import read_json, write_text
from video_contrast.rows import MultipleChoiceRow, contrast_places
from video_contrast.seeds import digest, stream
from video_contrast.storage import open_set

PAGE, KEY = "page.html", "pairs.jsonl"
# What a reader votes: question -> key, name, explanation (the standard by which the shipped votes were made).
QUESTIONS: dict[str, list[tuple[str, str, str]]] = read_json(Path(__file__).with_name("questions.json"))


@dataclass(frozen=True)
class PairSource:
    """A config of a set, of which pairs are read."""

    name: str  # in the results
    folder: Path  # of the set
    config: str
    count: int | None = None  # how many of its pairs; None for all

    @classmethod
    def of(cls, text: str) -> "PairSource":
        """Reads `[NAME=]FOLDER/CONFIG[:COUNT]`.

        Raises UsageError: it has another form; the message shows one that works.

        >>> PairSource.of("ours=sets/mine/verb_mc:150")
        PairSource(name='ours', folder=PosixPath('sets/mine'), config='verb_mc', count=150)
        """
        match = re.fullmatch(r"(?:([^=/\\]+)=)?(.+)[/\\]([\w-]+?)(?::(\d+))?", text)
        if match is None or match[4] == "0":
            raise UsageError(f"{text!r} must be [NAME=]FOLDER/CONFIG[:COUNT], such as ours=sets/mine/verb_mc:150")
        name, folder, config, count = match.groups()
        name = name or f"{Path(folder).name}/{config}"
        if "+" in name or "\t" in name:
            raise UsageError(f"{name!r}: the name of a source must not hold + or tabs")
        return cls(name, Path(folder), config, int(count) if count else None)


@dataclass
class Pair:
    """An original and an edited caption, of one source or of several that made the same."""

    original: str  # what readers see
    edited: str
    clip: str  # id of the video
    sources: list[str] = field(default_factory=list)  # names of the sources

    @property
    def id(self) -> str:
        """Names the pair in votes; says nothing of its source."""
        return digest("sibling-pair", self.original, self.edited).hex()[:16]


def write_reading(
    sources: Sequence[PairSource], output: str | Path, *, split: str = "test", seed: int = 0, again: int = 0
) -> tuple[int, Counter[str]]:
    """Draws pairs of the sources, shuffles them, and writes the page and the key.

    Returns how many pairs there are, and how many of them each source has. Raises UsageError: two sources of one name,
    a source without a pair, or another reading in the folder: a key that is there already must be the same. `seed`: of
    the samples and of the order. `again`: how many of the first pairs are shown once more at the end, to measure each
    reader against themselves.
    """
    if len({source.name for source in sources}) < len(sources):
        raise UsageError("two sources have the same name: give each its own (NAME=FOLDER/CONFIG)")
    return write_pairs(_mixed(sources, split, seed), output, seed=seed, again=again)


def write_pairs(
    pairs: Sequence[Pair], output: str | Path, *, seed: int = 0, again: int = 0
) -> tuple[int, Counter[str]]:
    """Shuffles pairs, and writes the page and the key.

    `pairs`: in an order that says nothing of their sources. The rest is as of `write_reading`.
    """
    order = stream("sibling-pairs", seed).permutation(len(pairs))
    pairs = [pairs[n] for n in order]
    root = Path(output)
    lines = [
        {"number": n, "pair": pair.id, "clip": pair.clip, "source": "+".join(pair.sources)}
        | {"original": pair.original, "edited": pair.edited}
        for n, pair in enumerate(pairs, 1)
    ]
    key = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    if (root / KEY).is_file() and (root / KEY).read_text(encoding="utf-8") != key:
        raise UsageError(f"{root} holds another reading, whose votes would be lost: give another --output")
    root.mkdir(parents=True, exist_ok=True)
    write_text(root / KEY, key)
    write_text(root / PAGE, page(pairs, again=min(again, len(pairs))))
    return len(pairs), Counter(name for pair in pairs for name in pair.sources)


def page(pairs: Sequence[Pair], *, again: int = 0) -> str:
    """The page as one HTML file without network or sources; the first `again` pairs are shown once more at the end."""
    import jinja2

    name = digest("sibling-page", *(pair.id for pair in pairs)).hex()[:12]
    content = {
        "reading": name,
        "pairs": [[pair.id, pair.original, pair.edited] for pair in pairs],
        "again": again,
        "questions": QUESTIONS,
    }
    template = files("video_contrast.reports.annotate").joinpath("blind_reading.html.jinja").read_text(encoding="utf-8")
    environment = jinja2.Environment(autoescape=True)
    environment.policies["json.dumps_kwargs"] = {"ensure_ascii": False}  # `tojson` escapes what could end the script
    return environment.from_string(template).render(data=content, questions=QUESTIONS)


def _mixed(sources: Sequence[PairSource], split: str, seed: int) -> list[Pair]:
    """The pairs of all sources, equal ones once, in an order that does not depend on the sources' order."""
    pairs: dict[tuple[str, str], Pair] = {}
    for source in sources:
        rows = open_set(source.folder).choice_rows(source.config, split)
        drawn = [pair for pair in (_pair(row, seed) for row in rows) if pair is not None]
        if not drawn:
            raise UsageError(f"{source.folder} {source.config}: no item has an edited caption to read")
        if source.count is not None and source.count > len(drawn):
            raise UsageError(f"{source.name}: {source.count} pairs are asked for, the set has {len(drawn)}")
        places = stream("sibling-draw", seed, source.name).permutation(len(drawn))[: source.count]
        for place in sorted(places):
            pair = drawn[place]
            pairs.setdefault((pair.original, pair.edited), pair).sources.append(source.name)
    for pair in pairs.values():
        pair.sources = list(dict.fromkeys(pair.sources))
    return [pairs[texts] for texts in sorted(pairs)]


def _pair(row: MultipleChoiceRow, seed: int) -> Pair | None:
    """The true caption and one edited candidate; None where all others are captions of other videos."""
    true = row["candidates"][row["label"]]
    edited = [text for n in contrast_places(row["kinds"]) if (text := row["candidates"][n]) != true]
    if not edited:
        return None
    text = edited[int(stream("sibling-candidate", seed, row["id"]).integers(len(edited)))]
    return Pair(" ".join(str(true).split()), " ".join(str(text).split()), str(row["video_id"]))


def read_key(folder: str | Path) -> dict[str, dict[str, str]]:
    """The key of a reading: pair -> its number, clip and source.

    Raises UsageError: there is no reading in the folder; VideoContrastError: the key is broken.
    """
    path = Path(folder) / KEY
    if not path.is_file():
        raise UsageError(f"{folder}: no {KEY} there; give the folder that `annotate reading` wrote")
    try:
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
        return {line["pair"]: {name: str(line[name]) for name in ("number", "clip", "source")} for line in lines}
    except (ValueError, KeyError, TypeError) as error:
        raise VideoContrastError(f"{path}: not the key of a reading: {error}") from error
