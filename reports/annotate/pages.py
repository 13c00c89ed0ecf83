"""The page as a Gradio app, one item at a time and a tab for review; and that app as a Space.

Clips are shown as a browser can: right colours, only the item's span, large enough to see. Edited clips and files that
browsers do not play are written when they are first shown, which takes seconds each: a background thread makes them
ready in the order of the page.
"""

import hmac
import json
import threading
from collections.abc import Iterable
from contextlib import suppress
from importlib.resources import files
from pathlib import Path
from types import ModuleType
from typing import Any
from urllib.parse import quote

from video_contrast.errors import UsageError, VideoContrastError, libraries_named
from video_contrast.files import Json, cache_dir, copy_file, resolve_under, write_json, write_text
from video_contrast.hub_cards.markdown import render
from video_contrast.hub_cards.publishing import clips, gradio_version
from video_contrast.reports.annotate import PageItems
from video_contrast.reports.annotate.tasks import UNCLEAR, Desk, PageTask, page_html
from video_contrast.reports.gallery import clip_files
from video_contrast.rows import MultipleChoiceRow
from video_contrast.seeds import digest
from video_contrast.storage import open_set
from video_contrast.version import __version__
from video_contrast.video import Clip
from video_contrast.video.container import opened

# Codecs that browsers and phones play. Lossless h264 holds RGB, which they show in false colours without an error.
_PLAYED = {("h264", "yuv420p"), ("h264", "yuvj420p"), ("vp9", "yuv420p"), ("av1", "yuv420p")}
_ENDINGS = (".mp4", ".webm", ".m4v")
_writing = threading.Lock()
_SMALLEST = 240  # pixels of the shorter side; smaller pictures are enlarged without blur


def shown_folder() -> Path:
    """The folder of converted clips."""
    return cache_dir() / "annotate"


def shown_clip(root: Path, row: MultipleChoiceRow) -> Path:
    """The file to show for an item: the clip itself, or a copy that a browser can play, cut to the item's span.

    Raises VideoContrastError: the clip is missing or cannot be read.
    """
    clip = Clip.of(row)
    paths = clip_files(root, clip)
    path = paths[0]
    if not clip.segments and row["start"] is None and row["end"] is None and path.suffix.lower() in _ENDINGS:
        with opened(str(path)) as (_, stream):
            context = stream.codec_context
            if min(context.width, context.height) >= _SMALLEST and (context.name, context.pix_fmt) in _PLAYED:
                return path
    files = ((str(path.resolve()), path.stat().st_size, path.stat().st_mtime_ns) for path in paths)
    source = (*(value for file in files for value in file), row["start"], row["end"], *map(repr, clip.segments))
    target = shown_folder() / f"{digest('annotate', *source).hex()[:32]}.mp4"
    if target.exists():
        return target
    with _writing:  # one clip at a time, and none twice: a person waits for the one in hand
        if not target.exists():
            from video_contrast.video import footage_of, write_video

            footage = footage_of(root, clip)
            numbers = range(*footage.span)
            pictures = footage.decode(numbers)
            height, width = (side - side % 2 for side in pictures.shape[1:3])
            times = -(-_SMALLEST // min(height, width))
            frames = pictures[:, :height, :width].repeat(times, axis=1).repeat(times, axis=2)
            target.parent.mkdir(parents=True, exist_ok=True)
            write_video(target, frames, footage.fps, times=footage.times[numbers.start : numbers.stop])
    return target


def make_ready(root: Path, rows: Iterable[MultipleChoiceRow]) -> None:
    """Makes the clips of items ready in the background, one after the other, until the program ends."""

    def work() -> None:
        for row in rows:
            if not threading.main_thread().is_alive():
                return
            with suppress(VideoContrastError, OSError):  # the page says so when the item is shown
                shown_clip(root, row)

    threading.Thread(target=work, name="clips ahead").start()


def app(desk: Desk, video_root: str | Path, *, title: str = "video-contrast", reviewer: str | None = "") -> Any:
    """The page of a desk as `gradio.Blocks`; launch it with `launch_options(...)`.

    `reviewer`: the password that opens the tab *Review*, which shows the true sentences and everybody's answers; ""
    opens it to all who see the page, None leaves it out. Raises UsageError: Gradio is not installed.
    """
    with libraries_named():
        import gradio as gr
    task, root = desk.votes.task, Path(video_root).resolve()
    make_ready(root, desk.rows.values())

    # What the page's script asks for: an item as it is shown (see page.js).
    def item_of(person: str, message: str = "") -> dict[str, Json]:
        item_shown = desk.next(person)
        own, n_answers, n_needed = desk.progress(person)
        status = f"{person}: {own} by you · {n_answers} of {n_needed} answers in all"
        if item_shown is None:
            return {"status": f"Nothing left for you. Thank you. {status}", "message": message}
        try:
            clip = f"gradio_api/file={quote(shown_clip(root, item_shown.row).as_posix())}"
        except VideoContrastError:
            clip = ""
            message = message or "The video of this item cannot be shown: choose “not clear”, or tell the organiser."
        note = f"Sent back: {item_shown.note}" if item_shown.note else ""
        item = {"id": item_shown.row["id"], "status": status, "message": message, "clip": clip, "note": note}
        if task == "judge":
            options = enumerate(zip(item_shown.shown, item_shown.options, strict=True), 1)
            answers = [*((number, str(n), text) for n, (number, text) in options), (UNCLEAR, "0", UNCLEAR)]
            return item | {"texts": [], "answers": {"choice": answers}, "chosen": {"choice": item_shown.former}}
        before, phrase, after = item_shown.parts
        text = ("", before, phrase, after, f"verb to change: “{phrase}”")
        return item | {"texts": [text], "answers": {}, "text": str(item_shown.former or item_shown.caption)}

    def served(asked: Json) -> Json:
        """The next item for a person, whose answer to the last one comes with the question, except for the first."""
        person, message = " ".join(str(asked["person"]).split())[:60], ""
        if not person:
            return {"message": "Please write your name first."}
        if "item" in asked:
            answer = asked["answer"] if task == "judge" else " ".join(str(asked["answer"]).split())
            try:
                if problem := desk.answer(person, asked["item"], answer, asked["seconds"]):
                    return {"message": problem}
            except VideoContrastError as error:
                message = str(error)
        return item_of(person, message)

    script = (files(__package__) / "page.js").read_text("utf-8")
    legends = {"choice": "Which sentence describes the video best?"}
    with gr.Blocks(title=title, analytics_enabled=False) as page:
        with gr.Tab("Judge" if task == "judge" else "Write"):
            gr.HTML(
                html_template=page_html(task, title),
                js_on_load=f"{script}annotate(element, {json.dumps(legends)}, onServer(server));",
                apply_default_css=False,
                server_functions=[served],
            )
        if reviewer is not None:
            with gr.Tab("Review"):
                _review(gr, desk, reviewer)
    return page


def launch_options(desk: Desk, video_root: str | Path) -> dict[str, object]:
    """Arguments of `launch` that the page needs: its looks, and that the clips may be read, but not the tables beside
    them, which hold the truth.
    """
    root = Path(video_root).resolve()
    clips = {resolve_under(root, path) for row in desk.rows.values() for path in Clip.of(row).paths}
    # Folders of clips as such, since Gradio tries one entry after the other; what lies beside the tables by itself.
    open_to_all = {str(clip if clip.parent == root else clip.parent) for clip in clips}
    return {
        "css": (files(__package__) / "page.css").read_text(encoding="utf-8"),
        "allowed_paths": [*sorted(open_to_all), str(shown_folder().resolve())],
        "footer_links": [],
    }


def _review(gr: ModuleType, desk: Desk, reviewer: str) -> None:
    """All answers as a table, and a form that sends one back with a note, behind the reviewer's password."""

    def review(
        word: str | None, item: str | None = None, annotator: str = "", note: str = ""
    ) -> tuple[str, list[list[object]]]:
        if not hmac.compare_digest((word or "").strip().encode(), reviewer.encode()):
            return "This is not the reviewer's password.", []
        message, lines = "", []
        if item is not None:
            try:
                desk.send_back(item.strip(), annotator.strip(), note.strip())
                message = f"Sent back to {annotator.strip()}."
            except VideoContrastError as error:
                message = str(error)
        desk.votes.refresh()
        for vote in reversed(desk.votes.latest()):
            if row := desk.rows.get(vote.item):
                texts = row["candidates"]
                answer = texts[vote.answer] if isinstance(vote.answer, int) else vote.answer
                true = texts[row["label"]]
                lines.append([vote.item, vote.annotator, true, answer, round(vote.seconds, 1), vote.status])
        return message, lines

    password = gr.Textbox(label="Reviewer's password", type="password", elem_id="back-password", visible=bool(reviewer))
    refresh = gr.Button("Show answers", elem_id="refresh")
    answers = gr.Dataframe(
        headers=["item", "by", "true sentence", "answer", "seconds", "status"],
        # In pixels: a share of a phone is less than a word; the table is scrolled there.
        column_widths=["110px", "84px", "226px", "206px", "84px", "80px"],
        interactive=False,
        wrap=True,
        elem_id="review",
    )
    with gr.Row():
        item = gr.Textbox(label="Item", elem_id="back-item")
        annotator = gr.Textbox(label="By", elem_id="back-by")
        note = gr.Textbox(label="What should change", elem_id="back-note", scale=2)
    back = gr.Button("Send back", elem_id="back")
    review_message = gr.Markdown(elem_id="back-said")
    refresh.click(review, password, [review_message, answers])
    back.click(review, [password, item, annotator, note], [review_message, answers])


def write_space(folder: str | Path, output: str | Path, *, task: PageTask, people: int = 1, items: PageItems) -> Path:
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
    options = {"task": task, "config": config, "split": split, "people": people, "seed": items.seed}
    write_json(target / "space.json", options)
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
