"""The names of generators and constraints, their thresholds, and how each is made."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from video_contrast.errors import UsageError, unknown_name
from video_contrast.perturbations.contrast.constraints.rules import Frequency, HasWord, Inflection, OtherLemma, Siblings
from video_contrast.perturbations.contrast.verb.candidate import Constraint, Generator
from video_contrast.perturbations.contrast.verb.counts import WordCounts
from video_contrast.perturbations.contrast.verb.target import VERB, Target

GENERATORS = ("lexical", "t5", "mlm", "llm")
RULES = ("has_verb", "lemma", "frequency", "siblings", "inflection")  # need no model
MODELS = ("perplexity", "word_vectors", "sentence")  # the paper's; cheap ones come first, so few reach these
OPTIONAL = ("nli",)


@dataclass(frozen=True)
class Settings:
    """Thresholds, models and files of the constraints; the defaults are the paper's (A.3).

    Attributes:
        frequency_limit: a verb must be used more often; None: 30, scaled down for corpora under 100,000 captions.
        sibling_senses: with how many WordNet senses a verb's synonyms count as used by a sibling (0: none).
        language_model: GPT-2 family, a Hub id or folder.
        perplexity_rise, perplexity_loose_rise, perplexity_cap: kept if the rise is under the first, or under the
            second with a perplexity under the cap.
        perplexity_form: "rise" for (new - old) / old, or "printed" for the paper's (old - new) / old.
        vectors: a file of word vectors, text format or from `video-contrast vectors shrink`; None: not given.
        word_cosine, sentence_cosine: a contrast must stay under both; antonyms are exempt.
        sentence_model: the encoder that sentence_cosine belongs to.
        nli_model, nli_entailment: reject a contrast that the caption entails with at least this probability.
        batch_tokens: tokens in one batch of a model step; None: what suits the device.
        device: "auto", "cpu", "cuda" ...
    """

    frequency_limit: float | None = None
    sibling_senses: int = 0
    language_model: str = "openai-community/gpt2-xl"
    perplexity_rise: float = 0.6
    perplexity_loose_rise: float = 1.4
    perplexity_cap: float = 750.0
    perplexity_form: str = "rise"
    vectors: str | Path | None = None
    word_cosine: float = 0.4
    sentence_model: str = "sentence-transformers/bert-base-nli-mean-tokens"
    sentence_cosine: float = 0.8
    nli_model: str | None = None
    nli_entailment: float = 0.5
    batch_tokens: int | None = None
    device: str = "auto"

    @classmethod
    def of(cls, **given: Any) -> Settings:
        """Settings from keywords.

        Raises:
            UsageError: a keyword is unknown; the message suggests the nearest.
        """
        known = [field.name for field in fields(cls)]
        for name in given:
            if name not in known:
                raise unknown_name("setting of a verb constraint", name, known)
        return cls(**given)


def constraint_names(generator: str | Generator | None, asked: Iterable[str] | None) -> list[str]:
    """The constraints to apply: those asked for, in our order, or the default set of the generator.

    Default: `lexical` takes those that need no model, the others all but the optional ones. Without a generator
    and without a wish: every name there is.

    >>> constraint_names("lexical", None)
    ['has_verb', 'lemma', 'frequency', 'siblings', 'inflection']
    """
    every = [*RULES, *MODELS, *OPTIONAL]
    if asked is None:
        if generator is None:
            return every
        name = generator if isinstance(generator, str) else generator.name
        return list(RULES) if name == "lexical" else [*RULES, *MODELS]
    wanted = list(asked)
    for name in wanted:
        if name not in every:
            raise unknown_name("verb constraint", name, every)
    return [name for name in every if name in wanted]


def make_constraint(name: str, settings: Settings, counts: WordCounts | None) -> Constraint:
    """The constraint called `name`, loaded with its model or file.

    Raises:
        UsageError: it needs something that was not given; the message names the option.
        VideoContrastError: its model or file is absent; the message names it.
    """
    if name == "frequency":
        return Frequency(_needed(counts, "the constraint 'frequency'"), settings.frequency_limit)
    plain: dict[str, Callable[[], Constraint]] = {
        "has_verb": HasWord,
        "has_noun": lambda: HasWord("has_noun"),
        "lemma": OtherLemma,
        "siblings": lambda: Siblings(settings.sibling_senses),
        "inflection": Inflection,
    }
    if name in plain:
        return plain[name]()
    if name == "perplexity":
        from video_contrast.perturbations.contrast.constraints.perplexity import Perplexity

        return Perplexity(settings)
    if name == "word_vectors":
        from video_contrast.perturbations.contrast.constraints.word_cosine import WordVectors

        return WordVectors(settings)
    if name == "sentence":
        from video_contrast.perturbations.contrast.constraints.sentence_cosine import SentenceCosine

        return SentenceCosine(settings)
    if name == "nli":
        from video_contrast.perturbations.contrast.constraints.nli import NotEntailed

        return NotEntailed(settings)
    raise unknown_name("verb constraint", name, constraint_names(None, None))


def make_generator(
    generator: str | Generator,
    counts: WordCounts | None,
    settings: Settings,
    options: dict[str, Any],
    target: Target = VERB,
) -> Generator:
    """The generator called so, with its options; an object is taken as it is.

    Raises:
        UsageError: unknown name or option.
        VideoContrastError: its model is absent.
    """
    if not isinstance(generator, str):
        return generator
    if generator not in GENERATORS:
        raise unknown_name("verb generator", generator, GENERATORS)
    maker: Callable[..., Generator]
    if generator == "lexical":
        from video_contrast.perturbations.contrast.generators.lexical import LexicalGenerator

        known = _needed(counts, "the generator 'lexical'")

        def maker(**chosen: Any) -> Generator:
            return LexicalGenerator(known, target=target, **chosen)

    elif generator == "t5":
        from video_contrast.perturbations.contrast.generators.t5 import T5Generator

        maker = T5Generator
        options.setdefault("device", settings.device)
    elif generator == "mlm":
        from video_contrast.perturbations.contrast.generators.mlm import MaskedGenerator

        maker = MaskedGenerator
        options.setdefault("device", settings.device)
    else:
        from video_contrast.perturbations.contrast.generators.llm import ChatGenerator

        maker = ChatGenerator
        options.setdefault("device", settings.device)
    try:
        return maker(**options)
    except TypeError as error:
        raise UsageError(f"the generator {generator!r} does not take these options: {error}") from error


def _needed(counts: WordCounts | None, who: str) -> WordCounts:
    if counts is None:
        raise UsageError(f"{who} needs training captions: give train_captions= (or counts=)")
    return counts
