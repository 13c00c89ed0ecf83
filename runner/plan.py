"""The plan: which unique clips, views and texts the asked-for conditions of the asked-for configs need.

A table is one group of rows under one condition; it gets one table of scores. Cells share views and texts: the 66
pairs need no view and no text that the visual and the text conditions do not already have.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice, pairwise

import numpy as np

from video_contrast import seeds
from video_contrast.errors import VideoContrastError
from video_contrast.perturbations.text import perturb_captions, text_spec
from video_contrast.runner.conditions import Condition, Text, Visual
from video_contrast.runner.items import STRINGS, Clips, Items, Strings, Texts, each
from video_contrast.runner.sets import Group, LoadedSet
from video_contrast.storage import RunFolder
from video_contrast.video import Clip


@dataclass(frozen=True)
class PlannedTable:
    """A group under a condition: what is scored together."""

    group: Group
    condition: Condition
    texts: Texts  # the items' texts under the condition

    @property
    def name(self) -> tuple[str, str]:
        """(config, condition), unique in a run."""
        return self.group.config, self.condition.name

    @property
    def is_retrieval(self) -> bool:
        """Whether every text is scored with every clip."""
        return self.group.layout == "retrieval"

    @property
    def n_pairs(self) -> int:
        """The number of scores in the table."""
        return int(self.texts.sizes.sum()) * (len(self.group.items) if self.is_retrieval else 1)

    def distractor(self, place: int) -> str | None:
        """The distractor that an item's contrast displaced, where it is scored too: with the captions as they are."""
        is_scored = self.condition.text.name is None and not self.is_retrieval
        return (self.group.items.column("replaced")[place] or None) if is_scored else None


@dataclass
class Views:
    """The clips of a plan in the order of their files, each with what some table shows of it."""

    clips: Clips
    codes: np.ndarray  # of each clip, the place of what is shown of it in `visual_sets`
    visual_sets: list[tuple[Visual, ...]]  # all different ones
    places: dict[Group, np.ndarray]  # of the clip of each item among `clips`

    def __len__(self) -> int:
        return len(self.clips)

    def __iter__(self) -> Iterator[Clip]:
        return iter(self.clips)

    def __getitem__(self, clip: Clip) -> tuple[Visual, ...]:
        return self.visual_sets[int(self.codes[self.place(clip)])]

    def place(self, clip: Clip) -> int:
        """The number of a clip."""
        at = bisect_left(self.clips, clip.sort_key, key=lambda other: other.sort_key)
        while self.clips[at] != clip:
            at += 1
        return at

    def items(self) -> Iterator[tuple[Clip, tuple[Visual, ...]]]:
        """Each clip with what is shown of it."""
        return zip(self.clips, map(self.visual_sets.__getitem__, each(self.codes)), strict=True)


@dataclass
class Plan:
    """Everything a run needs, each thing once."""

    tables: list[PlannedTable]  # the tables of scores to make
    views: Views  # clip -> what some table shows of it
    texts: Strings  # unique texts, ordered by length
    skip_reasons: dict[str, str] = field(default_factory=dict)  # condition -> why it is left out

    @property
    def n_views(self) -> int:
        """Visual encodings, where each unique one is made once; nothing (the blind control) is seen once by all."""
        sizes = [sum(visual.name != "blind" for visual in visuals) for visuals in self.views.visual_sets]
        return int(np.bincount(self.views.codes, minlength=len(sizes)) @ sizes) + self.blind

    @property
    def blind(self) -> bool:
        """Whether some table asks for the blind control."""
        return any(table.condition.visual.name == "blind" for table in self.tables)

    def visuals_of(self, clip: Clip) -> tuple[Visual, ...]:
        """The treatments of a clip that show something of it."""
        return tuple(visual for visual in self.views[clip] if visual.name != "blind")

    def chunks(self, size: int) -> list[Clips]:
        """Clips in runs of at least `size` views: the units that are dealt out and stored.

        They depend on the plan alone, not on what is done already or by how many processes, so that every row is
        computed in the same company and comes out the same to the last bit.
        """
        begins, n_views = [], size
        for number, code in enumerate(each(self.views.codes)):
            if n_views >= size:
                begins.append(number)
                n_views = 0
            n_views += len(self.views.visual_sets[code])
        return [self.views.clips.taken(slice(*ends)) for ends in pairwise([*begins, len(self.views)])]

    def cost(self) -> dict[str, int]:
        """The plan in numbers."""
        return {
            "cells": len(self.tables),
            "clips": len(self.views),
            "visual_encodings": self.n_views,
            "text_encodings": len(self.texts),
            "pairs": sum(table.n_pairs for table in self.tables),
            "videos": len(set(each(self.views.clips.columns[1]))),
        }


def make_plan(dataset: LoadedSet, conditions: Sequence[Condition], folder: RunFolder | None) -> Plan:
    """Plans a run.

    `conditions`: asked for. A group of a perturbed set is scored under its own recipe only. `folder`: the run, which
    keeps perturbed captions, so that they are made once; None keeps them in memory. Raises VideoContrastError: a
    condition that was asked for by name cannot run.
    """
    tables: list[PlannedTable] = []
    skip_reasons: dict[str, str] = {}
    errors: dict[Text, VideoContrastError] = {}  # many pairs share a text; what it lacks is looked for once
    for group in dataset.groups:
        texts_under: dict[Text, Texts] = {}
        mine = conditions if group.own.group == "clean" else [group.own]
        for condition in mine:
            if condition.name in skip_reasons:
                continue
            try:
                if condition.text in errors:
                    raise errors[condition.text]
                if condition.text not in texts_under:
                    texts_under[condition.text] = _texts(group, condition, folder, dataset.fingerprints[group.config])
                tables.append(PlannedTable(group, condition, texts_under[condition.text]))
            except VideoContrastError as error:
                if not condition.wildcard:
                    raise
                errors[condition.text] = error
                skip_reasons[condition.name] = str(error)
    tables = [table for table in tables if table.condition.name not in skip_reasons]
    texts = [of_tables.used for of_tables in {id(table.texts): table.texts for table in tables}.values()]
    groups = dict.fromkeys(table.group for table in tables if table.condition.text.name is None)
    distractors_of = (filter(None, each(group.items.column("replaced"))) for group in groups)
    texts += [np.array(distractors, STRINGS) for distractors in map(list, distractors_of) if distractors]
    unique = texts[0] if len(texts) == 1 else np.unique(np.concatenate([np.empty(0, STRINGS), *texts]))
    unique_texts = Strings(unique, np.lexsort((unique, np.strings.str_len(unique))).astype(np.int32))
    return Plan(tables, _views(tables), unique_texts, skip_reasons)


def _views(tables: Sequence[PlannedTable]) -> Views:
    visuals: dict[Group, dict[Visual, None]] = {}
    for table in tables:
        visuals.setdefault(table.group, {})[table.condition.visual] = None
    own_columns = [Items.of(()).clips.columns, *(group.items.clips.columns for group in visuals)]
    clips, of_item = Clips([np.concatenate(columns) for columns in zip(*own_columns, strict=True)]).distinct()
    places = dict(
        zip(visuals, np.split(of_item, np.cumsum([len(group.items) for group in visuals])[:-1]), strict=False)
    )
    number_of: dict[tuple[Visual, ...], int] = {(): 0}
    codes = np.zeros(len(clips), np.int32)
    for group, own in visuals.items():
        at = np.unique(places[group])
        unique_codes, which = np.unique(codes[at], return_inverse=True)
        both = [tuple(dict.fromkeys((*list(number_of)[code], *own))) for code in unique_codes]
        codes[at] = np.array([number_of.setdefault(visuals_of_clip, len(number_of)) for visuals_of_clip in both])[which]
    return Views(clips, codes, list(number_of), places)


def _texts(group: Group, condition: Condition, folder: RunFolder | None, fingerprint: str) -> Texts:
    plain, text = group.items.texts, condition.text
    if text.name is None or text.stored:
        return group.joined(plain)
    spec = text_spec(text.name)
    version = f"{spec.version} by group" if group.items[0].group else spec.version
    key = seeds.digest(fingerprint, len(plain), text.name, version, text.profile, text.seed).hex()[:32]
    stored_texts = folder.read_texts(group.config, text.name, key) if folder else None
    if stored_texts is not None:
        return group.joined(Texts.of(stored_texts))
    flat = [caption for own in plain for caption in own]
    ids = [item.drawn_by for item, own in zip(group.items, plain, strict=True) for _ in own]
    places = [place for own in plain for place in range(len(own))]
    after = perturb_captions(flat, text.name, ids=ids, caption_indices=places, seed=text.seed, profile=text.profile)
    rest = iter(after)
    texts = Texts.of(tuple(islice(rest, len(own))) for own in plain)
    if folder:
        folder.write_texts(group.config, text.name, key, list(texts))
    return group.joined(texts)


def share_changed(table: PlannedTable) -> float | None:
    """The share of the table's captions that its text perturbation changed; None without one."""
    if table.condition.text.name is None or table.condition.text.stored:
        return None
    before, after = map(chain.from_iterable, (table.group.joined(table.group.items.texts), table.texts))
    return sum(a != b for a, b in zip(before, after, strict=True)) / int(table.texts.sizes.sum())
