"""The figures of a model on the validation clips: the loss, retrieval, random options, and each kind of negative.

The library's evaluation loop is not used: it puts outputs of single samples together, while retrieval needs every clip
against every caption, and the in-batch term whole batches.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import torch
from accelerate import PartialState
from accelerate.utils import gather_object

from video_contrast.metrics import choice_ranks, matrix_ranks
from video_contrast.metrics.checks import choices
from video_contrast.seeds import Streams
from video_contrast.teacher.batches import Batches, Part, Tokenizer, collate
from video_contrast.teacher.losses import losses
from video_contrast.teacher.negative_recipe import TaughtCaption
from video_contrast.teacher.options import TrainingOptions
from video_contrast.teacher.two_towers import Pairs

GALLERY = 1000  # clips that retrieval is measured among, at most
RANDOM = 4  # captions of other clips beside the true one
CLIPS_AT_A_TIME = 16
Vector = npt.NDArray[np.float32]


class _BatchScores(NamedTuple):
    """The contribution of one batch; processes send it to each other."""

    number: int  # of the batch
    loss: float  # summed over its captions
    own: dict[int, Vector]  # caption -> its scores on its clip, its own first, then its negatives'
    clips: dict[int, Vector]  # clip of the gallery -> its embedding
    texts: dict[str, Vector]  # caption of a clip of the gallery -> its embedding


@dataclass(frozen=True)
class Hits:
    """One figure: what each item contributes."""

    values: npt.NDArray[np.float64]  # float64[n], 1 right, 0 wrong, between them on a tie
    clusters: list[str]  # the video of each item


@dataclass(frozen=True)
class Measured:
    """A model on the validation clips."""

    loss: float  # mean of the training's loss
    # figure -> hits. "retrieval t2v R@1" and "retrieval v2t R@1"; "random options" (the caption against four of
    # other clips); "RCAD R@1" (above all its negatives; only captions that have negatives), and the same against
    # each kind of negatives alone ("action", "object").
    hits: dict[str, Hits]
    mean_rank: float | None  # of the caption among its negatives; None where no caption has any

    @property
    def accuracy(self) -> float:
        """The share of captions with negatives that are above all of them; 0 where none has any."""
        hits = self.hits.get("RCAD R@1")
        return float(hits.values.mean()) if hits else 0.0

    @property
    def choice(self) -> float:
        """The value by which checkpoints are compared: `accuracy`, and of equals the lower loss.

        With a fixed temperature the loss of labels rises while more captions are told apart, so it only decides between
        equal accuracies: it moves the value by less than a quarter of a caption.
        """
        hits = self.hits.get("RCAD R@1")
        return self.accuracy + 1 / (4 * (len(hits.values) if hits else 1) * (1 + self.loss))

    def figures(self) -> dict[str, float]:
        """All figures by name."""
        means = {name: float(hits.values.mean()) for name, hits in self.hits.items() if name != "RCAD R@1"}
        rank = {} if self.mean_rank is None else {"RCAD mean rank": self.mean_rank}
        return {"loss": self.loss, "accuracy": self.accuracy, **rank, **means}


@torch.no_grad()  # type: ignore[untyped-decorator]  # torch is not followed
def measure(pairs: Pairs, part: Part, tokens: Tokenizer, options: TrainingOptions) -> Measured:
    """Measures a model; under `torchrun` the processes share the batches out, and all return the same.

    `options`: of the training; of its batches, too, since in the set's own order the captions of one clip stand
    together and the in-batch term would have few others to tell them from.
    """
    here = PartialState()
    was_training = pairs.training
    pairs.eval()
    batches = list(enumerate(Batches(part.clips, None, options.batch_size, options.seed)))
    gallery = set(sorted(set(part.clips))[:GALLERY])

    def scores(number: int, picked: list[int]) -> _BatchScores:
        batch = collate(part, picked, tokens, pairs.device)
        videos, texts = pairs.videos(batch.videos), pairs.texts(batch.texts)
        own = pairs.join(videos, texts[batch.own])
        square = pairs.join(videos, texts[: len(videos)])
        loss = float(sum(losses(own, square, pairs.temperature(), batch, options=options).values())) * len(picked)
        rows, words, table = videos.cpu().numpy(), texts[: len(videos)].cpu().numpy(), own.cpu().numpy()
        places = [(place, n) for place, n in enumerate(picked) if part.clips[n] in gallery]
        of_captions: dict[int, Vector] = {}
        for place, n in enumerate(picked):
            row = [part.rows[n]["caption"], *part.rows[n]["negatives"]]
            # Equal texts tie exactly, wherever in the batch they were encoded.
            of_captions[n] = table[place, [row.index(text) for text in row]]
        clips = {part.clips[n]: rows[place] for place, n in places}
        return _BatchScores(number, loss, of_captions, clips, {part.rows[n]["caption"]: words[at] for at, n in places})

    results = [scores(*batch) for batch in batches[here.process_index :: here.num_processes]]
    if here.num_processes > 1:
        results = sorted(gather_object(results), key=lambda batch: batch.number)
    pairs.train(was_training)
    loss = sum(batch.loss for batch in results) / len(part.clips)
    if not np.isfinite(loss):
        return Measured(float(loss), {}, None)
    own: dict[int, Vector] = {}
    clips: dict[int, Vector] = {}
    texts: dict[str, Vector] = {}
    for batch in results:  # of equal clips and captions the first row counts, whichever process encoded it
        own |= batch.own
        clips |= {key: row for key, row in batch.clips.items() if key not in clips}
        texts |= {key: row for key, row in batch.texts.items() if key not in texts}
    hits, mean_rank = _against_negatives(part, own)
    return Measured(float(loss), _retrieved(pairs, part, clips, texts) | hits, mean_rank)


def _against_negatives(part: Part, own: dict[int, Vector]) -> tuple[dict[str, Hits], float | None]:
    """The caption against all its negatives and against each kind of them, where there are any."""
    kinds = sorted({kind for row in part.rows for kind in row.get("kinds", ())})
    hits: dict[str, Hits] = {}
    mean_rank = None
    for name in ("RCAD R@1", *kinds):
        tables, clusters = [], []
        for number, row in enumerate(part.rows):
            of_kind = [name in ("RCAD R@1", kind) for kind in row.get("kinds") or ["RCAD R@1"] * len(row["negatives"])]
            if any(of_kind):
                tables.append(own[number][[0, *(1 + place for place, there in enumerate(of_kind) if there)]])
                clusters.append(_video(row))
        if tables:
            scores, labels, _ = choices(tables, ragged=True)
            ranks = choice_ranks(scores, labels)
            hits[name] = Hits(ranks.hit(1), clusters)
            if name == "RCAD R@1":
                mean_rank = float(ranks.expected.mean())
    return hits, mean_rank


def _retrieved(pairs: Pairs, part: Part, clips: dict[int, Vector], texts: dict[str, Vector]) -> dict[str, Hits]:
    """Retrieval both ways, and each caption against four of other clips."""
    order = sorted(clips)
    place = {clip: row for row, clip in enumerate(order)}
    numbers = sorted((n for n, clip in enumerate(part.clips) if clip in place), key=lambda n: place[part.clips[n]])
    if len(order) < 2:
        return {}
    columns = {text: column for column, text in enumerate(texts)}
    every = torch.from_numpy(np.stack(list(texts.values()))).to(pairs.device)
    blocks = torch.from_numpy(np.stack([clips[clip] for clip in order])).split(CLIPS_AT_A_TIME)
    distinct = np.concatenate([pairs.join(block.to(pairs.device), every).cpu().numpy() for block in blocks])
    rows = np.array([place[part.clips[n]] for n in numbers])
    column = np.array([columns[part.rows[n]["caption"]] for n in numbers])
    similarities = distinct[:, column]
    both = matrix_ranks(similarities, rows)
    videos = [_video(part.rows[n]) for n in numbers]
    video_of = dict(zip(rows.tolist(), videos, strict=True))
    hits = {
        "retrieval t2v R@1": Hits(both.text_to_video.hit(1), videos),
        "retrieval v2t R@1": Hits(both.video_to_text.hit(1), [video_of[int(row)] for row in both.videos]),
    }
    streams, scores, clusters = Streams(), [], []
    for at, n in enumerate(numbers):
        rng = streams.at("teach random options", part.rows[n]["id"], part.rows[n]["caption"])
        numbers_drawn = dict.fromkeys(rng.integers(len(numbers), size=16 * RANDOM).tolist())
        others = [n for n in numbers_drawn if videos[n] != videos[at] and column[n] != column[at]][:RANDOM]
        if len(others) == RANDOM:
            scores.append(similarities[rows[at], [at, *others]])
            clusters.append(videos[at])
    if scores:
        ranks = choice_ranks(np.stack(scores), np.zeros(len(scores), np.int64))
        hits["random options"] = Hits(ranks.hit(1), clusters)
    return hits


def _video(row: TaughtCaption) -> str:
    return row.get("video_id", row["id"])
