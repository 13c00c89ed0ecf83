"""Contrasts of people in builders: a gender or a character's name is swapped."""

from collections import Counter
from collections.abc import Mapping, Sequence

from video_contrast.builders.assembly.clip_contrasts import Attempt
from video_contrast.perturbations.contrast import Edit, gender, person_id

Contrasts = tuple[list[list[Edit]], Counter[str]]


def gender_contrasts(seed: int, extended: bool, tagger: str, attempts: Sequence[Attempt]) -> Contrasts:
    """One contrast a caption with a gendered noun (`perturbations.contrast.gender`)."""
    captions, ids = [a.caption for a in attempts], [a.id for a in attempts]
    edits, counts = gender.contrasts(captions, ids, seed=seed, extended=extended, tagger=tagger)
    return [[edit] if edit else [] for edit in edits], counts


def person_id_contrasts(casts: Mapping[str, Mapping[str, str]], seed: int, attempts: Sequence[Attempt]) -> Contrasts:
    """One contrast a caption that names a character with a peer; `casts` is movie -> name -> gender."""
    captions, ids = [a.caption for a in attempts], [a.id for a in attempts]
    casts_of = [casts.get(a.clip.pool, {}) for a in attempts]
    edits, counts = person_id.contrasts(captions, ids, casts_of, seed=seed)
    return [[edit] if edit else [] for edit in edits], counts
