"""Analyses of the contrast-set paper on stored sets and scores; no model runs, except a sentence encoder on request.

Rare names (table 4), accuracy by the similarity of caption and contrast (table 5), the verbs of two sets (figure 3),
accuracy and agreement of people.
"""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from video_contrast.errors import UsageError, VideoContrastError
from video_contrast.files import JsonObject
from video_contrast.metrics import proximity as accuracy_by_proximity
from video_contrast.metrics import rarity_gap
from video_contrast.metrics.checks import Figures
from video_contrast.reports.annotate.results import judged
from video_contrast.reports.annotate.tasks import UNCLEAR, Vote
from video_contrast.reports.behaviour import verb_plot
from video_contrast.reports.runs import hit
from video_contrast.rows import MultipleChoiceRow, contrast_places
from video_contrast.storage import RunFolder

Rows = Sequence[MultipleChoiceRow]
Hits = Mapping[str, float]  # of `read_hits`


def read_hits(run: str | Path, config: str, condition: str = "clean") -> dict[str, float]:
    """Item id -> 1 right, 0 wrong, between them on a tie, from a run's scores.

    `config, condition`: whose scores. Raises UsageError: there is no run, or none of this config and condition.
    """
    tables = RunFolder.open(run).tables
    if (config, condition) not in tables:
        names = ", ".join(f"{own} ({under})" for own, under in sorted(tables)) or "none"
        raise UsageError(f"{run} has no scores of {config} ({condition}); it has {names}")
    return {name: hit(row) for name, row in tables[config, condition].items()}


def contrasts_of(rows: Iterable[MultipleChoiceRow]) -> list[tuple[MultipleChoiceRow, int]]:
    """Each row with the number of its contrast (the first, where there are several); rows without one are left out."""
    contrasts = ((row, [n for n in contrast_places(row["kinds"]) if row["edits"][n]]) for row in rows)
    return [(row, places[0]) for row, places in contrasts if places]


def scored_contrasts(rows: Rows, hits: Hits) -> list[tuple[MultipleChoiceRow, int]]:
    """Rows with a contrast that the run scored, each with its contrast's number. Raises UsageError: there is none."""
    pairs = [(row, n) for row, n in contrasts_of(rows) if row["id"] in hits]
    if not pairs:
        raise UsageError("no item with a contrast was scored: do set, config and run belong together?")
    return pairs


def judges(rows: Rows, votes: Iterable[tuple[str, Mapping[str, object]]]) -> Figures:
    """Accuracy of judges by majority vote, and how far they agree.

    `rows`: of the set that was judged. `votes`: rows with their places: `item` (or `id`), `annotator`, `answer` (number
    of the candidate; anything that is not a number, such as "not clear", is a vote for none). A later answer of the
    same annotator to the same item replaces the earlier one. Raises VideoContrastError: a vote for an item or a
    candidate that the set does not have, or no vote; names the line.
    """
    sizes = {row["id"]: len(row["candidates"]) for row in rows}
    answers: dict[str, dict[str, Vote]] = {}
    for place, vote in votes:
        item, annotator = str(vote.get("item", vote.get("id", ""))), str(vote.get("annotator", ""))
        if item not in sizes:
            raise VideoContrastError(f"{place}: the set has no item {item!r}")
        text = str(vote.get("answer", "")).strip()
        answer = int(text) if text.isdigit() else UNCLEAR
        if isinstance(answer, int) and answer >= sizes[item]:
            raise VideoContrastError(f"{place}: item {item!r} has no candidate {answer}")
        answers.setdefault(item, {})[annotator] = Vote("judge", item, annotator, answer)
    return judged(rows, {item: list(by_person.values()) for item, by_person in answers.items()})


def rare_ids(rows: Rows, hits: Hits, training: Iterable[str]) -> Figures:
    """Table 4: accuracy where the original id is rarer in the training captions than the one that replaced it.

    Returns as of `metrics.rarity_gap`, with intervals over clusters, of a set whose contrasts replace one name (or
    word) by another; names are counted in the `training` captions, as whole words. Raises UsageError: no row with a
    contrast was scored.
    """
    pairs = scored_contrasts(rows, hits)
    edits = [edit for row, n in pairs if (edit := row["edits"][n])]  # every contrast has one
    words = sorted({word for edit in edits for word in (edit["old"], edit["new"])})
    counts = count_names(words, training)
    right, clusters = [hits[row["id"]] for row, _ in pairs], [row["cluster"] for row, _ in pairs]
    old_counts, new_counts = [counts[edit["old"]] for edit in edits], [counts[edit["new"]] for edit in edits]
    return rarity_gap(right, old_counts, new_counts, clusters=clusters, interval=True)


def count_names(names: Iterable[str], captions: Iterable[str]) -> Counter[str]:
    """The number of times that each name occurs in captions, as whole words; of overlapping names the longest counts.

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


_SHOWN = 30  # verbs of the plot


def compare_verbs(first: Mapping[str, int], second: Mapping[str, int]) -> JsonObject:
    """Figure 3 in numbers: how far the verb distributions of two sets are apart.

    Returns `total_variation` (0 equal to 1 disjoint), `jensen_shannon` (bits, 0 to 1), `entropy` (bits) and number of
    `verbs` of both, the number of `shared` ones, and those whose shares differ most: `more_in_first`, `more_in_second`.
    `first, second`: dictionary form -> count (`behaviour.verb_counts`). Raises UsageError: a set has no verbs.

    >>> compare_verbs({"run": 1, "sit": 1}, {"run": 2})["total_variation"]
    0.5
    """
    from scipy.stats import entropy

    names = sorted(set(first) | set(second))
    if not sum(first.values()) or not sum(second.values()):
        raise UsageError("one of the sets has no verb contrasts to compare")
    p = np.array([first.get(name, 0) for name in names], np.float64) / sum(first.values())
    q = np.array([second.get(name, 0) for name in names], np.float64) / sum(second.values())
    bits = [float(entropy(shares, base=2)) for shares in (p, q, (p + q) / 2)]
    by_difference = np.argsort(p - q, kind="stable")
    return {
        "total_variation": round(float(np.abs(p - q).sum() / 2), 4),
        "jensen_shannon": round(bits[2] - (bits[0] + bits[1]) / 2, 4),
        "entropy": [round(value, 4) for value in bits[:2]],
        "verbs": [int((p > 0).sum()), int((q > 0).sum())],
        "shared": int(((p > 0) & (q > 0)).sum()),
        "more_in_first": [names[n] for n in by_difference[::-1][:5] if p[n] > q[n]],
        "more_in_second": [names[n] for n in by_difference[:5] if q[n] > p[n]],
    }


def plot_verbs(first: Mapping[str, int], second: Mapping[str, int], names: tuple[str, str], output: str | Path) -> Path:
    """Draws figure 3: the share of each verb in two sets, the commonest of the first set to the left.

    `first, second`: dictionary form -> count (`behaviour.verb_counts`).
    """
    from video_contrast.files import write_bytes

    counts = [(name, Counter(of_set)) for name, of_set in zip(names, (first, second), strict=True)]
    verbs = sorted({*first, *second}, key=lambda verb: (-first.get(verb, 0) / sum(first.values()), verb))[:_SHOWN]
    return write_bytes(output, verb_plot(counts, verbs, name="verbs", size=(7.2, 3.4)).png())


TextEncoder = Callable[[Sequence[str]], NDArray[np.float32]]  # texts -> one vector a text


def proximity(rows: Rows, hits: Hits, encoders: Mapping[str, TextEncoder], *, share: float = 0.15) -> JsonObject:
    """Table 5: accuracy on antonyms, and on the highest and lowest 15 % of the others by sentence similarity.

    Returns `overall`, `n`, and under each encoder's name what `metrics.proximity` gives. Raises UsageError: no row with
    a contrast was scored.

    Args:
        rows, hits: of a set of verb contrasts, and of `read_hits`.
        encoders: name -> encoder of sentences; the paper takes Sentence-BERT and CLIP's text encoder.
        share: size of the two subsets.
    """
    pairs = scored_contrasts(rows, hits)
    right = [hits[row["id"]] for row, _ in pairs]
    antonym = [bool(edit["antonym"]) for row, n in pairs if (edit := row["edits"][n])]
    table: JsonObject = {"overall": float(np.mean(right)), "n": len(pairs)}
    true, false = [row["candidates"][row["label"]] for row, _ in pairs], [row["candidates"][n] for row, n in pairs]
    for name, encode in encoders.items():
        table[name] = accuracy_by_proximity(right, cosines(true, false, encode), antonym=antonym, share=share)
    return table


def cosines(first: Sequence[str], second: Sequence[str], encode: TextEncoder) -> NDArray[np.float64]:
    """Cosines of pairs of sentences, float64[n]; equal ones are encoded once. `encode`: texts -> float32[m, d]."""
    from video_contrast.runner.kinds.base import unit_rows

    unique = list(dict.fromkeys([*first, *second]))
    vectors = unit_rows(encode(unique))
    at = {text: number for number, text in enumerate(unique)}
    a, b = (vectors[[at[text] for text in texts]] for texts in (first, second))
    cosine: NDArray[np.float64] = np.einsum("nd,nd->n", a, b)
    return cosine


def sentence_encoder(model: str, device: str = "auto") -> TextEncoder:
    """The text encoder of a model: any sentence-transformers model, or the text tower of a dual encoder (CLIP ...).

    `model`: Hub id, folder, or packaged checkpoint. Raises UsageError: the model has no text encoder of its own;
    VideoContrastError: it cannot be loaded.
    """
    from video_contrast.pretrained import device_of
    from video_contrast.runner.kinds import choose, options_for
    from video_contrast.runner.kinds.base import Encoder as Dual
    from video_contrast.runner.kinds.base import LoadOptions
    from video_contrast.runner.model_files import locate

    source = locate(model)
    if source.modules is not None:
        from sentence_transformers import SentenceTransformer

        encoder = SentenceTransformer(str(source.path or model), device=device_of(device))
        return lambda texts: np.asarray(encoder.encode(list(texts), show_progress_bar=False), np.float32)
    kind = choose(source)
    loaded = kind.load(source, LoadOptions(device=device_of(device), options=options_for(kind, {})))
    if not isinstance(loaded, Dual):
        raise UsageError(f"--encoder {model}: a model of kind {kind.name} has no text encoder of its own")

    def encode(texts: Sequence[str]) -> NDArray[np.float32]:
        parts = [loaded.encode_texts(list(texts[first : first + 64])) for first in range(0, len(texts), 64)]
        return np.concatenate(parts)

    return encode
