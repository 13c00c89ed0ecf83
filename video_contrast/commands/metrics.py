"""`video-contrast metrics ...`: the `evaluate` modules of the package."""

from pathlib import Path
from typing import Annotated

from video_contrast.commands.command import command, group
from video_contrast.console import say

Names = Annotated[list[str] | None, "which modules; all by default"]

group(
    "metrics",
    "The metrics for `evaluate`: by bare name on this machine, and as Spaces.",
    "video-contrast metrics install",
)


@command("metrics install", "video-contrast metrics install video_contrast_mc")
def install(
    names: Names = None,
    *,
    cache: Annotated[Path | None, "the modules folder; default: the one that `evaluate` reads"] = None,
) -> None:
    """Make `evaluate.load("video_contrast_mc")` work in every script, offline, without importing video_contrast.

    Run it once, and again after an upgrade: what is up to date is left as it is.
    """
    from video_contrast.metrics import evaluate_modules

    for module in evaluate_modules.install(names or None, cache):
        say(f"{module.name}: {module.status} ({module.path})")


@command("metrics push", "video-contrast metrics push me video_contrast_mc")
def push(
    user: Annotated[str, "your name, or an organisation's, on the Hub"],
    names: Names = None,
    *,
    private: Annotated[bool, "make new Spaces private"] = False,
) -> None:
    """Publish the metrics as Spaces: `evaluate.load("USER/video_contrast_mc")` then works for everybody."""
    from video_contrast.hub_cards.publishing import push_metric
    from video_contrast.metrics.evaluate_modules import MODULES, module

    for name in [module(name).name for name in names] if names else list(MODULES):
        say(f"{name}: {push_metric(name, user, private=private)}")
