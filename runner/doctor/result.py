"""The verdict of a check, the result of a whole self-test, and the failures that stop a run."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from video_contrast.errors import UsageError, VideoContrastError, unknown_name
from video_contrast.files import Json, JsonObject
from video_contrast.options import names_in

State = Literal["pass", "fail", "doubt", "fact"]
TABLE = Path(__file__).with_name("checks.tsv").read_text(encoding="utf-8")
CHECKS = dict(line.split("\t") for line in TABLE.splitlines())  # name of a check -> what it holds
ALL = "all"


@dataclass(frozen=True)
class Outcome:
    """The verdict of one check."""

    check: str  # a name of `CHECKS`
    state: State  # "fail" stops a run; "doubt" marks it; "fact" is for the report and no error
    says: str  # one line
    # numbers behind it; infinite ones, which JSON has not, are left to the words.
    numbers: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        finite = {name: value for name, value in self.numbers.items() if math.isfinite(value)}
        object.__setattr__(self, "numbers", finite)

    def __str__(self) -> str:
        return f"{self.state:5} {self.check:10} {self.says}"


@dataclass(frozen=True)
class SelfTest:
    """A self-test of a model."""

    verdicts: tuple[Outcome, ...] = ()  # one a check
    items: int = 0  # how many items it stands on
    seconds: float = 0.0  # of the whole test
    # input of the model for the first item (prompt, token counts, times, pixel shapes).
    rendered: JsonObject = field(default_factory=dict)
    exempt: str = ""  # why a model is not tested; "" where it was
    # inputs and outputs of the model for each item (`runner.traces`).
    traces: list[JsonObject] = field(default_factory=list)

    def of(self, state: State) -> list[Outcome]:
        """The verdicts of a state."""
        return [verdict for verdict in self.verdicts if verdict.state == state]

    @classmethod
    def from_dict(cls, entry: Mapping[str, Json]) -> "SelfTest":
        """A self-test from what `dataclasses.asdict` made of it."""
        return cls(**{**entry, "verdicts": tuple(Outcome(**verdict) for verdict in entry["verdicts"])})

    def record(self, accepted: Collection[str]) -> JsonObject:
        """The entry of `run.json`; `accepted` are the names of `--accept`."""
        if self.exempt:
            return {"exempt": self.exempt}
        failed_checks = [verdict.check for verdict in self.of("fail")]
        return {
            "passed": not failed_checks,
            "failed": failed_checks,
            "accepted": sorted(set(failed_checks) & set(accepted)),
            "doubtful": [verdict.check for verdict in self.of("doubt")],
            "items": self.items,
            "seconds": round(self.seconds, 2),
            "verdicts": [asdict(verdict) for verdict in self.verdicts],
        }


def accepted_checks(option: str | Sequence[str]) -> tuple[str, ...]:
    """The names that `--accept` gives, separated by commas or in a list. Raises UsageError: a name that is no check."""
    names = tuple(names_in(option) or ())
    for name in names:
        if name not in (*CHECKS, ALL):
            raise unknown_name("check of --accept", name, [*CHECKS, ALL])
    if ALL in names and len(names) > 1:
        raise UsageError(f"--accept {ALL} leaves the self-test out; name no other check beside it")
    return names


def refuse(test: SelfTest, model: str, accepted: Collection[str]) -> None:
    """Stops a run whose model failed. Raises VideoContrastError: a check failed that was not accepted."""
    if failures := [verdict for verdict in test.of("fail") if verdict.check not in accepted]:
        names = ",".join(verdict.check for verdict in failures)
        reasons = "; ".join(f"{verdict.check}: {verdict.says}" for verdict in failures)
        raise VideoContrastError(
            f"{model} failed the self-test, nothing was scored ({reasons}); `video-contrast doctor {model}` shows all "
            f"checks. If this is how the model is meant to be, give --accept {names}"
        )
