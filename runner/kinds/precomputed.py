"""Embeddings or similarities that were made elsewhere, by models that have no class in transformers.

`--model` is a folder with a `precomputed.json` that says what lies in it:

    {"name": "CLIP4Clip meanP", "similarity": "sims.npy", "videos": "videos.txt", "texts": "texts.txt"}
    {"name": "Frozen in Time", "video_embeddings": "v.npy", "text_embeddings": "t.npy", "videos": ..., "texts": ...}

- `similarity` float[N, M], higher is better; or `video_embeddings` float[N, D] and `text_embeddings` float[M, D],
  whose product (of normalised rows, unless `"normalise": false`) is the similarity. `.npy`, `.safetensors`
  (`file.safetensors:tensor`) or `.parquet` (one row a row of the matrix, all columns).
- `videos` names the rows: `video_id`s of the set. `texts` names the columns: either the captions themselves
  (`"texts_are": "captions"`, the default) or ids `item#0`, `item#1` ... (`"texts_are": "ids"`). One a line, or a JSON
  list.
- `conditions`, where there are any, holds an entry of the same keys for each perturbed condition
  (`"visual:jumble@3": {"similarity": "jumble3.npy"}`); what an entry does not name is taken from the clean one.
"""

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from pathlib import Path

import numpy as np

from video_contrast.console import counted
from video_contrast.errors import UsageError, VideoContrastError, unknown_name
from video_contrast.files import Json, JsonObject, read_json, read_text, resolve_under
from video_contrast.runner.kinds.base import LoadOptions, ModelSource, TextScorer, kind, unit_rows

MANIFEST = "precomputed.json"
KEYS = (
    "name", "similarity", "video_embeddings", "text_embeddings", "normalise", "videos", "texts", "texts_are",
    "conditions",
)  # fmt: skip


class Precomputed(TextScorer):
    """Looks similarities up by the names of clips and texts."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.whole = read_json(folder / MANIFEST)
        entries = (self.whole, *_conditions(self.whole).values())
        if not all(isinstance(entry, dict) for entry in entries):
            raise UsageError(f"{folder / MANIFEST} must hold an object of names, and one a condition in 'conditions'")
        for entry in entries:  # a name that is nearly a key would be left unread, and change the numbers in silence
            for key in entry:
                if key not in KEYS and get_close_matches(key, KEYS, n=1, cutoff=0.8):
                    raise unknown_name(f"key of {folder / MANIFEST}", key, KEYS)
            if not isinstance(entry.get("normalise", True), bool):
                raise UsageError(f"{folder / MANIFEST}: normalise is true or false, not {entry['normalise']!r}")
        self.begin([])

    def begin(self, texts: Sequence[str], *, condition: str = "clean") -> None:
        """Reads the matrices of a condition."""
        others = _conditions(self.whole)
        if condition != "clean" and condition not in others:
            raise UsageError(
                f"{self.folder / MANIFEST} has no entry for the condition {condition!r} under 'conditions' (it has: "
                f"{', '.join(others) or 'none'}): frames or captions under it need a matrix of their own"
            )
        self.manifest = {**self.whole, **(others[condition] if condition != "clean" else {})}
        self.rows = self._names("videos")
        self.columns = self._names("texts")
        kind_of_text = self.manifest.get("texts_are", "captions")
        if kind_of_text not in ("captions", "ids"):
            raise UsageError(f"{self.folder / MANIFEST}: texts_are is 'captions' or 'ids', not {kind_of_text!r}")
        self.by_caption = kind_of_text == "captions"
        self.matrix: np.ndarray | None = None
        if "similarity" in self.manifest:
            self.matrix = self._array("similarity")
            shape: tuple[int, ...] = self.matrix.shape
        elif "video_embeddings" in self.manifest and "text_embeddings" in self.manifest:
            self.videos, self.texts = self._array("video_embeddings"), self._array("text_embeddings")
            if self.videos.shape[1] != self.texts.shape[1]:
                raise VideoContrastError(
                    f"{self.folder}: video embeddings have {self.videos.shape[1]} numbers, text embeddings "
                    f"{self.texts.shape[1]}"
                )
            if self.manifest.get("normalise", True):
                self.videos, self.texts = unit_rows(self.videos), unit_rows(self.texts)
            shape = (len(self.videos), len(self.texts))
        else:
            raise UsageError(
                f"{self.folder / MANIFEST} names neither 'similarity' nor 'video_embeddings' and 'text_embeddings'"
            )
        if shape != (len(self.rows), len(self.columns)):
            raise VideoContrastError(
                f"{self.folder}: {len(self.rows)} videos and {len(self.columns)} texts are named, but the matrix is "
                f"{shape[0]} x {shape[1]}"
            )

    @property
    def facts(self) -> JsonObject:
        """The manifest of the scores."""
        return {"precomputed": self.whole}

    def similarity(self, video_ids: Sequence[str], text_ids: Sequence[str], texts: Sequence[str]) -> np.ndarray:
        """float64[N, M] in the asked-for order."""
        rows = self._find(self.rows, video_ids, "video", "videos")
        columns = self._find(self.columns, texts if self.by_caption else text_ids, "text", "texts")
        if self.matrix is not None:
            return np.asarray(self.matrix[np.ix_(rows, columns)], np.float64)
        return np.asarray(self.videos[rows] @ self.texts[columns].T, np.float64)

    def _find(self, places: dict[str, int], names: Sequence[str], what: str, field: str) -> list[int]:
        if missing := [name for name in names if name not in places]:
            having = next(iter(places), "nothing")
            lacking = counted(len(set(missing)), what)  # only those of this call: the items come one by one
            raise VideoContrastError(
                f"{self.folder}: {field!r} lacks at least {lacking} of the set (first: {missing[0]!r}; it holds names "
                f"like {having!r})"
            )
        return [places[name] for name in names]

    def _names(self, field: str) -> dict[str, int]:
        if field not in self.manifest:
            raise UsageError(f"{self.folder / MANIFEST} does not name {field!r}")
        names = self.manifest[field]
        if isinstance(names, str):
            path = resolve_under(self.folder, names)
            # a caption may hold what Python takes for the end of a line, such as U+2028
            names = read_json(path) if path.suffix == ".json" else read_text(path).removesuffix("\n").split("\n")
        if not isinstance(names, list):
            raise UsageError(f"{self.folder / MANIFEST}: {field!r} must be a list of names, or a file of one")
        places = {str(name): n for n, name in enumerate(names)}
        if len(places) != len(names):
            raise VideoContrastError(f"{self.folder}: {len(names) - len(places)} names in {field!r} stand twice")
        return places

    def _array(self, field: str) -> np.ndarray:
        name, _, tensor = str(self.manifest[field]).partition(":")
        path = resolve_under(self.folder, name)
        if not path.exists():
            raise VideoContrastError(f"{self.folder / MANIFEST}: {field} {name!r} is not there")
        if path.suffix not in READERS:
            raise UsageError(f"{path}: a matrix is .npy, .safetensors or .parquet")
        try:
            array = READERS[path.suffix](path, tensor)
        except VideoContrastError:
            raise
        except Exception as error:  # each library has errors of its own for a damaged file
            raise VideoContrastError(
                f"{path} cannot be read as a matrix ({error}); was it written to its end, as float32 or float16?"
            ) from error
        if array.ndim != 2 or array.dtype.kind not in "fiu":
            raise VideoContrastError(f"{path} must be a matrix of numbers, not {array.dtype} {array.shape}")
        return np.asarray(array) if array.dtype != np.float16 else array.astype(np.float32)


def _conditions(whole: Json) -> Mapping[str, Json]:
    """The entries of the conditions, each an object in a well-formed file."""
    entries = whole.get("conditions", {}) if isinstance(whole, dict) else {}
    return entries if isinstance(entries, dict) else {"conditions": None}


def _safetensors(path: Path, tensor: str) -> np.ndarray:
    from safetensors.numpy import load_file

    tensors = load_file(path)
    if tensor not in tensors and (tensor or len(tensors) != 1):
        raise UsageError(f"{path} holds {', '.join(tensors) or 'nothing'}; name one as '{path.name}:NAME'")
    return tensors[tensor] if tensor else next(iter(tensors.values()))


def _parquet(path: Path, tensor: str) -> np.ndarray:
    import pyarrow.parquet as pq

    return np.stack([column.to_numpy() for column in pq.read_table(path).columns], axis=1)


READERS: dict[str, Callable[[Path, str], np.ndarray]] = {
    ".npy": lambda path, _: np.load(path, mmap_mode="r", allow_pickle=False),
    ".safetensors": _safetensors,
    ".parquet": _parquet,
}


@kind(
    "precomputed",
    family="text",
    summary="similarities or embeddings made by other code (npy, safetensors, parquet) with their ids",
    names=(),
    model_types=(f"a folder with {MANIFEST}",),
    tested=("npy", "safetensors", "parquet"),
)
def load(source: ModelSource, settings: LoadOptions) -> Precomputed:
    """Reads the folder's manifest."""
    if source.path is None or not (source.path / MANIFEST).exists():
        raise UsageError(f"--model {source.name}: a precomputed model is a folder with {MANIFEST}")
    return Precomputed(source.path)
