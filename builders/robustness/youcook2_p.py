"""The builder `youcook2_p`: YouCook2's validation segments under every perturbation of the robustness paper.

The paper perturbs the 457 whole videos and cuts the segments afterwards, so the default scope is the video: shuffling
whole segments of a video breaks the tie of a clip to its text, which is what its finding about box_jumble rests on.
"""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from video_contrast.builders.assembly import options
from video_contrast.builders.assembly.clips import Clip, retrieval_rows
from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.robustness import perturbed_configs as perturbing
from video_contrast.builders.sources.youcook2 import ANNOTATIONS, VALIDATION, read

CONFIGS = ("clean", *perturbing.TEXTS_WITHOUT_BIAS, "visual", "pairs")


@builder("youcook2_p", configs=CONFIGS, needs=f"the folder of YouCook2's annotations ({VALIDATION} or {ANNOTATIONS})")
def youcook2_p(
    configs: list[str],
    *,
    data_dir: Annotated[Path, "folder with the annotations"],
    splits: Annotated[str, "comma-separated"] = "validation",
    video_pattern: Annotated[str, "path of a video under the video root"] = "{video_id}.mp4",
    seed: Annotated[int, perturbing.SEED_HELP] = 0,
    profile: Annotated[str, perturbing.PROFILE_HELP] = "paper",
    scope: Annotated[str, perturbing.SCOPE_HELP] = "video",
    order: Annotated[str, perturbing.ORDER_HELP] = "perturb_then_sample",
    models: Annotated[str | None, perturbing.MODELS_HELP] = None,
    video_root: Annotated[Path | None, perturbing.ROOT_HELP] = None,
    files: Annotated[Path | None, perturbing.FILES_HELP] = None,
    quality: Annotated[str, perturbing.QUALITY_HELP] = "high",
    num_proc: Annotated[int, perturbing.NUM_PROC_HELP] = 1,
    meteor: Annotated[bool, perturbing.METEOR_HELP] = False,
    language_model: Annotated[str | None, perturbing.LANGUAGE_MODEL_HELP] = None,
) -> BuiltSet:
    """YouCook2-P: YouCook2 under 31 text perturbations, 90 visual conditions and 48 pairs."""
    folder = options.existing(data_dir, "it must hold YouCook2's annotations", "--data-dir")
    clips, sources = read(folder, video_pattern)
    chosen = options.chosen_splits(splits, clips)
    given = perturbing.Options(
        seed, profile, scope, order, models, video_root, files, quality, num_proc, meteor, language_model
    )
    facts = {
        "pretty_name": "YouCook2-P",
        "summary": "YouCook2-P: YouCook2's segments under the perturbations of the robustness paper.",
        "sources": sources,
        "licence": "YouCook2's annotations are for research use.",
        "citations": [
            "Zhou, Xu, Corso: Towards Automatic Learning of Procedures from Web Instructional Videos. AAAI 2018.",
            perturbing.CITATION,
        ],
    }
    tables = {name: retrieval_rows(_one_caption_each(clips[name])) for name in chosen}
    return perturbing.perturbed_set("youcook2_p", configs, tables, given, facts, bias=False)


def _one_caption_each(clips: Iterable[Clip]) -> list[Clip]:
    """Each caption with a clip of its own, as the list of 3,350 has it (one span of it is described twice)."""
    return [
        replace(clip, id=clip.id if number == 0 else f"{clip.id}#{number + 1}", captions=(caption,))
        for clip in clips
        for number, caption in enumerate(clip.captions)
    ]
