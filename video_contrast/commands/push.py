"""`video-contrast push DATASET REPO`: a built set, or a run's results, onto the Hub."""

import sys
from pathlib import Path
from typing import Annotated

from video_contrast.commands.command import command
from video_contrast.console import AsJson, counted, is_quiet, tell
from video_contrast.errors import UsageError
from video_contrast.options import Flag, VideoRoot
from video_contrast.storage import RunFolder
from video_contrast.storage.run_notes import missing_clips


@command("push", "video-contrast push sets/shapes me/shapes-contrast --private")
def push(
    folder: Annotated[Path, "a built set, the directory of a finished run, or a certificate", Flag("DATASET")],
    repo: Annotated[str, "name on the Hub, USER/NAME"],
    *,
    private: Annotated[bool, "make a new repository private"] = False,
    with_videos: Annotated[bool, "publish the clips too; asks about the licence first"] = False,
    video_root: VideoRoot = None,
    licence: Annotated[str | None, "of a set whose card has none: the Hub's name of one (cc-by-4.0), or words"] = None,
    revision: Annotated[str | None, "branch to write to; created if absent"] = None,
    dataset: Annotated[str | None, "for a run: its set's name on the Hub, USER/NAME"] = None,
    to_main: Annotated[bool, "for a run: commit to the main branch instead of a pull request"] = False,
    max_missing: Annotated[float | None, "for a run: share of its clips that may be missing (default: none)"] = None,
    yes: Annotated[bool, "answer the licence question with yes (scripts)"] = False,
    dry_run: Annotated[bool, "check, and list what would be sent; nothing is sent"] = False,
    as_json: AsJson = False,
) -> None:
    """Publish a built set on the Hub; `load_dataset(REPO, CONFIG)` then works anywhere.

    The directory of a run sends its results to the model REPO, as a pull request. An interrupted push is finished by
    the same command. Videos stay where they are unless asked for.
    """
    from video_contrast.hub import check_name
    from video_contrast.hub_cards.publishing import plan_set, push_set
    from video_contrast.hub_cards.results import check_whole, push_certificate, push_results, results_of
    from video_contrast.storage.certificates import read_certificate

    check_name(repo, "REPO")
    if folder.is_file():
        read_certificate(str(folder))
        address = "" if dry_run else push_certificate(folder, repo, pull_request=not to_main)
        address = address or f"{folder.name} to {repo}; nothing was sent"
        tell({"address": address}, [address], as_json)
        return
    if RunFolder(folder).is_finished:
        if dataset is None:
            raise UsageError(f"{folder} is a run: give --dataset USER/NAME, the set on the Hub that it was scored on")
        check_name(dataset, "--dataset")
        check_whole(folder, max_missing)
        if dry_run:
            rows, record = results_of(folder, dataset), RunFolder(folder).record
            lines = [f"{row['task']} {row['metric']}: {row['value']} (n = {row['items']:,})" for row in rows]
            if record.get("n_missing"):
                lines.append(f"{missing_clips(record)} missing; the notes of every result say so")
            lines.append(f"{counted(len(rows), 'result')} to {repo}; nothing was sent")
            tell({"repo": repo, "results": rows, "n_missing": record.get("n_missing", 0)}, lines, as_json, print)
            return
        address = push_results(folder, repo, dataset=dataset, pull_request=not to_main, max_missing=max_missing)
        tell({"address": address}, [address], as_json)
        return
    push = plan_set(folder, with_videos=with_videos, video_root=video_root, licence=licence)
    files = [name for name, _ in (*push.videos, *push.tables)]
    if dry_run:
        size = f"{counted(len(files), 'file')}, {push.size / 1e6:.1f} MB"
        plan = {"repo": repo, "files": files, "bytes": push.size, "licence": push.licence}
        tell(plan, [*files, f"{size} to {repo}; nothing was sent"], as_json, print)
        return
    if push.videos and not yes:
        _ask(len(push.videos), push.licence)

    from tqdm import tqdm

    hidden = is_quiet() or as_json
    with tqdm(total=push.size, desc="sent", unit="B", unit_scale=True, disable=hidden, file=sys.stderr) as bar:

        def step(done: int, total: int, sent: int) -> None:
            bar.set_postfix_str(f"{done} of {total} files", refresh=False)
            bar.update(sent - bar.n)

        address = push_set(push, repo, private=private, revision=revision, step=step)
    report = {"address": address, "files": len(files), "videos": len(push.videos), "bytes": push.size}
    tell(report, [address], as_json)


def _ask(count: int, licence: str) -> None:
    question = (
        f"{counted(count, 'video file')} will be published. Licence on record: {licence}. "
        "Are you allowed to publish these videos under the repository's terms?"
    )
    if not sys.stdin.isatty():
        raise UsageError(f"{question} Nobody is there to ask: add --yes if you are")
    if input(f"{question} [y/N] ").strip().lower() not in ("y", "yes"):
        raise UsageError("not published: the licence question was answered with no")
