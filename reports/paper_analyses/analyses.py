"""Analyses of contrast sets: rare ids (table 4), semantic proximity (table 5), verb distributions (figure 3), judges.

All of the contrast-set paper. They read a set's rows and a run's `scores.parquet`; no model is run, except the sentence
encoder of `proximity`.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.metrics import agreement, choice_places, majority_vote, rarity_gap
from video_contrast.metrics import proximity as accuracy_by_proximity
from video_contrast.metrics.checks import choices

Row = Mapping[str, Any]
Encoder = Callable[[Sequence[str]], NDArray[np.float32]]  # texts -> one vector a text
HARD = ("true", "random")


def read_hits(run: str | Path, config: str, condition: str = "clean") -> dict[str, float]:
    """Item id -> 1 right, 0 wrong, between them on a tie, from a run's `scores.parquet`.

    Raises:
        UsageError: no run there, or none of this config and condition.
    """
    import pyarrow.parquet as pq

    path = Path(run) / "scores.parquet"
    if not path.is_file():
        raise UsageError(f"{run} holds no scores.parquet: give the --output folder of `video-contrast score`")
    rows = pq.ParquetFile(path).read().to_pylist()
    mine = [row for row in rows if row["config"] == config and row["condition"] == condition]
    if not mine:
        known = sorted({f"{row['config']} ({row['condition']})" for row in rows})
        raise UsageError(f"{path} has no scores of {config} ({condition}); it has {', '.join(known) or 'none'}")
    scores, labels, _ = choices([row["scores"] for row in mine], [row["label"] for row in mine], ragged=True)
    return dict(zip([row["id"] for row in mine], choice_places(scores, labels).hit(1).tolist(), strict=True))


def contrasts_of(rows: Iterable[Row]) -> list[tuple[Row, int]]:
    """Each row with the number of its contrast (the first, where there are several); rows without one are left out."""
    found = []
    for row in rows:
        hard = [n for n, kind in enumerate(row["kinds"]) if kind not in HARD and row["edits"][n]]
        if hard:
            found.append((row, hard[0]))
    return found


def rare_ids(
    rows: Sequence[Row], hits: Mapping[str, float], training: Iterable[str], *, seed: int = 0
) -> dict[str, Any]:
    """Table 4: accuracy where the original id is rarer in the training captions than the one that replaced it.

    Args:
        rows: of a set whose contrasts replace one name (or word) by another.
        hits: item id -> 1 right, 0 wrong (`read_hits`).
        training: captions in which the names are counted, as whole words.
        seed: of the intervals.

    Returns:
        As of `metrics.rarity_gap`, with intervals over clusters.

    Raises:
        UsageError: no row with a contrast was scored.
    """
    pairs = _scored(rows, hits)
    words = sorted({row["edits"][n][side] for row, n in pairs for side in ("old", "new")})
    counts = count_names(words, training)
    edits = [row["edits"][n] for row, n in pairs]
    return rarity_gap(
        [hits[row["id"]] for row, _ in pairs],
        [counts[edit["old"]] for edit in edits],
        [counts[edit["new"]] for edit in edits],
        clusters=[row["cluster"] for row, _ in pairs],
        interval=True,
        seed=seed,
    )


def count_names(names: Iterable[str], captions: Iterable[str]) -> Counter[str]:
    """How often each name occurs in captions, as whole words; of overlapping names the longest counts.

    >>> count_names(["Ann", "Ann Lee"], ["Ann Lee meets Ann's dog", "Anna"])
    Counter({'Ann Lee': 1, 'Ann': 1})
    """
    longest = sorted({name for name in names if name}, key=lambda name: (-len(name), name))
    counts: Counter[str] = Counter()
    if longest:
        pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, longest))})(?!\w)")
        for caption in captions:
            counts.update(pattern.findall(caption))
    return counts


def proximity(
    rows: Sequence[Row], hits: Mapping[str, float], encoders: Mapping[str, Encoder], *, share: float = 0.15
) -> dict[str, Any]:
    """Table 5: accuracy on antonyms, and on the highest and lowest 15 % of the others by sentence similarity.

    Args:
        rows: of a set of verb contrasts.
        hits: item id -> 1 right, 0 wrong (`read_hits`).
        encoders: name -> encoder of sentences; the paper takes Sentence-BERT and CLIP's text encoder.
        share: size of the two subsets.

    Returns:
        `overall`, `n`, and under each encoder's name what `metrics.proximity` gives.

    Raises:
        UsageError: no row with a contrast was scored.
    """
    pairs = _scored(rows, hits)
    right = [hits[row["id"]] for row, _ in pairs]
    antonym = [bool(row["edits"][n]["antonym"]) for row, n in pairs]
    found: dict[str, Any] = {"overall": float(np.mean(right)), "n": len(pairs)}
    for name, encode in encoders.items():
        similarity = cosines(
            [row["candidates"][row["label"]] for row, _ in pairs], [row["candidates"][n] for row, n in pairs], encode
        )
        found[name] = accuracy_by_proximity(right, similarity, antonym=antonym, share=share)
    return found


def cosines(first: Sequence[str], second: Sequence[str], encode: Encoder) -> NDArray[np.float64]:
    """Cosine of each pair of sentences; each unique sentence is encoded once."""
    unique = list(dict.fromkeys([*first, *second]))
    vectors = np.asarray(encode(unique), np.float64)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    row = {text: number for number, text in enumerate(unique)}
    return np.einsum("nd,nd->n", vectors[[row[text] for text in first]], vectors[[row[text] for text in second]])


def sentence_encoder(model: str, device: str = "auto") -> Encoder:
    """The text encoder of a model: any sentence-transformers model, or the text tower of a dual encoder (CLIP ...).

    Args:
        model: Hub id, folder, or packaged checkpoint.
        device: where it runs.

    Raises:
        UsageError: the model has no text encoder of its own.
        VideoContrastError: it cannot be loaded.
    """
    from video_contrast.perturbations.contrast.generators.batches import device_of
    from video_contrast.runner.kinds import choose, options_for
    from video_contrast.runner.kinds.base import Encoder as Dual
    from video_contrast.runner.kinds.base import Settings
    from video_contrast.runner.locate import locate

    source = locate(model)
    if source.modules is not None:
        from sentence_transformers import SentenceTransformer

        chosen = SentenceTransformer(str(source.path or model), device=device_of(device))
        return lambda texts: np.asarray(chosen.encode(list(texts), show_progress_bar=False), np.float32)
    kind = choose(source)
    loaded = kind.load(source, Settings(device=device_of(device), options=options_for(kind, {})))
    if not isinstance(loaded, Dual):
        raise UsageError(f"--encoder {model}: a model of kind {kind.name} has no text encoder of its own")

    def encode(texts: Sequence[str]) -> NDArray[np.float32]:
        parts = [loaded.encode_texts(list(texts[first : first + 64])) for first in range(0, len(texts), 64)]
        return np.concatenate(parts)

    return encode


def verb_counts(rows: Sequence[Row], *, tagger: str = "auto") -> Counter[str]:
    """Lemmas of the verbs that a set's contrasts put in, with how often each occurs."""
    from video_contrast.perturbations.language import tag

    pairs = contrasts_of(rows)
    counts: Counter[str] = Counter()
    for (row, n), tokens in zip(pairs, tag([row["candidates"][n] for row, n in pairs], tagger=tagger), strict=True):
        edit = row["edits"][n]
        inside = [token for token in tokens if token.end > edit["start"] and token.start < edit["end"]]
        counts.update(token.lemma for token in inside if token.tag.startswith("VB"))
    return counts


def compare_verbs(first: Mapping[str, int], second: Mapping[str, int]) -> dict[str, Any]:
    """Figure 3 in numbers: how far the verb distributions of two sets are apart.

    Args:
        first, second: lemma -> count (`verb_counts`).

    Returns:
        `total_variation` (0 equal to 1 disjoint), `jensen_shannon` (bits, 0..1), `entropy` of each (bits), `verbs` of
        each and `shared`, and the verbs whose shares differ most, `more_in_first` and `more_in_second`.

    Raises:
        UsageError: a set has no verbs.

    >>> compare_verbs({"run": 1, "sit": 1}, {"run": 2})["total_variation"]
    0.5
    """
    names = sorted(set(first) | set(second))
    if not sum(first.values()) or not sum(second.values()):
        raise UsageError("one of the sets has no verb contrasts to compare")
    p = np.array([first.get(name, 0) for name in names], np.float64) / sum(first.values())
    q = np.array([second.get(name, 0) for name in names], np.float64) / sum(second.values())
    middle = (p + q) / 2
    by_difference = np.argsort(p - q, kind="stable")
    return {
        "total_variation": round(float(np.abs(p - q).sum() / 2), 4),
        "jensen_shannon": round(_entropy(middle) - (_entropy(p) + _entropy(q)) / 2, 4),
        "entropy": [round(_entropy(p), 4), round(_entropy(q), 4)],
        "verbs": [int((p > 0).sum()), int((q > 0).sum())],
        "shared": int(((p > 0) & (q > 0)).sum()),
        "more_in_first": [names[n] for n in by_difference[::-1][:5] if p[n] > q[n]],
        "more_in_second": [names[n] for n in by_difference[:5] if q[n] > p[n]],
    }


def plot_verbs(
    first: Mapping[str, int], second: Mapping[str, int], names: tuple[str, str], output: str | Path, top: int = 30
) -> Path:
    """Draws figure 3: the share of each verb in two sets, the commonest of the first set to the left."""
    from video_contrast.files import write_bytes
    from video_contrast.reports import figures

    totals = sum(first.values()), sum(second.values())
    order = sorted(set(first) | set(second), key=lambda verb: (-first.get(verb, 0) / totals[0], verb))[:top]
    with figures.drawing(7.2, 3.4) as (canvas, axes):
        for number, (counts, total, name) in enumerate(zip((first, second), totals, names, strict=True)):
            places = np.arange(len(order)) + (number - 0.5) * 0.4
            heights = [100 * counts.get(verb, 0) / total for verb in order]
            axes.bar(places, heights, width=0.4, color=figures.colour(number), label=name)
        axes.set_xticks(range(len(order)), order, rotation=60, ha="right")
        axes.set_ylabel("share of verbs, %")
        axes.legend(frameon=False)
        figures.tidy(axes, grid="y")
        numbers = [("verb", *names), *((verb, first.get(verb, 0), second.get(verb, 0)) for verb in order)]
        figure = figures.finish(canvas, "verbs", "Verbs of two contrast sets", numbers)
    return write_bytes(output, figure.png)


def judges(rows: Sequence[Row], votes: Iterable[tuple[str, Mapping[str, Any]]]) -> dict[str, Any]:
    """Accuracy of judges by majority vote, and how far they agree.

    Args:
        rows: of the set that was judged.
        votes: rows with their places: `item` (or `id`), `annotator`, `answer` (number of the chosen option; anything
            that is not a number, such as "not clear", is a vote for none). A later answer of the same annotator to the
            same item replaces the earlier one.

    Returns:
        `accuracy` of the majority, `individual_accuracy`, `n` items, `n_ties`, `judges` an item (mean), and the
        agreement (`metrics.agreement`; None where no item has two votes).

    Raises:
        VideoContrastError: a vote for an item or an option that the set does not have; names the line.
    """
    labels = {row["id"]: (row["label"], len(row["candidates"])) for row in rows}
    answers: dict[str, dict[str, Any]] = {}
    for place, vote in votes:
        item = str(vote.get("item", vote.get("id", "")))
        if item not in labels:
            raise VideoContrastError(f"{place}: the set has no item {item!r}")
        answer = str(vote.get("answer", "")).strip()
        chosen: int | str = int(answer) if answer.isdigit() else "none"
        if isinstance(chosen, int) and chosen >= labels[item][1]:
            raise VideoContrastError(f"{place}: item {item!r} has no option {chosen}")
        answers.setdefault(item, {})[str(vote.get("annotator", ""))] = chosen
    if not answers:
        raise UsageError("no votes")
    table = [list(given.values()) for given in answers.values()]
    found = majority_vote(table, [labels[item][0] for item in answers])
    several = any(len(given) > 1 for given in table)
    return {
        "accuracy": found["accuracy"],
        "individual_accuracy": found["individual_accuracy"],
        "n": found["n"],
        "n_ties": found["n_ties"],
        "judges": float(np.mean([len(given) for given in table])),
        "agreement": agreement(table) if several else None,
    }


def _scored(rows: Sequence[Row], hits: Mapping[str, float]) -> list[tuple[Row, int]]:
    pairs = [(row, n) for row, n in contrasts_of(rows) if row["id"] in hits]
    if not pairs:
        raise UsageError("no item with a contrast was scored: do set, config and run belong together?")
    return pairs


def _entropy(shares: NDArray[np.float64]) -> float:
    positive = shares[shares > 0]
    return float(-(positive * np.log2(positive)).sum())
