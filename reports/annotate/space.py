"""An annotation page as a folder that is a Gradio Space: app, requirements, card, the rows and their clips."""

from importlib.resources import files
from pathlib import Path

from video_contrast.errors import UsageError
from video_contrast.files import copy_file, write_json, write_text
from video_contrast.hub_cards.markdown import render
from video_contrast.hub_cards.refusing import clips
from video_contrast.hub_cards.spaces import gradio_version
from video_contrast.reports.annotate import PageItems
from video_contrast.reports.annotate.votes import Task
from video_contrast.storage import open_set
from video_contrast.version import __version__


def write_space(
    folder: str | Path,
    output: str | Path,
    *,
    task: Task,
    people: int = 1,
    items: PageItems,
) -> Path:
    """Writes the folder of a Space that serves the judging or the writing page of one config.

    `output`: the Space's folder, new or empty. Raises UsageError: no such config, or the output is in use;
    VideoContrastError: a clip is missing.
    """
    root, target, config, split = Path(folder), Path(output), items.config, items.split
    source = open_set(root)
    clips_from = items.video_root or source.video_root
    rows = source.choice_rows(config, split)
    if target.exists() and any(target.iterdir()):
        raise UsageError(f"--output {target} is not empty; give a new folder")
    shown = clips(source, Path(clips_from), [(config, split)])
    for file in source.files(config, split):
        copy_file(file, target / "set" / config / file.name)
    for path, file in shown:
        copy_file(file, target / "set" / path)
    facts = source.record["facts"] if source.is_built else {}
    write_json(
        target / "space.json", {"task": task, "config": config, "split": split, "people": people, "seed": items.seed}
    )
    write_text(target / "app.py", (files(__package__) / "space_app.py.template").read_text(encoding="utf-8"))
    write_text(target / "requirements.txt", f"video-contrast[annotate]=={__version__}\n")
    verb, what = ("Judge", "choose the caption of") if task == "judge" else ("Write", "write a false caption for")
    title = f"{verb} {facts.get('pretty_name') or source.builder or root.name} {config}"[:60]
    card = render(
        "annotation_space.md.jinja", title=title, gradio=gradio_version(), what=what, count=len(rows), task=task,
        config=config, licence=facts.get("licence") or "not recorded",
    )  # fmt: skip
    write_text(target / "README.md", card)
    return target
