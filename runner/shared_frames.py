"""Frames that edited clips share: each is decoded and encoded once, whatever number of edits shows it.

Only for encoders that look at frames one by one (`Encoder.pool_frames`). The frames' rows lie in the store as those of
clips do, so a killed run goes on with them and other runs find them; a clip's row is pooled from them. An edit that
plays its parts in another order is made of the very same rows. Each frame is shown to the model in its own size, as in
its source clip, whatever it is joined with: only where a model is given one array must the parts of a clip be scaled.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from video_contrast import seeds
from video_contrast.errors import VideoContrastError
from video_contrast.runner.clip_reader import ClipReader
from video_contrast.runner.conditions import Visual
from video_contrast.runner.encode import Encoding
from video_contrast.runner.frame_store import decoded
from video_contrast.runner.kinds.base import ClipFrames, Encoder, Prepared
from video_contrast.runner.memory import Batcher
from video_contrast.runner.read_ahead import feed
from video_contrast.runner.run_counts import Done
from video_contrast.runner.views import shown_numbers
from video_contrast.video import Clip, Counter, EditedFootage, Picture, UnseenEdit, footage_of, mirrored_picture

FRAMES_A_SHARD = 128
FRAMES_AT_ONCE = 32  # of one file, decoded in one go


@dataclass(frozen=True)
class SharedView:
    """A view of an edited clip: the keys of its frames, in order, and their numbers."""

    clip: Clip
    visual: Visual
    frames: tuple[str, ...]
    numbers: np.ndarray


@dataclass(frozen=True)
class SharedFrame:
    """Where a frame is found."""

    clip: Clip  # an edited clip that shows it
    source: Clip  # what is decoded: the file as a clip, or the edited clip where the picture is grey or a mixture
    number: int  # of the frame in `source`
    mirrored: bool  # whether left and right are still to be swapped


@dataclass(frozen=True)
class SharedFrames:
    """The views of a plan that are pooled from shared frames, and where each frame is found."""

    views: tuple[SharedView, ...]  # of edited clips that are not in the store
    places: Mapping[str, SharedFrame]  # key of a frame -> where it is found

    def shards(self) -> list[tuple[str, ...]]:
        """The frames of the views, by file and in its order, in the units that are dealt out and stored.

        Frames of one file that are decoded in one go stay together.
        """
        ordered = sorted(self.places, key=lambda key: (self.places[key].source.sort_key, self.places[key].number, key))
        shards: list[list[str]] = []
        for _, keys in self.decoded_together(ordered):
            if not shards or len(shards[-1]) >= FRAMES_A_SHARD:
                shards.append([])
            shards[-1] += keys
        return [tuple(keys) for keys in shards]

    def decoded_together(self, keys: Sequence[str]) -> Iterator[tuple[Clip, list[str]]]:
        """Keys by what they are decoded from, in parts that fit into memory."""
        for source, of_source in groupby(keys, lambda key: self.places[key].source):
            own = list(of_source)
            yield from ((source, own[first : first + FRAMES_AT_ONCE]) for first in range(0, len(own), FRAMES_AT_ONCE))


def frames_by_themselves(model: Encoder) -> bool:
    """Whether a model looks at frames one by one."""
    return type(model).pool_frames is not Encoder.pool_frames


def shared_frames(encoding: Encoding, reader: ClipReader) -> SharedFrames:
    """Which views of a plan can be pooled; a clip that cannot be read or is not shown whole is recorded."""
    views: list[SharedView] = []
    places: dict[str, SharedFrame] = {}
    for clip in encoding.plan.views:
        visuals = [visual for visual in encoding.missing_views(clip) if visual.name is None or visual.is_control]
        if not clip.segments or not visuals:
            continue
        try:
            footage = footage_of(reader.root, clip)
            assert isinstance(footage, EditedFootage)
            for visual in visuals:
                numbers = shown_numbers(visual, clip, footage, reader.sampling)
                keys = tuple(_key(encoding, clip, footage, int(number)) for number in numbers)
                for key, number in zip(keys, numbers.tolist(), strict=True):
                    if key not in places:
                        places[key] = _place(clip, footage, number)
                views.append(SharedView(clip, visual, keys, numbers))
        except VideoContrastError as error:
            encoding.counts.broken[clip] = str(error)
            if isinstance(error, UnseenEdit):
                encoding.counts.unseen.add(clip)
    return SharedFrames(tuple(views), places)


def _key(encoding: Encoding, clip: Clip, footage: EditedFootage, number: int) -> str:
    """The key of a picture: what it is made of, wherever it is shown."""
    picture = footage.timeline.pictures[number]
    parts: list[seeds.Part] = ["frame", encoding.keys.version, "own size"]
    if _made_for_clip(clip, picture):
        parts += [*footage.size, picture.weight]
    for source in (picture.first, picture.second):
        if source is not None:
            segment = clip.segments[source.segment]
            content = encoding.keys.contents[segment.video_path] if segment.video_path else ""
            parts += [content, source.number, segment.mirrored]
    return seeds.digest(*parts).hex()[:32]


def _place(clip: Clip, footage: EditedFootage, number: int) -> SharedFrame:
    """Where the frame of a picture is found."""
    picture = footage.timeline.pictures[number]
    if _made_for_clip(clip, picture):
        return SharedFrame(clip, clip, number, mirrored=False)
    segment = clip.segments[picture.first.segment]
    return SharedFrame(clip, Clip(segment.video_path, segment.video_path), picture.first.number, segment.mirrored)


def _made_for_clip(clip: Clip, picture: Picture) -> bool:
    """Whether a picture is grey or a mixture: no frame of a file, but made in the size of its clip."""
    return picture.second is not None or not clip.segments[picture.first.segment].video_path


def encode_frames(
    shared: SharedFrames,
    shards: Iterable[tuple[int, Sequence[str]]],
    encoding: Encoding,
    reader: ClipReader,
    done: Done,
) -> None:
    """Encodes what shards of frames lack, each frame once.

    `shards`: numbers and keys of frames, in the units that are stored.
    """
    batcher = Batcher(encoding.batch_size, encoding.counts)

    def work(shard: tuple[int, Sequence[str]]) -> Iterator[tuple[str, Prepared]]:
        missing = [key for key in shard[1] if key not in encoding.store]
        for source, keys in shared.decoded_together(missing):
            frames = [shared.places[key] for key in keys]
            try:
                footage = footage_of(reader.root, source)
                accept = reader.sampling.accept_damaged
                numbers = [frame.number for frame in frames]
                counter = Counter()
                pictures = decoded(source, footage, numbers, reader.frames, counter=counter, accept_damaged=accept)
                reader.counts.read(source, counter, 0, "")
                for key, frame, picture in zip(keys, frames, pictures, strict=True):
                    shown = mirrored_picture(picture) if frame.mirrored else picture
                    yield key, encoding.model.prepare(ClipFrames(shown[None], (0.0,), frame.clip))
            except (VideoContrastError, ValueError, OSError) as error:
                # Clips that lack a frame are looked at by themselves, later.
                reader.counts.broken[source] = str(error)

    read = feed(shards, work, workers=reader.workers, ahead=reader.workers, depth=encoding.batch_size)
    for (number, _), prepared in read:
        if pairs := list(prepared):
            rows = batcher(encoding.model.encode_prepared, [ready for _, ready in pairs])
            encoding.counts.frame_encodings += len(pairs)
            encoding.store.put([key for key, _ in pairs], rows, np.zeros((len(pairs), 1), np.int64))
        done(number)


def pool_views(views: Sequence[SharedView], encoding: Encoding) -> None:
    """Puts the rows of views into the store, made of those of their frames; a view that lacks one is left out."""
    whole = [view for view in views if all(key in encoding.store for key in view.frames)]
    if not whole:
        return
    unique = list(dict.fromkeys(key for view in whole for key in view.frames))
    rows = encoding.store.get(unique)
    at = {key: n for n, key in enumerate(unique)}
    pooled = [np.asarray(encoding.model.pool_frames(rows[[at[key] for key in view.frames]])) for view in whole]
    names = [encoding.keys.video(view.clip, view.visual) for view in whole]
    encoding.store.put(names, np.stack(pooled).astype(np.float32), np.stack([view.numbers for view in whole]))
