"""Constraints that need no model: a verb, another verb, a known verb, none that the video's other captions use.

The same rules hold for nouns in object contrasts.
"""

from collections.abc import Sequence
from functools import lru_cache

from video_contrast.errors import VideoContrastError
from video_contrast.perturbations.contrast.constraints.near_verbs import near
from video_contrast.perturbations.contrast.verb.candidate import Candidate, Original, Verdict
from video_contrast.perturbations.contrast.verb.counts import WordCounts
from video_contrast.perturbations.language import inflect


class HasWord:
    """Rejects a replacement in which the tagger sees no verb (paper, 3.2, criterion 1), or no noun for objects."""

    def __init__(self, name: str = "has_verb") -> None:
        self.name = name

    def check(self, originals: Sequence[Original], candidates: Sequence[Candidate]) -> list[Verdict]:
        """No score."""
        return [Verdict(bool(candidate.lemmas)) for candidate in candidates]

    def record(self) -> dict[str, object]:
        """Nothing to set."""
        return {}


class OtherLemma:
    """Rejects the same verb in another form, another verb of the caption, or one that says nearly what it replaces.

    Nearly the same is what the package's table of near verbs lists ("describe", "explain"); antonyms are exempt.
    """

    name = "lemma"

    def check(self, originals: Sequence[Original], candidates: Sequence[Candidate]) -> list[Verdict]:
        """No score."""
        return [
            Verdict(not (original.own | self._alike(original, made)) & set(made.lemmas or ()))
            for original, made in _pairs(originals, candidates)
        ]

    @staticmethod
    def _alike(original: Original, made: Candidate) -> frozenset[str]:
        is_verb = original.phrase.tag.startswith("VB")
        return near(original.phrase.lemma) if is_verb and not made.antonym else frozenset()

    def record(self) -> dict[str, object]:
        """Nothing to set."""
        return {}


class Frequency:
    """Rejects verbs that the training captions do not use more than `limit` times (paper: 30). Score: the count."""

    name = "frequency"

    def __init__(self, counts: WordCounts, limit: float | None = None) -> None:
        self._counts = counts
        self._limit = counts.limit if limit is None else limit

    def check(self, originals: Sequence[Original], candidates: Sequence[Candidate]) -> list[Verdict]:
        """The score is the count of the rarest verb in the replacement."""
        rarest = [min((self._counts.uses[lemma] for lemma in made.lemmas or ()), default=0) for made in candidates]
        return [Verdict(uses > self._limit, float(uses)) for uses in rarest]

    def record(self) -> dict[str, object]:
        """The limit, and the size of the corpus that it was scaled to."""
        return {"more_than": self._limit, "training_captions": self._counts.size}


class Siblings:
    """Rejects a verb that another caption of the same video uses, or one near to such a verb: it may be true.

    `senses` > 0 also rejects synonyms: words that share one of the first `senses` WordNet senses of the verb. All
    senses would reject most verbs, one or two are advised. Needs NLTK's WordNet.
    """

    name = "siblings"

    def __init__(self, senses: int = 0) -> None:
        self._senses = senses
        if senses:
            _synonyms("run", 1)  # now, not in the middle of a build

    def check(self, originals: Sequence[Original], candidates: Sequence[Candidate]) -> list[Verdict]:
        """No score."""
        return [
            Verdict(not original.sibling_words & self._words(made)) for original, made in _pairs(originals, candidates)
        ]

    def record(self) -> dict[str, object]:
        """How many senses count as synonyms."""
        return {"synonym_senses": self._senses}

    def _words(self, made: Candidate) -> set[str]:
        words = set(made.lemmas or ())
        if made.tag.startswith("VB"):
            words |= {other for lemma in made.lemmas or () for other in near(lemma)}
        if self._senses:
            words |= {synonym for lemma in made.lemmas or () for synonym in _synonyms(lemma, self._senses)}
        return words


class Inflection:
    """Rejects a verb whose form cannot be that of the original ("is sings"). An option of ours, not the paper's."""

    name = "inflection"

    def check(self, originals: Sequence[Original], candidates: Sequence[Candidate]) -> list[Verdict]:
        """No score."""
        return [Verdict(self._fits(original, made)) for original, made in _pairs(originals, candidates)]

    def record(self) -> dict[str, object]:
        """Nothing to set."""
        return {}

    @staticmethod
    def _fits(original: Original, made: Candidate) -> bool:
        wanted = original.phrase.tag
        if not made.lemmas:
            return False
        return made.tag == wanted or inflect(made.lemmas[0], wanted) in made.new.lower().split()


def _pairs(originals: Sequence[Original], candidates: Sequence[Candidate]) -> list[tuple[Original, Candidate]]:
    return list(zip(originals, candidates, strict=True))


@lru_cache(1 << 14)
def _synonyms(lemma: str, senses: int) -> frozenset[str]:
    try:
        from nltk.corpus import wordnet

        synsets = wordnet.synsets(lemma.replace(" ", "_"), pos="v")[:senses]
    except LookupError as error:
        raise VideoContrastError(
            "sibling synonyms need NLTK's WordNet: python -m nltk.downloader wordnet (or set sibling_senses to 0)"
        ) from error
    return frozenset(name.replace("_", " ") for synset in synsets for name in synset.lemma_names())
