"""Encoding: the missing views and texts of a plan, chunk by chunk, into the store.

Frames that edited clips share are decoded and encoded once, whatever number of edits shows them, by encoders that look
at frames one by one (`Encoder.pool_frames`). Their rows lie in the store as those of clips do, and a clip's row is
pooled from them. Each frame is shown to the model in its own size: only where a model is given one array must the parts
of a clip be scaled.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

import numpy as np

from video_contrast import seeds
from video_contrast.errors import VideoContrastError
from video_contrast.runner.clip_reader import ClipReader, feed
from video_contrast.runner.conditions import Visual
from video_contrast.runner.embedding_store import Keys, Store
from video_contrast.runner.kinds.base import ClipFrames, Encoder, Prepared
from video_contrast.runner.kinds.late_interaction import stacked
from video_contrast.runner.memory import Batcher, ChunkDone, RunCounts
from video_contrast.runner.plan import Plan
from video_contrast.runner.views import blank, decoded, need_of
from video_contrast.video import Clip, Counter, EditedFootage, UnseenEdit, footage_of, mirrored_picture

BLIND = Visual("blind")


@dataclass(frozen=True)
class Encoding:
    """The encoder of a plan, and the store that keeps its embeddings."""

    model: Encoder
    plan: Plan
    keys: Keys
    store: Store
    batch_size: int  # views at a time; four times as many texts
    counts: RunCounts  # of this process

    def missing_views(self, clip: Clip) -> tuple[Visual, ...]:
        """The views that a clip is encoded for and the store lacks; the clip's files are looked at for it."""
        views = (visual for visual in self.plan.visuals_of(clip) if visual not in self._repeats.get(clip, ()))
        return tuple(visual for visual in views if self.keys.video(clip, visual) not in self.store)

    @cached_property
    def _repeats(self) -> dict[Clip, dict[Visual, Clip]]:
        """The views that have their row from a clip before, of another name, that shows the same; and that clip.

        The plan tells them: rows come into the store while other clips are decoded, so what it lacks is a matter of
        timing, and with it the company in which the views of a chunk are encoded.
        """
        clips = self.plan.views.clips.repeated()
        keys = replace(self.keys, contents={path: path for clip in clips for path in clip.paths})
        firsts: dict[str, Clip] = {}
        repeats: dict[Clip, dict[Visual, Clip]] = {}
        for clip in clips:
            for visual in self.plan.visuals_of(clip):
                first = firsts.setdefault(keys.video(clip, visual), clip)
                if first is not clip:
                    repeats.setdefault(clip, {})[visual] = first
        return repeats

    def note_repeats(self, total: RunCounts) -> None:
        """Notes of clips what is known of those that were encoded for them. `total`: what all processes did."""
        for clip, firsts in self._repeats.items():
            for visual, first in firsts.items():
                if first in total.broken:
                    self.counts.broken.setdefault(clip, total.broken[first])
                if first in total.unseen:
                    self.counts.unseen.add(clip)
                if visual.name is None and first in total.frames_seen:
                    self.counts.frames_seen[clip] = total.frames_seen[first]

    def encode_texts(self, runs: Iterable[tuple[int, Sequence[str]]], done: ChunkDone) -> None:
        """Encodes what runs of texts lack; each run becomes one shard."""
        batcher = Batcher(4 * self.batch_size, self.counts)
        for number, run in runs:
            texts = [text for text in run if Keys.text(text) not in self.store]
            self.counts.counters["text_encodings_planned"] += len(texts)
            if texts:
                rows = _finite(batcher(self.model.encode_texts, texts), [repr(text) for text in texts])
                self.counts.counters["text_encodings"] += len(texts)
                self.store.put([Keys.text(text) for text in texts], rows)
            done(number)

    def encode_blank(self) -> None:
        """Encodes what an encoder sees when it is to see nothing: grey frames, once, so that all clips tie exactly."""
        key = self.keys.video(next(iter(self.plan.views)), BLIND)
        if key in self.store:
            return
        frames = blank(self.keys.sampling.frames)
        times = tuple(float(n) for n in range(len(frames)))
        rows = self.model.encode_prepared([self.model.prepare(ClipFrames(frames, times))])
        self.counts.counters["visual_encodings"] += 1
        self.counts.counters["visual_encodings_planned"] += 1
        self.store.put([key], _finite(rows, ["blank frames"]), np.full((1, len(frames)), -1))

    def encode_videos(self, chunks: Iterable[tuple[int, Sequence[Clip]]], reader: ClipReader, done: ChunkDone) -> None:
        """Encodes the missing views of chunks of clips; each chunk becomes one shard.

        A clip that cannot be decoded is recorded in the counts with its reason, and the others go on. `chunks`: numbers
        and clips, asked for as their turn to be decoded comes.
        """
        batcher = Batcher(self.batch_size, self.counts)
        last: dict[Clip, int] = {}  # clip with which a chunk ends -> its number

        def clips() -> Iterator[Clip]:
            for number, chunk in chunks:
                last[chunk[-1]] = number
                yield from chunk

        most = max(1, *map(len, self.plan.views.visual_sets))
        depth = max(2, min(self.batch_size, most))
        ahead = -(-2 * self.batch_size // most)
        names: list[str] = []
        numbers: list[np.ndarray] = []
        prepared: list[Prepared] = []
        rows: list[np.ndarray] = []
        for clip, views in reader.read(clips(), self.missing_views, self.model.prepare, ahead=ahead, depth=depth):
            for view, ready in views:
                names.append(self.keys.video(clip, view.visual))
                numbers.append(view.numbers)
                prepared.append(ready)
                if len(prepared) >= batcher.size:
                    rows.append(batcher(self.model.encode_prepared, prepared))
                    prepared = []
            if clip not in last:
                continue
            if prepared:
                rows.append(batcher(self.model.encode_prepared, prepared))
            if names:
                self.counts.counters["visual_encodings"] += len(names)
                self.store.put(names, _finite(stacked(rows), names), numbers)
            names, numbers, prepared, rows = [], [], [], []
            done(last.pop(clip))


def _finite(rows: np.ndarray, names: Sequence[str]) -> np.ndarray:
    bad = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if len(bad):
        raise VideoContrastError(
            f"the model gave NaN or infinite numbers for {len(bad)} of {len(rows)} inputs (first: {names[bad[0]]}); "
            "give --dtype float32, or check the checkpoint"
        )
    return rows


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
    """The place where a frame is found."""

    clip: Clip  # an edited clip that shows it
    source: Clip  # the decoded clip: the file as a clip, or the edited clip where the picture is grey or a mixture
    number: int  # of the frame in `source`
    mirrored: bool  # whether left and right are still to be swapped


@dataclass(frozen=True)
class SharedFrames:
    """The views of a plan that are pooled from shared frames, and where each frame is found."""

    views: tuple[SharedView, ...]  # of edited clips that are not in the store
    places: Mapping[str, SharedFrame]  # key of a frame -> where it is found

    def shards(self) -> list[tuple[str, ...]]:
        """The frames by file and in its order, in the units that are stored; those decoded in one go stay together."""
        order = sorted(self.places, key=lambda key: (self.places[key].source.sort_key, self.places[key].number, key))
        shards: list[list[str]] = []
        for _, keys in self.decoded_together(order):
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
    """The views of a plan that can be pooled; a clip that cannot be read or is not shown whole is recorded."""
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
                numbers = need_of(visual, clip, footage, reader.sampling).numbers
                frames = [_shared_frame(encoding, clip, footage, number) for number in numbers.tolist()]
                for key, frame in frames:
                    places.setdefault(key, frame)
                views.append(SharedView(clip, visual, tuple(key for key, _ in frames), numbers))
        except VideoContrastError as error:
            encoding.counts.broken[clip] = str(error)
            if isinstance(error, UnseenEdit):
                encoding.counts.unseen.add(clip)
    return SharedFrames(tuple(views), places)


def _shared_frame(encoding: Encoding, clip: Clip, footage: EditedFootage, number: int) -> tuple[str, SharedFrame]:
    """The key of a picture of a clip (what it is made of, wherever it is shown), and where it is found."""
    picture = footage.timeline.pictures[number]
    parts: list[seeds.Part] = ["frame", encoding.keys.version, "own size"]
    segment = clip.segments[picture.first.segment]
    frame = SharedFrame(clip, Clip(segment.video_path, segment.video_path), picture.first.number, segment.mirrored)
    if picture.second is not None or not segment.video_path:  # grey or a mixture: made in the size of its clip
        parts += [*footage.size, picture.weight]
        frame = SharedFrame(clip, clip, number, mirrored=False)
    for source in (picture.first, picture.second):
        if source is not None:
            segment = clip.segments[source.segment]
            content = encoding.keys.contents[segment.video_path] if segment.video_path else ""
            parts += [content, source.number, segment.mirrored]
    return seeds.digest(*parts).hex()[:32], frame


def encode_frames(
    frame_places: SharedFrames,
    shards: Iterable[tuple[int, Sequence[str]]],
    encoding: Encoding,
    reader: ClipReader,
    done: ChunkDone,
) -> None:
    """Encodes what shards of frames (numbers and keys, as they are stored) lack, each frame once."""
    batcher = Batcher(encoding.batch_size, encoding.counts)

    def work(shard: tuple[int, Sequence[str]]) -> Iterator[tuple[str, Prepared]]:
        missing = [key for key in shard[1] if key not in encoding.store]
        for source, keys in frame_places.decoded_together(missing):
            frames = [frame_places.places[key] for key in keys]
            try:
                footage = footage_of(reader.root, source)
                accept = reader.sampling.accept_damaged
                numbers = [frame.number for frame in frames]
                counter = Counter()
                pictures = decoded(source, footage, numbers, reader.frames, counter=counter, accept_damaged=accept)
                reader.counts.read(source, counter, 0, "")
                for key, frame, picture in zip(keys, frames, pictures, strict=True):
                    pixels = mirrored_picture(picture) if frame.mirrored else picture
                    yield key, encoding.model.prepare(ClipFrames(pixels[None], (0.0,), frame.clip))
            except (VideoContrastError, ValueError, OSError) as error:
                # Clips that lack a frame are looked at by themselves, later.
                reader.counts.broken[source] = str(error)

    results = feed(shards, work, workers=reader.workers, ahead=reader.workers, depth=encoding.batch_size)
    for (number, _), prepared in results:
        if pairs := list(prepared):
            rows = batcher(encoding.model.encode_prepared, [ready for _, ready in pairs])
            encoding.counts.counters["frame_encodings"] += len(pairs)
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
    pooled_rows = [np.asarray(encoding.model.pool_frames(rows[[at[key] for key in view.frames]])) for view in whole]
    names = [encoding.keys.video(view.clip, view.visual) for view in whole]
    encoding.store.put(names, np.stack(pooled_rows).astype(np.float32), np.stack([view.numbers for view in whole]))
