"""The embedding store: rows by the digest of what they were made from, in safetensors files that appear whole.

A shard is written once and never changed: `<space>/<digest of its keys>.safetensors` holds `rows` float32[n, D], for
videos `numbers` int64[n, T] (the frames that were looked at), and in its header the keys, which are the index, and a
digest of all of it. So a killed run leaves whole shards and nothing else, any number of processes may write at the same
time, and another run or another set that asks for the same thing finds it. A shard that is not what was written is
named and set aside, and its rows are made anew.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from video_contrast import seeds
from video_contrast.errors import VideoContrastError
from video_contrast.files import atomic_path
from video_contrast.sealed_files import set_aside

NO_FRAME = -2  # in the place of a frame, of clips with fewer of them; -1 is a frame that no file holds


class Store:
    """Rows of one space: one model at one revision, with one preprocessing and dtype.

    Args:
        root: the store's folder, shared by models and runs.
        space: names the model and everything else that all keys share.
        multi_vector: whether rows hold several vectors, and may be of different widths.
    """

    def __init__(self, root: Path, space: str, *, multi_vector: bool = False) -> None:
        self.multi_vector = multi_vector
        self.folder = Path(root) / space
        self.folder.mkdir(parents=True, exist_ok=True)
        self._lock = threading.RLock()
        self._where: dict[str, tuple[str, int]] = {}
        self._read: set[str] = set()  # shards whose header was read
        self._checked: set[str] = set()  # shards whose digest was found right
        self.refresh()

    def refresh(self) -> None:
        """Reads the headers of shards that appeared since."""
        for path in sorted(self.folder.glob("[!.]*.safetensors")):
            if path.name in self._read:
                continue
            self._read.add(path.name)
            try:
                keys = _keys(path)
            except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
                set_aside(path, f"a damaged shard of the store ({error})")
                continue
            for row, key in enumerate(keys):
                self._where.setdefault(key, (path.name, row))

    def __contains__(self, key: str) -> bool:
        """Whether a row is there and its shard is what was written."""
        with self._lock:  # decoding threads ask, too
            return key in self._where and self._is_sound(self._where[key][0])

    def _is_sound(self, name: str) -> bool:
        """Whether a shard has its digest; one that has not is set aside, and none of its rows is there any more."""
        from safetensors import SafetensorError, safe_open

        if name in self._checked:
            return True
        try:
            with safe_open(self.folder / name, framework="numpy") as shard:
                names, metadata = shard.keys(), shard.metadata()
                tensors = {tensor: shard.get_tensor(tensor) for tensor in names}
            sound = metadata["digest"] == _digest(metadata["keys"], tensors)
        except FileNotFoundError:  # another process set it aside
            sound = False
        except (SafetensorError, KeyError, TypeError, ValueError):
            sound = False
        if sound:
            self._checked.add(name)
            return True
        set_aside(self.folder / name, "a damaged shard of the store")
        self._where = {key: place for key, place in self._where.items() if place[0] != name}
        self._read.discard(name)
        return False

    def __len__(self) -> int:
        return len(self._where)

    def put(
        self, keys: Sequence[str], rows: np.ndarray, numbers: Sequence[np.ndarray] | np.ndarray | None = None
    ) -> None:
        """Writes a shard.

        `rows`: float32[n, D], finite. `numbers`: n of int64[T], which frames a video's row was made from; by a rate,
        clips have different numbers.
        """
        from safetensors.numpy import save_file

        name = seeds.digest(*keys).hex()[:32] + ".safetensors"
        tensors: dict[str, np.ndarray] = {"rows": np.ascontiguousarray(rows, np.float32)}
        if numbers is not None:
            padded = np.full((len(numbers), max(map(len, numbers))), NO_FRAME, np.int64)
            for place, of_clip in zip(padded, numbers, strict=True):
                place[: len(of_clip)] = of_clip
            tensors["numbers"] = padded
        listed = json.dumps(list(keys))
        with atomic_path(self.folder / name) as temporary:
            save_file(tensors, temporary, metadata={"keys": listed, "digest": _digest(listed, tensors)})
        self._read.add(name)
        self._checked.add(name)
        for row, key in enumerate(keys):
            self._where.setdefault(key, (name, row))

    def get(self, keys: Sequence[str]) -> np.ndarray:
        """float32[n, D] in the order of `keys`, all of which must be there."""
        return self._gather(keys, "rows", 0 if self.multi_vector else None)

    def numbers(self, keys: Sequence[str]) -> list[tuple[int, ...]]:
        """The frames behind videos' rows."""
        return [tuple(int(n) for n in row if n != NO_FRAME) for row in self._gather(keys, "numbers", NO_FRAME)]

    def _gather(self, keys: Sequence[str], tensor: str, fill: int | None) -> np.ndarray:
        """Rows of shards; shorter ones end in `fill`, and are refused where it is None."""
        from safetensors import safe_open

        by_file: dict[str, list[tuple[int, int]]] = {}
        for position, key in enumerate(keys):
            if key not in self:
                raise VideoContrastError(f"a row of the store {self.folder} was lost while it was used; run again")
            name, row = self._where[key]
            by_file.setdefault(name, []).append((position, row))
        out: np.ndarray | None = None
        for name, pairs in by_file.items():
            with safe_open(self.folder / name, framework="numpy") as shard:
                values = shard.get_tensor(tensor)
            if out is None:
                out = np.full((len(keys), values.shape[1]), fill or 0, values.dtype)
            width = values.shape[1]
            if width != out.shape[1] and fill is None:
                raise VideoContrastError(
                    f"the store {self.folder} holds rows of {width} and {out.shape[1]} numbers; remove it"
                )
            if width > out.shape[1]:
                out = np.pad(out, ((0, 0), (0, width - out.shape[1])), constant_values=fill or 0)
            positions, rows = np.array(pairs).T
            out[positions, :width] = values[rows]
        if out is None:
            return np.empty((0, 0), np.float32)
        return out


def _keys(path: Path) -> list[str]:
    """The keys in a shard's header (8 bytes of length, then JSON), without the library's start-up cost."""
    try:
        with open(path, "rb") as handle:
            length = int.from_bytes(handle.read(8), "little")
            header = json.loads(handle.read(min(length, path.stat().st_size)))
    except FileNotFoundError:  # another process set it aside
        return []
    except OSError as error:
        raise VideoContrastError(f"{path} cannot be read ({error.strerror or error})") from error
    return list(json.loads(header["__metadata__"]["keys"]))


def _digest(keys: str, tensors: Mapping[str, np.ndarray]) -> str:
    """The sha256 of all that a shard holds."""
    whole = hashlib.sha256(keys.encode())
    for name, tensor in sorted(tensors.items()):
        whole.update(f"{name} {tensor.dtype.str} {tensor.shape}".encode())
        whole.update(np.ascontiguousarray(tensor).data)
    return whole.hexdigest()
