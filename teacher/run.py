"""`teach`: a checkpoint and a captioned set in, a fine-tuned standard checkpoint and its learning curves out."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Any

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import write_json
from video_contrast.options import with_options
from video_contrast.rows import RetrievalRow
from video_contrast.runner.adapters import check_peft
from video_contrast.runner.locate import locate
from video_contrast.seeds import digest
from video_contrast.storage import SetFolder
from video_contrast.teacher.batches import groups_of
from video_contrast.teacher.feed import Part
from video_contrast.teacher.frozen import with_outputs
from video_contrast.teacher.gate import paired_rows
from video_contrast.teacher.lora import adapted, save_adapters
from video_contrast.teacher.negatives import NegativeRecipe, amounts, negatives, with_similarities
from video_contrast.teacher.options import DataOptions, TeachOptions
from video_contrast.teacher.pairs import Pairs
from video_contrast.teacher.presets import with_preset
from video_contrast.teacher.saving import drop_broken, plot_curves, same_run
from video_contrast.teacher.similarity import check_encoder, content
from video_contrast.teacher.store import FrameStore, open_store
from video_contrast.teacher.trackers import check_tracker
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
        (their ids, each with the reason), `validation` (each figure on the validation clips before and after, see
        `gate.paired_rows`), `encoded` (clips and captions that a frozen tower encoded now), `model` (the folder: a
        checkpoint, or adapters), `main` (whether this is the first process).
    """
    request = with_preset(request)
    request.check()
    check_tracker(request.report_to)
    output, store_folder = request.output, request.store or request.output / "store"
    root, splits = read_splits(dataset, request)
    groups = groups_of(splits[0], request.group) if request.group else None
    recipe = recipe_of(dataset, request)
    recipe.check()
    check_encoder(request.encoder)
    if request.lora_rank:
        check_peft("--lora-rank")
        if not request.merge and locate(str(model)).adapter is not None:
            raise UsageError(f"--lora-rank: {model} holds adapters: give --merge, or merge them first")
    net, processor, revision = load_checkpoint(model)
    count = frames_of(net, request.frames)
    here = _processes()
    whole = {
        "settings": request.record(),
        "identity": _identity(request, recipe, splits, revision=revision, frames=count),
        "processes": here.num_processes,
    }
    same_run(output, whole)  # before anything that takes long
    if here.is_main_process:
        drop_broken(output)
    lora = None
    if request.lora_rank:
        import torch

        torch.manual_seed(int.from_bytes(digest("teach adapters", request.seed)[:4], "little"))
        lora = adapted(net, str(model), request, request.freeze)
    quiet = not (progress and here.is_main_process)
    say = _silent if quiet else print
    material = _material(
        Pairs(net.to(here.device), request.freeze), processor, request, recipe,
        splits=splits, root=request.video_root or root, groups=groups, folder=store_folder, count=count, here=here,
        model=revision, say=say,
    )  # fmt: skip
    result = train(
        net, material.tokens, *material.parts, options=request, output=output, lora=lora is not None,
        report_to=request.report_to, stop_after=stop_after, progress=not quiet,
    )  # fmt: skip
    before, after = result.pop("before"), result.pop("after")
    result |= {
        "negatives": material.counts,
        "missing": len(material.unread),
        "unread": material.unread,
        "validation": paired_rows(before.hits, after.hits, "validation", seed=request.seed),
    }
    if result["finished"] and here.is_main_process:
        if lora is not None and not request.merge:
            save_adapters(lora, output / "model", revision)
        else:
            save_checkpoint(net if lora is None else lora.merge_and_unload(), processor, output / "model")
        plot_curves(output)
        write_json(output / "result.json", result)
    here.wait_for_everyone()
    return result | {
        "model": str(output / "model"), "encoded": dict(material.encoded), "main": here.is_main_process
    }  # fmt: skip


@dataclass
class Material:
    """What is learned from.

    Attributes:
        parts: training and validation.
        tokens: captions and a device to the text tower's arguments.
        counts: of negatives, by split.
        unread: ids of clips that are left out, each with the reason.
        encoded: clips and captions that a frozen tower encoded now.
    """

    parts: list[Part]
    tokens: Any
    counts: dict[str, dict[str, int]]
    unread: dict[str, str]
    encoded: Counter[str]


def _material(
    pairs: Pairs,
    processor: Any,
    request: TeachOptions,
    recipe: NegativeRecipe,
    *,
    splits: Sequence[Sequence[RetrievalRow]],
    root: Path,
    groups: list[str] | None,
    folder: Path,
    count: int,
    here: Any,
    model: str,
    say: Callable[[str], None],
) -> Material:
    """Frames first, so that no negative is made (or paid for) of a clip that cannot be read; then the captions."""
    from video_contrast.runner.kinds.loading import Tokens

    images = getattr(processor, "image_processor", None) or processor.video_processor
    quiet, names = say is _silent, ("train", "validation")
    made = Material(
        [], Tokens(processor.tokenizer, pairs.model.config), {}, {}, encoded=Counter({"clips": 0, "captions": 0})
    )
    stores = []
    for name, rows in zip(names, splits, strict=True):
        with here.main_process_first():  # the first process makes what is stored, the others find it
            store = open_store(
                folder / f"frames-{name}", rows, root, images, frames=count,
                accept_damaged=request.accept_damaged, progress=not quiet,
            )  # fmt: skip
        stores.append(store)
        made.unread |= {rows[number]["id"]: reason for number, reason in store.missing.items()}
    if made.unread:
        say(f"{len(made.unread)} clips could not be read and are left out (all of them are named in result.json):")
        for name, reason in list(made.unread.items())[:UNREAD_SHOWN]:
            say(f"  {name}: {reason}")
    readable = [[row for row in rows if row["id"] not in made.unread] for rows in splits]
    documents = [row["captions"] for row in readable[0]]
    corpus = [text for captions in documents for text in captions]
    for name, rows, kept, store in zip(names, splits, readable, stores, strict=True):
        with here.main_process_first():
            captions, made.counts[name] = negatives(kept, recipe, folder / f"negatives-{name}", corpus=corpus, say=say)
            captions = with_similarities(
                captions, request.encoder, folder / f"similarities-{name}", documents=documents, say=say
            )
            part = _part(store, rows, captions, groups if name == "train" else None)
            part, now = with_outputs(
                pairs, part, made.tokens, folder / f"frozen-{name}", model=model, device=here.device,
                progress=not quiet,
            )  # fmt: skip
        made.parts.append(part)
        made.encoded.update(now)
    return made


def recipe_of(dataset: str | Path, request: TeachOptions) -> NegativeRecipe:
    """Which negatives the options ask for."""
    generator = request.generator
    if generator == "auto":
        generator = "shapes" if _is_shapes(Path(dataset)) else "lexical"
    actions, objects = amounts(request.negatives)
    return NegativeRecipe(
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


def _identity(
    request: TeachOptions, recipe: NegativeRecipe, splits: Sequence[Any], *, revision: str, frames: int
) -> dict[str, Any]:
    """What a run depends on besides the options of the training."""
    return {
        "checkpoint": revision, "frames": frames, "encoder": content(request.encoder), "group": request.group,
        "generator_model": content(recipe.model), "generator_options": recipe.options,
        **{key: value for key, value in asdict(recipe).items() if key not in ("model", "options", "seed")},
        **{f"{name} data": _digest(rows) for name, rows in zip(("training", "validation"), splits, strict=True)},
    }  # fmt: skip


def load_checkpoint(model: str | Path) -> tuple[Any, Any, str]:
    """A model in float32, its processor, and the revision of its files.

    A checkpoint whose config names no class of transformers, as those of CLIP4Clip, is of the class that its
    `model_type` stands for: the one that `score` runs.

    Raises:
        VideoContrastError: there is none, or it is of a kind that cannot be trained here.
    """
    import transformers

    from video_contrast.runner.kinds import all_kinds
    from video_contrast.runner.kinds.base import LoadOptions as Loading
    from video_contrast.runner.kinds.loading import load_model, load_processor

    source = locate(str(model))
    dual, name = all_kinds()["dual_encoder"], source.architecture or None
    if source.model_type in dual.model_types and name not in dual.architectures:
        name = None
    elif not name or not hasattr(transformers, name):
        raise UsageError(f"teach trains standard transformers classes, not {name or 'an unknown one'} ({model})")
    loading = Loading(device="cpu", dtype="float32")
    net = load_model(source, loading, name)
    if source.adapter is not None:
        net.requires_grad_(True)  # the library freezes what it merges adapters into
    return net, load_processor(source, loading), source.revision


def save_checkpoint(net: Any, processor: Any, folder: Path) -> None:
    """Writes a plain `save_pretrained` folder.

    Args:
        net: the model; saved in float32.
        processor: saved beside it.
        folder: where to.
    """
    net.float().save_pretrained(folder)
    processor.save_pretrained(folder)


def read_splits(
    dataset: str | Path, options: DataOptions
) -> tuple[Path, tuple[Sequence[RetrievalRow], Sequence[RetrievalRow]]]:
    """The set's folder, and its rows to learn from and to stop by.

    Args:
        dataset: folder or Hub id.
        options: config and splits; without a validation split a tenth of the clips is set aside.

    Raises:
        UsageError, VideoContrastError: there is no such set, config or split.
    """
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
        raise UsageError(
            f"--dataset {dataset}: {len(rows)} clips are too few to set a tenth aside for validation; add a split "
            f"{validation!r} to the set"
        )
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
    captions = [row | {"video_id": rows[clip]["video_id"]} for row, clip in zip(captions, clips, strict=True)]
    return Part(store, clips, captions, groups=groups and [groups[clip] for clip in clips]).readable()


def frames_of(net: Any, requested: int | None) -> int:
    """Frames a clip: as many as the model needs, or as requested.

    Raises:
        UsageError: the model takes another number.
    """
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
