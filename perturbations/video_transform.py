"""A visual perturbation as a transform for `Dataset.map` (writes files) and `with_transform` (frames, lazily)."""

from dataclasses import dataclass, field
from pathlib import Path

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import resolve_under
from video_contrast.perturbations.video import VideoCondition, video_spec
from video_contrast.rows import Columns
from video_contrast.seeds import check_seed
from video_contrast.video import Clip, Quality, sampled_frames

# Column of recipes -> what to do about a row that has one. The file of an edited clip is only one of those that it is
# made of, and a recipe would act on the written file again.
_WAYS = {
    "segments": "build the edited clips with --write-videos first",
    "video_perturbation": "take the clean rows, or files (`build perturbed --files`), to which a second one is added",
}


@dataclass(frozen=True)
class VideoPerturbation:
    """Perturbs the clips of a table.

    `ds.map(VideoPerturbation("gaussian_noise", severity=3, seed=0, video_root="videos", output_dir="noisy"))` writes
    one file a distinct clip below `output_dir`, sets `video_path` to it (relative to `output_dir`, which is the new
    video root) and `clean_path` to the clean reference that went through the same encoder. Files that are there are
    kept, so a killed `map` goes on; the result does not depend on batches or processes. A file is the clip alone:
    `start` and `end`, where the table has them, become null. `Dataset.map` keeps its table in a cache that knows
    nothing of the files: give it `load_from_cache_file=False` if you have taken `output_dir` away.

    `ds.with_transform(VideoPerturbation(...).frames)` adds a column `frames` instead, uint8[T, H, W, 3] a row, made
    when the row is read; no file is written. Raises UsageError: unknown name or profile, or a severity outside 1..5;
    VideoContrastError: on a call, a column is missing, a video cannot be read, or a row holds a recipe (of an edited
    clip, or of a perturbation) instead of a file's clip; the message names it.
    """

    name: str  # one of the 18 (`video-contrast list perturbations`)
    severity: int  # 1 to 5
    seed: int = 0  # any integer
    video_root: str | Path = "."  # the folder that `video_path` is relative to
    output_dir: str | Path = "perturbed_videos"  # folder of the clips that `map` writes
    quality: Quality = "high"  # "high" or "lossless" h264
    profile: str = "paper"  # "paper", "released" or "monotone"
    scope: str = "clip"  # "clip" (between start and end), or "video": the whole file is perturbed and then cut
    sample: int | None = None  # how many frames `frames` gives, evenly spread; None for all
    # the perturbation's; since `Dataset.map` names its cache by the transform's fields, a new version never meets
    # an old cache.
    version: str = field(init=False)

    def __post_init__(self) -> None:
        """Checks the fields and takes the version from the registry."""
        check_seed(self.seed)
        self._condition()
        if self.quality not in ("high", "lossless"):
            raise UsageError(f"quality must be 'high' or 'lossless', not {self.quality!r}")
        if self.sample is not None and self.sample < 1:
            raise UsageError(f"sample must be at least 1 frame, not {self.sample}")
        # as strings, so that equal transforms have equal cache names
        object.__setattr__(self, "video_root", str(self.video_root))
        object.__setattr__(self, "output_dir", str(self.output_dir))
        object.__setattr__(self, "version", video_spec(self.name).version)

    def __call__(self, rows: Columns) -> Columns:
        """Writes the clips of a row, or of a batch of rows, and gives the changed columns."""
        from video_contrast.perturbations.video.files import write_perturbed

        _check_columns(rows)
        if not isinstance(rows["video_path"], list):
            return {name: values[0] for name, values in self({name: [rows[name]] for name in rows}).items()}
        columns: dict[str, list[object]] = {"video_path": [], "clean_path": []}
        for source, clip in self._clips(rows):
            conditions = self._condition(), None
            path, clean_path = write_perturbed(source, clip, conditions, self.output_dir, quality=self.quality)
            columns["video_path"].append(path)
            columns["clean_path"].append(clean_path)
        for name in ("start", "end"):
            if name in rows:
                columns[name] = [None] * len(rows["video_path"])
        return columns

    def frames(self, rows: Columns) -> Columns:
        """For `with_transform`: the batch with a column `frames` added, uint8[T, H, W, 3] a row."""
        from video_contrast.perturbations.video.files import perturbed_clip

        frames = []
        for source, clip in self._clips(rows):
            new_clip = perturbed_clip(source, clip, self._condition())
            if self.sample is None:
                frames.append(new_clip.frames)
            else:
                numbers = sampled_frames(new_clip.times, float(new_clip.times[-1]), self.sample, "linspace")
                frames.append(new_clip.frames[numbers])
        return {**rows, "frames": frames}

    def _condition(self) -> VideoCondition:
        return VideoCondition(self.name, self.severity, profile=self.profile, seed=self.seed, scope=self.scope)  # type: ignore[arg-type]

    def _clips(self, rows: Columns) -> list[tuple[Path, Clip]]:
        _check_columns(rows)
        for name, way in _WAYS.items():
            recipes = rows.get(name)
            for row, recipe in enumerate(recipes if recipes is not None else []):
                if recipe:
                    raise VideoContrastError(f"video {rows['video_id'][row]!r} has a recipe in {name!r}: {way}")
        count = len(rows["video_path"])
        starts, ends = (rows.get(name) or [None] * count for name in ("start", "end"))
        return [
            (resolve_under(self.video_root, path), Clip(str(video_id), path, start, end))
            for path, video_id, start, end in zip(rows["video_path"], rows["video_id"], starts, ends, strict=True)
        ]


def _check_columns(rows: Columns) -> None:
    for name in ("video_id", "video_path"):
        if name not in rows:
            raise VideoContrastError(
                f"no column {name!r} (there are: {', '.join(rows.keys())}): a clip is read from `video_path` below "
                "video_root, and its change is drawn by `video_id`"
            )
