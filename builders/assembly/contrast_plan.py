"""The options of contrast sets that builders share, the plan that they make, and the votes that it learns from."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar

from video_contrast.builders.assembly.captioned_clip import normal
from video_contrast.builders.assembly.clip_contrasts import Attempt, CaptionChoice, Contrasts, TrainingVideos
from video_contrast.builders.assembly.configs import ContrastConfig, ContrastPlan
from video_contrast.builders.assembly.difference import difference
from video_contrast.builders.assembly.review import read_ticks
from video_contrast.builders.assembly.word_contrasts import EditOptions, Generator, KindContrasts, WordContrasts
from video_contrast.builders.sources.caption_table import TableRow, read_table
from video_contrast.builders.sources.released import HumanContrasts, read_negatives
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.options import Range
from video_contrast.perturbations.contrast import gender, person_id
from video_contrast.perturbations.contrast.judge import Judge
from video_contrast.perturbations.contrast.judge_votes import ContrastVote, trained_judges
from video_contrast.perturbations.contrast.kinds import RULES
from video_contrast.perturbations.contrast.proposal import Kind

Casts = Callable[[], Mapping[str, Mapping[str, str]]]  # movie -> name -> gender

WORDS: tuple[Kind, ...] = ("verb", "object")
RULE_CONFIGS = tuple(f"{kind}_mc" for kind in RULES)

# What to do where no contrast can be built.
HINT = (
    "--explain says why for each clip; a lower --quality asks less of a contrast, and --training TABLE adds what "
    "captions of your own kind say"
)


@dataclass(frozen=True, kw_only=True)
class ContrastSetOptions(EditOptions):
    """How contrasts are made."""

    RECORDED: ClassVar[tuple[str, ...]] = ("caption", "generator", "generator_model", "quality")

    caption: Annotated[CaptionChoice, "edited: eligible, the first that can be; base, that of random_mc"] = "eligible"
    generator: Annotated[Generator, "what proposes verbs and objects; lexicon: hand-written uses, no model"] = "lexicon"
    explain: Annotated[bool, "say for each clip without a verb or object contrast why it has none"] = False
    review: Annotated[bool, "write review.html beside the set: a page to tick, mend or write contrasts"] = False
    ticks: Annotated[Path | None, "ticked contrasts, as review.html saves them; default: OUTPUT/review.tsv"] = None
    judge: Annotated[Path | None, "votes that train the judge further: ticks, or a table of read contrasts"] = None
    seed: Annotated[int, "seed of every draw"] = 0
    num_proc: Annotated[int, "processes that share the work", Range(1)] = 1

    def record(self) -> dict[str, object]:
        """The options that a set's record shows."""
        return {name.replace("generator_model", "model"): getattr(self, name) for name in self.RECORDED}


@dataclass(frozen=True, kw_only=True)
class GenderAndVerbOptions(ContrastSetOptions):
    """How contrasts are made, those of gender included."""

    RECORDED = (*ContrastSetOptions.RECORDED, "extended")

    extended: Annotated[bool, "gender: relatives and professions beside Table 6"] = False


def contrast_plan(
    options: ContrastSetOptions,
    *,
    training_videos: TrainingVideos | None = None,
    casts: Casts | None = None,
    human: str | Path | None = None,
    paper: Mapping[str, Mapping[str, float]] = {},
) -> ContrastPlan:
    """Returns the plan of a builder with the usual options.

    The captions of training videos are added to the counts; `human` is a table of negatives for verb_human_mc; `paper`:
    the contrast-set paper's counts by config, to stand beside ours of the set that it used. Raises UsageError: options
    of generators that do not fit, or no such table.
    """
    judges: Mapping[Kind, Judge] = {}
    if options.judge:
        judges = trained_judges(read_votes(existing(options.judge, "it must hold votes", "--judge")))
        if not judges:
            raise UsageError(f"--judge {options.judge}: no row has a vote on a contrast of one verb or one thing")
    verbs, objects = (
        WordContrasts(
            target=target, generator=options.generator, options=options, training=training_videos,
            judge=judges.get(target), explain=options.explain, review=options.review, seed=options.seed,
        )
        for target in WORDS
    )  # fmt: skip
    missing: dict[str, str] = {}
    contrasts = {
        "gender_mc": ContrastConfig("gender", lambda: partial(_gender, options), paper=paper.get("gender_mc")),
        "verb_mc": ContrastConfig(verbs.kind, lambda: verbs, verbs.facts, paper=paper.get("verb_mc"), hint=HINT),
        "object_mc": ContrastConfig("object", lambda: objects, objects.facts, hint=HINT),
    }
    for kind in RULES:
        contrasts[f"{kind}_mc"] = ContrastConfig(kind, partial(KindContrasts, kind, options.seed))
    if casts is None:
        missing["person_id_mc"] = "give --cast FILE, a table of movie, name and gender"
    else:
        contrasts["person_id_mc"] = ContrastConfig("person_id", lambda: partial(_person_id, casts(), options.seed))
    if human is None:
        missing["verb_human_mc"] = "give --human FILE, a table of video_id, caption and negative"
    else:
        negatives = existing(human, "it must hold human negatives", "--human")
        contrasts["verb_human_mc"] = ContrastConfig("verb_human", lambda: HumanContrasts(read_negatives(negatives)))
    mixed = ("gender_mc", "verb_mc", "object_mc", *RULE_CONFIGS)
    ticks = read_ticks(existing(options.ticks, "it must hold ticks", "--ticks"), [*contrasts]) if options.ticks else ()
    return ContrastPlan(
        options.seed, options.caption, num_proc=options.num_proc, contrasts=contrasts, mixed=mixed, missing=missing,
        ticks=ticks, review=options.review,
    )  # fmt: skip


def _gender(options: ContrastSetOptions, attempts: Sequence[Attempt]) -> Contrasts:
    """One contrast a caption with a gendered noun (`perturbations.contrast.gender`)."""
    captions, ids = [a.caption for a in attempts], [a.id for a in attempts]
    edits, counts = gender.contrasts(captions, ids, seed=options.seed, extended=getattr(options, "extended", False))
    return [[edit] if edit else [] for edit in edits], counts


def _person_id(casts: Mapping[str, Mapping[str, str]], seed: int, attempts: Sequence[Attempt]) -> Contrasts:
    """One contrast a caption that names a character with a peer; `casts` is movie -> name -> gender."""
    captions, ids = [a.caption for a in attempts], [a.id for a in attempts]
    edits, counts = person_id.contrasts(captions, ids, [casts.get(a.clip.pool, {}) for a in attempts], seed=seed)
    return [[edit] if edit else [] for edit in edits], counts


def existing(path: str | Path, what: str, option: str) -> Path:
    """Returns the path, if there is such a file or folder.

    `what`: what it must be or hold, for the message. Raises UsageError: there is none; the message names the option.
    """
    if not Path(path).exists():
        raise UsageError(f"{option} {path}: no such file or folder; {what}")
    return Path(path)


def select_splits(names: str, known: Mapping[str, object]) -> list[str]:
    """The splits named in an option, comma-separated. Raises UsageError: one is not there; lists those that are."""
    selected = [name.strip() for name in names.split(",") if name.strip()]
    for name in selected:
        if name not in known:
            raise UsageError(f"--splits: no split {name!r}; there are {', '.join(known)}")
    return selected


_CAPTION, _CONTRAST = ("caption", "original"), ("contrast", "edited")
_ANSWERS = {"yes": True, "1": True, "true": True, "no": False, "0": False, "false": False, "": None}


def read_votes(path: Path) -> list[ContrastVote]:
    """Reads rows with `caption` (or `original`), `contrast` (`edited`), and `vote` or `natural` and `surely false`.

    A reader each may have columns ("natural 1", "surely false 1", "natural 2" ...); rows without an answer are left
    out. Raises UsageError: a column is missing; VideoContrastError: another answer than yes, no, 1 or 0, an empty
    caption, or one that its contrast equals; names the line.
    """
    votes = []
    for row in read_table(path):
        caption, contrast = (
            row.text(row.usual(None, names), f"a column {names[0]}") for names in (_CAPTION, _CONTRAST)
        )
        if normal(caption) == normal(contrast):
            raise VideoContrastError(f"{row.place}: the contrast equals the caption: {caption!r}")
        readers = [name.removeprefix("natural") for name in row.cells if name.startswith("natural")]
        answers = [(_answer(row, f"natural{reader}"), _answer(row, f"surely false{reader}")) for reader in readers]
        edit = difference(caption, contrast, "vote")
        votes += [ContrastVote(caption, edit, *answer) for answer in answers if answer != (None, None)]
        if not readers and (tick := _answer(row, "vote")) is not None:
            votes.append(ContrastVote(caption, edit, *((True, True) if tick else (None, None))))
    return votes


def _answer(row: TableRow, column: str) -> bool | None:
    answer = " ".join(row.texts(column, "columns vote, or natural and surely false")).lower()
    if answer not in _ANSWERS:
        raise VideoContrastError(f"{row.place}: {column} must be yes or no (1 or 0), not {answer!r}")
    return _ANSWERS[answer]
