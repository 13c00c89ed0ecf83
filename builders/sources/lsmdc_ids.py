"""The builder `lsmdc_ids`: movie descriptions with character names, split within movies (contrast-set paper, D.2).

LSMDC's text is licensed and not part of this package. The builder reads a tab-separated file without a header as the
challenge gives it out: the clip's name first, the sentence last, anything between (aligned and extracted times). A
clip is named MOVIE_hh.mm.ss.mmm-hh.mm.ss.mmm. Files with a header are read by their columns `clip` and `caption`.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from video_contrast.builders.assembly.captioned_clip import CaptionedClip, ContrastSetOptions
from video_contrast.builders.assembly.configs import build_configs, contrast_plan, existing, select_splits
from video_contrast.builders.registry import BuiltSet, about, builder
from video_contrast.builders.sources.captions import read_casts
from video_contrast.builders.sources.released import is_released, released_config
from video_contrast.errors import VideoContrastError
from video_contrast.files import read_text
from video_contrast.seeds import digest

CONFIGS = ("retrieval", "random_mc", "person_id_mc", "verb_mc", "verb_human_mc")
SPLITS = ("train", "validation", "test")
_TIMED = re.compile(r"_\d\d\.\d\d\.\d\d\.\d{3}-\d\d\.\d\d\.\d\d\.\d{3}$")


@builder(
    "lsmdc_ids", configs=CONFIGS, requirements="LSMDC's descriptions with character names, and a table of the cast"
)
def lsmdc_ids(
    configs: list[str],
    *,
    captions: Annotated[Path, "LSMDC's training descriptions with names: clip<TAB>...<TAB>sentence"],
    cast: Annotated[Path | None, "table of characters: movie, name and gender (CSV, TSV or JSON lines)"] = None,
    human: Annotated[Path | None, "human negatives for verb_human_mc: five-option TSV or JSON lines"] = None,
    splits: Annotated[str, "splits of the contrast configs, comma-separated"] = "test",
    video_pattern: Annotated[str, "path of a clip under the video root"] = "{movie}/{clip}.avi",
    contrasts: ContrastSetOptions = ContrastSetOptions(),  # noqa: B008  frozen
) -> BuiltSet:
    """LSMDC-IDs: retrieval, random, character-id and verb contrasts within movies."""
    clips = read(existing(captions, "it must hold LSMDC's descriptions", "--captions"), video_pattern)
    parts = split_within_movies(clips, contrasts.seed)
    split_names = select_splits(splits, parts)
    file = human if human is not None and is_released(human) else None
    plan = contrast_plan(
        contrasts,
        training_videos=lambda: {clip.id: clip.captions for clip in parts["train"]},
        casts=None if cast is None else (lambda: read_casts(cast)),
        human=None if file else human,
    )
    counts = {name: len(part) for name, part in parts.items()}
    facts = about("lsmdc_ids") | {"sources": [captions.name], "options": contrasts.record(), "counts": counts}
    ours, optional = [c for c in configs if not (file and c == "verb_human_mc")], set(configs) == set(CONFIGS)
    built_from = {name: parts[name] for name in split_names}
    dataset = build_configs("lsmdc_ids", ours, built_from, plan, facts=facts, retrieval_splits=parts, optional=optional)
    if file and "verb_human_mc" in configs:
        tables, own = released_config(file, "verb_human", lambda c: video_pattern.format(movie=movie_of(c), clip=c))
        dataset.add_config("verb_human_mc", tables, own)
    return dataset


def read(path: Path, pattern: str = "{movie}/{clip}.avi") -> list[CaptionedClip]:
    """Clips of a file of descriptions, in its order.

    Raises VideoContrastError: a clip whose name holds no movie and times, an empty sentence, or a clip given twice with
    the same sentence; the message names the line.
    """
    lines = [line.split("\t") for line in read_text(path).split("\n")]
    header = [name.strip().lower() for name in lines[0]]
    first, at_clip, at_text = 0, 0, -1
    if "clip" in header:
        names = [name for name in ("caption", "sentence", "description") if name in header]
        if not names:
            raise VideoContrastError(f"{path.name}, line 1: the header needs clip and caption, not {header}")
        first, at_clip, at_text = 1, header.index("clip"), header.index(names[0])
    by_clip: dict[str, list[str]] = {}
    for number, cells in enumerate(lines[first:], first + 1):
        if not any(map(str.strip, cells)):
            continue
        place = f"{path.name}, line {number}"
        if len(cells) <= max(1, at_text, at_clip):
            raise VideoContrastError(f"{place}: needs a clip and a sentence, tab between them")
        clip, sentence = cells[at_clip].strip(), " ".join(cells[at_text].split())
        if not _TIMED.search(clip):
            raise VideoContrastError(f"{place}: clip {clip!r} must be named MOVIE_hh.mm.ss.mmm-hh.mm.ss.mmm")
        if not sentence:
            raise VideoContrastError(f"{place}: clip {clip!r} has no sentence")
        by_clip.setdefault(clip, []).append(sentence)
    if not by_clip:
        raise VideoContrastError(f"{path}: no rows")
    clips = []
    for clip, sentences in by_clip.items():
        file, movie = pattern.format(movie=movie_of(clip), clip=clip), movie_of(clip)
        clips.append(CaptionedClip(clip, clip, file, tuple(sentences), cluster=clip, pool=movie, meta={"movie": movie}))
    return clips


def movie_of(clip: str) -> str:
    """The movie that a clip is from.

    >>> movie_of("3009_BATTLE_LOS_ANGELES_00.03.07.170-00.03.09.675")
    '3009_BATTLE_LOS_ANGELES'
    """
    return _TIMED.sub("", clip)


def split_within_movies(clips: Sequence[CaptionedClip], seed: int = 0) -> dict[str, list[CaptionedClip]]:
    """80/10/10 of every movie's clips, chosen by seed; within a split the order of the file.

    A movie of few clips fills `train` first, then `test`, then `validation`.
    """
    movies: dict[str, list[CaptionedClip]] = defaultdict(list)
    for clip in clips:
        movies[clip.pool].append(clip)
    place: dict[str, str] = {}
    for movie in movies.values():
        tenth = len(movie) / 10
        n_test, n_validation = int(tenth + 0.5), int(tenth + 0.5) if len(movie) >= 10 else 0
        for number, clip in enumerate(sorted(movie, key=lambda clip: digest(seed, "lsmdc-split", clip.id))):
            place[clip.id] = "test" if number < n_test else "validation" if number < n_test + n_validation else "train"
    return {name: [clip for clip in clips if place[clip.id] == name] for name in SPLITS}
