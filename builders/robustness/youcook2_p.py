"""The builder `youcook2_p`: YouCook2's validation segments under every perturbation of the robustness paper.

The paper perturbs the 457 whole videos and cuts the segments afterwards, so the default scope is the video: shuffling
whole segments of a video breaks the tie of a clip to its text, which is what its finding about box_jumble rests on.
"""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from video_contrast.builders.assembly.captioned_clip import CaptionedClip, retrieval_rows
from video_contrast.builders.assembly.contrast_plan import existing, select_splits
from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.robustness.perturbation_options import CITATION, TEXTS_WITHOUT_BIAS, PerturbationOptions
from video_contrast.builders.robustness.perturbed_set import perturbed_set
from video_contrast.builders.sources import youcook2

CONFIGS = ("clean", *TEXTS_WITHOUT_BIAS, "visual", "pairs")


@builder(
    "youcook2_p",
    configs=CONFIGS,
    requirements=f"the folder of YouCook2's annotations ({youcook2.VALIDATION} or {youcook2.ANNOTATIONS})",
)
def youcook2_p(
    configs: list[str],
    *,
    folder: Annotated[Path, "folder with the annotations"],
    splits: Annotated[str, "splits to perturb, comma-separated"] = "validation",
    video_pattern: Annotated[str, "path of a video under the video root"] = "{video_id}.mp4",
    options: PerturbationOptions = PerturbationOptions(scope="video"),  # noqa: B008  frozen
) -> BuiltSet:
    """YouCook2-P: YouCook2 under 31 text perturbations, 90 visual conditions and 48 pairs."""
    folder = existing(folder, "it must hold YouCook2's annotations", "--folder")
    clips, sources = youcook2.read(folder, video_pattern)
    facts = {
        "pretty_name": "YouCook2-P",
        "summary": "YouCook2-P: YouCook2's segments under the perturbations of the robustness paper.",
        "sources": sources,
        "licence": youcook2.LICENCE,
        "citations": [youcook2.CITATION, CITATION],
    }
    tables = {name: retrieval_rows(_one_caption_each(clips[name])) for name in select_splits(splits, clips)}
    return perturbed_set("youcook2_p", configs, tables=tables, options=options, facts=facts, bias=False)


def _one_caption_each(clips: Iterable[CaptionedClip]) -> list[CaptionedClip]:
    """Each caption with a clip of its own, as the list of 3,350 has it (one span of it is described twice)."""
    return [
        replace(clip, id=clip.id if number == 0 else f"{clip.id}#{number + 1}", captions=(caption,))
        for clip in clips
        for number, caption in enumerate(clip.captions)
    ]
