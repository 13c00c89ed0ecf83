"""`teach`: a checkpoint and a captioned set in, a fine-tuned standard checkpoint and its learning curves out."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import read_json, write_json
from video_contrast.rows import Row
from video_contrast.seeds import digest
from video_contrast.teacher.batches import groups_of
from video_contrast.teacher.feed import Part
from video_contrast.teacher.frozen import with_outputs
from video_contrast.teacher.negatives import NegativeRecipe, amounts, negatives, with_similarities
from video_contrast.teacher.pairs import Pairs
from video_contrast.teacher.saving import plot_curves, same_run
from video_contrast.teacher.similarity import check_encoder, content
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
    generator_model: str | None = None,
    generator_options: str | None = None,
    constraints: str | None = None,
    constraint_settings: str | None = None,
    tagger: str = "auto",
    encoder: str = "lsa",
    group: str | None = None,
    store: str | Path | None = None,
    progress: bool = True,
    stop_after: int | None = None,
    **settings: Any,
) -> dict[str, Any]:
    """Fine-tunes a checkpoint with LLM-teacher.

    Called again with the same arguments it goes on where it stopped, and ends with the same numbers.

    Args:
        model: Hub id, folder, or packaged checkpoint ("temporal-plain").
        dataset: folder or Hub id of a set with a retrieval config.
        output: the run's folder; the checkpoint is `output/model`, the curves `curves.csv` and `curves.png`.
        config, split, validation: where the captions are; without a validation split a tenth of the clips is set aside.
        video_root: where `video_path` starts; the set's folder by default.
        frames: frames a clip; 8, or what the model needs.
        kinds: "10-action" (the paper), "5-action" or "5-action-5-object".
        generator: of the negatives: "lexical", "t5", "mlm", "llm", "shapes"; "auto" fits the set.
        generator_model, generator_options: its checkpoint or server model, and "name=value,...".
        constraints, constraint_settings: names of the constraints on negatives, and their thresholds and models
            ("name=value,..."); the generator's own set by default.
        tagger: what finds actions and objects in captions (`perturbations.language`).
        encoder: "lsa", or a sentence encoder.
        group: column of the set or field of its `meta`: clips that share it meet in one batch (hard videos), such as
            "video_id" for segments of one video; none by default.
        store: folder for frames, negatives, similarities and what frozen towers say, which several runs may share;
            `output/store` by default.
        progress: show bars.
        stop_after: stop after so many steps as if killed there.
        **settings: the fields of `Settings` (objective, temperature, epochs, rate, freeze ...).

    Returns:
        What `train` returns, and `negatives` (counts), `missing` (clips that could not be read), `encoded` (clips and
        captions that a frozen tower encoded now), `model` (the folder), `main` (whether this is the first process).
    """
    from video_contrast.runner.kinds.loading import Tokens

    chosen = _settings(settings)
    output = Path(output)
    folder = Path(store) if store else output / "store"
    root, splits = _rows(dataset, config, split, validation, video_root)
    groups = groups_of(splits[0], group) if group else None
    made_by = "shapes" if _is_shapes(Path(dataset)) else "lexical"
    wanted = NegativeRecipe(
        *amounts(kinds), made_by if generator == "auto" else generator, chosen.seed,
        generator_model, generator_options, constraints, constraint_settings, tagger,
    )  # fmt: skip
    wanted.check()
    check_encoder(encoder)
    net, processor, revision = load_checkpoint(model)
    count = _frames(net, frames)
    here = _processes()
    identity = {
        "checkpoint": revision, "frames": count, "encoder": content(encoder), "group": group,
        "generator_model": content(generator_model), "generator_options": generator_options,
        **{key: value for key, value in asdict(wanted).items() if key not in ("model", "options", "seed")},
        **{f"{name} data": _digest(rows) for name, rows in zip(("training", "validation"), splits, strict=True)},
    }  # fmt: skip
    whole = {"settings": asdict(chosen), "identity": identity, "processes": here.num_processes}
    same_run(output, whole)  # before anything that takes long
    device, quiet = here.device, not (progress and here.is_main_process)
    say = _silent if quiet else print
    pairs = Pairs(net.to(device), chosen.freeze)
    tokens = Tokens(processor.tokenizer, net.config)
    documents = [row["captions"] for row in splits[0]]
    corpus = [text for captions in documents for text in captions]
    parts: list[Part] = []
    counts: dict[str, dict[str, int]] = {}
    missing, encoded = 0, Counter({"clips": 0, "captions": 0})
    for name, rows in zip(("train", "validation"), splits, strict=True):
        # the first process makes what is stored, the others find it
        with here.main_process_first():
            made, counts[name] = negatives(rows, wanted, folder / f"negatives-{name}", corpus=corpus, say=say)
            made = with_similarities(made, encoder, folder / f"similarities-{name}", documents=documents, say=say)
            part, unread = _part(
                folder / f"frames-{name}", rows, made, Path(video_root or root), processor, count,
                groups if name == "train" else None, not quiet,
            )  # fmt: skip
            part, now = with_outputs(
                pairs, part, tokens, folder / f"frozen-{name}", revision, device=device, progress=not quiet
            )
        parts.append(part)
        missing += unread
        encoded.update(now)
    if missing:
        say(f"{missing} clips could not be read and are left out")
    result = train(net, tokens, parts[0], parts[1], chosen, output, stop_after=stop_after, progress=not quiet)
    result |= {"negatives": counts, "missing": missing}
    if result["finished"] and here.is_main_process:
        save_checkpoint(net, processor, output / "model")
        plot_curves(output)
        write_json(output / "result.json", result)
    return result | {"model": str(output / "model"), "encoded": dict(encoded), "main": here.is_main_process}


def load_checkpoint(model: str | Path) -> tuple[Any, Any, str]:
    """A model in float32, its processor, and a digest of its files.

    Raises:
        VideoContrastError: there is none, or it is of a kind that cannot be trained here.
    """
    import transformers

    from video_contrast.runner.kinds.base import LoadOptions as Loading
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
    dataset: str | Path, config: str, split: str, validation: str, video_root: str | Path | None
) -> tuple[Path, tuple[Sequence[Row], Sequence[Row]]]:
    import datasets

    root, name = Path(dataset), str(dataset)
    on_hub = not root.exists() and name.count("/") == 1 and not name.startswith((".", "~"))
    if not on_hub and not (root / "README.md").exists():
        raise VideoContrastError(f"--dataset {dataset}: no set there; make one with `video-contrast build`")
    if on_hub and video_root is None:
        raise UsageError(f"--dataset {dataset}: a set of the Hub holds no videos; give --video-root FOLDER")
    try:
        loaded = datasets.load_dataset(name, config)
    except (ConnectionError, datasets.exceptions.DatasetNotFoundError) as error:
        raise VideoContrastError(
            f"--dataset {dataset}: no such folder, and the Hub does not give it: {error}"
        ) from error
    except (ValueError, FileNotFoundError) as error:
        raise UsageError(f"--dataset {dataset}: config {config!r} cannot be loaded: {error}") from error
    if split not in loaded:
        raise UsageError(f"--dataset {dataset}: config {config!r} has no split {split!r}, only {', '.join(loaded)}")
    rows = loaded[split].to_list()
    if "captions" not in loaded[split].column_names:
        raise UsageError(f"--config {config!r} is no retrieval config: it has no column 'captions'")
    if validation in loaded:
        return root, (rows, loaded[validation].to_list())
    aside = [digest("teach validation", row["video_id"])[0] < 26 for row in rows]
    kept = [row for row, out in zip(rows, aside, strict=True) if not out]
    held = [row for row, out in zip(rows, aside, strict=True) if out]
    if not kept or not held:
        raise UsageError(f"--dataset {dataset}: {len(rows)} clips are too few to set some aside for validation")
    return root, (kept, held)


def _digest(rows: Sequence[Row]) -> str:
    """What of a split decides the training: its clips and their captions."""
    facts = ((row["id"], row["video_path"], row["start"], row["end"], *row["captions"]) for row in rows)
    return digest(*(fact for row_facts in facts for fact in row_facts)).hex()[:12]


def _part(
    path: Path,
    rows: Sequence[Row],
    made: list[dict[str, Any]],
    root: Path,
    processor: Any,
    frames: int,
    groups: list[str] | None,
    progress: bool,
) -> tuple[Part, int]:
    from video_contrast.teacher.store import open_store

    images = getattr(processor, "image_processor", None) or processor.video_processor
    store = open_store(path, rows, root, images, frames, progress=progress)
    number = {row["id"]: n for n, row in enumerate(rows)}
    clips = [number[row["id"]] for row in made]
    part = Part(store, clips, made, groups=groups and [groups[clip] for clip in clips])
    return part.readable(), len(store.missing)


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

    # the others wait while the first makes negatives and stores frames, which may take a day
    return PartialState(cpu=not torch.cuda.is_available(), timeout=timedelta(days=7))


def _silent(_: str) -> None:
    return None
