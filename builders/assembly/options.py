"""Options that several builders share, read from the same words: the plan of the contrasts."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from video_contrast.builders.assembly.configs import Plan
from video_contrast.builders.assembly.contrasts import Choice, Gender, PersonId
from video_contrast.builders.assembly.verbs import Verbs
from video_contrast.builders.sources.released import Human, read_negatives
from video_contrast.errors import UsageError

CAPTION_HELP = "caption that a contrast is built on: eligible (the first that allows it) or base (that of random_mc)"
EXTENDED_HELP = "gender: use the longer list of nouns beside the paper's Table 6"
GENERATOR_HELP = "of verb_mc: lexical, t5, mlm or llm"
MODEL_HELP = "checkpoint of the generator (Hub id or folder)"
GENERATOR_OPTIONS_HELP = "further options of the generator: name=value,... (endpoint=, store=, k= ...)"
CONSTRAINTS_HELP = "constraints of verb_mc, comma-separated; default: the generator's own set"
SETTINGS_HELP = "further thresholds and models of the constraints: name=value,..."
TAGGER_HELP = "auto, hanta, nltk, spacy:MODEL or amr:FILE"
NUM_PROC_HELP = "processes that share the work"
TRAINING_HELP = "table of training captions (same columns) whose words are counted; default: the captions themselves"


def plan(
    *,
    seed: int,
    caption: str,
    num_proc: int,
    extended: bool,
    generator: str,
    model: str | None,
    generator_options: str | None = None,
    constraints: str | None,
    settings: str | None,
    tagger: str,
    training: Callable[[], Sequence[str]],
    casts: Callable[[], Mapping[str, Mapping[str, str]]] | None = None,
    human: str | Path | None = None,
    options: int = 5,
    paper: bool = False,
) -> Plan:
    """The plan of a builder with the usual options.

    Args:
        training: gives the captions whose words are counted; called only if a verb or object contrast is built.
        human: a table of human negatives for verb_human_mc.
        casts: gives movie -> name -> gender; None where the set has no characters.
        Others: as the options of the same names.

    Raises:
        UsageError: an unknown generator or caption.
    """
    verbs = Verbs(
        training, generator, model, constraints, settings, tagger, seed, num_proc, generator_options=generator_options
    )
    # Objects have no T5 or chat generator: those fall back to the one that needs no model.
    objects = Verbs(
        training, "mlm" if generator == "mlm" else "lexical", model if generator == "mlm" else None,
        None, None, tagger, seed, num_proc, "object",
    )  # fmt: skip
    missing = {}
    generators: dict[str, Any] = {
        "gender_mc": lambda: Gender(seed, extended, tagger),
        "verb_mc": lambda: verbs,
        "object_mc": lambda: objects,
    }
    if casts is None:
        missing["person_id_mc"] = "give --cast FILE, a table of movie, name and gender"
    else:
        generators["person_id_mc"] = lambda: PersonId(casts(), seed)
    if human is None:
        missing["verb_human_mc"] = "give --human FILE, a table of video_id, caption and negative"
    else:
        negatives = existing(human, "it must hold human negatives", "--human")
        generators["verb_human_mc"] = lambda: Human(read_negatives(negatives))
    return Plan(
        seed=seed,
        options=options,
        caption=choice(caption),
        num_proc=num_proc,
        generators=generators,
        kinds={"verb_mc": verbs.kind, "verb_human_mc": "verb_human"},
        details={"verb_mc": verbs.facts, "object_mc": objects.facts},
        missing=missing,
        paper=paper,
    )


def choice(caption: str) -> Choice:
    """The option `--caption`.

    Raises:
        UsageError: neither eligible nor base.
    """
    if caption == "eligible":
        return "eligible"
    if caption == "base":
        return "base"
    raise UsageError(f"--caption must be eligible or base, not {caption!r}")


def existing(path: str | Path, what: str, option: str) -> Path:
    """The path, if there is such a file or folder.

    Raises:
        UsageError: there is none; the message names the option.
    """
    if not Path(path).exists():
        raise UsageError(f"{option} {path}: no such file or folder; {what}")
    return Path(path)


def chosen_splits(asked: str, known: Mapping[str, Any]) -> list[str]:
    """The splits named in an option, comma-separated.

    Raises:
        UsageError: one of them is not there; the message lists those that are.
    """
    names = [name.strip() for name in asked.split(",") if name.strip()]
    for name in names:
        if name not in known:
            raise UsageError(f"--splits: no split {name!r}; there are {', '.join(known)}")
    return names
