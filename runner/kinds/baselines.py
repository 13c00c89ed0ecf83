"""Scorers that never look at a video: random, constant, and blind.

`blind` scores a caption by what the texts of the set give away: by the stronger of the blind models of a set's audit
(`audit.blind_models`), learned from the set itself with its labels. No caption is scored by a model that has seen it,
or an item of the same video. `--lm MODEL` takes a causal language model of transformers instead: what reads better is
taken for true.
"""

from collections.abc import Sequence

import numpy as np

from video_contrast import seeds
from video_contrast.audit import blind_models
from video_contrast.files import JsonObject
from video_contrast.language_model import log_probabilities, token_rows
from video_contrast.options import Option
from video_contrast.runner.kinds.base import LabelledItem, LoadOptions, ModelSource, TextScorer, kind


class Random(TextScorer):
    """A uniform number for every pair, from the seed and the ids alone; stands in for a model that looks at clips."""

    needs_clips = True

    def __init__(self, seed: int = 0) -> None:
        self.seed = seed
        self.streams = seeds.Streams()

    def similarity(self, video_ids: Sequence[str], text_ids: Sequence[str], texts: Sequence[str]) -> np.ndarray:
        """float64[N, M] in 0..1."""
        return np.stack([self.streams.at(self.seed, "random", video).random(len(text_ids)) for video in video_ids])

    def score_item(self, item_id: str, video_id: str, captions: Sequence[str]) -> np.ndarray:
        """float64[k] in 0..1."""
        return self.streams.at(self.seed, "random", item_id).random(len(captions))


class Constant(TextScorer):
    """A baseline with one score for every pair, which must come out at exactly chance."""

    def similarity(self, video_ids: Sequence[str], text_ids: Sequence[str], texts: Sequence[str]) -> np.ndarray:
        """Zeros, float64[N, M]."""
        return np.zeros((len(video_ids), len(text_ids)))


class Blind(TextScorer):
    """Scores captions by the texts of the set alone."""

    def __init__(self) -> None:
        self.models: dict[str, str] = {}  # config and condition -> the blind model that was the stronger one
        self.texts: list[str] = []
        self.of_texts: dict[tuple[str, ...], dict[str, float]] = {}  # by trigrams cross-fitted on these very texts
        self.of_item: dict[str, np.ndarray] = {}  # by the models of the audit

    @property
    def facts(self) -> JsonObject:
        """The blind models that were the stronger ones."""
        return {"blind_models": self.models}

    def begin(self, texts: Sequence[str], *, condition: str = "clean") -> None:
        """Notes the texts, which are learned from."""
        self.texts, self.of_item = sorted(set(texts)), {}

    def begin_items(self, items: Sequence[LabelledItem], *, config: str = "", condition: str = "clean") -> None:
        """Fits the blind models of the audit to the items."""
        summary, scores = blind_models.strongest_blind_scores(
            [item.candidates for item in items], [item.label for item in items], [item.kinds for item in items],
            clusters=[item.cluster for item in items], answers=any(item.answers for item in items),
        )  # fmt: skip
        self.models[f"{config}, {condition}"] = summary
        self.of_item = {item.id: of_item for item, of_item in zip(items, scores, strict=True)}

    def similarity(self, video_ids: Sequence[str], text_ids: Sequence[str], texts: Sequence[str]) -> np.ndarray:
        """float64[N, M]: all rows are equal; each text by a model that has not seen it."""
        unique = tuple(self.texts or sorted(set(texts)))
        if unique not in self.of_texts:  # conditions that differ in the video alone share their texts
            fold = blind_models.folds_of(unique, min(5, len(unique)), 0)
            trigrams = blind_models.BLIND_MODELS["language_model"].fit
            scores = blind_models.cross_fitted([[text] for text in unique], fold, trigrams)
            self.of_texts[unique] = {text: float(score[0]) for text, score in zip(unique, scores, strict=True)}
        row = [self.of_texts[unique][text] for text in texts]
        return np.tile(np.array(row, np.float64), (len(video_ids), 1))

    def score_item(self, item_id: str, video_id: str, captions: Sequence[str]) -> np.ndarray:
        """float64[k], higher for what looks true; of texts without items, by trigrams of the others."""
        if item_id in self.of_item:
            return self.of_item[item_id]
        return blind_models.TrigramModel([text for text in self.texts if text not in captions]).score(captions)


class BlindLanguageModel(TextScorer):
    """Scores captions by their mean log-probability a token under a causal language model of transformers."""

    def __init__(self, name: str, settings: LoadOptions) -> None:
        import transformers

        from video_contrast.runner.kinds.loading import explained, load_model
        from video_contrast.runner.model_files import locate

        self.name = name
        self.of_text: dict[str, float] = {}
        source = locate(name, option="--lm")
        with explained(source):
            self.tokenizer = transformers.AutoTokenizer.from_pretrained(source.path, local_files_only=True)
        self.model = load_model(source, settings, "AutoModelForCausalLM")

    @property
    def facts(self) -> JsonObject:
        """The language model's name."""
        return {"language_model": self.name}

    def begin(self, texts: Sequence[str], *, condition: str = "clean") -> None:
        """Scores the texts one by one, so that a score never depends on its neighbours."""
        todo = [text for text in sorted(set(texts)) if text not in self.of_text]
        for text, row in zip(todo, token_rows(self.tokenizer, todo), strict=True):
            self.of_text[text] = float(log_probabilities(self.model, [row])[0].mean())

    def similarity(self, video_ids: Sequence[str], text_ids: Sequence[str], texts: Sequence[str]) -> np.ndarray:
        """float64[N, M]: all rows are equal."""
        return np.tile(np.array([self.of_text[text] for text in texts], np.float64), (len(video_ids), 1))


@kind("random", family="text", summary="a random number for every pair: the line of chance", names=("random",),
      options=(Option("random_seed", int, 0, "Seed of the random scorer."),))  # fmt: skip
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
    options=(Option("lm", str, "", "Causal language model (Hub id or folder) that scores; else models of the set."),),
)
def load_blind(source: ModelSource, settings: LoadOptions) -> Blind | BlindLanguageModel:
    """The blind scorer."""
    name = settings.options.get("lm", "")
    return BlindLanguageModel(name, settings) if name else Blind()
