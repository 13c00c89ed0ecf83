"""The builder `captions`: contrast sets from any table of videos and captions."""

from pathlib import Path
from typing import Annotated, Any

from video_contrast.builders.assembly import options
from video_contrast.builders.assembly.clips import Clip
from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import is_safe_relative

CONFIGS = ("retrieval", "random_mc", "gender_mc", "person_id_mc", "verb_mc", "object_mc", "verb_human_mc")


@builder("captions", configs=CONFIGS, needs="a table of videos and captions (CSV, TSV, JSON lines, parquet, Hub)")
def captions(
    configs: list[str],
    *,
    captions: Annotated[str, "table of captions: .csv .tsv .jsonl .json .parquet, or a data set of the Hub"],
    video_column: Annotated[str, "column with the video file, relative to the video root"] = "video",
    caption_column: Annotated[str, "column with the caption, or a list of captions"] = "caption",
    id_column: Annotated[str | None, "column with the clip's id; default: the video file without its suffix"] = None,
    start_column: Annotated[str | None, "column with the clip's start in seconds"] = None,
    end_column: Annotated[str | None, "column with the clip's end in seconds"] = None,
    movie_column: Annotated[str | None, "column with the movie: distractors and names come from the same movie"] = None,
    cast: Annotated[Path | None, "table of movie, name and gender: the characters, for person_id_mc"] = None,
    human: Annotated[
        Path | None, "human negatives for verb_human_mc: JSON lines with video_id, caption, negative"
    ] = None,
    training: Annotated[str | None, options.TRAINING_HELP] = None,
    video_root: Annotated[Path | None, "folder that absolute paths of the table are made relative to"] = None,
    source_split: Annotated[str | None, "split of the Hub data set"] = None,
    split: Annotated[str, "name of the split that is written"] = "test",
    caption: Annotated[str, options.CAPTION_HELP] = "eligible",
    extended: Annotated[bool, options.EXTENDED_HELP] = False,
    generator: Annotated[str, options.GENERATOR_HELP] = "lexical",
    model: Annotated[str | None, options.MODEL_HELP] = None,
    generator_options: Annotated[str | None, options.GENERATOR_OPTIONS_HELP] = None,
    constraints: Annotated[str | None, options.CONSTRAINTS_HELP] = None,
    settings: Annotated[str | None, options.SETTINGS_HELP] = None,
    tagger: Annotated[str, options.TAGGER_HELP] = "auto",
    seed: Annotated[int, "of every draw"] = 0,
    num_proc: Annotated[int, options.NUM_PROC_HELP] = 1,
) -> BuiltSet:
    """Contrast sets from your own table of videos and captions."""
    from video_contrast.builders.assembly import configs as making
    from video_contrast.builders.assembly.verbs import tag_cache

    everything = set(configs) == set(CONFIGS)
    clips, counts = read_clips(
        captions,
        video_column=video_column,
        caption_column=caption_column,
        id_column=id_column,
        start_column=start_column,
        end_column=end_column,
        movie_column=movie_column,
        video_root=video_root,
        source_split=source_split,
    )
    plan = options.plan(
        seed=seed, caption=caption, num_proc=num_proc, extended=extended, generator=generator, model=model,
        generator_options=generator_options,
        constraints=constraints, settings=settings, tagger=tagger,
        training=lambda: training_captions(training, caption_column, clips),
        casts=None if cast is None else (lambda: read_casts(cast)),
        human=human,
    )  # fmt: skip
    facts = {
        "pretty_name": "Contrast sets of given captions",
        "summary": "Contrast sets made from a table of captions.",
        "sources": [Path(captions).name if Path(captions).is_file() else captions],
        "options": {"caption": caption, "extended": extended, "generator": generator, "model": model},
        "counts": counts,
    }
    with tag_cache():
        return making.built_set("captions", configs, {split: clips}, plan, facts=facts, optional=everything)


def training_captions(source: str | None, caption_column: str, clips: list[Clip]) -> list[str]:
    """The captions whose words are counted: those of the given table, or of the clips themselves."""
    from video_contrast.builders.sources.caption_table import column, read_table, texts

    if source is None:
        return [text for clip in clips for text in clip.captions]
    rows = read_table(source)
    return [text for place, row in rows for text in texts(column(row, caption_column, place, "--caption-column"))]


def read_clips(
    source: str | Path,
    *,
    video_column: str = "video",
    caption_column: str = "caption",
    id_column: str | None = None,
    start_column: str | None = None,
    end_column: str | None = None,
    movie_column: str | None = None,
    video_root: str | Path | None = None,
    source_split: str | None = None,
) -> tuple[list[Clip], dict[str, int]]:
    """Clips of a table, in the order of their first rows, and counts ("rows", "clips", "captions", "empty_captions").

    Rows of the same video, start and end (or of the same id) are one clip. Empty captions are counted and left out.

    Raises:
        UsageError: no such file or column.
        VideoContrastError: a path that leaves the video root, a bad time, or one id for two videos; names the line.
    """
    from video_contrast.builders.sources.caption_table import column, read_table, seconds, texts

    found: dict[Any, dict[str, Any]] = {}
    rows = empty = 0
    for place, row in read_table(source, split=source_split):
        rows += 1
        path = _relative(column(row, video_column, place, "--video-column"), video_root, place, video_column)
        start = (
            seconds(column(row, start_column, place, "--start-column"), start_column, place) if start_column else None
        )
        end = seconds(column(row, end_column, place, "--end-column"), end_column, place) if end_column else None
        movie = str(column(row, movie_column, place, "--movie-column")) if movie_column else ""
        name = str(column(row, id_column, place, "--id-column")) if id_column else None
        said = texts(column(row, caption_column, place, "--caption-column"))
        empty += not said
        where = (path, start, end)
        entry = found.setdefault(name if name is not None else where, {"where": where, "movie": movie, "texts": []})
        if entry["where"] != where:
            raise VideoContrastError(f"{place}: id {name!r} stands for {entry['where']} and for {where}")
        entry["texts"] += said
    if not rows:
        raise VideoContrastError(f"{source}: no rows")
    clips = [_clip(name, entry) for name, entry in found.items() if entry["texts"]]
    if not clips:
        raise VideoContrastError(f"{source}: every caption in column {caption_column!r} is empty")
    _check_ids(clips, source)
    spoken = sum(len(clip.captions) for clip in clips)
    counts = {"rows": rows, "clips": len(clips), "captions": spoken, "empty_captions": empty}
    return clips, counts | {"clips_without_caption": len(found) - len(clips)}


def read_casts(path: Path) -> dict[str, dict[str, str]]:
    """Movie -> name -> gender of a table with the columns movie (may be left out for one movie), name, gender."""
    from video_contrast.builders.sources.caption_table import read_table
    from video_contrast.perturbations.contrast import person_id

    return person_id.read_casts([{"movie": "", **row} for _, row in read_table(path)], Path(path).name)


def _clip(name: Any, entry: dict[str, Any]) -> Clip:
    path, start, end = entry["where"]
    stem = path.rsplit(".", 1)[0] if "." in path.rsplit("/", 1)[-1] else path
    times = "" if start is None and end is None else f"_{start or 0:g}" + (f"_{end:g}" if end is not None else "")
    return Clip(
        id=name if isinstance(name, str) else stem + times,
        video_id=stem,
        video_path=path,
        captions=tuple(entry["texts"]),
        cluster=stem,
        pool=entry["movie"],
        start=start,
        end=end,
        meta={"movie": entry["movie"]} if entry["movie"] else {},
    )


def _relative(value: Any, root: str | Path | None, place: str, name: str) -> str:
    """The video's path as the tables store it: relative, POSIX."""
    text = str(value or "").strip()
    path = Path(text)
    if path.is_absolute() and root is not None:
        try:
            text = path.resolve().relative_to(Path(root).resolve()).as_posix()
        except ValueError:
            raise VideoContrastError(f"{place}: {text!r} does not lie under --video-root {root}") from None
    if text.startswith("./"):
        text = text[2:]
    if not is_safe_relative(text):
        hint = "; give --video-root" if path.is_absolute() else ""
        raise VideoContrastError(
            f"{place}: column {name!r} must be a path relative to the video root, with '/' and without '..', "
            f"not {text!r}{hint}"
        )
    return text


def _check_ids(clips: list[Clip], source: str | Path) -> None:
    seen: dict[str, Clip] = {}
    for clip in clips:
        other = seen.setdefault(clip.id, clip)
        if other is not clip:
            raise UsageError(
                f"{source}: {other.video_path} and {clip.video_path} would both have the id {clip.id!r}; "
                "give each clip an id of its own with --id-column"
            )
