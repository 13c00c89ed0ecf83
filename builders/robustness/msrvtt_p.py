"""The builder `msrvtt_p`: MSR-VTT's test clips under every perturbation of the robustness paper."""

from pathlib import Path
from typing import Annotated

from video_contrast.builders.assembly.captioned_clip import retrieval_rows
from video_contrast.builders.assembly.contrast_plan import existing, select_splits
from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.robustness.perturbation_options import CITATION, CONFIGS, PerturbationOptions
from video_contrast.builders.robustness.perturbed_set import perturbed_set
from video_contrast.builders.sources import msrvtt


@builder("msrvtt_p", configs=CONFIGS, requirements=msrvtt.REQUIREMENTS)
def msrvtt_p(
    configs: list[str],
    *,
    folder: Annotated[Path, "folder with the annotations; the 1k-A list MSRVTT_JSFUSION_test.csv if it is used"],
    splits: Annotated[
        str | None, "splits to perturb, comma-separated; default: test_1k_a where its list is there, else test"
    ] = None,
    video_pattern: Annotated[str, "path of a video under the video root"] = "{video_id}.mp4",
    options: PerturbationOptions = PerturbationOptions(),  # noqa: B008  frozen
) -> BuiltSet:
    """MSRVTT-P: MSR-VTT under 35 text perturbations, 90 visual conditions and 66 pairs."""
    folder = existing(folder, "it must hold test_videodatainfo.json ...", "--folder")
    annotations = msrvtt.MsrVttFolder(folder, video_pattern)
    clips = annotations.splits()
    selected = select_splits(splits or ("test_1k_a" if "test_1k_a" in clips else "test"), clips)
    facts = {
        "pretty_name": "MSRVTT-P",
        "summary": "MSRVTT-P: MSR-VTT's captions and clips under the perturbations of the robustness paper.",
        "sources": annotations.files,
        "licence": msrvtt.LICENCE,
        "citations": [msrvtt.CITATION, CITATION],
    }
    tables = {name: retrieval_rows(clips[name]) for name in selected}
    return perturbed_set("msrvtt_p", configs, tables=tables, options=options, facts=facts)
