"""The builder `clip_edits`: which clips make a group, its edited clips, and their rows; what is not used is counted."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from operator import attrgetter
from pathlib import Path
from typing import Annotated

from video_contrast import seeds
from video_contrast.audit.blind_audit import audit_splits
from video_contrast.builders.assembly.captioned_clip import CaptionedClip
from video_contrast.builders.assembly.reasons import counts_in_words
from video_contrast.builders.clip_edits.edits import EDITS, EditKind
from video_contrast.builders.clip_edits.source_clip import ClipEditOptions, EditedGroup, LeftOut, SourceClip
from video_contrast.builders.registry import BuiltSet, about, builder
from video_contrast.builders.sources.caption_table import CaptionTable
from video_contrast.builders.sources.captions_of_clips import read_splits
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import resolve_under, sha256
from video_contrast.launcher import spread
from video_contrast.options import Range, as_record
from video_contrast.perturbations.contrast.edit import difference
from video_contrast.rows import MultipleChoiceRow, multiple_choice_row
from video_contrast.seeds import digest
from video_contrast.storage.set_folder import Facts
from video_contrast.video import BrokenVideo, Clip, footage_of, index_of, upright_size, write_video
from video_contrast.video.sampling import is_even

TRIED = 16  # partners of a clip that are tried before it is left out
TurnName = tuple[int, str, str, int]  # of the random streams of a turn
GroupsOfClips = list[tuple[tuple[SourceClip, ...], EditedGroup]]


def groups_of(
    kind: EditKind, clips: Sequence[SourceClip], options: ClipEditOptions, *, seed: int
) -> tuple[GroupsOfClips, Counter[str]]:
    """Makes the groups of a kind. Returns the groups with their clips, and how many clips fell out, by reason."""
    groups: GroupsOfClips = []
    counts: Counter[str] = Counter()
    for turn in range(options.partners if kind.clips > 1 else 1):
        _use_each(kind, clips, options, (seed, "clip_edits", kind.name, turn), groups, counts)
    groups.sort(key=lambda group: [clip.id for clip in group[0]])
    if options.items is not None and options.items < len(groups):
        places = seeds.stream(seed, "clip_edits", "items", kind.name).permutation(len(groups))[: options.items]
        groups = [groups[int(n)] for n in sorted(places)]
    return groups, counts


_id_of = attrgetter("id")


def _use_each(
    kind: EditKind, clips: Sequence[SourceClip], options: ClipEditOptions, turn: TurnName, groups: GroupsOfClips,
    counts: Counter[str],
) -> None:  # fmt: skip
    """Adds groups that use every clip once, if it can be: joined with the first of some others that suit it."""
    former = {frozenset(map(_id_of, members)) for members, _ in groups}
    by_id = sorted(clips, key=_id_of)
    free = {by_id[n].id: by_id[n] for n in seeds.stream(*turn).permutation(len(by_id)).tolist()}

    def make_group(members: tuple[SourceClip, ...]) -> str | None:
        """Makes a group of these clips, which are then used; the reason where it cannot be made."""
        try:
            group = kind.make(members, options, seeds.stream(*turn, *map(_id_of, members)))
        except LeftOut as why:
            return str(why)
        except BrokenVideo:
            return "video_could_not_be_read"
        groups.append((members, group))
        for clip in members:
            free.pop(clip.id)
        return None

    videos: dict[str, list[SourceClip]] = {}
    for clip in clips if kind.same_video and turn[-1] == 0 else ():
        videos.setdefault(clip.source.video_path, []).append(clip)
    for spans in videos.values():
        for pair in pairwise(sorted(spans, key=lambda clip: (clip.start, clip.end))):
            if pair[0].end <= pair[1].start + 1e-3 and free.keys() >= set(map(_id_of, pair)):
                make_group(pair)
    while free:
        first, *others = free.values()
        reason = None
        for partners in _partners(kind, first, others):
            members = (first, *partners)
            if frozenset(map(_id_of, members)) not in former and (reason := make_group(members)) is None:
                break
        else:
            counts[reason or "no_other_clip_to_join"] += 1
            free.pop(first.id)


def _partners(kind: EditKind, first: SourceClip, others: Sequence[SourceClip]) -> Iterator[tuple[SourceClip, ...]]:
    """The clips that a clip may be joined with: a few of other videos of its pool, those of its size first.

    Pictures of one size are not scaled, and their frames are the same in all edits.
    """
    if kind.clips == 1:
        yield ()
        return
    video, pool = first.source.cluster, first.source.pool
    fitting = [clip for clip in others if clip.source.cluster != video and clip.source.pool == pool]
    fitting.sort(key=lambda clip: clip.size != first.size)
    for at, clip in enumerate(fitting[:TRIED]):
        if kind.clips == 2:
            yield (clip,)
        else:
            third = fitting[at + 1 : at + 1 + TRIED]
            yield from ((clip, other) for other in third if other.source.cluster != clip.source.cluster)


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
            edits = [replace(difference(member.caption, text, "clip_edits"), antonym=False).row() for text in texts]
            false = [None if n == number else group.members[n].claim for n in places]
            truth = {"shown": member.edit, "true": member.claim, "false": false}
            row = multiple_choice_row(
                id=f"{name}/{number}", video_id=f"{name}/{number}", cluster=cluster, group=name,
                video_path=next(part.video_path for part in member.segments if part.video_path),
                candidates=texts, label=label, kinds=["true" if n == label else kind.name for n in range(size)],
                edits=[None if n == label else edit for n, edit in enumerate(edits)],
                meta={"edit": kind.name, "clips": [clip.id for clip in clips], "truth": truth, **group.facts},
                segments=[part.record() for part in member.segments],
            )  # fmt: skip
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


UNSUITED = "no clip suits it"
_NAMED = 20  # unreadable videos that are named
_CLIPS_A_CHUNK = 16


@dataclass(frozen=True, kw_only=True)
class ClipTable(CaptionTable):
    """A table of videos and captions whose videos are there."""

    video_root: Annotated[Path, "folder of the videos"] = field()


@builder("clip_edits", configs=tuple(EDITS), requirements="a table of captions, and the videos (OpenCV measures them)")
def clip_edits(
    configs: list[str],
    *,
    table: ClipTable,
    how: ClipEditOptions = ClipEditOptions(),  # noqa: B008  frozen
    seed: Annotated[int, "seed of pairs, forms and transitions"] = 0,
    write_videos: Annotated[bool, "write the edited clips as files, for tools that do not know recipes"] = False,
    num_proc: Annotated[int, "processes that read the videos", Range(1)] = 1,
) -> BuiltSet:
    """Pairs of edited clips: order, count, direction, side, speed, place; what is false is certain."""
    if not table.video_root.is_dir():
        raise UsageError(f"--video-root {table.video_root}: no such folder")
    splits, counts = read_splits(table)
    clips, n_copies = merged_copies([clip for of_split in splits.values() for clip in of_split], table.video_root)
    materials, facts = _materials(clips, table.video_root, table.captions, seed=seed, num_proc=num_proc)
    dataset = BuiltSet("clip_edits", {}, facts | {"seed": seed, "options": as_record(how), **table.card_facts()})
    dataset.facts["sources"] = [table.source_name()]
    dataset.facts["counts"] = counts | {"copies_of_another_clip": n_copies} | facts["counts"]
    for name in configs:
        tables, sizes, fell_out = {}, {}, Counter[str]()
        for split, of_split in splits.items():
            names = {clip.id for clip in of_split}
            split_materials = [material for material in materials if material.id in names]
            groups, reasons = groups_of(EDITS[name], split_materials, how, seed=seed)
            fell_out.update(reasons)
            sizes[split] = {"groups": len(groups), "counts": dict(sorted(reasons.items()))}
            if groups:
                rows = rows_of(EDITS[name], groups, seed=seed)
                tables[split] = [_written(row, table.video_root, dataset) for row in rows] if write_videos else rows
        if not tables:
            dataset.leave_out(name, f"{UNSUITED} ({counts_in_words(dict(sorted(fell_out.items())))})")
            continue
        dataset.tables[name] = {split: list(rows) for split, rows in tables.items()}
        audit = audit_splits(tables, seed)
        dataset.facts["configs"][name] = {"negatives": EDITS[name].negatives, "splits": sizes, "audit": audit}
    if not dataset.tables:
        texts = (f"{name}{why.removeprefix(UNSUITED)}" for name, why in dataset.facts["left_out"].items())
        raise VideoContrastError(f"{table.captions}: no clip suits any of the edits: {', '.join(texts)}")
    return dataset


def _materials(
    clips: Sequence[CaptionedClip], root: Path, table: str, *, seed: int, num_proc: int
) -> tuple[list[SourceClip], Facts]:
    """The clips whose videos can be read, and facts of them."""
    materials: list[SourceClip] = []
    faults: list[str] = []
    counts: Counter[str] = Counter()
    sizes = set()
    chunks = spread(partial(_read, root, seed), clips, num_proc=num_proc, chunk=_CLIPS_A_CHUNK)
    for result in (result for chunk in chunks for result in chunk):
        if isinstance(result, str):
            faults.append(result)
            continue
        material, even_rate = result
        if not material.captions:
            counts["clips_without_words"] += 1
            continue
        materials.append(material)
        counts["clips_of_variable_rate"] += not even_rate
        sizes.add(material.size)
    if counts["clips_without_words"] and not materials and not faults:
        raise VideoContrastError(f"{table}: no caption has a word")
    if not materials:
        raise VideoContrastError(f"no video could be read below --video-root {root}; the first: {faults[0]}")
    all_counts = {"unreadable_clips": len(faults), "sizes_of_picture": len(sizes), **counts}
    warnings = {"warnings": [f"left out: {why}" for why in faults[:_NAMED]]} if faults else {}
    return materials, about("clip_edits") | {"counts": all_counts, "configs": {}} | warnings


def _read(root: Path, seed: int, clips: Sequence[CaptionedClip]) -> list[tuple[SourceClip, bool] | str]:
    """Each clip and whether its frames come at an even rate, or a sentence where its video cannot be read."""
    results: list[tuple[SourceClip, bool] | str] = []
    for clip in clips:
        try:
            index = index_of(resolve_under(root, clip.video_path))
            if index.damage:
                raise BrokenVideo(f"{clip.video_path}: damaged: {index.damage}")
            first, stop = index.span(clip.start, clip.end)
            size = upright_size(index.path)
        except VideoContrastError as error:
            results.append(str(error))
            continue
        end = index.end if clip.end is None else min(clip.end, index.end)
        material = SourceClip(clip, root, float(clip.start or 0.0), end=float(end), seed=seed, size=size)
        results.append((material, is_even(index.times[first:stop])))
    return results


def _written(row: MultipleChoiceRow, root: Path, dataset: BuiltSet) -> MultipleChoiceRow:
    """The row of a file that will be written; its recipe stays in `meta`."""
    clip = Clip.of(row)
    recipe = json.dumps(row["segments"], sort_keys=True)
    path = f"clips/{digest('clip_edits', recipe).hex()[:16]}.mp4"
    dataset.files[path] = partial(_write, clip, root)
    new_row = {key: value for key, value in row.items() if key != "segments"}
    meta = json.loads(row["meta"]) | {"segments": row["segments"]}
    new_row |= {"video_path": path, "meta": json.dumps(meta, sort_keys=True, ensure_ascii=False)}
    return new_row  # type: ignore[return-value]  # the same columns but one


def _write(clip: Clip, root: Path, path: Path) -> None:
    footage = footage_of(root, clip)
    write_video(path, footage.decode(range(*footage.span)), footage.fps, times=footage.times)


def merged_copies(clips: Sequence[CaptionedClip], root: Path) -> tuple[list[CaptionedClip], int]:
    """Merges clips that are the same span of files with the same bytes; the first name stays, with all captions.

    Returns the clips, and how many of them became part of another one. Files that are not there stay as they are.
    """
    sizes: dict[str, int] = {}
    files: dict[str, Path] = {}
    for path in dict.fromkeys(clip.video_path for clip in clips):
        try:
            files[path] = resolve_under(root, path)
            sizes[path] = files[path].stat().st_size
        except (OSError, VideoContrastError):
            continue
    often = Counter(sizes.values())  # only files of one size are read
    first: dict[str, str] = {}
    same = {path: first.setdefault(sha256(files[path]), path) for path, size in sizes.items() if often[size] > 1}
    sources = {clip.video_path: clip for clip in reversed(clips)}
    clip_of: dict[tuple[str, float | None, float | None], CaptionedClip] = {}
    for clip in clips:
        source = sources[same.get(clip.video_path, clip.video_path)]
        key = (source.video_path, clip.start, clip.end)
        if key in clip_of and clip.video_path != source.video_path:
            former = clip_of[key]
            others = dict.fromkeys((*former.other_captions, *clip.other_captions))
            clip_of[key] = replace(former, captions=(*former.captions, *clip.captions), other_captions=tuple(others))
        elif key in clip_of:  # two rows of one file: the table's own matter
            clip_of[(clip.id, clip.start, clip.end)] = clip
        else:
            clip_of[key] = replace(clip, video_path=source.video_path, cluster=source.cluster)
    return list(clip_of.values()), len(clips) - len(clip_of)
