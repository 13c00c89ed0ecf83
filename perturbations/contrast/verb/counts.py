"""What the training captions say about verbs: how often each is used, and in what company."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from video_contrast.perturbations.contrast.verb.phrases import phrases, verb_lemmas
from video_contrast.perturbations.language import Token, iterate, tagger_name

PAPER_LIMIT = 30  # a verb must be used more often than this in the training captions (A.3)
PAPER_SIZE = 100_000  # captions from which on the paper's limit holds; MSR-VTT trains on 130,260
_LEAST_VERB = 0.1  # share of verb uses under which a word is taken for a noun with some tagging errors
_NOMINAL = ("DT", "PRP$", "PRP", "NN", "NNS", "NNP", "NNPS", "JJ", "JJR", "JJS", "CD", "WP", "EX")
_NOUNS = ("NN", "NNS", "NNP", "NNPS")


@dataclass(frozen=True)
class VerbCounts:
    """Counts over a training corpus.

    Attributes:
        size: number of captions.
        verbs: lemma -> in how many places it is used as a verb.
        frames: frame -> phrase in dictionary form -> count; a frame is the class of what follows the phrase.
        nouns: lemma -> in how many places it is used as a noun.
        company: (frame, noun) -> phrase -> count; the noun is the first one after the phrase.
        tagger: what tagged the captions.
    """

    size: int
    verbs: Counter[str]
    nouns: Counter[str] = field(repr=False)
    frames: dict[str, Counter[str]] = field(repr=False)
    company: dict[tuple[str, str], Counter[str]] = field(repr=False)
    tagger: str

    @property
    def limit(self) -> float:
        """The paper's limit of 30, scaled down with corpora under 100,000 captions, never below 2."""
        return max(2.0, PAPER_LIMIT * min(1.0, self.size / PAPER_SIZE))

    def is_verb(self, lemma: str) -> bool:
        """Whether the corpus uses the word mainly as a verb: "hair" is tagged as one now and then by mistake."""
        return self.verbs[lemma] >= _LEAST_VERB * (self.verbs[lemma] + self.nouns[lemma])


def count(captions: Sequence[str] | Iterable[str], *, tagger: str = "auto", num_proc: int = 1) -> VerbCounts:
    """Counts the verbs of training captions.

    >>> counts = count(["a man is running", "two dogs run on grass", "a man has a hat"], tagger="hanta")
    >>> counts.verbs["run"], counts.verbs["have"], counts.limit
    (2, 0, 2.0)
    """
    texts = captions if isinstance(captions, Sequence) else list(captions)
    verbs, nouns = Counter[str](), Counter[str]()
    frames: dict[str, Counter[str]] = {}
    company: dict[tuple[str, str], Counter[str]] = {}
    for tokens in iterate(texts, tagger=tagger, num_proc=num_proc):
        nouns.update(token.lemma for token in tokens if token.tag in _NOUNS)
        for phrase in phrases(tokens):
            if not phrase.particles:
                verbs[phrase.lemma] += 1
            after = phrase.place + 1 + len(phrase.particles)
            kind = frame(tokens, after)
            frames.setdefault(kind, Counter())[phrase.base] += 1
            if noun := next_noun(tokens, after):
                company.setdefault((kind, noun), Counter())[phrase.base] += 1
    return VerbCounts(len(texts), verbs, nouns, frames, company, tagger_name(tagger))


def frame(tokens: list[Token], after: int) -> str:
    """The class of what stands at `after`: a noun phrase, one certain preposition, an adverb, the end ...

    A phrase seen in the same frame fits there: "looking at" before a noun phrase, "sitting" before "on".
    """
    if after >= len(tokens):
        return "end"
    token = tokens[after]
    if token.tag in _NOMINAL:
        return "noun"
    if token.tag in ("IN", "TO", "RP"):
        return "word:" + token.text.lower()
    if token.tag in (".", ",", "CC", "''", "-LRB-", "-RRB-"):
        return "end"
    return token.tag[:2]


def next_noun(tokens: list[Token], after: int) -> str | None:
    """The lemma of the head of the first noun phrase from `after` on, if no verb comes before it."""
    for place in range(after, min(after + 6, len(tokens))):
        tag = tokens[place].tag
        if tag.startswith("VB"):
            return None
        if tag in _NOUNS and (place + 1 == len(tokens) or tokens[place + 1].tag not in _NOUNS):
            return tokens[place].lemma
    return None


def words_used(tokens: list[Token]) -> frozenset[str]:
    """Everything that a caption may call an action by: its verbs, and its nouns and adjectives read as verbs."""
    from video_contrast.perturbations.language import lemma

    used = set(verb_lemmas(tokens))
    for token in tokens:
        if token.tag[:2] in ("NN", "JJ"):
            used |= {token.lemma, lemma(token.text, "VB")}
    return frozenset(used)
