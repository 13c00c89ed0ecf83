"""The parts of our `evaluate` modules: their info, optional input columns, and errors that name column and item."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, SupportsFloat

import numpy as np

from video_contrast.metrics.checks import Argument, Figures, Values, listed, refuse, refuse_large_integers

Column = str | Sequence["Column"]  # "float64"; ["float64"]: a list of them
Columns = Mapping[str, Column]  # name -> type of an item


class OptionalColumns:
    """Put before `evaluate.Metric` (or another module class): columns in `optional` may be left out.

    The docstring of a subclass is its description and, from "Args:" on, says how it is used. `evaluate` demands every
    column that is declared and stores the inputs as a table whose columns are fixed by the first batch; which of the
    optional ones it has is decided by the first call, and is open again after `compute`.
    """

    columns: ClassVar[Columns]  # needed columns
    optional: ClassVar[Columns] = {"clusters": "string"}
    citation: ClassVar[str]  # one line; the card has its BibTeX
    measure: ClassVar[Callable[..., Figures]]  # function of needed columns by place, others and options by name
    _present: tuple[str, ...] | None = None

    def _info(self) -> Any:  # of `evaluate`, whose classes have no types
        import datasets
        import evaluate

        def feature(column: Column) -> Any:
            return datasets.Value(column) if isinstance(column, str) else datasets.List(feature(column[0]))

        description, usage = (inspect.getdoc(type(self)) or "").split("\n\n", 1)
        kinds = (evaluate.Metric, evaluate.MetricInfo), (evaluate.Comparison, evaluate.ComparisonInfo)
        make = next((info for kind, info in kinds if isinstance(self, kind)), evaluate.MeasurementInfo)
        return make(
            description=f"\n{description}\n",
            citation=self.citation,
            inputs_description=f"\n{usage}\n",
            homepage="https://pypi.org/project/video-contrast/",
            license="Apache-2.0",
            features=datasets.Features({k: feature(v) for k, v in {**self.columns, **self.optional}.items()}),
        )

    @property
    def features(self) -> Any:
        """The declared columns without the optional ones that are not given."""
        features = super().features  # type: ignore[misc]
        present = self._present or ()
        return type(features)({k: v for k, v in features.items() if k in (*self.columns, *present)})

    def add(self, **inputs: object) -> None:
        """Adds one example."""
        super().add(**self._inputs(inputs, single=True))  # type: ignore[misc]

    def add_batch(self, **inputs: object) -> None:
        """Adds examples."""
        super().add_batch(**self._inputs(inputs))  # type: ignore[misc]

    def compute(self, **inputs: object) -> object:
        """Computes over all examples added and given. Raises ValueError: a column is missing or not of its type."""
        try:
            missing = [name for name in self.columns if inputs.get(name) is None]
            if missing and len(missing) < len(self.columns):
                raise ValueError(f"the column {missing[0]!r} is missing: {', '.join(self.columns)} are needed")
            return super().compute(**self._inputs(inputs, adds=not missing))  # type: ignore[misc]
        finally:
            self._present = None

    def _compute(self, **inputs: Argument) -> Figures:
        """The figures; those that can have intervals have them where there are clusters, unless `interval` is given."""
        columns = [inputs.pop(name) for name in self.columns]
        measure = type(self).measure
        if inputs.get("interval") is None and "interval" in inspect.signature(measure).parameters:
            inputs["interval"] = inputs.get("clusters") is not None
        return measure(*columns, **inputs)

    def _inputs(self, inputs: Mapping[str, object], single: bool = False, adds: bool = True) -> dict[str, object]:
        """The inputs without absent optional columns, each checked; `single`: of one example."""
        columns = {name: value for name, value in inputs.items() if value is not None or name not in self.optional}
        present = tuple(name for name in self.optional if name in columns)
        if adds:
            self._present = before = present if self._present is None else self._present
            if present != before:
                raise ValueError(f"this batch has the optional columns {[*present]}, but those before had {[*before]}")
        for name, feature in self.features.items():
            key = name if name in columns else name[:-1]  # `add` may call predictions and references by their singulars
            if single and columns.get(key) is not None:
                columns[key] = self._checked(name, feature, [columns[key]])[0]
            elif columns.get(name) is not None:
                columns[name] = self._checked(name, feature, columns[name])
        return columns

    def _checked(self, name: str, feature: object, values: Values) -> Values:
        """A column as it is stored: NaN is missing in an optional one, and whole numbers are not made of fractions."""
        if isinstance(values, str):
            raise ValueError(f"{name} must be a list, not one text")
        inner = getattr(feature, "feature", None)  # of a column of lists
        whole = getattr(inner or feature, "dtype", "") == "int64"  # a matrix a row has numbers of any sort
        if not whole and name in self.columns:
            # A column of a data frame is read by its labels, which need not be 0, 1, 2 ...
            values = list(values.to_numpy()) if hasattr(values, "to_numpy") else values
            _refuse_large_integers(values, name)
            return values
        column = listed(values)
        if inner is not None:
            odd = [isinstance(row, str) or not hasattr(row, "__iter__") for row in column]
            refuse(odd, lambda i: f"{name}: item {i} is {column[i]!r}, not a list")
            column = [listed(row) for row in column]
        if whole:
            rows = column if inner is not None else [[value] for value in column]
            wrong = [[value for value in row if not _is_whole(value)] for row in rows]
            verb = "is" if inner is None else "holds"
            refuse([*map(bool, wrong)], lambda i: f"{name}: item {i} {verb} {wrong[i][0]!r}, not a whole number")
        if name == "clusters":  # names of videos are often numbers
            return [None if cluster is None else str(cluster) for cluster in column]
        return column


def _refuse_large_integers(values: Values, name: str) -> None:
    """Refuses whole numbers in lists that would be rounded where they are stored; of arrays the library does."""
    if hasattr(values, "dtype") or not hasattr(values, "__iter__"):
        return
    for value in values:
        if isinstance(value, int):
            refuse_large_integers(np.array(value, object), name)
        elif not isinstance(value, float | str):
            _refuse_large_integers(value, name)


def _is_whole(value: SupportsFloat | str | None) -> bool:
    try:
        return value is None or float(value).is_integer()
    except ValueError:
        return False
