"""`video-contrast push DIR REPO`: a built set onto the Hub."""

import json
import sys
from pathlib import Path
from typing import Annotated

import typer


def add(app: typer.Typer) -> None:
    """Adds the command `push`."""

    @app.command("push", epilog="Example: video-contrast push sets/shapes me/shapes-contrast --private")
    def push(
        folder: Annotated[Path, typer.Argument(metavar="DIR", help="A built set, or the directory of a finished run.")],
        repo: Annotated[str, typer.Argument(metavar="REPO", help="Name on the Hub, USER/NAME.")],
        private: Annotated[bool, typer.Option("--private", help="Make a new repository private.")] = False,
        with_videos: Annotated[
            bool, typer.Option("--with-videos", help="Publish the clips too; asks about the licence first.")
        ] = False,
        video_root: Annotated[Path | None, typer.Option(help="Where the clips lie, if not in DIR.")] = None,
        revision: Annotated[str | None, typer.Option(help="Branch to write to; made if there is none.")] = None,
        dataset: Annotated[str | None, typer.Option(help="For a run: its set's name on the Hub, USER/NAME.")] = None,
        to_main: Annotated[bool, typer.Option("--to-main", help="For a run: no pull request.")] = False,
        yes: Annotated[bool, typer.Option("--yes", help="Answer the licence question with yes (scripts).")] = False,
        quiet: Annotated[bool, typer.Option("--quiet", help="Print nothing but the address.")] = False,
        as_json: Annotated[bool, typer.Option("--json", help="Print the address and what was sent as JSON.")] = False,
    ) -> None:
        """Publish a built set on the Hub: tables and card. `load_dataset(REPO, CONFIG)` then works anywhere.

        The directory of a run sends its results to the model REPO, as a pull request. An interrupted push is finished
        by the same command. Videos stay where they are unless asked for.
        """
        from video_contrast.hub_cards.publishing import plan_set, push_set

        if (folder / "run.json").is_file():
            address = _push_run(folder, repo, dataset, pull_request=not to_main)
            print(json.dumps({"address": address}) if as_json else address)
            return
        planned = plan_set(folder, with_videos=with_videos, video_root=video_root)
        if planned.videos and not yes:
            _ask(len(planned.videos), planned.licence)

        from tqdm import tqdm

        hidden = quiet or as_json
        with tqdm(total=planned.size, desc="sent", unit="B", unit_scale=True, disable=hidden, file=sys.stderr) as bar:

            def step(done: int, total: int, sent: int) -> None:
                bar.set_postfix_str(f"{done} of {total} files", refresh=False)
                bar.update(sent - bar.n)

            address = push_set(planned, repo, private=private, revision=revision, step=step)
        count = len(planned.videos) + len(planned.tables)
        found = {"address": address, "files": count, "videos": len(planned.videos), "bytes": planned.size}
        print(json.dumps(found) if as_json else address)


def _push_run(folder: Path, repo: str, dataset: str | None, *, pull_request: bool) -> str:
    from video_contrast.errors import UsageError
    from video_contrast.hub_cards.results import push_results

    if dataset is None:
        raise UsageError(f"{folder} is a run: give --dataset USER/NAME, the set on the Hub that it was scored on")
    return push_results(folder, repo, dataset=dataset, pull_request=pull_request)


def _ask(count: int, licence: str) -> None:
    from video_contrast.errors import UsageError

    question = (
        f"{count} video files will be published. Licence on record: {licence}. "
        "Are you allowed to publish these videos under the repository's terms?"
    )
    if not sys.stdin.isatty():
        raise UsageError(f"{question} Nobody is there to ask: add --yes if you are")
    if not typer.confirm(question, default=False):
        raise UsageError("not published: the licence question was answered with no")
