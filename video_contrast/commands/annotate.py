"""`video-contrast annotate write|judge|result|space`: pages on which people write and judge contrasts."""

import json
from pathlib import Path
from typing import Annotated, Literal

import typer

Folder = Annotated[Path, typer.Argument(metavar="DIR", help="A built set.")]
Config = Annotated[str, typer.Option(help="The config to show.")]
Split = Annotated[str, typer.Option(help="The split.")]
Output = Annotated[Path, typer.Option(help="File of answers; an existing one is gone on with.")]
Host = Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 lets others in.")]
Port = Annotated[int, typer.Option(help="Port of the page.")]
Root = Annotated[Path | None, typer.Option(help="Where the clips lie, if not in DIR.")]
Reviewer = Annotated[str, typer.Option(help="Word that opens the tab Review to others than this machine.")]
Seed = Annotated[int, typer.Option(help="Of the order of items and options.")]


def add(app: typer.Typer) -> None:
    """Adds the group `annotate`."""
    group = typer.Typer(
        no_args_is_help=True,
        help="Pages on which people write contrasts and judge them.",
        epilog="Example: video-contrast annotate judge sets/shapes --config verb_mc --output votes.jsonl",
    )
    for command in (_add_judge, _add_write, _add_result, _add_space):
        command(group)
    app.add_typer(group, name="annotate")


def _add_judge(group: typer.Typer) -> None:
    @group.command("judge", epilog="Example: video-contrast annotate judge sets/shapes --output votes.jsonl")
    def judge(
        folder: Folder,
        output: Output,
        config: Config = "verb_mc",
        split: Split = "test",
        people: Annotated[int, typer.Option(help="How many people judge each item.")] = 3,
        video_root: Root = None,
        host: Host = "127.0.0.1",
        port: Port = 7860,
        reviewer: Reviewer = "",
        seed: Seed = 0,
    ) -> None:
        """Open a local page: a video, its options shuffled, and "not clear"."""
        _serve("judge", folder, config, split, output, people, video_root, host, port, reviewer, seed)


def _add_write(group: typer.Typer) -> None:
    @group.command("write", epilog="Example: video-contrast annotate write sets/shapes --output written.jsonl")
    def write(
        folder: Folder,
        output: Output,
        config: Config = "verb_mc",
        split: Split = "test",
        people: Annotated[int, typer.Option(help="How many people write for each item.")] = 1,
        video_root: Root = None,
        host: Host = "127.0.0.1",
        port: Port = 7860,
        reviewer: Reviewer = "",
        seed: Seed = 0,
    ) -> None:
        """Open a local page: a video, its caption with the verb phrase marked, and a field for a false one."""
        _serve("write", folder, config, split, output, people, video_root, host, port, reviewer, seed)


def _add_result(group: typer.Typer) -> None:
    @group.command("result", epilog="Example: video-contrast annotate result sets/shapes --votes votes.jsonl")
    def result(
        folder: Folder,
        votes: Annotated[Path, typer.Option(help="File of answers.")],
        config: Config = "verb_mc",
        split: Split = "test",
        task: Annotated[Literal["judge", "write"], typer.Option(help="Which page's answers.")] = "judge",
        output: Annotated[Path | None, typer.Option(help="Write a set of the valid or written items.")] = None,
        record: Annotated[bool, typer.Option("--record", help="Put the human figures into DIR's card.")] = False,
        as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    ) -> None:
        """Say what the answers say, and export them as a set."""
        from video_contrast.reports.annotate.results import export_set, record_in_card, result_of

        found = result_of(folder, votes, config=config, split=split, task=task)
        if as_json:
            print(json.dumps(found, indent=2))
        else:
            for name, value in found.items():
                print(f"{name.replace('_', ' ')}: {value:.3f}" if isinstance(value, float) else f"{name}: {value}")
        if record:
            record_in_card(folder, config, found)
        if output is not None:
            print(export_set(folder, votes, output, config=config, split=split, task=task))


def _add_space(group: typer.Typer) -> None:
    @group.command("space", epilog="Example: video-contrast annotate space sets/shapes --output judge-space")
    def space(
        folder: Folder,
        output: Annotated[Path, typer.Option(help="The Space's folder, new or empty.")],
        task: Annotated[Literal["judge", "write"], typer.Option(help="Which page.")] = "judge",
        config: Config = "verb_mc",
        split: Split = "test",
        people: Annotated[int, typer.Option(help="How many people answer each item.")] = 3,
        video_root: Root = None,
        seed: Seed = 0,
    ) -> None:
        """Write a page as a folder that is a Gradio Space. Pushing it publishes the clips: may you?"""
        from video_contrast.reports.annotate.space import write_space

        print(
            write_space(
                folder, output, task=task, config=config, split=split, people=people, seed=seed, video_root=video_root
            )
        )


def _serve(
    task: Literal["judge", "write"], folder: Path, config: str, split: str, output: Path, people: int,
    video_root: Path | None, host: str, port: int, reviewer: str, seed: int,
) -> None:  # fmt: skip
    from video_contrast.errors import UsageError
    from video_contrast.reports.annotate.pages import app, launch_options
    from video_contrast.reports.annotate.results import rows_of
    from video_contrast.reports.annotate.tasks import Desk
    from video_contrast.reports.annotate.votes import Votes

    root = video_root if video_root is not None else folder
    desk = Desk(rows_of(folder, config, split), Votes(output, task), per_item=people, seed=seed)
    # Who may see the page from elsewhere must not see the truth: without a word, the tab is for this machine alone.
    mine = host in ("127.0.0.1", "localhost", "::1")
    page = app(desk, root, title=f"{task} {config}", reviewer=reviewer or ("" if mine else None))
    try:
        page.launch(
            server_name=host, server_port=port, quiet=True, prevent_thread_lock=True, **launch_options(desk, root)
        )
    except OSError as error:
        raise UsageError(f"--port {port} is in use on {host}; give another") from error
    print(f"http://{host}:{port}  (Ctrl-C stops; every answer is in {output} at once)", flush=True)
    page.block_thread()
