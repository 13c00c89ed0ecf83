"""`video-contrast annotate write|judge|result|space`: pages on which people write and judge contrasts."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from video_contrast.commands.command import Command, Group
from video_contrast.console import AsJson
from video_contrast.errors import UsageError
from video_contrast.options import Config, Seed, SetPath, Split, VideoRoot

Task = Annotated[Literal["judge", "write"], "which page"]
People = Annotated[int, "how many people answer each item"]


@dataclass(frozen=True, kw_only=True)
class Items:
    """Which items of a set a page shows, in which order."""

    config: Config = "verb_mc"
    split: Split = "test"
    video_root: VideoRoot = None
    seed: Seed = 0


@dataclass(frozen=True, kw_only=True)
class Server:
    """Where a local page is and where its answers go."""

    output: Annotated[Path, "file of answers; an existing one is gone on with"]
    host: Annotated[str, "address to listen on; 0.0.0.0 lets others in"] = "127.0.0.1"
    port: Annotated[int, "port of the page"] = 7860
    reviewer: Annotated[str, "word that opens the tab Review to others than this machine"] = ""


def commands() -> list[Command | Group]:
    """The group `annotate`."""
    name = "video-contrast annotate"
    return [
        Group(
            "annotate",
            "Pages on which people write contrasts and judge them.",
            f"{name} judge sets/shapes --config verb_mc --output votes.jsonl",
        ),
        Command("annotate judge", judge, f"{name} judge sets/shapes --output votes.jsonl"),
        Command("annotate write", write, f"{name} write sets/shapes --output written.jsonl"),
        Command("annotate result", result, f"{name} result sets/shapes --votes votes.jsonl"),
        Command("annotate space", space, f"{name} space sets/shapes --output judge-space"),
    ]


def judge(dataset: SetPath, *, items: Items, server: Server, people: People = 3) -> None:
    """Open a local page: a video, its candidates shuffled, and "not clear"."""
    _serve("judge", dataset, items=items, server=server, people=people)


def write(dataset: SetPath, *, items: Items, server: Server, people: People = 1) -> None:
    """Open a local page: a video, its caption with the verb phrase marked, and a field for a false one."""
    _serve("write", dataset, items=items, server=server, people=people)


def result(
    dataset: SetPath,
    *,
    votes: Annotated[Path, "file of answers"],
    config: Config = "verb_mc",
    split: Split = "test",
    task: Task = "judge",
    output: Annotated[Path | None, "write a set of the valid or written items"] = None,
    record: Annotated[bool, "put the human figures into the set's card"] = False,
    as_json: AsJson = False,
) -> None:
    """Say what the answers say, and export them as a set."""
    from video_contrast.reports.annotate.results import export_set, record_in_card, result_of

    figures = result_of(dataset, votes, config=config, split=split, task=task)
    if as_json:
        print(json.dumps(figures, indent=2))
    else:
        for name, value in figures.items():
            print(f"{name.replace('_', ' ')}: {value:.3f}" if isinstance(value, float) else f"{name}: {value}")
    if record:
        record_in_card(dataset, config, figures)
    if output is not None:
        print(export_set(dataset, votes, output, config=config, split=split, task=task))


def space(
    dataset: SetPath,
    *,
    items: Items,
    output: Annotated[Path, "the Space's folder, new or empty"],
    task: Task = "judge",
    people: People = 3,
) -> None:
    """Write a page as a folder that is a Gradio Space. Pushing it publishes the clips: may you?"""
    from video_contrast.reports.annotate.space import write_space

    print(
        write_space(
            dataset,
            output,
            task=task,
            config=items.config,
            split=items.split,
            people=people,
            seed=items.seed,
            video_root=items.video_root,
        )
    )


def _serve(task: Literal["judge", "write"], dataset: Path, *, items: Items, server: Server, people: int) -> None:
    if not 0 < server.port < 65536:
        raise UsageError(f"--port must be 1 to 65535, not {server.port}")
    from video_contrast.reports.annotate.pages import app, launch_options
    from video_contrast.reports.annotate.tasks import Desk
    from video_contrast.reports.annotate.votes import Votes
    from video_contrast.storage import open_set

    root = items.video_root if items.video_root is not None else dataset
    rows = open_set(dataset).choice_rows(items.config, items.split)
    desk = Desk(rows, Votes(server.output, task), per_item=people, seed=items.seed)
    # Who may see the page from elsewhere must not see the truth: without a word, the tab is for this machine alone.
    local = server.host in ("127.0.0.1", "localhost", "::1")
    page = app(desk, root, title=f"{task} {items.config}", reviewer=server.reviewer or ("" if local else None))
    try:
        page.launch(
            server_name=server.host,
            server_port=server.port,
            quiet=True,
            prevent_thread_lock=True,
            **launch_options(desk, root),
        )
    except OSError as error:
        raise UsageError(f"--port {server.port} is in use on {server.host}; give another") from error
    address = f"http://{server.host}:{server.port}"
    print(f"{address}  (Ctrl-C stops; every answer is in {server.output} at once)", flush=True)
    page.block_thread()
