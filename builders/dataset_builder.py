"""Every builder as a `datasets` builder class, for scripts that work with those.

    from video_contrast.builders.dataset_builder import MsrVtt
    maker = MsrVtt(config_name="gender_mc", data_dir="MSRVTT")
    maker.download_and_prepare()
    test = maker.as_dataset(split="test")

`data_dir` and further options of the builder are given as keywords. The set is built once into our cache (see
`video_contrast.load_dataset`), and the class hands its tables on, streaming too.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import ClassVar

import datasets
import pyarrow as pa
import pyarrow.parquet as pq
from datasets.builder import Key

from video_contrast.builders import build, dataset_dir, get_builder, names
from video_contrast.options import options_of
from video_contrast.storage.set_folder import SetFolder
from video_contrast.version import __version__


@dataclass
class ContrastSetConfig(datasets.BuilderConfig):
    """A config of a builder with the builder's options, as `video_contrast.build` takes them."""

    version: datasets.Version = field(default_factory=lambda: datasets.Version(__version__))
    options: Mapping[str, object] = field(default_factory=dict)


class ContrastSet(datasets.ArrowBasedBuilder):
    """The common part of the classes below: `SET` names the builder.

    `data_dir` is passed on to builders that read a folder, `options` are further options of the builder; all other
    arguments are those of `datasets.DatasetBuilder` (`config_name`, `cache_dir` ...).
    """

    SET: ClassVar[str]
    BUILDER_CONFIG_CLASS = ContrastSetConfig

    def _info(self) -> datasets.DatasetInfo:
        return datasets.DatasetInfo(description=get_builder(self.SET).summary)

    def _split_generators(self, dl_manager: object) -> list[datasets.SplitGenerator]:
        options, config = dict(self.config.options), self.config.name
        if self.config.data_dir is not None and "folder" in options_of(get_builder(self.SET).function):
            options["folder"] = self.config.data_dir
        root = dataset_dir(self.SET, **options)
        if not SetFolder(root).has_on_card(config):
            build(self.SET, [config], output=root, **options)
        folder = SetFolder.open(root)
        files = {split: [str(path) for path in folder.files(config, split)] for split in folder.splits(config)}
        self.info.features = datasets.Features.from_arrow_schema(pq.read_schema(next(iter(files.values()))[0]))
        return [datasets.SplitGenerator(name=split, gen_kwargs={"files": paths}) for split, paths in files.items()]

    def _generate_tables(self, files: list[str]) -> Iterator[tuple[Key, pa.Table]]:
        for number, path in enumerate(files):
            for batch_number, batch in enumerate(pq.ParquetFile(path).iter_batches(1000)):
                yield Key(number, batch_number), pa.Table.from_batches([batch])


NAMES = {"msrvtt": "MsrVtt", "msrvtt_p": "MsrVttP", "youcook2": "YouCook2", "youcook2_p": "YouCook2P"}
CLASSES = {NAMES.get(name) or "".join(part.capitalize() for part in name.split("_")): name for name in names()}
__all__ = ["CLASSES", "ContrastSet", "ContrastSetConfig", *CLASSES]


@cache
def __getattr__(name: str) -> type[ContrastSet]:
    """Makes the class of one builder when it is asked for; the other builders are not imported."""
    if name not in CLASSES:
        raise AttributeError(f"module {__name__!r} has no class {name!r}: there are {', '.join(CLASSES)}")
    builder = get_builder(CLASSES[name])
    configs = [ContrastSetConfig(name=config) for config in builder.configs]
    body = {"SET": builder.name, "BUILDER_CONFIGS": configs, "__doc__": builder.summary, "__module__": __name__}
    return type(name, (ContrastSet,), body)
