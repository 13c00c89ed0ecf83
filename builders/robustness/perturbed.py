"""The builders of robustness sets: `perturbed` of any set, `msrvtt_p` and `youcook2_p` of the robustness paper.

The paper perturbs the 457 whole videos of YouCook2 and cuts the segments afterwards, so the default scope there is the
video: shuffling whole segments of a video breaks the tie of a clip to its text, which is what its finding about
box_jumble rests on.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from pathlib import Path
from typing import Annotated, ClassVar

from video_contrast.builders.assembly.captioned_clip import CaptionedClip, retrieval_rows
from video_contrast.builders.assembly.contrast_plan import existing, select_splits
from video_contrast.builders.assembly.word_contrasts import Chosen
from video_contrast.builders.blocks.cluster_options import ClusterOptions
from video_contrast.builders.registry import BlockSource, BuiltSet, CorpusBlock, Cut, about, builder
from video_contrast.builders.robustness.perturbed_set import (
    CONFIGS,
    TEXTS_WITHOUT_BIAS,
    PerturbationOptions,
    perturbed_set,
)
from video_contrast.builders.sources import msrvtt, youcook2
from video_contrast.errors import UsageError, unknown_name
from video_contrast.perturbations.contrast.proposal import Kind
from video_contrast.rows import validate_rows
from video_contrast.storage.set_folder import SetFolder
from video_contrast.storage.set_records import Facts

WHOLE = 100_000  # rows: larger tables are perturbed in blocks
ROWS = 5000  # of a block


@builder("perturbed", configs=CONFIGS, requirements="the folder of a retrieval or multiple-choice set")
def perturbed(
    configs: list[str],
    *,
    dataset: Annotated[Path, "folder of the set (as `build` writes it)"],
    dataset_config: Annotated[str | None, "which of its configs; default the only one, or retrieval"] = None,
    splits: Annotated[str | None, "splits to perturb, comma-separated; default: all of the config"] = None,
    options: PerturbationOptions = PerturbationOptions(),  # noqa: B008  frozen
    cluster: ClusterOptions = ClusterOptions(),  # noqa: B008  frozen
) -> BuiltSet:
    """Any set perturbed: captions or all candidates, 90 visual conditions, 66 pairs."""
    folder = SetFolder.open(existing(dataset, "give the folder of a set", "--dataset"))
    if not folder.is_built:
        raise UsageError(f"--dataset {dataset} holds no set.json: give a folder that `video-contrast build` wrote")
    clean = _clean_config(folder, dataset_config)
    known = folder.splits(clean)
    selected = select_splits(splits or ",".join(known), dict.fromkeys(known))
    facts = folder.record.get("facts", {})
    of_set: Facts = {
        "summary": f"The config {clean} of {facts.get('pretty_name') or dataset.name}, perturbed.",
        "sources": [f"{dataset.name}, config {clean}"],
        **{key: facts[key] for key in ("licence", "licence_id") if key in facts},
        "citations": [*facts.get("citations", []), *about("perturbed")["citations"]],
    }
    options = replace(options, video_root=options.video_root or folder.video_root)
    rows = sum(folder.record["configs"][clean]["splits"][split]["num_examples"] for split in selected)
    if cluster.executor is not None or rows > WHOLE:
        if options.files is not None or folder.layout(clean) == "pairs":
            raise UsageError(f"--files, and pairs of clips, go with sets of at most {WHOLE:,} rows, without --executor")
        cluster = replace(cluster, executor=cluster.executor or "local")
        source = PerturbedBlocks(configs, cluster, folder, clean, selected, options, of_set)
        return BuiltSet("perturbed", {}, blocks=source, video_root=options.video_root)
    tables = {split: folder.rows(clean, split) for split in selected}
    for split, of_split in tables.items():
        validate_rows(of_split, f"{dataset}, config {clean}, split {split}")
    return perturbed_set("perturbed", configs, tables=tables, options=options, facts=of_set)


def _clean_config(folder: SetFolder, config: str | None) -> str:
    """The config that is perturbed: the one that is named, the only one, or the retrieval config."""
    known = folder.configs
    clean = config or (known[0] if len(known) == 1 else "retrieval")
    if clean not in known:
        if config is None:
            raise UsageError(
                f"--dataset {folder.path} has several configs ({', '.join(known)}): choose one with --dataset-config"
            )
        raise unknown_name(f"config of {folder.path}", clean, known)
    if folder.record["configs"][clean].get("perturbed"):
        raise UsageError(f"--dataset {folder.path}, config {clean}: is perturbed already; give the clean set")
    return clean


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
    known: ClassVar[Sequence[str]] = CONFIGS

    @property
    def seed(self) -> int:
        """Of every perturbation."""
        return self.options.seed

    def cut(self, folder: str) -> Cut:
        """Ranges of rows."""
        sizes = self.folder.record["configs"][self.clean]["splits"]
        blocks = []
        for split in self.splits:
            count = ceil(sizes[split]["num_examples"] / ROWS)
            blocks += [CorpusBlock(split, number, count) for number in range(count)]
        return Cut(blocks, {})

    def build(self, folder: str, number: int, block: CorpusBlock, chosen: Mapping[Kind, Chosen]) -> BuiltSet:
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
    splits: Annotated[
        str | None, "splits to perturb, comma-separated; default: test_1k_a where its list is there, else test"
    ] = None,
    video_pattern: Annotated[str, "path of a video under the video root"] = "{video_id}.mp4",
    options: PerturbationOptions = PerturbationOptions(),  # noqa: B008  frozen
) -> BuiltSet:
    """MSRVTT-P: MSR-VTT under 35 text perturbations, 90 visual conditions and 66 pairs."""
    folder = existing(folder, "it must hold test_videodatainfo.json ...", "--folder")
    annotations = msrvtt.MsrVttFolder(folder, video_pattern)
    clips = annotations.splits()
    selected = select_splits(splits or ("test_1k_a" if "test_1k_a" in clips else "test"), clips)
    facts = about("msrvtt_p") | {"sources": annotations.files}
    tables = {name: retrieval_rows(clips[name]) for name in selected}
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
    options: PerturbationOptions = PerturbationOptions(scope="video"),  # noqa: B008  frozen
) -> BuiltSet:
    """YouCook2-P: YouCook2 under 31 text perturbations, 90 visual conditions and 48 pairs."""
    folder = existing(folder, "it must hold YouCook2's annotations", "--folder")
    clips, sources = youcook2.read(folder, video_pattern)
    facts = about("youcook2_p") | {"sources": sources}
    tables = {name: retrieval_rows(_one_caption_each(clips[name])) for name in select_splits(splits, clips)}
    return perturbed_set("youcook2_p", configs, tables=tables, options=options, facts=facts, bias=False)


def _one_caption_each(clips: Iterable[CaptionedClip]) -> list[CaptionedClip]:
    """Each caption with a clip of its own, as the list of 3,350 has it (one span of it is described twice)."""
    return [
        replace(clip, id=clip.id if number == 0 else f"{clip.id}#{number + 1}", captions=(caption,))
        for clip in clips
        for number, caption in enumerate(clip.captions)
    ]
