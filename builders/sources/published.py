"""What builders of published sets share: what is said of a release, names of videos, checked fields, and rows.

A builder reads the released files as they are. Rows that make no item (an empty caption, options that repeat) are
counted by reason; what cannot be right (a key outside the options, an id that repeats) is refused with file and row.
"""

import re
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

from video_contrast.builders.assembly.captioned_clip import CaptionedClip, normal
from video_contrast.builders.assembly.difference import difference
from video_contrast.builders.assembly.multiple_choice import contrasts_only_row
from video_contrast.builders.registry import BuiltSet
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import is_safe_relative, read_json
from video_contrast.rows import MultipleChoiceRow, RetrievalRow, Row, multiple_choice_row, retrieval_row
from video_contrast.seeds import stream

KIND = "contrast"


@dataclass(frozen=True)
class Release:
    """What a card says of a published set.

    Attributes:
        builder: its name.
        title, summary: for the card.
        licence, licence_id: in words, and as the Hub calls it ("" for another one).
        citation: of its paper.
        fetch: the command that fetches the annotations, from the set's own place.
        videos: where the videos come from, with the command of their owner.
        paper: config -> how many items the paper, or the release itself, speaks of.
    """

    builder: str
    title: str
    summary: str
    licence: str
    licence_id: str
    citation: str
    fetch: str
    videos: str
    paper: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class PublishedOptions:
    """Options of every builder of a published set."""

    videos_zip: Annotated[Path | None, "zip of the videos: rows then name its members"] = None
    seed: Annotated[int, "of the places of the candidates, where the release gives none"] = 0


@dataclass(frozen=True)
class VideoName:
    """Where the video of an item lies.

    Attributes:
        path: relative to the video root.
        start, end: seconds, or None.
        source: the source video, for intervals; the path without suffix by default.
    """

    path: str
    start: float | None = None
    end: float | None = None
    source: str = ""

    @property
    def id(self) -> str:
        """The path without its suffix."""
        head, dot, tail = self.path.rpartition(".")
        return head if dot and "/" not in tail else self.path

    @property
    def cluster(self) -> str:
        """The source video."""
        return self.source or self.id


class Archive:
    """The members of a zip of videos.

    Raises:
        UsageError: no such file, or no zip.
        VideoContrastError: a member's path leads out of the folder into which the zip is unpacked.
    """

    def __init__(self, path: Path) -> None:
        if not zipfile.is_zipfile(path):
            raise UsageError(f"--videos-zip {path}: no such file, or no zip")
        with zipfile.ZipFile(path) as archive:
            self.members = [name for name in archive.namelist() if not name.endswith("/")]
        for number, name in enumerate(self.members):
            if not is_safe_relative(name):
                raise VideoContrastError(
                    f"{path.name}, member {number}: {name!r} leads out of the folder into which it is unpacked"
                )
        self._by_end: dict[str, str | None] = {}
        for name in self.members:
            parts = name.split("/")
            for n in range(len(parts)):
                end = "/".join(parts[n:])
                self._by_end[end] = None if end in self._by_end else name

    def member(self, path: str) -> str | None:
        """The one member that is called so, or whose path ends so; the file's name alone will do."""
        return self._by_end.get(path) or self._by_end.get(path.rsplit("/", 1)[-1])


@dataclass
class Items:
    """The rows of one config as they are read, and counts by reason.

    Attributes:
        options: of the build.
        rows: of items, in the release's order.
        gallery: the rows of a retrieval config.
        counts: "rows" of the release, "built" items, and rows that were left out by reason.
    """

    options: PublishedOptions
    rows: list[MultipleChoiceRow] = field(default_factory=list)
    gallery: list[RetrievalRow] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=lambda: Counter({"rows": 0, "built": 0}))
    _places: dict[str, str] = field(default_factory=dict)
    _archive: Archive | None = None

    def __post_init__(self) -> None:
        """Opens the zip, if there is one."""
        if self.options.videos_zip is not None:
            self._archive = Archive(self.options.videos_zip)

    def captions(
        self,
        place: str,
        id: str,
        video: VideoName,
        *,
        true: str,
        negatives: Sequence[str],
        kind: str = KIND,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        """Adds the item of a true caption among false ones, at seeded places.

        Raises:
            VideoContrastError: the id repeats; names the place.
        """
        self._begin(place, id)
        true, negatives = " ".join(true.split()), [" ".join(text.split()) for text in negatives]
        if not true or not all(negatives) or not negatives:
            self.counts["empty_captions"] += 1
        elif normal(true) in map(normal, negatives):
            self.counts["negative_equals_truth"] += 1
        else:
            different = list(dict.fromkeys(negatives))
            self.counts["repeated_negatives"] += len(negatives) - len(different)
            video = self._placed(video)
            clip = CaptionedClip(
                id=id,
                video_id=video.id,
                video_path=video.path,
                captions=(),
                cluster=video.cluster,
                start=video.start,
                end=video.end,
                meta=meta or {},
            )
            edits = [difference(true, text, "released") for text in different]
            self._end(contrasts_only_row(clip, true, edits, as_kind(kind, place), seed=self.options.seed))

    def answers(
        self,
        place: str,
        id: str,
        video: VideoName,
        *,
        question: str,
        options: Sequence[str],
        key: int,
        kind: str = "answer",
        prompt: str | None = None,
        option: str | None = None,
        group: str | None = None,
        cluster: str | None = None,
        meta: Mapping[str, Any] | None = None,
    ) -> None:
        """Adds the item of a question with its options in the released order.

        Args:
            place: of the row, for messages.
            id: of the item.
            video: that it is about.
            question: what is asked; "" where the options are captions.
            options: the candidates.
            key: the number of the right one.
            kind: of the wrong ones.
            prompt, option: how the release asks it (`Question`); None: as this package does.
            group: of pairs.
            cluster: of pairs: their source.
            meta: further facts.

        Raises:
            VideoContrastError: the key is outside the options, or the id repeats; names the place.
        """
        self._begin(place, id)
        if not 0 <= key < len(options):
            raise VideoContrastError(f"{place}: the key {key} is outside the {len(options)} options")
        plain, texts = [text.strip() for text in options], list(options)  # prompts hold them with their blanks
        if not all(plain) or len(texts) < 2:
            self.counts["empty_options"] += 1
        elif len(set(plain)) < len(texts):
            self.counts["repeated_options"] += 1
        else:
            video, kind = self._placed(video), as_kind(kind, place)
            asked = {name: value for name, value in (("prompt", prompt), ("option", option)) if value and question}
            self._end(
                multiple_choice_row(
                    id=id,
                    video_id=video.id,
                    video_path=video.path,
                    start=video.start,
                    end=video.end,
                    candidates=texts,
                    label=key,
                    kinds=["true" if n == key else kind for n in range(len(texts))],
                    cluster=cluster or video.cluster,
                    meta={**(meta or {}), **asked},
                    group=group,
                    question=question or None,
                )
            )

    def retrieval(self, place: str, id: str, video: VideoName, captions: Sequence[str]) -> None:
        """Adds a clip with its captions.

        Raises:
            VideoContrastError: the id repeats; names the place.
        """
        self._begin(place, id)
        texts = [" ".join(text.split()) for text in captions if text.strip()]
        if not texts:
            self.counts["empty_captions"] += 1
            return
        video = self._placed(video)
        self.gallery.append(
            retrieval_row(
                id=id, video_id=video.id, video_path=video.path, captions=texts, start=video.start, end=video.end
            )
        )
        self.counts["built"] += 1

    def drop_broken_groups(self) -> None:
        """Leaves out the groups of which a row made no item, and counts their rows."""
        sizes = Counter(row.get("group") for row in self.rows)
        whole = [row for row in self.rows if sizes[row.get("group")] == len(row["candidates"])]
        self.counts["rows_of_broken_groups"] += len(self.rows) - len(whole)
        self.rows, self.counts["built"] = whole, len(whole)

    def _begin(self, place: str, id: str) -> None:
        self.counts["rows"] += 1
        if id in self._places:
            raise VideoContrastError(f"{place}: the id {id!r} repeats; it stands at {self._places[id]} already")
        self._places[id] = place

    def _end(self, row: MultipleChoiceRow) -> None:
        self.rows.append(row)
        self.counts["built"] += 1

    def _placed(self, video: VideoName) -> VideoName:
        if self._archive is None:
            return video
        member = self._archive.member(video.path)
        if member is None:
            self.counts["not_in_zip"] += 1
            return video
        return VideoName(member, video.start, video.end, video.cluster)


def built_set(release: Release, tables: Mapping[str, Mapping[str, Items]], options: PublishedOptions) -> BuiltSet:
    """Returns the set with its card's facts: licence, citation, what to fetch, counts beside those of the paper.

    Args:
        release: what is said of it.
        tables: config -> split -> items; a config without items is left out, and said so.
        options: of the build.

    Raises:
        VideoContrastError: no config has an item.
    """
    facts: dict[str, Any] = {
        "pretty_name": release.title,
        "summary": release.summary,
        "sources": [f"fetched by its user: {release.fetch}"],
        "licence": release.licence,
        "licence_id": release.licence_id or None,
        "citations": [release.citation],
        "videos": release.videos,
        "seed": options.seed,
        "configs": {},
    }
    built = BuiltSet(release.builder, {}, facts)
    for config, splits in tables.items():
        counts = {split: dict(sorted(items.counts.items())) for split, items in splits.items()}
        full: dict[str, list[Row]] = {
            split: [*items.rows, *items.gallery] for split, items in splits.items() if items.rows or items.gallery
        }
        if not full:
            facts.setdefault("left_out", {})[config] = f"no item could be built: {counts}"
            continue
        built.tables[config] = full
        total = sum(map(len, full.values()))
        entry: dict[str, Any] = {
            "negatives": "as released",
            "splits": {split: {"items": n["built"], "counts": n} for split, n in counts.items()},
        }
        if config in release.paper:
            entry["paper"] = {"items": release.paper[config], "built": total}
            if total != release.paper[config]:
                facts.setdefault("warnings", []).append(
                    f"{config}: the paper has {release.paper[config]} items, this build {total}"
                )
        facts["configs"][config] = entry
    if not built.tables:
        raise VideoContrastError(f"{release.builder}: no item could be built: {facts['left_out']}")
    return built


def read_entries(path: Path, release: Release) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yields (place, key, object) of a JSON file: of an object of objects by their keys, of a list by numbers.

    Raises:
        UsageError: no such file; the message says how to fetch it.
        VideoContrastError: not JSON, or entries that are no objects; names file and entry.
    """
    content = read_json(present(path, release))
    if not isinstance(content, dict | list):
        raise VideoContrastError(f"{path.name}: must hold a JSON object or list")
    pairs: Iterable[tuple[Any, Any]] = content.items() if isinstance(content, dict) else enumerate(content)
    for key, entry in pairs:
        place = f"{path.name}, {'key' if isinstance(content, dict) else 'row'} {key!r}"
        if not isinstance(entry, dict):
            raise VideoContrastError(f"{place}: must be an object, not {type(entry).__name__}")
        yield place, str(key), entry


def present(path: Path, release: Release) -> Path:
    """Returns the path of a file or folder of a release.

    Raises:
        UsageError: there is none; the message says how to fetch it.
    """
    if not path.exists():
        raise UsageError(f"{path}: no such file; fetch {release.title} by `{release.fetch}`")
    return path


def text_of(row: Mapping[str, Any], name: str, place: str) -> str:
    """The text of a field.

    Raises:
        VideoContrastError: there is no such field, or no text or number in it; names the place.
    """
    if name not in row:
        raise VideoContrastError(f"{place}: no field {name!r}; it has {', '.join(map(str, row))}")
    value = row[name]
    if not isinstance(value, str | int) or isinstance(value, bool):
        raise VideoContrastError(f"{place}: {name!r} must be a text, not {value!r}")
    return str(value)


def texts_of(row: Mapping[str, Any], name: str, place: str) -> list[str]:
    """The texts of a field that holds a list.

    Raises:
        VideoContrastError: there is no such field, or no list in it; names the place.
    """
    value = row.get(name)
    if not isinstance(value, list | tuple):
        raise VideoContrastError(f"{place}: {name!r} must be a list of texts, not {value!r}")
    return [str(text) for text in value]


def number_of(row: Mapping[str, Any], name: str, place: str) -> float | None:
    """The number of a field; None where there is none.

    Raises:
        VideoContrastError: another thing than a number stands there; names the place.
    """
    value = row.get(name)
    if value is None or value == "":
        return None
    try:
        return float(value)
    except (TypeError, ValueError):
        raise VideoContrastError(f"{place}: {name!r} must be a number, not {value!r}") from None


def video_name(
    pattern: str,
    place: str,
    *,
    start: float | None = None,
    end: float | None = None,
    cluster: str = "",
    **values: str,
) -> VideoName:
    """Returns where a video lies, from a pattern with the fields of its row in braces.

    Raises:
        UsageError: the pattern names a field that there is not.
        VideoContrastError: the path would leave the video root; names the place.
    """
    try:
        path = pattern.format(**values)
    except (KeyError, IndexError, ValueError) as error:
        raise UsageError(f"--video-pattern {pattern!r}: its fields are {', '.join(values)}") from error
    if not is_safe_relative(path):
        raise VideoContrastError(f"{place}: {path!r} must be a path relative to the video root, without '..'")
    if start is not None and end is not None and end <= start:
        raise VideoContrastError(f"{place}: the clip ends at {end:g} s, not after its start at {start:g} s")
    return VideoName(path, start, end, cluster)


def file_name(path: str) -> str:
    """The last part of a path or of an address.

    >>> file_name("s3://bucket/a/v_x.mp4?y=1")
    'v_x.mp4'
    """
    return path.partition("?")[0].replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]


def lettered(text: str, place: str) -> tuple[str, list[str], str]:
    """Splits a question that holds its options ("A. ...", a line each): the question, the options, what follows them.

    Raises:
        VideoContrastError: there are no two options; names the place.

    >>> lettered("What?\\nA. this\\nB. that \\nAnswer directly.", "row 1")
    ('What?', ['this', 'that '], 'Answer directly.')
    """
    found = list(re.finditer(r"^([A-Z])\. ?(.*)$", text, re.M))
    letters = [match[1] for match in found]
    if len(found) < 2 or letters != [chr(ord("A") + n) for n in range(len(found))]:
        raise VideoContrastError(f"{place}: the question holds no options A., B. ... a line each: {text!r}")
    rest = text[found[-1].end() :].strip("\n")
    return text[: found[0].start()].rstrip("\n"), [match[2] for match in found], rest


def as_kind(name: str, place: str) -> str:
    """A kind as tables hold it: lower case, words joined by "_".

    Raises:
        VideoContrastError: nothing is left of it, or it is reserved.

    >>> as_kind("Velocity & Frequency", "row 1")
    'velocity_frequency'
    """
    kind = re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")
    kind = f"kind_{kind}" if kind[:1].isdigit() else kind or KIND
    if kind in ("true", "random", "best", "worst", "low", "high"):
        raise VideoContrastError(f"{place}: the kind {kind!r} is reserved")
    return kind


def flipped(seed: int, *names: str) -> bool:
    """A seeded toss of a coin, the same for equal names."""
    return bool(stream(seed, "published", *names).integers(2))
