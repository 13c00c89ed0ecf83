"""Putting things on the Hub: a built set, a metric's Space, a model's results.

Uploads are made of several commits, videos first and the tables and the card last, so a repository never shows rows
whose clips are not there yet. Files that the repository already holds are not sent again: an interrupted push is
finished by the same call. Nothing is published that `refusals` objects to. Pushed clips stand beside their rows in a
column `video` of the type `datasets.Video`, which the Hub's viewer plays, and which this package leaves out on reading.
"""

import json
import re
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote

import pyarrow as pa
import pyarrow.parquet as pq
import yaml

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import Json, is_safe_relative, resolve_under, sha256
from video_contrast.hub import of_the_connection
from video_contrast.hub_cards.licences import licence_fields
from video_contrast.hub_cards.markdown import render
from video_contrast.storage import SetFolder
from video_contrast.storage.set_folder import CARD, CROISSANT, PLAYED
from video_contrast.version import __version__
from video_contrast.video import Clip

if TYPE_CHECKING:
    import datasets
    from huggingface_hub import HfApi


RepoType = Literal["dataset", "space", "model"]
ANYWHERE = "THIS_REPOSITORY_OR_FOLDER"  # stands in the example of the card of a set on a disk
COMMIT_FILES = 200  # files a commit, at most
COMMIT_BYTES = 500_000_000
Step = Callable[[int, int, int], None]  # files done, files in all, bytes done


@dataclass(frozen=True)
class Push:
    """The files of a push and their paths in the repository, in the order in which they go up."""

    videos: tuple[tuple[str, Path], ...]  # clips, as (path in the repository, file)
    tables: tuple[tuple[str, Path], ...]  # parquet, record, card
    licence: str  # of the set, for the question before videos are published
    new_licence: str | None = None  # that the set's own card does not have

    @property
    def size(self) -> int:
        """Bytes in all."""
        return sum(file.stat().st_size for _, file in (*self.videos, *self.tables))


def plan_set(
    folder: str | Path, *, with_videos: bool = False, video_root: str | Path | None = None, licence: str | None = None
) -> Push:
    """The push of a built set, checked.

    `with_videos`: the clips of its rows too, which lie where the set says by default. `licence`: of a set whose card
    has none: the Hub's name of one, or words. Raises UsageError: no such folder, not a built set, or no licence is
    known; VideoContrastError: something in it must not be published (see `refusals`), or a clip is missing.
    """
    dataset = SetFolder.open(folder)
    root = dataset.path
    if not dataset.is_built or not dataset.has_card:
        raise UsageError(f"{root} is not a built set (no set.json and README.md); make one with `video-contrast build`")
    problems = refusals(dataset)
    if problems:
        raise VideoContrastError(f"{root} was not published: " + "; ".join(problems))
    videos: list[tuple[str, Path]] = []
    if with_videos:
        videos = clips(dataset, Path(video_root) if video_root is not None else dataset.video_root)
    facts = dataset.record.get("facts", {})
    header = yaml.safe_load((root / CARD).read_text(encoding="utf-8").split("---\n", 2)[1])
    on_record = facts.get("licence") or facts.get("licence_id") or header.get("license")
    if on_record and licence:
        raise UsageError(f"--licence: {root} has one on record, {on_record!r}")
    if not (on_record or licence):
        raise UsageError(f"{root} has no licence on record: give --licence, the Hub's name of one (cc-by-4.0) or words")
    files = tuple((file.relative_to(root).as_posix(), file) for file in dataset.published_files())
    return Push(tuple(videos), files, str(licence or on_record), licence)


def push_set(
    push: Push, repo: str, *, private: bool = False, revision: str | None = None, step: Step | None = None
) -> str:
    """Publishes a planned set as a data set repository (NAME or USER/NAME), and returns its address.

    `private`: only a new repository is made so. `revision`: a branch, made if there is none. Raises VideoContrastError:
    no permission, no network, or the upload broke; the message says what to do.
    """
    with tempfile.TemporaryDirectory() as temporary:
        stages = push.videos, _tables(push, repo, revision, Path(temporary))
        message = "Publish a set made with video-contrast"
        return upload(stages, repo, "dataset", message=message, private=private, revision=revision, step=step)


def _tables(push: Push, repo: str, revision: str | None, folder: Path) -> list[tuple[str, Path]]:
    """The files that go up beside the videos: the card names the repository, so that its example can be copied and run.

    With videos the tables have the column in which the Hub's viewer plays them.
    """
    files = dict(push.tables)
    text = files[CARD].read_text(encoding="utf-8").replace(ANYWHERE, repo)
    if push.videos:
        with explained(repo):
            owner = repo if "/" in repo else f"{client_api().whoami()['name']}/{repo}"
        for path, file in push.tables:
            if file.suffix == ".parquet":
                files[path] = folder / path
                files[path].parent.mkdir(exist_ok=True)
                pq.write_table(with_videos(file, owner, revision), files[path], compression="zstd")
    if push.videos or push.new_licence:
        text = pushed_card(text, licence=push.new_licence, videos=bool(push.videos))
        if CROISSANT in files:
            croissant = json.loads(files[CROISSANT].read_text(encoding="utf-8"))
            if push.new_licence:
                croissant["license"] = push.new_licence
            for entry in croissant["distribution"]:
                if file_of_entry := files.get(entry["contentUrl"]):
                    entry |= {"contentSize": f"{file_of_entry.stat().st_size} B", "sha256": sha256(file_of_entry)}
            files[CROISSANT] = folder / CROISSANT
            files[CROISSANT].write_text(json.dumps(croissant, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")
    files[CARD] = folder / CARD
    files[CARD].write_bytes(text.encode("utf-8"))
    return list(files.items())


def upload(
    stages: Sequence[Sequence[tuple[str, Path]]], repo: str, kind: RepoType, *, message: str, private: bool = False,
    revision: str | None = None, step: Step | None = None, **create: Any,  # each of its own type
) -> str:  # fmt: skip
    """Creates the repository if needed and commits the files, stage after stage; returns its address.

    `stages`: lists of (path in the repository, file). `create`: arguments of `HfApi.create_repo` (`space_sdk`).
    """
    from huggingface_hub import CommitOperationAdd

    client = client_api()
    chunks = [chunk for stage in stages for chunk in _chunks(stage)]
    total = sum(map(len, chunks))
    n_files = n_bytes = 0
    with explained(repo, resumable=True):
        address = client.create_repo(repo, repo_type=kind, private=private, exist_ok=True, **create)
        name = address.repo_id
        if revision is not None:
            client.create_branch(name, branch=revision, repo_type=kind, exist_ok=True)
        for chunk in chunks:
            batch = [CommitOperationAdd(path_in_repo=path, path_or_fileobj=file) for path, file in chunk]
            client.create_commit(name, batch, commit_message=message, repo_type=kind, revision=revision, num_threads=4)
            n_files, n_bytes = n_files + len(chunk), n_bytes + sum(file.stat().st_size for _, file in chunk)
            if step:
                step(n_files, total, n_bytes)
    return str(address)


def client_api() -> "HfApi":
    """The Hub's client as the environment says (HF_TOKEN, HF_ENDPOINT)."""
    from huggingface_hub import HfApi

    return HfApi(library_name="video-contrast")


@contextmanager
def explained(repo: str, *, resumable: bool = False) -> Iterator[None]:
    """Turns the Hub client's errors into a `VideoContrastError`, one sentence that says what to do."""
    from huggingface_hub import errors

    again = "; run the same command again, what was sent is not sent again" if resumable else ""
    try:
        yield
    except Exception as error:
        # Of a file that could not be uploaded the client says which, and has the reason as the cause.
        reason = error.__cause__ if type(error) is RuntimeError and error.__cause__ is not None else error
        of_http = isinstance(reason, errors.HfHubHTTPError)
        status = getattr(getattr(reason, "response", None), "status_code", 0)
        if isinstance(reason, errors.HFValidationError):
            raise UsageError(f"{repo!r} is not a repository's name: {reason}") from error
        if isinstance(reason, errors.LocalTokenNotFoundError):
            explanation = "not logged in; run `hf auth login` or set HF_TOKEN"
        elif isinstance(reason, errors.OfflineModeIsEnabled):
            explanation = "HF_HUB_OFFLINE is set, so nothing can be sent; unset it"
        elif of_http and status in (401, 403):
            log_in = "log in with `hf auth login`, with a token that may write to it"
            explanation = f"no permission to write there (HTTP {status}); {log_in}"
        elif of_http and status == 404:
            explanation = "no such repository or branch, or no permission to see it (HTTP 404)"
        elif of_http:
            explanation = f"the Hub answered HTTP {status}{again}"
        elif isinstance(reason, Exception) and of_the_connection(reason):
            explanation = f"the connection broke ({type(reason).__name__}){again}"
        else:
            raise
        raise VideoContrastError(f"{repo}: {explanation}") from error


def _chunks(files: Sequence[tuple[str, Path]]) -> Iterator[list[tuple[str, Path]]]:
    chunk: list[tuple[str, Path]] = []
    size = 0
    for path, file in files:
        weight = file.stat().st_size
        if chunk and (len(chunk) >= COMMIT_FILES or size + weight > COMMIT_BYTES):
            yield chunk
            chunk, size = [], 0
        chunk.append((path, file))
        size += weight
    if chunk:
        yield chunk


def with_videos(table: Path, repo: str, revision: str | None = None) -> pa.Table:
    """A table with the column; its schema tells `datasets` the type. Empty for edited clips, which are no file.

    `table`: a parquet file of a set. `revision`: the branch with the clips; the main one by default.
    """
    place = f"{repo}@{quote(revision, safe='')}" if revision else repo
    rows = pq.read_table(table)
    recipes = rows["segments"].to_pylist() if "segments" in rows.column_names else [None] * len(rows)
    videos = [
        None if segments else {"bytes": None, "path": f"hf://datasets/{place}/{path}"}
        for path, segments in zip(rows["video_path"].to_pylist(), recipes, strict=True)
    ]
    field = _feature().arrow_schema.field(PLAYED)
    whole = rows.append_column(field, pa.array(videos, field.type))
    metadata = {key: value for key, value in (rows.schema.metadata or {}).items() if key != b"huggingface"}
    return whole.replace_schema_metadata(metadata)  # the card has the features, of all columns


def pushed_card(card: str, *, licence: str | None, videos: bool) -> str:
    """The card of a set as it is pushed. `card`: markdown with YAML, as on disk. `licence`: where the card has none."""
    _, header, body = card.split("---\n", 2)
    front = yaml.safe_load(header)
    if licence:
        front |= licence_fields(licence)
        body = body.replace("not stated by the builder: the licence of the source holds", licence)
    if videos:
        infos = front["dataset_info"]
        for info in [infos] if isinstance(infos, dict) else infos:
            info["features"] += _feature()._to_yaml_list()
        body = body.replace(
            "not included, unless this folder holds them; rows hold ids and relative paths",
            "in the column `video` (the whole file, of which `start` and `end` say the span)",
        )
    return f"---\n{yaml.safe_dump(front, sort_keys=True, allow_unicode=True, width=100)}---\n{body}"


def _feature() -> "datasets.Features":
    import datasets

    return datasets.Features({PLAYED: datasets.Video()})


# An absolute path of two or more parts as a whole value: "/data/x.mp4", "C:\\videos\\x.mp4", "file:///...", "~/x"
_ABSOLUTE = re.compile(r"(?:file://|~/|[A-Za-z]:[\\/]|\\\\|/)[^\s/\\]+[/\\].*", re.S)
_AS_WRITTEN = ("candidates", "captions", "replaced", "kinds")  # people's words, which may look like anything


def refusals(folder: SetFolder) -> list[str]:
    """Why a built set must not be published, a sentence each; empty if it may."""
    problems = [
        f"set.json, {where}: holds the absolute path {value!r}; build the set again with relative paths"
        for where, value in _strings(folder.record)
        if _ABSOLUTE.fullmatch(value)
    ]
    tables = [file for file in folder.published_files() if file.suffix == ".parquet"]
    for file in tables:
        name, schema = file.relative_to(folder.path).as_posix(), pq.read_schema(file)
        with_bytes = [field for field in schema if _holds_bytes(field.type)]
        problems += [
            f"{name}, column {field.name!r}: holds bytes ({field.type}); a published set holds ids and relative paths "
            "only"
            for field in with_bytes
        ]
        nested_columns = [f.name for f in schema if f.name not in _AS_WRITTEN and not pa.types.is_primitive(f.type)]
        columns = [] if with_bytes else nested_columns
        table = pq.read_table(file, columns=columns)
        for column in columns:
            rows = ((number, _problem(column, value)) for number, value in enumerate(table[column].to_pylist()))
            # One example a column is enough; a whole column of paths would fill the screen.
            if first := next((row for row in rows if row[1]), None):
                problems.append(f"{name}, row {first[0]}, column {column!r}: {first[1]}")
    if not tables:
        problems.append("it holds no parquet file")
    return problems


def clips(folder: SetFolder, root: Path, tables: Sequence[tuple[str, str]] | None = None) -> list[tuple[str, Path]]:
    """The distinct clips of a set that lie under `root`: (relative path, file), sorted.

    `tables`: (config, split) of those that are asked for; all where None. Raises VideoContrastError: one is missing;
    the message says how many are.
    """
    rows = (row for table in tables or folder.tables() for row in folder.rows(*table))
    paths = sorted({path for row in rows for path in Clip.of(row).paths})
    files = [(path, resolve_under(root, path)) for path in paths]
    missing = [path for path, file in files if not file.is_file()]
    if missing:
        raise VideoContrastError(
            f"{len(missing)} of {len(files)} clips are not in {root}, the first is {missing[0]}; give --video-root"
        )
    return files


def _problem(column: str, value: Json) -> str:
    if column == "video_path" and value is not None and not is_safe_relative(value):
        return f"{value!r} is not relative to the video root"
    if column == "meta" and str(value).startswith("{"):
        try:
            value = json.loads(value)
        except ValueError:
            return "is not JSON"
    absolute = next((text for _, text in _strings(value) if _ABSOLUTE.fullmatch(text)), None)
    return f"holds the absolute path {absolute!r}" if absolute else ""


def _holds_bytes(kind: pa.DataType) -> bool:
    if pa.types.is_nested(kind):
        return any(_holds_bytes(kind.field(n).type) for n in range(kind.num_fields))
    binary = (pa.types.is_binary, pa.types.is_large_binary, pa.types.is_fixed_size_binary)
    return any(is_binary(kind) for is_binary in binary)


def _strings(value: Json, where: str = "") -> Iterator[tuple[str, str]]:
    """(where, text) for every text inside of nested values."""
    if isinstance(value, str):
        yield where, value
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            yield from _strings(inner, f"{where}.{key}" if where else str(key))
    elif isinstance(value, list | tuple):
        for number, inner in enumerate(value):
            yield from _strings(inner, f"{where}[{number}]")


def space_card(name: str, *, body: str = "") -> str:
    """The card of a metric's Space: the YAML that the Hub needs to run it, and the metric's own card in markdown.

    Without a `body` of its own the card holds the metric's one-line summary.
    """
    from video_contrast.metrics.evaluate_modules import module

    return render("space.md.jinja", module=module(name), gradio=gradio_version(), version=__version__, body=body)


def gradio_version() -> str:
    """The version of Gradio that a Space asks for: the installed one, else the one that pages were written for."""
    try:
        return version("gradio")
    except PackageNotFoundError:
        return "6.20.0"


def push_metric(name: str, user: str, *, private: bool = False) -> str:
    """Publishes a metric as the Space USER/NAME; returns its address. What is there already is not sent again.

    `user`: user or organisation. Raises UsageError: no such metric; VideoContrastError: no permission or no network.
    """
    from video_contrast.metrics.evaluate_modules import write_space

    with tempfile.TemporaryDirectory() as temporary:
        folder = write_space(name, Path(temporary) / name)
        card = folder / "README.md"
        text = card.read_text(encoding="utf-8") if card.exists() else ""
        if not text.startswith("---\n"):
            card.write_text(space_card(name, body=text), encoding="utf-8")
        files = [(file.name, file) for file in sorted(folder.iterdir())]
        message = f"Publish the metric {name}"
        return upload((files,), f"{user}/{name}", "space", message=message, private=private, space_sdk="gradio")
