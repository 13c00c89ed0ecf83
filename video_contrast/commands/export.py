"""`video-contrast export DATASET --format FORMAT --output OUT`: a built set for another tool."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Literal

from video_contrast.commands.command import command
from video_contrast.console import AsJson, counted, tell
from video_contrast.errors import UsageError
from video_contrast.options import Flag, VideoRoot, names_in
from video_contrast.teacher.preferences import PreferenceOptions


@command("export", "video-contrast export sets/shapes --format lmms-eval --output tasks/shapes")
def export(
    folder: Annotated[Path, "folder of the set", Flag("DATASET")],
    *,
    output: Annotated[Path, "folder to write into"],
    format_: Annotated[Literal["lmms-eval", "vlmevalkit", "inspect-ai", "mteb"], "whose format"],
    repo: Annotated[str | None, "lmms-eval, mteb: the set's name on the Hub, for tasks that others run"] = None,
    video_root: VideoRoot = None,
    write_videos: Annotated[bool, "write the clips too, each cut to its span: these tools show whole files"] = False,
    as_json: AsJson = False,
) -> None:
    """Write a built set for lmms-eval, VLMEvalKit, inspect_ai or MTEB, or as preferences."""
    from video_contrast.reports.exports import FORMATS, Export

    if repo and format_ not in ("lmms-eval", "mteb"):
        raise UsageError(f"--repo goes with --format lmms-eval or mteb: files of {format_} hold the items themselves")
    files = list(map(str, FORMATS[format_](Export(folder, output, repo, video_root, write_videos))))
    tell(files, files, as_json)


@command("export preferences", "video-contrast export preferences sets/mine --format dpo --output pairs")
def preferences(
    folder: Annotated[Path, "folder of the set", Flag("DATASET")],
    *,
    request: PreferenceOptions,
    as_json: AsJson = False,
) -> None:
    """Write a set's contrasts as training data of TRL: preference pairs, or questions whose answers can be checked."""
    from video_contrast.teacher.preferences import export_preferences

    counts = export_preferences(folder, request=replace(request, config=names_in(request.config)))
    reasons = {
        "equal": "pairs left out, equal", "unreadable": "items left out, clip not readable",
        "no contrast": "items left out, no contrast",
    }  # fmt: skip
    lines = [f"{counted(counts['rows'], 'row')} of {counted(counts['items'], 'item')} in {request.output}"]
    lines += [f"{words}: {counts[name]}" for name, words in reasons.items() if counts.get(name)]
    tell(counts, lines, as_json)
