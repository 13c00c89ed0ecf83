"""Keys of stored rows and results: digests of everything that a number depends on besides the model."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from video_contrast import seeds
from video_contrast.perturbations.video import video_spec
from video_contrast.perturbations.video.condition import is_exact_on_device
from video_contrast.question_text import Question
from video_contrast.runner.conditions import Visual
from video_contrast.runner.views import Sampling
from video_contrast.video import Clip, timeline

VERSION = "4"  # of decoding and sampling: raise it when equal inputs may give other pixels
KERNELS_VERSION = "1"  # of kernels that run on a device: raise it when their pixels change


@dataclass(frozen=True)
class Keys:
    """Names rows by what they were made from."""

    contents: Mapping[str, str]  # video path -> sha256 of the file; "" where it cannot be read
    sampling: Sampling  # which frames
    version: str = VERSION  # of decoding and sampling
    on_device: bool = False  # whether frames are perturbed by torch: some pixels then differ by one grey level

    def video(self, clip: Clip, visual: Visual) -> str:
        """The key of one view of one clip. Seeing nothing is the same for all clips."""
        if visual.name == "blind":
            return seeds.digest("video", "blind", self.sampling.frames).hex()[:32]
        accepted = ("accept_damaged",) if self.sampling.accept_damaged else ()
        own = self.sampling
        rate: tuple[seeds.Part, ...] = () if own.fps is None else ("fps", own.fps, own.least, own.multiple)
        if own.fps is not None and own.rounding != "down":
            rate = (*rate, own.rounding)
        return seeds.digest(
            "video", self.version, self.contents[clip.video_path], clip.start, clip.end,
            self.sampling.frames, self.sampling.policy, *_visual(visual, clip), *accepted, *rate, *self._segments(clip),
            *self._kernel(visual),
        ).hex()[:32]  # fmt: skip

    def _kernel(self, visual: Visual) -> tuple[seeds.Part, ...]:
        """Marks pixels that are not those of numpy to the last bit."""
        if not self.on_device or visual.name is None or visual.is_control:
            return ()
        return () if is_exact_on_device(visual.name) else ("torch kernel", KERNELS_VERSION)

    def _segments(self, clip: Clip) -> tuple[seeds.Part, ...]:
        """What an edited clip is put together from, and how its frames are chosen."""
        rule = (timeline.RULE, timeline.VERSION) if clip.segments else ()
        return rule + tuple(
            value
            for part in clip.segments
            for value in (
                "segment", self.contents[part.video_path] if part.video_path else "", float(part.start),
                float(part.end), float(part.speed), part.reversed, part.mirrored, float(part.fade),
            )
        )  # fmt: skip

    def request(
        self, clip: Clip, visual: Visual, texts: tuple[str, ...], position: int, *, question: Question | None = None
    ) -> str:
        """Returns the key of one call of a pair scorer."""
        wording = ("question", question.text, question.prompt, question.option) if question else ()
        return seeds.digest("pair", self.video(clip, visual), position, *texts, *wording).hex()[:32]

    @staticmethod
    def text(text: str) -> str:
        """The key of a text."""
        return seeds.digest("text", text).hex()[:32]


def _visual(visual: Visual, clip: Clip) -> tuple[seeds.Part, ...]:
    """What a view depends on besides the file, the span and the sampling.

    A clean view, its reversal and its middle frame do not depend on the video's name; random ones do.
    """
    if visual.name in (None, "blind", "one_frame", "reversed"):
        return (visual.name,)
    if visual.is_control:
        return (visual.name, visual.seed, clip.video_id)
    version = video_spec(visual.name or "").version
    return (
        visual.name, version, visual.severity, visual.profile, visual.seed, visual.scope, visual.order, clip.video_id
    )  # fmt: skip


def digest(content: bytes | str) -> str:
    """16 hexadecimal digits that name some content."""
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return hashlib.blake2b(data, digest_size=8).hexdigest()


def frames_digest(frames: np.ndarray) -> str:
    """A digest of the shape of frames, uint8[T, H, W, 3], and of every eighth pixel in both directions."""
    return digest(repr(frames.shape).encode() + frames[:, ::8, ::8].tobytes())
