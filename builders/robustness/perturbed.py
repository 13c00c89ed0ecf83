"""The builder `perturbed`: any retrieval or multiple-choice set under the perturbations of the robustness paper."""

from pathlib import Path
from typing import Annotated, Any

from video_contrast.builders.assembly import options
from video_contrast.builders.registry import BuiltSet, builder
from video_contrast.builders.robustness import perturbed_configs as perturbing
from video_contrast.errors import UsageError, VideoContrastError, unknown_name
from video_contrast.rows import Row


@builder("perturbed", configs=perturbing.CONFIGS, needs="the folder of a retrieval or multiple-choice set")
def perturbed(
    configs: list[str],
    *,
    from_: Annotated[Path, "folder of the set (as `build` writes it)"],
    config: Annotated[str | None, "which of its configs; default the only one, or retrieval"] = None,
    splits: Annotated[str | None, "comma-separated; default all of the config"] = None,
    seed: Annotated[int, perturbing.SEED_HELP] = 0,
    profile: Annotated[str, perturbing.PROFILE_HELP] = "paper",
    scope: Annotated[str, perturbing.SCOPE_HELP] = "clip",
    order: Annotated[str, perturbing.ORDER_HELP] = "perturb_then_sample",
    models: Annotated[str | None, perturbing.MODELS_HELP] = None,
    video_root: Annotated[Path | None, perturbing.ROOT_HELP + "; default the set's own folder"] = None,
    files: Annotated[Path | None, perturbing.FILES_HELP] = None,
    quality: Annotated[str, perturbing.QUALITY_HELP] = "high",
    num_proc: Annotated[int, perturbing.NUM_PROC_HELP] = 1,
    meteor: Annotated[bool, perturbing.METEOR_HELP] = False,
    language_model: Annotated[str | None, perturbing.LANGUAGE_MODEL_HELP] = None,
) -> BuiltSet:
    """Any set perturbed: captions or all options, 90 visual conditions, 66 pairs."""
    folder = options.existing(from_, "give the folder of a set", "--from")
    chosen, tables, facts = _read(folder, config, splits)
    given = perturbing.Options(
        seed, profile, scope, order, models, video_root or folder, files, quality, num_proc,
        meteor, language_model,
    )  # fmt: skip
    about: dict[str, Any] = {
        "summary": f"The config {chosen} of {facts.get('pretty_name') or folder.name}, perturbed.",
        "sources": [f"{folder.name}, config {chosen}"],
        **{key: facts[key] for key in ("licence", "licence_id") if key in facts},
        "citations": [*facts.get("citations", []), perturbing.CITATION],
    }
    return perturbing.perturbed_set("perturbed", configs, tables, given, about)


def _read(folder: Path, config: str | None, splits: str | None) -> tuple[str, dict[str, list[Row]], dict[str, Any]]:
    """The chosen config, its tables, and the facts of the set.

    Raises:
        UsageError: no set in the folder, no such config or split, or several configs to choose from.
        VideoContrastError: a row is broken, or is perturbed already.
    """
    import pyarrow.parquet as pq

    from video_contrast.files import read_json
    from video_contrast.rows import validate_rows

    if not (folder / "set.json").is_file():
        raise UsageError(f"--from {folder} holds no set.json: give a folder that `video-contrast build` wrote")
    record = read_json(folder / "set.json")
    known = list(record["configs"])
    chosen = config or (known[0] if len(known) == 1 else "retrieval")
    if chosen not in known:
        if config is None:
            raise UsageError(f"--from {folder} has several configs ({', '.join(known)}): choose one with --config")
        raise unknown_name(f"config of {folder}", chosen, known)
    entry = record["configs"][chosen]
    if entry.get("perturbed"):
        raise UsageError(f"--from {folder}, config {chosen}: is perturbed already; give the clean set")
    names = options.chosen_splits(splits or ",".join(entry["splits"]), entry["splits"])
    found: dict[str, list[Row]] = {}
    for split in names:
        rows: list[Row] = []
        for file in sorted((folder / chosen).glob(f"{split}-*.parquet")):
            rows += pq.read_table(file).to_pylist()
        if not rows:
            raise VideoContrastError(f"{folder}, config {chosen}: the files of split {split} are missing")
        validate_rows(rows, f"{folder}, config {chosen}, split {split}")
        found[split] = rows
    return chosen, found, record.get("facts", {})
