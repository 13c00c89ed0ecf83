"""Which items a run got right, and whether one model is better than the others on the items that they share."""

from collections.abc import Iterable, Mapping, Sequence

from video_contrast.metrics import sign_flip
from video_contrast.metrics.ranks import first_chance
from video_contrast.runner.table_metrics import ranks_of
from video_contrast.storage import RunFolder
from video_contrast.storage.run_folder import CLEAN
from video_contrast.storage.run_records import ScoreRow, SimilarityMatrix

SIGNIFICANT = 0.05
HIT_COLUMNS = ("id", "cluster", "label", "scores")
Hits = dict[str, tuple[float, str]]  # item -> hit in 0..1, cluster


def hit(row: ScoreRow) -> float:
    """1 if the true candidate scores highest, its share on a tie, else 0."""
    return first_chance(row["scores"], row["label"])


def choice_hits(rows: Iterable[ScoreRow]) -> Hits:
    """The hits of multiple-choice items, from the columns `HIT_COLUMNS`."""
    return {row["id"]: (hit(row), row["cluster"]) for row in rows}


def caption_hits(matrix: SimilarityMatrix, k: int = 1) -> Hits:
    """The hits of captions: 1 where the own clip is among the first `k`, a share on a tie; their mean is R@k."""
    hits = ranks_of(matrix).text_to_video.hit(k).tolist()
    own = zip(matrix.columns, hits, matrix.relevant, strict=True)
    return {name: (value, matrix.videos[row]) for name, value, row in own}


def run_hits(run: RunFolder, config: str, condition: str = CLEAN) -> Hits:
    """The hits of a config's items, or of retrieval those of captions; {} where the scores were not kept.

    `config, condition`: what was scored.
    """
    if run.has_matrix(config, condition):
        return caption_hits(run.matrix(config, condition))
    return choice_hits(run.streamed_rows(config, condition, HIT_COLUMNS))


def is_better(first: Hits, second: Hits) -> bool:
    """Whether the first model is right more often on the common items, by the sign-flip test over clusters."""
    names = [name for name in first if name in second]
    change = [first[name][0] - second[name][0] for name in names]
    return sum(change) > 0 and sign_flip(change, [first[name][1] for name in names]) < SIGNIFICANT


def best_of(models: Mapping[str, Hits]) -> str | None:
    """The model that is better than every other one; None where no test says so, or there is only one."""
    return next(
        (
            name
            for name, hits in models.items()
            if len(models) > 1 and all(is_better(hits, others) for other, others in models.items() if other != name)
        ),
        None,
    )


def differing(counts: Sequence[int | None]) -> list[str]:
    """The marks of counts of items that are not the same for all models: "n = 38", or "" where all are equal.

    >>> differing([40, 38, None]), differing([40, 40])
    (['n = 40', 'n = 38', ''], ['', ''])
    """
    several = len({count for count in counts if count is not None}) > 1
    return [f"n = {count:,}" if several and count is not None else "" for count in counts]
