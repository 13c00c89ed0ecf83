"""Repairing a tiny generative model (a real class, random weights) with preference pairs of the shapes world, by TRL.

PYTHONPATH=tests/support/torchvision_shim:.venv/vlm python benchmarks/preferences.py --output preferences

Builds clips, generates negatives of the training captions, exports them, trains with DPOTrainer as
docs/preferences.md shows it, and compares the model before and after on test clips of the same world.
"""

import argparse
import importlib.util
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "support"))


def run(output: Path, *, clips: int, items: int, steps: int, batch: int, frames: int) -> str:
    """The comparison of the model after training with the one before, as Markdown."""
    import datasets
    import tiny_vlm
    import torch
    from transformers import AutoModelForImageTextToText, AutoProcessor
    from trl import DPOConfig, DPOTrainer

    import video_contrast
    from video_contrast.reports.compare import compare_runs, lines
    from video_contrast.teacher.generation import GenerateOptions, generate
    from video_contrast.teacher.preferences import export_preferences

    torch.set_num_threads(1)
    base = tiny_vlm.gemma3(output / "base")
    world = video_contrast.build("shapes", ["retrieval", "verb_mc"], output=output / "set", items=items, train=clips)
    generate(world, request=GenerateOptions(output=output / "negatives", generator="lexical", negatives="2-action"))
    counts = export_preferences(
        output / "negatives", output=output / "pairs", format_="dpo", frames=frames, video_root=world
    )
    begin = time.process_time()
    options = DPOConfig(
        str(output / "trained"), max_steps=steps, per_device_train_batch_size=batch, learning_rate=3e-3,
        max_length=None, report_to="none", save_strategy="no", use_cpu=True, bf16=False,
        logging_steps=max(1, steps // 4),
    )  # fmt: skip
    trainer = DPOTrainer(
        AutoModelForImageTextToText.from_pretrained(base),
        args=options,
        train_dataset=datasets.load_dataset(str(output / "pairs"), split="train"),
        processing_class=AutoProcessor.from_pretrained(base),
    )
    trainer.train()
    trainer.save_model(str(output / "trained"))
    spent = time.process_time() - begin
    runs = {name: output / "runs" / name for name in ("base", "trained")}
    for name, path in runs.items():
        video_contrast.score(
            str(output / name),
            world,
            "verb_mc",
            output=path,
            frames=frames,
            options={"scoring": "loglik"},
            progress=False,
        )
    print(f"{counts['rows']} pairs, {steps} steps of {batch}: {spent:.0f} s of CPU")
    return "\n".join(lines(compare_runs(runs["base"], runs["trained"])))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--output", type=Path, default=Path("build/preferences"))
    for name, default in (("clips", 96), ("items", 100), ("steps", 80), ("batch", 8), ("frames", 2)):
        parser.add_argument(f"--{name}", type=int, default=default)
    given = vars(parser.parse_args())
    missing = [name for name in ("torchvision", "trl") if importlib.util.find_spec(name) is None]
    if missing:
        print(f"left out: {' and '.join(missing)} cannot be imported (the model's processor and the trainer need them)")
        return
    print(run(given.pop("output"), **given))


if __name__ == "__main__":
    main()
