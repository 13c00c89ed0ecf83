"""The embedding store: rows by the digest of all that they depend on besides the model, in files that appear whole.

A shard is written once and never changed: `<space>/<digest of its keys>.safetensors` holds `rows` float32[n, D], for
videos `numbers` int64[n, T] (the frames that were looked at), and in its header the keys, which are the index, and a
digest of all of it. So a killed run leaves whole shards and nothing else, any number of processes may write at the same
time, and another run or another set that asks for the same thing finds it. A shard that is not what was written is
named and set aside, and its rows are made anew. Many small shards are merged into large ones at the end of a run.
"""

import hashlib
import json
import mmap
import threading
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from video_contrast import seeds
from video_contrast.errors import VideoContrastError
from video_contrast.perturbations.video import video_spec
from video_contrast.perturbations.video.condition import is_exact_on_device
from video_contrast.question_text import Question
from video_contrast.runner.conditions import Visual
from video_contrast.runner.views import Sampling
from video_contrast.sealed_files import read_tensors, set_aside, write_tensors
from video_contrast.video import Clip, timeline

LARGE = 1 << 26  # bytes of a shard that others were merged into
FEW = 64  # small shards that are left as they are
_DTYPES = {"F32": "<f4", "I64": "<i8"}
NO_FRAME = -2  # in the place of a frame, of clips with fewer of them; -1 is a frame that no file holds


class Store:
    """Rows of one space: one model at one revision, with one preprocessing and dtype.

    `root`: shared by models and runs. `multi_vector`: whether rows hold several vectors, and may differ in width.
    """

    def __init__(self, root: Path, space: str, *, multi_vector: bool = False) -> None:
        self.multi_vector = multi_vector
        self.folder = Path(root) / space
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = threading.RLock()
        self._where: dict[str, tuple[str, int]] = {}
        self._tensors: dict[str, dict[str, Tensor]] = {}  # of the shards whose header was read
        self._checked: set[str] = set()  # shards whose digest was found right
        self._maps: dict[tuple[str, str], np.ndarray] = {}  # tensors of shards that were read last
        self.refresh()

    def refresh(self) -> None:
        """Reads the headers of shards that appeared since."""
        for path in sorted(self.folder.glob("[!.]*.safetensors")):
            if path.name in self._tensors:
                continue
            try:
                keys, tensors = _header(path)
            except FileNotFoundError:  # another process set it aside, or merged it with others
                continue
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                set_aside(path, f"a damaged shard of the store ({error})")
                continue
            self._tensors[path.name] = tensors
            for row, key in enumerate(keys):
                self._where.setdefault(key, (path.name, row))

    def __contains__(self, key: str) -> bool:
        """Whether a row is there and its shard is what was written."""
        with self._lock:  # decoding threads ask, too
            while key in self._where:
                if self._is_sound(self._where[key][0]):
                    return True
            return False

    def _is_sound(self, name: str) -> bool:
        """Whether a shard has its digest; one that has not is set aside, and none of its rows is there any more."""
        if name in self._checked:
            return True
        try:
            read_tensors(self.folder / name)
        except (FileNotFoundError, ValueError) as error:
            if isinstance(error, ValueError):  # the other one: it was merged with others, or removed
                set_aside(self.folder / name, "a damaged shard of the store")
            self._forget(name)
            return False
        self._checked.add(name)
        return True

    def _forget(self, name: str) -> None:
        """Reads all headers again, since a shard is gone: its rows were merged with others, or are there no more."""
        self._where, self._tensors, self._maps = {}, {}, {}
        self._checked.discard(name)
        self.refresh()

    def __len__(self) -> int:
        return len(self._where)

    def put(
        self, keys: Sequence[str], rows: np.ndarray, numbers: Sequence[np.ndarray] | np.ndarray | None = None
    ) -> None:
        """Writes a shard: rows float32[n, D], finite; of videos n of int64[T], the frames that each was made from."""
        name = seeds.digest(*keys).hex()[:32] + ".safetensors"
        tensors: dict[str, np.ndarray] = {"rows": np.asarray(rows, np.float32)}
        if numbers is not None:
            table = np.full((len(numbers), max(map(len, numbers))), NO_FRAME, np.int64)
            for place, of_clip in zip(table, numbers, strict=True):
                place[: len(of_clip)] = of_clip
            tensors["numbers"] = table
        write_tensors(self.folder / name, tensors, keys=json.dumps(list(keys)))
        self._tensors[name] = _header(self.folder / name)[1]
        self._checked.add(name)
        for row, key in enumerate(keys):
            self._where.setdefault(key, (name, row))

    def get(self, keys: Sequence[str]) -> np.ndarray:
        """float32[n, D] in the order of `keys`, all of which must be there."""
        return self._gather(keys, "rows", 0 if self.multi_vector else None)

    def numbers(self, keys: Sequence[str]) -> list[tuple[int, ...]]:
        """The frames behind videos' rows."""
        return [tuple(int(n) for n in row if n != NO_FRAME) for row in self._gather(keys, "numbers", NO_FRAME)]

    def merge(self, keys: Sequence[str]) -> None:
        """Merges small shards into few large ones, in the order of `keys`; each row is in one of them all along."""
        with self._lock:
            rows_of = Counter(self._where[key][0] for key in keys if key in self._where)
            tensors = self._tensors
            small = {name for name, n in rows_of.items() if n == tensors[name]["rows"].shape[0]}
            small = {name for name in small if tensors[name]["rows"].size < LARGE // 2}
            if len(small) <= FEW:
                return
            alike: dict[tuple[tuple[str, int], ...], list[str]] = {}
            for key in dict.fromkeys(keys):
                if key in self._where and self._where[key][0] in small and key in self:
                    items = tensors[self._where[key][0]].items()
                    alike.setdefault(tuple(sorted((name, tensor.shape[1]) for name, tensor in items)), []).append(key)
            for widths, members in alike.items():
                step = max(1, LARGE // (4 * sum(width for _, width in widths)))
                for begin in range(0, len(members), step):
                    part = members[begin : begin + step]
                    numbers = self._gather(part, "numbers", NO_FRAME) if "numbers" in dict(widths) else None
                    rows = self.get(part)
                    for key in part:
                        del self._where[key]
                    self.put(part, rows, numbers)
            for name in small:
                (self.folder / name).unlink(missing_ok=True)
                self._tensors.pop(name, None)

    def _map(self, name: str, tensor: str) -> np.ndarray:
        """A tensor of a shard; to open one takes ten times as long as to read some rows of it."""
        if (name, tensor) not in self._maps:
            if len(self._maps) == 2 * FEW:  # each holds a file open
                self._maps = {}
            self._maps[name, tensor] = self._tensors[name][tensor].read(self.folder / name)
        return self._maps[name, tensor]

    def _gather(self, keys: Sequence[str], tensor: str, fill: int | None) -> np.ndarray:
        """Rows of shards; shorter ones end in `fill`, and are refused where it is None."""
        while True:
            by_file: dict[str, list[tuple[int, int]]] = {}
            for position, key in enumerate(keys):
                if key not in self:
                    raise VideoContrastError(f"a row of the store {self.folder} was lost while it was used; run again")
                name, row = self._where[key]
                by_file.setdefault(name, []).append((position, row))
            try:
                shards = [(self._map(name, tensor), of_file) for name, of_file in by_file.items()]
                break
            except FileNotFoundError as error:
                self._forget(Path(error.filename).name)
        if not shards:
            return np.empty((0, 0), np.float32)
        widths = sorted({values.shape[1] for values, _ in shards})
        if len(widths) > 1 and fill is None:
            raise VideoContrastError(f"{self.folder} holds rows of {widths[0]} and {widths[-1]} numbers; remove it")
        out = np.full((len(keys), widths[-1]), fill or 0, shards[0][0].dtype)
        for values, pairs in shards:
            positions, rows = np.array(pairs).T
            out[positions, : values.shape[1]] = values[rows]
            if hasattr(mmap, "MADV_DONTNEED") and isinstance(values.base, mmap.mmap):
                values.base.madvise(mmap.MADV_DONTNEED)  # pages that were read no longer count as this process's memory
        return out


class Tensor(NamedTuple):
    """The place of a tensor in a shard."""

    dtype: str
    shape: tuple[int, ...]
    offset: int  # bytes from the beginning of the file
    size: int  # bytes

    def read(self, path: Path) -> np.ndarray:
        """The tensor, memory-mapped: of a large shard only the rows that are used are read."""
        return np.memmap(path, self.dtype, "r", self.offset, self.shape)


def _header(path: Path) -> tuple[list[str], dict[str, Tensor]]:
    """The keys and the tensors of a shard, from its header: 8 bytes of length, then JSON."""
    try:
        with open(path, "rb") as handle:
            length = int.from_bytes(handle.read(8), "little")
            header = json.loads(handle.read(min(length, path.stat().st_size)))
    except FileNotFoundError:
        raise
    except OSError as error:
        raise VideoContrastError(f"{path} cannot be read ({error.strerror or error})") from error
    keys = list(json.loads(header.pop("__metadata__")["keys"]))
    tensors = {}
    for name, entry in header.items():
        begin, end = entry["data_offsets"]
        tensors[name] = Tensor(_DTYPES[entry["dtype"]], tuple(entry["shape"]), 8 + length + begin, end - begin)
    return keys, tensors


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
        own = self.sampling
        parts: list[seeds.Part] = [*_visual(visual, clip), *(("accept_damaged",) if own.accept_damaged else ())]
        if own.fps is not None:
            parts += ["fps", own.fps, own.least, own.multiple, *((own.rounding,) if own.rounding != "down" else ())]
        parts += self._segments(clip)
        perturbs = visual.name is not None and not visual.is_control
        if self.on_device and perturbs and not is_exact_on_device(visual.name or ""):  # not numpy's to the last bit
            parts += ["torch kernel", KERNELS_VERSION]
        content = self.contents[clip.video_path]
        key = seeds.digest("video", self.version, content, clip.start, clip.end, own.frames, own.policy, *parts)
        return key.hex()[:32]

    def _segments(self, clip: Clip) -> tuple[seeds.Part, ...]:
        """The parts of an edited clip, and how its frames are chosen."""
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
    """The parts of a view's key besides file, span and sampling: of random ones the video's name, too."""
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
