"""Groups of options that several builders share (`video_contrast.options` says how an option is declared)."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from video_contrast.options import Flag, Seed, Tagger


@dataclass(frozen=True, kw_only=True)
class BuildOptions:
    """How a set is made."""

    seed: Seed = 0
    num_proc: Annotated[int, "processes that share the work"] = 1


@dataclass(frozen=True, kw_only=True)
class CaptionTable:
    """A table of videos and captions, and the names of its columns."""

    captions: Annotated[str, "table of captions: .csv .tsv .jsonl .json .parquet, or a data set of the Hub"]
    video_column: Annotated[str, "column with the video file, relative to the video root"] = "video"
    caption_column: Annotated[str, "column with the caption, or a list of captions"] = "caption"
    id_column: Annotated[str | None, "column with the clip's id; default: the video file without its suffix"] = None
    start_column: Annotated[str | None, "column with the clip's start in seconds"] = None
    end_column: Annotated[str | None, "column with the clip's end in seconds"] = None
    movie_column: Annotated[str | None, "column with the movie: distractors and names come from the same movie"] = None
    video_root: Annotated[Path | None, "folder that absolute paths of the table are made relative to"] = None
    source_split: Annotated[str | None, "split of the Hub data set"] = None


@dataclass(frozen=True, kw_only=True)
class ContrastOptions:
    """How contrasts are made: the captions that are edited, the generator and its constraints."""

    caption: Annotated[
        Literal["eligible", "base"],
        "caption that a contrast is built on: eligible (the first that allows it) or base (that of random_mc)",
    ] = "eligible"
    extended: Annotated[bool, "gender: use the longer list of nouns beside the paper's Table 6"] = False
    generator: Annotated[str, "of verb_mc: lexical, t5, mlm or llm"] = "lexical"
    generator_model: Annotated[
        str | None, "checkpoint of the generator (Hub id or folder)", Flag(former=("model",))
    ] = None
    generator_options: Annotated[
        str | None, "further options of the generator: name=value,... (endpoint=, store=, k= ...)"
    ] = None
    constraints: Annotated[str | None, "constraints of verb_mc, comma-separated; default: the generator's own set"] = (
        None
    )
    constraint_options: Annotated[
        str | None,
        "further thresholds and models of the constraints: name=value,...",
        Flag(former=("settings", "constraint_settings")),
    ] = None
    tagger: Tagger = "auto"
