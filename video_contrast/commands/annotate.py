"""`video-contrast annotate write|judge|result|space|reading|reading-result`: pages on which people write, judge and
read contrasts.
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from video_contrast.commands.command import command, group
from video_contrast.console import AsJson, counted, print_json, say
from video_contrast.errors import UsageError
from video_contrast.options import Config, Seed, SetPath, Split
from video_contrast.reports.annotate import PageItems, blind_reading

Task = Annotated[Literal["judge", "write"], "which kind of page"]
People = Annotated[int, "how many people answer each item"]


@dataclass(frozen=True, kw_only=True)
class Server:
    """The address of a local page, and the file of its answers."""

    output: Annotated[Path, "file of answers; an existing one is continued"]
    host: Annotated[str, "address to listen on; 0.0.0.0 lets others in"] = "127.0.0.1"
    port: Annotated[int, "port of the page"] = 7860
    reviewer: Annotated[str, "password that opens the tab Review from other machines"] = ""


group(
    "annotate",
    "Pages on which people write contrasts and judge them.",
    "video-contrast annotate judge sets/shapes --config verb_mc --output votes.jsonl",
)


@command("annotate judge", "video-contrast annotate judge sets/shapes --output votes.jsonl")
def judge(dataset: SetPath, *, items: PageItems, server: Server, people: People = 3) -> None:
    """Open a local page: a video, its candidates shuffled, and "not clear"."""
    _serve("judge", dataset, items=items, server=server, people=people)


@command("annotate write", "video-contrast annotate write sets/shapes --output written.jsonl")
def write(dataset: SetPath, *, items: PageItems, server: Server, people: People = 1) -> None:
    """Open a local page: a video, its caption with the verb phrase marked, and a field for a false one."""
    _serve("write", dataset, items=items, server=server, people=people)


@command("annotate result", "video-contrast annotate result sets/shapes --votes votes.jsonl")
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
    """Print the figures of the answers, and export the valid or written items as a set."""
    from video_contrast.reports.annotate.results import export_set, record_in_card, result_of

    if record and task == "write":
        raise UsageError("--record puts the figures of judges into the card; leave it out with --task write")
    figures = result_of(dataset, votes, config=config, split=split, task=task)
    if as_json:
        print(json.dumps(figures, indent=2))
    else:
        for name, value in figures.items():
            print(f"{name.replace('_', ' ')}: {value:.3f}" if isinstance(value, float) else f"{name}: {value}")
    if record:
        record_in_card(dataset, config, figures)
    if output is not None:
        say(export_set(dataset, votes, output, config=config, split=split, task=task))


@command("annotate space", "video-contrast annotate space sets/shapes --output judge-space")
def space(
    dataset: SetPath,
    *,
    items: PageItems,
    output: Annotated[Path, "the Space's folder, new or empty"],
    task: Task = "judge",
    people: People = 3,
) -> None:
    """Write a page as the folder of a Gradio Space. Pushing it publishes the clips: check their licence."""
    from video_contrast.reports.annotate.pages import write_space

    say(write_space(dataset, output, task=task, people=people, items=items))


@command("annotate reading", "video-contrast annotate reading sets/shapes/verb_mc:50 --output reading")
def reading(
    sources: Annotated[list[str], "configs of sets, each as [NAME=]FOLDER/CONFIG[:COUNT]"],
    *,
    output: Annotated[Path, "folder of the page (page.html) and of its key (pairs.jsonl: not for readers)"],
    split: Split = "test",
    again: Annotated[int, "pairs shown a second time at the end, to see whether readers agree with themselves"] = 0,
    seed: Seed = 0,
) -> None:
    """Write a page of shuffled pairs of any sets for blind readers: is the edit natural, is it false?"""
    pair_sources = [blind_reading.PairSource.of(text) for text in sources]
    pairs, of_source = blind_reading.write_reading(pair_sources, output, split=split, seed=seed, again=max(0, again))
    say(f"{output / blind_reading.PAGE}: {counted(pairs, 'pair')}, for readers to open from disk")
    for name, n in sorted(of_source.items()):
        say(f"  {n} of {name}")


@command("annotate reading-result", "video-contrast annotate reading-result ann.tsv bob.tsv --reading reading")
def reading_result(
    votes: Annotated[list[Path], "files that readers saved; or one file of all votes"],
    *,
    reading: Annotated[Path | None, "folder of the page: its key tells the sources of readers' files"] = None,
    output: Annotated[Path | None, "write all votes as one table without captions"] = None,
    markdown: Annotated[bool, "print the table in markdown"] = False,
    as_json: AsJson = False,
) -> None:
    """Print what the readers of pairs voted: shares by source, and how far readers agree."""
    from video_contrast.reports import table_formats

    if reading is None:
        if len(votes) > 1:
            raise UsageError("files of several readers need --reading FOLDER, which knows the sources of the pairs")
        rows, again = blind_reading.read_votes(votes[0]), dict[str, dict[str, float]]()
    else:
        rows, again = blind_reading.merge(reading, votes)
    result = {**blind_reading.results(rows), "again": again}
    if output is not None:
        blind_reading.write_votes(rows, output)
    if as_json:
        print_json(result)
        return
    lines, agreement = blind_reading.table_lines(result), blind_reading.agreement_lines(result)
    if markdown:
        print("\n".join([table_formats.markdown(lines, blind_reading.HEADS, "source"), "", *agreement]))
    else:
        table_formats.show(lines, blind_reading.HEADS, "source")
        print("\n".join(["shares in percent; [95 % interval over clips]", *agreement]))


def _serve(task: Literal["judge", "write"], dataset: Path, *, items: PageItems, server: Server, people: int) -> None:
    if not 0 < server.port < 65536:
        raise UsageError(f"--port must be 1 to 65535, not {server.port}")
    from video_contrast.reports.annotate.pages import app, launch_options
    from video_contrast.reports.annotate.tasks import Desk, Votes
    from video_contrast.storage import open_set

    folder = open_set(dataset)
    root = items.video_root or folder.video_root
    rows = folder.choice_rows(items.config, items.split)
    desk = Desk(rows, Votes(server.output, task), per_item=people, seed=items.seed)
    # Who may see the page from elsewhere must not see the truth: without a word, the tab is for this machine alone.
    local = server.host in ("127.0.0.1", "localhost", "::1")
    page = app(desk, root, title=f"{task} {items.config}", reviewer=server.reviewer or ("" if local else None))
    try:
        page.launch(
            server_name=server.host, server_port=server.port, quiet=True, prevent_thread_lock=True,
            **launch_options(desk, root),
        )  # fmt: skip
    except OSError as error:
        raise UsageError(f"--port {server.port} is in use on {server.host}; give another") from error
    say(f"http://{server.host}:{server.port}  (Ctrl-C stops; every answer is in {server.output} at once)")
    page.block_thread()
