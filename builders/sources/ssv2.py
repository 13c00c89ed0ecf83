"""The builder `ssv2`: Something-Something V2 as retrieval by label, and as a choice among templates."""

from pathlib import Path
from typing import Annotated

from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.sources.published import PublishedOptions, PublishedSet
from video_contrast.builders.sources.published_fields import Choice, Entry, VideoName, read_rows, release
from video_contrast.errors import UsageError

RELEASE = release("ssv2")


@builder("ssv2", configs=("label", "template_mc"), requirements=f"its json files: {RELEASE.fetch}")
def ssv2(
    configs: list[str],
    *,
    label: Annotated[Path | None, "json of SSv2-label, validation"] = None,
    template: Annotated[Path | None, "json of SSv2-template, validation"] = None,
    options: PublishedOptions,
) -> BuiltSet:
    """SSv2-label as retrieval; SSv2-template as a choice among the templates, since each is true of several clips."""
    published = PublishedSet(RELEASE, options)
    if "label" in configs and label is not None:
        for row in read_rows(label, RELEASE):
            for video in _videos(row):
                published.items("label", "validation").retrieval(row, video.video_id, video, [row.text("caption")])
    if "template_mc" in configs and template is not None:
        rows = list(read_rows(template, RELEASE))
        names = list(dict.fromkeys(row.text("caption") for row in rows))
        for row in rows:
            choice = Choice("", names, row.place_among("caption", names))
            for video in _videos(row):
                published.items("template_mc", "validation").answers(
                    row, video.video_id, video, choice, kind="template"
                )
    if not published.tables:
        raise UsageError(f"ssv2: give --label FILE or --template FILE; fetch them: {RELEASE.fetch}")
    return published.built()


def _videos(row: Entry) -> list[VideoName]:
    """The videos of a caption: one, or a list of them."""
    names = [row.text("video")] if isinstance(row.get("video"), str) else row.texts("video")
    return [row.video("{file}", file=name) for name in names]
