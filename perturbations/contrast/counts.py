"""What the training captions say about words: how often each is used, and in what company."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from video_contrast.errors import UsageError
from video_contrast.perturbations.contrast.target import Target
from video_contrast.perturbations.language import iterate, tagger_name

PAPER_LIMIT = 30  # a word must be used more often than this in the training captions (A.3)
PAPER_SIZE = 100_000  # captions from which on the paper's limit holds; MSR-VTT trains on 130,260
_LEAST_SHARE = 0.1  # share of its uses under which a word is taken for another class with some tagging errors


@dataclass(frozen=True)
class WordCounts:
    """Counts over a training corpus, of its verbs or of its nouns.

    Attributes:
        size: number of captions.
        uses: lemma -> in how many places it is used.
        otherwise: lemma -> in how many places it is another part of speech.
        frames: frame -> phrase in dictionary form -> count; a frame is the class of what stands beside the phrase.
        company: (frame, neighbour) -> phrase -> count; neighbours are words that tell what goes on (`Target.context`).
        tagger: what tagged the captions.
    """

    size: int
    uses: Counter[str]
    otherwise: Counter[str] = field(repr=False)
    frames: dict[str, Counter[str]] = field(repr=False)
    company: dict[tuple[str, str], Counter[str]] = field(repr=False)
    tagger: str

    @property
    def limit(self) -> float:
        """The paper's limit of 30, scaled down with corpora under 100,000 captions, never below 2."""
        return max(2.0, PAPER_LIMIT * min(1.0, self.size / PAPER_SIZE))

    def is_typical(self, lemma: str) -> bool:
        """Whether the corpus uses the word mainly so: "hair" is tagged as a verb now and then, by mistake."""
        return self.uses[lemma] >= _LEAST_SHARE * (self.uses[lemma] + self.otherwise[lemma])


def required(counts: WordCounts | None, who: str) -> WordCounts:
    """The counts that `who` cannot do without.

    Raises:
        UsageError: there are none.
    """
    if counts is None:
        raise UsageError(f"{who} needs training captions: give train_captions= (or counts=)")
    return counts


def count_words(captions: Iterable[str], target: Target, *, tagger: str = "auto", num_proc: int = 1) -> WordCounts:
    """Counts the phrases of `target` in training captions.

    Args:
        captions: any number of texts.
        target: the part of speech to count.
        tagger: as of `language.tag`.
        num_proc: processes for tagging.
    """
    texts = captions if isinstance(captions, Sequence) else list(captions)
    uses, otherwise = Counter[str](), Counter[str]()
    frames: dict[str, Counter[str]] = {}
    company: dict[tuple[str, str], Counter[str]] = {}
    for tokens in iterate(texts, tagger=tagger, num_proc=num_proc):
        seen = set()
        for phrase in target.find(tokens):
            if phrase.place not in seen:
                uses[phrase.lemma] += 1
                seen.add(phrase.place)
            kind, neighbours = target.context(tokens, phrase)
            frames.setdefault(kind, Counter())[phrase.base] += 1
            for neighbour in neighbours:
                company.setdefault((kind, neighbour), Counter())[phrase.base] += 1
        otherwise.update(token.lemma for token in tokens if token.tag in target.other_tags)
    return WordCounts(len(texts), uses, otherwise=otherwise, frames=frames, company=company, tagger=tagger_name(tagger))
