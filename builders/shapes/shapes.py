"""The shapes world as a set: clips made on demand, and ten kinds of question about them whose answers are known."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

from numpy.random import Generator

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.shapes import contrasts
from video_contrast.builders.shapes.captions import Claim, claim, write
from video_contrast.builders.shapes.truth import verdict
from video_contrast.builders.shapes.world import REVERSE, TRANSITIVE, VERSION, Scene, scenes
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.perturbations.contrast import Edit
from video_contrast.rows import Row, multiple_choice_row, retrieval_row
from video_contrast.seeds import stream

OPTIONS = 5
Option = tuple[str, str, Edit | None]  # caption, kind, and the edit that made it
CONFIGS = (
    "retrieval",
    "random_mc",
    "antonym_mc",
    "verb_mc",
    "gender_mc",
    "person_id_mc",
    "entity_mc",
    "object_mc",
    "role_mc",
    "counterfactual_mc",
)


@dataclass(frozen=True)
class Clip:
    """A scene with its place in the set."""

    scene: Scene
    seed: int
    split: str
    number: int
    backwards: bool = False

    @property
    def id(self) -> str:
        """The clip's name: its split, seed and number; "r" marks a scene played backwards."""
        return f"{self.split}-{self.seed}-{self.number:04d}{'r' * self.backwards}"

    @property
    def cluster(self) -> str:
        """What the clip shares with its reversal."""
        return f"{self.split}-{self.seed}-{self.number:04d}"

    @property
    def path(self) -> str:
        """Where the clip lies in the set's folder."""
        return f"clips/{self.split}-{self.seed}/{self.number:04d}{'r' * self.backwards}.mp4"

    def where(self) -> dict[str, Any]:
        """The columns that tell a row's clip."""
        return {"video_id": self.id, "video_path": self.path}

    def meta(self) -> dict[str, Any]:
        """What the clip shows, for the row's `meta`."""
        return {"action": self.scene.action, "subject": self.scene.subject.kind, "setting": self.scene.setting}


@builder("shapes", configs=CONFIGS, needs="nothing: clips and captions are made on the spot")
def shapes(
    configs: list[str],
    *,
    seed: Annotated[int, "Another seed makes another set of clips."] = 0,
    items: Annotated[int, "Questions a config, at most."] = 200,
    gallery: Annotated[int, "Clips of the retrieval config."] = 100,
    train: Annotated[int, "Also make so many training clips (split `train` of `retrieval`)."] = 0,
    validation: Annotated[int, "Also make so many validation clips (split `validation` of `retrieval`)."] = 0,
    reversals: Annotated[bool, "Beside each of these clips also its reversal, where that is another action."] = False,
) -> BuiltSet:
    """Short clips of shapes and people in motion, made on the spot, with captions whose truth is known."""
    for name, value, least in (("items", items, 1), ("gallery", gallery, 2), ("train", train, 0)):
        if value < least:
            raise UsageError(f"--{name} must be at least {least}, not {value}")
    if validation < 0:
        raise UsageError(f"--validation must be at least 0, not {validation}")
    pool = [
        Clip(scene, seed, "test", n) for n, scene in enumerate(scenes(seed, "test", max(gallery * 2, 2 * items + 80)))
    ]
    built = BuiltSet("shapes", {}, _facts(seed, items, gallery, train, validation, reversals))
    used: dict[str, Clip] = {}
    for config in configs:
        clips_and_rows, counts = _config(config, pool, seed, items, gallery)
        splits = {"test": clips_and_rows}
        if config == "retrieval":
            for split, count in (("train", train), ("validation", validation)):
                if count:
                    clips = _learned(seed, split, count, reversals)
                    splits[split] = [(clip, _retrieval_row(clip, cluster=clip.cluster)) for clip in clips]
        built.tables[config] = {split: [row for _, row in pairs] for split, pairs in splits.items()}
        built.facts["configs"][config] = _HOW[config] | {"counts": dict(sorted(counts.items()))}
        used |= {clip.path: clip for pairs in splits.values() for clip, _ in pairs}
    built.files = {path: _writer(clip) for path, clip in sorted(used.items())}
    return built


def _learned(seed: int, split: str, count: int, reversals: bool) -> Iterator[Clip]:
    """The clips of a split to learn from, in order; a reversal follows its clip."""
    for number, scene in enumerate(scenes(seed, split, count)):
        yield Clip(scene, seed, split, number)
        if reversals and scene.action in REVERSE:
            yield Clip(scene.reversed(), seed, split, number, backwards=True)


def _writer(clip: Clip) -> Callable[[Any], None]:
    def write_clip(path: Path) -> None:
        from video_contrast.builders.shapes.render import FPS, render
        from video_contrast.video.files import write_video

        # Lossless: a lossy encoder predicts frames from their neighbours, so a clip and its reversal would differ
        # in more than their order, and a bag of frames would no longer be at exactly one half.
        write_video(path, render(clip.scene), FPS, quality="lossless")

    return write_clip


def _config(
    config: str, pool: list[Clip], seed: int, items: int, gallery: int
) -> tuple[list[tuple[Clip, Row]], Counter[str]]:
    counts: Counter[str] = Counter()
    if config == "retrieval":
        made = [(clip, _retrieval_row(clip)) for clip in islice(_unambiguous(pool, counts), gallery)]
    elif config == "antonym_mc":
        made = list(_antonym_items(pool, seed, items, counts))
    else:
        made = list(islice(_items(config, pool, seed, counts), items))
    counts["built"] = len(made)
    return made, counts


def _retrieval_row(clip: Clip, **more: str) -> Row:
    said = claim(clip.scene)
    captions = [write(said), write(said, names=True, phrase=1)]
    return retrieval_row(id=clip.id, captions=captions, meta=clip.meta() | more, **clip.where())


def _unambiguous(pool: list[Clip], counts: Counter[str]) -> Iterator[Clip]:
    """Clips none of whose captions may be true of another that was kept, nor theirs of it."""
    kept: list[Clip] = []
    for clip in pool:
        own = write(claim(clip.scene))
        if all(
            verdict(other.scene, own) == verdict(clip.scene, write(claim(other.scene))) == "false" for other in kept
        ):
            kept.append(clip)
            yield clip
        else:
            counts["caption may be true of another clip"] += 1


def _antonym_items(pool: list[Clip], seed: int, items: int, counts: Counter[str]) -> Iterator[tuple[Clip, Row]]:
    """Each clip and its reversal with the same two options; the pairs of antonyms take turns."""
    by_action: dict[str, list[Clip]] = {action: [] for action in REVERSE}
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
        back = Clip(clip.scene.reversed(), clip.seed, clip.split, clip.number, backwards=True)
        for shown in (clip, back):
            said = claim(shown.scene)
            edit = contrasts.antonym(shown.scene, said, phrase)
            assert edit is not None
            # The options stand in the same order for both, so the label tells which way the clip runs.
            label = int((shown is back) != flip)
            yield (
                shown,
                _row("antonym_mc", shown, write(said, phrase=phrase), [(edit.text, "antonym", edit)], label, None),
            )


def _items(config: str, pool: list[Clip], seed: int, counts: Counter[str]) -> Iterator[tuple[Clip, Row]]:
    """One item a clip where the clip allows this kind of contrast."""
    names = config == "person_id_mc"
    for clip in pool:
        rng = stream("shapes", VERSION, seed, config, clip.id)
        # The random options do not depend on the config, nor does the way the action is phrased.
        shared = stream("shapes", VERSION, seed, "random options", clip.id)
        phrase = int(shared.integers(2))
        said = claim(clip.scene)
        true = write(said, names=names, phrase=phrase)
        made = _CONTRASTS[config](clip.scene, said, true, rng, phrase)
        if made is None:
            counts["no such contrast"] += 1
            continue
        kind = _KINDS[config]
        negatives: list[Option] = [(edit.text, kind, edit) for edit in made]
        replaced = None
        if config != "counterfactual_mc":
            distractors = _distractors(clip, pool, shared, names, {true, *(edit.text for edit in made)})
            if made:
                replaced = distractors.pop(0)
            negatives += [(text, "random", None) for text in distractors]
        yield clip, _row(config, clip, true, negatives, int(rng.integers(len(negatives) + 1)), replaced, rng)


def _distractors(clip: Clip, pool: list[Clip], rng: Generator, names: bool, taken: set[str]) -> list[str]:
    """Four captions of other clips that are false of this one."""
    chosen: list[str] = []
    for number in rng.permutation(len(pool)):
        other = pool[int(number)]
        text = write(claim(other.scene), names=names, phrase=int(rng.integers(2)))
        if other is not clip and text not in taken and text not in chosen and verdict(clip.scene, text) == "false":
            chosen.append(text)
        if len(chosen) == OPTIONS - 1:
            return chosen
    raise VideoContrastError(f"shapes: too few clips for {OPTIONS - 1} random options; raise --items")


def _row(
    config: str,
    clip: Clip,
    true: str,
    negatives: list[Option],
    label: int,
    replaced: str | None,
    rng: Generator | None = None,
) -> Row:
    """The row with its options in place, each of them checked against the scene."""
    if rng is not None:
        negatives = [negatives[int(n)] for n in rng.permutation(len(negatives))]
    options = [*negatives[:label], (true, "true", None), *negatives[label:]]
    for text, kind, _ in options:
        found = verdict(clip.scene, text)
        if found != ("true" if kind == "true" else "false"):
            raise VideoContrastError(
                f"shapes, {config}, clip {clip.id}: option {text!r} ({kind}) is {found} of the clip"
            )
    return multiple_choice_row(
        id=f"{config}-{clip.id}",
        candidates=[text for text, _, _ in options],
        label=label,
        kinds=[kind for _, kind, _ in options],
        edits=[edit.row() if edit else None for _, _, edit in options],
        replaced=replaced,
        cluster=clip.cluster,
        meta=clip.meta(),
        **clip.where(),
    )


Made = list[Edit] | None


def _one(edit: Edit | None) -> Made:
    return None if edit is None else [edit]


def _random(scene: Scene, said: Claim, true: str, rng: Generator, phrase: int) -> Made:
    return []


_CONTRASTS: dict[str, Callable[[Scene, Claim, str, Generator, int], Made]] = {
    "random_mc": _random,
    "verb_mc": lambda scene, said, true, rng, phrase: _one(contrasts.verb(scene, said, rng, phrase)),
    "gender_mc": lambda scene, said, true, rng, phrase: _one(contrasts.gender(scene, true, rng)),
    "person_id_mc": lambda scene, said, true, rng, phrase: _one(contrasts.person_id(scene, true, rng)),
    "entity_mc": lambda scene, said, true, rng, phrase: _one(contrasts.entity(scene, said, rng, phrase)),
    "object_mc": lambda scene, said, true, rng, phrase: _one(contrasts.object(scene, said, rng, phrase)),
    "role_mc": lambda scene, said, true, rng, phrase: _one(contrasts.role(scene, said, phrase)),
    "counterfactual_mc": lambda scene, said, true, rng, phrase: contrasts.counterfactuals(scene, said, rng, phrase),
}
_KINDS = {
    "random_mc": "random",
    "verb_mc": "verb_lexical",
    "gender_mc": "gender",
    "person_id_mc": "person_id",
    "entity_mc": "entity",
    "object_mc": "object",
    "role_mc": "role",
    "counterfactual_mc": "counterfactual",
}
_HOW: dict[str, dict[str, Any]] = {
    "retrieval": {"negatives": "the captions of the other clips; none is true of a clip but its own"},
    "random_mc": {"negatives": "captions of four other clips"},
    "antonym_mc": {"negatives": "the action's antonym; each clip stands beside its reversal"},
    "verb_mc": {"negatives": "another action with the same objects, and three random captions"},
    "gender_mc": {"negatives": "the gendered noun swapped (paper's Table 6), and three random captions"},
    "person_id_mc": {"negatives": "another name of the same gender, and three random captions"},
    "entity_mc": {"negatives": "another figure of the same colour, and three random captions"},
    "object_mc": {"negatives": "another object or landmark, and three random captions"},
    "role_mc": {"negatives": "who acts and who is acted upon swapped, and three random captions"},
    "counterfactual_mc": {"negatives": "five other actions of the same figures, as three pairs of antonyms"},
}  # fmt: skip


def _facts(seed: int, items: int, gallery: int, train: int, validation: int, reversals: bool) -> dict[str, Any]:
    options = {"items": items, "gallery": gallery, "train": train, "validation": validation, "reversals": reversals}
    return {
        "pretty_name": "Shapes world",
        "summary": "Short clips of shapes and people in motion, drawn by a program, with captions whose truth follows "
        "from the scene. Every option of every question was checked: true ones are true, contrasts are false.",
        "sources": ["made by video-contrast; no outside data"],
        "licence": "Apache-2.0",
        "licence_id": "apache-2.0",
        "citations": [],
        "seed": seed,
        "options": options,
        "version": VERSION,
        "held_out": "no scene of test or validation occurs in train, nor its mirror image, nor either played backwards",
        "transitive_actions": list(TRANSITIVE),
        "configs": {},
    }


def scene_of(clip_id: str) -> Scene:
    """The scene of a clip of any shapes set, found again from its id alone ("test-0-0042", "test-0-0042r").

    Raises:
        VideoContrastError: the id is not of a shapes set.
    """
    split, seed, number = ([*clip_id.split("-"), "", ""])[:3]
    if not (seed.isdigit() and number.rstrip("r").isdigit()):
        raise VideoContrastError(f"{clip_id!r} is not the id of a clip of the shapes world")
    scene = next(scenes(int(seed), split, 1, first=int(number.rstrip("r"))))
    return scene.reversed() if number.endswith("r") else scene
