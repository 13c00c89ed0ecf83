"""A causal language model that reads captions without their videos: which of two texts is likelier?

Was a set in its training data? Then it finds the published order likelier than a shuffled one. Items of a set that
nobody has seen are exchangeable: every order is as likely as the published one. So are the candidates of an item, where
they were shuffled (Oren et al., 2024, "Proving test set contamination in black-box language models", sharded test).
"""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from video_contrast.perturbations.contrast.generators.base import in_batches, tokens_a_batch
from video_contrast.pretrained import device_of, load, log_probabilities, perplexity_of, placed, token_rows
from video_contrast.rows import MultipleChoiceRow
from video_contrast.seeds import stream
from video_contrast.storage.set_folder import Facts
from video_contrast.untyped import Tokenizer, TorchModel

_KEPT = 500_000  # perplexities that stay in memory


class LanguageModel:
    """Perplexities of texts under a causal model: exp of the mean negative log-likelihood of their tokens."""

    def __init__(self, model: str, *, device: str = "auto", batch_tokens: int | None = None) -> None:
        from transformers import AutoModelForCausalLM, AutoTokenizer

        # as a record of a set may name it: no path of this machine, which could not be published
        self.name = Path(model).resolve().name if Path(model).is_dir() else model
        self._device = device_of(device)
        self._budget = tokens_a_batch(batch_tokens, self._device)
        self._tokenizer: Tokenizer = load(model, AutoTokenizer, "language_model")
        network = load(model, AutoModelForCausalLM, "language_model")
        self._model: TorchModel = placed(network, self._device, "language_model")
        self._known: dict[str, float] = {}

    def perplexity(self, texts: Sequence[str]) -> list[float]:
        """One perplexity a text, in float32 or better; equal texts are computed once."""
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if len(self._known) > _KEPT:
            self._known, new = {}, list(dict.fromkeys(texts))
        if new:
            limit = int(getattr(self._model.config, "max_position_embeddings", 1024) or 1024)
            rows = token_rows(self._tokenizer, new, limit)

            def run(batch: list[int]) -> list[NDArray[np.float64]]:
                return log_probabilities(self._model, [rows[n] for n in batch])

            for batch, logs in in_batches([len(row) for row in rows], self._budget, run):
                self._known.update(zip([new[n] for n in batch], map(perplexity_of, logs), strict=True))
        return [self._known[text] for text in texts]


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
