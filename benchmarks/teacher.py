"""Speed of LLM-teacher's training on the shapes world, as a share of a bare loop over preloaded tensors."""

import tempfile
import time
from pathlib import Path

import pyarrow.parquet as pq
import torch

import video_contrast
from video_contrast.runner.kinds.loading import Tokens
from video_contrast.teacher.losses import contrast_loss, label_loss
from video_contrast.teacher.negatives import Wanted, negatives
from video_contrast.teacher.pairs import Pairs
from video_contrast.teacher.run import load_checkpoint
from video_contrast.teacher.store import open_store
from video_contrast.teacher.training import Part, Settings, _losses, _similarities

BATCH, STEPS, ROUNDS = 32, 6, 4


def main() -> None:
    torch.set_num_threads(1)
    net, processor, _ = load_checkpoint("temporal-plain")
    tokens = Tokens(processor.tokenizer, net.config)
    with tempfile.TemporaryDirectory() as folder:
        root = video_contrast.build("shapes", ["retrieval"], output=folder, items=20, gallery=4, train=BATCH * STEPS)
        rows = pq.read_table(root / "retrieval" / "train-00000-of-00001.parquet").to_pylist()
        wanted = Wanted(10, 0, "shapes", "lsa", 0, "bench")
        made, _ = negatives(rows, wanted, Path(folder) / "n.parquet", say=lambda _: None)
        store = open_store(Path(folder) / "f.npy", rows, root, processor.image_processor, 6, progress=False)
        part = Part(store, list(range(len(rows))), made[::2])
        pairs = Pairs(net).train()
        optimizer = torch.optim.AdamW(net.parameters(), lr=1e-5)
        batches = [list(range(n * BATCH, (n + 1) * BATCH)) for n in range(STEPS)]
        ready = []
        for picked in batches:
            caught: list[tuple] = []

            def catch(pixels, words, caught=caught):  # type: ignore[no-untyped-def]
                caught.append((pixels, words))
                return torch.zeros(len(pixels), len(words["input_ids"]))

            _, mask, where, same = _similarities(catch, tokens, part, picked, "cpu")
            ready.append((*caught[0], mask, where["columns"], same))

        def step(loss: torch.Tensor) -> None:
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()

        def bare() -> None:
            for pixels, words, mask, columns, same in ready:
                own = pairs(pixels, words)
                mine = torch.cat([own.diagonal()[:, None], own[:, BATCH:].gather(1, columns)], 1)
                step(label_loss(mine, 0.05, mask) + contrast_loss(own[:, :BATCH], 0.05, same))

        def ours() -> None:
            for picked in batches:
                step(sum(_losses(pairs, tokens, part, picked, Settings(), "cpu").values()))

        spent = {"bare": [], "ours": []}
        for _ in range(ROUNDS):
            for name, loop in (("bare", bare), ("ours", ours)):
                begin = time.process_time()
                loop()
                spent[name].append((time.process_time() - begin) / STEPS)
    best = {name: min(values) for name, values in spent.items()}
    print(f"bare loop {best['bare'] * 1000:.0f} ms a step, training {best['ours'] * 1000:.0f} ms: "
          f"{best['bare'] / best['ours']:.0%} of the bare loop's speed")  # fmt: skip


if __name__ == "__main__":
    main()
