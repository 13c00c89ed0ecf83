"""A clip of the shapes world: a scene with its place in the set, drawn when its file is written."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from video_contrast.builders.assembly.captioned_clip import ClipSpan
from video_contrast.builders.shapes.captions import Claim
from video_contrast.builders.shapes.world import REVERSE, TRANSITIVE, Scene, scenes
from video_contrast.errors import VideoContrastError


@dataclass(frozen=True)
class SceneClip:
    """A scene with its place in the set."""

    scene: Scene  # what the clip shows
    seed: int  # of the set
    split: str  # "train", "validation" or "test"
    number: int  # of the scene in its split
    variant: str = ""  # "r" of a scene played backwards, "-gender-1" of one with another figure ...

    @property
    def id(self) -> str:
        """The clip's name: its split, seed, number and variant."""
        return self.cluster + self.variant

    @property
    def cluster(self) -> str:
        """What the clip shares with its variants."""
        return f"{self.split}-{self.seed}-{self.number:04d}"

    @property
    def path(self) -> str:
        """Where the clip lies in the set's folder."""
        return f"clips/{self.split}-{self.seed}/{self.number:04d}{self.variant}.mp4"

    def reversed(self) -> "SceneClip":
        """The clip played backwards."""
        return replace(self, scene=self.scene.reversed(), variant="r")

    def showing(self, claimed: Claim, variant: str) -> "SceneClip":
        """The clip with who, what and whom as a caption claims them; place, setting and jitter stay."""
        side = self.scene.side
        if claimed.action in ("lifts", "lowers"):
            side = "above"
        elif claimed.action in TRANSITIVE and side == "above":
            side = "left" if self.scene.jitter[0] < 0.5 else "right"
        scene = replace(self.scene, subject=claimed.subject, action=claimed.action, other=claimed.other, side=side)
        return replace(self, scene=scene, variant=variant)

    def columns(self) -> ClipSpan:
        """Returns the columns of a row that name its clip."""
        return {"video_id": self.id, "video_path": self.path, "start": None, "end": None}

    def meta(self) -> dict[str, str]:
        """What the clip shows, for the row's `meta`."""
        return {"action": self.scene.action, "subject": self.scene.subject.kind, "setting": self.scene.setting}

    def write(self, path: Path) -> None:
        """Draws the clip and writes its file.

        Lossless: a lossy encoder predicts frames from their neighbours, so a clip and its reversal would differ in
        more than their order, and a bag of frames would no longer be at exactly one half.
        """
        from video_contrast.builders.shapes.render import FPS, render
        from video_contrast.video import write_video

        write_video(path, render(self.scene), FPS, quality="lossless")


def training_clips(seed: int, split: str, count: int, *, reversals: bool) -> Iterator[SceneClip]:
    """The clips of a split, in order.

    `split`: "train" or "validation". `reversals`: follow each clip by its reversal, where that is another action.
    """
    for number, scene in enumerate(scenes(seed, split, count)):
        clip = SceneClip(scene, seed, split, number)
        yield clip
        if reversals and scene.action in REVERSE:
            yield clip.reversed()


def scene_of(clip_id: str) -> Scene:
    """The scene of a retrieval or antonym clip of any shapes set, by its id alone ("test-0-0042", "test-0-0042r").

    Raises VideoContrastError: the id is not of such a clip.
    """
    match = re.fullmatch(r"(\w+)-(\d+)-(\d+)(r?)", clip_id)
    if match is None:
        raise VideoContrastError(f"{clip_id!r} is not the id of a clip of the shapes world, or of its reversal")
    split, seed, number, backwards = match.groups()
    scene = next(scenes(int(seed), split, 1, first=int(number)))
    return scene.reversed() if backwards else scene
