"""What a constraint on contrasts is. A constraint accepts a candidate or rejects it, and never generates."""

from collections.abc import Sequence
from typing import ClassVar, Literal, NamedTuple

from video_contrast.perturbations.contrast.candidate import Candidate, Original


class Verdict(NamedTuple):
    """Whether a constraint lets a candidate pass, and what it measured (None where there is nothing to measure)."""

    ok: bool
    score: float | None = None


class Constraint:
    """Accepts candidates or rejects them. Subclasses are dataclasses: their fields are the constraint's options.

    Attributes:
        name: in options, records and scores.
        group: "rule" for constraints that need no model and always apply, "counts" for those on what models
            propose that read the counts of the package, "model" for the paper's that need a model, "request" for those
            that apply only where they are named.
        targets: what it can judge.
        default_targets: for what it applies where no constraints are named.
    """

    name: ClassVar[str]
    group: ClassVar[Literal["rule", "counts", "model", "request"]] = "rule"
    targets: ClassVar[tuple[str, ...]] = ("verb", "object")
    default_targets: ClassVar[tuple[str, ...]] = ("verb", "object")

    def accepts(self, original: Original, candidate: Candidate) -> Verdict:
        """Whether `candidate` may stand for `original`."""
        return self.check([original], [candidate])[0]

    def check(self, originals: Sequence[Original], candidates: Sequence[Candidate]) -> list[Verdict]:
        """`accepts` for each pair `originals[i]`, `candidates[i]`; constraints with a model override it for batches."""
        return [self.accepts(original, candidate) for original, candidate in zip(originals, candidates, strict=True)]

    def record(self) -> dict[str, object]:
        """Thresholds, models and files, for the record of a set."""
        return {}
