"""The source of every random stream of the product.

A stream depends on the parts it is named by (a seed, a perturbation, its version, an id ...) and on nothing else: their
digest (blake2b) becomes the state of a PCG64 generator.
"""

from hashlib import blake2b

import numpy as np

from video_contrast.errors import UsageError

Part = str | int | float | bool | None
_PLAIN = (str, int, float, bool, type(None))


def digest(*parts: Part) -> bytes:
    """32 bytes that name the stream of `parts`.

    Raises TypeError: a part is no plain value of Python; scalars of NumPy print differently between versions.
    """
    for part in parts:
        if type(part) not in _PLAIN:
            raise TypeError(f"a stream is named by plain values, not by {type(part).__name__}: {part!r}")
    return blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=32).digest()


def check_seed(seed: object) -> None:
    """Raises a UsageError for a seed that is no whole number of Python: others print differently between versions."""
    if type(seed) is not int:
        raise UsageError(f"the seed must be a whole number (int), not {seed!r}")


class Streams:
    """Gives the generator of any stream, reusing one object: setting a state is 10x cheaper than making one.

    The generator returned by `at` is valid until the next call of `at`. Not for sharing between threads.
    """

    def __init__(self) -> None:
        self._bits: np.random.BitGenerator = np.random.PCG64(0)
        self._generator = np.random.Generator(self._bits)

    def at(self, *parts: Part) -> np.random.Generator:
        """The generator of the stream named by `parts`, at its beginning."""
        key = digest(*parts)
        self._set({"state": int.from_bytes(key[:16], "little"), "inc": int.from_bytes(key[16:], "little") | 1})
        return self._generator

    def _set(self, state: dict[str, object]) -> None:
        name = type(self._bits).__name__
        self._bits.state = {"bit_generator": name, "state": state, "has_uint32": 0, "uinteger": 0}


def stream(*parts: Part) -> np.random.Generator:
    """A generator of its own for the stream named by `parts`.

    >>> int(stream(0, "keyboard", "caption-1").integers(100)) == int(stream(0, "keyboard", "caption-1").integers(100))
    True
    """
    return Streams().at(*parts)


class NoiseStreams(Streams):
    """Like `Streams`, for pixel noise: an SFC64 generator, whose raw bytes cost a third of PCG64's."""

    def __init__(self) -> None:
        self._bits = np.random.SFC64(0)
        self._generator = np.random.Generator(self._bits)

    def at(self, *parts: Part) -> np.random.Generator:
        """The generator of the stream named by `parts`, at its beginning; valid until the next call."""
        self._set({"state": np.frombuffer(digest(*parts), dtype="<u8").astype(np.uint64)})
        self._bits.random_raw(12, output=False)  # SFC64's own warm-up: mixes the counter into the state
        return self._generator
