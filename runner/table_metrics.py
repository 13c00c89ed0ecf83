"""The metrics of a run's tables: matrices, the figures that are computed from them, robustness over conditions.

Robustness is gamma of every perturbed condition, and its means as the robustness paper takes them. Visual: the mean
over severities, then over perturbations. Text: over the perturbations, and by origin (natural, machine, synthetic).
Pairs: over the pairs. Always with the standard deviation over what the last mean runs over. The score is accuracy for
multiple choice and R@1 and R@5 (the paper's) each way for retrieval.
"""

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from video_contrast import metrics
from video_contrast.metrics.checks import choices
from video_contrast.metrics.group_score import SCORES
from video_contrast.metrics.ranks import choice_ranks, exact_mean
from video_contrast.metrics.retrieval import figures_of_ranks
from video_contrast.metrics.retrieval_counts import BothWays, SimilarityBlock, block_ranks, own_similarities
from video_contrast.perturbations.text import text_spec
from video_contrast.perturbations.video import video_spec
from video_contrast.rows import Layout, contrast_places
from video_contrast.runner.conditions import Condition
from video_contrast.runner.items import Items
from video_contrast.runner.plan import PlannedTable, share_changed
from video_contrast.storage import run_file_fields
from video_contrast.storage.run_figures import ROBUST, figure
from video_contrast.storage.run_file_fields import Gammas, Numbers, Robustness, RunMetrics, ScoreRow

BEST = 100  # captions of each clip that are kept where all similarities would be too many
ItemScores = np.ndarray | Sequence[np.ndarray]  # float64[n, k], or float64[k] an item where their numbers differ
PROFICIENCY = "_proficiency"  # ends the name of a config that asks what its main one takes for granted
WITH_BOTH = "accuracy_with_proficiency"


@dataclass(frozen=True)
class TableScores:
    """The scores of one table."""

    table: PlannedTable
    places: Sequence[int]  # of the group's items that were scored (their clip could be read)
    rows: ItemScores = ()  # multiple choice
    replaced_scores: Sequence[float | None] = ()  # multiple choice: of the displaced distractor, an item
    parts_of: Callable[[int], list[dict[str, float]] | None] | None = None  # looks up the raw parts of an item
    frames: tuple[tuple[int, ...], ...] = ()  # frame numbers an item; empty where no video was decoded
    blocks: tuple[SimilarityBlock, ...] = ()  # retrieval: the similarities of clips (rows) with captions
    columns: tuple[tuple[str, str, int], ...] = ()  # retrieval: id, text and row of the own clip, a caption
    ranks: BothWays | None = None  # retrieval: from the similarities
    unparseable: tuple[float, ...] = ()  # an item: whether an answer about it could not be read; retrieval: the share
    comparable: bool = True  # whether scores of different clips can be compared

    @cached_property
    def items(self) -> Items:
        """The items that were scored."""
        return self.table.group.items.taken(self.places)

    @property
    def caption_to_video(self) -> np.ndarray:
        """int64[captions], the row of each caption's clip."""
        return np.array([row for _, _, row in self.columns], np.int64)


def metrics_of(scores: TableScores, *, seed: int) -> Numbers:
    """The metrics of one table; `unparseable` is the share of items (of answers in retrieval) with such an answer."""
    if scores.table.is_retrieval:
        assert scores.ranks is not None
        clusters, rows = scores.items.column("cluster"), scores.caption_to_video
        figures = figures_of_ranks(scores.ranks, rows, len(clusters), clusters=clusters, interval=True, seed=seed)
        numbers: Numbers = dict(figures)
    else:
        numbers = _choice(scores, seed)
    if scores.table.group.layout == "pairs":
        numbers |= _pairs(scores)
    return numbers | ({"unparseable": float(np.mean(scores.unparseable))} if any(scores.unparseable) else {})


def _choice(scores: TableScores, seed: int) -> Numbers:
    items = scores.items
    smallest = min(map(len, scores.rows))
    accuracies = metrics.multiple_choice(
        scores.rows,
        items.column("label"),
        kinds=items.column("kinds").tolist(),
        grades=items.column("grades") if all(items.column("grades")) else None,
        clusters=items.column("cluster"),
        ks=tuple(k for k in (1, 2, 3) if k < smallest) or (1,),
        interval=True,
        seed=seed,
        ragged=True,
    )
    of_items = _against_random(scores) | _rotations(scores) | _clips(scores) | _over_verbs(scores)
    return {**accuracies, **of_items, **_galleries(scores)}


def _galleries(scores: TableScores) -> Numbers:
    """The metrics of galleries, in which captions find clips; {} where scores of different clips do not compare."""
    items = scores.items
    if not scores.comparable or not any(items.column("gallery")):
        return {}
    scores_of: dict[tuple[str, str], list[float]] = {}  # gallery and caption -> scores of its clips
    true: dict[tuple[str, str], list[bool]] = {}
    for at, item in enumerate(items):
        for n, text in enumerate(item.texts if item.gallery else ()):
            scores_of.setdefault((item.gallery, text), []).append(scores.rows[at][n])
            true.setdefault((item.gallery, text), []).append(n == item.label)
    captions = [caption for caption, truths in true.items() if any(truths) and not all(truths)]
    if not captions:
        return {}
    lists = [scores_of[caption] for caption in captions], [true[caption] for caption in captions]
    return dict(metrics.average_precision(*lists, clusters=[gallery for gallery, _ in captions], interval=True))


def _pairs(scores: TableScores) -> Numbers:
    """Text, video and group score of the groups all of whose clips were scored; {} where there is none.

    The text score alone where scores of different clips, or of different questions, cannot be compared.
    """
    items, rows = scores.items, scores.rows
    groups, questions = items.column("group"), items.column("question")
    _, first, group_of, sizes = np.unique(groups, return_index=True, return_inverse=True, return_counts=True)
    whole = sizes == items.texts.sizes[first]
    if not whole.any():
        return {}
    order = np.argsort(first[whole])
    heads, sizes = first[whole][order], sizes[whole][order]
    members = np.lexsort((items.column("label"), first[group_of]))  # groups as they come, each by its true captions
    members = members[whole[group_of[members]]]
    if isinstance(rows, np.ndarray):
        matrices = rows[members].reshape(len(heads), -1, rows.shape[1]).swapaxes(1, 2)
    else:
        matrices = [np.array([rows[n] for n in group]).T for group in np.split(members, np.cumsum(sizes)[:-1])]
    one_question = (questions[members] == np.repeat(questions[heads], sizes)).all()
    comparable = scores.comparable and (one_question or scores.table.group.questions == "left out")
    clusters = items.column("cluster")[heads]
    shares = metrics.group_score(matrices, clusters=clusters, interval=True)
    names = SCORES if comparable else SCORES[:1]
    numbers = {key: value for key, value in shares.items() if any(name in key for name in names)}
    return numbers | {"groups": shares["n"], "group_ties": shares["n_ties"]}


def _rotations(scores: TableScores) -> Numbers:
    """The share of items that are right in every rotation, where options were asked about in all of them."""
    if scores.parts_of is None:
        return {}
    items = scores.items
    hits: dict[str, np.ndarray] = {}
    for at, item in enumerate(items):
        parts = scores.parts_of(at) or [{}]
        for name in (name for name in parts[0] if name.startswith("rotation")):
            row = np.array([[part[name] for part in parts]])
            # an answer that was no option has no log-probabilities in that rotation: it stays wrong
            hits.setdefault(name, np.zeros(len(items)))[at] = choice_ranks(row, np.array([item.label])).hit(1)[0]
    if len(hits) < 2:
        return {}
    table_of_hits = np.column_stack(list(hits.values()))
    shares = metrics.right_in_all_rotations(table_of_hits, clusters=items.column("cluster"), interval=True)
    return _right_in_all("rotations", shares, "right_in_all") | {"rotations": len(hits)}


def _clips(scores: TableScores) -> Numbers:
    """The share of clips all of whose questions are answered right, where clips have several.

    On TemporalBench this is the multiple binary accuracy of its paper. Where sources have several groups of pairs, also
    the share of sources: on TimeBlind the instance accuracy of its paper.
    """
    items = scores.items
    if not all(items.column("question")):
        return {}
    numbers = _all_answered(scores, "clip", [(item.clip.name, item.clip.start, item.clip.end) for item in items])
    if scores.table.group.layout == "pairs" and len(set(items.column("group"))) > len(set(items.column("cluster"))):
        numbers |= _all_answered(scores, "source", items.column("cluster").tolist())
    return numbers


def _all_answered(scores: TableScores, name: str, owners: Sequence[object]) -> Numbers:
    """The share of owners (clips or sources, one an item) all of whose questions are answered; {} with one each."""
    if len(set(owners)) == len(owners):
        return {}
    cluster_of = dict(zip(owners, scores.items.column("cluster"), strict=True))
    shares = metrics.consistency(
        _hits(scores), [repr(owner) for owner in owners],
        videos=[cluster_of[owner] for owner in owners], interval=True,
    )  # fmt: skip
    return _right_in_all(f"of_{name}", shares, "consistency") | {f"{name}s": shares["n_clusters"]}


def _over_verbs(scores: TableScores) -> Numbers:
    """The mean accuracy over the verbs that contrasts replace, so that the commonest verbs do not decide."""
    verbs = scores.items.column("verb")
    places = np.flatnonzero(verbs != "")
    times = Counter(verbs[at] for at in places)
    if len(times) < 2:
        return {}
    items, name = scores.items.taken(places), "accuracy_over_verbs"
    weights = np.array([1 / times[verbs[at]] for at in places])
    shares = metrics.share_interval(_hits(scores)[places], items.column("cluster"), weights=weights)
    chance = float(np.average([1 / len(texts) for texts in items.texts], weights=weights))
    return {name: shares.estimate, **metrics.interval_keys(name, shares), f"chance_{name}": chance, "verbs": len(times)}


def _right_in_all(name: str, shares: Mapping[str, float | None], figure: str) -> Numbers:
    """A figure with its interval, under the name that it has in `metrics.json`."""
    return {f"right_in_all_{name}{side}": shares[f"{figure}{side}"] for side in ("", "_low", "_high")}


def item_hits(scores: TableScores) -> dict[str, tuple[float, str]]:
    """Item id -> the chance that it is answered right, and its cluster; {} in retrieval."""
    if scores.table.is_retrieval:
        return {}
    items = scores.items
    return dict(zip(items.column("id"), zip(_hits(scores).tolist(), items.column("cluster"), strict=True), strict=True))


def _hits(scores: TableScores) -> np.ndarray:
    """The chance that each item is answered right, float64[n]."""
    rows, labels, _ = choices(scores.rows, scores.items.column("label"), ragged=True)
    return choice_ranks(rows, labels).hit(1)


def with_proficiency(hits: Mapping[tuple[str, str], Mapping[str, tuple[float, str]]]) -> dict[tuple[str, str], Numbers]:
    """The share of items that are right both in a config and in its proficiency test, where these are scored together.

    Returns (config, condition) -> `accuracy_with_proficiency` with its interval. `hits`: (config, condition) ->
    `item_hits`. The test of the config X is the config X_proficiency, with X's ids.
    """
    shares: dict[tuple[str, str], Numbers] = {}
    for (config, condition), main in hits.items():
        test = hits.get((f"{config}{PROFICIENCY}", condition), {})
        if both := [name for name in main if name in test]:
            values = np.array([main[name][0] * test[name][0] for name in both])
            interval = metrics.share_interval(values, [main[name][1] for name in both])
            shares[config, condition] = {WITH_BOTH: exact_mean(values), **metrics.interval_keys(WITH_BOTH, interval)}
    return shares


def _against_random(scores: TableScores) -> Numbers:
    """Accuracy of the same captions against random options: the contrast's score gives way to the displaced one's."""
    rows, places = [], []
    kinds = scores.items.column("kinds")
    for at, other in enumerate(scores.replaced_scores):
        if other is not None and len(contrasts := contrast_places(kinds[at])) == 1:
            new_row = scores.rows[at].copy()
            new_row[contrasts[0]] = other
            rows.append(new_row.tolist())
            places.append(at)
    if not rows:
        return {}
    accuracy = metrics.multiple_choice(rows, scores.items.column("label")[places], ragged=True)["accuracy"]
    return {"random_option_accuracy": accuracy, "random_option_n": len(rows)}


def score_rows(scores: TableScores) -> Iterator[ScoreRow]:
    """The lines of `scores.parquet` of a multiple-choice table, sorted by id; none of a retrieval table."""
    config, condition = scores.table.name
    if scores.table.is_retrieval:
        return
    for at, item in scores.items.by_id():
        parts = scores.parts_of(at) if scores.parts_of else None
        row: ScoreRow = {
            "config": config,
            "condition": condition,
            "id": item.id,
            "video_id": item.clip.video_id,
            "cluster": item.cluster,
            "label": item.label,
            "kinds": list(item.kinds),
            "scores": scores.rows[at].tolist(),
            "replaced_score": scores.replaced_scores[at],
            "parts": None if parts is None else json.dumps(parts),
            "frames": list(scores.frames[at]) if scores.frames else [],
        }
        if item.group:
            row["group"] = item.group
        yield row


def with_ranks(scores: TableScores, *, whole: bool) -> tuple[TableScores, run_file_fields.SimilarityMatrix]:
    """A retrieval table with its ranks, and what is kept of its similarities: `whole`, or the best of each clip."""
    caption_to_video, n = scores.caption_to_video, len(scores.places)
    blocks = scores.blocks
    if len(blocks) == 1:  # is computed once: joining may take long
        only = blocks[0].values()
        blocks = (blocks[0]._replace(values=lambda: only),)
    own = own_similarities(blocks, caption_to_video, n)
    k = min(BEST, len(own))
    values = np.empty((n, len(own)), own.dtype) if whole else np.full((n, k), -np.inf, own.dtype)
    captions = np.full((n, k), np.iinfo(np.int32).max, np.int32)  # of the best of each clip that have passed by

    def keep(block: SimilarityBlock, part: np.ndarray) -> None:
        if whole:
            values[np.ix_(block.videos, block.captions)] = part
            return
        for row, similarities in zip(block.videos, part, strict=True):
            better = np.flatnonzero(similarities > values[row, -1])  # of equal ones those that pass by first are kept
            if len(better) > k:
                least = np.partition(similarities, -k)[-k]
                above, level = np.flatnonzero(similarities > least), np.flatnonzero(similarities == least)
                better = np.concatenate([above, level])[:k]
            if len(better):
                both = np.concatenate([values[row], similarities[better]])
                order = np.argsort(-both, kind="stable")[:k]
                captions[row] = np.concatenate([captions[row], block.captions[better]])[order]
                values[row] = both[order]

    ranks = block_ranks(blocks, own, caption_to_video, n, keep)
    best = None
    if not whole:
        of_captions = np.stack(ranks.text_to_video[:2])  # greater, equal
        best = run_file_fields.BestMatches(captions, values, own, of_captions, np.stack(ranks.video_to_text))
    ids, videos = scores.items.column("id").tolist(), scores.items.clips.columns[0].tolist()
    columns = [name for name, _, _ in scores.columns]
    full = values if whole else None
    matrix = run_file_fields.SimilarityMatrix(
        ids, videos, columns, caption_to_video.tolist(), scores.frames, full, best
    )
    return replace(scores, ranks=ranks), matrix


def summary(results: Mapping[tuple[str, str], tuple[PlannedTable, Numbers]]) -> RunMetrics:
    """`metrics.json`: config -> its layout, its conditions' metrics, and the robustness over them.

    The conditions of a robustness set are configs of their own: their gammas stand under its config `clean`.
    """
    configs: dict[str, run_file_fields.ConfigMetrics] = {}
    for (config, condition), (table, numbers) in results.items():
        entry = configs.setdefault(config, {"layout": table.group.layout, "conditions": {}})
        share = share_changed(table)
        entry["conditions"][condition] = {**numbers, **({} if share is None else {"captions_changed": share})}
    perturbed_names = run_file_fields.perturbed_configs(configs)
    for config, entry in configs.items():
        config_names = [config, *(perturbed_names if config == "clean" else [])]
        conditions = {name: table.condition for (of, name), (table, _) in results.items() if of in config_names}
        numbers_of = {name: numbers for of in config_names for name, numbers in configs[of]["conditions"].items()}
        if robust := robustness_of(entry["layout"], conditions, numbers_of):
            entry["robustness"] = robust
    return {"configs": configs}


def robustness_of(layout: Layout, conditions: Mapping[str, Condition], figures: Mapping[str, Numbers]) -> Robustness:
    """Gammas of the conditions of one config against its clean one; {} where there is none to compare.

    `figures`: name -> the numbers of that condition. Returns score -> {"conditions": name -> {gamma_absolute,
    gamma_relative, gamma_corrected}, and for each of "visual", "text", "pairs", "visual:<category>", "text:<origin>"
    that has conditions: {gamma_*: mean, gamma_*_sd, n, n_undefined}}. Undefined values (a clean score of 0) are null,
    and left out of means. Where the interval of the clean score holds chance, `at_chance` is true and all corrected
    gammas are null: a ratio of two noises.
    """
    perturbed_names = [name for name, condition in conditions.items() if condition.group in ("visual", "text", "pairs")]
    if "clean" not in figures or not perturbed_names:
        return {}
    robust: Robustness = {}
    for score in ROBUST[layout]:
        own = figure(figures["clean"], score)
        if own is None or own.chance is None or own.chance >= 1:  # a gallery of at most five: nothing can be missed
            continue
        clean, chance, key = own.value, own.chance, score.key
        at_chance = own.low is not None and own.low <= chance
        each = {name: _gammas(clean, figures[name][key], chance) for name in perturbed_names}
        means = {
            group: _means(clean, [figures[name][key] for name in names], [conditions[name] for name in names], chance)
            for group, names in _groups(perturbed_names, conditions).items()
        }
        if at_chance:
            for gammas in (*each.values(), *means.values()):
                gammas |= {name: None for name in gammas if name.startswith("gamma_corrected")}
        robust[key] = {"clean": clean, "at_chance": at_chance, "conditions": each, **means}
    return robust


def _gammas(clean: float, score: float, chance: float) -> Gammas:
    values = {
        "gamma_absolute": metrics.gamma_absolute(clean, score),
        "gamma_relative": metrics.gamma_relative(clean, score),
        "gamma_corrected": metrics.gamma_corrected(clean, score, chance=chance),
    }
    return {name: None if math.isnan(float(value)) else float(value) for name, value in values.items()}


def _groups(names: Sequence[str], conditions: Mapping[str, Condition]) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for name in names:
        condition = conditions[name]
        groups.setdefault(condition.group, []).append(name)
        if condition.group == "visual":
            groups.setdefault(f"visual:{video_spec(condition.visual.name or '').category}", []).append(name)
        elif condition.group == "text":
            spec = text_spec(condition.text.name or "")
            groups.setdefault(f"text:{spec.origin}", []).append(name)
            groups.setdefault(f"text:{spec.category}", []).append(name)
    return groups


def _means(clean: float, scores: Sequence[float], conditions: Sequence[Condition], chance: float) -> Gammas:
    """Means over severities, then over perturbations, and the standard deviation over the latter."""
    names = [str(condition.visual.name) if condition.group == "visual" else condition.name for condition in conditions]
    severities = [condition.visual.severity for condition in conditions]
    means = metrics.robustness([clean] * len(scores), scores, names, severities=severities, chance=chance)
    result: Gammas = {"n": means["n_perturbations"], "n_undefined": means["n_missing"]}
    for name, key in (("gamma_absolute", "gamma_a"), ("gamma_relative", "gamma_r"), ("gamma_corrected", "gamma_c")):
        result[name], result[f"{name}_sd"] = means[key], means[f"{key}_std"]
    return result
