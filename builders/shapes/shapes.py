"""The builder `shapes`: clips made on the spot, and eleven configs about them whose answers are known.

A retrieval config has a gallery; the others have groups of clips that share their candidates. A group has as many
captions as clips. Each caption is true of one of its clips and false of the others, and all clips have these captions
as their candidates: whatever reads captions alone is right for one clip of a group. So a group is one cluster. (Those
of `counterfactual_mc` share the actions that their candidates name.)
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, count, cycle, islice, pairwise, product, zip_longest
from pathlib import Path
from typing import Annotated, NamedTuple

from numpy.random import Generator

from video_contrast.builders.assembly.captioned_clip import ClipSpan
from video_contrast.builders.registry import BuiltSet, about, builder
from video_contrast.builders.shapes import contrasts, world
from video_contrast.builders.shapes.captions import Claim, claim, read, verdict, write
from video_contrast.errors import VideoContrastError
from video_contrast.options import Range, as_record
from video_contrast.perturbations.contrast.edit import difference
from video_contrast.rows import EditRecord, MultipleChoiceRow, RetrievalRow, Row, multiple_choice_row, retrieval_row
from video_contrast.seeds import stream


@dataclass(frozen=True)
class SceneClip:
    """A scene with its place in the set."""

    scene: world.Scene  # shown in the clip
    seed: int  # of the set
    split: str  # "train", "validation" or "test"
    number: int  # of the scene in its split
    variant: str = ""  # "r" of a scene played backwards, "-gender-1" of one with another figure ...

    @property
    def id(self) -> str:
        """The clip's name: its split, seed, number and variant."""
        return self.cluster + self.variant

    @property
    def cluster(self) -> str:
        """The key that the clip shares with its variants."""
        return f"{self.split}-{self.seed}-{self.number:04d}"

    @property
    def path(self) -> str:
        """The path of the clip in the set's folder."""
        return f"clips/{self.split}-{self.seed}/{self.number:04d}{self.variant}.mp4"

    def reversed(self) -> "SceneClip":
        """The clip played backwards."""
        return replace(self, scene=self.scene.reversed(), variant="r")

    def showing(self, new: Claim, variant: str) -> "SceneClip":
        """The clip with who, what and whom as a caption claims them; place, setting and jitter stay."""
        side = self.scene.side
        if new.action in ("lifts", "lowers"):
            side = "above"
        elif new.action in world.TRANSITIVE and side == "above":
            side = "left" if self.scene.jitter[0] < 0.5 else "right"
        scene = replace(self.scene, subject=new.subject, action=new.action, other=new.other, side=side)
        return replace(self, scene=scene, variant=variant)

    def columns(self) -> ClipSpan:
        """Returns the columns of a row that name its clip."""
        return {"video_id": self.id, "video_path": self.path, "start": None, "end": None}

    def meta(self) -> dict[str, str]:
        """The facts of the clip for the row's `meta`."""
        return {"action": self.scene.action, "subject": self.scene.subject.kind, "setting": self.scene.setting}

    def write(self, path: Path) -> None:
        """Draws the clip and writes its file.

        Lossless: a lossy encoder predicts frames from their neighbours, so a clip and its reversal would differ in
        more than their order, and a bag of frames would no longer be at exactly one half.
        """
        from video_contrast.builders.shapes.render import FPS, render
        from video_contrast.video import write_video

        write_video(path, render(self.scene), FPS, quality="lossless")


def training_clips(seed: int, split: str, count: int, *, reversals: bool) -> Iterator[SceneClip]:
    """The clips of a split, in order.

    `split`: "train" or "validation". `reversals`: follow each clip by its reversal, where that is another action.
    """
    for number, scene in enumerate(world.scenes(seed, split, count)):
        clip = SceneClip(scene, seed, split, number)
        yield clip
        if reversals and scene.action in world.REVERSE:
            yield clip.reversed()


def scene_of(clip_id: str) -> world.Scene:
    """The scene of a retrieval or antonym clip of any shapes set, by its id alone ("test-0-0042", "test-0-0042r").

    Raises VideoContrastError: the id is not of such a clip.
    """
    match = re.fullmatch(r"(\w+)-(\d+)-(\d+)(r?)", clip_id)
    if match is None:
        raise VideoContrastError(f"{clip_id!r} is not the id of a clip of the shapes world, or of its reversal")
    split, seed, number, backwards = match.groups()
    scene = next(world.scenes(int(seed), split, 1, first=int(number)))
    return scene.reversed() if backwards else scene


ClipRows = Iterator[tuple[SceneClip, MultipleChoiceRow]]
# The claim of a true caption and a random stream -> the claims of its contrasts.
Contrast = Callable[[Claim, Generator], Iterable[Claim]]


class TrueCaption(NamedTuple):
    """A clip and a caption that is true of it."""

    clip: SceneClip
    text: str


@dataclass(frozen=True)
class ContrastKind:
    """The recipe of a config's items."""

    kind: str  # of its contrasts
    contrast: Contrast = lambda statement, rng: ()  # makes them
    clips: int = 2  # that are contrasts of one another; the other candidates are random
    group: int = 6  # clips that share their candidates
    templates: Sequence[int] = range(len(world.TEMPLATES))  # of the scenes that have such contrasts
    names: bool = False  # whether people are called by their names
    generator: str = "shapes-grammar"


_PEOPLE = (0, 1, 2, 3)
CONTRASTS = {
    "random_mc": ContrastKind("random", clips=1, group=5),
    "antonym_mc": ContrastKind("antonym"),
    "reversal_pairs": ContrastKind("antonym"),
    "verb_mc": ContrastKind("verb_lexical", contrasts.verb),
    "gender_mc": ContrastKind("gender", contrasts.gender, templates=_PEOPLE, generator="table6"),
    "person_id_mc": ContrastKind("person_id", contrasts.person_id, templates=_PEOPLE, names=True, generator="cast"),
    "entity_mc": ContrastKind("entity", contrasts.entity),
    "object_mc": ContrastKind("object", contrasts.object),
    "role_mc": ContrastKind("role", contrasts.role, templates=(4,)),
    "counterfactual_mc": ContrastKind("counterfactual", clips=6),
}


def gallery_row(clip: SceneClip, **meta: str) -> RetrievalRow:
    """The retrieval row of a clip: its caption, and the paraphrase with names."""
    statement = claim(clip.scene)
    captions = [write(statement), write(statement, names=True, phrase=1)]
    return retrieval_row(id=clip.id, captions=captions, meta=clip.meta() | meta, **clip.columns())


def test_clips(seed: int, templates: Sequence[int] = range(len(world.TEMPLATES))) -> Iterator[SceneClip]:
    """Yields the test clips of a set without end; those of some templates of scenes alone, where they are given."""
    for number in count():
        if number % len(world.TEMPLATES) in templates:
            yield _test_clip(seed, number)


@lru_cache(maxsize=4096)  # each config goes through them anew
def _test_clip(seed: int, number: int) -> SceneClip:
    return SceneClip(next(world.scenes(seed, "test", 1, first=number)), seed, "test", number)


def unambiguous(pool: Sequence[SceneClip], counts: Counter[str]) -> Iterator[SceneClip]:
    """Yields the clips none of whose captions may be true of one before it, nor theirs of it."""
    clips: list[SceneClip] = []
    for clip in pool:
        own = write(claim(clip.scene))
        if all(
            verdict(other.scene, own) == verdict(clip.scene, write(claim(other.scene))) == "false" for other in clips
        ):
            clips.append(clip)
            yield clip
        else:
            counts["caption may be true of another clip"] += 1


def antonym_items(
    pool: Sequence[SceneClip], seed: int, items: int, counts: Counter[str], *, config: str = "antonym_mc"
) -> ClipRows:
    """Each clip and its reversal with the same two candidates, a group in `reversal_pairs`; the actions take turns.

    An even number of items is made, as many as `items` at most; `counts` are raised by clips without an antonym.
    """
    by_action = {action: [clip for clip in pool if clip.scene.action == action] for action in world.REVERSE}
    counts["action has no antonym"] += len(pool) - sum(map(len, by_action.values()))
    in_turn = [clip for clips in zip_longest(*by_action.values()) for clip in clips if clip]
    for clip in in_turn[: items // 2]:
        rng = stream("shapes", world.VERSION, seed, "antonym_mc", clip.id)
        phrase = int(rng.integers(2))
        order = (1, 0) if rng.integers(2) else (0, 1)
        both = (clip, clip.reversed())
        texts = [write(claim(either.scene), phrase=phrase) for either in both]
        for either in both:
            group = clip.id if config == "reversal_pairs" else None
            yield either, _row(config, either, texts, order, cluster=clip.cluster, group=group)


def counterfactual_items(seed: int) -> ClipRows:
    """Yields items without end: three clips and their reversals, whose candidates name these six actions.

    The figures are those of the clip. Actions come as pairs of antonyms, since a candidate without its antonym would be
    the less likely one.
    """
    pairs = [pair for pair in world.ANTONYMS if pair[0] not in world.TRANSITIVE]
    # What grows from nothing also appears.
    threes = [three for three in combinations(pairs, 3) if not {"grows", "appears"} <= {first for first, _ in three}]
    waiting: dict[str, list[SceneClip]] = {first: [] for first, _ in pairs}
    in_turn = cycle(threes)
    three = next(in_turn)
    for clip in test_clips(seed):
        for first, second in pairs:
            if clip.scene.action in (first, second):
                waiting[first].append(clip)
        while all(waiting[first] for first, _ in three):
            clips = [waiting[first].pop(0) for first, _ in three]
            rng = stream("shapes", world.VERSION, seed, "counterfactual_mc", clips[0].id)
            order, phrase = [int(n) for n in rng.permutation(6)], int(rng.integers(2))
            for forwards in clips:
                claims = [replace(claim(forwards.scene), action=action) for pair in three for action in pair]
                texts = [write(statement, phrase=phrase) for statement in claims]
                for either in (forwards, forwards.reversed()):
                    yield either, _row("counterfactual_mc", either, texts, order, cluster=clips[0].cluster)
            three = next(in_turn)


def contrast_items(config: str, seed: int, counts: Counter[str]) -> ClipRows:
    """Yields the items of a config without end, group by group.

    `config`: one of `CONTRASTS` that has contrasts, or `random_mc`. `counts`: raised by the clips that do not allow it.
    """
    how = CONTRASTS[config]
    for group, following in pairwise(_groups(how, seed, counts)):
        order = stream("shapes", world.VERSION, seed, config, group[0].clip.id).permutation(len(group))
        false = [text for _, text in following if all(verdict(clip.scene, text) == "false" for clip, _ in group)]
        random_caption = false[0] if false and how.clips > 1 else None  # a random caption
        for clip, _ in group:
            texts = [text for _, text in group]
            yield clip, _row(config, clip, texts, order, cluster=group[0].clip.cluster, random_caption=random_caption)


def _groups(how: ContrastKind, seed: int, counts: Counter[str]) -> Iterator[list[TrueCaption]]:
    """Groups of true captions, each of them false of the other clips; clips that fit nowhere are counted."""
    group: list[TrueCaption] = []
    for clip in test_clips(seed, how.templates):
        rng = stream("shapes", world.VERSION, clip.seed, how.kind, clip.id)
        # The way the action is phrased does not depend on the config.
        phrase = int(stream("shapes", world.VERSION, clip.seed, "random options", clip.id).integers(2))
        statement = claim(clip.scene)
        contrasting = [TrueCaption(clip, write(statement, names=how.names, phrase=phrase))]
        for other in how.contrast(statement, rng):
            truth = TrueCaption(clip.showing(other, f"-{how.kind}"), write(other, names=how.names, phrase=phrase))
            if world.held_out(truth.clip.scene) and _distinct([*contrasting, truth]):
                contrasting.append(truth)
                break
        if len(contrasting) < how.clips:
            counts["no such contrast among the scenes that training never shows"] += 1
        elif not _distinct([*group, *contrasting]):
            counts["caption may be true of another clip of its group"] += 1
        else:
            group += contrasting
        if len(group) == how.group:
            yield group
            group = []


def _distinct(captions: Sequence[TrueCaption]) -> bool:
    """Whether each caption is true of its clip and false of all others."""
    return all(
        verdict(clip.scene, other.text) == ("true" if other.clip is clip else "false")
        for (clip, _), other in product(captions, repeat=2)
    )


def _row(
    config: str,
    clip: SceneClip,
    texts: Sequence[str],
    order: Iterable[int],
    *,
    cluster: str,
    random_caption: str | None = None,
    group: str | None = None,
) -> MultipleChoiceRow:
    """The row of a clip whose candidates are the texts in this order; each of them is checked against the scene.

    Raises VideoContrastError: not just one of the texts is true, or another is not surely false.
    """
    how = CONTRASTS[config]
    verdicts = [verdict(clip.scene, text) for text in texts]
    if sorted(verdicts) != ["false"] * (len(texts) - 1) + ["true"]:
        raise VideoContrastError(f"shapes, {config}: of clip {clip.id}, {texts} are {verdicts}")
    own = verdicts.index("true")
    candidates, kinds = [], []
    edits: list[EditRecord | None] = []
    for n in map(int, order):
        candidates.append(texts[n])
        contrast = n != own and n // how.clips == own // how.clips
        kinds.append("true" if n == own else how.kind if contrast else "random")
        antonym = world.REVERSE.get(clip.scene.action) == read(texts[n]).action
        edit = replace(difference(texts[own], texts[n], generator=how.generator), antonym=antonym)
        edits.append(edit.row() if contrast else None)
    return multiple_choice_row(
        id=f"{config}-{clip.id}", candidates=candidates, label=kinds.index("true"), kinds=kinds, edits=edits,
        replaced=random_caption, cluster=cluster, meta=clip.meta(), group=group, **clip.columns(),
    )  # fmt: skip


NEGATIVES = {
    "retrieval": "the captions of the other clips; none is true of a clip but its own",
    "random_mc": "captions of four other clips, which have the same candidates",
    "antonym_mc": "the action's antonym; each clip stands beside its reversal",
    "verb_mc": "another action, not the antonym, with the same objects, and two more captions with theirs",
    "gender_mc": "the gendered noun swapped (paper's Table 6), and two more captions with theirs",
    "person_id_mc": "another name of the same gender, and two more captions with theirs",
    "entity_mc": "another figure of the same colour, and two more captions with theirs",
    "object_mc": "another object or landmark, and two more captions with theirs",
    "role_mc": "who acts and who is acted upon swapped, and two more captions with theirs",
    "counterfactual_mc": "five other actions of the same figures, as three pairs of antonyms",
    "reversal_pairs": "each clip and its reversal are a group, and so are their captions",
}
CONFIGS = tuple(NEGATIVES)


@dataclass(frozen=True, kw_only=True)
class ShapesOptions:
    """The numbers of clips and items of the shapes world."""

    items: Annotated[int, "items a config, at most", Range(1)] = 200
    gallery: Annotated[int, "clips of the retrieval config", Range(2)] = 100
    train: Annotated[int, "training clips to make besides (split `train` of `retrieval`)", Range(0)] = 0
    validation: Annotated[int, "validation clips to make besides (split `validation`)", Range(0)] = 0
    reversals: Annotated[bool, "beside each of these clips also its reversal, where that is another action"] = False


@builder("shapes", configs=CONFIGS, requirements="nothing: clips and captions are made on the spot")
def shapes(
    configs: list[str],
    *,
    seed: Annotated[int, "another seed makes another set of clips"] = 0,
    options: ShapesOptions = ShapesOptions(),
) -> BuiltSet:
    """Short clips of shapes and people in motion, made on the spot, with captions whose truth is known."""
    count = max(2 * options.gallery, 2 * options.items + 80)
    pool = [*islice(test_clips(seed), count)]
    dataset = BuiltSet("shapes", {}, about("shapes") | {"seed": seed, "options": as_record(options), "configs": {}})
    dataset.facts |= {"version": world.VERSION, "transitive_actions": list(world.TRANSITIVE)}
    clip_of: dict[str, SceneClip] = {}
    for config in configs:
        counts: Counter[str] = Counter()  # of clips that fell out, by reason
        splits: dict[str, list[tuple[SceneClip, Row]]] = {}
        if config == "retrieval":
            splits["test"] = [(clip, gallery_row(clip)) for clip in islice(unambiguous(pool, counts), options.gallery)]
            for split, size in (("train", options.train), ("validation", options.validation)):
                if size:
                    clips = training_clips(seed, split, size, reversals=options.reversals)
                    splits[split] = [(clip, gallery_row(clip, cluster=clip.cluster)) for clip in clips]
        elif config in ("antonym_mc", "reversal_pairs"):
            splits["test"] = [*antonym_items(pool, seed, options.items, counts, config=config)]
        elif config == "counterfactual_mc":
            splits["test"] = [*islice(counterfactual_items(seed), options.items)]
        else:
            splits["test"] = [*islice(contrast_items(config, seed, counts), options.items)]
        counts["built"] = len(splits["test"])
        dataset.tables[config] = {split: [row for _, row in rows] for split, rows in splits.items()}
        dataset.facts["configs"][config] = {"negatives": NEGATIVES[config], "counts": dict(sorted(counts.items()))}
        clip_of |= {clip.path: clip for rows in splits.values() for clip, _ in rows}
    dataset.files = {path: clip.write for path, clip in sorted(clip_of.items())}
    return dataset
