"""A run's numbers as rows: a figure with its interval, its level of chance and its items; the gammas of robustness.

`metrics.json` has the numbers of a condition under names that `metrics` put together ("t2v_R@1_low", "accuracy_verb").
This file alone takes them apart: whatever shows numbers reads `RunFigure` and `Gamma`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from video_contrast.rows import Layout
from video_contrast.storage.run_records import ConfigMetrics, Numbers, Robustness

MANY_UNPARSEABLE = 0.02  # of the items: a figure over more is marked
WAYS = {"t2v": "text to video", "v2t": "video to text"}
PAIR_SCORES = ("text_score", "video_score", "group_score")
OF_CLIPS = {"clip_mAP": "text to video mAP", "clip_R@1": "text to video R@1"}  # of captions that clips share
# Figures beside the accuracy and the scores of pairs, and what they are called.
OTHERS = {
    "accuracy_with_proficiency": "with proficiency",
    "right_in_all_of_clip": "all questions of a clip",
    "right_in_all_of_source": "all questions of a source",
    "accuracy_over_verbs": "averaged over verbs",  # every verb of the true captions counts the same
    "ndcg": "NDCG",  # the order of graded candidates
    "ndcg_min_max": "NDCG, min-max",
    **OF_CLIPS,
}
# The figures that stand for a config, as (kind, name).
MAIN: dict[Layout, tuple[tuple[str, str], ...]] = {
    "multiple_choice": (("", "accuracy"),),
    "pairs": tuple(("", name) for name in PAIR_SCORES),
    "retrieval": (("t2v", "R@1"), ("v2t", "R@1")),
}
_COUNTS = {
    **dict.fromkeys(PAIR_SCORES, "groups"),
    **dict.fromkeys(OF_CLIPS, "shared_captions"),
    "right_in_all_of_clip": "clips",
    "right_in_all_of_source": "sources",
    "random_option_accuracy": "random_option_n",
    "accuracy_over_verbs": "verbs",
}


@dataclass(frozen=True)
class RunFigure:
    """One number of a run."""

    config: str  # what was scored
    condition: str
    # "t2v" or "v2t" of retrieval; else the kind of the contrasts that the true caption stands against alone, or
    # "" of all candidates.
    kind: str
    name: str  # "accuracy", "R@1", "median_rank", "text_score"
    value: float  # a share from 0 to 1, or a rank
    low: float | None = None  # ends of the 95 % interval; None below five videos, and where none was asked for
    high: float | None = None
    chance: float | None = None  # of a scorer that knows nothing; None where that is not defined
    n: int | None = None  # items, captions, videos, groups or verbs that it is over; None where not known
    unparseable: float = 0.0  # share of the items with an answer that cannot be read

    @property
    def words(self) -> str:
        """What it is called: "text to video R@1", "text score"."""
        return in_words(self.name, self.kind)

    @property
    def above_chance(self) -> float:
        """From 0 (chance) to 1, so that configs with different numbers of candidates can be compared."""
        chance = self.chance or 0.0
        return (self.value - chance) / (1 - chance)

    @property
    def mark(self) -> str:
        """What stands beside a figure over items with unparseable answers, with "!" where they are many; else "".

        >>> [RunFigure("a", "clean", "", "accuracy", 0.5, unparseable=share).mark for share in (0.011, 0.125, 1.0, 0.0)]
        ['1.1 % unparseable', '! 12 % unparseable', '! 100 % unparseable', '']
        """
        many = "! " if self.unparseable > MANY_UNPARSEABLE else ""
        return f"{many}{float(f'{100 * self.unparseable:.2g}'):g} % unparseable" if self.unparseable else ""


@dataclass(frozen=True)
class Gamma:
    """How much of a score is left under a group of perturbations, or under one condition."""

    config: str  # what was scored
    kind: str  # of the score, as in `RunFigure`
    name: str
    group: str  # "visual", "text", "pairs", "visual:<category>", "text:<origin>"; "" of a condition
    condition: str  # the perturbed condition; "" of a group
    clean: float  # the score without perturbation
    at_chance: bool  # whether the interval of that holds chance
    absolute: float | None  # gammas; None where the clean score is 0
    relative: float | None
    absolute_sd: float | None = None  # standard deviations over the perturbations of a group
    relative_sd: float | None = None
    n: int = 1  # perturbations of a group

    @property
    def words(self) -> str:
        """What the score is called."""
        return in_words(self.name, self.kind)


def key(name: str, kind: str = "") -> str:
    """The name of a figure in `metrics.json`.

    >>> key("R@1", "t2v"), key("accuracy", "verb"), key("accuracy")
    ('t2v_R@1', 'accuracy_verb', 'accuracy')
    """
    if not kind:
        return name
    return f"accuracy_{kind}" if name == "accuracy" else f"{kind}_{name}"


def kind_in_words(kind: str) -> str:
    """What a kind of contrast is called; of verbs, generators other than the default one are named.

    >>> kind_in_words("person_id"), kind_in_words("verb_lexical"), kind_in_words("verb_lm")
    ('person id', 'verb', 'verb lm')
    """
    return "verb" if kind == "verb_lexical" else kind.replace("_", " ")


def in_words(name: str, kind: str = "") -> str:
    """What a figure is called.

    >>> in_words("R@1", "t2v"), in_words("accuracy", "person_id"), in_words("text_score")
    ('text to video R@1', 'against person id', 'text score')
    """
    if name == "accuracy" and kind:
        return f"against {kind_in_words(kind)}"
    return f"{WAYS[kind]} {name}" if kind else OTHERS.get(name, name.replace("_", " "))


def figure(
    numbers: Numbers | None, name: str = "accuracy", kind: str = "", *, config: str = "", condition: str = "clean"
) -> RunFigure | None:
    """A figure of a condition; None where it was not measured.

    `numbers`: of the condition, as in `metrics.json`. `name, kind, config, condition`: as in `RunFigure`.
    """
    value = (numbers or {}).get(key(name, kind))
    if numbers is None or value is None:
        return None
    low, high = (numbers.get(f"{key(name, kind)}_{side}") for side in ("low", "high"))
    if name == "accuracy":
        chance, count = (f"chance_{kind}", f"n_{kind}") if kind else ("chance", "n")
    elif kind:
        chance, count = f"{kind}_chance_{name}", "n_captions" if kind == "t2v" else "n_videos"
    else:
        chance, count = f"chance_{name}", _COUNTS.get(name, "n")
    n, unparseable = numbers.get(count), numbers.get("unparseable") or 0.0
    return RunFigure(config, condition, kind, name, value, low, high, numbers.get(chance), n, unparseable)


def kinds_of(numbers: Numbers) -> list[str]:
    """The kinds of candidates that a condition has an accuracy of, in the order of `metrics.json`."""
    names = (name.removeprefix("accuracy_") for name in numbers)
    return [name for name in names if f"n_{name}" in numbers and f"accuracy_{name}" in numbers]


def ties_of(numbers: Numbers) -> int:
    """Items of multiple choice whose true candidate ties with another."""
    return int(numbers.get("n_ties", 0))


def condition_figures(config: str, condition: str, numbers: Numbers) -> list[RunFigure]:
    """Every figure of a condition: all candidates first, then by kind; of retrieval one way after the other.

    `config, condition`: what was scored. `numbers`: of the condition, as in `metrics.json`.
    """
    names = [("accuracy", ""), *(("accuracy", kind) for kind in kinds_of(numbers))]
    names += [(name, "") for name in (*PAIR_SCORES, *OTHERS, "random_option_accuracy", "R@2", "R@3", "mean_rank")]
    names += [(name, way) for way in WAYS for name in ("R@1", "R@5", "R@10", "median_rank")]
    rows = (figure(numbers, name, kind, config=config, condition=condition) for name, kind in names)
    return [row for row in rows if row is not None]


def config_figures(config: str, entry: ConfigMetrics) -> list[RunFigure]:
    """Every figure of a config, condition by condition."""
    return [row for name, numbers in entry["conditions"].items() for row in condition_figures(config, name, numbers)]


def main_figures(config: str, entry: ConfigMetrics, condition: str = "clean") -> list[RunFigure]:
    """The figures that stand for a config under a condition; [] where that was not scored.

    Returns the accuracy, R@1 each way, or the three scores of pairs; of these only the text score where the scores of
    different clips cannot be compared. `entry`: its metrics, as in `metrics.json`.
    """
    numbers = entry["conditions"].get(condition)
    rows = (figure(numbers, name, kind, config=config, condition=condition) for kind, name in MAIN[entry["layout"]])
    return [row for row in rows if row is not None]


def gammas_of(config: str, robustness: Robustness) -> Iterator[Gamma]:
    """The gammas of a config: of each score the groups of perturbations, then the single conditions."""
    for score, measured in robustness.items():
        way, _, rest = score.partition("_")
        kind, name = (way, rest) if way in WAYS else ("", score)
        shared = (measured["clean"], bool(measured.get("at_chance")))
        for group, means in measured.items():
            if isinstance(means, Mapping) and group != "conditions":
                yield Gamma(
                    config, kind, name, group, "", *shared, means["gamma_absolute"], means["gamma_relative"],
                    means["gamma_absolute_sd"], means["gamma_relative_sd"], means["n"],
                )  # fmt: skip
        for condition, gammas in measured.get("conditions", {}).items():
            absolute, relative = gammas["gamma_absolute"], gammas["gamma_relative"]
            yield Gamma(config, kind, name, "", condition, *shared, absolute, relative)
