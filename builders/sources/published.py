"""What builders of published sets share: their rows with counts by reason, and the facts of their cards.

A builder reads the released files as they are. Rows that make no item (an empty caption, options that repeat) are
counted by reason; what cannot be right (a key outside the options, an id that repeats) is refused with file and row.
"""

import inspect
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, Any

from video_contrast.builders.assembly.captioned_clip import CaptionedClip, normal
from video_contrast.builders.assembly.difference import difference
from video_contrast.builders.assembly.multiple_choice import contrasts_only_row, kind_of
from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.published_fields import (
    Choice,
    Entry,
    VideoName,
    inside,
    members_of,
    read_rows,
    release,
)
from video_contrast.errors import UsageError, VideoContrastError, unknown_name
from video_contrast.rows import Row, multiple_choice_row, retrieval_row
from video_contrast.storage.set_records import Facts


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
    known = release(name)
    fetch = f"`{known.fetch}`" if known.fetch.startswith(("git ", "hf ")) else known.fetch

    def register(read: Callable[..., None]) -> Callable[..., BuiltSet]:
        own = [
            parameter.replace(annotation=Annotated[parameter.annotation, known.options[parameter.name]])
            for parameter in list(inspect.signature(read).parameters.values())[1:]
        ]
        files = [f"--{parameter.name} FILE" for parameter in own if parameter.default is None]

        def build(configs: list[str], *, options: PublishedOptions, **given: Any) -> BuiltSet:
            published = PublishedSet(name, configs, options)
            if known.inside:
                given["folder"] = inside(given["folder"], known.inside)
            read(published, **given)
            if files and not published.read:
                raise UsageError(f"{name}: give {' or '.join(files)}; fetch them: {fetch}")
            return published.built()

        first, last, _ = inspect.signature(build).parameters.values()
        build.__doc__, build.__name__ = read.__doc__, name
        build.__annotations__ |= {parameter.name: parameter.annotation for parameter in own}
        build.__signature__ = inspect.Signature([first, *own, last])  # type: ignore[attr-defined]  # of the options
        return builder(name, configs=configs, requirements=f"{known.needs}: {fetch}")(build)

    return register


@dataclass
class Items:
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
        self,
        row: Entry,
        id: str,
        video: VideoName,
        *,
        true: str,
        negatives: Sequence[str],
        kind: str = "contrast",
        meta: Mapping[str, object] | None = None,
    ) -> None:
        """Adds the item of a true caption among false ones, at seeded places.

        `negatives`: the false ones; equal ones are taken once. Raises VideoContrastError: the id repeats; names the
        place.
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
            clip = CaptionedClip(id, captions=(), cluster=video.cluster, meta=meta or {}, **video.columns())
            edits = [difference(true, text, "released") for text in different]
            self._end(contrasts_only_row(clip, true, edits, kind_of(kind, row.place), seed=self.seed))

    def answers(
        self,
        row: Entry,
        id: str,
        video: VideoName,
        choice: Choice,
        *,
        kind: str = "answer",
        group: str | None = None,
        meta: Mapping[str, object] | None = None,
    ) -> None:
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
            ways = {"prompt": choice.prompt, "option": choice.option} if choice.question else {}
            self._end(
                multiple_choice_row(
                    id=id,
                    candidates=texts,
                    label=key,
                    kinds=["true" if n == key else kind for n in range(len(texts))],
                    cluster=video.cluster,
                    meta={**(meta or {}), **{name: text for name, text in ways.items() if text}},
                    group=group,
                    question=choice.question or None,
                    **video.columns(),
                )
            )

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
        self.read: dict[str, dict[str, Items]] = {}  # config -> split -> items
        self._archive = None if options.videos_zip is None else members_of(options.videos_zip)

    def rows(self, path: str | Path) -> Iterator[Entry]:
        """Yields the rows of a file of the release (`read_rows`)."""
        return read_rows(path, self.release)

    def rows_of(self, config: str, path: Path | None) -> Iterator[Entry]:
        """Yields the rows of the file of a config; none where it is not asked for, or the file not given."""
        return iter(()) if path is None or config not in self.configs else self.rows(path)

    def splits(self, names: str) -> dict[str, str]:
        """The splits that are named, separated by commas, with what the release calls them."""
        known, by_split = self.release.splits, self.release.paper_by_split
        selected = [name.strip() for name in names.split(",")]
        for name in selected:
            if name not in known:
                raise unknown_name(f"split of {self.release.builder}", name, list(known))
        if by_split:  # with the items of the only config by the paper, if it has all of these splits
            counts = {self.configs[0]: sum(by_split[name] for name in selected)} if {*selected} <= {*by_split} else {}
            self.release = replace(self.release, paper=counts)
        return {name: known[name] for name in selected}

    def items(self, config: str, split: str = "test") -> Items:
        """The items of a split, which are none at first."""
        splits = self.read.setdefault(config, {})
        return splits.setdefault(split, Items(self.seed, self._archive))

    def built(self) -> BuiltSet:
        """The set with its card's facts: licence, citation, what to fetch, counts beside those of the paper.

        Raises VideoContrastError: no config has an item.
        """
        release = self.release
        facts: Facts = {
            "pretty_name": release.title,
            "summary": release.summary,
            "sources": [f"fetched by its user: {release.fetch}"],
            "licence": release.licence,
            "licence_id": release.licence_id,
            "citations": [release.citation],
            "videos": release.videos,
            "seed": self.seed,
            "configs": {},
        }
        built = BuiltSet(release.builder, {}, facts)
        for config, splits in self.read.items():
            for items in splits.values():
                items.drop_broken_groups()
            counts = {split: dict(sorted(items.counts.items())) for split, items in splits.items()}
            full = {split: items.rows for split, items in splits.items() if items.rows}
            if not full:
                total_counts = sum((items.counts for items in splits.values()), Counter[str]())
                words = ", ".join(f"{name.replace('_', ' ')} {n}" for name, n in sorted(total_counts.items()))
                facts.setdefault("left_out", {})[config] = f"no item could be built ({words})"
                continue
            built.tables[config] = full
            total = sum(map(len, full.values()))
            entry: Facts = {
                "negatives": "as released",
                "splits": {split: {"items": n["built"], "counts": n} for split, n in counts.items()},
            }
            given = sum(items.counts["rows"] - items.outside for items in splits.values())
            entry["read"], warning = release.of_counts(config, given)
            built.warn([warning] if warning else [])
            if config in release.paper:
                entry["paper"] = {"items": release.paper[config], "built": total}
            facts["configs"][config] = entry
        if not built.tables:
            reasons = ", ".join(f"{config}: {why}" for config, why in facts.get("left_out", {}).items())
            raise VideoContrastError(f"{release.builder}: {reasons or 'the release holds no row'}")
        return built
