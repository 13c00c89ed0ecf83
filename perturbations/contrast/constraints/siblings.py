"""The replacement must not be true by the other captions of the same video."""

from dataclasses import dataclass
from functools import lru_cache

from video_contrast.errors import VideoContrastError
from video_contrast.perturbations.contrast.candidate import Candidate, Original
from video_contrast.perturbations.contrast.constraints.base import Constraint, Verdict
from video_contrast.perturbations.contrast.near_verbs import near
from video_contrast.perturbations.english import wordnet


@dataclass
class Siblings(Constraint):
    """Rejects a verb that another caption of the same video uses, or one near to such a verb: it may be true.

    Attributes:
        sibling_senses: above 0 also rejects synonyms: words that share one of the first so many WordNet senses of the
            verb. All senses would reject most verbs, one or two are advised. Needs NLTK's WordNet.
    """

    sibling_senses: int = 0
    name = "siblings"

    def __post_init__(self) -> None:
        if self.sibling_senses:
            _synonyms("run", 1)  # now, not in the middle of a build

    def accepts(self, original: Original, candidate: Candidate) -> Verdict:
        """No score."""
        lemmas = candidate.lemmas or ()
        words = set(lemmas)
        if candidate.tag.startswith("VB"):
            words.update(*map(near, lemmas))
        if self.sibling_senses:
            words.update(*(_synonyms(lemma, self.sibling_senses) for lemma in lemmas))
        return Verdict(original.sibling_words.isdisjoint(words))

    def record(self) -> dict[str, object]:
        """How many senses count as synonyms."""
        return {"synonym_senses": self.sibling_senses}


@lru_cache(1 << 14)
def _synonyms(lemma: str, senses: int) -> frozenset[str]:
    try:
        first = wordnet.load().senses(lemma.lower().replace(" ", "_"), "v")[:senses]
    except VideoContrastError as error:
        raise VideoContrastError(f"{error} (or set sibling_senses to 0)") from error
    return frozenset(word.replace("_", " ") for sense in first for word in sense.words)
