"""Repairing a small generative model with preference pairs of the shapes world, by TRL, on a CPU.

PYTHONPATH=tests/support/torchvision_shim:.venv/vlm python benchmarks/preferences.py --output preferences

The model is a LLaVA whose vision tower is the packaged CLIP and whose language model has random weights. A supervised
phase (SFTTrainer) teaches it to describe training clips; preference pairs (DPOTrainer, as docs/preferences.md shows it)
then ask for the true action beside a false one. Both read the same exported folder. The negatives are those that the
shapes world verifies, so that no wording tells them. Test clips show scenes that training never shows.
"""

import argparse
import time
from pathlib import Path
from typing import Any

from preference_parts.tiny_llava import tiny_llava

TEST = ("verb_mc", "antonym_mc")
SHARED: dict[str, Any] = {
    "max_length": None, "report_to": "none", "save_strategy": "no", "use_cpu": True, "bf16": False,
    "gradient_checkpointing": False, "lr_scheduler_type": "cosine", "weight_decay": 0.02, "adam_beta2": 0.98,
    "disable_tqdm": True,
}  # fmt: skip


def negatives(world: Path, output: Path, count: int) -> Path:
    """A set of the training captions, each with false actions that the shapes world verified."""
    from video_contrast.rows import multiple_choice_row
    from video_contrast.storage import SetDraft, SetFolder
    from video_contrast.teacher.negatives import NegativeRecipe
    from video_contrast.teacher.negatives import negatives as made

    rows = {row["id"]: row for row in SetFolder.open(world).retrieval_rows("retrieval", "train")}
    captions, _ = made(
        list(rows.values()), NegativeRecipe(count, 0, "shapes"), output / "negatives", corpus={}, say=lambda _: None
    )
    items = [
        multiple_choice_row(
            id=f"{row['id']}-{number}", video_id=row["id"], video_path=rows[row["id"]]["video_path"], label=0,
            candidates=[row["caption"], *row["negatives"]], kinds=["true", *["verb"] * len(row["negatives"])],
        )
        for number, row in enumerate(captions) if row["negatives"]
    ]  # fmt: skip
    draft = SetDraft(output, "captions")
    draft.add("negatives_mc", {"train": items}, {})
    draft.save()
    return output


def described(pairs: Any) -> Any:
    """The pairs as examples of descriptions: every caption once."""
    first: dict[tuple[str, str], int] = {}
    for number, (chosen, videos) in enumerate(zip(pairs["chosen"], pairs["videos"], strict=True)):
        first.setdefault((videos[0], chosen[0]["content"]), number)
    kept = pairs.select(sorted(first.values())).rename_column("chosen", "completion")
    return kept.remove_columns(["rejected", "videos", "kind", "id"])


def train(base: Path, output: Path, rows: Any, *, seed: int, how: Any, settings: Any) -> float:
    """Trains with one of TRL's trainers; returns the seconds of CPU."""
    from transformers import AutoModelForImageTextToText, AutoProcessor

    begin = time.process_time()
    model = AutoModelForImageTextToText.from_pretrained(base)
    model.model.vision_tower.requires_grad_(False)
    options = settings(str(output), seed=seed, **SHARED, **how["options"])
    processor = AutoProcessor.from_pretrained(base)
    trainer = how["trainer"](model, args=options, train_dataset=rows, processing_class=processor)
    trainer.train()
    trainer.save_model(str(output))
    return time.process_time() - begin


def run(output: Path, *, clips: int, items: int, sft: int, dpo: int, seed: int, frames: int) -> str:
    """The comparison of the model after the pairs with the one before, as Markdown."""
    import datasets
    import torch
    from trl import DPOConfig, DPOTrainer, SFTConfig, SFTTrainer

    import video_contrast
    from video_contrast.reports.compare import compare_runs, lines
    from video_contrast.runner.kinds import prompts
    from video_contrast.teacher.preferences import check_trainable, export_preferences

    torch.set_num_threads(1)
    datasets.disable_progress_bars()
    world, pairs = output / "set", output / "pairs"
    if not (pairs / "preferences.json").exists():
        video_contrast.build("shapes", ["retrieval", *TEST], output=world, items=items, gallery=4, train=clips)
        contrasts = negatives(world, output / "negatives", 2)
        export_preferences(contrasts, output=pairs, format_="dpo", frames=frames, video_root=world)
    rows = datasets.load_dataset(str(pairs), split="train")
    folders = {name: output / f"{name}-{seed}" for name in ("random", "described", "preferred")}
    texts = [f"{prompts.DESCRIBE} {prompts.DESCRIBE}", *(chosen[0]["content"] for chosen in rows["chosen"])]
    check_trainable(tiny_llava(folders["random"], texts, seed=seed), pairs)
    spent = [
        train(
            folders["random"], folders["described"], described(rows), seed=seed, settings=SFTConfig,
            how={"trainer": SFTTrainer, "options": {
                "max_steps": sft, "per_device_train_batch_size": 32, "learning_rate": 3e-3, "warmup_steps": sft // 20,
                "logging_steps": max(1, sft // 10)}},
        ),
        train(
            folders["described"], folders["preferred"], rows, seed=seed, settings=DPOConfig,
            how={"trainer": DPOTrainer, "options": {
                "max_steps": dpo, "per_device_train_batch_size": 16, "learning_rate": 1e-3, "warmup_steps": dpo // 20,
                "beta": 0.5, "logging_steps": max(1, dpo // 10)}},
        ),
    ]  # fmt: skip
    runs = {name: output / "runs" / f"{name}-{seed}" for name in ("described", "preferred")}
    for name, path in runs.items():
        video_contrast.score(
            str(folders[name]), world, list(TEST), output=path, frames=frames, progress=False,
            options={"scoring": "loglik", "norm": "sum"},
        )  # fmt: skip
    print(f"{len(rows)} pairs; {spent[0]:.0f} s of CPU for descriptions, {spent[1]:.0f} s for preferences")
    return "\n".join(lines(compare_runs(runs["described"], runs["preferred"])))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output", type=Path, default=Path("preferences"))
    for name, default in (
        ("clips", 2000), ("items", 200), ("sft", 900), ("dpo", 500), ("seed", 0), ("frames", 2)
    ):  # fmt: skip
        parser.add_argument(f"--{name}", type=int, default=default)
    given = vars(parser.parse_args())
    print(run(given.pop("output"), **given))


if __name__ == "__main__":
    main()
