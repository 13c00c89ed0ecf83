"""What our `evaluate` modules share: optional input columns, and errors that say which column and item is wrong."""

from typing import Any, ClassVar

from video_contrast.metrics.checks import as_array, listed


class OptionalColumns:
    """Put before `evaluate.Metric` (or another module class): columns in `optional` may be left out.

    `evaluate` demands every column that is declared and stores the inputs as a table whose columns are fixed by the
    first batch; which of the optional ones it has is decided by the first call, and is open again after `compute`.
    """

    optional: ClassVar[tuple[str, ...]] = ()
    _given: tuple[str, ...] | None = None

    @property
    def features(self) -> Any:
        """The declared columns without the optional ones that are not given."""
        declared = super().features  # type: ignore[misc]
        given = self._given or ()
        return type(declared)({k: v for k, v in declared.items() if k not in self.optional or k in given})

    def add(self, **inputs: Any) -> None:
        """Adds one example."""
        super().add(**self._chosen(inputs, one=True))  # type: ignore[misc]

    def add_batch(self, **inputs: Any) -> None:
        """Adds examples."""
        super().add_batch(**self._chosen(inputs))  # type: ignore[misc]

    def compute(self, **inputs: Any) -> Any:
        """Computes over all examples that were added, and those given here.

        Raises:
            ValueError: a column is missing or not of its type.
        """
        try:
            names = [name for name in self.features if name not in self.optional]
            missing = [name for name in names if inputs.get(name) is None]
            if missing and len(missing) < len(names):
                raise ValueError(f"the column {missing[0]!r} is missing: {', '.join(names)} are needed")
            return super().compute(**self._chosen(inputs, adds=not missing))  # type: ignore[misc]
        finally:
            self._given = None

    def _chosen(self, inputs: dict[str, Any], one: bool = False, adds: bool = True) -> dict[str, Any]:
        inputs = {name: value for name, value in inputs.items() if value is not None or name not in self.optional}
        given = tuple(name for name in self.optional if name in inputs)
        if adds:
            if self._given is None:
                self._given = given
            elif given != self._given:
                raise ValueError(
                    f"this batch has the optional columns {list(given)}, but the ones before had {list(self._given)}"
                )
        self._refuse_fractions(inputs)
        if "clusters" in inputs:  # names of videos are often numbers
            clusters = inputs["clusters"]
            inputs["clusters"] = str(clusters) if one else [None if c is None else str(c) for c in listed(clusters)]
        return inputs

    def _refuse_fractions(self, inputs: dict[str, Any]) -> None:
        """Columns of whole numbers would be cut to them without a word."""
        for name, feature in self.features.items():
            if getattr(feature, "dtype", None) == "int64" and inputs.get(name) is not None:
                values = as_array(inputs[name]).tolist()
                odd = next((i for i, v in enumerate(values) if isinstance(v, float) and v != v // 1), None)
                if odd is not None:
                    raise ValueError(f"{name}: item {odd} is {values[odd]}, not a whole number")
