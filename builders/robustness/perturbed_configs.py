"""What the three builders of robustness sets share: a clean table in, its perturbed configs out.

    clean                 the table as it is
    keyboard ...          one config a text perturbation: the captions (or all options) perturbed
    visual                the 90 visual conditions as recipes: a row for each item and condition
    pairs                 the 66 (48) pairs: perturbed captions with the recipe of the visual side

A recipe is carried out when the clip is decoded. With files asked for, the perturbed clips are written instead, and
rows point at them (the clean ones at references that went through the same encoder).
"""

import json
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from video_contrast.builders.registry import BuiltSet
from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.perturbations.registry import TEXT, VIDEO
from video_contrast.perturbations.text import how_to_get, perturb_captions, shift
from video_contrast.perturbations.text import names as text_names
from video_contrast.perturbations.video import NAMES, PAIR_SEVERITY, PAIRS, SEVERITIES, VideoCondition
from video_contrast.rows import Row

Tables = Mapping[str, Sequence[Row]]
TEXTS = tuple(text_names())
TEXTS_WITHOUT_BIAS = tuple(text_names(bias=False))
OWN = ("clean", "visual", "pairs")
CONFIGS = ("clean", *TEXTS, "visual", "pairs")
CITATION = (
    "Schiappa, Vyas, Palangi, Rawat, Vineet: Robustness Analysis of Video-Language Models Against Visual and Language "
    "Perturbations. NeurIPS 2022 Datasets and Benchmarks."
)

_SAMPLED = 8  # frames that most video-text models look at

SEED_HELP = "of every perturbation"
PROFILE_HELP = "paper, released (the authors' code where it differs) or monotone (visual damage rises with severity)"
SCOPE_HELP = "what temporal perturbations and codecs act on: clip (between start and end) or video (then cut)"
ORDER_HELP = "perturb_then_sample (the paper's) or sample_then_perturb"
MODELS_HELP = "checkpoints for text perturbations: name=FOLDER_OR_HUB_ID,... (a+b where one needs two)"
ROOT_HELP = "folder of the videos: needed to write files, else used to measure the damage of each severity"
FILES_HELP = "also write the perturbed clips as files below this folder, which becomes the video root"
QUALITY_HELP = "of the files: high or lossless"
NUM_PROC_HELP = "processes that write files"
METEOR_HELP = "measure METEOR of the perturbed captions for the card (needs NLTK's WordNet data)"
LANGUAGE_MODEL_HELP = "measure perplexities for the card under this causal language model (the paper's: gpt2)"


@dataclass(frozen=True)
class Options:
    """The options that the builders of robustness sets share; see the help texts above."""

    seed: int = 0
    profile: str = "paper"
    scope: str = "clip"
    order: str = "perturb_then_sample"
    models: str | None = None
    video_root: Path | None = None
    files: Path | None = None
    quality: str = "high"
    num_proc: int = 1
    meteor: bool = False
    language_model: str | None = None

    def text_profile(self) -> str:
        """The profile of the captions: severities are a matter of pictures only."""
        return "paper" if self.profile == "monotone" else self.profile

    def text_models(self) -> dict[str, tuple[str, ...]] | None:
        """Perturbation -> checkpoints."""
        if not self.models:
            return None
        chosen = {}
        for part in self.models.split(","):
            name, equals, where = part.strip().partition("=")
            if not equals or name not in TEXT:
                raise UsageError(f"--models {part!r}: write a text perturbation's name = a folder or Hub id")
            chosen[name] = tuple(where.split("+"))
        return chosen

    def condition(self, name: str, severity: int) -> VideoCondition:
        """The visual condition under these options."""
        return VideoCondition(name, severity, self.profile, self.seed, self.scope, self.order)  # type: ignore[arg-type]


def perturbed_set(
    name: str, configs: Sequence[str], tables: Tables, options: Options, facts: dict[str, Any], *, bias: bool = True
) -> BuiltSet:
    """The perturbed configs of a clean retrieval or multiple-choice table.

    Args:
        name: of the builder.
        configs: which of `CONFIGS`. Where all are asked for, text perturbations whose checkpoint or data is not there
            are left out and named; asked for by name they are an error. From `pairs` they are always left out.
        tables: split -> clean rows.
        options: see there.
        facts: what the builder says of its source.
        bias: with the gender perturbations (35 texts, 66 pairs), or without (31, 48).

    Raises:
        UsageError: an option is wrong, or a text perturbation lacks what it needs; the message says how to get it.
        VideoContrastError: no video could be read where files are asked for.
    """
    options.condition(NAMES[0], 1)  # checks profile, scope and order before any work
    texts = TEXTS if bias else TEXTS_WITHOUT_BIAS
    everything = set(configs) >= {*texts, *OWN}
    built = BuiltSet(name, {}, {**facts, "seed": options.seed, "options": _recorded(options), "configs": {}})
    paths = _written(tables, configs, options, built) if options.files is not None else None
    if paths is not None:
        tables = {split: [row for row in rows if _clip(row) in paths] for split, rows in tables.items()}
        tables = {split: rows for split, rows in tables.items() if rows}
    done = _Texts(options, skip=everything)
    for config in configs:
        if config == "clean":
            rows = {split: [_as(row, paths, None) for row in rows] for split, rows in tables.items()}
            _add(built, config, rows, {"negatives": "none: the clean reference of every perturbed config"})
        elif config == "visual":
            _add(built, config, _visual(tables, options, paths), _visual_facts(tables, options))
        elif config == "pairs":
            _add_pairs(built, tables, options, paths, [pair for pair in PAIRS if pair[1] in texts], done)
        elif config in texts:
            changed = {split: done.of(rows, config) for split, rows in tables.items()}
            if all(result is None for result in changed.values()):
                _leave_out(built, config, how_to_get(TEXT[config]))
                continue
            kept = {split: result[0] for split, result in changed.items() if result and result[0]}
            checks = _first(changed)[1]
            if not kept:
                why = f"no item has different options left under {config}"
                if not everything:
                    raise VideoContrastError(f"{name} {config}: {why}: {checks}")
                _leave_out(built, config, why)
                continue
            rows = {split: [_as(row, paths, None) for row in found] for split, found in kept.items()}
            _add(built, config, rows, {"negatives": "all captions perturbed", "checks": checks})
        else:
            raise UsageError(f"{name} has no config {config!r}: without gender there are {len(texts)} text configs")
    return built


class _Texts:
    """Perturbed captions of whole tables, each text perturbation applied once."""

    def __init__(self, options: Options, skip: bool) -> None:
        self.options, self.skip = options, skip
        self.known: dict[tuple[int, str], tuple[list[Row], dict[str, Any]] | None] = {}

    def of(self, rows: Sequence[Row], name: str, *, skip: bool = False) -> tuple[list[Row], dict[str, Any]] | None:
        """The rows with perturbed texts and their shift; None where what it needs is not there and may be skipped."""
        key = (id(rows), name)
        if key not in self.known:
            try:
                self.known[key] = perturbed_rows(rows, name, self.options)
            except VideoContrastError:
                # only what needs a checkpoint or data may be missing; any other error is one of the input
                if not (self.skip or skip) or not TEXT[name].needs:
                    raise
                self.known[key] = None
        return self.known[key]


def perturbed_rows(rows: Sequence[Row], name: str, options: Options) -> tuple[list[Row], dict[str, Any]]:
    """Rows with every caption (or every option) perturbed, and what that did to them.

    An item whose options are no longer different from each other (a gender contrast made neutral) is left out and
    counted. The spans of edits do not hold in perturbed options, so `edits` becomes null.
    """
    column = "candidates" if "candidates" in rows[0] else "captions"
    texts: list[str] = []
    ids: list[str] = []
    indices: list[int] = []
    for row in rows:
        said = [*row[column], *([row["replaced"]] if row.get("replaced") else [])]
        texts += said
        ids += [row["id"]] * len(said)
        indices += range(len(said))
    done = perturb_captions(
        texts, name, ids=ids, caption_indices=indices, seed=options.seed,
        profile=options.text_profile(), models=options.text_models(),
    )  # fmt: skip
    recipe = {"name": name, "profile": options.text_profile(), "seed": options.seed}
    after = iter(done)
    kept, collapsed = [], 0
    for row in rows:
        changed = {**row, column: [next(after) for _ in row[column]], "text_perturbation": recipe}
        if row.get("replaced"):
            changed["replaced"] = next(after)
        if column == "candidates":
            changed["edits"] = [None] * len(row[column])
            if len(set(changed[column])) < len(changed[column]):
                collapsed += 1
                continue
        kept.append(changed)
    checks = _shift(texts, done, options)
    if column == "candidates":
        checks["items left out because two options became equal"] = collapsed
    return kept, checks


def _shift(before: Sequence[str], after: Sequence[str], options: Options) -> dict[str, Any]:
    from video_contrast.metrics.shift import caption_shift

    try:
        measured = caption_shift(after, before, meteor=options.meteor, language_model=options.language_model)
    except ValueError as error:  # WordNet or the model is missing; the message says how to get it
        raise VideoContrastError(str(error)) from error
    found: dict[str, Any] = {"captions left unchanged": f"{100 * shift(before, after)['unchanged_share']:.1f} %"}
    for key, value in measured.items():
        if key not in ("changed", "n") and value is not None:
            found[key] = round(float(value), 4)
    return found


def _visual(tables: Tables, options: Options, paths: Any) -> dict[str, list[Row]]:
    conditions = [options.condition(name, severity) for name in NAMES for severity in SEVERITIES]
    return {
        split: [_as(row, paths, condition, suffix=True) for condition in conditions for row in rows]
        for split, rows in tables.items()
    }


def _add_pairs(
    built: BuiltSet, tables: Tables, options: Options, paths: Any, pairs: Sequence[tuple[str, str]], texts: _Texts
) -> None:
    missing = sorted(
        {text for _, text in pairs if any(texts.of(rows, text, skip=True) is None for rows in tables.values())}
    )
    found: dict[str, list[Row]] = {}
    for split, rows in tables.items():
        for visual, text in pairs:
            changed = texts.of(rows, text, skip=True)
            if changed is not None:
                condition = options.condition(visual, PAIR_SEVERITY)
                found.setdefault(split, []).extend(
                    _as(row, paths, condition, suffix=True, text=text) for row in changed[0]
                )
    used = sum(text not in missing for _, text in pairs)
    facts: dict[str, Any] = {
        "negatives": f"{used} of {len(pairs)} pairs of a visual (severity {PAIR_SEVERITY}) and a text perturbation",
    }
    if missing:
        facts["pairs left out"] = {text: how_to_get(TEXT[text]) for text in missing}
        print(
            f"left out: {built.name} pairs with {', '.join(missing)} (the card says how to get them)", file=sys.stderr
        )
    if not found:
        _leave_out(built, "pairs", "none of its text perturbations can run")
        return
    _add(built, "pairs", found, facts)


def _as(row: Row, paths: Any, condition: VideoCondition | None, *, suffix: bool = False, text: str = "") -> Row:
    """The row under a visual condition: with its recipe, or pointing at the file that was written."""
    changed: Row = {"text_perturbation": None, **row, "video_perturbation": condition.recipe() if condition else None}
    if suffix and condition is not None:
        changed["id"] = f"{row['id']}@{condition.name}_{condition.severity}" + (f"+{text}" if text else "")
    if paths is not None:
        changed["video_path"] = paths[_clip(row)][condition]
        changed["video_perturbation"] = None  # it is in the file: carried out again it would act twice
        facts = {"perturbed_file": condition.recipe() if condition else "clean, re-encoded"}
        facts |= {"source": {key: row[key] for key in ("video_path", "start", "end")}}
        changed["meta"] = json.dumps(json.loads(row["meta"] or "{}") | facts, sort_keys=True, ensure_ascii=False)
        changed["start"] = changed["end"] = None
    return changed


def _clip(row: Row) -> tuple[Any, ...]:
    return row["video_path"], row["video_id"], row["start"], row["end"]


def _written(tables: Tables, configs: Sequence[str], options: Options, built: BuiltSet) -> Any:
    from video_contrast.builders.robustness.video_files import write_all

    if options.video_root is None:
        raise UsageError("--files needs --video-root DIR, the folder of the clean videos")
    if options.order != "perturb_then_sample":
        raise UsageError("--files writes whole clips, which are sampled afterwards: leave --order as it is")
    conditions: list[VideoCondition | None] = [None]
    if "visual" in configs:
        conditions += [options.condition(name, severity) for name in NAMES for severity in SEVERITIES]
    elif "pairs" in configs:
        conditions += [options.condition(name, PAIR_SEVERITY) for name in dict.fromkeys(pair[0] for pair in PAIRS)]
    clips = list(dict.fromkeys(_clip(row) for rows in tables.values() for row in rows))
    assert options.files is not None
    paths, failed = write_all(clips, conditions, options.video_root, options.files, options.quality, options.num_proc)
    built.facts["counts"] = {"clips written": len(paths), "clips whose video could not be read": len(failed)}
    if failed:
        built.facts["warnings"] = [*built.facts.get("warnings", []), *(f"left out: {why}" for why in failed[:20])]
    if not paths:
        raise VideoContrastError(f"no video could be read below {options.video_root}: {failed[0]}")
    return paths


def _visual_facts(tables: Tables, options: Options) -> dict[str, Any]:
    from video_contrast.builders.robustness.video_files import references
    from video_contrast.perturbations.video.validity import nominal, summary

    clips = list(dict.fromkeys(_clip(row) for rows in tables.values() for row in rows))
    real = references(clips, options.video_root) if options.video_root is not None else []
    if real:
        basis = f"measured on {len(real)} clips of the set, severities 1 to 5"
    else:
        basis = "temporal perturbations only, at 128 frames; give --video-root to measure pictures; severities 1 to 5"
    lines = summary(real or nominal(), profile=options.profile, seed=options.seed)
    if options.order == "sample_then_perturb":  # then the clip that is shuffled is the handful of sampled frames
        basis += f"; temporal perturbations on {_SAMPLED} sampled frames"
        few = summary(nominal(_SAMPLED), profile=options.profile, seed=options.seed)
        lines |= {name: line for name, line in few.items() if VIDEO[name].acts == "temporal"}
    return {
        "negatives": f"{len(NAMES) * len(SEVERITIES)} visual conditions: 18 perturbations at 5 severities",
        "checks": {"damage": basis, **lines},
    }


def _add(built: BuiltSet, config: str, rows: dict[str, list[Row]], facts: dict[str, Any]) -> None:
    built.tables[config] = rows
    built.facts["configs"][config] = facts


def _leave_out(built: BuiltSet, config: str, why: str) -> None:
    built.facts.setdefault("left_out", {})[config] = why
    print(f"left out: {built.name} {config}: {why}", file=sys.stderr)


def _first(changed: Mapping[str, Any]) -> Any:
    return next(result for result in changed.values() if result)


def _recorded(options: Options) -> dict[str, Any]:
    found = {name: getattr(options, name) for name in ("profile", "scope", "order", "models")}
    if options.files is not None:
        found["files"] = options.quality
    return found
