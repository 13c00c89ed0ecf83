"""The builder `videocon`: contrast captions by a language model, by kind of misalignment, and by people."""

from pathlib import Path
from typing import Annotated

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.caption_table import read_table
from video_contrast.builders.sources.published import Items, PublishedOptions, built_set
from video_contrast.builders.sources.published_fields import Release, present, text_of
from video_contrast.builders.sources.published_videos import file_name, video_name
from video_contrast.errors import UsageError, VideoContrastError

RELEASE = Release(
    builder="videocon",
    title="VideoCon",
    summary="Captions and contrast captions with seven kinds of misalignment by a language model (MSR-VTT, VATEX, "
    "TEMPO), and by people (ActivityNet).",
    licence="VideoCon is under the MIT licence; the licences of its sources hold for their captions and videos.",
    licence_id="mit",
    citation="Bansal, Bitton, Szpektor, Chang, Grover: VideoCon: Robust Video-Language Alignment via Contrast "
    "Captions. CVPR 2024.",
    fetch="hf download videocon/videocon --repo-type dataset --local-dir VideoCon",
    videos="as datasets/msrvtt.md, vatex.md and tempo.md of https://github.com/Hritikbansal/videocon say, into "
    "SOURCE/; the human part: the addresses in its column video_url, into human/",
)


@builder("videocon", configs=("llm_mc", "human_mc"), requirements=f"its csv files: `{RELEASE.fetch}`")
def videocon(
    configs: list[str],
    *,
    llm: Annotated[Path | None, "videocon_llm_entailment.csv"] = None,
    human: Annotated[Path | None, "videocon_human.csv"] = None,
    video_pattern: Annotated[str, "path of a video of the first part"] = "{source}/{file}",
    options: PublishedOptions,
) -> BuiltSet:
    """VideoCon: a caption against its contrast caption, by misalignment; splits as released."""
    tables: dict[str, dict[str, Items]] = {}
    if "llm_mc" in configs and llm is not None:
        splits = tables.setdefault("llm_mc", {})
        for number, (place, row) in enumerate(read_table(present(llm, RELEASE))):
            split = text_of(row, "split", place)
            if split not in ("train", "val", "test"):
                raise VideoContrastError(f"{place}: the split {split!r} is none of train, val, test")
            name = "validation" if split == "val" else split
            items = splits.get(name) or splits.setdefault(name, Items(options))
            source, path = text_of(row, "source", place), text_of(row, "videopath", place)
            items.captions(
                place,
                str(number),
                video_name(video_pattern, place, source=source, file=file_name(path), path=path),
                true=text_of(row, "caption", place),
                negatives=[text_of(row, "neg_caption", place)],
                kind=text_of(row, "misalignment", place),
                meta={"source": source, "youtube_key": row.get("youtube_key")},
            )
    if "human_mc" in configs and human is not None:
        items = tables.setdefault("human_mc", {}).setdefault("test", Items(options))
        for number, (place, row) in enumerate(read_table(present(human, RELEASE))):
            hard = text_of(row, "hard", place).strip().lower()
            if hard not in ("true", "false"):
                raise VideoContrastError(f"{place}: 'hard' must be True or False, not {hard!r}")
            address = text_of(row, "video_url", place)
            items.captions(
                place,
                str(number),
                video_name("human/{file}", place, file=file_name(address)),
                true=text_of(row, "caption", place),
                negatives=[text_of(row, "neg_caption", place)],
                kind="human_hard" if hard == "true" else "human",
                meta={"video_url": address, "nle": row.get("nle")},
            )
    if not tables:
        raise UsageError(f"videocon: give --llm FILE or --human FILE; fetch them by `{RELEASE.fetch}`")
    return built_set(RELEASE, tables, options)
