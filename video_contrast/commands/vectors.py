"""`video-contrast vectors shrink FILE --output FILE`: the verbs of a file of word vectors."""

from pathlib import Path
from typing import Annotated

import typer


def add(app: typer.Typer) -> None:
    """Adds the group `vectors`."""
    group = typer.Typer(
        help="Word vectors for the verb constraint `word_vectors`.",
        no_args_is_help=True,
        epilog="Example: video-contrast vectors shrink counter-fitted-vectors.txt --output verbs.npz",
    )
    group.callback()(lambda: None)  # keeps `shrink` a subcommand, though it is the only one
    group.command(
        "shrink", epilog="Example: video-contrast vectors shrink counter-fitted-vectors.txt --output verbs.npz"
    )(shrink)
    app.add_typer(group, name="vectors")


def shrink(
    source: Annotated[Path, typer.Argument(help="Vectors in text format: a word and its numbers a line.")],
    output: Annotated[Path, typer.Option(help="File to write; its name ends in .npz.")],
) -> None:
    """Keep the vectors of English verbs as float16: 3 MB of the 76,427 counter-fitted vectors."""
    from video_contrast.perturbations.contrast.constraints.word_cosine import shrink as keep_verbs

    total, kept = keep_verbs(source, output)
    print(f"{output}: {kept} verbs of {total} words")
