"""The plan: which unique clips, views and texts the asked-for conditions of the asked-for configs need.

A table is one group of rows under one condition; it gets one table of scores. Cells share views and texts: the 66
pairs need no view and no text that the visual and the text conditions do not already have.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

from video_contrast import seeds
from video_contrast.errors import VideoContrastError
from video_contrast.perturbations.text import perturb_captions, text_spec
from video_contrast.runner.conditions import Condition, Text, Visual
from video_contrast.runner.items import Item, Texts
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
        """How many scores the table has."""
        return sum(map(len, self.texts)) * (len(self.group.items) if self.is_retrieval else 1)

    def displaced(self, item: Item) -> str | None:
        """The distractor that an item's contrast displaced, where it is scored too: with the captions as they are."""
        return (item.replaced or None) if self.condition.text.name is None and not self.is_retrieval else None


@dataclass
class Plan:
    """Everything a run needs, each thing once."""

    tables: list[PlannedTable]  # the tables of scores to make
    views: dict[Clip, tuple[Visual, ...]]  # clip, in the order of the files -> what some table shows of it
    texts: tuple[str, ...]  # unique texts, ordered by length
    skipped: dict[str, str] = field(default_factory=dict)  # condition -> why it is left out

    @property
    def n_views(self) -> int:
        """Visual encodings, where each unique one is made once; nothing (the blind control) is seen once by all."""
        return sum(len(self.seen(clip)) for clip in self.views) + self.blind

    @property
    def blind(self) -> bool:
        """Whether some table asks for the blind control."""
        return any(table.condition.visual.name == "blind" for table in self.tables)

    def seen(self, clip: Clip) -> tuple[Visual, ...]:
        """The treatments of a clip that show something of it."""
        return tuple(visual for visual in self.views[clip] if visual.name != "blind")

    def chunks(self, size: int) -> list[tuple[Clip, ...]]:
        """Clips in runs of at least `size` views: the units that are dealt out and stored.

        They depend on the plan alone, not on what is done already or by how many processes, so that every row is
        computed in the same company and comes out the same to the last bit.
        """
        chunks: list[list[Clip]] = []
        held = size
        for clip, visuals in self.views.items():
            if held >= size:
                chunks.append([])
                held = 0
            chunks[-1].append(clip)
            held += len(visuals)
        return [tuple(clips) for clips in chunks]

    def cost(self) -> dict[str, int]:
        """The plan in numbers."""
        return {
            "cells": len(self.tables),
            "clips": len(self.views),
            "visual_encodings": self.n_views,
            "text_encodings": len(self.texts),
            "pairs": sum(table.n_pairs for table in self.tables),
            "videos": len({clip.video_path for clip in self.views}),
        }


def make_plan(loaded: LoadedSet, conditions: Sequence[Condition], folder: RunFolder | None) -> Plan:
    """Plans a run.

    `conditions`: asked for. A group of a perturbed set is scored under its own recipe only. `folder`: the run, which
    keeps perturbed captions, so that they are made once; None keeps them in memory. Raises VideoContrastError: a
    condition that was asked for by name cannot run.
    """
    tables: list[PlannedTable] = []
    skipped: dict[str, str] = {}
    failed: dict[Text, VideoContrastError] = {}  # many pairs share a text; what it lacks is looked for once
    for group in loaded.groups:
        texts_under: dict[Text, Texts] = {}
        mine = conditions if group.own.group == "clean" else [group.own]
        for condition in mine:
            if condition.name in skipped:
                continue
            try:
                if condition.text in failed:
                    raise failed[condition.text]
                if condition.text not in texts_under:
                    texts_under[condition.text] = _texts(group, condition, folder, loaded.fingerprints[group.config])
                tables.append(PlannedTable(group, condition, texts_under[condition.text]))
            except VideoContrastError as error:
                if not condition.wildcard:
                    raise
                failed[condition.text] = error
                skipped[condition.name] = str(error)
    tables = [table for table in tables if table.condition.name not in skipped]
    views: dict[Clip, tuple[Visual, ...]] = {}
    texts: set[str] = set()
    alike: dict[tuple[Visual, ...], tuple[Visual, ...]] = {}  # equal ones are one object: there may be millions
    for table in tables:
        for clip in table.group.items.clips:
            seen = views.get(clip, ())
            if table.condition.visual not in seen:
                seen = (*seen, table.condition.visual)
                views[clip] = alike.setdefault(seen, seen)
        texts.update(chain.from_iterable(table.texts))
        if table.condition.text.name is None:
            texts.update(filter(None, table.group.items.rest("replaced")))
    ordered = sorted(views, key=lambda clip: clip.sort_key)
    return Plan(tables, {clip: views[clip] for clip in ordered}, tuple(sorted(sorted(texts), key=len)), skipped)


def _texts(group: Group, condition: Condition, folder: RunFolder | None, fingerprint: str) -> Texts:
    plain, text = group.items.texts, condition.text
    if text.name is None or text.stored:
        return group.joined(plain)
    spec = text_spec(text.name)
    version = f"{spec.version} by group" if group.items[0].group else spec.version
    key = seeds.digest(fingerprint, len(plain), text.name, version, text.profile, text.seed).hex()[:32]
    stored = folder.read_texts(group.config, text.name, key) if folder else None
    texts = _perturbed(group, plain, text) if stored is None else Texts.of(stored)
    if stored is None and folder:
        folder.write_texts(group.config, text.name, key, list(texts))
    return group.joined(texts)


def _perturbed(group: Group, plain: Texts, text: Text) -> Texts:
    flat = [caption for own in plain for caption in own]
    ids = [item.drawn_by for item, own in zip(group.items, plain, strict=True) for _ in own]
    places = [place for own in plain for place in range(len(own))]
    assert text.name is not None
    changed = perturb_captions(flat, text.name, ids=ids, caption_indices=places, seed=text.seed, profile=text.profile)
    rest = iter(changed)
    return Texts.of(tuple(islice(rest, len(own))) for own in plain)


def share_changed(table: PlannedTable) -> float | None:
    """The share of the table's captions that its text perturbation changed; None without one."""
    if table.condition.text.name is None or table.condition.text.stored:
        return None
    before = [text for own in table.group.joined(table.group.items.texts) for text in own]
    after = [text for own in table.texts for text in own]
    return sum(a != b for a, b in zip(before, after, strict=True)) / len(before)
