"""The builder `msrvtt_p`: MSR-VTT's test clips under every perturbation of the robustness paper."""

from pathlib import Path
from typing import Annotated

from video_contrast.builders.assembly import options
from video_contrast.builders.assembly.clips import retrieval_rows
from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.robustness import perturbed_configs as perturbing
from video_contrast.builders.sources.msrvtt import Source


@builder(
    "msrvtt_p", configs=perturbing.CONFIGS, needs="the folder of MSR-VTT's annotations (test_videodatainfo.json ...)"
)
def msrvtt_p(
    configs: list[str],
    *,
    data_dir: Annotated[Path, "folder with the annotations; the 1k-A list MSRVTT_JSFUSION_test.csv if it is used"],
    splits: Annotated[str | None, "comma-separated; default test_1k_a where its list is there, else test"] = None,
    video_pattern: Annotated[str, "path of a video under the video root"] = "{video_id}.mp4",
    seed: Annotated[int, perturbing.SEED_HELP] = 0,
    profile: Annotated[str, perturbing.PROFILE_HELP] = "paper",
    scope: Annotated[str, perturbing.SCOPE_HELP] = "clip",
    order: Annotated[str, perturbing.ORDER_HELP] = "perturb_then_sample",
    models: Annotated[str | None, perturbing.MODELS_HELP] = None,
    video_root: Annotated[Path | None, perturbing.ROOT_HELP] = None,
    files: Annotated[Path | None, perturbing.FILES_HELP] = None,
    quality: Annotated[str, perturbing.QUALITY_HELP] = "high",
    num_proc: Annotated[int, perturbing.NUM_PROC_HELP] = 1,
    meteor: Annotated[bool, perturbing.METEOR_HELP] = False,
    language_model: Annotated[str | None, perturbing.LANGUAGE_MODEL_HELP] = None,
) -> BuiltSet:
    """MSRVTT-P: MSR-VTT under 35 text perturbations, 90 visual conditions and 66 pairs."""
    source = Source(options.existing(data_dir, "it must hold test_videodatainfo.json ...", "--data-dir"), video_pattern)
    clips = source.splits()
    chosen = options.chosen_splits(splits or ("test_1k_a" if "test_1k_a" in clips else "test"), clips)
    given = perturbing.Options(
        seed, profile, scope, order, models, video_root, files, quality, num_proc, meteor, language_model
    )
    facts = {
        "pretty_name": "MSRVTT-P",
        "summary": "MSRVTT-P: MSR-VTT's captions and clips under the perturbations of the robustness paper.",
        "sources": source.files,
        "licence": "MSR-VTT's captions are for research use.",
        "citations": [
            "Xu, Mei, Yao, Rui: MSR-VTT: A Large Video Description Dataset for Bridging Video and Language. CVPR 2016.",
            perturbing.CITATION,
        ],
    }
    return perturbing.perturbed_set(
        "msrvtt_p", configs, {name: retrieval_rows(clips[name]) for name in chosen}, given, facts
    )
