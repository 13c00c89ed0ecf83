"""`video-contrast analyse rarity|proximity|verbs|judges`: the analyses of the contrast-set paper."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from video_contrast.builders.sources.caption_table import read_table
from video_contrast.commands.command import command, group
from video_contrast.errors import UsageError
from video_contrast.options import Config, Device, SetPath, Split
from video_contrast.reports import paper_analyses as analyses
from video_contrast.reports.behaviour import verb_counts
from video_contrast.storage import open_set

Run = Annotated[Path, "folder that `video-contrast score` wrote"]
Condition = Annotated[str, "condition of the run"]
PROXIMITY = "video-contrast analyse proximity sets/shapes --run runs/temporal --encoder temporal"

group(
    "analyse",
    "The contrast-set paper's analyses: rare ids, proximity, verbs, judges. Prints JSON.",
    f"{PROXIMITY} --config verb_mc",
)


@command("analyse rarity", "video-contrast analyse rarity sets/lsmdc --run runs/clip")
def rarity(
    dataset: SetPath,
    *,
    run: Run,
    training: Annotated[str | None, "table of training captions; default: the set's train split"] = None,
    caption_column: Annotated[str, "its column with the caption"] = "caption",
    config: Config = "person_id_mc",
    split: Split = "test",
    condition: Condition = "clean",
) -> None:
    """Accuracy where the original id is rarer in training than its substitute (table 4)."""
    if training is None:
        try:
            rows = open_set(dataset).retrieval_rows("retrieval", "train")
        except UsageError as error:
            needs = "the captions of the training split (build the config retrieval, or give --training)"
            raise UsageError(f"analyse rarity needs {needs}: {error}") from error
        captions = [text for row in rows for text in row["captions"]]
    else:
        captions = [text for row in read_table(training) for text in row.texts(caption_column, "--caption-column")]
    hits = analyses.read_hits(run, config, condition)
    _print(analyses.rare_ids(open_set(dataset).choice_rows(config, split), hits, captions))


@command("analyse proximity", PROXIMITY)
def proximity(
    dataset: SetPath,
    *,
    run: Run,
    encoder: Annotated[list[str], "sentence encoder or dual encoder; repeat for several"],
    config: Config = "verb_mc",
    split: Split = "test",
    condition: Condition = "clean",
    share: Annotated[float, "share of the items in the nearest part, and in the farthest"] = 0.15,
    device: Device = "auto",
) -> None:
    """Accuracy on antonyms, and on the contrasts nearest to and farthest from their originals (table 5)."""
    hits = analyses.read_hits(run, config, condition)
    encoders = {name: analyses.sentence_encoder(name, device) for name in encoder}
    _print(analyses.proximity(open_set(dataset).choice_rows(config, split), hits, encoders, share=share))


@command("analyse verbs", "video-contrast analyse verbs sets/msrvtt sets/msrvtt --other-config verb_lm_mc")
def verbs(
    dataset: SetPath,
    other: Annotated[Path, "folder of another set, or the same"],
    *,
    config: Annotated[str, "config of the first set"] = "verb_mc",
    other_config: Annotated[str, "config of the second set"] = "verb_human_mc",
    split: Split = "test",
    plot: Annotated[Path | None, "write the figure, a .png"] = None,
) -> None:
    """Verb distributions of two sets: distances, and the plot (figure 3)."""
    rows = open_set(dataset).choice_rows(config, split), open_set(other).choice_rows(other_config, split)
    counts = [verb_counts(part) for part in rows]
    result = analyses.compare_verbs(*counts)
    if plot is not None:
        result["plot"] = str(analyses.plot_verbs(counts[0], counts[1], (config, other_config), plot))
    _print(result)


@command("analyse judges", "video-contrast analyse judges sets/msrvtt --votes votes.csv")
def judges(
    dataset: SetPath,
    *,
    votes: Annotated[Path, "table of item, annotator, answer (CSV, TSV, JSON lines)"],
    config: Config = "verb_mc",
    split: Split = "test",
) -> None:
    """Accuracy of judges by majority vote, and their agreement."""
    _print(analyses.judges(open_set(dataset).choice_rows(config, split), read_table(votes)))


def _print(result: Mapping[str, object]) -> None:
    print(json.dumps(result, indent=2, default=float))
