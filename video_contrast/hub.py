"""One quick question to the Hub before its libraries ask: without a network they try again for a minute or more."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

from video_contrast.errors import UsageError

SECONDS = 5.0  # for the connection, and for the answer
RepoType = Literal["model", "dataset"]


def commit(name: str, *, revision: str | None = None, repo_type: RepoType = "model") -> str | None:
    """The commit that a repository's revision stands at.

    Args:
        name: owner/name, or a name alone.
        revision: branch, tag or commit; the main branch where None.
        repo_type: "model" or "dataset".

    Returns:
        The commit; None where the Hub cannot be reached: no network, no answer, out of order, or `HF_HUB_OFFLINE`.

    Raises:
        huggingface_hub.errors.HfHubHTTPError: the Hub answered, and there is no such repository or revision, or it is
            not for you.
        huggingface_hub.errors.HFValidationError: not the name of a repository.
    """
    from huggingface_hub import HfApi
    from huggingface_hub import errors as hub

    try:
        return HfApi().repo_info(name, repo_type=repo_type, revision=revision, timeout=SECONDS).sha
    except hub.HfHubHTTPError as error:
        if error.response.status_code >= 500:
            return None
        raise
    except Exception as error:  # the HTTP client's own classes, which are another library's
        if not of_the_connection(error):
            raise
        return None


def check_name(name: str, option: str) -> None:
    """Checks the name of a repository before anything is sent.

    Args:
        name: USER/NAME, or a name alone.
        option: that gave it, for the message.

    Raises:
        UsageError: no repository can be called so.
    """
    from huggingface_hub.errors import HFValidationError
    from huggingface_hub.utils import validate_repo_id

    try:
        validate_repo_id(name)
    except HFValidationError as error:
        raise UsageError(f"{option} {name}: no name of a repository on the Hub, such as USER/NAME") from error


def of_the_connection(error: Exception) -> bool:
    """Whether an error is the network's (of the library's HTTP client, which has changed its name before)."""
    from huggingface_hub.errors import OfflineModeIsEnabled

    if isinstance(error, ConnectionError | TimeoutError | OfflineModeIsEnabled):
        return True
    return any(base.__name__ in ("TransportError", "RequestException") for base in type(error).__mro__)


def answers(name: str, repo_type: RepoType = "model") -> bool:
    """Whether the Hub answers a question about a name, be it that there is none; False for what can be no name."""
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    try:
        return commit(name, repo_type=repo_type) is not None
    except HFValidationError:
        return False
    except HfHubHTTPError:
        return True


@contextmanager
def asked_once(name: str, repo_type: RepoType = "model") -> Iterator[None]:
    """Inside, a model or a data set is loaded, from the cache alone if it is no folder and the Hub does not answer.

    Args:
        name: Hub id or folder.
        repo_type: "model" or "dataset".
    """
    if Path(name).exists() or answers(name, repo_type):
        yield
    else:
        with offline():
            yield


@contextmanager
def offline() -> Iterator[None]:
    """Inside, the Hub's libraries read their caches and ask nobody."""
    import datasets.config
    import huggingface_hub.constants as constants

    former = constants.HF_HUB_OFFLINE, datasets.config.HF_HUB_OFFLINE
    constants.HF_HUB_OFFLINE = datasets.config.HF_HUB_OFFLINE = True
    try:
        yield
    finally:
        constants.HF_HUB_OFFLINE, datasets.config.HF_HUB_OFFLINE = former
