"""Speed of LLM-teacher's training on the shapes world, as a share of a bare loop over preloaded tensors.

python benchmarks/teacher.py
"""

import tempfile
from pathlib import Path

import torch
from parts.clock import in_turn
from parts.command_line import parser_of

import video_contrast
from video_contrast.runner.kinds.loading import Tokens
from video_contrast.teacher.checkpoint import load_checkpoint
from video_contrast.teacher.feed import Batch, Part, collate
from video_contrast.teacher.frozen import with_outputs
from video_contrast.teacher.losses import contrast_loss, label_loss
from video_contrast.teacher.negative_recipe import NegativeRecipe
from video_contrast.teacher.negatives import negatives, with_similarities
from video_contrast.teacher.options import TrainingOptions
from video_contrast.teacher.pairs import Pairs
from video_contrast.teacher.store import open_store
from video_contrast.teacher.terms import losses

BATCH, STEPS, ROUNDS = 32, 6, 4


def main() -> None:
    parser_of(__doc__).parse_args()
    torch.set_num_threads(1)
    net, processor, _ = load_checkpoint("temporal-plain")
    tokens = Tokens(processor.tokenizer, net.config)
    with tempfile.TemporaryDirectory() as folder:
        root = video_contrast.build("shapes", ["retrieval"], output=folder, items=20, gallery=4, train=BATCH * STEPS)
        rows = video_contrast.open_set(root).retrieval_rows("retrieval", "train")
        plain, _ = negatives(rows, NegativeRecipe(10, 0, "shapes"), Path(folder) / "n", corpus={}, say=_silent)
        documents = [row["captions"] for row in rows]
        examples = with_similarities(plain, "lsa", Path(folder) / "s", documents=documents, say=_silent)
        store = open_store(Path(folder) / "f", rows, root, processor.image_processor, 6, progress=False)
        part = Part(store, list(range(len(rows))), examples[::2])
        pairs = Pairs(net).train()
        locked = Pairs(load_checkpoint("temporal-plain")[0], "both").train()
        stored, _ = with_outputs(locked, part, tokens, Path(folder) / "o", "bench", progress=False)
        locked.train()
        learning = [p for p in (*pairs.parameters(), *locked.parameters()) if p.requires_grad]
        optimizer = torch.optim.AdamW(learning, lr=1e-5)
        batches = [list(range(n * BATCH, (n + 1) * BATCH)) for n in range(STEPS)]
        ready = [collate(part, picked, tokens, "cpu") for picked in batches]

        def step(loss: torch.Tensor) -> None:
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()

        def bare() -> None:
            for batch in ready:
                own, square, _ = pairs(batch.videos, batch.texts, batch.own)
                step(label_loss(own, 0.05, batch.mask) + contrast_loss(square, 0.05, batch.same))

        def ours() -> None:
            for picked in batches:
                step(_loss(pairs, collate(part, picked, tokens, "cpu")))

        def frozen() -> None:
            for picked in batches:
                step(_loss(locked, collate(stored, picked, tokens, "cpu")))

        spent = in_turn({"bare": bare, "ours": ours, "frozen": frozen}, ROUNDS)
    best = {name: min(values) / STEPS for name, values in spent.items()}
    print(f"bare loop {best['bare'] * 1000:.0f} ms a step, training {best['ours'] * 1000:.0f} ms: "
          f"{best['bare'] / best['ours']:.0%} of the bare loop's speed")  # fmt: skip
    print(
        f"with --freeze both {best['frozen'] * 1000:.0f} ms a step: {best['ours'] / best['frozen']:.1f} times as fast"
    )


def _loss(pairs: Pairs, batch: Batch) -> torch.Tensor:
    own, square, temperature = pairs(batch.videos, batch.texts, batch.own, batch.everyone)
    return sum(losses(own, square, temperature, batch, options=TrainingOptions(temperature=0.05)).values())


def _silent(_: str) -> None:
    return None


if __name__ == "__main__":
    main()
