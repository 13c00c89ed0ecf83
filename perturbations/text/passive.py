"""TextStyle (robustness paper, A.2): a caption becomes passive, a statement or one or more imperatives."""

from numpy.random import Generator

from video_contrast.perturbations.english import Sentence
from video_contrast.perturbations.registry import text_perturbation
from video_contrast.perturbations.text import checkpoints
from video_contrast.perturbations.text.checkpoints import Given
from video_contrast.perturbations.text.imperative_passive import passive_of_imperatives
from video_contrast.perturbations.text.statement_passive import passive_of_statement
from video_contrast.perturbations.text.style_transfer import transfer


@text_perturbation(
    "active_to_passive",
    category="TextStyle",
    origin="natural",
    version="12",
    requirements=(
        "parse",
        "named:prithivida/active_to_passive_styletransfer",
        "named:prithivida/parrot_adequacy_model",
    ),
    batched=True,
)
def active_to_passive(
    sentences: list[Sentence], rngs: list[Generator], *, profile: str = "paper", models: Given = None
) -> list[str]:
    """The caption in the passive, by rules (or by a style-transfer checkpoint that is named)."""
    if checkpoints.names_of("active_to_passive", models)[0] == checkpoints.RULES:
        return [passive(sentence) for sentence in sentences]
    return transfer("active_to_passive", [sentence.caption for sentence in sentences], rngs, models)


def passive(sentence: Sentence) -> str:
    """The caption in the passive; unchanged where the rules are not sure of its subject, verb, object and rest.

    >>> from video_contrast.perturbations.english import parse
    >>> [passive(sentence) for sentence in parse(["a little girl does gymnastics", "add the onions to the pan"])]
    ['gymnastics is done by a little girl', 'the onions are added to the pan']
    """
    text = (passive_of_imperatives if sentence.imperatives else passive_of_statement)(sentence)
    if text is None:
        return sentence.caption
    return text[:1].upper() + text[1:] if sentence.caption[:1].isupper() else text
