"""The builder `lsmdc_ids`: movie descriptions with character names, split within movies (contrast-set paper, D.2).

LSMDC's text is licensed and not part of this package. The builder reads a tab-separated file without a header as the
challenge gives it out: the clip's name first, the sentence last, anything between (aligned and extracted times). A
clip is named MOVIE_hh.mm.ss.mmm-hh.mm.ss.mmm. Files with a header are read by their columns `clip` and `caption`.
"""

import re
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

from video_contrast.builders.assembly import options
from video_contrast.builders.assembly.clips import Clip
from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.captions import read_casts
from video_contrast.errors import VideoContrastError
from video_contrast.seeds import digest

RELEASED = "lsmdc_human_contrast_set.tsv"
CONFIGS = ("retrieval", "random_mc", "person_id_mc", "verb_mc", "verb_human_mc")
SHARES = (("train", 0.8), ("validation", 0.1), ("test", 0.1))
_TIMED = re.compile(r"_\d\d\.\d\d\.\d\d\.\d{3}-\d\d\.\d\d\.\d\d\.\d{3}$")


@builder("lsmdc_ids", configs=CONFIGS, needs="LSMDC's descriptions with character names, and a table of the cast")
def lsmdc_ids(
    configs: list[str],
    *,
    captions: Annotated[Path, "LSMDC's training descriptions with names: clip<TAB>...<TAB>sentence"],
    cast: Annotated[Path | None, "table of movie, name and gender (CSV, TSV or JSON lines)"] = None,
    human: Annotated[Path | None, "human negatives for verb_human_mc: five-option TSV or JSON lines"] = None,
    splits: Annotated[str, "splits of the contrast configs, comma-separated"] = "test",
    video_pattern: Annotated[str, "path of a clip under the video root"] = "{movie}/{clip}.avi",
    caption: Annotated[str, options.CAPTION_HELP] = "eligible",
    generator: Annotated[str, options.GENERATOR_HELP] = "lexical",
    model: Annotated[str | None, options.MODEL_HELP] = None,
    generator_options: Annotated[str | None, options.GENERATOR_OPTIONS_HELP] = None,
    constraints: Annotated[str | None, options.CONSTRAINTS_HELP] = None,
    settings: Annotated[str | None, options.SETTINGS_HELP] = None,
    tagger: Annotated[str, options.TAGGER_HELP] = "auto",
    seed: Annotated[int, "of every draw, the split included"] = 0,
    num_proc: Annotated[int, options.NUM_PROC_HELP] = 1,
) -> BuiltSet:
    """LSMDC-IDs: retrieval, random, character-id and verb contrasts within movies."""
    from video_contrast.builders.assembly import configs as making
    from video_contrast.builders.assembly.verbs import tag_cache

    everything = set(configs) == set(CONFIGS)
    clips = read(options.existing(captions, "it must hold LSMDC's descriptions", "--captions"), video_pattern)
    parts = split_within_movies(clips, seed)
    chosen = options.chosen_splits(splits, parts)
    five_options = human is not None and _is_released(human)
    plan = options.plan(
        seed=seed, caption=caption, num_proc=num_proc, extended=False, generator=generator, model=model,
        generator_options=generator_options,
        constraints=constraints, settings=settings, tagger=tagger,
        training=lambda: [text for clip in parts["train"] for text in clip.captions],
        casts=None if cast is None else (lambda: read_casts(cast)),
        human=None if five_options else human,
    )  # fmt: skip
    facts: dict[str, Any] = {
        "pretty_name": "LSMDC contrast sets",
        "summary": "Contrast sets on LSMDC's descriptions with character names. Holds ids and captions, no videos.",
        "sources": [Path(captions).name],
        "licence": "LSMDC's descriptions are licensed; do not publish a set that holds them.",
        "options": {"caption": caption, "generator": generator, "model": model},
        "counts": {name: len(part) for name, part in parts.items()},
        "split": "80/10/10 within movies, so test characters are seen in training",
    }
    wanted = [config for config in configs if not (five_options and config == "verb_human_mc")]
    with tag_cache():
        built = making.built_set(
            "lsmdc_ids", wanted, {name: parts[name] for name in chosen}, plan, facts=facts,
            retrieval_splits=parts, optional=everything,
        )  # fmt: skip
    if five_options and human is not None and "verb_human_mc" in configs:
        _released(built, human, video_pattern)
    return built


def read(path: Path, pattern: str = "{movie}/{clip}.avi") -> list[Clip]:
    """Clips of a file of descriptions, in its order.

    Raises:
        VideoContrastError: a clip whose name holds no movie and times, an empty sentence, or a clip given twice with
            the same sentence; the message names the line.
    """
    found: dict[str, list[str]] = {}
    for place, clip, sentence in _lines(path):
        if not _TIMED.search(clip):
            raise VideoContrastError(f"{place}: clip {clip!r} must be named MOVIE_hh.mm.ss.mmm-hh.mm.ss.mmm")
        if not sentence:
            raise VideoContrastError(f"{place}: clip {clip!r} has no sentence")
        found.setdefault(clip, []).append(sentence)
    if not found:
        raise VideoContrastError(f"{path}: no rows")
    return [
        Clip(
            id=clip,
            video_id=clip,
            video_path=pattern.format(movie=movie_of(clip), clip=clip),
            captions=tuple(said),
            cluster=clip,
            pool=movie_of(clip),
            meta={"movie": movie_of(clip)},
        )
        for clip, said in found.items()
    ]


def movie_of(clip: str) -> str:
    """The movie that a clip is from.

    >>> movie_of("3009_BATTLE_LOS_ANGELES_00.03.07.170-00.03.09.675")
    '3009_BATTLE_LOS_ANGELES'
    """
    return _TIMED.sub("", clip)


def split_within_movies(clips: Sequence[Clip], seed: int = 0) -> dict[str, list[Clip]]:
    """80/10/10 of every movie's clips, chosen by seed; within a split the order of the file.

    A movie of few clips fills `train` first, then `test`, then `validation`.
    """
    movies: dict[str, list[Clip]] = defaultdict(list)
    for clip in clips:
        movies[clip.pool].append(clip)
    place: dict[str, str] = {}
    for movie in movies.values():
        held = len(movie) / 10
        n_test, n_validation = int(held + 0.5), int(held + 0.5) if len(movie) >= 10 else 0
        for number, clip in enumerate(sorted(movie, key=lambda clip: digest(seed, "lsmdc-split", clip.id))):
            place[clip.id] = "test" if number < n_test else "validation" if number < n_test + n_validation else "train"
    return {name: [clip for clip in clips if place[clip.id] == name] for name, _ in SHARES}


def _lines(path: Path) -> list[tuple[str, str, str]]:
    """(place, clip, sentence) of every line; whether there is a header is seen from the first one."""
    rows = []
    try:
        lines = Path(path).read_text(encoding="utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise VideoContrastError(f"{path}: not UTF-8 text ({error}); convert it first") from error
    header = [name.strip().lower() for name in lines[0].rstrip("\r").split("\t")]
    if "clip" in header:
        names = [name for name in ("caption", "sentence", "description") if name in header]
        if not names:
            raise VideoContrastError(f"{Path(path).name}, line 1: the header needs clip and caption, not {header}")
        first, at_clip, at_text = 1, header.index("clip"), header.index(names[0])
    else:
        first, at_clip, at_text = 0, 0, -1
    for number, line in enumerate(lines[first:], first + 1):
        if not line.strip():
            continue
        cells = line.rstrip("\r").split("\t")
        if len(cells) < 2 or (at_text >= len(cells) or at_clip >= len(cells)):
            raise VideoContrastError(f"{Path(path).name}, line {number}: needs a clip and a sentence, tab between them")
        rows.append((f"{Path(path).name}, line {number}", cells[at_clip].strip(), " ".join(cells[at_text].split())))
    return rows


def _is_released(path: Path) -> bool:
    from video_contrast.builders.sources.released import is_released

    return is_released(path)


def _released(built: BuiltSet, path: Path, pattern: str) -> None:
    from video_contrast.builders.assembly import configs as making
    from video_contrast.builders.sources.released import read_released, released_rows

    rows = released_rows(
        read_released(path),
        "verb_human",
        video_path=lambda clip: pattern.format(movie=movie_of(clip), clip=clip),
    )
    making.add(
        built,
        "verb_human_mc",
        {"test": rows},
        {
            "negatives": "the file as it is: options, positions and order",
            "kind": "verb_human",
            "options": len(rows[0]["candidates"]),
            "source": Path(path).name,
            "splits": {"test": {"items": len(rows)}},
        },
    )
