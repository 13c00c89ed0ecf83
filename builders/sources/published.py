"""The parts that builders of published sets share: facts of a release, checked fields, rows, and facts of a card.

A builder reads the released files as they are. Rows that make no item (an empty caption, options that repeat) are
counted by reason; what cannot be right (a key outside the options, an id that repeats) is refused with file and row.
"""

import inspect
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from typing import Annotated, Any

from video_contrast.builders.assembly.captioned_clip import CaptionedClip, VideoSpan, normal
from video_contrast.builders.assembly.multiple_choice import contrasts_only_row, kind_of
from video_contrast.builders.registry import BuiltSet, about, builder
from video_contrast.builders.sources.caption_table import read_table
from video_contrast.errors import UsageError, VideoContrastError, check_names
from video_contrast.files import Json, is_safe_relative, read_json
from video_contrast.perturbations.contrast.edit import difference
from video_contrast.rows import Row, multiple_choice_row, retrieval_row
from video_contrast.seeds import stream
from video_contrast.storage.set_folder import Facts
from video_contrast.storage.table_file import open_zip


@dataclass(frozen=True)
class VideoName(VideoSpan):
    """The name of an item's video, with its span."""

    source: str = ""  # the source video, for intervals; the path without suffix by default

    @property
    def cluster(self) -> str:
        """The source video."""
        return self.source or self.video_id


def file_name(path: str) -> str:
    """The last part of a path or of an address.

    >>> file_name("s3://bucket/a/v_x.mp4?y=1")
    'v_x.mp4'
    """
    return path.partition("?")[0].replace("\\", "/").rstrip("/").rsplit("/", 1)[-1]


YES_NO = ("yes", "no")


@dataclass(frozen=True)
class Release:
    """The files of a published set, and what its builder says of them; the card's facts are `registry.about`."""

    builder: str  # its name
    fetch: str  # the command that fetches the annotations, from the set's own place
    needs: str  # files of it that the builder reads
    options: Mapping[str, str]  # option of the builder -> its help
    inside: str = ""  # the folder of the release, below `--folder` or it, in which the files lie
    splits: Mapping[str, str] = field(default_factory=dict)  # split -> what the release calls it
    paper_by_split: Mapping[str, int] = field(default_factory=dict)  # as `paper`, where a set has one config
    tables: Mapping[str, Json] = field(default_factory=dict)  # names of its files, tasks and prompts, for its reader
    paper: Mapping[str, int] = field(default_factory=dict)  # config -> items of the paper; where none is known, absent
    prompt: str | None = None  # with which the authors ask, word for word
    about: str = ""  # a remark on its size where no count of the items is published
    former: Mapping[str, Mapping[str, int]] = field(default_factory=dict)  # an older release -> its own counts

    def of_counts(self, config: str, items: int) -> tuple[str, str | None]:
        """The release with this many items of a config, in words, and a warning where it is not the published one."""
        releases = {"the published": self.paper, **self.former}
        if config not in self.paper:
            return f"{items:,} items; {self.about or 'no published count is known'}", None
        name = next((name for name, counts in releases.items() if counts.get(config) == items), None)
        if name is None:
            counts = ", ".join(f"{name} {of[config]:,}" for name, of in releases.items() if config in of)
            count = f"{items:,} items, as no known release ({counts})"
            return count, f"{config}: the files hold {count}: are they whole?"
        count = f"{items:,} items: {name} release"
        return count, f"{config}: {count}, not the published {self.paper[config]:,}" if name in self.former else None


@cache
def release(builder: str) -> Release:
    """The release of a builder's set, as `releases.json` has it."""
    return Release(builder, **read_json(Path(__file__).with_name("releases.json"))[builder])


@dataclass(frozen=True)
class Choice:
    """The choice that an item offers: a question, its options and the right one."""

    question: str  # "" where the options are captions
    options: Sequence[str]  # in the released order
    key: int  # the number of the right one
    prompt: str | None = None  # how the release asks it (`runner.kinds.base.Question`); None: as this package does
    option: str | None = None

    def ordered(self, is_reversed: bool) -> "Choice":
        """This choice with its options in the released order, or in the reverse one."""
        return replace(self, options=self.options[::-1], key=len(self.options) - 1 - self.key) if is_reversed else self


@dataclass(frozen=True)
class Entry:
    """A row of a release; reading a field that is not right is a `VideoContrastError` with the row's place."""

    place: str  # of the row, for messages
    key: str  # its key in the file, or its number
    fields: Mapping[str, Json]  # as released

    def get(self, name: str) -> Json:
        """Returns a field as it is; None where there is none."""
        return self.fields.get(name)

    def error(self, text: str) -> VideoContrastError:
        """Returns an error that names the place."""
        return VideoContrastError(f"{self.place}: {text}")

    def text(self, name: str) -> str:
        """Returns the text, or the number as a text, of a field."""
        if name not in self.fields:
            raise self.error(f"no field {name!r}; it has {', '.join(map(str, self.fields))}")
        value = self.fields[name]
        if not isinstance(value, str | int) or isinstance(value, bool):
            raise self.error(f"{name!r} must be a text, not {value!r}")
        return str(value)

    def texts(self, name: str) -> list[str]:
        """Returns the texts of a field that holds a list."""
        value = self.get(name)
        if not isinstance(value, list | tuple):
            raise self.error(f"{name!r} must be a list of texts, not {value!r}")
        return [str(text) for text in value]

    def entry(self, name: str) -> "Entry":
        """Returns the object of a field."""
        fields = self.get(name)
        if not isinstance(fields, dict):
            raise self.error(f"{name!r} must be an object, not {fields!r}")
        return Entry(f"{self.place}, {name}", name, fields)

    def entries(self, name: str) -> list["Entry"]:
        """Returns the objects of a field that holds a list."""
        value = self.get(name)
        if not isinstance(value, list) or not all(isinstance(fields, dict) for fields in value):
            raise self.error(f"{name!r} must be a list of objects, not {value!r}")
        return [Entry(f"{self.place}, {name}, {number}", str(number), fields) for number, fields in enumerate(value)]

    def number(self, name: str) -> float | None:
        """Returns the number of a field; None where there is none."""
        value = self.get(name)
        if value is None or value == "":
            return None
        try:
            return float(value)
        except (TypeError, ValueError):
            raise self.error(f"{name!r} must be a number, not {value!r}") from None

    def place_of(self, name: str) -> int:
        """Returns the place of the right option, which a field holds as a number from 0."""
        number = self.number(name)
        if number is None or number != int(number):
            raise self.error(f"the key {self.get(name)!r} is no number of an option")
        return int(number)

    def place_among(self, name: str, options: Sequence[str]) -> int:
        """Returns the place of the right option, whose text a field repeats."""
        answer, plain = self.text(name).strip(), [option.strip() for option in options]
        if answer not in plain:
            raise self.error(f"the answer {answer!r} is outside the options {options}")
        return plain.index(answer)

    def yes_or_no(self, name: str = "answer") -> int:
        """Returns the place of the answer among yes and no."""
        answer = self.text(name).strip().lower()
        if answer not in YES_NO:
            raise self.error(f"the answer {answer!r} is neither yes nor no")
        return YES_NO.index(answer)

    def video(
        self, pattern: str, *, start: float | None = None, end: float | None = None, cluster: str = "", **values: str
    ) -> VideoName:
        """Returns where the video lies: the pattern with the given values, or else the row's fields, in braces.

        `cluster`: the source video; the path by default. Raises UsageError: the pattern cannot be read;
        VideoContrastError: the row lacks a field that the pattern names, or the path would leave the root.
        """
        fields = {**self.fields, **values}
        try:
            path = pattern.format_map(fields)
        except KeyError as error:
            names = ", ".join(map(str, fields))
            raise self.error(f"no field {error} for the video's path {pattern!r}; it has {names}") from error
        except (IndexError, ValueError) as error:
            raise UsageError(f"--video-pattern {pattern!r}: its fields are {', '.join(map(str, fields))}") from error
        if not is_safe_relative(path):
            raise self.error(f"{path!r} must be a path relative to the video root, without '..'")
        if start is not None and end is not None and end <= start:
            raise self.error(f"the clip ends at {end:g} s, not after its start at {start:g} s")
        return VideoName(path, start, end, cluster)


def lettered_choice(row: Entry) -> Choice:
    """Reads a `question` that holds its options ("A. ...", a line each), and the letter `GT` of the right one.

    >>> row = Entry("row 1", "1", {"question": "What?\\nA. this\\nB. that \\nAnswer directly.", "GT": "B"})
    >>> choice = lettered_choice(row)
    >>> choice.question, choice.options, choice.key, choice.prompt
    ('What?', ['this', 'that '], 1, '{question}\\n{options}\\nAnswer directly.')
    """
    text, key = row.text("question"), row.text("GT").strip().upper()
    choices = list(re.finditer(r"^ ?([A-Z])\. ?(.*)$", text, re.M))
    letters = [match[1] for match in choices]
    if len(choices) < 2 or letters != [chr(ord("A") + n) for n in range(len(choices))]:
        raise row.error(f"the question holds no options A., B. ... a line each: {text!r}")
    if key not in letters:
        raise row.error(f"the key {key!r} is outside the {len(choices)} options")
    rest = text[choices[-1].end() :].strip("\n")
    prompt = "{question}\n{options}" + (f"\n{rest}" if rest else "")
    return Choice(text[: choices[0].start()].rstrip("\n"), [match[2] for match in choices], letters.index(key), prompt)


def coin_toss(seed: int, *names: str) -> bool:
    """A seeded toss of a coin, the same for equal names."""
    return bool(stream(seed, "published", *names).integers(2))


@dataclass(frozen=True, kw_only=True)
class PublishedOptions:
    """Options of every builder of a published set."""

    videos_zip: Annotated[Path | None, "zip of the videos: rows then name its members"] = None
    seed: Annotated[int, "seed of the places of the candidates, where the release gives none"] = 0


def published_builder(
    name: str, *, configs: tuple[str, ...]
) -> Callable[[Callable[..., None]], Callable[..., BuiltSet]]:
    """Registers the builder of a published set, of which `releases.json` says what its files and its options are.

    The decorated function adds the items of the asked-for configs to the `PublishedSet` that it is given; its other
    parameters are the builder's options, with `PublishedOptions`.
    """
    own_release = release(name)
    fetch = f"`{own_release.fetch}`" if own_release.fetch.startswith(("git ", "hf ")) else own_release.fetch

    def register(read: Callable[..., None]) -> Callable[..., BuiltSet]:
        own = [
            parameter.replace(annotation=Annotated[parameter.annotation, own_release.options[parameter.name]])
            for parameter in list(inspect.signature(read).parameters.values())[1:]
        ]
        files = [f"--{parameter.name} FILE" for parameter in own if parameter.default is None]

        def build(configs: list[str], *, options: PublishedOptions, **arguments: Any) -> BuiltSet:
            dataset = PublishedSet(name, configs, options)
            if own_release.inside:  # the folder is the whole release, or the one with the files in it
                parts = own_release.inside.split("/")
                below = (arguments["folder"].joinpath(*parts[n:]) for n in range(len(parts)))
                arguments["folder"] = next((path for path in below if path.is_dir()), arguments["folder"])
            read(dataset, **arguments)
            if files and not dataset.items_of:
                raise UsageError(f"{name}: give {' or '.join(files)}; fetch them: {fetch}")
            return dataset.built_set()

        first, last, _ = inspect.signature(build).parameters.values()
        build.__doc__, build.__name__ = read.__doc__, name
        build.__annotations__ |= {parameter.name: parameter.annotation for parameter in own}
        build.__signature__ = inspect.Signature([first, *own, last])  # type: ignore[attr-defined]  # of the options
        return builder(name, configs=configs, requirements=f"{own_release.needs}: {fetch}")(build)

    return register


@dataclass
class PublishedItems:
    """The rows of one config and split as they are read, in the release's order.

    `counts` holds the "rows" of the release, "built" items, and rows that were left out by reason.
    """

    seed: int  # of the places of captions
    archive: Mapping[str, str | None] | None = None  # the zip of the videos, if there is one
    rows: list[Row] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=lambda: Counter({"rows": 0, "built": 0}))
    outside: int = 0  # rows that the release's own rules leave out
    _places: dict[str, str] = field(default_factory=dict)

    def captions(
        self, row: Entry, id: str, video: VideoName, *, true: str, negatives: Sequence[str], kind: str,
        meta: Mapping[str, object] = {},
    ) -> None:  # fmt: skip
        """Adds the item of a true caption among false ones, at seeded places.

        `negatives`: the false ones; equal ones are taken once. Raises VideoContrastError: the id repeats.
        """
        self._begin(row.place, id)
        true, negatives = " ".join(true.split()), [" ".join(text.split()) for text in negatives]
        if not true or not all(negatives) or not negatives:
            self.counts["empty_captions"] += 1
        elif normal(true) in map(normal, negatives):
            self.counts["negative_equals_truth"] += 1
        else:
            different = list(dict.fromkeys(negatives))
            self.counts["repeated_negatives"] += len(negatives) - len(different)
            video = self._placed(video)
            clip = CaptionedClip(id, captions=(), cluster=video.cluster, meta=meta, **video.columns())
            edits = [difference(true, text, "released") for text in different]
            self._end(contrasts_only_row(clip, true, edits, kind_of(kind, row.place), seed=self.seed))

    def answers(
        self, row: Entry, id: str, video: VideoName, choice: Choice, *, kind: str, group: str | None = None,
        meta: Mapping[str, object] = {},
    ) -> None:  # fmt: skip
        """Adds the item of a question with its options in the released order.

        `choice`: its question, its options and the right one. Raises VideoContrastError: the key is outside the
        options, or the id repeats; names the place.
        """
        self._begin(row.place, id)
        texts, key = list(choice.options), choice.key
        if not 0 <= key < len(texts):
            raise row.error(f"the key {key} is outside the {len(texts)} options")
        plain = [text.strip() for text in texts]  # prompts hold them with their blanks
        if not all(plain) or len(texts) < 2:
            self.counts["empty_options"] += 1
        elif len(set(plain)) < len(texts):
            self.counts["repeated_options"] += 1
        else:
            video, kind = self._placed(video), kind_of(kind, row.place)
            kinds = ["true" if n == key else kind for n in range(len(texts))]
            ways = {"prompt": choice.prompt, "option": choice.option} if choice.question else {}
            row_meta = {**meta, **{name: text for name, text in ways.items() if text}}
            self._end(
                multiple_choice_row(
                    id=id, candidates=texts, label=key, kinds=kinds, cluster=video.cluster, meta=row_meta, group=group,
                    question=choice.question or None, **video.columns(),
                )
            )  # fmt: skip

    def retrieval(self, row: Entry, id: str, video: VideoName, captions: Sequence[str]) -> None:
        """Adds a clip with its captions, all true of it. Raises VideoContrastError: the id repeats; names the place."""
        self._begin(row.place, id)
        texts = [" ".join(text.split()) for text in captions if text.strip()]
        if not texts:
            self.counts["empty_captions"] += 1
            return
        self._end(retrieval_row(id=id, captions=texts, **self._placed(video).columns()))

    def leave_out(self, reason: str) -> None:
        """Counts a row that by the release's own rules is no item."""
        self.counts["rows"] += 1
        self.outside += 1
        self.counts[reason] += 1

    def drop_broken_groups(self) -> None:
        """Leaves out the groups of which a row made no item, and counts their rows."""
        if not any("group" in row for row in self.rows):
            return
        sizes = Counter(row.get("group") for row in self.rows)
        whole = [r for r in self.rows if "candidates" not in r or sizes[r.get("group")] == len(r["candidates"])]
        self.counts["rows_of_broken_groups"] += len(self.rows) - len(whole)
        self.rows, self.counts["built"] = whole, len(whole)

    def _begin(self, place: str, id: str) -> None:
        self.counts["rows"] += 1
        if id in self._places:
            raise VideoContrastError(f"{place}: the id {id!r} repeats; it stands at {self._places[id]} already")
        self._places[id] = place

    def _end(self, row: Row) -> None:
        self.rows.append(row)
        self.counts["built"] += 1

    def _placed(self, video: VideoName) -> VideoName:
        if self.archive is None:
            return video
        member = self.archive.get(video.path) or self.archive.get(video.path.rsplit("/", 1)[-1])
        if member is None:
            self.counts["not_in_zip"] += 1
            return video
        return VideoName(member, video.start, video.end, video.cluster)


class PublishedSet:
    """A published set while its release is read; a config without items is left out, and said so."""

    def __init__(self, name: str, configs: Sequence[str], options: PublishedOptions) -> None:
        self.release, self.tables = release(name), release(name).tables
        self.configs = configs  # that are asked for
        self.seed = options.seed
        self.items_of: dict[str, dict[str, PublishedItems]] = {}  # config -> split -> items
        self._archive: dict[str, str | None] | None = None  # members of the zip by each end of their path
        if options.videos_zip is not None:
            self._archive = {}
            with open_zip(options.videos_zip) as archive:
                members = [member for member in archive.namelist() if not member.endswith("/")]
            for member in members:
                parts = member.split("/")
                for end in ("/".join(parts[n:]) for n in range(len(parts))):
                    self._archive[end] = None if end in self._archive else member  # None: the end of several

    def present(self, path: Path) -> Path:
        """Returns the path; where there is none, a `UsageError` says how to fetch it."""
        if not path.exists():
            name = about(self.release.builder)["pretty_name"]
            raise UsageError(f"{path}: no such file; fetch {name} by `{self.release.fetch}`")
        return path

    def rows(self, path: str | Path) -> Iterator[Entry]:
        """Yields the rows of a table (.csv .tsv .jsonl .parquet, or of the Hub), or the objects of a JSON file.

        The key is that of an object of objects, the number of the row elsewhere. Raises UsageError: no such file; the
        message says how to fetch it; VideoContrastError: cannot be read, or entries that are no objects; names them.
        """
        if not str(path).endswith(".json"):
            if Path(path).suffix:
                self.present(Path(path))
            for number, (place, fields) in enumerate(read_table(path)):
                yield Entry(place, str(number), fields)
            return
        path = Path(path)
        content = read_json(self.present(path))
        if not isinstance(content, dict | list):
            raise VideoContrastError(f"{path.name}: must hold a JSON object or list")
        what = "key" if isinstance(content, dict) else "row"
        for key, fields in content.items() if isinstance(content, dict) else enumerate(content):
            place = f"{path.name}, {what} {key!r}"
            if not isinstance(fields, dict):
                raise VideoContrastError(f"{place}: must be an object, not {type(fields).__name__}")
            yield Entry(place, str(key), fields)

    def rows_of(self, config: str, path: Path | None) -> Iterator[Entry]:
        """Yields the rows of the file of a config; none where it is not asked for, or the file not given."""
        return iter(()) if path is None or config not in self.configs else self.rows(path)

    def splits(self, names: str) -> dict[str, str]:
        """The splits that are named, separated by commas, with what the release calls them."""
        release_splits, by_split = self.release.splits, self.release.paper_by_split
        split_names = [name.strip() for name in names.split(",")]
        check_names(f"split of {self.release.builder}", split_names, release_splits)
        if by_split:  # with the items of the only config by the paper, if it has all of these splits
            sizes = [by_split[name] for name in split_names] if {*split_names} <= {*by_split} else []
            self.release = replace(self.release, paper={self.configs[0]: sum(sizes)} if sizes else {})
        return {name: release_splits[name] for name in split_names}

    def items(self, config: str, split: str = "test") -> PublishedItems:
        """The items of a split, which are none at first."""
        return self.items_of.setdefault(config, {}).setdefault(split, PublishedItems(self.seed, self._archive))

    def built_set(self) -> BuiltSet:
        """The set with its card's facts: licence, citation, what to fetch, counts beside those of the paper.

        Raises VideoContrastError: no config has an item.
        """
        release = self.release
        facts = about(release.builder) | {"sources": [f"fetched by its user: {release.fetch}"], "seed": self.seed}
        facts["configs"] = {}
        new_set = BuiltSet(release.builder, {}, facts)
        for config, splits in self.items_of.items():
            for items in splits.values():
                items.drop_broken_groups()
            counts = {split: dict(sorted(items.counts.items())) for split, items in splits.items()}
            sizes = {split: {"items": n["built"], "counts": n} for split, n in counts.items()}
            n_rows = sum(items.counts["rows"] - items.outside for items in splits.values())
            size, warning = release.of_counts(config, n_rows)
            entry: Facts = {"negatives": "as released", "splits": sizes, "read": size}
            if config in release.paper:
                entry["paper"] = {"items": release.paper[config], "built": sum(n["built"] for n in counts.values())}
            new_set.add_config(config, {split: items.rows for split, items in splits.items()}, entry, optional=True)
            new_set.warn([warning] if warning and config in new_set.tables else [])
        if not new_set.tables:
            left_out = facts.get("left_out", {release.builder: f"{release.builder}: the release holds no row"})
            raise VideoContrastError("\n".join(left_out.values()))
        return new_set
