"""Which items a page shows: options that the commands and the Space of a page share."""

from dataclasses import dataclass

from video_contrast.options import Config, Seed, Split, VideoRoot


@dataclass(frozen=True, kw_only=True)
class PageItems:
    """Which items of a set a page shows, in which order."""

    config: Config = "verb_mc"
    split: Split = "test"
    video_root: VideoRoot = None
    seed: Seed = 0
