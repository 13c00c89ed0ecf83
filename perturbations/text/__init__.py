"""The 35 text perturbations of the robustness paper. Importing this fills the registry.

perturb_captions(captions, name, ids=...)   many captions, each with its own random stream
shift(originals, perturbed)                 how many captions stayed as they were
how_to_get(spec)                            what a perturbation needs and the command that gets it
text_spec(name)                             what a perturbation is: category, version, requirements
names(bias=True)                            the 35 names, or the 31 without the gender ones
"""

from collections.abc import Mapping, Sequence
from importlib import import_module

from video_contrast.errors import UsageError, VideoContrastError, libraries_named
from video_contrast.perturbations.english import Sentence, parse
from video_contrast.perturbations.registry import TEXT, TextSpec, text_spec
from video_contrast.perturbations.text.checkpoints import how_to_get
from video_contrast.seeds import Streams, stream

PROFILES = ("paper", "released")
Models = Mapping[str, str | Sequence[str]]
_Stream = tuple[int, str, str, str, int]  # seed, name and version of the perturbation, id, number of the caption


@libraries_named()
def perturb_captions(
    captions: Sequence[str],
    name: str,
    *,
    ids: Sequence[str | int],
    caption_indices: Sequence[int] | None = None,
    seed: int = 0,
    profile: str = "paper",
    models: Models | None = None,
    sentences: Sequence[Sentence] | None = None,
) -> list[str]:
    """The perturbed captions, in order.

    A caption's change depends on (seed, name, version of the rule, its id, its index) and on nothing else. Raises
    UsageError: unknown name or profile, lists of different lengths, or a library that is not installed;
    VideoContrastError: a caption is not text, or what the perturbation needs is not there; the message names the
    command that gets it.

    Args:
        captions: texts without line breaks. An empty one stays empty; one that has nothing to change (no noun, no
            gendered word) comes back as it is: `shift` counts these.
        name: one of the 35 (`video-contrast list perturbations`).
        ids: one item id a caption; 7 and "7" are the same id.
        caption_indices: which caption of its item each is; all 0 if not given.
        seed: any integer.
        profile: "paper" (correct English where the release slips) or "released".
        models: checkpoints to use in place of the named ones: perturbation name -> Hub name or folder, or several
            where it needs several. `active_to_passive` goes by rules unless a checkpoint is given ("rules" may be).
        sentences: the captions' parses (`english.parse`), if the caller has them; else they are made where needed.

    >>> perturb_captions(["a little girl does gymnastics"], "drop_first_and_last", ids=["ret1"])
    ['[UNK] little girl does [UNK]']
    """
    spec = text_spec(name)
    if profile not in PROFILES:
        raise UsageError(f"unknown profile {profile!r} for text: choose paper or released")
    seed = int(seed)
    indices = [0] * len(captions) if caption_indices is None else [int(n) for n in caption_indices]
    if not len(captions) == len(ids) == len(indices):
        raise UsageError(
            f"{len(captions)} captions, {len(ids)} ids and {len(indices)} caption indices: there must be one each"
        )
    for row, caption in enumerate(captions):
        if not isinstance(caption, str):
            raise VideoContrastError(f"caption {row} (id {ids[row]}) is {type(caption).__name__}, not text")
    streams = [(seed, name, spec.version, str(item), index) for item, index in zip(ids, indices, strict=True)]
    texts: Sequence[str | Sentence] = captions
    if "parse" in spec.requirements:
        texts = parse(captions) if sentences is None else sentences
    if spec.batched:
        return _batched(spec, captions, texts, streams, profile=profile, models=(models or {}).get(name))
    if models and name in models:
        raise UsageError(f"{name} needs no model, so none can be given for it")
    at = Streams().at
    return [
        spec.function(text, at(*place), profile=profile) if caption.strip() else caption
        for caption, text, place in zip(captions, texts, streams, strict=True)
    ]


def shift(originals: Sequence[str], perturbed: Sequence[str]) -> dict[str, float]:
    """The number of captions that a perturbation left as they were.

    >>> shift(["a man", "a dog"], ["a woman", "a dog"])
    {'captions': 2, 'unchanged': 1, 'unchanged_share': 0.5}
    """
    if len(originals) != len(perturbed):
        raise ValueError(f"{len(originals)} originals but {len(perturbed)} perturbed captions")
    same = sum(a == b for a, b in zip(originals, perturbed, strict=True))
    return {"captions": len(originals), "unchanged": same, "unchanged_share": same / max(len(originals), 1)}


def _batched(
    spec: TextSpec, captions: Sequence[str], texts: Sequence[str | Sentence], streams: list[_Stream], **options: object
) -> list[str]:
    new_captions = list(captions)
    if rows := [row for row, caption in enumerate(captions) if caption.strip()]:
        new_texts = spec.function([texts[row] for row in rows], [stream(*streams[row]) for row in rows], **options)
        for row, text in zip(rows, new_texts, strict=True):
            if text != captions[row]:  # a caption that stays keeps its blanks too
                new_captions[row] = " ".join(text.split())
    return new_captions


# The order is that of the registry: the categories of the paper.
MODULES = (
    "added", "bias", "characters", "prefix", "negation", "style_transfer", "passive", "tense", "word_vectors",
    "masked_words", "wordnet_swaps", "back_translation", "dropped",
)  # fmt: skip
for _module in MODULES:
    import_module(f"{__name__}.{_module}")

__all__ = ["PROFILES", "how_to_get", "names", "perturb_captions", "shift", "text_spec"]


def names(bias: bool = True) -> list[str]:
    """The names of the perturbations; without the four of category Bias for captions that name no gender."""
    return [spec.name for spec in TEXT.values() if bias or spec.category != "Bias"]
