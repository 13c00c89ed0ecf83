"""`video-contrast analyse rarity|proximity|verbs|judges`: the analyses of the contrast-set paper."""

import json
from pathlib import Path
from typing import Annotated, Any

import typer

Set = Annotated[Path, typer.Argument(metavar="DIR", help="Folder of the set.")]
Split = Annotated[str, typer.Option(help="Which split.")]
Run = Annotated[Path, typer.Option(help="Folder that `video-contrast score` wrote.")]
Condition = Annotated[str, typer.Option(help="Condition of the run.")]


def add(app: typer.Typer) -> None:
    """Adds the group `analyse`."""
    group = typer.Typer(
        help="Rare ids, semantic proximity, verb distributions, judges. Results are printed as JSON.",
        no_args_is_help=True,
        epilog="Example: video-contrast analyse proximity sets/shapes --config verb_mc --run runs/temporal "
        "--encoder temporal",
    )
    group.command("rarity", epilog="Example: video-contrast analyse rarity sets/lsmdc --run runs/clip")(rarity)
    group.command(
        "proximity",
        epilog="Example: video-contrast analyse proximity sets/shapes --run runs/temporal --encoder temporal",
    )(proximity)
    group.command(
        "verbs",
        epilog="Example: video-contrast analyse verbs sets/msrvtt sets/msrvtt --other-config verb_lm_mc",
    )(verbs)
    group.command("judges", epilog="Example: video-contrast analyse judges sets/msrvtt --votes votes.csv")(judges)
    app.add_typer(group, name="analyse")


def rarity(
    folder: Set,
    run: Run,
    training: Annotated[
        str | None, typer.Option(help="Table of training captions; default: the set's train split.")
    ] = None,
    caption_column: Annotated[str, typer.Option(help="Its column with the caption.")] = "caption",
    config: Annotated[str, typer.Option(help="Which config.")] = "person_id_mc",
    split: Split = "test",
    condition: Condition = "clean",
) -> None:
    """Accuracy where the original id is rarer in training than its substitute (table 4)."""
    from video_contrast.audit.set_audit import read_rows
    from video_contrast.builders.sources.caption_table import column, read_table, texts
    from video_contrast.reports import paper_analyses as analyses

    if training is None:
        captions = [text for row in read_rows(folder, "retrieval", "train") for text in row["captions"]]
    else:
        rows = read_table(training)
        captions = [t for place, row in rows for t in texts(column(row, caption_column, place, "--caption-column"))]
    _print(analyses.rare_ids(read_rows(folder, config, split), analyses.read_hits(run, config, condition), captions))


def proximity(
    folder: Set,
    run: Run,
    encoder: Annotated[list[str], typer.Option(help="Sentence encoder or dual encoder; may be given several times.")],
    config: Annotated[str, typer.Option(help="Which config.")] = "verb_mc",
    split: Split = "test",
    condition: Condition = "clean",
    share: Annotated[float, typer.Option(help="Size of the nearest and the farthest part.")] = 0.15,
    device: Annotated[str, typer.Option(help="Where the encoders run.")] = "auto",
) -> None:
    """Accuracy on antonyms, and on the contrasts nearest to and farthest from their originals (table 5)."""
    from video_contrast.audit.set_audit import read_rows
    from video_contrast.reports import paper_analyses as analyses

    hits = analyses.read_hits(run, config, condition)
    encoders = {name: analyses.sentence_encoder(name, device) for name in encoder}
    _print(analyses.proximity(read_rows(folder, config, split), hits, encoders, share=share))


def verbs(
    first: Annotated[Path, typer.Argument(metavar="DIR", help="Folder of a set.")],
    second: Annotated[Path, typer.Argument(metavar="OTHER", help="Folder of another set, or the same.")],
    config: Annotated[str, typer.Option(help="Config of the first set.")] = "verb_mc",
    other_config: Annotated[str, typer.Option(help="Config of the second set.")] = "verb_human_mc",
    split: Split = "test",
    plot: Annotated[Path | None, typer.Option(help="Write the figure, a .png.")] = None,
    tagger: Annotated[str, typer.Option(help="auto, hanta, nltk or spacy:MODEL.")] = "auto",
) -> None:
    """Verb distributions of two sets: distances, and the plot (figure 3); agreement of their edits by clip."""
    from video_contrast.audit.set_audit import read_rows
    from video_contrast.builders.sources.released import edit_agreement
    from video_contrast.reports import paper_analyses as analyses

    rows = read_rows(first, config, split), read_rows(second, other_config, split)
    counts = [analyses.verb_counts(part, tagger=tagger) for part in rows]
    found = analyses.compare_verbs(*counts) | {"agreement": edit_agreement(*rows)}
    if plot is not None:
        found["plot"] = str(analyses.plot_verbs(counts[0], counts[1], (config, other_config), plot))
    _print(found)


def judges(
    folder: Set,
    votes: Annotated[Path, typer.Option(help="Table of item, annotator, answer (CSV, TSV, JSON lines).")],
    config: Annotated[str, typer.Option(help="Which config was judged.")] = "verb_mc",
    split: Split = "test",
) -> None:
    """Accuracy of judges by majority vote, and their agreement."""
    from video_contrast.audit.set_audit import read_rows
    from video_contrast.builders.sources.caption_table import read_table
    from video_contrast.reports import paper_analyses as analyses

    _print(analyses.judges(read_rows(folder, config, split), read_table(votes)))


def _print(found: dict[str, Any]) -> None:
    print(json.dumps(found, indent=2, default=float))
