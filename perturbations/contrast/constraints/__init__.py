"""Constraints on contrast captions, one a file. Generators propose; constraints accept.

A new constraint is a file with a dataclass as `base.Constraint` describes it, and a line in `CONSTRAINTS`. Its fields
are its options.
"""

from collections.abc import Iterable
from dataclasses import fields

from video_contrast.errors import unknown_name
from video_contrast.options import GivenOptions
from video_contrast.perturbations.contrast.constraints.base import Constraint, Verdict
from video_contrast.perturbations.contrast.constraints.frequency import Frequency
from video_contrast.perturbations.contrast.constraints.has_word import HasNoun, HasVerb
from video_contrast.perturbations.contrast.constraints.inflection import Inflection
from video_contrast.perturbations.contrast.constraints.lift import SiblingLift
from video_contrast.perturbations.contrast.constraints.nli import NotEntailed
from video_contrast.perturbations.contrast.constraints.other_lemma import OtherLemma
from video_contrast.perturbations.contrast.constraints.perplexity import Perplexity
from video_contrast.perturbations.contrast.constraints.sentence_cosine import SentenceCosine
from video_contrast.perturbations.contrast.constraints.siblings import Siblings
from video_contrast.perturbations.contrast.constraints.word_cosine import WordVectors
from video_contrast.perturbations.contrast.given_options import check_given

# In the order in which they are applied: the cheap ones first, so that few candidates reach the models.
_ORDER: tuple[type[Constraint], ...] = (
    HasVerb,
    HasNoun,
    OtherLemma,
    Frequency,
    Siblings,
    SiblingLift,
    Inflection,
    Perplexity,
    WordVectors,
    SentenceCosine,
    NotEntailed,
)
CONSTRAINTS = {constraint.name: constraint for constraint in _ORDER}
__all__ = ["CONSTRAINTS", "Constraint", "Verdict", "check_options", "constraint_names", "make_constraint"]


def constraint_names(generator: str | None, names: Iterable[str] | None = None, *, target: str = "verb") -> list[str]:
    """The constraints to apply, in their order.

    Args:
        generator: of a generator the default are the rules, the lift of sibling captions and the paper's models.
            None: every constraint there is.
        names: those to apply; None for the default.
        target: "verb" or "object"; "has_verb" means "has_noun" for objects.

    Raises:
        UsageError: an unknown name.

    >>> constraint_names("t5", ["lemma", "has_verb"])
    ['has_verb', 'lemma']
    """
    known = {name: constraint for name, constraint in CONSTRAINTS.items() if target in constraint.targets}
    if names is not None:
        requested = {"has_noun" if target == "object" and name == "has_verb" else name for name in names}
        for name in sorted(requested - set(known)):
            raise unknown_name(f"{target} constraint", name, list(known))
        return [name for name in known if name in requested]
    if generator is None:
        return list(known)
    groups = ("rule", "counts", "model")
    return [name for name, kind in known.items() if kind.group in groups and target in kind.default_targets]


def check_options(options: GivenOptions) -> None:
    """Checks the names of constraint options, and that numbers are numbers.

    Raises:
        UsageError: no constraint has an option of this name; the message suggests the nearest. Or a value of another
            kind than the default.
    """
    usual: dict[str, object] = {"device": "auto"}
    for constraint in _ORDER:
        usual |= {field.name: field.default for field in fields(constraint) if field.init}  # type: ignore[arg-type]  # all are dataclasses
    by_user = {name: value for name, value in options.items() if name != "caption_counts"}
    nameable = {key: value for key, value in usual.items() if key != "caption_counts"}
    check_given("option of a constraint", by_user, nameable)


def make_constraint(name: str, options: GivenOptions) -> Constraint:
    """The constraint called `name`, with its model or file loaded.

    Args:
        name: a key of `CONSTRAINTS`.
        options: options of any constraints; each takes its own.

    Raises:
        UsageError: it needs something that was not given; the message names the option.
        VideoContrastError: its model or file is absent; the message names it.
    """
    own = {field.name for field in fields(CONSTRAINTS[name])}  # type: ignore[arg-type]  # all are dataclasses
    arguments = {key: value for key, value in options.items() if key in own}
    return CONSTRAINTS[name](**arguments)
