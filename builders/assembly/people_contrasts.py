"""Contrasts of people in builders: a gender or a character's name is swapped."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from video_contrast.builders.assembly.clip_contrasts import Attempt
from video_contrast.perturbations.contrast import Edit


@dataclass(frozen=True)
class GenderContrasts:
    """Gender contrasts (`perturbations.contrast.gender`)."""

    seed: int = 0
    extended: bool = False
    tagger: str = "auto"

    def __call__(self, attempts: Sequence[Attempt]) -> tuple[list[list[Edit]], Counter[str]]:
        """One contrast a caption with a gendered noun."""
        from video_contrast.perturbations.contrast import gender

        captions, ids = [a.caption for a in attempts], [a.id for a in attempts]
        edits, counts = gender.contrasts(captions, ids, seed=self.seed, extended=self.extended, tagger=self.tagger)
        return [[edit] if edit else [] for edit in edits], counts


@dataclass(frozen=True)
class PersonIdContrasts:
    """Character-id contrasts (`perturbations.contrast.person_id`); `casts` is movie -> name -> gender."""

    casts: Mapping[str, Mapping[str, str]]
    seed: int = 0

    def __call__(self, attempts: Sequence[Attempt]) -> tuple[list[list[Edit]], Counter[str]]:
        """One contrast a caption that names a character with a peer."""
        from video_contrast.perturbations.contrast import person_id

        captions, ids = [a.caption for a in attempts], [a.id for a in attempts]
        casts = [self.casts.get(a.clip.pool, {}) for a in attempts]
        edits, counts = person_id.contrasts(captions, ids, casts, seed=self.seed)
        return [[edit] if edit else [] for edit in edits], counts
