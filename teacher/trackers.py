"""Trackers of a training, by name: whether one can be used is said before any work begins."""

import importlib.util
import os
from pathlib import Path

from video_contrast.errors import UsageError


def check_tracker(name: str) -> None:
    """Checks that a tracker is installed, and that one that sends what it is told has credentials.

    Raises UsageError: it is not, or it has none.
    """
    if name == "none":
        return
    if importlib.util.find_spec(name) is None:
        raise UsageError(f"--report-to {name}: the package {name} is not installed; `pip install {name}`")
    if name == "wandb" and os.environ.get("WANDB_MODE") not in ("offline", "disabled") and not _wandb_key():
        raise UsageError(
            "--report-to wandb: no credentials; run `wandb login`, set WANDB_API_KEY, or WANDB_MODE=offline to keep "
            "the logs here"
        )
    if name == "trackio" and os.environ.get("TRACKIO_SPACE_ID"):
        from huggingface_hub import get_token

        if not get_token():
            raise UsageError(
                "--report-to trackio: TRACKIO_SPACE_ID names a Space, and there are no credentials; run `hf auth "
                "login`, or unset it to keep the logs here"
            )


def _wandb_key() -> bool:
    import netrc

    if os.environ.get("WANDB_API_KEY"):
        return True
    path = Path(os.environ.get("NETRC") or Path.home() / ".netrc")
    try:
        return netrc.netrc(str(path)).authenticators("api.wandb.ai") is not None
    except (OSError, netrc.NetrcParseError):
        return False
