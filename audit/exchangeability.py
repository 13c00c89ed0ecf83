"""Was a set in a language model's training data? Then it finds the published order likelier than a shuffled one.

Items of a set that nobody has seen are exchangeable: every order is as likely as the published one. So are the
candidates of an item, where they were shuffled (Oren et al., 2024, "Proving test set contamination in black-box
language models", sharded test).
"""

from collections.abc import Callable, Sequence

import numpy as np

from video_contrast.language_model import LanguageModel
from video_contrast.rows import MultipleChoiceRow
from video_contrast.seeds import stream
from video_contrast.storage.set_folder import Facts

Written = Callable[[Sequence[str]], str]  # how texts are put together
SHUFFLES = 8  # orders that each published one is compared with
SHARD_WORDS = 300  # of a shard: what every model reads at once
MOST = 400  # shards, or items
LEAST = 10


def exchangeability(rows: Sequence[MultipleChoiceRow], model: LanguageModel, *, seed: int = 0) -> Facts:
    """Tests whether a language model prefers the published order of items, and that of candidates.

    Returns a test of either order; None below `LEAST`. A small p-value says that the order is known, not by which way.
    """
    texts = [" ".join([*filter(None, [row.get("question")]), row["candidates"][row["label"]]]) for row in rows]
    shards: list[list[str]] = [[]]
    for text in texts:
        if sum(len(part.split()) for part in shards[-1]) + len(text.split()) > SHARD_WORDS and len(shards[-1]) > 1:
            shards.append([])
        shards[-1].append(text)
    whole = [shard for shard in shards if len(shard) > 1][:MOST]
    lists = [list(row["candidates"]) for row in rows if len(set(row["candidates"])) > 1][:MOST]

    def lettered(candidates: Sequence[str]) -> str:
        return "\n".join(f"({chr(ord('A') + n)}) {text}" for n, text in enumerate(candidates))

    return {
        "model": model.name,
        "items": _tested(whole, model, seed, what="items", written="\n".join),
        "candidates": _tested(lists, model, seed, what="candidates", written=lettered),
    }


def _tested(groups: Sequence[list[str]], model: LanguageModel, seed: int, *, what: str, written: Written) -> Facts:
    texts = []
    for number, group in enumerate(groups):
        rng = stream(seed, "exchangeability", what, number)
        texts.append(written(group))
        for _ in range(SHUFFLES):
            order = rng.permutation(len(group))
            texts.append(written([group[n] for n in order]))
    if len(groups) < LEAST:
        return {"n": len(groups), "gain": None, "p_value": None}
    from scipy.stats import ttest_1samp

    likelihoods = -np.log(np.array(model.perplexity(texts))).reshape(len(groups), SHUFFLES + 1)
    gains = likelihoods[:, 0] - likelihoods[:, 1:].mean(axis=1)
    p_value = 1.0 if np.allclose(gains, gains[0]) else float(ttest_1samp(gains, 0, alternative="greater").pvalue)
    return {"n": len(groups), "gain": round(float(gains.mean()), 6), "p_value": p_value}
