"""One quick question to the Hub before its libraries ask (without a network they try for a minute), and its errors."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Literal

from video_contrast.errors import UsageError, VideoContrastError

SECONDS = 5.0  # for the connection, and for the answer
RepoType = Literal["model", "dataset"]


def commit(name: str, *, revision: str | None = None, repo_type: RepoType = "model") -> str | None:
    """The commit that a repository's revision (branch, tag or commit; the main branch where None) stands at.

    Returns None where the Hub cannot be reached: no network, no answer, out of order, or `HF_HUB_OFFLINE`. Raises
    huggingface_hub.errors.HfHubHTTPError: the Hub answered, and there is no such repository or revision, or it is not
    for you; huggingface_hub.errors.HFValidationError: not the name of a repository.
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
    """Raises a UsageError for a name that no repository can have; `option`: that gave it, for the message."""
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


def answers(name: str) -> bool:
    """Whether the Hub answers a question about a model, be it that there is none; False for what can be no name."""
    from huggingface_hub.errors import HfHubHTTPError, HFValidationError

    try:
        return commit(name) is not None
    except HFValidationError:
        return False
    except HfHubHTTPError:
        return True


@contextmanager
def asked_once(model: str) -> Iterator[None]:
    """Inside, a model (a folder or a name) is loaded, from the cache alone if it is no folder and the Hub is silent."""
    with nullcontext() if Path(model).exists() or answers(model) else offline():
        yield


@contextmanager
def set_of_hub(name: str, option: str = "") -> Iterator[None]:
    """Inside, a data set is loaded, from the cache alone where the Hub is silent; what goes wrong is `explained`."""
    with (
        explained(name, option, repo_type="dataset"),
        nullcontext() if commit(name, repo_type="dataset") else offline(),
    ):
        yield


@contextmanager
def explained(
    name: str, option: str = "", *, revision: str | None = None, repo_type: RepoType = "model"
) -> Iterator[None]:
    """Inside, an error of the Hub's libraries becomes one sentence with what to do about it.

    `option`: that named the repository. Raises UsageError: there can be none so called, or it has no such config;
    VideoContrastError: it cannot be had.
    """
    try:
        yield
    except Exception as error:
        ours, of_datasets = isinstance(error, VideoContrastError), type(error).__module__.startswith("datasets.")
        if ours or not (of_datasets or isinstance(error, OSError | ValueError) or of_the_connection(error)):
            raise
        kind = UsageError if isinstance(error, ValueError) else VideoContrastError
        raise kind(f"{option} {name}".strip() + _reason(error, name, revision, repo_type)) from error


def _reason(error: Exception, name: str, revision: str | None, repo_type: RepoType) -> str:
    from huggingface_hub import errors as hub

    address, what, flags = f"https://huggingface.co/{name}", "model", ""
    if repo_type == "dataset":
        address, what, flags = f"https://huggingface.co/datasets/{name}", "data set", " --repo-type dataset"
    get = f"`hf download {name}{flags}{f' --revision {revision}' if revision else ''}`"
    if isinstance(error, hub.GatedRepoError):
        return f" is gated: accept its terms at {address} and run `hf auth login`"
    if isinstance(error, hub.RevisionNotFoundError):
        return f" has no revision {revision!r} on the Hub"
    if isinstance(error, hub.RepositoryNotFoundError):
        return f": no such folder or file here, nor such a public {what} on the Hub (private ones need `hf auth login`)"
    if isinstance(error, hub.HFValidationError):
        return ": no such folder or file, and not a Hub id (owner/name)"
    silent = "there is no network (or HF_HUB_OFFLINE is set)"
    if isinstance(error, hub.IncompleteSnapshotError):
        return f": the Hub cache holds only a part of it (a download was broken off), and {silent}; complete it: {get}"
    if isinstance(error, hub.LocalEntryNotFoundError) or of_the_connection(error):
        return f": no such folder or file here, it is not in the Hub cache, and {silent}; get it with {get}"
    return f" cannot be fetched from the Hub: {error}; try {get}"


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
