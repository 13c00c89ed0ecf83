"""The builder `videocon`: contrast captions by a language model, by kind of misalignment, and by people."""

from pathlib import Path
from typing import Annotated

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.published import PublishedOptions, PublishedSet
from video_contrast.builders.sources.published_fields import file_name, read_rows, release
from video_contrast.errors import UsageError

SPLITS = {"train": "train", "val": "validation", "test": "test"}
RELEASE = release("videocon")


@builder("videocon", configs=("llm_mc", "human_mc"), requirements=f"its csv files: `{RELEASE.fetch}`")
def videocon(
    configs: list[str],
    *,
    llm: Annotated[Path | None, "videocon_llm_entailment.csv"] = None,
    human: Annotated[Path | None, "videocon_human.csv"] = None,
    video_pattern: Annotated[str, "path of a video of the first part; {path} is its videopath"] = "{source}/{path}",
    options: PublishedOptions,
) -> BuiltSet:
    """VideoCon: a caption against its contrast caption, by misalignment; splits as released."""
    published = PublishedSet(RELEASE, options)
    if "llm_mc" in configs and llm is not None:
        for row in read_rows(llm, RELEASE):
            split = row.text("split")
            if split not in SPLITS:
                raise row.error(f"the split {split!r} is none of {', '.join(SPLITS)}")
            path = row.text("videopath").lstrip("/")
            published.items("llm_mc", SPLITS[split]).captions(
                row,
                row.key,
                row.video(video_pattern, file=file_name(path), path=path, cluster=str(row.get("youtube_key") or "")),
                true=row.text("caption"),
                negatives=[row.text("neg_caption")],
                kind=row.text("misalignment"),
                meta={"source": row.get("source"), "youtube_key": row.get("youtube_key")},
            )
    if "human_mc" in configs and human is not None:
        for row in read_rows(human, RELEASE):
            hard = row.text("hard").strip().lower()
            if hard not in ("true", "false"):
                raise row.error(f"'hard' must be True or False, not {hard!r}")
            address = row.text("video_url")
            published.items("human_mc").captions(
                row,
                row.key,
                row.video("human/{file}", file=file_name(address)),
                true=row.text("caption"),
                negatives=[row.text("neg_caption")],
                kind="human_hard" if hard == "true" else "human",
                meta={"video_url": address, "nle": row.get("nle")},
            )
    if not published.tables:
        raise UsageError(f"videocon: give --llm FILE or --human FILE; fetch them by `{RELEASE.fetch}`")
    return published.built()
