"""What an audit and an X-ray say of a set; all of it is JSON-able and stands in `set.json` or `xray.json`.

None stands for what was not given, or where a set is too small to tell.
"""

from typing import NotRequired, Required, TypedDict

from video_contrast.rows import MultipleChoiceRow
from video_contrast.storage.set_records import ScorerKey


class AccuracyFacts(TypedDict):
    """An accuracy, 0..1, rounded to 4 places."""

    accuracy: float
    standard_error: float | None  # over source videos; None with one
    low: float | None  # None below five source videos
    high: float | None


class ScorerFacts(AccuracyFacts):
    """The accuracy of a blind model."""

    scorer: str  # what the model is


class AuditFacts(TypedDict):
    """The record of a blind audit."""

    items: int
    against: list[str]  # kinds of contrasts
    chance: float
    folds: NotRequired[int]  # of the cross-validation
    note: NotRequired[str]  # why models were left out
    solvable: NotRequired[bool | None]  # the best is above chance; its interval is corrected for the choice among all
    split: NotRequired[str]
    sampled_of: NotRequired[int]  # items of the split, of which `items` were audited
    shorter_wins: ScorerFacts
    longer_wins: ScorerFacts
    blind: NotRequired[ScorerFacts]
    language_model: NotRequired[ScorerFacts]
    text_features: NotRequired[ScorerFacts]
    common_position: NotRequired[ScorerFacts]
    large_language_model: NotRequired[ScorerFacts]


class NamedScorer(ScorerFacts):
    """A blind model of an X-ray."""

    key: ScorerKey
    name: str


class BlindFacts(TypedDict):
    """What is won without the video."""

    chance: float
    against: list[str]
    models: list[NamedScorer]  # the strongest first
    best: NamedScorer  # its interval is corrected for the choice among the models
    solvable: bool | None
    note: str | None
    audit: AuditFacts


class Tell(TypedDict):
    """A word, or a feature of form, that sets the true candidates apart."""

    what: str
    items: int  # of which some candidates have it and others not
    true: float  # of these, those whose true candidate has it
    expected: float  # by chance
    score: float  # the difference in standard deviations, below 0 for what false candidates have


class BlindWin(TypedDict):
    """An item that a blind model wins."""

    id: str
    question: str
    true: str
    next: str  # the candidate that it takes for the second


class TaskFacts(AccuracyFacts):
    """What the best blind model wins of a task."""

    task: str
    items: int
    chance: float


class PairFacts(TypedDict):
    """What is won of pairs without the videos: the text score of the strongest blind model."""

    groups: int
    same_texts: int  # groups that ask for all their clips with the same question
    chance: float
    name: str  # of the model
    accuracy: float
    low: float | None  # corrected for the choice among the models
    high: float | None
    solvable: bool | None


class Finding(TypedDict):
    """How many there are of something, and the first of them, a sentence each."""

    count: int
    examples: list[str]
    limit: NotRequired[int]  # of tokens
    most: NotRequired[int]  # tokens of the longest text


class PositionFacts(TypedDict):
    """Where the true candidates stand, over items with the most frequent number of candidates."""

    candidates: int  # that number
    counts: list[int]  # one a place
    most_common: float  # share of the fullest place
    p_value: float  # chi-square test of equal shares; items as independent


class TextFacts(TypedDict):
    """Candidates of an item that say the same, nearly the same, or more than models read."""

    equal_candidates: Finding
    near_candidates: Finding
    long_candidates: Finding
    counter: str  # what counts tokens, in words


class CopyFacts(TypedDict):
    """Items that stand in a set more than once, keys that disagree, captions that are true of several clips."""

    copies: Finding  # same clip, question and candidates; other items of a group of pairs are none
    key_differs: Finding  # of them with another true candidate
    true_elsewhere: Finding  # negatives of a clip that are a true caption of the same clip in another item
    shared_captions: Finding  # true captions of several source videos
    near_captions: Finding  # pairs of true captions of different source videos that share nearly all words


class LeakFacts(TypedDict, total=False):
    """What stands in more than one split; empty where there is one."""

    videos: Finding  # source videos
    captions: Finding  # true captions


class ExplainedFacts(AccuracyFacts):
    """How much of a model's accuracy a blind model has too."""

    model: str
    n: int
    explained: float | None  # the best blind model's lead over chance as a share of the model's; None without a lead
    on_blind_wins: AccuracyFacts | None  # where at least one blind model is right alone
    on_rest: AccuracyFacts | None
    n_rest: int


class Suspect(TypedDict):
    """An item whose key all models contradict in the same way."""

    id: str
    key: str  # the true candidate
    chosen: str  # theirs


class SuspectFacts(TypedDict):
    """All suspected items."""

    models: list[str]
    count: int
    of: int  # items that all models answered
    expected: float  # how many there would be if each model erred by itself
    items: list[Suspect]
    examples: list[str]


class OrderTest(TypedDict):
    """Whether a published order is likelier to a language model than shuffled ones."""

    n: int  # shards of items; items
    gain: float | None  # mean of the published order's log-likelihood a token less that of shuffled ones, nats
    p_value: float | None  # one-sided t-test


class OrderFacts(TypedDict):
    """Whether a language model knows the order of items, and that of candidates."""

    model: str
    items: OrderTest
    candidates: OrderTest


PowerFacts = TypedDict(
    "PowerFacts",
    {
        "from": Required[str],  # what the variance is taken from
        "points": Required[float],
        "difference": Required[float],  # 0..1
        "clusters_needed": Required[int],
        "items_needed": Required[int],
        "n_clusters": Required[int],
        "n_items": Required[int],
        "detectable": Required[float],  # the least difference that the set shows
        "detectable_with_more_items": float | None,  # of a pilot: on the same videos
        "clusters_needed_at_best": int,  # without scores: where the items of a video are unrelated
        "detectable_at_best": float,
        "enough": Required[bool],
    },
    total=False,
)


class SourceFacts(TypedDict):
    """What was read for an X-ray, what was guessed of it, and which rows are no items: reason -> places."""

    read: str
    guesses: list[str]
    left_out: dict[str, list[str]]


class XrayRecord(TypedDict):
    """The X-ray of a split of a set."""

    version: str
    split: str
    items: int
    clusters: int
    groups: int
    candidates: dict[str, int]  # number of candidates -> items
    chance: float  # of all candidates
    sample: MultipleChoiceRow  # the first item, as it was read
    blind: BlindFacts
    tells: list[Tell]
    blind_wins: list[BlindWin]
    tasks: list[TaskFacts] | None
    pairs: PairFacts | None
    explained: list[ExplainedFacts] | None
    position: PositionFacts
    texts: TextFacts
    copies: CopyFacts
    leaks: LeakFacts
    suspects: SuspectFacts | None
    order: OrderFacts | None
    power: PowerFacts
    source: NotRequired[SourceFacts]
    refined: NotRequired[dict[str, object]]  # what was written of it


class RefinedCounts(TypedDict):
    """What a refinement left of a split."""

    items_before: int
    items_after: int
    grid: int
    scores: list[str]  # the two blind models
    accuracy_after: list[float]  # of both, on what stays
    items: NotRequired[int]


class Certificate(TypedDict):
    """The short form of an X-ray, for a card."""

    solvable_blind: bool | None
    best_blind: str
    best_blind_accuracy: float
    best_blind_low: float | None
    best_blind_high: float | None
    chance: float
    copies: int
    key_differs: int
    equal_candidates: int
    leaked_videos: int | None
    points: float
    videos_needed: int  # to tell two models so many points apart
    enough_items: bool
    version: str


class ConfigAudit(AuditFacts):
    """What `set.json` says of a config that was audited."""

    certificate: NotRequired[Certificate]
    pairs: NotRequired[PairFacts]
    refined: NotRequired[RefinedCounts]
