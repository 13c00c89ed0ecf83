"""The records of an audit and of an X-ray; all of them are JSON-able and stand in `set.json` or `xray.json`.

None stands for what was not given, or where a set is too small to tell. Keys of smaller objects stand in the comments.
"""

from typing import NotRequired, TypedDict

from video_contrast.rows import MultipleChoiceRow
from video_contrast.storage.set_folder import BlindModelKey, Facts


class AccuracyFacts(TypedDict):
    """An accuracy, 0..1, rounded to 4 places."""

    accuracy: float
    standard_error: float | None  # over source videos; None with one
    low: float | None  # None below five source videos
    high: float | None


class BlindModelFacts(AccuracyFacts):
    """The accuracy of a blind model."""

    description: str  # the model in words


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
    shorter_wins: BlindModelFacts
    longer_wins: BlindModelFacts
    blind: NotRequired[BlindModelFacts]
    language_model: NotRequired[BlindModelFacts]
    text_features: NotRequired[BlindModelFacts]
    common_position: NotRequired[BlindModelFacts]
    large_language_model: NotRequired[BlindModelFacts]


class NamedBlindModel(BlindModelFacts):
    """A blind model of an X-ray."""

    key: BlindModelKey
    name: str


class BlindFacts(TypedDict):
    """The accuracy of models that do not see the video."""

    chance: float
    against: list[str]
    models: list[NamedBlindModel]  # the strongest first
    best: NamedBlindModel  # its interval is corrected for the choice among the models
    solvable: bool | None
    note: str | None
    audit: AuditFacts


class Finding(TypedDict):
    """A count of something with the first cases, a sentence each."""

    count: int
    examples: list[str]
    limit: NotRequired[int]  # of tokens
    most: NotRequired[int]  # tokens of the longest text


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
    # Words and features of form that set true candidates apart: `what`; `items` of which some candidates have it and
    # others not; `true`, those of these whose true candidate has it; `expected` by chance; `score`, the difference in
    # standard deviations, below 0 for what false candidates have.
    tells: list[Facts]
    blind_wins: list[Facts]  # items that a blind model wins: `id`, `question`, `true`, `next` (its second)
    tasks: list[Facts] | None  # the best blind model on each `task`: `items`, `chance`, `AccuracyFacts`
    # Pairs that are won, the text score of the strongest blind model: `groups`, `same_texts` (groups that ask for all
    # their clips with the same question), `chance`, `name` of the model, `accuracy`, `low` and `high` (corrected for
    # the choice among the models), `solvable`.
    pairs: Facts | None
    # How much of a model's accuracy a blind model has too: `model`, `n`, `AccuracyFacts`; `explained`, the best blind
    # model's lead over chance as a share of the model's (None without a lead); `on_blind_wins`, where at least one
    # blind model is right alone, `on_rest`, `n_rest`.
    explained: list[Facts] | None
    # Places of the true candidates: `candidates`, the most frequent number of them; `counts`, one a place;
    # `most_common`, share of the fullest place; `p_value`, chi-square test of equal shares, items as independent.
    position: Facts
    # Candidates of an item that say the same, nearly the same, or more than models read: the findings
    # `equal_candidates`, `near_candidates`, `long_candidates`; `counter`, what counts tokens, in words.
    texts: Facts
    # Findings: `copies` (same clip, question and candidates; other items of a group of pairs are none), `key_differs`
    # (of them with another true candidate), `true_elsewhere` (negatives of a clip that are a true caption of the same
    # clip in another item), `shared_captions` (true captions of several source videos), `near_captions` (pairs of true
    # captions of different source videos that share nearly all words).
    copies: dict[str, Finding]
    # `videos` and true `captions` that stand in more than one split; empty where there is one.
    leaks: dict[str, Finding]
    # Items whose key all models contradict in the same way: `models`, `count`, `of` (items that all models answered),
    # `expected` (how many if each model erred by itself), `items` (`id`, `key`, `chosen`), `examples`.
    suspects: Facts | None
    # Whether a language `model` finds the published order of `items`, and that of `candidates`, likelier than shuffled
    # ones: of each `n` (shards of items; items), `gain` (log-likelihood a token, nats), `p_value` (one-sided t-test).
    order: Facts | None
    # Power of the set: `from` (what the variance is taken from), `points`, `difference` (0..1), `clusters_needed`,
    # `items_needed`, `n_clusters`, `n_items`, `detectable` (the least difference that the set shows), `enough`; of a
    # pilot `detectable_with_more_items` (on the same videos); without scores `clusters_needed_at_best` and
    # `detectable_at_best` (where the items of a video are unrelated).
    power: Facts
    source: NotRequired[Facts]  # files that were `read`, `guesses`, and `left_out`: reason -> places of rows
    refined: NotRequired[Facts]  # the refined set that was written


class ConfigAudit(AuditFacts):
    """The record in `set.json` of a config that was audited."""

    certificate: NotRequired[Facts]  # of `xray.certificate`
    pairs: NotRequired[Facts]  # as in `XrayRecord`
    # The rest of a split after a refinement: `items_before`, `items_after`, `grid`, `scores` (the two blind models),
    # `accuracy_after` (of both, on what stays), `items`.
    refined: NotRequired[Facts]
