"""Repairing a small generative model with preference pairs of the shapes world, by TRL, on a CPU.

    PYTHONPATH=tests/support/torchvision_shim:.venv/vlm python benchmarks/preferences.py --output preferences

The model is a LLaVA whose vision tower is the packaged CLIP and whose language model has random weights. A supervised
phase (SFTTrainer) teaches it to describe training clips; preference pairs (DPOTrainer) then ask for the true action
beside a false one: alone ("preferred"), or with the likelihood of the true caption as a second term ("kept"), as
docs/preferences.md shows it. All read the same exported folder. The negatives are those that the
shapes world verifies, so that no wording tells them. Test clips show scenes that training never shows. Models that lie
in OUTPUT are not trained again.
"""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from statistics import mean, stdev
from typing import Any

from parts.command_line import parser_of
from parts.tiny_llava import tiny_llava

TEST = (
    "retrieval", "random_mc", "antonym_mc", "verb_mc", "counterfactual_mc", "gender_mc", "person_id_mc", "entity_mc",
    "object_mc", "role_mc",
)  # fmt: skip
GALLERY = 40  # clips of the retrieval
ARMS: dict[str, dict[str, object]] = {
    "preferred": {"learning_rate": 1e-3},
    "kept": {"learning_rate": 3e-4, "loss_type": ["sigmoid", "sft"], "loss_weights": [1.0, 4.0]},
}
SHARED: dict[str, object] = {
    "max_length": None, "report_to": "none", "save_strategy": "no", "use_cpu": True, "bf16": False,
    "gradient_checkpointing": False, "lr_scheduler_type": "cosine", "weight_decay": 0.02, "adam_beta2": 0.98,
    "disable_tqdm": True,
}  # fmt: skip
Comparisons = list[Any]  # what `compare_runs` returns, which is imported only to run


def negatives(world: Path, output: Path, count: int) -> Path:
    """A set of the training captions, each with false actions that the shapes world verified."""
    from video_contrast.rows import multiple_choice_row
    from video_contrast.storage import SetDraft, SetFolder
    from video_contrast.teacher.negative_recipe import NegativeRecipe
    from video_contrast.teacher.negatives import negatives as verified

    rows = {row["id"]: row for row in SetFolder.open(world).retrieval_rows("retrieval", "train")}
    captions, _ = verified(
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


def described(pairs: Any) -> Any:  # of `datasets`, which is imported only to train
    """The pairs as examples of descriptions: every caption once."""
    first: dict[tuple[str, str], int] = {}
    for number, (preferred, videos) in enumerate(zip(pairs["chosen"], pairs["videos"], strict=True)):
        first.setdefault((videos[0], preferred[0]["content"]), number)
    distinct = pairs.select(sorted(first.values())).rename_column("chosen", "completion")
    return distinct.remove_columns(["rejected", "videos", "kind", "id"])


def train(base: Path, output: Path, rows: Any, *, seed: int, how: Any, settings: Any) -> None:  # of TRL and datasets
    """Trains with one of TRL's trainers, and says how long it took."""
    from transformers import AutoModelForImageTextToText, AutoProcessor

    if (output / "model.safetensors").exists():
        return
    begin = time.process_time()
    model = AutoModelForImageTextToText.from_pretrained(base)
    model.model.vision_tower.requires_grad_(False)
    options = settings(str(output), seed=seed, **SHARED, **how["options"])
    processor = AutoProcessor.from_pretrained(base)
    trainer = how["trainer"](model, args=options, train_dataset=rows, processing_class=processor)
    trainer.train()
    trainer.save_model(str(output))
    print(f"{output.name}: {time.process_time() - begin:.0f} s of CPU", flush=True)


def run(output: Path, *, clips: int, items: int, sft: int, dpo: int, seeds: Sequence[int], frames: int) -> str:
    """The comparison of the models after the pairs with those before, as Markdown."""
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
        gallery = min(GALLERY, items)
        video_contrast.build("shapes", list(TEST), output=world, items=items, gallery=gallery, train=clips)
        contrasts = negatives(world, output / "negatives", 2)
        export_preferences(contrasts, output=pairs, format_="dpo", frames=frames, video_root=world)
    rows = datasets.load_dataset(str(pairs), split="train")
    texts = [f"{prompts.DESCRIBE} {prompts.DESCRIBE}", *(preferred[0]["content"] for preferred in rows["chosen"])]
    compared: dict[str, list[Comparisons]] = {arm: [] for arm in ARMS}
    for seed in seeds:
        folders = {name: output / f"{name}-{seed}" for name in ("random", "described", *ARMS)}
        check_trainable(tiny_llava(folders["random"], texts, seed=seed), pairs)
        train(
            folders["random"], folders["described"], described(rows), seed=seed, settings=SFTConfig,
            how={"trainer": SFTTrainer, "options": {
                "max_steps": sft, "per_device_train_batch_size": 32, "learning_rate": 3e-3, "warmup_steps": sft // 20,
                "logging_steps": max(1, sft // 10)}},
        )  # fmt: skip
        for arm, options in ARMS.items():
            train(
                folders["described"], folders[arm], rows, seed=seed, settings=DPOConfig,
                how={"trainer": DPOTrainer, "options": options | {
                    "max_steps": dpo, "per_device_train_batch_size": 16, "warmup_steps": dpo // 20, "beta": 0.5,
                    "logging_steps": max(1, dpo // 10)}},
            )  # fmt: skip
        runs = {name: output / "runs" / f"{name}-{seed}" for name in ("described", *ARMS)}
        for name, path in runs.items():
            video_contrast.score(
                str(folders[name]), world, list(TEST), output=path, frames=frames, progress=False,
                options={"scoring": "loglik", "norm": "sum"},
            )  # fmt: skip
        for arm, of_arm in compared.items():
            of_arm.append(compare_runs(runs["described"], runs[arm]))
            print("\n".join(lines(of_arm[-1])), flush=True)
    tables = [f"{arm}\n\n" + "\n".join(table(of_arm)) for arm, of_arm in compared.items()]
    return "\n\n".join([f"{len(rows)} pairs, seeds {', '.join(map(str, seeds))}", *tables])


def table(compared: Sequence[Comparisons]) -> Iterator[str]:
    """Markdown: a line a figure, as means over the seeds, and the difference of each seed."""
    yield "| | questions | descriptions | with pairs | by seed | difference |"
    yield "|---|---|---|---|---|---|"
    for of_seeds in zip(*compared, strict=True):
        row = of_seeds[0]
        if row["figure"] not in ("accuracy", "t2v R@1", "v2t R@1"):
            continue
        first, second, differences = (
            [of_seed[key] for of_seed in of_seeds] for key in ("first", "second", "difference")
        )
        spread = f" ± {stdev(differences):.3f}" if len(differences) > 1 else ""
        name = row["config"] if row["figure"] == "accuracy" else f"{row['config']} {row['figure']}"
        yield (
            f"| {name} | {row['n']} | {mean(first):.3f} | {mean(second):.3f} | "
            f"{', '.join(f'{value:+.3f}' for value in differences)} | {mean(differences):+.3f}{spread} |"
        )


def main() -> None:
    parser = parser_of(__doc__)
    parser.add_argument(
        "--output", type=Path, default=Path("preferences"), help="folder of models and runs [default: preferences]"
    )
    for name, default, what in (
        ("clips", 2000, "training clips"), ("items", 200, "test items a config"), ("sft", 900, "supervised steps"),
        ("dpo", 500, "steps on pairs"), ("frames", 2, "frames a clip"),
    ):  # fmt: skip
        parser.add_argument(f"--{name}", type=int, default=default, help=f"{what} [default: {default}]")
    parser.add_argument("--seeds", type=int, nargs="+", default=[0], help="of the trainings [default: 0]")
    arguments = vars(parser.parse_args())
    print(run(arguments.pop("output"), **arguments))


if __name__ == "__main__":
    main()
