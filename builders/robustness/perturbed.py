"""The builder `perturbed`: any retrieval or multiple-choice set under the perturbations of the robustness paper."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

from video_contrast.builders.assembly.contrast_plan import existing, select_splits
from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.robustness.perturbation_options import CITATION, CONFIGS, PerturbationOptions
from video_contrast.builders.robustness.perturbed_set import perturbed_set
from video_contrast.errors import UsageError, unknown_name
from video_contrast.rows import validate_rows
from video_contrast.storage.set_folder import SetFolder
from video_contrast.storage.set_records import Facts


@builder("perturbed", configs=CONFIGS, requirements="the folder of a retrieval or multiple-choice set")
def perturbed(
    configs: list[str],
    *,
    dataset: Annotated[Path, "folder of the set (as `build` writes it)"],
    dataset_config: Annotated[str | None, "which of its configs; default the only one, or retrieval"] = None,
    splits: Annotated[str | None, "splits to perturb, comma-separated; default: all of the config"] = None,
    options: PerturbationOptions = PerturbationOptions(),  # noqa: B008  frozen
) -> BuiltSet:
    """Any set perturbed: captions or all candidates, 90 visual conditions, 66 pairs."""
    folder = SetFolder.open(existing(dataset, "give the folder of a set", "--dataset"))
    if not folder.is_built:
        raise UsageError(f"--dataset {dataset} holds no set.json: give a folder that `video-contrast build` wrote")
    clean = _clean_config(folder, dataset_config)
    known = folder.splits(clean)
    tables = {}
    for split in select_splits(splits or ",".join(known), dict.fromkeys(known)):
        tables[split] = folder.rows(clean, split)
        validate_rows(tables[split], f"{dataset}, config {clean}, split {split}")
    facts = folder.record.get("facts", {})
    about: Facts = {
        "summary": f"The config {clean} of {facts.get('pretty_name') or dataset.name}, perturbed.",
        "sources": [f"{dataset.name}, config {clean}"],
        **{key: facts[key] for key in ("licence", "licence_id") if key in facts},
        "citations": [*facts.get("citations", []), CITATION],
    }
    options = replace(options, video_root=options.video_root or folder.video_root)
    return perturbed_set("perturbed", configs, tables=tables, options=options, facts=about)


def _clean_config(folder: SetFolder, config: str | None) -> str:
    """The config that is perturbed: the one that is named, the only one, or the retrieval config."""
    known = folder.configs
    clean = config or (known[0] if len(known) == 1 else "retrieval")
    if clean not in known:
        if config is None:
            raise UsageError(
                f"--dataset {folder.path} has several configs ({', '.join(known)}): choose one with --dataset-config"
            )
        raise unknown_name(f"config of {folder.path}", clean, known)
    if folder.record["configs"][clean].get("perturbed"):
        raise UsageError(f"--dataset {folder.path}, config {clean}: is perturbed already; give the clean set")
    return clean
