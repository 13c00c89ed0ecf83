"""The builders of robustness sets: `perturbed` of any set, `msrvtt_p` and `youcook2_p` of the robustness paper.

    clean                 the table as it is
    keyboard ...          one config a text perturbation: the captions (or all candidates) perturbed
    visual                the 90 visual conditions as recipes, carried out when a clip is decoded: a row for each item
    pairs                 the 66 (48) pairs: perturbed captions with the recipe of the visual side

With files asked for, perturbed clips are written, and rows point at them (clean ones at what the same encoder made of
them). YouCook2-P perturbs whole videos and cuts the segments afterwards, as the paper does: shuffling whole segments
breaks the tie of a clip to its text, on which the paper's finding about box_jumble rests.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain
from math import ceil
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, cast

import numpy as np

from video_contrast.builders.assembly.captioned_clip import retrieval_rows
from video_contrast.builders.assembly.configs import existing, select_splits
from video_contrast.builders.assembly.word_contrasts import Choices
from video_contrast.builders.blocks.executors import ClusterOptions
from video_contrast.builders.registry import BlockSource, BuiltSet, CorpusBlock, Cut, Tables, about, builder
from video_contrast.builders.sources import msrvtt, youcook2
from video_contrast.console import note
from video_contrast.errors import UsageError, VideoContrastError, check_names
from video_contrast.files import remove_abandoned, resolve_under
from video_contrast.launcher import is_writer, spread
from video_contrast.metrics.shift import caption_shift
from video_contrast.options import Range, as_record, named_values
from video_contrast.perturbations.contrast.proposal import Target
from video_contrast.perturbations.english import PARSER
from video_contrast.perturbations.registry import TEXT, VIDEO, Profile
from video_contrast.perturbations.text import how_to_get, names, perturb_captions, shift
from video_contrast.perturbations.text.checkpoints import produced_by
from video_contrast.perturbations.video import NAMES, PAIR_SEVERITY, PAIRS, SEVERITIES, VideoCondition
from video_contrast.perturbations.video.condition import Order, Scope
from video_contrast.perturbations.video.files import write_perturbed
from video_contrast.perturbations.video.validity import Reference, nominal, summary
from video_contrast.rows import Row, validate_rows
from video_contrast.storage.set_folder import Facts, SetFolder
from video_contrast.video import Clip, read_video

TEXTS = tuple(names())
TEXTS_WITHOUT_BIAS = tuple(names(bias=False))
CONFIGS = ("clean", *TEXTS, "visual", "pairs")


@dataclass(frozen=True, kw_only=True)
class PerturbationOptions:
    """The options of a perturbed set."""

    seed: Annotated[int, "seed of every perturbation"] = 0
    profile: Annotated[Profile, "released: the authors' code; monotone: visual damage rises with severity"] = "paper"
    scope: Annotated[Scope, "what temporal perturbations and codecs act on: clip, or video (cut afterwards)"] = "clip"
    order: Annotated[Order, "whether all frames are perturbed, or only the sampled ones"] = "perturb_then_sample"
    models: Annotated[str | None, "checkpoints of text perturbations: name=FOLDER_OR_HUB_ID,... (a+b for two)"] = None
    video_root: Annotated[Path | None, "folder of the videos: to write files, else to measure damage"] = None
    files: Annotated[Path | None, "also write the perturbed clips below this folder, the new video root"] = None
    quality: Annotated[Literal["high", "lossless"], "quality of the files"] = "high"
    num_proc: Annotated[int, "processes that write files", Range(1)] = 1
    meteor: Annotated[bool, "measure METEOR of the perturbed captions for the card (needs NLTK's WordNet data)"] = False
    language_model: Annotated[str | None, "causal model of the card's perplexities (the paper's: gpt2)"] = None

    @property
    def text_profile(self) -> str:
        """The profile of the captions: severities are a matter of pictures only."""
        return "paper" if self.profile == "monotone" else self.profile

    def text_models(self) -> dict[str, tuple[str, ...]] | None:
        """Perturbation -> checkpoints; None where no models are given."""
        checkpoints = named_values(self.models, "--models")
        check_names("text perturbation of --models", checkpoints, TEXT)
        return {name: tuple(str(where).split("+")) for name, where in checkpoints.items()} or None

    def condition(self, name: str, severity: int) -> VideoCondition:
        """The visual condition under these options."""
        return VideoCondition(name, severity, self.profile, self.seed, scope=self.scope, order=self.order)

    def record(self) -> dict[str, object]:
        """The options that a set's record shows."""
        values = as_record(self)
        record = {name: values[name] for name in ("profile", "scope", "order", "models")}
        return record | ({"files": self.quality} if self.files is not None else {})


Perturbed = tuple[list[Row], Facts]  # rows with perturbed texts, and the checks that a card shows
Paths = dict[Clip, dict[VideoCondition | None, str]]
_CLIPS_A_CHUNK = 4
_MEASURED_CLIPS, _MEASURED_FRAMES = 4, 4
_SAMPLED = 8  # frames that most video-text models look at
_MOST_UNCHANGED = 0.5  # of the captions, before the card warns


def _write_chunk(
    conditions: Sequence[VideoCondition | None], options: PerturbationOptions, clips: Sequence[Clip]
) -> list[list[str] | str]:
    """The paths of each clip, or a sentence where its video could not be read."""
    assert options.video_root is not None and options.files is not None  # looked at before anything is written
    results: list[list[str] | str] = []
    for clip in clips:
        video = resolve_under(options.video_root, clip.video_path)
        try:
            results.append(write_perturbed(video, clip, conditions, options.files, quality=options.quality))
        except VideoContrastError as error:
            results.append(str(error))
    return results


def perturbed_set(
    name: str, configs: Sequence[str], tables: Tables, options: PerturbationOptions, facts: Facts, *, bias: bool = True
) -> BuiltSet:
    """Builds the perturbed configs of a clean retrieval or multiple-choice table.

    Where all configs are asked for, text perturbations whose checkpoint or data is not there are left out and named;
    asked for by name they are an error. From `pairs` they are always left out. `bias`: with the gender perturbations
    (35 texts, 66 pairs), or without (31, 48). Raises UsageError: an option is wrong, or a text perturbation lacks what
    it needs; the message says how to get it; VideoContrastError: no video could be read where files are asked for.
    """
    texts = TEXTS if bias else TEXTS_WITHOUT_BIAS
    all_configs = set(configs) >= {*texts, "clean", "visual", "pairs"}
    dataset = BuiltSet(name, {}, {**facts, "seed": options.seed, "options": options.record(), "configs": {}})
    dataset.video_root = options.files or options.video_root
    paths = None
    if options.files is not None:
        paths = _write_files(tables, configs, options, dataset)
        tables = {split: [row for row in rows if Clip.of(row) in paths] for split, rows in tables.items()}
        tables = {split: rows for split, rows in tables.items() if rows}
    draft = _Draft(dataset, tables, options, optional=all_configs, paths=paths)
    for config in configs:
        if config == "clean":
            draft.add(config, tables, {"negatives": "none: the clean reference of every perturbed config"})
        elif config == "visual":
            draft.add_visual()
        elif config == "pairs":
            draft.add_pairs([pair for pair in PAIRS if pair[1] in texts])
        else:
            draft.add_texts(config)
    return dataset


@dataclass(frozen=True)
class _Draft:
    """A set whose perturbed configs are added one by one."""

    dataset: BuiltSet
    tables: Tables  # split -> clean rows
    options: PerturbationOptions
    optional: bool  # whether text perturbations that cannot run are left out
    paths: Paths | None = None  # of the clips, where they are written as files
    # split and text perturbation -> perturbed rows, made once; None where what it needs is not there
    texts: dict[tuple[str, str], Perturbed | None] = field(default_factory=dict)

    def rows_and_checks(self, split: str, name: str, *, optional: bool) -> Perturbed | None:
        """The rows of a split with perturbed texts; None where what the perturbation needs is absent and optional."""
        if (split, name) not in self.texts:
            try:
                self.texts[split, name] = perturbed_rows(self.tables[split], name, self.options)
            except VideoContrastError:
                # only what needs a checkpoint or data may be missing; any other error is one of the input
                if not optional or not TEXT[name].requirements:
                    raise
                self.texts[split, name] = None
        return self.texts[split, name]

    def add(self, config: str, tables: Tables, facts: Facts) -> None:
        """Adds a config of rows without a visual perturbation."""
        rows_of = {split: [_with(row, None, self.paths) for row in rows] for split, rows in tables.items()}
        self.dataset.tables[config], self.dataset.facts["configs"][config] = rows_of, facts

    def add_texts(self, config: str) -> None:
        """Adds the config of a text perturbation, or says why it is left out."""
        results = {split: self.rows_and_checks(split, config, optional=self.optional) for split in self.tables}
        tables = {split: result[0] for split, result in results.items() if result and result[0]}
        checks = next((result[1] for result in results.values() if result), None)
        if checks is None or not tables:
            why = f"no item has different options left under {config}" if checks else how_to_get(TEXT[config])
            if checks and not self.optional:
                share = checks["captions left unchanged"]
                raise VideoContrastError(f"{self.dataset.name} {config}: {why} ({share} unchanged)")
            self.dataset.leave_out(config, why)
            return
        if mostly_unchanged(checks):
            self.dataset.warn([f"{config} left {checks['captions left unchanged']} of the captions unchanged"])
        self.add(config, tables, {"negatives": "all captions perturbed", "checks": checks})

    def add_visual(self) -> None:
        """Adds the items under every visual condition."""
        conditions = _visual_conditions(self.options)
        self.dataset.tables["visual"] = {
            split: [_with(row, condition, self.paths) for condition in conditions for row in rows]
            for split, rows in self.tables.items()
        }
        count = f"{len(conditions)} visual conditions: {len(NAMES)} perturbations at {len(SEVERITIES)} severities"
        checks = _damage(_clips(self.tables), self.options)
        self.dataset.facts["configs"]["visual"] = {"negatives": count, "checks": checks}

    def add_pairs(self, pairs: Sequence[tuple[str, str]]) -> None:
        """Adds the items under pairs of a visual and a text perturbation; texts that cannot run are left out."""
        usable_texts: set[str] = set()
        rows_of: dict[str, list[Row]] = {}
        for split in self.tables:
            for visual, text in pairs:
                result = self.rows_and_checks(split, text, optional=True)
                if result is not None:
                    usable_texts.add(text)
                    condition = self.options.condition(visual, PAIR_SEVERITY)
                    rows_of.setdefault(split, []).extend(_with(row, condition, self.paths, text) for row in result[0])
        missing = sorted({text for _, text in pairs} - usable_texts)
        count = f"{sum(text in usable_texts for _, text in pairs)} of {len(pairs)} pairs"
        facts: Facts = {"negatives": f"{count} of a visual (severity {PAIR_SEVERITY}) and a text perturbation"}
        if missing:
            facts["pairs left out"] = {text: how_to_get(TEXT[text]) for text in missing}
            note(f"left out: {self.dataset.name} pairs with {', '.join(missing)} (the card says how to get them)")
        if not rows_of:
            self.dataset.leave_out("pairs", "none of its text perturbations can run")
            return
        self.dataset.tables["pairs"], self.dataset.facts["configs"]["pairs"] = rows_of, facts


def _clips(tables: Tables) -> list[Clip]:
    return list(dict.fromkeys(Clip.of(row) for rows in tables.values() for row in rows))


def _visual_conditions(options: PerturbationOptions) -> list[VideoCondition]:
    return [options.condition(name, severity) for name in NAMES for severity in SEVERITIES]


def _with(row: Row, condition: VideoCondition | None, paths: Paths | None, text: str = "") -> Row:
    """The row under a visual condition (None: clean): with its recipe, or pointing at the file that was written.

    `text` is the perturbation of its captions, for the id of a pair.
    """
    recipe = condition.recipe() if condition else None
    new_row: dict[str, object] = {"text_perturbation": None, **row, "video_perturbation": recipe}
    if condition is not None:
        suffix = f"@{condition.name}_{condition.severity}" + (f"+{text}" if text else "")
        for name in {"id", "group"} & new_row.keys():  # the rows of a group are under one condition
            new_row[name] = f"{new_row[name]}{suffix}"
    if paths is not None:
        new_row["video_path"] = paths[Clip.of(row)][condition]
        new_row["video_perturbation"] = None  # it is in the file: carried out again it would act twice
        source = {"video_path": row["video_path"], "start": row["start"], "end": row["end"]}
        meta = json.loads(row["meta"] or "{}") | {"perturbed_file": recipe or "clean, re-encoded", "source": source}
        new_row["meta"] = json.dumps(meta, sort_keys=True, ensure_ascii=False)
        new_row["start"] = new_row["end"] = None
    return cast(Row, new_row)


def _write_files(tables: Tables, configs: Sequence[str], options: PerturbationOptions, dataset: BuiltSet) -> Paths:
    """Writes every clip under every condition that the configs need, and records what could not be read.

    Under `torchrun` each rank writes its share and gets all paths.
    """
    assert options.files is not None
    if options.video_root is None:
        raise UsageError("--files needs --video-root DIR, the folder of the clean videos")
    if any(clip.segments for clip in _clips(tables)):
        raise UsageError("--files takes whole clips, not recipes: build the edited clips with --write-videos first")
    if options.order != "perturb_then_sample":
        raise UsageError("--files writes whole clips, which are sampled afterwards: leave --order as it is")
    conditions: list[VideoCondition | None] = [None]
    if "visual" in configs:
        conditions += _visual_conditions(options)
    elif "pairs" in configs:
        conditions += [options.condition(name, PAIR_SEVERITY) for name in dict.fromkeys(pair[0] for pair in PAIRS)]
    if is_writer():
        remove_abandoned(options.files)
    clips, write = _clips(tables), partial(_write_chunk, conditions, options)
    chunks = spread(write, clips, num_proc=options.num_proc, chunk=_CLIPS_A_CHUNK)
    results = dict(zip(clips, chain.from_iterable(chunks), strict=True))
    faults = [why for why in results.values() if isinstance(why, str)]
    paths = {clip: dict(zip(conditions, of, strict=True)) for clip, of in results.items() if not isinstance(of, str)}
    dataset.facts["counts"] = {"clips written": len(paths), "clips whose video could not be read": len(faults)}
    dataset.warn([f"left out: {why}" for why in faults[:20]])
    if not paths:
        why = f": {faults[0]}" if faults else ""
        raise VideoContrastError(f"no video could be read below {options.video_root}{why}; give --video-root DIR")
    return paths


def _damage(clips: Sequence[Clip], options: PerturbationOptions) -> dict[str, str]:
    """The extent of each visual perturbation, in words for the card."""
    real: list[Reference] = []
    if (root := options.video_root) is not None:
        step = max(1, len(clips) // _MEASURED_CLIPS)
        for clip in (clip for clip in clips[::step] if not clip.segments):
            try:
                clean = read_video(resolve_under(root, clip.video_path), clip.start, clip.end)
            except VideoContrastError:
                continue
            length = len(clean.frames)
            indices = np.unique(np.linspace(0, length - 1, _MEASURED_FRAMES).round().astype(np.int64))
            pictures = clean.frames[indices]
            real.append(Reference(clip.video_id, length, clip.start, clip.end, frames=pictures, indices=indices))
            if len(real) == _MEASURED_CLIPS:
                break
    if real:
        basis = f"measured on {len(real)} clips of the set, severities 1 to 5"
    else:
        basis = "temporal perturbations only, at 128 frames; give --video-root to measure pictures; severities 1 to 5"
    lines = summary(real or nominal(), profile=options.profile, seed=options.seed)
    if options.order == "sample_then_perturb":  # then the clip that is shuffled is the handful of sampled frames
        basis += f"; temporal perturbations on {_SAMPLED} sampled frames"
        few = summary(nominal(_SAMPLED), profile=options.profile, seed=options.seed)
        lines |= {name: line for name, line in few.items() if VIDEO[name].acts == "temporal"}
    return {"damage": basis, **lines}


def perturbed_rows(rows: Sequence[Row], name: str, options: PerturbationOptions) -> Perturbed:
    """Perturbs every caption (or every candidate) of the rows.

    An item whose candidates are no longer different from each other (a gender contrast made neutral) is left out and
    counted. The spans of edits do not hold in perturbed candidates, so `edits` becomes null. Returns the rows that
    stay, and checks for the card. Raises VideoContrastError: what it needs is not there; says how to get it.
    """
    column = "candidates" if "candidates" in rows[0] else "captions"
    plain: list[dict[str, Any]] = [dict(row) for row in rows]  # a typed row has no column that is chosen by name
    of_row = [[*row[column], *([row["replaced"]] if row.get("replaced") else [])] for row in plain]
    before = [text for texts in of_row for text in texts]
    # The rows of a group of pairs share their candidates, so these are drawn once for all of them.
    ids = [row.get("group") or row["id"] for row, texts in zip(plain, of_row, strict=True) for _ in texts]
    after = perturb_captions(
        before, name, ids=ids, caption_indices=[index for texts in of_row for index in range(len(texts))],
        seed=options.seed, profile=options.text_profile, models=options.text_models(),
    )  # fmt: skip
    recipe = {"name": name, "profile": options.text_profile, "seed": options.seed}
    texts = iter(after)
    new_rows: list[Any] = []  # rows, changed as `plain` ones
    for row in plain:
        new_row = {**row, column: [next(texts) for _ in row[column]], "text_perturbation": recipe}
        if row.get("replaced"):
            new_row["replaced"] = next(texts)
        if column == "candidates":
            new_row["edits"] = [None] * len(row[column])
            if len(set(new_row[column])) < len(new_row[column]):
                continue
        new_rows.append(new_row)
    checks = _checks(name, before, after, options)
    if column == "candidates":
        checks["items left out because two options became equal"] = len(rows) - len(new_rows)
    return new_rows, checks


def mostly_unchanged(checks: Facts) -> bool:
    """Whether a perturbation left more than half of the captions as they were: its robustness says little."""
    return float(checks["captions left unchanged"].split()[0]) > 100 * _MOST_UNCHANGED


def _checks(name: str, before: Sequence[str], after: Sequence[str], options: PerturbationOptions) -> Facts:
    """The maker of the texts (rules or checkpoints with revisions, the parser, the data), and the changes it made."""
    spec = TEXT[name]
    made_by = produced_by(name, (options.text_models() or {}).get(name)) if spec.batched else "rules"
    checks: Facts = {"made by": made_by}
    if "parse" in spec.requirements and made_by.startswith("rules"):
        checks["parser"] = PARSER
    try:
        measures = caption_shift(after, before, meteor=options.meteor, language_model=options.language_model)
    except ValueError as error:  # WordNet or the model is missing; the message says how to get it
        raise VideoContrastError(str(error)) from error
    checks["captions left unchanged"] = f"{100 * shift(before, after)['unchanged_share']:.1f} %"
    shifts = {key: value for key, value in measures.items() if key not in ("changed", "n") and value is not None}
    return checks | {key: round(float(value), 4) for key, value in shifts.items()}


WHOLE = 100_000  # rows: larger tables are perturbed in blocks
ROWS = 5000  # of a block


@builder("perturbed", configs=CONFIGS, requirements="the folder of a retrieval or multiple-choice set")
def perturbed(
    configs: list[str],
    *,
    dataset: Annotated[Path, "folder of the set (as `build` writes it)"],
    dataset_config: Annotated[str | None, "which of its configs; default the only one, or retrieval"] = None,
    splits: Annotated[str | None, "splits to perturb, comma-separated; default: all of the config"] = None,
    options: PerturbationOptions = PerturbationOptions(),
    cluster: ClusterOptions = ClusterOptions(),  # noqa: B008  frozen
) -> BuiltSet:
    """Any set perturbed: captions or all candidates, 90 visual conditions, 66 pairs."""
    folder = SetFolder.open(existing(dataset, "give the folder of a set", "--dataset"))
    if not folder.is_built:
        raise UsageError(f"--dataset {dataset} holds no set.json: give a folder that `video-contrast build` wrote")
    of_folder = folder.configs
    clean = dataset_config or (of_folder[0] if len(of_folder) == 1 else "retrieval")
    if clean not in of_folder and dataset_config is None:
        raise UsageError(f"--dataset {dataset} has several configs ({', '.join(of_folder)}): give --dataset-config")
    check_names(f"config of {dataset}", [clean], of_folder)
    if folder.record["configs"][clean].get("perturbed"):
        raise UsageError(f"--dataset {dataset}, config {clean}: is perturbed already; give the clean set")
    all_splits = folder.splits(clean)
    split_names = select_splits(splits or ",".join(all_splits), dict.fromkeys(all_splits))
    facts = folder.record.get("facts", {})
    of_set: Facts = {
        "summary": f"The config {clean} of {facts.get('pretty_name') or dataset.name}, perturbed.",
        "sources": [f"{dataset.name}, config {clean}"],
        **{key: facts[key] for key in ("licence", "licence_id") if key in facts},
        "citations": [*facts.get("citations", []), *about("perturbed")["citations"]],
    }
    options = replace(options, video_root=options.video_root or folder.video_root)
    rows = sum(folder.record["configs"][clean]["splits"][split]["num_examples"] for split in split_names)
    if cluster.executor is not None or rows > WHOLE:
        if options.files is not None or folder.layout(clean) == "pairs":
            raise UsageError(f"--files, and pairs of clips, go with sets of at most {WHOLE:,} rows, without --executor")
        cluster = replace(cluster, executor=cluster.executor or "local")
        source = PerturbedBlocks(configs, cluster, folder, clean, split_names, options, of_set)
        return BuiltSet("perturbed", {}, blocks=source, video_root=options.video_root)
    tables = {split: folder.rows(clean, split) for split in split_names}
    for split, of_split in tables.items():
        validate_rows(of_split, f"{dataset}, config {clean}, split {split}")
    return perturbed_set("perturbed", configs, tables=tables, options=options, facts=of_set)


@dataclass(frozen=True)
class PerturbedBlocks(BlockSource):
    """Ranges of the rows of one config."""

    configs: Sequence[str]
    cluster: ClusterOptions
    folder: SetFolder
    clean: str  # the config that is perturbed
    splits: Sequence[str]
    options: PerturbationOptions
    facts: Facts
    builder: ClassVar[str] = "perturbed"
    all_configs: ClassVar[Sequence[str]] = CONFIGS

    def cut(self, folder: str) -> Cut:
        """Ranges of rows."""
        sizes = self.folder.record["configs"][self.clean]["splits"]
        blocks = []
        for split in self.splits:
            count = ceil(sizes[split]["num_examples"] / ROWS)
            blocks += [CorpusBlock(split, number, count) for number in range(count)]
        return Cut(blocks, {"seed": self.options.seed})

    def build(self, folder: str, number: int, block: CorpusBlock, choices: Mapping[Target, Choices]) -> BuiltSet:
        """The tables of a range of rows."""
        first = block.number * ROWS
        rows = self.folder.row_range(self.clean, block.split, first, first + ROWS)
        validate_rows(rows, f"{self.folder.path}, config {self.clean}, split {block.split}, from row {first}")
        tables = {block.split: rows}
        return perturbed_set(self.builder, self.configs, tables=tables, options=self.options, facts=self.facts)


@builder("msrvtt_p", configs=CONFIGS, requirements=msrvtt.REQUIREMENTS)
def msrvtt_p(
    configs: list[str],
    *,
    folder: Annotated[Path, "folder with the annotations; the 1k-A list MSRVTT_JSFUSION_test.csv if it is used"],
    splits: Annotated[str | None, "splits to perturb, comma-separated; default: test_1k_a if listed, else test"] = None,
    video_pattern: Annotated[str, "path of a video under the video root"] = "{video_id}.mp4",
    options: PerturbationOptions = PerturbationOptions(),
) -> BuiltSet:
    """MSRVTT-P: MSR-VTT under 35 text perturbations, 90 visual conditions and 66 pairs."""
    folder = existing(folder, "it must hold test_videodatainfo.json ...", "--folder")
    annotations = msrvtt.MsrVttFolder(folder, video_pattern)
    clips = annotations.splits()
    split_names = select_splits(splits or ("test_1k_a" if "test_1k_a" in clips else "test"), clips)
    facts = about("msrvtt_p") | {"sources": annotations.files}
    tables = {name: retrieval_rows(clips[name]) for name in split_names}
    return perturbed_set("msrvtt_p", configs, tables=tables, options=options, facts=facts)


YOUCOOK2_P = ("clean", *TEXTS_WITHOUT_BIAS, "visual", "pairs")  # without gender perturbations


@builder(
    "youcook2_p",
    configs=YOUCOOK2_P,
    requirements=f"the folder of YouCook2's annotations ({youcook2.VALIDATION} or {youcook2.ANNOTATIONS})",
)
def youcook2_p(
    configs: list[str],
    *,
    folder: Annotated[Path, "folder with the annotations"],
    splits: Annotated[str, "splits to perturb, comma-separated"] = "validation",
    video_pattern: Annotated[str, "path of a video under the video root"] = "{video_id}.mp4",
    options: PerturbationOptions = PerturbationOptions(scope="video"),
) -> BuiltSet:
    """YouCook2-P: YouCook2 under 31 text perturbations, 90 visual conditions and 48 pairs."""
    folder = existing(folder, "it must hold YouCook2's annotations", "--folder")
    clips, sources = youcook2.read(folder, video_pattern)
    facts = about("youcook2_p") | {"sources": sources}
    # Each caption with a clip of its own, as the list of 3,350 has it (one span of it is described twice).
    tables = {
        name: retrieval_rows(
            replace(clip, id=f"{clip.id}#{n + 1}" if n else clip.id, captions=(caption,))
            for clip in clips[name]
            for n, caption in enumerate(clip.captions)
        )
        for name in select_splits(splits, clips)
    }
    return perturbed_set("youcook2_p", configs, tables=tables, options=options, facts=facts, bias=False)
