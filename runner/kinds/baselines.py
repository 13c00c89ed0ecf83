"""Scorers that never look at a video: random, constant, and blind.

They stand beside every table. `blind` is a language model: a caption that reads better is taken for the true one.
By default it is a word trigram model fitted, without labels, to the captions of the set itself; each caption is scored
by a model that has not seen it nor the other options of its item. `--lm MODEL` takes a causal language model of
transformers instead.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from video_contrast import seeds
from video_contrast.runner.kinds.base import KindOption, LoadOptions, ModelSource, TextScorer, kind


class Random(TextScorer):
    """A uniform number for every pair, from the seed and the ids alone."""

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed

    def similarity(self, video_ids: Sequence[str], text_ids: Sequence[str], texts: Sequence[str]) -> np.ndarray:
        """float64[N, M] in 0..1."""
        streams = seeds.Streams()
        return np.stack([streams.at(self.seed, "random", video).random(len(text_ids)) for video in video_ids])

    def score_item(self, item_id: str, video_id: str, captions: Sequence[str]) -> np.ndarray:
        """float64[k] in 0..1."""
        return seeds.stream(self.seed, "random", item_id).random(len(captions))


class Constant(TextScorer):
    """The same score for every pair: must come out at exactly chance."""

    def similarity(self, video_ids: Sequence[str], text_ids: Sequence[str], texts: Sequence[str]) -> np.ndarray:
        """Zeros, float64[N, M]."""
        return np.zeros((len(video_ids), len(text_ids)))


class Trigrams:
    """An interpolated word trigram model from which texts can be taken out again.

    p(w | u v) mixes the trigram, bigram and unigram estimates with weights .5, .3 and .2 and one unseen word.
    """

    WEIGHTS = (0.2, 0.3, 0.5)

    def __init__(self, texts: Iterable[str]) -> None:
        self.grams: Counter[tuple[str, ...]] = Counter()
        self.contexts: Counter[tuple[str, ...]] = Counter()
        for text in texts:
            self._add(text, self.grams, self.contexts)
        self.words = len({gram for gram in self.grams if len(gram) == 1})

    @staticmethod
    def tokens(text: str) -> list[str]:
        """Lower-case words between two boundary marks on the left and one on the right."""
        return ["<s>", "<s>", *text.lower().split(), "</s>"]

    def _add(self, text: str, grams: Counter[tuple[str, ...]], contexts: Counter[tuple[str, ...]]) -> None:
        words = self.tokens(text)
        for at in range(2, len(words)):
            for order in range(3):
                gram = tuple(words[at - order : at + 1])
                grams[gram] += 1
                contexts[gram[:-1]] += 1

    def score(self, text: str, without: Iterable[str] = ()) -> float:
        """Mean natural-log probability a word, with the texts `without` taken out of the counts."""
        grams: Counter[tuple[str, ...]] = Counter()
        contexts: Counter[tuple[str, ...]] = Counter()
        for other in without:
            self._add(other, grams, contexts)
        words = self.tokens(text)
        total = 0.0
        for at in range(2, len(words)):
            p = 0.0
            for order, weight in enumerate(self.WEIGHTS):
                gram = tuple(words[at - order : at + 1])
                seen = self.contexts[gram[:-1]] - contexts[gram[:-1]]
                count = self.grams[gram] - grams[gram]
                p += weight * ((count + 0.1) / (seen + 0.1 * (self.words + 1)) if order == 0 else count / max(seen, 1))
            total += math.log(p)
        return total / (len(words) - 2)


class Blind(TextScorer):
    """Scores captions by how well they read."""

    def __init__(self, language_model: Any = None) -> None:
        self.language_model = language_model
        self.trigrams = Trigrams(())
        self.known: set[str] = set()
        self.cache: dict[str, float] = {}

    @property
    def facts(self) -> dict[str, Any]:
        """Which language model it is."""
        return {"language_model": self.language_model.name if self.language_model else "word trigrams of the set"}

    def begin(self, texts: Sequence[str], *, condition: str = "clean") -> None:
        """Fits the trigrams to all texts of the set (each text once), or scores them in batches."""
        self.known = set(texts)
        if self.language_model:
            todo = sorted(self.known - self.cache.keys())
            self.cache.update(zip(todo, self.language_model.score(todo), strict=True))
        else:
            self.trigrams = Trigrams(sorted(self.known))

    def similarity(self, video_ids: Sequence[str], text_ids: Sequence[str], texts: Sequence[str]) -> np.ndarray:
        """float64[N, M]: all rows are equal."""
        row = [self._score(text, (text,)) for text in texts]
        return np.tile(np.array(row, np.float64), (len(video_ids), 1))

    def score_item(self, item_id: str, video_id: str, captions: Sequence[str]) -> np.ndarray:
        """float64[k]: mean log-probability a word (or a token)."""
        return np.array([self._score(caption, captions) for caption in captions], np.float64)

    def _score(self, text: str, together: Sequence[str]) -> float:
        if self.language_model:
            return self.cache[text]
        return self.trigrams.score(text, [other for other in together if other in self.known])


class CausalLM:
    """Mean log-probability a token under a causal language model of transformers."""

    def __init__(self, name: str, settings: LoadOptions) -> None:
        import transformers

        from video_contrast.runner.kinds.loading import explained, load_model
        from video_contrast.runner.locate import locate

        self.name = name
        source = locate(name, option="--lm")
        with explained(source):
            self.tokenizer = transformers.AutoTokenizer.from_pretrained(source.path, local_files_only=True)
        self.model = load_model(source, settings, "AutoModelForCausalLM")
        self.start = next(
            token
            for token in (self.tokenizer.bos_token_id, self.tokenizer.eos_token_id, self.tokenizer.pad_token_id, 0)
            if token is not None
        )

    def score(self, texts: Sequence[str]) -> list[float]:
        """One number a text; texts go one by one, so a score never depends on its neighbours."""
        import torch

        found = []
        with torch.inference_mode():
            for text in texts:
                ids = [self.start, *self.tokenizer.encode(text, add_special_tokens=False)]
                row = torch.tensor([ids], device=self.model.device)
                logits = self.model(input_ids=row).logits[0, :-1].float().log_softmax(-1)
                found.append(float(logits.gather(1, row[0, 1:, None]).mean()))
        return found


@kind("random", family="text", summary="a random number for every pair: the line of chance", names=("random",),
      options=(KindOption("random_seed", int, 0, "Seed of the random scorer."),))  # fmt: skip
def load_random(source: ModelSource, settings: LoadOptions) -> Random:
    """The random scorer."""
    return Random(settings.options.get("random_seed", 0))


@kind("constant", family="text", summary="one score for all pairs: ties must give exactly chance", names=("constant",))
def load_constant(source: ModelSource, settings: LoadOptions) -> Constant:
    """The constant scorer."""
    return Constant()


@kind(
    "blind",
    family="text",
    summary="a language model that never sees the video",
    names=("blind",),
    tested=("GPT2LMHeadModel",),
    options=(
        KindOption("lm", str, "", "Causal language model (Hub id or folder) of the blind scorer; trigrams if none."),
    ),
)
def load_blind(source: ModelSource, settings: LoadOptions) -> Blind:
    """The blind scorer."""
    name = settings.options.get("lm", "")
    return Blind(CausalLM(name, settings) if name else None)
