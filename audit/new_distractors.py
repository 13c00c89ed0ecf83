"""New distractors for items: edits of their true captions, or answers that are true of other items."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from video_contrast.audit.even_choice import NewDistractor
from video_contrast.audit.item_checks import plain
from video_contrast.perturbations.contrast.generate import ClipCaptions, load_counts, propose
from video_contrast.perturbations.contrast.generators.base import CaptionGenerator
from video_contrast.perturbations.contrast.kinds import RULES
from video_contrast.perturbations.contrast.kinds.choice import proposals
from video_contrast.perturbations.contrast.lexicon import load_lexicon
from video_contrast.perturbations.contrast.proposal import Kind
from video_contrast.perturbations.contrast.unfit_caption import unfit
from video_contrast.perturbations.english import parse
from video_contrast.perturbations.english.caption_store import user_store
from video_contrast.rows import MultipleChoiceRow
from video_contrast.seeds import stream

JUDGED: tuple[Kind, ...] = ("verb", "object")
KINDS = (*JUDGED, *RULES)  # of edits of captions
ANSWER = "answer"  # kind of a distractor that answers another item's question
_KEPT = 24  # options of an item, the best first
_RULE_ODDS = 3.0  # of the kinds by rules, which the judge does not rate: about those of its mean
_PART = 2000  # items that are compared with each other
_SCALINGS = 30
_NEAR, _HEAD, _TYPE = 1.0, 0.1, 0.02  # weight of an answer of the same form, of the same beginning, of the type
_LEAST_OF_TYPE = 24  # questions
_WORD = re.compile(r"[\w']+")
_ASKS = re.compile(r"\b(feel|react|respon|relat|colo|direction|happen)")
_HELPING = "is are was were do does did can could will would has have had"
_AUXILIARIES = frozenset(_HELPING.split())
_OPENINGS = {
    "article": "a an the his her their its another some",
    "preposition": "in on at by with from near behind under beside for because so",
    "yes or no": "yes no",
    "number": "zero one two three four five six seven eight nine ten",
    "to": "to",
}
_OPENING = {word: name for name, words in _OPENINGS.items() for word in words.split()}
_SAY_LITTLE = (
    "a an the of to in on at is are was were be been for and or with his her their its it he she they by from up out "
    "do does did what why how where who when which man men woman women boy boys girl girls lady baby person people "
    "child children kid kids after before while video"
)
_PLAIN_WORDS = frozenset(_SAY_LITTLE.split())
Options = dict[int, list[NewDistractor]]  # row -> its options, the best first


def caption_options(
    rows: Mapping[int, MultipleChoiceRow],
    others: Mapping[int, Sequence[str]],
    *,
    kinds: Sequence[str] = KINDS,
    quality: str | float = "all",
    generator: CaptionGenerator | None = None,
) -> Options:
    """Edits of true captions that no other caption of the clip speaks for.

    Raises NotEnglish: the captions are of another language.

    Args:
        rows: number -> row, of captions.
        others: number -> other true captions of its clip.
        kinds: of edits, of `KINDS`.
        quality: least probability of edits of verbs and things, as of `generate.propose`.
        generator: what proposes verbs; None: the lexicon.
    """
    true = {at: row["candidates"][row["label"]] for at, row in rows.items()}
    options: dict[int, list[NewDistractor]] = defaultdict(list)
    clips = [ClipCaptions(str(at), [text], others.get(at, ())) for at, text in true.items()]
    for kind in JUDGED:
        if kind not in kinds:
            continue
        proposer = generator if kind == "verb" else None
        proposed = propose(clips, load_counts(), kind=kind, quality=quality, generator=proposer, cache=user_store())
        name = "object" if kind == "object" else "verb_lexical" if generator is None else "verb_model"
        for clip, of_clip in proposed.proposals.items():
            for proposal in of_clip:
                probability = min(max(proposal.probability, 0.01), 0.99)
                edit = proposal.edit().row()
                options[int(clip)].append(NewDistractor(proposal.text, probability / (1 - probability), name, edit))
    texts = list(dict.fromkeys((*true.values(), *(text for of_row in others.values() for text in of_row))))
    sentences = dict(zip(texts, parse(texts, cache=user_store()), strict=True))
    for at, text in true.items():
        siblings = [sentences[other] for other in others.get(at, ())]
        for rule in RULES if not unfit(text) else ():
            by_rule = proposals(rule, [sentences[text]], load_lexicon(), siblings) if rule in kinds else []
            for contrast in (proposed_edit.contrast for proposed_edit in by_rule):
                edit = contrast.as_edit("rules").row()
                options[at].append(NewDistractor(contrast.text, _RULE_ODDS, rule, edit))
    return {at: _unlike(of_row, rows[at])[:_KEPT] for at, of_row in options.items()}


def _unlike(options: Sequence[NewDistractor], row: MultipleChoiceRow) -> list[NewDistractor]:
    """Options that say what no candidate of the row says, each once, the best first."""
    said = {plain(text) for text in row["candidates"]}
    best: list[NewDistractor] = []
    for option in sorted(options, key=lambda option: (-option.weight, option.text)):
        if plain(option.text) not in said:
            said.add(plain(option.text))
            best.append(option)
    return best


def answer_options(
    rows: Mapping[int, MultipleChoiceRow], everything: Sequence[MultipleChoiceRow], *, seed: int = 0
) -> Options:
    """True answers of other items, of a question of the same type and of the same form where there are enough.

    Each answer is drawn about as often as it is true: weights of items for each other are symmetric, and scaled until
    each item gives as much as it takes. Answers to questions about the same video, and those that share most of their
    words with the true one or with what is true of the video, are left out. `rows`: number -> row, to which options are
    given. `everything`: all rows of the set, by number.
    """
    true = [row["candidates"][row["label"]] for row in everything]
    meaning = [_meaning(text) for text in true]
    of_video: dict[str, list[frozenset[str]]] = defaultdict(list)
    for row, words in zip(everything, meaning, strict=True):
        of_video[row["cluster"]].append(words)
    options: Options = {}
    for part, taking in _of_a_type(everything, seed):
        if taking.isdisjoint(rows):
            continue
        weights = _weights([everything[at] for at in part], [true[at] for at in part])
        for at, weight in zip(part, weights, strict=True):
            if at not in rows or at not in taking:
                continue
            row = rows[at]
            noise = stream(seed, "repair-answers", row["id"], at).gumbel(size=len(part))
            with np.errstate(divide="ignore"):
                order = np.argsort(-(np.log(weight) + noise), kind="stable")
            said = {plain(text) for text in row["candidates"]}
            taken: list[NewDistractor] = []
            known = list(of_video[row["cluster"]])
            for n in order[: int((weight > 0).sum())]:
                other = part[n]
                if plain(true[other]) in said or any(_alike(meaning[other], words) for words in known):
                    continue
                said.add(plain(true[other]))
                known.append(meaning[other])
                taken.append(NewDistractor(true[other], 1.0, ANSWER))
                if len(taken) == _KEPT:
                    break
            options[at] = taken
    return options


def _of_a_type(rows: Sequence[MultipleChoiceRow], seed: int) -> Iterator[tuple[list[int], set[int]]]:
    """Numbers of rows whose questions ask for the same, and those of them that take answers of these.

    Of the set's own type where it has enough questions that ask for the same, else of all types; else what there is.
    """
    asked = [_asked(row.get("question") or "") for row in rows]
    tasks = [str(json.loads(row["meta"] or "{}").get("task") or "") for row in rows]
    left = set(range(len(rows)))
    both = [f"{task} {what}".strip() for task, what in zip(tasks, asked, strict=True)]
    for keys in (both, asked, tasks, [""] * len(rows)):
        members: dict[str, list[int]] = defaultdict(list)
        for at, key in enumerate(keys):
            members[key].append(at)
        for key, numbers in members.items():
            taking = left.intersection(numbers)
            if not taking or (len(numbers) < _LEAST_OF_TYPE and key):
                continue
            left -= taking
            parts = -(-len(numbers) // _PART)
            dealt = stream(seed, "repair-parts", key).permutation(len(numbers)) % parts
            yield from (([numbers[n] for n in np.flatnonzero(dealt == part)], taking) for part in range(parts))


def _asked(question: str) -> str:
    """What a question asks for.

    >>> [_asked(text) for text in ("what colour is it", "What does he do", "how many are there", "why", "is it red")]
    ['colo', 'do', 'how many', 'why', 'yes or no']
    """
    words = _WORD.findall(question.lower()) or [""]
    if named := _ASKS.search(question.lower()):
        return named[1]
    if words[0] in _AUXILIARIES:
        return "yes or no"
    if words[0] in ("what", "how") and not {"do", "doing"}.isdisjoint(words[2:]):
        return "do"
    two = words[0] in ("what", "which", "how") and words[1:2] and words[1] not in _AUXILIARIES
    return " ".join(words[: 2 if two else 1])


def _weights(rows: Sequence[MultipleChoiceRow], answers: Sequence[str]) -> NDArray[np.float64]:
    """How well the answer of one item suits the question of another: float64[n, n], symmetric, rows of equal sums.

    Answers of one form are exchangeable, so that the true one does not stand in the middle of its distractors.
    """
    heads, lengths = (np.array(column) for column in zip(*map(_form, answers), strict=True))
    questions = [_meaning(f"{row.get('question') or ''} {text}") for row, text in zip(rows, answers, strict=True)]
    frequency = Counter(word for words in questions for word in words)
    number = {word: at for at, word in enumerate(sorted(frequency))}
    vectors = np.zeros((len(rows), max(1, len(number))))
    for vector, words in zip(vectors, questions, strict=True):
        for word in words:
            vector[number[word]] = np.log(1 + len(rows) / frequency[word])
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9)
    same_head = heads[:, None] == heads[None]
    same_form = same_head & (lengths[:, None] == lengths[None])
    weights = np.where(same_form, _NEAR, np.where(same_head, _HEAD, _TYPE)) * (vectors @ vectors.T) ** 3
    clusters = np.array([row["cluster"] for row in rows])
    weights[clusters[:, None] == clusters[None]] = 0.0
    scale = np.ones(len(rows))
    for _ in range(_SCALINGS):
        scale /= np.sqrt(np.maximum(scale * (weights @ scale), 1e-12))
    return np.round(scale[:, None] * weights * scale[None], 12)


def _form(answer: str) -> tuple[str, int]:
    """How an answer begins, or that it is a clause, and its length: 1, 2, 3, 4 to 5 words (4), or more (6)."""
    words = _WORD.findall(answer.lower()) or [""]
    first, length = words[0], len(words)
    if not _AUXILIARIES.isdisjoint(words[1:4]):
        return "clause", min(length, 6)
    ending = next((ending for ending in ("ing", "ed") if first.endswith(ending)), "word")
    opening = "number" if first.isdigit() else _OPENING.get(first, ending)
    return opening, length if length < 4 else 4 if length < 6 else 6


def _meaning(text: str) -> frozenset[str]:
    """The stems of the words that say something."""
    words = [word for word in _WORD.findall(text.lower()) if word not in _PLAIN_WORDS]
    return frozenset(re.sub(r"(?<=\w{3})(ing|ed|es|s|e)$", "", word) for word in words)


def _alike(first: frozenset[str], second: frozenset[str]) -> bool:
    """Whether two answers share half of the words of the shorter one, so that both may be true."""
    return 2 * len(first & second) >= max(1, min(len(first), len(second)))
