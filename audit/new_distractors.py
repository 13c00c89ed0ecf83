"""New distractors for items: edits of their true captions, or candidates of other items."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from video_contrast.audit.distractor_choice import NewDistractor
from video_contrast.audit.item_checks import Rows, plain
from video_contrast.perturbations.contrast.generate import ClipCaptions, load_counts, propose
from video_contrast.perturbations.contrast.generators.base import CaptionGenerator
from video_contrast.perturbations.contrast.kinds import RULES, proposals
from video_contrast.perturbations.contrast.lexicon import load_lexicon
from video_contrast.perturbations.contrast.proposal import Target
from video_contrast.perturbations.english import Sentence, parse
from video_contrast.perturbations.english.gender import PRONOUNS
from video_contrast.perturbations.english.language import unfit
from video_contrast.perturbations.english.lexicon import has_class, words_of
from video_contrast.perturbations.english.parse import parse_cache
from video_contrast.rows import MultipleChoiceRow
from video_contrast.seeds import stream

JUDGED: tuple[Target, ...] = ("verb", "object")
EDIT_KINDS = (*JUDGED, *RULES)  # of edits of captions
ANSWER = "answer"  # kind of a distractor that is a candidate of another item
_EDITS = 24  # edits of a caption, the best first
_RULE_ODDS = 3.0  # of the kinds by rules, which the judge does not rate: about those of its mean
_MOST_ANSWERS = 40  # answers of an item, drawn by how well they fit
_PART = 2000  # items that exchange their candidates with each other
# Of a new answer, added up (natural logarithms; chosen by reading new answers of NExT-QA):
_LEAST = -2.9  # the least fit of a distractor that is used
_OTHER_ASKED = -2.3  # its question asks about another verb ("hold", "react"), or noun ("what colour")
_OTHER_SUBJECT = -3.0  # persons, animals, things, or "there is"
_UNFIT = -8.0  # "her" where only men are topics of, "it" where no thing is, or whom the question asks about
_POINTS = -1.5  # it points to somebody or something ("it", "them"), where the true answer does not
_BESIDE = -1.5  # cost of actions beside other things ("smile"), where the true answer is of another kind
_OTHER_PERSON = -3.0  # speaks of somebody of whom no question about the video speaks
_OTHER_LENGTH, _OTHER_FORM = -1.6, -3.0  # than the true answer: of the same form, of another one
_FALSE = -0.7  # it is a false candidate of the other item: these may give themselves away
_ACTS_BESIDE = frozenset(("look", "stare", "watch", "observe", "smile", "talk", "gesture"))
_FREE = 1.2  # cost of a word, of which answers speak as often where nothing else about their video does, to stay free
_NEVER_TRUE = 3.0  # cost of a word of no true answer
Options = dict[int, list[NewDistractor]]  # row -> its options, the best first


@dataclass(frozen=True)
class _Question:
    group: str  # "why", "do", "how many" ...: only within a group candidates are exchanged
    asks: str  # lemma of the verb or noun that is asked about
    subject: str  # "person", "animal", "thing" or "there"
    words: frozenset[str]  # lemmas of those that say something
    unfit: frozenset[str]  # words of no answer: the one whom it asks about, pronouns that can mean nothing in it


@dataclass(frozen=True)
class _Answer:
    words: frozenset[str]  # lemmas of those that say something
    form: str  # "clause", "to", or the tag of its first root
    length: int  # words: 1, 2, 3, 4 to 5 (4), or more (6)
    pronouns: frozenset[str]
    points: bool  # whether a pronoun stands for a thing or person in it


@dataclass(frozen=True)
class _ParsedSplit:
    """The questions and candidates of a split, parsed."""

    questions: Sequence[_Question]  # of each row
    answers: Mapping[str, _Answer]  # of each candidate
    true_of_video: Mapping[str, Sequence[frozenset[str]]]  # words of each true answer
    topics: Mapping[str, Mapping[str, int]]  # video -> words of its questions and true answers, and how many hold it
    # The cost of a word in an answer about a video of which nothing else speaks of it: little for "hand" or "camera",
    # which are answers about any video, much for "pumpkin", which is one where the questions ask about pumpkins.
    costs: Mapping[str, float]


@dataclass(frozen=True)
class DistractorEdits:
    """The edits of captions that may be distractors."""

    kinds: Sequence[str] = EDIT_KINDS  # of `EDIT_KINDS`
    quality: str | float = 0.5  # least probability that a reader finds one of a verb or thing natural and surely false
    generator: CaptionGenerator | None = None  # the proposer of verbs; None: the lexicon


@parse_cache()
def caption_options(
    rows: Mapping[int, MultipleChoiceRow], others: Mapping[int, Sequence[str]], edits: DistractorEdits
) -> Options:
    """Edits of true captions that no other caption of the clip speaks for.

    `rows`: number -> row, of captions. `others`: number -> other true captions of its clip. Raises NotEnglish: the
    captions are of another language.
    """
    true = {at: row["candidates"][row["label"]] for at, row in rows.items()}
    options: dict[int, list[NewDistractor]] = defaultdict(list)
    clips = [ClipCaptions(str(at), [text], others.get(at, ())) for at, text in true.items()]
    for kind in (kind for kind in JUDGED if kind in edits.kinds):
        proposer = edits.generator if kind == "verb" else None
        all_proposals = propose(clips, load_counts(), target=kind, quality=edits.quality, generator=proposer)
        name = "object" if kind == "object" else "verb_lexical" if edits.generator is None else "verb_model"
        for clip, of_clip in all_proposals.proposals.items():
            for proposal in of_clip:
                probability = min(max(proposal.probability, 0.01), 0.99)
                edit = proposal.edit().row()
                options[int(clip)].append(NewDistractor(proposal.text, probability / (1 - probability), name, edit))
    texts = list(dict.fromkeys(chain(true.values(), *others.values())))
    sentences = dict(zip(texts, parse(texts), strict=True))
    for at, text in true.items():
        other_captions = [sentences[other] for other in others.get(at, ())]
        for rule in (rule for rule in RULES if rule in edits.kinds and not unfit(text)):
            for by_rule in proposals(rule, [sentences[text]], load_lexicon(), other_captions):
                edit = by_rule.contrast.as_edit("rules").row()
                options[at].append(NewDistractor(by_rule.contrast.text, _RULE_ODDS, rule, edit))
    return {at: _distinct_edits(of_row, rows[at]) for at, of_row in options.items()}


def _distinct_edits(edits: Sequence[NewDistractor], row: MultipleChoiceRow) -> list[NewDistractor]:
    texts, distinct = {plain(text) for text in row["candidates"]}, []
    for edit in sorted(edits, key=lambda edit: (-edit.weight, edit.text)):
        if plain(edit.text) not in texts:
            texts.add(plain(edit.text))
            distinct.append(edit)
    return distinct[:_EDITS]


@parse_cache()
def answer_options(rows: Mapping[int, MultipleChoiceRow], everything: Rows, *, seed: int = 0) -> Options:
    """Candidates of other items that answer the question as well, or that resemble the true caption.

    Their question asks for the same about the same kind of subject, they have the form of the true answer, and speak of
    what the questions about the video and their true answers speak of, or of what any answer may. Left out are those
    about the same video, what says no more than the question, and what shares half of its words with what is true of
    the video or with a better option. Captions take those of other clips as they come.

    `rows`: number -> row, to which options are given. `everything`: all rows of the set, by number.
    """
    split = _parsed_split(everything)
    groups: dict[str, list[int]] = defaultdict(list)
    for at, question in enumerate(split.questions):
        groups[question.group].append(at)
    options: Options = {}
    for group, members in groups.items():
        parts = -(-len(members) // _PART)
        dealt = stream(seed, "repair-parts", group).permutation(len(members)) % parts
        for part in ([members[n] for n in np.flatnonzero(dealt == number)] for number in range(parts)):
            if places := [at for at in part if at in rows]:
                pool = [(at, text) for at in part for text in everything[at]["candidates"]]
                for at, fit in zip(places, _fits(places, pool, everything, split), strict=True):
                    noise = stream(seed, "repair-answers", everything[at]["id"], at).gumbel(size=len(pool))
                    order = np.argsort(-(fit + noise), kind="stable")
                    best = ((pool[n][1], float(fit[n])) for n in order if fit[n] >= (_LEAST if group else -50.0))
                    options[at] = _distinct_answers(at, everything[at], best, split)
    return options


def _distinct_answers(
    at: int, row: MultipleChoiceRow, best: Iterable[tuple[str, float]], split: _ParsedSplit
) -> list[NewDistractor]:
    """The first texts, best fit first, that are neither true nor like each other."""
    present = {plain(text) for text in row["candidates"]}
    truths = list(split.true_of_video[row["cluster"]])
    own, question = {split.answers[text].words for text in row["candidates"]}, split.questions[at]
    options: list[NewDistractor] = []
    for text, fit in best:
        words = split.answers[text].words
        says_nothing_new = question.group and words and (words <= question.words or words in own)
        if says_nothing_new or plain(text) in present or any(_share_half(words, other) for other in truths):
            continue
        present.add(plain(text))
        truths.append(words)
        options.append(NewDistractor(text, float(np.exp(fit)) if question.group else 1.0, ANSWER))
        if len(options) == _MOST_ANSWERS:
            break
    return options


def _parsed_split(rows: Rows) -> _ParsedSplit:
    """Parses questions and candidates; a row without a question asks for what resembles its true caption."""
    texts = sorted({text for row in rows for text in row["candidates"]})
    answers = {text: _parsed_answer(s) for text, s in zip(texts, parse(texts), strict=True)}
    true = [answers[row["candidates"][row["label"]]].words for row in rows]
    parses = parse([row.get("question") or "" for row in rows])
    both = zip(parses, true, strict=True)
    questions = [_parsed_question(s) if len(s) else _Question("", "", "", words, frozenset()) for s, words in both]
    topics: dict[str, Counter[str]] = defaultdict(Counter)
    of_video: dict[str, list[frozenset[str]]] = defaultdict(list)
    for row, question, words in zip(rows, questions, true, strict=True):
        of_video[row["cluster"]].append(words)
        topics[row["cluster"]].update([*question.words, *words])
    uses = Counter(word for words in true for word in words)
    alone = {(row["cluster"], word) for row, words in zip(rows, true, strict=True) for word in words
             if topics[row["cluster"]][word] == 1}  # fmt: skip
    videos = Counter(word for _, word in alone)
    costs = {word: max(0.0, 1.5 * (np.log((n + 12) / (videos[word] + 0.1)) - _FREE)) for word, n in uses.items()}
    return _ParsedSplit(questions, answers, of_video, topics, costs)


def _fits(at: Sequence[int], pool: Sequence[tuple[int, str]], rows: Rows, split: _ParsedSplit) -> NDArray[np.float64]:
    """The fit of each candidate of the pool to the question of each row `at`: float64[at, pool], at most about 0."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    part, owner = np.unique([row for row, _ in pool], return_inverse=True)
    here = np.searchsorted(part, at)
    true = [rows[row]["candidates"][rows[row]["label"]] for row in part]
    videos = [rows[row]["cluster"] for row in part]
    questions, answers = [split.questions[row] for row in part], [split.answers[text] for _, text in pool]
    own_questions, own = [questions[n] for n in here], [split.answers[true[n]] for n in here]

    def differ(name: str, theirs: Sequence[object], ours: Sequence[object]) -> NDArray[np.bool_]:
        columns = (np.array([getattr(one, name) for one in of]) for of in (ours, theirs))
        different: NDArray[np.bool_] = np.not_equal.outer(*columns)
        return different

    vectoriser = TfidfVectorizer(analyzer=lambda q: ["*", *q.words, *{q.asks}.intersection(q.words)])
    vectors = vectoriser.fit_transform(questions)
    fit: NDArray[np.float64] = np.log((vectors[here] @ vectors.T).toarray() + 0.05)
    fit += _OTHER_ASKED * differ("asks", questions, own_questions)
    fit += _OTHER_SUBJECT * differ("subject", questions, own_questions)
    fit[np.equal.outer(np.array(videos)[here], videos)] = -99.0
    fit = fit[:, owner] + _FALSE * np.array([text != true[n] for n, (_, text) in zip(owner, pool, strict=True)])
    fit += _POINTS * (differ("points", answers, own) & [answer.points for answer in answers])
    fit += np.where(differ("form", answers, own), _OTHER_FORM, _OTHER_LENGTH * differ("length", answers, own))
    if questions[0].group:
        fit += _word_fits(own_questions, [split.topics[videos[n]] for n in here], own, answers, split.costs)
    return fit


def _word_fits(
    questions: Sequence[_Question],
    topics: Sequence[Mapping[str, int]],
    own: Sequence[_Answer],
    pooled: Sequence[_Answer],
    costs: Mapping[str, float],
) -> NDArray[np.float64]:
    """The costs of answers by their words: float64[questions, pooled].

    `topics`: words of which the questions about the same video speak. `own`: the true answers.
    """
    from sklearn.feature_extraction.text import CountVectorizer

    if not any(answer.words | answer.pronouns for answer in pooled):
        return np.zeros((len(questions), len(pooled)))  # numbers
    bag = CountVectorizer(analyzer=list, binary=True)
    words = bag.fit_transform([answer.words | answer.pronouns for answer in pooled])
    unfit = (bag.transform(question.unfit for question in questions) @ words.T).toarray() > 0
    pronouns = frozenset[str]().union(*(answer.pronouns for answer in pooled))
    prices = [
        0.0 if name in pronouns else costs.get(name, _NEVER_TRUE) - _OTHER_PERSON * bool(_being(name))
        for name in bag.get_feature_names_out()
    ]
    word_prices = words.multiply([prices]).tocsr()
    fit: NDArray[np.float64] = (bag.transform(topics) @ word_prices.T).toarray() - word_prices.sum(1).A1
    beside, own_beside = ([not _ACTS_BESIDE.isdisjoint(answer.words) for answer in of] for of in (pooled, own))
    fit += _UNFIT * unfit + _BESIDE * np.greater.outer(beside, own_beside).T
    return fit


def _parsed_question(sentence: Sentence) -> _Question:
    """The parts of a question: its sort, the verb or adjective asked about, and its subject.

    >>> from video_contrast.perturbations.english import parse
    >>> asked = parse(["what did the dog do", "how is he holding it", "why is there a box", "how many are there"])
    >>> [(q.group, q.asks, q.subject) for q in map(_parsed_question, asked)]
    [('do', 'do', 'animal'), ('how', 'hold', 'person'), ('why', 'be', 'there'), ('how JJ', 'many', 'there')]
    """
    words, root = sentence.words, sentence.root or 0
    group, asks = _question_focus(sentence, root)
    subject, near = _question_subject(sentence, root)
    beings = [word.lemma for word in words if word.is_noun and _being(word.lemma)]
    unfit = {words[n].lemma for n in near if beings.count(words[n].lemma) == 1}
    nouns = {word.lemma for word in words if word.is_noun}
    if not nouns - words_of("says_little") - {*beings}:
        unfit.add("it")
    for gender in ("male", "female"):
        if beings and all(has_class(name, gender) for name in beings):
            unfit.update(PRONOUNS[gender])  # pronouns of the other gender
    return _Question(group, asks, subject, _content_lemmas(sentence), frozenset(unfit))


def _question_subject(sentence: Sentence, root: int) -> tuple[str, set[int]]:
    """The kind of a question's subject, and the words that name it; without one, persons and animals count."""
    words = sentence.words
    subjects = sentence.children_with(root, "nsubj", "nsubjpass")
    near = {n for at in subjects for n in (at, *sentence.children_with(at, "compound", "nmod"))}
    near = near or {n for n, word in enumerate(words) if _being(word.lemma)}
    kinds = {_being(words[n].lemma) or "person" * (words[n].text in ("he", "she", "they")) for n in near}
    return max(kinds, default="") or ("there" if sentence.children_with(root, "expl") else "thing"), near


def _question_focus(sentence: Sentence, root: int) -> tuple[str, str]:
    words = sentence.words
    asking = next((n for n, word in enumerate(words) if word.tag in ("WRB", "WDT", "WP", "WP$")), None)
    group = words[0 if asking is None else asking].text
    verb = next((n for n in (root, *sentence.verbs) if words[n].lemma != "be"), root)
    asks = words[verb].lemma
    if has_class(asks, "light_verb") and (thing := sentence.child(verb, "dobj", "acomp", "xcomp", "ccomp")) is not None:
        asks = f"{asks} {words[thing].lemma}"  # "keep cool"
    if asking is not None and group in ("what", "how", "which") and asking + 1 < len(words):
        after = words[asking + 1]
        if after.tag[:2] in ("NN", "JJ", "RB"):
            group, asks = f"{group} {after.tag[:2]}", after.lemma
        elif any(word.lemma == "do" and word.dep not in ("aux", "auxpass") for word in words):
            group = asks = "do"
    return group, asks


def _parsed_answer(sentence: Sentence) -> _Answer:
    if sentence.root is None:
        return _Answer(frozenset(), "", 0, frozenset(), False)
    clause = sentence.children_with(sentence.root, "nsubj", "nsubjpass", "expl")
    form = "clause" if clause else "to" if sentence.words[0].text == "to" else sentence.words[sentence.root].tag
    size = len(sentence)
    points = any(word.tag == "PRP" or (word.text == "her" and word.dep == "dobj") for word in sentence.words)
    pronouns = frozenset(word.text for word in sentence.words if word.tag in ("PRP", "PRP$"))
    return _Answer(_content_lemmas(sentence), form, size if size < 4 else 4 if size < 6 else 6, pronouns, points)


def _content_lemmas(sentence: Sentence) -> frozenset[str]:
    """The lemmas of the words that say something: nouns, verbs, adjectives and adverbs."""
    return frozenset(
        word.lemma
        for word in sentence.words
        if (word.is_noun or word.is_verb or word.tag[:2] in ("JJ", "RB"))
        and word.dep not in ("aux", "auxpass", "neg")
        and word.lemma not in ("be", "do", "have", "video")
        and (_being(word.lemma) or not has_class(word.lemma, "says_little"))
    )


@cache
def _being(lemma: str) -> str:
    """Whether a noun names persons ("person") or animals ("animal"), or neither ("")."""
    lexicon = load_lexicon()
    if has_class(lemma, "person"):
        return "person"
    return "animal" if any(lexicon.is_a(t.category, "animal") for t in lexicon.things(lemma)) else ""


def _share_half(first: frozenset[str], second: frozenset[str]) -> bool:
    """Whether two answers share half of the words of the shorter one, so that both may be true.

    A word is shared where the other answer has one that it names, too: "room" and "kitchen".
    """
    n_common = max(len(first & _with_wider_nouns(second)), len(second & _with_wider_nouns(first)))
    return 2 * n_common >= max(1, min(len(first), len(second)))


@cache
def _with_wider_nouns(words: frozenset[str]) -> frozenset[str]:
    """Words with the nouns that name all that they name."""
    return words.union(*(load_lexicon().wider(word) for word in words))
