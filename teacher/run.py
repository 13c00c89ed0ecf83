"""`teach`: a checkpoint and a captioned set in, a fine-tuned standard checkpoint and its learning curves out."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import read_json, write_json
from video_contrast.seeds import digest
from video_contrast.tables import Row
from video_contrast.teacher.feed import Part
from video_contrast.teacher.negatives import GENERATORS, Wanted, amounts, negatives
from video_contrast.teacher.saving import plot_curves
from video_contrast.teacher.training import Settings, train

DEFAULT_FRAMES = 8


def teach(
    model: str | Path,
    dataset: str | Path,
    *,
    output: str | Path,
    config: str = "retrieval",
    split: str = "train",
    validation: str = "validation",
    video_root: str | Path | None = None,
    frames: int | None = None,
    kinds: str = "10-action",
    generator: str = "auto",
    generator_options: dict[str, Any] | None = None,
    encoder: str = "lsa",
    store: str | Path | None = None,
    progress: bool = True,
    stop_after: int | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """Fine-tunes a checkpoint with LLM-teacher.

    Called again with the same arguments it goes on where it stopped, and ends with the same numbers.

    Args:
        model: Hub id, folder, or packaged checkpoint ("temporal-plain").
        dataset: folder of a set with a retrieval config.
        output: the run's folder; the checkpoint is `output/model`, the curves `curves.csv` and `curves.png`.
        config, split, validation: where the captions are; without a validation split a tenth of the clips is set aside.
        video_root: where `video_path` starts; the set's folder by default.
        frames: frames a clip; 8, or what the model needs.
        kinds: "10-action" (the paper), "5-action" or "5-action-5-object".
        generator: of the negatives: "lexical", "t5", "mlm", "llm", "shapes"; "auto" fits the set.
        generator_options: for the generator, e.g. `{"model": "FacebookAI/xlm-roberta-large"}`.
        encoder: "lsa", or a sentence encoder.
        store: folder for frames and negatives, which several runs may share; `output/store` by default.
        progress: show bars.
        stop_after: stop after so many steps as if killed there.
        **settings: the fields of `Settings` (objective, temperature, epochs, rate ...).

    Returns:
        What `train` returns, and `negatives` (counts), `missing` (clips that could not be read), `model` (the folder).
    """
    import torch

    from video_contrast.runner.kinds.loading import Tokens

    chosen = _settings(settings)
    output = Path(output)
    folder = Path(store) if store else output / "store"
    root, splits = _rows(dataset, config, split, validation)
    root = Path(video_root) if video_root else root
    net, processor, revision = load_checkpoint(model)
    count = _frames(net, frames)
    made = "shapes" if generator == "auto" and _is_shapes(Path(dataset)) else generator
    made = "lexical" if made == "auto" else made
    if made not in GENERATORS:
        raise UsageError(f"--generator {made!r} is not one of {', '.join(GENERATORS)}")
    actions, objects = amounts(kinds)
    parts: list[Part] = []
    counts: dict[str, dict[str, int]] = {}
    missing = 0
    for name, rows in zip(("train", "validation"), splits, strict=True):
        key = digest(*(row["id"] for row in rows), *(text for row in rows for text in row["captions"])).hex()[:16]
        wanted = Wanted(actions, objects, made, encoder, chosen.seed, key)
        # the first process makes what is stored, the others find it
        with _processes().main_process_first():
            say = print if progress and _is_main() else _silent
            path = folder / f"negatives-{name}.parquet"
            found, counts[name] = negatives(rows, wanted, path, say=say, **(generator_options or {}))
            part, unread = _part(folder / f"frames-{name}.npy", rows, found, root, processor, count, progress)
        parts.append(part)
        missing += unread
    if missing and progress:
        print(f"{missing} clips could not be read and are left out")
    device = "cuda" if torch.cuda.is_available() else "cpu"
    tokens = Tokens(processor.tokenizer, net.config)
    identity = {
        "model": revision, "data": [wanted.set, len(splits[0])], "frames": count, "kinds": kinds, "generator": made,
        "encoder": encoder,
    }  # fmt: skip
    result = train(
        net.to(device), tokens, parts[0], parts[1], chosen, output,
        identity=identity, stop_after=stop_after, progress=progress and _is_main(),
    )  # fmt: skip
    result |= {"negatives": counts, "missing": missing, "model": str(output / "model")}
    if result["finished"] and _is_main():
        save_checkpoint(net, processor, output / "model")
        plot_curves(output)
        write_json(output / "result.json", {key: value for key, value in result.items() if key != "model"})
    return result


def load_checkpoint(model: str | Path) -> tuple[Any, Any, str]:
    """A model in float32, its processor, and a digest of its files.

    Raises:
        VideoContrastError: there is none, or it is of a kind that cannot be trained here.
    """
    import transformers

    from video_contrast.runner.kinds.base import Settings as Loading
    from video_contrast.runner.kinds.loading import load_model, load_processor
    from video_contrast.runner.locate import digest_of, locate

    source = locate(str(model))
    name = source.architecture
    if not name or not hasattr(transformers, name):
        raise UsageError(f"teach trains standard transformers classes, not {name or 'an unknown one'} ({model})")
    loading = Loading(device="cpu", dtype="float32")
    return load_model(source, loading, name), load_processor(source, loading), digest_of(Path(str(source.path)))


def save_checkpoint(net: Any, processor: Any, folder: Path) -> None:
    """Writes a plain `save_pretrained` folder."""
    net.float().save_pretrained(folder)
    processor.save_pretrained(folder)


def _settings(given: dict[str, Any]) -> Settings:
    from dataclasses import fields

    from video_contrast.errors import unknown_name

    known = [field.name for field in fields(Settings)]
    for name in given:
        if name not in known:
            raise unknown_name("setting", name, known)
    chosen = replace(Settings(), **given)
    chosen.check()
    return chosen


def _rows(
    dataset: str | Path, config: str, split: str, validation: str
) -> tuple[Path, tuple[Sequence[Row], Sequence[Row]]]:
    import datasets

    root = Path(dataset)
    if not (root / "README.md").exists():
        raise VideoContrastError(f"--dataset {dataset}: no set there; make one with `video-contrast build`")
    try:
        loaded = datasets.load_dataset(str(root), config)
    except (ValueError, FileNotFoundError) as error:
        raise UsageError(f"--dataset {dataset}: config {config!r} cannot be loaded: {error}") from error
    if split not in loaded:
        raise UsageError(f"--dataset {dataset}: config {config!r} has no split {split!r}, only {', '.join(loaded)}")
    rows = loaded[split].to_list()
    if "captions" not in rows[0]:
        raise UsageError(f"--config {config!r} is no retrieval config: it has no column 'captions'")
    if validation in loaded:
        return root, (rows, loaded[validation].to_list())
    aside = [digest("teach validation", row["video_id"])[0] < 26 for row in rows]
    kept = [row for row, out in zip(rows, aside, strict=True) if not out]
    held = [row for row, out in zip(rows, aside, strict=True) if out]
    if not kept or not held:
        raise UsageError(f"--dataset {dataset}: {len(rows)} clips are too few to set some aside for validation")
    return root, (kept, held)


def _part(
    path: Path, rows: Sequence[Row], made: list[dict[str, Any]], root: Path, processor: Any, frames: int, progress: bool
) -> tuple[Part, int]:
    from video_contrast.teacher.store import open_store

    images = getattr(processor, "image_processor", None) or processor.video_processor
    store = open_store(path, rows, root, images, frames, progress=progress)
    number = {row["id"]: n for n, row in enumerate(rows)}
    return Part(store, [number[row["id"]] for row in made], made).readable(), len(store.missing)


def _frames(net: Any, asked: int | None) -> int:
    needed = getattr(getattr(net.config, "vision_config", None), "num_frames", None)
    if needed and asked and asked != needed:
        raise UsageError(f"--frames {asked}: this model takes exactly {needed}")
    return int(needed or asked or DEFAULT_FRAMES)


def _is_shapes(root: Path) -> bool:
    return (root / "set.json").exists() and read_json(root / "set.json").get("builder") == "shapes"


def _processes() -> Any:
    """The processes that `torchrun` or `accelerate launch` started; one otherwise."""
    import torch
    from accelerate import PartialState

    return PartialState(cpu=not torch.cuda.is_available())


def _is_main() -> bool:
    return bool(_processes().is_main_process)


def _silent(_: str) -> None:
    return None
