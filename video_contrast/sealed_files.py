"""Files that are kept between runs, and checked when they are read: a damaged one is named and made anew."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from hashlib import blake2b, sha256
from pathlib import Path

import numpy as np

from video_contrast.console import counted, note
from video_contrast.files import Json, JsonObject, atomic_path


def set_aside(path: Path, what: str) -> None:
    """Renames a damaged file to `NAME.damaged` and says so; nothing where another process did it before."""
    aside = path.with_name(f"{path.name}.damaged")
    try:
        path.replace(aside)
    except FileNotFoundError:
        return
    note(f"{path}: {what}; it was set aside as {aside.name}, and what it held is made anew")


def sealed_line(record: JsonObject) -> str:
    """A record as a line of JSON that begins with a digest of the rest."""
    return json.dumps({"digest": json_digest(record), **record}) + "\n"


def sealed_records(path: str | os.PathLike[str]) -> Iterator[tuple[int, Json]]:
    """Yields the records of a file of `sealed_line` that are as they were written, each with the byte where it begins.

    Says how many are not. A last line without an end was torn by a kill and is left out.
    """
    n_damaged = begin = 0
    with open(path, "rb") as lines:
        for line in lines:
            if not line.endswith(b"\n"):
                break
            sound = False
            with suppress(ValueError, KeyError, TypeError, AttributeError):
                record = json.loads(line)
                sound = record.pop("digest") == json_digest(record)
            if sound:
                yield begin, record
            n_damaged += not sound and len(line) > 1
            begin += len(line)
    if n_damaged:
        note(f"{path}: {counted(n_damaged, 'damaged line')} left out, and made anew")


def json_digest(value: object) -> str:
    """32 hexadecimal digits that name a value of JSON."""
    return blake2b(json.dumps(value, sort_keys=True).encode(), digest_size=16).hexdigest()


def write_tensors(path: Path, tensors: Mapping[str, np.ndarray], **texts: str) -> None:
    """Writes arrays as safetensors, with texts by name and a digest of all in the header."""
    from safetensors.numpy import save_file

    whole = {name: np.ascontiguousarray(tensor) for name, tensor in tensors.items()}
    with atomic_path(path) as temporary:
        save_file(whole, temporary, metadata={**texts, "digest": _tensors_digest(texts, whole)})


def read_tensors(path: Path) -> dict[str, np.ndarray]:
    """The tensors of `write_tensors`. Raises FileNotFoundError: no file; ValueError: it holds something else now."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            names, metadata = file.keys(), file.metadata()
            tensors = {name: file.get_tensor(name) for name in names}
        if metadata.pop("digest") == _tensors_digest(metadata, tensors):
            return tensors
    except (SafetensorError, KeyError, TypeError) as error:
        raise ValueError(f"{path} is damaged") from error
    raise ValueError(f"{path} is damaged")


def _tensors_digest(texts: Mapping[str, str], tensors: Mapping[str, np.ndarray]) -> str:
    whole = sha256("".join(texts[name] for name in sorted(texts)).encode())
    for name, tensor in sorted(tensors.items()):
        whole.update(f"{name} {tensor.dtype.str} {tensor.shape}".encode())
        whole.update(tensor.data)
    return whole.hexdigest()
