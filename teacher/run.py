"""`teach`: a checkpoint and a captioned set in, a fine-tuned standard checkpoint and its learning curves out."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import write_json
from video_contrast.options import with_options
from video_contrast.rows import RetrievalRow
from video_contrast.seeds import digest
from video_contrast.storage import SetFolder
from video_contrast.teacher.batches import groups_of
from video_contrast.teacher.feed import Part
from video_contrast.teacher.frozen import with_outputs
from video_contrast.teacher.negatives import NegativeRecipe, amounts, negatives, with_similarities
from video_contrast.teacher.options import DataOptions, TeachOptions
from video_contrast.teacher.pairs import Pairs
from video_contrast.teacher.saving import plot_curves, same_run
from video_contrast.teacher.similarity import check_encoder, content
from video_contrast.teacher.store import FrameStore, open_store
from video_contrast.teacher.training import train

DEFAULT_FRAMES = 8
UNREAD_SHOWN = 5  # clips left out that are named on the screen


@with_options
def teach(
    model: str | Path,
    dataset: str | Path,
    *,
    request: TeachOptions,
    progress: Annotated[bool, "show bars"] = True,
    stop_after: Annotated[int | None, "stop after so many steps as if killed there"] = None,
) -> dict[str, Any]:
    """Fine-tunes a checkpoint with LLM-teacher.

    Called again with the same arguments it goes on where it stopped, and ends with the same numbers.

    Args:
        model: Hub id, folder, or packaged checkpoint ("temporal-plain").
        dataset: folder or Hub id of a set with a retrieval config.
        progress: show bars.
        stop_after: stop after so many steps as if killed there.

    Returns:
        What `train` returns, and `negatives` (counts), `missing` (number of clips that could not be read), `unread`
        (their ids, each with the reason), `encoded` (clips and
        captions that a frozen tower encoded now), `model` (the folder), `main` (whether this is the first process).
    """
    from video_contrast.runner.kinds.loading import Tokens

    request.check()
    output, encoder = request.output, request.encoder
    folder = request.store or output / "store"
    root, splits = _rows(dataset, request)
    groups = groups_of(splits[0], request.group) if request.group else None
    generator = request.generator
    if generator == "auto":
        generator = "shapes" if _is_shapes(Path(dataset)) else "lexical"
    actions, objects = amounts(request.negatives)
    recipe = NegativeRecipe(
        actions=actions,
        objects=objects,
        generator=generator,
        seed=request.seed,
        model=request.generator_model,
        options=request.generator_options,
        constraints=request.constraints,
        constraint_settings=request.constraint_options,
        tagger=request.tagger,
    )
    recipe.check()
    check_encoder(encoder)
    net, processor, revision = load_checkpoint(model)
    count = _frames(net, request.frames)
    here = _processes()
    identity = {
        "checkpoint": revision, "frames": count, "encoder": content(encoder), "group": request.group,
        "generator_model": content(recipe.model), "generator_options": recipe.options,
        **{key: value for key, value in asdict(recipe).items() if key not in ("model", "options", "seed")},
        **{f"{name} data": _digest(rows) for name, rows in zip(("training", "validation"), splits, strict=True)},
    }  # fmt: skip
    whole = {"settings": request.record(), "identity": identity, "processes": here.num_processes}
    same_run(output, whole)  # before anything that takes long
    device, quiet = here.device, not (progress and here.is_main_process)
    say = _silent if quiet else print
    pairs = Pairs(net.to(device), request.freeze)
    tokens = Tokens(processor.tokenizer, net.config)
    images = getattr(processor, "image_processor", None) or processor.video_processor
    documents = [row["captions"] for row in splits[0]]
    corpus = [text for captions in documents for text in captions]
    parts: list[Part] = []
    counts: dict[str, dict[str, int]] = {}
    unread: dict[str, str] = {}
    encoded = Counter({"clips": 0, "captions": 0})
    for name, rows in zip(("train", "validation"), splits, strict=True):
        # the first process makes what is stored, the others find it
        with here.main_process_first():
            captions, counts[name] = negatives(rows, recipe, folder / f"negatives-{name}", corpus=corpus, say=say)
            captions = with_similarities(
                captions, encoder, folder / f"similarities-{name}", documents=documents, say=say
            )
            store = open_store(
                folder / f"frames-{name}", rows, request.video_root or root, images, frames=count, progress=not quiet
            )
            part = _part(store, rows, captions, groups if name == "train" else None)
            part, now = with_outputs(
                pairs, part, tokens, folder / f"frozen-{name}", model=revision, device=device, progress=not quiet
            )
        parts.append(part)
        unread |= {rows[number]["id"]: reason for number, reason in store.missing.items()}
        encoded.update(now)
    if unread:
        say(f"{len(unread)} clips could not be read and are left out (all of them are named in result.json):")
        for name, reason in list(unread.items())[:UNREAD_SHOWN]:
            say(f"  {name}: {reason}")
    result = train(
        net, tokens, parts[0], parts[1], options=request, output=output, stop_after=stop_after, progress=not quiet
    )
    result |= {"negatives": counts, "missing": len(unread), "unread": unread}
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
    """Writes a plain `save_pretrained` folder.

    Args:
        net: the model; saved in float32.
        processor: saved beside it.
        folder: where to.
    """
    net.float().save_pretrained(folder)
    processor.save_pretrained(folder)


def _rows(
    dataset: str | Path, options: DataOptions
) -> tuple[Path, tuple[Sequence[RetrievalRow], Sequence[RetrievalRow]]]:
    import datasets

    config, split, validation = options.config, options.split, options.validation
    root, name = Path(dataset), str(dataset)
    on_hub = not root.exists() and name.count("/") == 1 and not name.startswith((".", "~"))
    if not on_hub and not (root / "README.md").exists():
        raise VideoContrastError(f"--dataset {dataset}: no set there; make one with `video-contrast build`")
    if on_hub and options.video_root is None:
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


def _digest(rows: Sequence[RetrievalRow]) -> str:
    """What of a split decides the training: its clips and their captions."""
    facts = ((row["id"], row["video_path"], row["start"], row["end"], *row["captions"]) for row in rows)
    return digest(*(fact for row_facts in facts for fact in row_facts)).hex()[:12]


def _part(
    store: FrameStore, rows: Sequence[RetrievalRow], captions: list[dict[str, Any]], groups: list[str] | None
) -> Part:
    """The captions whose clip could be read."""
    number = {row["id"]: n for n, row in enumerate(rows)}
    clips = [number[row["id"]] for row in captions]
    return Part(store, clips, captions, groups=groups and [groups[clip] for clip in clips]).readable()


def _frames(net: Any, requested: int | None) -> int:
    needed = getattr(getattr(net.config, "vision_config", None), "num_frames", None)
    if needed and requested and requested != needed:
        raise UsageError(f"--frames {requested}: this model takes exactly {needed}")
    return int(needed or requested or DEFAULT_FRAMES)


def _is_shapes(root: Path) -> bool:
    return SetFolder(root).builder == "shapes"


def _processes() -> Any:
    """The processes that `torchrun` or `accelerate launch` started; one otherwise."""
    import torch
    from accelerate import PartialState

    # the others wait while the first makes negatives and stores frames, which may take a day
    return PartialState(cpu=not torch.cuda.is_available(), timeout=timedelta(days=7))


def _silent(_: str) -> None:
    return None
