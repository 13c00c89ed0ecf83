"""The metrics as Spaces, so that `evaluate.load("USER/video_contrast_mc")` works for everybody."""

import tempfile
from pathlib import Path

from video_contrast.hub_cards.markdown import render


def space_card(name: str, *, body: str = "") -> str:
    """The card of a metric's Space: the YAML that the Hub needs to run it, and the metric's own card in markdown.

    Without a `body` of its own the card holds the metric's one-line summary.
    """
    from video_contrast.metrics.evaluate_modules import module
    from video_contrast.version import __version__

    return render("space.md.jinja", module=module(name), gradio=gradio_version(), version=__version__, body=body)


def gradio_version() -> str:
    """The version of Gradio that a Space asks for: the installed one, else the one that pages were written for."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("gradio")
    except PackageNotFoundError:
        return "6.20.0"


def push_metric(name: str, user: str, *, private: bool = False) -> str:
    """Publishes a metric as the Space USER/NAME; returns its address. What is there already is not sent again.

    `user`: user or organisation. Raises UsageError: no such metric; VideoContrastError: no permission or no network.
    """
    from video_contrast.hub_cards.publishing import upload
    from video_contrast.metrics.evaluate_modules import write_space

    with tempfile.TemporaryDirectory() as temporary:
        folder = write_space(name, Path(temporary) / name)
        card = folder / "README.md"
        text = card.read_text(encoding="utf-8") if card.exists() else ""
        if not text.startswith("---\n"):
            card.write_text(space_card(name, body=text), encoding="utf-8")
        files = [(file.name, file) for file in sorted(folder.iterdir())]
        return upload(
            (files,),
            f"{user}/{name}",
            "space",
            message=f"Publish the metric {name}",
            private=private,
            space_sdk="gradio",
        )
