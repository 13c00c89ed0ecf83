"""Turning what callers hand over (lists, numpy, torch) into arrays, and saying which item is wrong.

The only place where scores, labels and clusters are checked; the metrics trust what comes out of here.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = Any  # lists (ragged, or with None), arrays, tensors and table columns of any library: checked here, not typed
Argument = Any  # of a metric, each of its own type
Array = NDArray[Any]  # of any dtype
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Figures = dict[str, Any]  # name -> number, list of numbers or None: which of them goes by the name


def as_array(values: Values) -> Array:
    """A numpy array of lists, numpy arrays or torch tensors (on any device, bfloat16 too).

    Half precision becomes float32, which holds it exactly; everything else keeps its type.

    >>> as_array([[1, 2], [3, 4]]).shape
    (2, 2)
    """
    if hasattr(values, "detach"):  # a torch tensor, recognised without importing torch
        values = values.detach().cpu()
        if values.is_floating_point() and values.element_size() < 4:
            values = values.float()
        values = values.numpy()
    array = np.asarray(values)
    return array.astype(np.float32) if array.dtype == np.float16 else array


def listed(values: Values) -> list[Any]:  # each of its own type
    """Plain Python values of a list, an array, a column of a data frame or a tensor; what is missing becomes None.

    Values of tensors are not equal to each other, and NaN not to itself, so neither can be a name as it is.

    >>> listed(np.array(["a", None, float("nan")], object)), listed([np.int64(3), "b"])
    (['a', None, None], [3, 'b'])
    """
    plain = values.tolist() if hasattr(values, "tolist") else list(values)
    plain = [value.item() if getattr(value, "ndim", None) == 0 else value for value in plain]
    # Not equal to itself: NaN. Neither equal nor unequal: the NA of pandas.
    missing = [not hasattr(value, "__iter__") and (value != value) is not False for value in plain]
    return [None if gone else value for value, gone in zip(plain, missing, strict=True)]


def refuse(bad: Values, message: Callable[..., str]) -> None:
    """Raises a ValueError that says what is wrong with the first of the items that are `bad`.

    `bad`: booleans `[n]` or `[n, m]`. `message`: of the place, one number or two.
    """
    places = np.argwhere(bad)
    if len(places):
        raise ValueError(message(*places[0].tolist()))


def vector(values: Values, name: str) -> Floats:
    """Finite numbers, one an item. Raises ValueError: not one-dimensional, empty, NaN or infinite; names the item."""
    array = _numbers(values, name)
    if array.ndim != 1:
        raise ValueError(f"{name} must have one number an item, not the shape {array.shape}")
    if not len(array):
        raise ValueError(f"{name} is empty: there is nothing to measure")
    bad = ~np.isfinite(array)
    refuse(bad, lambda i: f"{name}: item {i} is {array[i]}; {bad.sum()} of {len(array)} are not finite")
    return array


def shares(values: Values, name: str) -> Floats:
    """Numbers from 0 to 1, one an item: what it contributes to an accuracy.

    Raises ValueError: as `vector`, or a value out of range (the message names the item).
    """
    array = vector(values, name)
    refuse((array < 0) | (array > 1), lambda i: f"{name}: item {i} is {array[i]}, not between 0 and 1")
    return array


def choices(
    scores: Values, labels: Values = None, *, ragged: bool = False, name: str = "scores", hint: str = ""
) -> tuple[Floats, Ints, Ints]:
    """Checked scores of multiple-choice items, `[n][k]`, and labels `[n]` (None: 0 everywhere).

    Returns `(scores float64[n, k], labels int64[n], sizes int64[n])`; with `ragged` items may have different numbers of
    candidates, and shorter ones are filled up with minus infinity behind their `sizes[i]`, so that nothing filled in
    can outrank or tie. `name` and `hint` are for messages: what the scores are called, and what to do about items of
    different lengths. Raises ValueError: no items, one candidate, ragged rows, a score that is NaN or infinite, a label
    that is out of range; the message names the item.
    """
    array, sizes = _rectangle(scores, ragged, name, hint)
    bad = ~np.isfinite(array) & (np.arange(array.shape[1]) < sizes[:, None])
    no_rank = f"NaN and infinite scores have no rank ({bad.sum()} in all)"
    refuse(bad, lambda i, j: f"{name}: item {i}, candidate {j} is {array[i, j]}; {no_rank}")
    if labels is None:
        return array, np.zeros(len(sizes), np.int64), sizes
    truth = as_array(labels)
    if truth.shape != sizes.shape:
        raise ValueError(f"{len(sizes)} items need {len(sizes)} labels, not the shape {truth.shape}")
    whole = "labels are whole numbers, places of true candidates"
    refuse(not_whole(truth), lambda i: f"labels: item {i} is {truth[i]!s}; {whole}")
    outside = (truth < 0) | (truth >= sizes)
    refuse(outside, lambda i: f"labels: item {i} has label {truth[i]}, but candidates 0..{sizes[i] - 1}")
    return array, truth.astype(np.int64), sizes


def not_whole(array: Array) -> Values:
    """The places of values that are no whole numbers, booleans `[n]`.

    >>> not_whole(np.array([1.0, 2.5])).tolist(), not_whole(np.array([0, None]))
    ([False, True], [False, True])
    """
    if array.dtype.kind in "iuf":
        return array != np.floor(array)  # NaN too
    return [not isinstance(value, int | np.integer) for value in array]


def rows_of_one_length(rows: Values, name: str, what: str) -> Array:
    """Rows, an array or a list of rows of one length, as an array `[rows, columns]`.

    `name`, `what`: for messages, of the argument and of what the columns hold ("candidates"). Raises ValueError: a row
    has another length than the first; the message names it.
    """
    if _is_list(rows, name):
        rows = _rows(rows, name)
        odd = [row.shape != rows[0].shape for row in rows]
        refuse(odd, lambda i: f"{name}: row {i} has {_size(rows[i])} {what}, row 0 has {_size(rows[0])}")
        return np.stack(rows) if rows else np.zeros((0, 0))
    return as_array(rows)


def cluster_codes(clusters: Values, n: int) -> tuple[Ints, int]:
    """Cluster names as numbers `int64[n]` from 0, and how many clusters there are. None: every item its own.

    Raises ValueError: not one name an item, or a name is missing.
    """
    if clusters is None:
        return np.arange(n), n
    names = as_array(clusters)
    if names.shape != (n,):
        raise ValueError(f"{n} items need {n} clusters (the source video of each), not the shape {names.shape}")
    # Beside texts numpy makes a text of NaN: then the list itself is looked at.
    of_texts = names.dtype.kind == "U" and not hasattr(clusters, "dtype")
    if names.dtype.kind in "fO" or of_texts:
        missing = [name is None or name != name for name in (clusters if of_texts else listed(names))]
        refuse(missing, lambda i: f"clusters: item {i} has none")
        names = names.astype(str) if names.dtype == object else names
    unique, codes = np.unique(names, return_inverse=True)
    return codes.astype(np.int64), len(unique)


def at_most(ks: Sequence[int], most: int, what: str) -> tuple[int, ...]:
    """The Ks of R@K as integers.

    `ks`: whole numbers, each from 1 to `most`. `what`: the answers are, for the message ("videos"). Raises ValueError:
    a K is not a whole number of at least 1, or larger than the number of `what`.
    """
    if not hasattr(ks, "__iter__"):
        raise ValueError(f"the Ks of R@K must be a list such as [1, 5], not {ks!r}")
    for k in ks:
        if isinstance(k, bool | str) or not k >= 1 or k != k // 1:
            raise ValueError(f"K of R@K must be a whole number from 1 on, not {k!r}")
        if k > most:
            raise ValueError(f"R@{k} needs at least {k} {what}, but there are {most}")
    return tuple(int(k) for k in ks)


def _numbers(values: Values, name: str) -> Floats:
    array = as_array(values)
    if array.dtype.kind not in "biufO":
        raise ValueError(f"{name} must be numbers, not {array.dtype}")
    try:
        numbers = array.astype(np.float64)
    except (TypeError, ValueError) as error:
        raise ValueError(f"{name} must be numbers: {error}") from error
    refuse_large_integers(array, name)
    return numbers


def refuse_large_integers(array: Array, name: str) -> None:
    """Refuses whole numbers that float64 cannot tell apart, and would tie. Raises ValueError: one is beyond 2**53."""
    if array.dtype.kind == "O":
        large = [value for value in array.reshape(-1) if isinstance(value, int) and abs(value) > 2**53]
    else:
        large = array[(array > 2**53) | (array < -(2**53))].tolist() if array.dtype.kind in "iu" else []
    if large:
        raise ValueError(f"{name}: {large[0]} is beyond 2**53, where float64 cannot tell neighbours apart")


def _is_list(rows: Values, name: str) -> bool:
    """Whether rows come one by one: a list of them, or an array or a column of a data frame that holds lists."""
    if not hasattr(rows, "__iter__"):
        raise ValueError(f"{name} must be rows of numbers, not {rows!r}")
    return not hasattr(rows, "shape") or (len(rows.shape) == 1 and str(rows.dtype) == "object")


def _rows(rows: Values, name: str) -> list[Array]:
    arrays = []
    for i, row in enumerate(rows):
        try:
            arrays.append(as_array(row))
        except ValueError as error:  # numpy's, of lists of unequal lengths
            raise ValueError(f"{name}: item {i} holds lists of different lengths, or numbers beside lists") from error
    return arrays


def _size(row: Array) -> str:
    return str(len(row)) if row.ndim == 1 else f"the shape {row.shape} of"


def _rectangle(scores: Values, ragged: bool, name: str, hint: str) -> tuple[Floats, Ints]:
    if _is_list(scores, name):
        scores = _rows(scores, name)
        lengths = [row.shape[0] if row.ndim == 1 else -1 for row in scores]
        flat = next((i for i, length in enumerate(lengths) if length < 0), None)
        if flat is not None:
            actual = f"the shape {scores[flat].shape}" if scores[flat].ndim else repr(scores[flat].item())
            raise ValueError(f"{name}: item {flat} must be a list of scores, one a candidate, not {actual}")
        odd = next((i for i, length in enumerate(lengths) if length != lengths[0]), None)
        if odd is not None and ragged:
            sizes = np.array(lengths, np.int64)
            refuse(sizes < 2, lambda i: f"{name}: item {i} needs at least 2 candidates, not {sizes[i]}")
            table = np.full((len(scores), int(sizes.max())), -np.inf)
            for row, size, of_item in zip(table, sizes, scores, strict=True):
                row[:size] = _numbers(of_item, name)
            return table, sizes
        if odd is not None:
            raise ValueError(f"{name}: item {odd} has {lengths[odd]} candidates, item 0 has {lengths[0]}{hint}")
    array = _numbers(scores, name)
    if array.ndim != 2 and len(array):
        raise ValueError(f"{name} must be one row an item and one column a candidate, not the shape {array.shape}")
    if not len(array):
        raise ValueError(f"{name} is empty: there are no items to measure")
    if array.shape[1] < 2:
        raise ValueError(f"{name}: an item needs at least 2 candidates, not {array.shape[1]}")
    return array, np.full(len(array), array.shape[1], np.int64)
