"""Negatives of others: released sets (`clip`, `ending0` ..., `label`) as they are, and lists that people wrote."""

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path

from video_contrast.builders.assembly.captioned_clip import MAY_BE_TRUE, Attempt, CaptionedClip, normal
from video_contrast.builders.assembly.review import Tick
from video_contrast.builders.sources.caption_table import read_table
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.perturbations.contrast import Edit
from video_contrast.perturbations.contrast.edit import changed_words, difference
from video_contrast.perturbations.contrast.generate import judged
from video_contrast.rows import EditRecord, MultipleChoiceRow, multiple_choice_row
from video_contrast.storage.set_folder import Facts


def is_released(path: str | Path) -> bool:
    """Whether a file is a five-option TSV (by its header) and no list of negatives. Raises UsageError: no such file."""
    if not Path(path).is_file():
        raise UsageError(f"no such file: {path}")
    first = next(read_table(path), None)
    return first is not None and {"ending0", "label"} <= first.cells.keys()


def released_config(
    path: Path, kind: str, video_path: Callable[[str], str], *, cluster: Callable[[str], str] = str
) -> tuple[dict[str, list[MultipleChoiceRow]], Facts]:
    """Returns a released set as our table, candidates, places, labels and order as they are, and what its card says.

    The file is `clip<TAB>ending0..ending4<TAB>label`, header, no quoting, UTF-8. The contrast among the candidates is
    the one nearest to the true caption; the release does not mark it. `video_path` and `cluster` say of a clip the path
    of its video and the source video, by default the clip itself. Raises UsageError: no such file; VideoContrastError:
    another header, a label out of range, an empty or repeated candidate; names the line.
    """
    rows = []
    for row in read_table(path):
        place, cells = row
        endings = sorted((name for name in cells if name.startswith("ending")), key=lambda name: int(name[6:] or 0))
        if "clip" not in cells or "label" not in cells or len(endings) < 2:
            raise VideoContrastError(f"{place}: the header must be clip, ending0 ..., label, not {', '.join(cells)}")
        candidates, number = [str(cells[name]) for name in endings], str(cells["label"])
        if not number.isdigit() or int(number) >= len(candidates):
            raise VideoContrastError(f"{place}: label {number!r} is not one of 0..{len(candidates) - 1}")
        if any(not text.strip() for text in candidates) or len(set(candidates)) < len(candidates):
            raise VideoContrastError(f"{place}: a candidate is empty, or two are equal")
        clip, label = str(cells["clip"]), int(number)
        true = candidates[label]
        others = [n for n in range(len(candidates)) if n != label]
        nearest = min(others, key=lambda n: (sum(changed_words(true, candidates[n])), n))
        kinds = ["random"] * len(candidates)
        kinds[label], kinds[nearest] = "true", kind
        edits: list[EditRecord | None] = [None] * len(candidates)
        edits[nearest] = difference(true, candidates[nearest], "released").row()
        rows.append(
            multiple_choice_row(
                id=clip, video_id=clip, video_path=video_path(clip), candidates=candidates, label=label, kinds=kinds,
                edits=edits, cluster=cluster(clip),
            )
        )  # fmt: skip
    if not rows:
        raise VideoContrastError(f"{path}: no rows")
    negatives, options = "the released file, options, positions and order as they are", len(rows[0]["candidates"])
    facts = {"negatives": negatives, "kind": kind, "options": options, "source": Path(path).name}
    return {"test": rows}, facts | {"splits": {"test": {"items": len(rows)}}}


def read_negatives(path: str | Path) -> list[Tick]:
    """Reads rows with `clip` (or `video_id`, `id`), `caption` and `negative` (JSON lines, CSV, TSV ...).

    A clip is named by its id, by its video's id, or by its video file. `negative` may be a list, an entry each. Raises
    UsageError: a column is missing; VideoContrastError: a text is empty, or both are equal; names the line.
    """
    entries: list[Tick] = []
    for row in read_table(path):
        clip, caption = row.clip_name(), row.text("caption", "a column caption")
        negatives = row.texts("negative", "a column negative")
        if not negatives:
            raise VideoContrastError(f"{row.place}: needs at least one negative that is not empty")
        if caption in negatives:
            raise VideoContrastError(f"{row.place}: the negative equals the caption: {caption!r}")
        entries += [Tick(row.place, "verb_human_mc", clip, caption, negative, "yes") for negative in negatives]
    if not entries:
        raise VideoContrastError(f"{path}: no rows")
    return entries


def unmatched_note(negatives: Sequence[Tick], clips: Sequence[CaptionedClip]) -> str:
    """Says how many negatives belong to no caption of a clip, which a misspelt id or caption causes; "" if all do."""
    captions_of_set = {(name, normal(text)) for clip in clips for text in clip.captions for name in clip.names}
    strays = [entry for entry in negatives if (entry.clip, normal(entry.caption)) not in captions_of_set]
    if not strays:
        return ""
    first, count = strays[0], f"{len(strays)} of {len(negatives)} negatives belong to no caption of the set"
    return f"{count}, the first is {first.place}: {first.clip!r}, {first.caption!r}"


class HumanContrasts:
    """Human negatives as a generator of contrasts: a caption gets those that people wrote for it."""

    def __init__(self, negatives: Sequence[Tick]) -> None:
        self._of: dict[tuple[str, str], list[str]] = {}
        for entry in negatives:
            self._of.setdefault((entry.clip, normal(entry.caption)), []).append(entry.contrast)

    def __call__(self, attempts: Sequence[Attempt]) -> tuple[list[list[Edit]], Counter[str]]:
        """The negative of each caption: the first that no caption of the clip says, where there are several.

        Counts how many captions have one, and how many of these negatives may be true.
        """
        contrasts, counts = [], Counter[str]()
        for attempt in attempts:
            keys = ((name, normal(attempt.caption)) for name in attempt.clip.names)
            negatives = next((self._of[key] for key in keys if key in self._of), [])
            truths = attempt.clip.truths()
            first = next((text for text in negatives if normal(text) not in truths), None)
            texts = negatives[:1] if first is None else [first]
            edits = [difference(attempt.caption, text, "human") for text in texts]
            edits, doubtful = judged([attempt.caption] * len(edits), edits)
            contrasts.append(edits)
            counts[f"candidates:{MAY_BE_TRUE}"] += sum(doubtful) if first is not None else 0
            counts["edited" if negatives else "no_human_negative"] += 1
        return contrasts, counts
