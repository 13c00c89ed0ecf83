"""One text for each place of a distractor, so that over the whole set the texts do not tell which candidate is true.

Every run of one to three words, and of three letters, shall be put in about as often as the true candidates have it,
and so shall pairs of words that no other true candidate has. A set that is even to the last item tells, too (what a
model saw in false candidates it then knows to be in the true ones of the rest), so that each place draws by itself,
with probabilities that are even together.

`won_blind` says which items are to be changed: naive Bayes over the same runs. Neither is a model of the audit, whose
figures thus come from models that chose nothing.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, pairwise

import numpy as np
from numpy.typing import NDArray

from video_contrast.audit.blind_audit import AuditedItem
from video_contrast.audit.blind_models import FOLDS, folds_of, jaccard
from video_contrast.audit.item_checks import plain_words
from video_contrast.perturbations.contrast.kinds import even
from video_contrast.rows import EditRecord
from video_contrast.seeds import Streams

STEPS = 200
_NONE = 1e-10  # weight of leaving an item out, against that of its texts
_SLACK = 1.2  # unevenness that stays, in standard deviations of a set whose candidates are alike
_LEAST = 4  # changes of a run before it is evened: rarer ones teach nothing
_FORM = ("words", "characters", "question", "new pairs")  # evened without slack: each item has them
Changes = dict[str, int]  # run -> how much oftener it stands in the distractor than in the true candidate


@dataclass(frozen=True, slots=True)
class NewDistractor:
    """A text that may stand in a place."""

    text: str  # the distractor
    weight: float  # odds that it is a good one, above 0
    kind: str  # of the negative
    edit: EditRecord | None = None  # how it was made from the true candidate, where it was


@dataclass(frozen=True, slots=True)
class DistractorPlace:
    """The place of one distractor."""

    item: int  # number of its row
    name: str  # names its random stream
    true: str  # the true candidate of its item
    question: str  # "" for captions
    size: int  # audited candidates of its item
    options: tuple[NewDistractor, ...]  # distractors that may stand there
    fixed: bool = False  # it holds its only option, whatever that tells; of others an item may be left out


def changes(true: str, text: str, question: str = "") -> Changes:
    """The runs and lengths that stand oftener (above 0) or less often in a distractor than in the true candidate.

    >>> sorted(name for name, n in changes("a man runs", "a man sits").items() if n > 0 and name[0] == "1")
    ['1 sits']
    """
    counts = _runs(text)
    counts.subtract(_runs(true))
    counts["words"] = int(np.sign(len(text.split()) - len(true.split())))
    counts["characters"] = int(np.sign(len(text) - len(true)))
    words, true_words, question_words = (set(plain_words(part)) for part in (text, true, question))
    counts["question"] = round(20 * (jaccard(words, question_words) - jaccard(true_words, question_words)))
    return {name: n for name, n in counts.items() if n}


def won_blind(items: Sequence[AuditedItem], seed: int = 0, *, by_form: bool = False) -> list[bool | None]:
    """The wins of cross-fitted naive Bayes, one an item: is its true candidate the most probable one? None for ties.

    `by_form`: from lengths and words of the question alone.
    """
    fold = folds_of([item.cluster for item in items], FOLDS, seed)
    of_items = [[changes(item.texts[0], text, item.question) for text in item.texts[1:]] for item in items]
    if by_form:
        of_items = [[{name: n for name, n in change.items() if name in _FORM} for change in item] for item in of_items]
    won: list[bool | None] = [None] * len(items)
    for held_out in np.unique(fold):
        false, true = Counter[str](), Counter[str]()
        for of_item, number in zip(of_items, fold, strict=True):
            for change in of_item if number != held_out else ():
                for name, n in change.items():
                    (false if n > 0 else true)[name] += abs(n)
        for at in np.flatnonzero(fold == held_out):
            scores = [
                sum(n * np.log((true[name] + 1) / (false[name] + 1)) for name, n in change.items())
                for change in of_items[at]
            ]
            best = max(0.0, *scores)
            won[at] = None if [0.0, *scores].count(best) > 1 else best == 0.0
    return won


def choose(places: Sequence[DistractorPlace], seed: int = 0) -> list[NewDistractor | None]:
    """The option of each place; None where each of its options would tell."""
    probability = np.split(_even(places), np.cumsum([len(place.options) for place in places])[:-1])
    streams = Streams()
    choices: list[NewDistractor | None] = []
    for place, of_place in zip(places, probability, strict=True):
        if place.fixed:
            choices.append(place.options[0])
            continue
        at = int(np.searchsorted(np.cumsum(of_place), streams.at(seed, "even-choice", place.name).random()))
        choices.append(place.options[at] if at < len(of_place) else None)
    return choices


def _even(places: Sequence[DistractorPlace]) -> NDArray[np.float64]:
    """The probability of each option of each place, one after the other: runs that are frequent enough are evened."""
    owner = np.array([at for at, place in enumerate(places) for _ in place.options])
    weight = np.array([option.weight for place in places for option in place.options])
    none = np.array([0.0 if place.fixed else _NONE for place in places])
    of_options = [
        changes(place.true, option.text, place.question) | new_pairs
        for place, of_place in zip(places, _new_pairs(places), strict=True)
        for option, new_pairs in zip(place.options, of_place, strict=True)
    ]
    frequency = Counter(name for change in of_options for name in change)
    number = {name: at for at, name in enumerate(sorted(name for name, n in frequency.items() if n >= _LEAST))}
    cells = [(row, number[run], n) for row, own in enumerate(of_options) for run, n in own.items() if run in number]
    # The distractors of an item are compared with one true candidate: their changes add up.
    slack = np.full(len(number), _SLACK * float(np.mean([place.size for place in places])) / 2)
    slack[[name in _FORM for name in number]] = 0.0
    return np.round(even(owner, weight, none, cells, slack, STEPS), 9)


def _new_pairs(places: Sequence[DistractorPlace]) -> Iterator[list[Changes]]:
    """The pairs of words that stand in no other true candidate: how many more an option has than its own true one."""
    true = {place.item: _pairs(place.true) for place in places}
    uses = Counter(chain.from_iterable(map(set, true.values())))
    for place in places:
        own = set(true[place.item])
        new = [
            sum(uses[pair] == (pair in own) for pair in pairs)
            for pairs in (true[place.item], *(_pairs(option.text) for option in place.options))
        ]
        yield [{"new pairs": n - new[0]} if n != new[0] else {} for n in new[1:]]


def _pairs(text: str) -> list[tuple[str, str]]:
    return [*pairwise(["<", *text.lower().split(), ">"])]


def _runs(text: str) -> Counter[str]:
    """Runs of one to three words, and of three letters of a word (4), each named by its kind."""
    words = ["<", *text.lower().split(), ">"]
    runs = Counter(f"{n} {' '.join(words[at : at + n])}" for n in (1, 2, 3) for at in range(len(words) - n + 1))
    runs.update(f"4 {f' {word} '[at : at + 3]}" for word in words[1:-1] for at in range(len(word)))
    return runs
