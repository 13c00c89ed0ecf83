"""A run's numbers as rows: a figure with its interval, its level of chance and its items; the gammas of robustness.

`metrics.json` has the numbers of a condition under names that `metrics` put together ("t2v_R@1_low", "accuracy_verb").
This file alone takes them apart, and has the names: whatever shows numbers reads `RunFigure` and `Gamma`.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from video_contrast.rows import Layout
from video_contrast.storage.run_file_fields import ConfigMetrics, Numbers

MANY_UNPARSEABLE = 0.02  # of the items: a figure over more is marked
WAYS = {"t2v": "text to video", "v2t": "video to text"}


class Score(NamedTuple):
    """The measure of a figure."""

    name: str  # "accuracy", "R@1", "median_rank", "text_score"
    kind: str = ""  # "t2v" or "v2t" of retrieval; else of the contrasts beside the true caption, "" of all candidates

    @property
    def key(self) -> str:
        """The key of the measure in `metrics.json`.

        >>> Score("R@1", "t2v").key, Score("accuracy", "verb").key, Score("accuracy").key
        ('t2v_R@1', 'accuracy_verb', 'accuracy')
        """
        order = (self.name, self.kind) if self.name == "accuracy" else (self.kind, self.name)
        return "_".join(filter(None, order))

    @property
    def words(self) -> str:
        """The name of the measure in words.

        >>> Score("R@1", "t2v").words, Score("accuracy", "person_id").words, Score("text_score").words
        ('text to video R@1', 'against person id', 'text score')
        """
        if self.name == "accuracy" and self.kind:
            return f"against {kind_in_words(self.kind)}"
        return f"{WAYS[self.kind]} {self.name}" if self.kind else OTHERS.get(self, self.name.replace("_", " "))


ACCURACY = Score("accuracy")
MEAN_RANK = Score("mean_rank")
AMONG_FIRST = (Score("R@2"), Score("R@3"))  # of multiple choice: the true candidate is among the first two, or three
CLIP_MAP = Score("clip_mAP")  # of captions that clips share
TIES = Score("n_ties")  # items of multiple choice whose true candidate ties with another
RANDOM_OPTIONS = Score("random_option_accuracy")  # of the same captions, each contrast exchanged for a random candidate
OVER_VERBS = Score("accuracy_over_verbs")  # every verb of the true captions counts the same
RECALLS = {way: [Score(f"R@{k}", way) for k in (1, 5, 10)] for way in WAYS}
MEDIAN_RANKS = {way: Score("median_rank", way) for way in WAYS}
PAIR_SCORES = (Score("text_score"), Score("video_score"), Score("group_score"))
RELATIVE, ABSOLUTE = "gamma_relative", "gamma_absolute"  # gammas in `metrics.json` and in the published tables
# Figures beside the accuracy and the scores of pairs, and what they are called.
OTHERS = {
    Score("accuracy_with_proficiency"): "with proficiency",
    Score("right_in_all_of_clip"): "all questions of a clip",
    Score("right_in_all_of_source"): "all questions of a source",
    OVER_VERBS: "averaged over verbs",
    Score("ndcg"): "NDCG",  # the order of graded candidates
    Score("ndcg_min_max"): "NDCG, min-max",
    CLIP_MAP: "text to video mAP",
    Score("clip_R@1"): "text to video R@1",
}
# The figures that stand for a config.
MAIN: dict[Layout, tuple[Score, ...]] = {
    "multiple_choice": (ACCURACY,),
    "pairs": PAIR_SCORES,
    "retrieval": tuple(of_way[0] for of_way in RECALLS.values()),
}
# Layout -> the scores of which gammas are taken.
ROBUST: dict[Layout, tuple[Score, ...]] = {
    "multiple_choice": (ACCURACY,),
    "pairs": (ACCURACY, *PAIR_SCORES),
    "retrieval": tuple(RECALLS[way][at] for at in (0, 1) for way in WAYS),
}
_COUNTS = {
    **dict.fromkeys(PAIR_SCORES, "groups"),
    CLIP_MAP: "shared_captions",
    Score("clip_R@1"): "shared_captions",
    Score("right_in_all_of_clip"): "clips",
    Score("right_in_all_of_source"): "sources",
    RANDOM_OPTIONS: "random_option_n",
    OVER_VERBS: "verbs",
}


class FigureKey(NamedTuple):
    """The place of a figure in a run."""

    config: str  # what was scored
    condition: str
    score: Score


@dataclass(frozen=True, slots=True)
class RunFigure:
    """One number of a run."""

    config: str  # what was scored
    condition: str
    score: Score
    value: float  # a share from 0 to 1, a rank or a count
    low: float | None = None  # ends of the 95 % interval; None below five videos, and where none was asked for
    high: float | None = None
    chance: float | None = None  # of a scorer that knows nothing; None where that is not defined
    n: int | None = None  # items, captions, videos, groups or verbs that it is over; None where not known
    unparseable: float = 0.0  # share of the items with an answer that cannot be read

    @property
    def above_chance(self) -> float:
        """The value from 0 (chance) to 1, so that configs with different numbers of candidates can be compared."""
        chance = self.chance or 0.0
        return (self.value - chance) / (1 - chance)

    @property
    def mark(self) -> str:
        """The mark beside a figure over items with unparseable answers, with "!" where they are many; else "".

        >>> [RunFigure("a", "clean", ACCURACY, 0.5, unparseable=share).mark for share in (0.011, 0.125, 1.0, 0.0)]
        ['1.1 % unparseable', '! 12 % unparseable', '! 100 % unparseable', '']
        """
        many = "! " if self.unparseable > MANY_UNPARSEABLE else ""
        return f"{many}{float(f'{100 * self.unparseable:.2g}'):g} % unparseable" if self.unparseable else ""


@dataclass(frozen=True, slots=True)
class Gamma:
    """The share of a score that is left under a group of perturbations, or under one condition."""

    config: str  # what was scored
    score: Score
    group: str  # "visual", "text", "pairs", "visual:<category>", "text:<origin>"; "" of a condition
    condition: str  # the perturbed condition; "" of a group
    clean: float  # the score without perturbation
    at_chance: bool  # whether the interval of that holds chance
    absolute: float | None  # gammas; None where the clean score is 0
    relative: float | None
    absolute_sd: float | None = None  # standard deviations over the perturbations of a group
    relative_sd: float | None = None
    n: int = 1  # perturbations of a group


class RunNumbers(NamedTuple):
    """The numbers of a run, or of several runs of a model on different configs."""

    figures: dict[FigureKey, RunFigure]  # config by config, condition by condition
    gammas: list[Gamma]  # config by config, and of each score the groups of perturbations, then the single conditions
    missing: list[tuple[int, int | None]]  # clips that are not scored, and of how many; [] or None: not known

    @classmethod
    def of(cls, configs: Mapping[str, ConfigMetrics]) -> "RunNumbers":
        """The numbers as they stand in `metrics.json`."""
        figures = {
            FigureKey(config, condition, row.score): row
            for config, entry in configs.items()
            for condition, numbers in entry["conditions"].items()
            for row in _figures(config, condition, numbers)
        }
        gammas = [gamma for config, entry in configs.items() for gamma in _gammas(config, entry)]
        entries = [entry for entry in configs.values() if "n_missing" in entry]
        missing = dict.fromkeys((entry["n_missing"], entry.get("n_clips")) for entry in entries)
        return cls(figures, gammas, list(missing))


def against(kind: str) -> Score:
    """The accuracy against the candidates of one kind alone."""
    return Score("accuracy", kind)


def leading(layout: Layout) -> Score:
    """The one figure by which models are compared: the accuracy, or text-to-video R@1."""
    return MAIN[layout][0] if layout == "retrieval" else ACCURACY


def kind_in_words(kind: str) -> str:
    """The name of a kind of contrast in words; of verbs, generators other than the default one are named.

    >>> kind_in_words("person_id"), kind_in_words("verb_lexical"), kind_in_words("verb_lm")
    ('person id', 'verb', 'verb lm')
    """
    return "verb" if kind == "verb_lexical" else kind.replace("_", " ")


def figure(numbers: Numbers, score: Score = ACCURACY, config: str = "", condition: str = "clean") -> RunFigure | None:
    """A figure of a condition by its `numbers` in `metrics.json`; None where it was not measured."""
    name, kind = score
    value = numbers.get(score.key)
    if value is None:
        return None
    low, high = (numbers.get(f"{score.key}_{side}") for side in ("low", "high"))
    if name == "accuracy":
        chance, count = (f"chance_{kind}", f"n_{kind}") if kind else ("chance", "n")
    elif kind:
        chance, count = f"{kind}_chance_{name}", "n_captions" if kind == "t2v" else "n_videos"
    else:
        chance, count = f"chance_{name}", _COUNTS.get(score, "n")
    n, unparseable = numbers.get(count), numbers.get("unparseable") or 0.0
    return RunFigure(config, condition, score, value, low, high, numbers.get(chance), n, unparseable)


def _figures(config: str, condition: str, numbers: Numbers) -> list[RunFigure]:
    """Every figure of a condition: all candidates first, then by kind; of retrieval one way after the other."""
    kinds = [name.removeprefix("accuracy_") for name in numbers if name.startswith("accuracy_")]
    scores = [ACCURACY, *(against(kind) for kind in kinds if f"n_{kind}" in numbers)]
    scores += [*PAIR_SCORES, *OTHERS, RANDOM_OPTIONS, *AMONG_FIRST, MEAN_RANK, TIES]
    scores += [score for way in WAYS for score in (*RECALLS[way], MEDIAN_RANKS[way])]
    return [row for score in scores if (row := figure(numbers, score, config, condition))]


def _gammas(config: str, entry: ConfigMetrics) -> Iterator[Gamma]:
    """The gammas of a config: of each score the groups of perturbations, then the single conditions."""
    scores = {score.key: score for score in (*ROBUST["pairs"], *ROBUST["retrieval"])}
    for key, measured in entry.get("robustness", {}).items():
        of_clean = (measured["clean"], bool(measured.get("at_chance")))
        for group, means in measured.items():
            if isinstance(means, Mapping) and group != "conditions":
                yield Gamma(
                    config, scores[key], group, "", *of_clean, means[ABSOLUTE], means[RELATIVE],
                    means[f"{ABSOLUTE}_sd"], means[f"{RELATIVE}_sd"], means["n"],
                )  # fmt: skip
        for condition, gammas in measured.get("conditions", {}).items():
            absolute, relative = gammas[ABSOLUTE], gammas[RELATIVE]
            yield Gamma(config, scores[key], "", condition, *of_clean, absolute, relative)
