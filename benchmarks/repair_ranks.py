"""Ranks of the packaged checkpoints, and of a model of text alone, before and after a repair.

    python benchmarks/repair_ranks.py [--items 1600] [--output FOLDER]

Three sets of two candidates from the shapes world, the true caption and another action: `fair`, as built; `blind`,
where half of the actions are mostly true and the others mostly false, so that text alone wins; and `repaired`, the
repair of `blind` by verbs and directions. Models are scored on all three, and one table is printed.
"""

import json
import tempfile
from pathlib import Path
from typing import cast

from parts.command_line import parser_of

from video_contrast import checkpoint_path
from video_contrast.cli import main as video_contrast
from video_contrast.hub_cards import write_card
from video_contrast.rows import EditRecord, MultipleChoiceRow, contrast_places
from video_contrast.seeds import stream
from video_contrast.storage import SetDraft, SetFolder

KEPT = 0.15  # share of the items that speak against the cue and stay
CHECKPOINTS = ("bag-of-frames", "temporal-plain", "temporal")


def main() -> int:
    """Builds, repairs, scores, and prints the table."""
    options = parser_of(__doc__)
    options.add_argument("--items", type=int, default=1600)
    options.add_argument("--output", type=Path)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        return run(given.output or Path(temporary), given.items)


def run(root: Path, items: int) -> int:
    """Does all of it in a folder."""
    world = root / "world"
    video_contrast(["build", "shapes", "--config", "verb_mc", "--items", str(items), "--output", str(world), "-q"])
    pairs = [two_candidates(row) for row in SetFolder.built(world).choice_rows("verb_mc", "test")]
    blind = solvable(pairs)
    fair = [row for row in pairs if stream(0, "fair", row["id"]).random() < len(blind) / len(pairs)]
    for name, rows in (("blind", blind), ("fair", fair)):
        draft = SetDraft(root / name, "pairs")
        draft.add(name, {"test": rows}, {"negatives": "another action of the shapes world"})
        draft.record["facts"] = {"summary": f"Two candidates of the shapes world: {name}.", "seed": 0}
        write_card(draft.save())
    repair = ["repair", str(root / "blind"), "--kinds", "verb,direction", "--output", str(root / "repaired")]
    video_contrast([*repair, "-q"])
    models = {name: str(checkpoint_path(name)) for name in CHECKPOINTS} | {"blind": "blind"}
    for config in ("blind", "fair", "repaired"):
        for name, model in models.items():
            score = ["score", "--model", model, "--dataset", str(root / config), "--config", config]
            output = root / "runs" / f"{config}-{name}"
            video_contrast([*score, "--video-root", str(world), "--output", str(output), "-q"])
    return video_contrast(["table", *(str(path) for path in sorted((root / "runs").iterdir()))])


def two_candidates(row: MultipleChoiceRow) -> MultipleChoiceRow:
    """The true candidate and the contrast, shuffled."""
    [contrast] = contrast_places(row["kinds"])
    order = [row["label"], contrast]
    if stream(0, "order", row["id"]).random() < 0.5:
        order.reverse()
    new = row.copy()
    new["candidates"], new["kinds"], new["edits"] = (
        [row["candidates"][n] for n in order], [row["kinds"][n] for n in order], [row["edits"][n] for n in order],
    )  # fmt: skip
    new["label"], new["replaced"] = order.index(row["label"]), None
    return new


def solvable(rows: list[MultipleChoiceRow]) -> list[MultipleChoiceRow]:
    """Rows of which most have a true action of one half and a false one of the other."""
    action_of = {edit_of(row)["old"]: action(row) for row in rows}
    half = set(sorted(set(action_of.values()))[::2])
    return [
        row
        for row in rows
        if (action(row) in half and action_of.get(edit_of(row)["new"]) not in half)
        or stream(0, "kept", row["id"]).random() < KEPT
    ]


def action(row: MultipleChoiceRow) -> str:
    """What is done in the clip."""
    return cast(str, json.loads(row["meta"])["action"])


def edit_of(row: MultipleChoiceRow) -> EditRecord:
    """How the contrast was made."""
    return next(edit for edit in row["edits"] if edit is not None)


if __name__ == "__main__":
    raise SystemExit(main())
