"""Encoding: the missing views and texts of a plan, chunk by chunk, into the store."""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from video_contrast.errors import VideoContrastError
from video_contrast.runner.clip_reader import ClipReader
from video_contrast.runner.conditions import Visual
from video_contrast.runner.embedding_store import Store
from video_contrast.runner.keys import Keys
from video_contrast.runner.kinds.base import ClipFrames, Encoder, Prepared
from video_contrast.runner.kinds.late_interaction import stacked
from video_contrast.runner.memory import Batcher
from video_contrast.runner.plan import Plan
from video_contrast.runner.run_counts import Done, RunCounts
from video_contrast.runner.views import blank
from video_contrast.video import Clip

TEXTS_A_CHUNK = 1024
BLIND = Visual("blind")


@dataclass(frozen=True)
class Encoding:
    """What a plan needs of an encoder, and where it is kept."""

    model: Encoder
    plan: Plan
    keys: Keys
    store: Store
    batch_size: int  # views at a time; four times as many texts
    counts: RunCounts  # what this process did

    def text_runs(self) -> list[tuple[str, ...]]:
        """The texts of the plan in the units that are dealt out and stored."""
        texts = self.plan.texts
        return [texts[begin : begin + TEXTS_A_CHUNK] for begin in range(0, len(texts), TEXTS_A_CHUNK)]

    def missing_views(self, clip: Clip) -> tuple[Visual, ...]:
        """The views of a clip that are not in the store; the clip's files are looked at for it."""
        return tuple(visual for visual in self.plan.seen(clip) if self.keys.video(clip, visual) not in self.store)

    @property
    def blind_missing(self) -> bool:
        """Whether the blind control is asked for and not in the store."""
        return self.plan.blind and self._blind_key not in self.store

    @property
    def _blind_key(self) -> str:
        return self.keys.video(next(iter(self.plan.views)), BLIND)

    def encode_texts(self, runs: Iterable[tuple[int, Sequence[str]]], done: Done) -> None:
        """Encodes what runs of texts lack; each run becomes one shard."""
        batcher = Batcher(4 * self.batch_size, self.counts)
        for number, run in runs:
            texts = [text for text in run if Keys.text(text) not in self.store]
            self.counts.planned["text_encodings"] += len(texts)
            if texts:
                rows = _finite(batcher(self.model.encode_texts, texts), [repr(text) for text in texts])
                self.counts.text_encodings += len(texts)
                self.store.put([Keys.text(text) for text in texts], rows)
            done(number)

    def encode_blank(self) -> None:
        """Encodes what an encoder sees when it is to see nothing: grey frames, once, so that all clips tie exactly."""
        frames = blank(self.keys.sampling.frames)
        times = tuple(float(n) for n in range(len(frames)))
        rows = self.model.encode_prepared([self.model.prepare(ClipFrames(frames, times))])
        self.counts.visual_encodings += 1
        self.counts.planned["visual_encodings"] += 1
        self.store.put([self._blind_key], _finite(rows, ["blank frames"]), np.full((1, len(frames)), -1))

    def encode_videos(self, chunks: Iterable[tuple[int, Sequence[Clip]]], reader: ClipReader, done: Done) -> None:
        """Encodes the missing views of chunks of clips; each chunk becomes one shard.

        A clip that cannot be decoded is recorded in the counts with its reason, and the others go on. `chunks`: numbers
        and clips, asked for as their turn to be decoded comes.
        """
        batcher = Batcher(self.batch_size, self.counts)
        begun: deque[tuple[int, Sequence[Clip]]] = deque()

        def clips() -> Iterator[Clip]:
            for chunk in chunks:
                begun.append(chunk)
                yield from chunk[1]

        most = max(map(len, self.plan.views.values()), default=1)
        depth = max(2, min(self.batch_size, most))
        ahead = -(-2 * self.batch_size // max(1, most))
        source = reader.read(clips(), self.missing_views, self.model.prepare, ahead=ahead, depth=depth)
        for _, views in source:
            number, chunk = begun.popleft()
            names: list[str] = []
            numbers: list[np.ndarray] = []
            prepared: list[Prepared] = []
            rows: list[np.ndarray] = []
            for clip in chunk:
                if clip is not chunk[0]:
                    _, views = next(source)
                for view, ready in views:
                    names.append(self.keys.video(clip, view.visual))
                    numbers.append(view.numbers)
                    prepared.append(ready)
                    if len(prepared) >= batcher.size:
                        rows.append(batcher(self.model.encode_prepared, prepared))
                        prepared = []
            if prepared:
                rows.append(batcher(self.model.encode_prepared, prepared))
            if names:
                self.counts.visual_encodings += len(names)
                self.store.put(names, _finite(stacked(rows), names), numbers)
            done(number)


def _finite(rows: np.ndarray, names: Sequence[str]) -> np.ndarray:
    bad = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if len(bad):
        raise VideoContrastError(
            f"the model gave NaN or infinite numbers for {len(bad)} of {len(rows)} inputs (first: {names[bad[0]]}); "
            "give --dtype float32, or check the checkpoint"
        )
    return rows
