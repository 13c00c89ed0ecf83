"""The text side of a robustness set: rows with perturbed captions (or candidates), and what that did to them."""

from collections.abc import Sequence
from typing import Any

from video_contrast.builders.robustness.perturbation_options import PerturbationOptions
from video_contrast.errors import VideoContrastError
from video_contrast.perturbations.english import PARSER
from video_contrast.perturbations.registry import TEXT
from video_contrast.perturbations.text import perturb_captions, shift
from video_contrast.perturbations.text.checkpoints import produced_by
from video_contrast.rows import Row
from video_contrast.storage.set_records import Facts

_MOST_UNCHANGED = 0.5  # of the captions, before the card warns
Perturbed = tuple[list[Row], Facts]  # rows, and the checks that a card shows


def perturbed_rows(rows: Sequence[Row], name: str, options: PerturbationOptions) -> Perturbed:
    """Perturbs every caption (or every candidate) of the rows.

    An item whose candidates are no longer different from each other (a gender contrast made neutral) is left out and
    counted. The spans of edits do not hold in perturbed candidates, so `edits` becomes null. Returns the rows that
    stay, and checks for the card. Raises VideoContrastError: what the perturbation needs is not there; the message says
    how to get it.
    """
    column = "candidates" if "candidates" in rows[0] else "captions"
    plain: list[dict[str, Any]] = [dict(row) for row in rows]  # a typed row has no column that is chosen by name
    of_row = [[*row[column], *([row["replaced"]] if row.get("replaced") else [])] for row in plain]
    before = [text for texts in of_row for text in texts]
    after = perturb_captions(
        before,
        name,
        # The rows of a group of pairs share their candidates, so these are drawn once for all of them.
        ids=[row.get("group") or row["id"] for row, texts in zip(plain, of_row, strict=True) for _ in texts],
        caption_indices=[index for texts in of_row for index in range(len(texts))],
        seed=options.seed,
        profile=options.text_profile,
        models=options.text_models(),
    )
    recipe = {"name": name, "profile": options.text_profile, "seed": options.seed}
    texts = iter(after)
    perturbed: list[Any] = []  # rows, changed as `plain` ones
    for row in plain:
        changed = {**row, column: [next(texts) for _ in row[column]], "text_perturbation": recipe}
        if row.get("replaced"):
            changed["replaced"] = next(texts)
        if column == "candidates":
            changed["edits"] = [None] * len(row[column])
            if len(set(changed[column])) < len(changed[column]):
                continue
        perturbed.append(changed)
    checks = _made_by(name, options) | _shift(before, after, options)
    if column == "candidates":
        checks["items left out because two options became equal"] = len(rows) - len(perturbed)
    return perturbed, checks


def mostly_unchanged(checks: Facts) -> bool:
    """Whether a perturbation left more than half of the captions as they were: its robustness says little."""
    return float(checks["captions left unchanged"].split()[0]) > 100 * _MOST_UNCHANGED


def _made_by(name: str, options: PerturbationOptions) -> Facts:
    """What made the texts: rules or checkpoints with their revisions, the parser, the data."""
    spec = TEXT[name]
    models = (options.text_models() or {}).get(name)
    made_by = produced_by(name, models) if spec.batched else "rules"
    checks: Facts = {"made by": made_by}
    if "parse" in spec.requirements and made_by.startswith("rules"):
        checks["parser"] = PARSER
    if "wordnet" in spec.requirements:
        checks["data"] = "WordNet as NLTK has it"
    return checks


def _shift(before: Sequence[str], after: Sequence[str], options: PerturbationOptions) -> Facts:
    from video_contrast.metrics.shift import caption_shift

    try:
        measures = caption_shift(after, before, meteor=options.meteor, language_model=options.language_model)
    except ValueError as error:  # WordNet or the model is missing; the message says how to get it
        raise VideoContrastError(str(error)) from error
    checks: Facts = {"captions left unchanged": f"{100 * shift(before, after)['unchanged_share']:.1f} %"}
    for key, value in measures.items():
        if key not in ("changed", "n") and value is not None:
            checks[key] = round(float(value), 4)
    return checks
