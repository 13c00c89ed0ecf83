"""Rows of the shapes sets: a gallery for retrieval, and items whose candidates are checked against the scene."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from numpy.random import Generator

from video_contrast.builders.shapes import contrasts
from video_contrast.builders.shapes.captions import claim, write
from video_contrast.builders.shapes.contrasts import TrueCaption
from video_contrast.builders.shapes.scene_clip import SceneClip
from video_contrast.builders.shapes.truth import verdict
from video_contrast.builders.shapes.world import REVERSE, VERSION
from video_contrast.errors import VideoContrastError
from video_contrast.perturbations.contrast import Edit
from video_contrast.rows import MultipleChoiceRow, RetrievalRow, multiple_choice_row, retrieval_row
from video_contrast.seeds import stream

CANDIDATES = 5
Candidate = tuple[str, str, Edit | None]  # caption, kind, and the edit that made it
ClipRows = Iterator[tuple[SceneClip, MultipleChoiceRow]]
# A true caption and a random stream -> its contrasts; none where the scene allows none.
Contrast = Callable[[TrueCaption, Generator], list[Edit]]


@dataclass(frozen=True)
class ContrastKind:
    """How the items of a config are made."""

    kind: str  # of its negatives
    contrast: Contrast | None  # makes them; None for random captions only
    random: bool = True  # whether random captions stand beside them, up to `CANDIDATES`
    names: bool = False  # whether people are called by their names


CONTRASTS = {
    "random_mc": ContrastKind("random", None),
    "verb_mc": ContrastKind("verb_lexical", contrasts.verb),
    "gender_mc": ContrastKind("gender", contrasts.gender),
    "person_id_mc": ContrastKind("person_id", contrasts.person_id, names=True),
    "entity_mc": ContrastKind("entity", contrasts.entity),
    "object_mc": ContrastKind("object", contrasts.object),
    "role_mc": ContrastKind("role", contrasts.role),
    "counterfactual_mc": ContrastKind("counterfactual", contrasts.counterfactuals, random=False),
}


def gallery_row(clip: SceneClip, **meta: str) -> RetrievalRow:
    """The retrieval row of a clip: its caption, and the paraphrase with names."""
    claimed = claim(clip.scene)
    captions = [write(claimed), write(claimed, names=True, phrase=1)]
    return retrieval_row(id=clip.id, captions=captions, meta=clip.meta() | meta, **clip.columns())


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
    """Each clip and its reversal with the same two candidates; the pairs of antonyms take turns.

    Args:
        pool: clips to choose from.
        seed: of the set.
        items: how many at most; an even number is made.
        counts: raised by the clips whose action has no antonym.
        config: `antonym_mc`, or `reversal_pairs`, where clip and reversal are a group.
    """
    by_action: dict[str, list[SceneClip]] = {action: [] for action in REVERSE}
    for clip in pool:
        if clip.scene.action in REVERSE:
            by_action[clip.scene.action].append(clip)
        else:
            counts["action has no antonym"] += 1
    rounds = max(map(len, by_action.values()))
    in_turn = [clips[n] for n in range(rounds) for clips in by_action.values() if n < len(clips)]
    for clip in in_turn[: items // 2]:
        rng = stream("shapes", VERSION, seed, "antonym_mc", clip.id)
        phrase = int(rng.integers(2))
        flip = bool(rng.integers(2))
        # The candidates stand in the same order for both, so the label tells which way the clip runs.
        for shown, label in ((clip, int(flip)), (clip.reversed(), int(not flip))):
            claimed = claim(shown.scene)
            edit = contrasts.antonym(TrueCaption(shown.scene, claimed, phrase))
            candidates: list[Candidate] = [(edit.text, "antonym", edit)]
            candidates.insert(label, (write(claimed, phrase=phrase), "true", None))
            yield shown, _row(config, shown, candidates, group=clip.id if config == "reversal_pairs" else None)


def contrast_items(config: str, pool: Sequence[SceneClip], seed: int, counts: Counter[str]) -> ClipRows:
    """One item a clip where the clip allows the contrast of a config; others are counted.

    Args:
        config: one of `CONTRASTS`.
        pool: clips in order; random captions are drawn from all of them.
        seed: of the set.
        counts: raised by the clips that do not allow the contrast.

    Raises:
        VideoContrastError: the pool has too few clips for the random captions.
    """
    how = CONTRASTS[config]
    for clip in pool:
        rng = stream("shapes", VERSION, seed, config, clip.id)
        # The random captions do not depend on the config, nor does the way the action is phrased.
        shared = stream("shapes", VERSION, seed, "random options", clip.id)
        phrase = int(shared.integers(2))
        claimed = claim(clip.scene)
        true = write(claimed, names=how.names, phrase=phrase)
        edits = how.contrast(TrueCaption(clip.scene, claimed, phrase), rng) if how.contrast else []
        if how.contrast and not edits:
            counts["no such contrast"] += 1
            continue
        negatives: list[Candidate] = [(edit.text, how.kind, edit) for edit in edits]
        replaced = None
        if how.random:
            distractors = _distractors(
                clip, pool, rng=shared, names=how.names, truths={true, *(edit.text for edit in edits)}
            )
            replaced = distractors.pop(0) if edits else None
            negatives += [(text, "random", None) for text in distractors]
        label = int(rng.integers(len(negatives) + 1))
        candidates = [negatives[int(n)] for n in rng.permutation(len(negatives))]
        candidates.insert(label, (true, "true", None))
        yield clip, _row(config, clip, candidates, replaced)


def _distractors(
    clip: SceneClip, pool: Sequence[SceneClip], rng: Generator, names: bool, truths: set[str]
) -> list[str]:
    """Four captions of other clips that are false of this one."""
    distractors: list[str] = []
    for number in rng.permutation(len(pool)):
        other = pool[int(number)]
        text = write(claim(other.scene), names=names, phrase=int(rng.integers(2)))
        unusable = other is clip or text in truths or text in distractors
        if not unusable and verdict(clip.scene, text) == "false":
            distractors.append(text)
        if len(distractors) == CANDIDATES - 1:
            return distractors
    raise VideoContrastError(f"shapes: too few clips for {CANDIDATES - 1} random captions; raise --items")


def _row(
    config: str,
    clip: SceneClip,
    candidates: Sequence[Candidate],
    replaced: str | None = None,
    *,
    group: str | None = None,
) -> MultipleChoiceRow:
    """The row with its candidates, each of them checked against the scene."""
    for text, kind, _ in candidates:
        truth = verdict(clip.scene, text)
        if truth != ("true" if kind == "true" else "false"):
            raise VideoContrastError(
                f"shapes, {config}, clip {clip.id}: candidate {text!r} ({kind}) is {truth} of the clip"
            )
    kinds = [kind for _, kind, _ in candidates]
    return multiple_choice_row(
        id=f"{config}-{clip.id}",
        candidates=[text for text, _, _ in candidates],
        label=kinds.index("true"),
        kinds=kinds,
        edits=[edit.row() if edit else None for _, _, edit in candidates],
        replaced=replaced,
        cluster=clip.cluster,
        meta=clip.meta(),
        group=group,
        **clip.columns(),
    )
