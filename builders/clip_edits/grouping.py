"""Which clips make a group, and the rows of the groups: every clip is used or counted with a reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import cast

from video_contrast import seeds
from video_contrast.builders.assembly.difference import difference
from video_contrast.builders.clip_edits.edits import EditKind
from video_contrast.builders.clip_edits.material import ClipEditOptions, EditedGroup, LeftOut, SourceClip
from video_contrast.rows import MultipleChoiceRow, SegmentColumns, multiple_choice_row
from video_contrast.video import BrokenVideo

TRIED = 16  # partners of a clip that are tried before it is left out
TurnName = tuple[int, str, str, int]  # of the random streams of a turn
GroupsOfClips = list[tuple[tuple[SourceClip, ...], EditedGroup]]


def groups_of(
    kind: EditKind, clips: Sequence[SourceClip], options: ClipEditOptions, *, seed: int
) -> tuple[GroupsOfClips, Counter[str]]:
    """Makes the groups of a kind. Returns the groups with their clips, and how many clips fell out, by reason."""
    grouping = _Grouping(kind, options)
    for turn in range(options.partners if kind.clips > 1 else 1):
        grouping.turn(clips, (seed, "clip_edits", kind.name, turn))
    groups = sorted(grouping.groups, key=lambda group: [clip.id for clip in group[0]])
    if options.items is not None and options.items < len(groups):
        drawn = seeds.stream(seed, "clip_edits", "items", kind.name).permutation(len(groups))[: options.items]
        groups = [groups[int(n)] for n in sorted(drawn)]
    return groups, grouping.counts


@dataclass
class _Grouping:
    """The groups of a kind while they are made."""

    kind: EditKind
    options: ClipEditOptions
    groups: GroupsOfClips = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)  # clips that fell out, by reason

    def turn(self, clips: Sequence[SourceClip], name: TurnName) -> None:
        """Uses every clip once, if it can be: joined with the first of some others that suit it."""
        former = {frozenset(clip.id for clip in members) for members, _ in self.groups}
        ordered = sorted(clips, key=lambda clip: clip.id)
        free = {ordered[n].id: ordered[n] for n in seeds.stream(*name).permutation(len(ordered)).tolist()}
        if self.kind.same_video and name[-1] == 0:
            for pair in _neighbours(clips):
                if all(clip.id in free for clip in pair):
                    self._try(pair, free, name)
        while free:
            first, *others = free.values()
            reason = None
            for partners in _partners(self.kind, first, others):
                tried = (first, *partners)
                if frozenset(clip.id for clip in tried) in former:
                    continue
                reason = self._try(tried, free, name)
                if reason is None:
                    break
            else:
                self.counts[reason or "no_other_clip_to_join"] += 1
                free.pop(first.id)

    def _try(self, clips: tuple[SourceClip, ...], free: dict[str, SourceClip], name: TurnName) -> str | None:
        """Makes a group of these clips, which are then used; the reason where it cannot be made."""
        rng = seeds.stream(*name, *(clip.id for clip in clips))
        try:
            self.groups.append((clips, self.kind.make(clips, self.options, rng)))
        except LeftOut as why:
            return str(why)
        except BrokenVideo:
            return "video_could_not_be_read"
        for clip in clips:
            free.pop(clip.id)
        return None


def _partners(kind: EditKind, first: SourceClip, others: Sequence[SourceClip]) -> Iterator[tuple[SourceClip, ...]]:
    """What a clip may be joined with: clips of other videos of its pool, a few of them, those of its size first.

    Pictures of one size are not scaled, and their frames are the same in all edits.
    """
    if kind.clips == 1:
        yield ()
        return
    fitting = [clip for clip in others if _apart(first, clip) and clip.source.pool == first.source.pool]
    fitting.sort(key=lambda clip: clip.size != first.size)
    for at, clip in enumerate(fitting[:TRIED]):
        if kind.clips == 2:
            yield (clip,)
        else:
            rest = (other for other in fitting[at + 1 : at + 1 + TRIED] if _apart(clip, other))
            yield from ((clip, other) for other in rest)


def _apart(clip: SourceClip, other: SourceClip) -> bool:
    return clip.source.cluster != other.source.cluster


def _neighbours(clips: Sequence[SourceClip]) -> Iterator[tuple[SourceClip, SourceClip]]:
    """Spans of one video that follow each other, in the order of the video."""
    videos: dict[str, list[SourceClip]] = {}
    for clip in clips:
        videos.setdefault(clip.source.video_path, []).append(clip)
    for spans in videos.values():
        spans.sort(key=lambda clip: (clip.start, clip.end))
        yield from ((clip, following) for clip, following in pairwise(spans) if clip.end <= following.start + 1e-3)


def rows_of(kind: EditKind, groups: GroupsOfClips, *, seed: int) -> list[MultipleChoiceRow]:
    """The rows of groups, each member a row.

    Groups that share a video, directly or through others, are one cluster. `seed`: of the places of the candidates.
    """
    clusters = _clusters([[clip.source.cluster for clip in clips] for clips, _ in groups])
    rows = []
    for (clips, group), cluster in zip(groups, clusters, strict=True):
        name = f"{kind.name}-{'+'.join(clip.id for clip in clips)}"
        size = len(group.members)
        places = seeds.stream(seed, "clip_edits", "candidates", name).permutation(size).tolist()
        texts = [group.members[n].caption for n in places]
        for number, member in enumerate(group.members):
            label = places.index(number)
            row = multiple_choice_row(
                id=f"{name}/{number}",
                video_id=f"{name}/{number}",
                video_path=next(part.video_path for part in member.segments if part.video_path),
                candidates=texts,
                label=label,
                kinds=["true" if n == label else kind.name for n in range(size)],
                edits=[
                    None if n == label else replace(difference(member.caption, text, "clip_edits"), antonym=False).row()
                    for n, text in enumerate(texts)
                ],
                cluster=cluster,
                meta={
                    "edit": kind.name,
                    "clips": [clip.id for clip in clips],
                    "truth": {
                        "shown": member.shown,
                        "true": member.claim,
                        "false": [None if n == number else group.members[n].claim for n in places],
                    },
                    **group.facts,
                },
                group=name,
                segments=cast(list[SegmentColumns], [part.record() for part in member.segments]),
            )
            rows.append(row)
    return rows


def _clusters(groups: Sequence[Sequence[str]]) -> list[str]:
    """A name for each group, the same for groups that have a video in common, directly or through others."""
    parent: dict[str, str] = {}

    def top(name: str) -> str:
        while parent.setdefault(name, name) != name:
            name = parent[name]
        return name

    for names in groups:
        tops = sorted({top(name) for name in names})
        for other in tops[1:]:
            parent[other] = tops[0]
    return [top(names[0]) for names in groups]
