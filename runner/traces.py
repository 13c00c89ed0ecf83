"""The evidence of a run: traces of the inputs and outputs of a few items, and digests of the inputs of every item.

`why-differ` compares them stage by stage. A trace holds the frames, the pixels and token ids that reach the network
(read by a hook on its first layers, so that it is the same for every kind), the prompt, and embeddings or scores.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import groupby
from typing import Any

import numpy as np

from video_contrast.files import JsonObject
from video_contrast.runner.doctor.probe import Probe
from video_contrast.runner.embedding_store import digest
from video_contrast.runner.kinds.base import Encoder, Model, PairScorer
from video_contrast.runner.memory import RunCounts
from video_contrast.runner.plan import Plan, PlannedTable
from video_contrast.runner.process_share import Run
from video_contrast.untyped import TorchModel

VERSION = 1
SAMPLED = 16  # values of an array that a summary holds
WEIGHTS_SAMPLED = 16  # values of each weight that its digest covers
SHOWN_IDS = 128  # token ids of a prompt that a trace holds; equal ones in a row count once


def summary(values: np.ndarray) -> JsonObject:
    """Shape, mean, standard deviation, and evenly spread values of an array, to four digits."""
    flat = np.asarray(values, np.float64).ravel()
    places = np.linspace(0, flat.size - 1, min(SAMPLED, flat.size)).astype(int)
    return {
        "shape": list(values.shape),
        "mean": _short(flat.mean()),
        "std": _short(flat.std()),
        "sample": [_short(value) for value in flat[places]],
    }


def _short(value: float) -> float:
    return float(f"{value:.4g}")


@contextmanager
def first_inputs() -> Iterator[tuple[dict[str, np.ndarray], dict[int, tuple[int, list[np.ndarray]]]]]:
    """The inputs of the first layers of networks in the forward passes inside: pixels and token ids.

    "Conv" or "Linear" -> the input of the first such layer; the id of an embedding -> its size and all of its inputs.
    """
    from torch.nn.modules.module import register_module_forward_pre_hook

    pixels: dict[str, np.ndarray] = {}
    ids: dict[int, tuple[int, list[np.ndarray]]] = {}

    def keep(layer: TorchModel, arguments: tuple[Any, ...]) -> None:  # arguments of any layer
        if not arguments or not hasattr(arguments[0], "is_floating_point"):
            return
        tensor, name = arguments[0].detach(), type(layer).__name__
        sort = next((sort for sort in ("Conv", "Linear") if name.startswith(sort)), "")
        if sort and sort not in pixels and tensor.is_floating_point():
            pixels[sort] = tensor.float().cpu().numpy()
        elif hasattr(layer, "num_embeddings"):
            ids.setdefault(id(layer), (layer.num_embeddings, []))[1].append(tensor.cpu().numpy())

    with register_module_forward_pre_hook(keep):
        yield pixels, ids


def network_of(model: Model) -> TorchModel | None:
    """The torch module of a model; None where it has none here (a server's)."""
    import torch

    return next((value for value in vars(model).values() if isinstance(value, torch.nn.Module)), None)


def network_facts(model: Model) -> JsonObject:
    """A digest of the weights (of some values of each, in bfloat16) and the implementation of attention."""
    import torch

    if (network := network_of(model)) is None:
        return {}
    firsts = [weight.detach().flatten()[:WEIGHTS_SAMPLED].to(torch.bfloat16).float() for weight in network.parameters()]
    facts: JsonObject = {"weights": digest(torch.cat(firsts).cpu().numpy().tobytes())} if firsts else {}
    attention = getattr(getattr(network, "config", None), "_attn_implementation", None)
    return facts | ({"attention": str(attention)} if attention else {})


def traces(probe: Probe) -> list[JsonObject]:
    """A trace an item of the probe: with its true caption, or with all candidates where these go together."""
    return [_trace(probe, n) for n in range(len(probe.clips))]


def _trace(probe: Probe, n: int) -> JsonObject:
    model, clip, caption = probe.model, probe.clips[n], probe.captions[n]
    trace: JsonObject = {
        "clip": clip.source.name if clip.source else "",
        "caption": caption,
        "times": [round(time, 3) for time in clip.times],
        "frames": {"hash": digest(np.ascontiguousarray(clip.frames).tobytes()), **summary(clip.frames)},
    }
    if network_of(model) is None:  # asking a server costs: what it has answered before
        return trace | {"scores": _finite(probe.clean[n])}
    if isinstance(model, Encoder):
        with first_inputs() as (pixels_of, _):
            video = model.encode_prepared([model.prepare(clip)])
        with first_inputs() as (_, ids_of):
            text = model.encode_texts([caption])
        trace["video"], trace["text"] = summary(np.asarray(video[0])), summary(np.asarray(text[0]))
        scores = np.asarray(model.join(video, text), np.float64)[0]
    else:
        captions, extra = probe.items.get(n, ([caption], {}))
        trace["prompt"] = model.rendered_input(clip, captions, **extra).get("prompt", "")
        model.score(clip, captions, **extra)  # unwatched: what a class's cache is first held to is no input of the item
        with first_inputs() as (pixels_of, ids_of):
            scores = np.asarray(model.score(clip, captions, **extra).scores, np.float64)
    if (pixels := pixels_of.get("Conv", pixels_of.get("Linear"))) is not None:
        trace["pixels"] = summary(pixels)
    # of the largest embedding, one call after the other
    calls = max(ids_of.values(), key=lambda of_layer: of_layer[0], default=(0, []))[1]
    ids = [int(value) for call in calls for value in call.ravel()]
    runs = [(value, len(list(same))) for value, same in groupby(ids)]  # of the tokens that stand for pixels
    shown_ids = [value if times == 1 else [value, times] for value, times in runs[:SHOWN_IDS]]
    trace["tokens"] = {"hash": digest(repr(ids)), "n": len(ids), "ids": shown_ids}
    return trace | {"scores": _finite(scores)}


def _finite(scores: np.ndarray) -> list[float]:
    return [_short(score) for score in scores if np.isfinite(score)]


def item_digests(model: Model, plan: Plan, counts: RunCounts) -> dict[str, Iterator[tuple[str, JsonObject]]]:
    """Config -> its items, sorted, with digests of texts, token ids and (of clips that were read) frames."""
    tokens: dict[str, str] = {}  # text -> a digest of its token ids, of models that say how they read texts
    if (ids_of := getattr(model.tokens, "ids", None)) is not None:
        for begin in range(0, len(plan.texts), 1024):
            block = plan.texts[begin : begin + 1024]
            tokens.update({text: digest(repr(ids))[:8] for text, ids in zip(block, ids_of(block), strict=True)})

    def entries(table: PlannedTable) -> Iterator[tuple[str, JsonObject]]:
        for at, item in table.group.items.by_id():
            texts = table.texts[at]
            entry: JsonObject = {"texts": [digest(text)[:8] for text in texts]}
            if tokens:
                entry["tokens"] = [tokens[text] for text in texts]
            if item.clip in counts.frames_seen:
                entry["frames"] = counts.frames_seen[item.clip]
            yield item.id, entry

    return {table.group.config: entries(table) for table in reversed(plan.tables)}


def run_evidence(run: Run) -> JsonObject:
    """The content of `evidence.json` without the items, which may be millions."""
    network = network_facts(run.model) if isinstance(run.model, Encoder | PairScorer) else {}
    return {"version": VERSION, "network": network, "traces": run.self_test.traces if run.self_test else []}
